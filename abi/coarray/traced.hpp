// SPDX-License-Identifier: BSD-3-Clause
// What `sinew run --trace` and reports of hangs show of coarrays. Off, it costs a load and two
// stores; single elements between images
// go without.
#pragma once

#include <cstdint>

#include "abi/coarray/statement.hpp"
#include "abi/coarray/transfer.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::coarray {

/// A statement, from here to the end of the scope.
class traced {
 public:
  traced(trace::kind what, const char* name, int image = 0) noexcept
      : what_(what), here_(name, image), begin_(trace::begin()) {}
  ~traced() {
    if (begin_ != 0) [[unlikely]] {
      trace::slice(what_, here_.name(), begin_, static_cast<std::uint64_t>(here_.image()), bytes_);
    }
  }
  traced(const traced&) = delete;
  traced& operator=(const traced&) = delete;

  /// What is moved.
  const far_side& moving(const far_side& s) noexcept {
    if (begin_ != 0) [[unlikely]] {
      bytes_ = s.elements() * s.what.bytes;
    }
    return s;
  }

 private:
  trace::kind what_;
  statement here_;
  std::int64_t begin_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sinew::coarray
