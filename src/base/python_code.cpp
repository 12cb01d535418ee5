// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/python_code.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sinew::base {
namespace {

using address = std::uint64_t;

constexpr std::size_t longest_text = 4096;
constexpr std::size_t longest_table = std::size_t{1} << 20;

constexpr python_layout layouts[] = {
    {11, 40, 16, 8, 160, 56, true, 8, 32, 56, 48, 69, 72, 136, 184, 48, 72},
    {12, 40, 72, 8, 144, 56, true, 0, 0, 56, 8, 70, 68, 136, 192, 40, 56},
    {13, 632, 7344, 8, 160, 72, false, 0, 0, 56, 8, 70, 68, 136, 200, 40, 56},
};
// The same in all of them.
constexpr address file_name = 112, qualified_name = 128;
constexpr address object_size = 16, bytes_data = 32, text_length = 16, text_state = 32;

/// A str; one of other characters than ASCII's as its bytes are, which do for a name.
std::string text_at(const process_memory& in, address object, const python_layout& how) {
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

const python_layout* python_layout_of(std::uint64_t version) noexcept {
  const auto* const how =
      std::find_if(std::begin(layouts), std::end(layouts), [version](const python_layout& each) {
        return version >> 24 == 3 && (version >> 16 & 0xff) == each.minor;
      });
  return how != std::end(layouts) ? how : nullptr;
}

bool process_memory::read(address from, void* into, std::size_t bytes) const noexcept {
  const iovec here{into, bytes};
  const iovec there{reinterpret_cast<void*>(from), bytes};
  return from != 0 &&
         ::process_vm_readv(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

std::string process_memory::bytes(address from, std::size_t count) const {
  std::string made(count, '\0');
  return read(from, made.data(), count) ? made : std::string();
}

std::optional<python_place> python_place_of(const process_memory& in, address code,
                                            address instruction, const python_layout& how) {
  const address first_instruction = code + how.instructions;
  if (code == 0 || instruction < first_instruction) {
    return std::nullopt;
  }
  const address table = in.at(code + how.line_table);
  const auto length = in.at<std::size_t>(table + object_size);
  python_place made;
  made.function = text_at(in, in.at(code + qualified_name), how);
  made.file = text_at(in, in.at(code + file_name), how);
  made.line = length > longest_table ? 0
                                     : python_line(in.bytes(table + bytes_data, length),
                                                   in.at<std::int32_t>(code + how.first_line),
                                                   instruction - first_instruction);
  return made.function.empty() ? std::nullopt : std::optional(std::move(made));
}

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

}  // namespace sinew::base
