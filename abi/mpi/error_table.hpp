// SPDX-License-Identifier: BSD-3-Clause
// Names and sentences of the error classes, and those that programs add.
#pragma once

#include <string>

namespace sinew::mpi {

/// "MPI_ERR_RANK", or "error class 16384" for one that a program has added.
[[nodiscard]] std::string class_name(int error_class);
/// What MPI_Error_string says of a code; throws MPI_ERR_ARG if there is no such code.
[[nodiscard]] std::string table_text(int code);

}  // namespace sinew::mpi
