// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/call_site.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "sinew/base/own_folder.hpp"
#include "sinew/base/python_sites.hpp"

namespace sinew::mpi {
namespace {

/// The code is of a library of ours that calls the binding for the program.
bool is_in_front(const void* code) {
  static const std::string& ours = *new std::string(base::own_folder() + "/libmpi");
  Dl_info in{};
  return ::dladdr(code, &in) != 0 && in.dli_fname != nullptr &&
         std::strncmp(in.dli_fname, ours.c_str(), ours.size()) == 0;
}

struct search {
  std::uintptr_t returns_to;
  std::uintptr_t frame;
  bool in_front = false;     ///< the walk has come to the caller of the binding
  std::uintptr_t outer = 0;  ///< where the program is called back to
  std::uintptr_t cfa = 0;    ///< of the function that returns there
};

_Unwind_Reason_Code look_at(_Unwind_Context* context, void* argument) {
  search& s = *static_cast<search*>(argument);
  const auto at = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  const auto cfa = static_cast<std::uintptr_t>(_Unwind_GetCFA(context));  // of whom it has called
  if (!s.in_front) {
    s.in_front = at == s.returns_to && cfa == s.frame;
    return _URC_NO_REASON;
  }
  if (is_in_front(reinterpret_cast<const void*>(at - 1))) {
    return _URC_NO_REASON;
  }
  s.outer = at;
  s.cfa = cfa;
  return _URC_NORMAL_STOP;
}

/// What is known of a place that calls the binding: its address, and how many words above the
/// binding's frame the return address into the program lies, which is the same for each call from
/// there. 0: the place is the program's own. One word, so that threads need no lock: whoever
/// overwrites another's entry only makes that one be found again. Relaxed: nothing depends on it.
constexpr int word_bits = 16;
constexpr std::size_t places = 4096;
std::array<std::atomic<std::uint64_t>, places> known;
constexpr std::uint64_t unwind_each_time = (1U << word_bits) - 1;

std::uint64_t find_words(std::uintptr_t returns_to, std::uintptr_t frame) {
  if (!is_in_front(reinterpret_cast<const void*>(returns_to - 1))) {
    return 0;
  }
#ifdef __x86_64__  // a call pushes its return address right below the caller's frame
  search s{returns_to, frame};
  _Unwind_Backtrace(look_at, &s);
  const std::uintptr_t words = (s.cfa - frame) / sizeof(void*) - 1;
  if (s.outer != 0 && words < unwind_each_time) {
    return words;
  }
#endif
  return unwind_each_time;
}

const void* caller_of(const void* returns_to, const void* frame) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(returns_to);
  const auto base = reinterpret_cast<std::uintptr_t>(frame);
  std::atomic<std::uint64_t>& entry = known[(at >> 2) * 0x9e3779b1U / 16 % places];
  std::uint64_t found = entry.load(std::memory_order_relaxed);
  if (found >> word_bits != at) {
    found = static_cast<std::uint64_t>(at) << word_bits | find_words(at, base);
    entry.store(found, std::memory_order_relaxed);
  }
  const std::uint64_t words = found & unwind_each_time;
  if (words == 0) {
    return reinterpret_cast<const void*>(at - 1);
  }
  std::uintptr_t outer = 0;
  if (words != unwind_each_time) {
    std::memcpy(&outer, static_cast<const std::byte*>(frame) + words * sizeof(void*), sizeof outer);
  } else {
    search s{at, base};
    _Unwind_Backtrace(look_at, &s);
    outer = s.outer;
  }
  return reinterpret_cast<const void*>(outer != 0 ? outer - 1 : at - 1);
}

}  // namespace

const void* call_site(const void* returns_to, const void* frame) noexcept {
  return returns_to != nullptr ? base::python_site(caller_of(returns_to, frame)) : nullptr;
}

}  // namespace sinew::mpi
