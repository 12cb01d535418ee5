// SPDX-License-Identifier: BSD-3-Clause
// What the folders of back-ends offer to the table in back_ends.cpp, beside open_inproc() and
// open_shm() of fabric.hpp.
#pragma once

#include <memory>
#include <string>

#include "sinew/fabric/network.hpp"

namespace sinew::fabric {

[[nodiscard]] std::string shm_state();  // shm/state.cpp

// ucx/opening.cpp
[[nodiscard]] std::shared_ptr<network> open_ucx(const network_options& options);
[[nodiscard]] bool ucx_is_there();
[[nodiscard]] std::string ucx_state();

// sim/endpoint.cpp
[[nodiscard]] std::shared_ptr<network> open_sim(const network_options& options);
[[nodiscard]] bool sim_is_there();
[[nodiscard]] std::string sim_state();

}  // namespace sinew::fabric
