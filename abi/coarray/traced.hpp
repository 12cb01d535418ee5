// What `sinew run --trace` shows of coarrays. Off, it costs a load; single elements between images
// go without.
#pragma once

#include <cstdint>
#include <string_view>

#include "abi/coarray/transfer.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::coarray {

/// A statement, from here to the end of the scope.
class traced {
 public:
  traced(trace::kind what, std::string_view name, int image = 0) noexcept
      : what_(what), name_(name), image_(image), begin_(trace::begin()) {}
  ~traced() { trace::slice(what_, name_, begin_, static_cast<std::uint64_t>(image_), bytes_); }
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
  std::string_view name_;
  int image_;
  std::int64_t begin_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sinew::coarray
