// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/failure.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/job.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/sentence.hpp"

namespace sinew::coarray {

void fail(const outcome& out, int code, const char* statement, const std::string& what) {
  SINEW_EXPECT(statement != nullptr && !what.empty());
  if (out.stat == nullptr) {
    die(statement, what);
  }
  *out.stat = code;
  if (out.message != nullptr) {
    const std::size_t n = std::min(what.size(), out.message_bytes);
    std::memcpy(out.message, what.data(), n);
    std::memset(out.message + n, ' ', out.message_bytes - n);
  }
}

void fail_as_left(const outcome& out, int code, const char* statement) {
  SINEW_EXPECT(code == stat::failed_image || code == stat::stopped_image);
  fail(out, code, statement,
       code == stat::failed_image ? "an image has failed" : "an image has stopped");
}

void die(const char* statement, const std::string& what) {
  std::string text;
  if (this_job.open()) {
    text = "image " + std::to_string(this_job.rank.value() + 1) + " of " +
           std::to_string(this_job.size) + ": ";
  }
  text += std::string(statement) + ": " + what;
  // Before anything else that may go wrong.
  base::raw_write(STDERR_FILENO, "sinew: " + as_sentence(text) + "\n");
  end_all(1, "");
}

}  // namespace sinew::coarray
