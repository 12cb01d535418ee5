// SPDX-License-Identifier: BSD-3-Clause
// How errors leave the module: as STAT= and ERRMSG= if the program asked for them, else as error
// termination of all images.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "sinew/base/error.hpp"

namespace sinew::coarray {

/// Where a statement wants its outcome. ERRMSG is padded with blanks, and left alone on success.
struct outcome {
  int* stat = nullptr;
  char* message = nullptr;
  std::size_t message_bytes = 0;

  void good() const noexcept {
    if (stat != nullptr) {
      *stat = 0;
    }
  }
};

/// Sets stat and message, or prints "image 2: <statement>: <what>" and ends all images.
void fail(const outcome& out, int code, const char* statement, const std::string& what);

/// The end of a statement that needs other images: `code` is 0 or a stat of images that have left.
[[gnu::cold]] void fail_as_left(const outcome& out, int code, const char* statement);
inline void finish(const outcome& out, int code, const char* statement) {
  if (code == 0) [[likely]] {
    out.good();
  } else {
    fail_as_left(out, code, statement);
  }
}

/// Thrown where a statement cannot do its work without an image that has left.
struct image_left : std::exception {
  explicit image_left(int why) noexcept : code(why) {}
  int code;  ///< stat::stopped_image or stat::failed_image
};

/// Ends all images.
[[noreturn]] void die(const char* statement, const std::string& what);

/// Runs what may throw sinew::error or image_left, as the body of one of the compiler's calls.
template <class Body>
void guarded(const outcome& out, const char* statement, Body&& body) {
  // The compiler's callers cannot be unwound through.
  try {
    body();
  } catch (const image_left& e) {
    fail_as_left(out, e.code, statement);
  } catch (const std::exception& e) {
    fail(out, 7000, statement, e.what());
  }
}

}  // namespace sinew::coarray
