// SPDX-License-Identifier: BSD-3-Clause
// Pipes of the launcher and its daemons.
#pragma once

#include <string>
#include <string_view>

#include "sinew/boot/descriptor.hpp"

namespace sinew::tool {

struct pipe_ends {
  boot::descriptor input;   ///< to read from
  boot::descriptor output;  ///< to write to
};

/// Both close-on-exec. Throws `failure`, with the limit that is reached; where none is, the advice
/// is `otherwise`.
[[nodiscard]] pipe_ends make_pipe(const std::string& failure, std::string_view otherwise = {});

}  // namespace sinew::tool
