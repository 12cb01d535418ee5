// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/python_frames.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

namespace sinew::tool {
namespace {

using address = std::uint64_t;

constexpr std::size_t longest_text = 4096;
constexpr std::size_t longest_table = std::size_t{1} << 20;

/// Where CPython keeps what: offsets of members, in bytes, as its headers lay them out on machines
/// of 64 bits.
struct layout_of_python {
  unsigned minor;
  address interpreters;  ///< _PyRuntimeState: the first interpreter
  address threads;       ///< PyInterpreterState: its first thread
  address next_thread, native_id;
  address current;  ///< PyThreadState: the innermost frame, or where that is
  bool through_cframe;
  address current_in_cframe;
  address code, instruction, previous, owner;
  address first_line, line_table, instructions;  ///< PyCodeObject
  address ascii_data, wide_data;                 ///< of a str
};
constexpr layout_of_python layouts[] = {
    {11, 40, 16, 8, 160, 56, true, 8, 32, 56, 48, 69, 72, 136, 184, 48, 72},
    {12, 40, 72, 8, 144, 56, true, 0, 0, 56, 8, 70, 68, 136, 192, 40, 56},
    {13, 632, 7344, 8, 160, 72, false, 0, 0, 56, 8, 70, 68, 136, 200, 40, 56},
};
// The same in all of them.
constexpr address file_name = 112, qualified_name = 128;
constexpr address object_size = 16, bytes_data = 32, text_length = 16, text_state = 32;
constexpr std::uint8_t owned_by_c = 3;

class memory {
 public:
  explicit memory(pid_t process) noexcept : process_(process) {}

  [[nodiscard]] bool read(address from, void* into, std::size_t bytes) const noexcept {
    const iovec here{into, bytes};
    const iovec there{reinterpret_cast<void*>(from), bytes};
    return from != 0 &&
           ::process_vm_readv(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
  }
  /// 0 where nothing can be read.
  template <class T = address>
  [[nodiscard]] T at(address from) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    return read(from, &value, sizeof value) ? value : T{};
  }
  [[nodiscard]] std::string bytes(address from, std::size_t count) const {
    std::string made(count, '\0');
    return read(from, made.data(), count) ? made : std::string();
  }

 private:
  pid_t process_;
};

/// A str; one of other characters than ASCII's as its bytes are, which do for a name.
std::string text_at(const memory& in, address object, const layout_of_python& how) {
  const auto length = std::min<std::size_t>(in.at(object + text_length), longest_text);
  const auto state = in.at<std::uint32_t>(object + text_state);
  const bool is_ascii = (state >> 6 & 1) != 0;
  const unsigned width = state >> 2 & 7;
  if (is_ascii) {
    return in.bytes(object + how.ascii_data, length);
  }
  const std::string wide = in.bytes(object + how.wide_data, length * width);
  std::string made;
  for (std::size_t i = 0; width != 0 && i + width <= wide.size(); i += width) {
    const bool is_plain =
        static_cast<unsigned char>(wide[i]) < 0x80 &&
        std::all_of(
            wide.begin() + static_cast<std::ptrdiff_t>(i) + 1,
            wide.begin() + static_cast<std::ptrdiff_t>(i + width), [](char c) { return c == 0; });
    made += is_plain ? wide[i] : '?';
  }
  return made;
}

std::optional<stack_frame> frame_at(const memory& in, address frame, const layout_of_python& how) {
  const address code = in.at(frame + how.code);
  const address instruction = in.at(frame + how.instruction);
  const address first_instruction = code + how.instructions;
  if (code == 0 || instruction < first_instruction) {
    return std::nullopt;
  }
  const address table = in.at(code + how.line_table);
  const auto length = in.at<std::size_t>(table + object_size);
  stack_frame made;
  made.function = text_at(in, in.at(code + qualified_name), how);
  made.file = text_at(in, in.at(code + file_name), how);
  made.line = length > longest_table ? 0
                                     : python_line(in.bytes(table + bytes_data, length),
                                                   in.at<std::int32_t>(code + how.first_line),
                                                   instruction - first_instruction);
  made.interpreted = true;
  return made.function.empty() ? std::nullopt : std::optional(std::move(made));
}

stack stack_of(const memory& in, address thread, const layout_of_python& how) {
  stack calls;
  address frame = in.at(thread + how.current);
  frame = how.through_cframe ? in.at(frame + how.current_in_cframe) : frame;
  for (std::size_t i = 0; frame != 0 && i < most_frames; ++i) {
    if (in.at<std::uint8_t>(frame + how.owner) != owned_by_c) {
      if (auto call = frame_at(in, frame, how)) {
        calls.push_back(*std::move(call));
      }
    }
    frame = in.at(frame + how.previous);
  }
  return calls;
}

/// Numbers in parts of 6 bits, the lowest first.
class parts {
 public:
  explicit parts(const std::string& bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] bool any() const noexcept { return at_ < bytes_.size(); }
  [[nodiscard]] unsigned byte() noexcept {
    return any() ? static_cast<unsigned char>(bytes_[at_++]) : 0;
  }
  [[nodiscard]] unsigned number() noexcept {
    unsigned made = 0;
    for (unsigned shift = 0; shift < 30; shift += 6) {
      const unsigned part = byte();
      made |= (part & 63) << shift;
      if ((part & 64) == 0) {
        break;
      }
    }
    return made;
  }
  [[nodiscard]] int signed_number() noexcept {
    const unsigned made = number();
    const auto size = static_cast<int>(made >> 1);
    return (made & 1) != 0 ? -size : size;
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

// Each entry: a byte with its kind and how many instructions of 2 bytes it is for, then by its kind
// how far the line moves, and columns.
int python_line(const std::string& table, int first, std::uint64_t instruction) {
  parts from(table);
  int line = first;
  for (std::uint64_t begin = 0; from.any();) {
    const unsigned head = from.byte();
    const unsigned kind = head >> 3 & 15;
    const std::uint64_t end = begin + std::uint64_t{2} * ((head & 7) + 1);
    if (kind == 13 || kind == 14) {
      line += from.signed_number();
      for (int columns = kind == 14 ? 3 : 0; columns > 0; --columns) {
        (void)from.number();
      }
    } else if (kind >= 10 && kind <= 12) {
      line += static_cast<int>(kind) - 10;
      (void)from.byte();
      (void)from.byte();
    } else if (kind < 10) {
      (void)from.byte();
    }
    if (instruction < end) {
      return kind == 15 ? 0 : line;
    }
    begin = end;
  }
  return 0;
}

std::map<pid_t, stack> python_stacks(pid_t process, const python_symbols& at) {
  const memory in(process);
  const auto version = in.at<std::uint64_t>(at.version);  // 0x030b07f0
  const auto* const how =
      std::find_if(std::begin(layouts), std::end(layouts), [version](const layout_of_python& each) {
        return version >> 24 == 3 && (version >> 16 & 0xff) == each.minor;
      });
  std::map<pid_t, stack> found;
  if (at.runtime == 0 || how == std::end(layouts)) {
    return found;
  }
  const address interpreter = in.at(at.runtime + how->interpreters);
  address thread = interpreter == 0 ? 0 : in.at(interpreter + how->threads);
  while (thread != 0 && found.size() < most_threads) {
    const auto id = static_cast<pid_t>(in.at<std::uint64_t>(thread + how->native_id));
    if (!found.try_emplace(id, stack_of(in, thread, *how)).second) {
      break;  // a list that is being changed
    }
    thread = in.at(thread + how->next_thread);
  }
  return found;
}

}  // namespace sinew::tool
