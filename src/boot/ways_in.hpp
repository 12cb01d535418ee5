// SPDX-License-Identifier: BSD-3-Clause
// The ways in, each a file of its own; connect() chooses one.
#pragma once

#include <memory>

#include "sinew/boot/session.hpp"

namespace sinew::boot {

[[nodiscard]] std::unique_ptr<session> join_sinew();
[[nodiscard]] std::unique_ptr<session> join_pmi1();
/// On one node without PMIx, over several by it.
[[nodiscard]] std::unique_ptr<session> join_openmpi();
[[nodiscard]] std::unique_ptr<session> join_pmix();
[[nodiscard]] std::unique_ptr<session> join_alone();

}  // namespace sinew::boot
