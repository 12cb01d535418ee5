// SPDX-License-Identifier: BSD-3-Clause
// Where Sinew's own libraries lie.
#pragma once

#include <string>

namespace sinew::base {

/// The folder of the library or program that this code is in, absolute. "." if the system does not
/// tell it. Any thread. Cold.
[[nodiscard]] std::string own_folder();

}  // namespace sinew::base
