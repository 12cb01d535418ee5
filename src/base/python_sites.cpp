// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/python_sites.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "sinew/base/python_code.hpp"

namespace sinew::base {
namespace {

using address = python_layout::address;

/// The interpreter of this process.
struct interpreter {
  const python_layout* how = nullptr;
  void* (*thread)() = nullptr;  ///< PyGILState_GetThisThreadState, which needs no lock
  address code_type = 0;        ///< &PyCode_Type
};

interpreter find_interpreter() {
  const auto* const version =
      static_cast<const unsigned long*>(::dlsym(RTLD_DEFAULT, "Py_Version"));
  interpreter found;
  if (version != nullptr) {
    found.how = python_layout_of(*version);
    found.thread =
        reinterpret_cast<void* (*)()>(::dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
    found.code_type = reinterpret_cast<address>(::dlsym(RTLD_DEFAULT, "PyCode_Type"));
  }
  return found.thread != nullptr && found.code_type != 0 ? found : interpreter{};
}

/// It is never unloaded. One that comes after the first call from its process is not seen.
const interpreter& python() {
  static const interpreter it = find_interpreter();
  return it;
}

bool is_extension(std::string_view library) {
  const std::string_view name = library.substr(library.rfind('/') + 1);
  return name.find(".cpython-") != name.npos || name.find(".abi3.so") != name.npos ||
         name.starts_with("libffi.");
}

/// Addresses that call, doubled, with 1 more where they are in a module for Python. Relaxed: each
/// word stands for itself, and what another one overwrites is found again.
bool is_in_extension(const void* caller) {
  static std::array<std::atomic<address>, 256> known;
  const auto at = reinterpret_cast<address>(caller);
  std::atomic<address>& entry = known[(at >> 2) * 0x9e3779b1U / 64 % known.size()];
  address found = entry.load(std::memory_order_relaxed);
  if (found >> 1 != at) {
    Dl_info in{};
    const bool yes =
        ::dladdr(caller, &in) != 0 && in.dli_fname != nullptr && is_extension(in.dli_fname);
    found = at << 1 | (yes ? 1 : 0);
    entry.store(found, std::memory_order_relaxed);
  }
  return (found & 1) != 0;
}

/// Memory of this process that is there.
class own_memory {
 public:
  template <class T = address>
  [[nodiscard]] T at(address from) const noexcept {
    T value{};
    if (from != 0) {
      std::memcpy(&value, reinterpret_cast<const void*>(from), sizeof value);
    }
    return value;
  }
};

struct instruction {
  address at = 0;
  address code = 0;
};

/// Of the innermost call in Python; none: records that are not as they should be.
template <class Memory>
instruction innermost(const Memory& in, address thread, const interpreter& of) {
  const python_layout& how = *of.how;
  address frame = in.at(thread + how.current);
  frame = how.through_cframe ? in.at(frame + how.current_in_cframe) : frame;
  constexpr int most_of_c = 16;
  for (int i = 0; i < most_of_c && frame != 0; ++i) {
    if (in.template at<std::uint8_t>(frame + how.owner) != python_owned_by_c) {
      const instruction found{in.at(frame + how.instruction), in.at(frame + how.code)};
      const bool is_code = found.code != 0 && in.at(found.code + python_type) == of.code_type;
      return is_code && found.at >= found.code ? found : instruction{};
    }
    frame = in.at(frame + how.previous);
  }
  return {};
}

/// In another build of the same version records may lie elsewhere: a thread's are looked at with
/// care first.
bool is_as_expected(address thread, const interpreter& of) {
  thread_local address looked_at = 0;
  thread_local bool expected = false;
  if (looked_at != thread) {
    looked_at = thread;
    expected = innermost(process_memory(::getpid()), thread, of).at != 0;
  }
  return expected;
}

/// The code of each instruction that has been a place. As with callers, one may overwrite another;
/// it has been asked for before (remember()).
struct known_code {
  std::atomic<address> at{0};
  std::atomic<address> code{0};
};
std::array<known_code, 4096> codes;

known_code& entry_of(address at) { return codes[(at >> 1) * 0x9e3779b1U / 16 % codes.size()]; }

void remember(const instruction& place) {
  known_code& entry = entry_of(place.at);
  if (entry.at.load(std::memory_order_relaxed) != place.at) {
    entry.code.store(place.code, std::memory_order_relaxed);
    entry.at.store(place.at, std::memory_order_relaxed);
    (void)source_of(
        reinterpret_cast<const void*>(place.at));  // kept there, also beyond the code's life
  }
}

}  // namespace

const void* python_site(const void* caller) noexcept {
  const interpreter& of = python();
  if (of.how == nullptr || caller == nullptr || !is_in_extension(caller)) {
    return caller;
  }
  const auto thread = reinterpret_cast<address>(of.thread());
  if (thread == 0 || !is_as_expected(thread, of)) {
    return caller;
  }
  const instruction place = innermost(own_memory{}, thread, of);
  if (place.at == 0) {
    return caller;
  }
  try {
    remember(place);
  } catch (const std::bad_alloc&) {
    return caller;
  }
  return reinterpret_cast<const void*>(place.at);
}

std::optional<source_place> python_source_of(const void* site) {
  const auto at = reinterpret_cast<address>(site);
  const known_code& entry = entry_of(at);
  const interpreter& of = python();
  if (of.how == nullptr || at == 0 || entry.at.load(std::memory_order_relaxed) != at) {
    return std::nullopt;
  }
  auto found = python_place_of(process_memory(::getpid()),
                               entry.code.load(std::memory_order_relaxed), at, *of.how);
  return found ? std::optional(source_place{std::move(found->function), "", std::move(found->file),
                                            found->line})
               : std::nullopt;
}

}  // namespace sinew::base
