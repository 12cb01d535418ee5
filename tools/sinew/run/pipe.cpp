// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/system_limits.hpp"

namespace sinew::tool {

pipe_ends make_pipe(const std::string& failure, std::string_view otherwise) {
  std::array<int, 2> ends{};
  SINEW_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0, failure, base::system_reason(errno),
              base::system_advice(errno, otherwise));
  return {boot::descriptor(ends[0]), boot::descriptor(ends[1])};
}

}  // namespace sinew::tool
