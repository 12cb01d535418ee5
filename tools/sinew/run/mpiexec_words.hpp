// SPDX-License-Identifier: BSD-3-Clause
// `sinew mpiexec`: the words that people know from MPICH's and Open MPI's mpiexec and mpirun, as
// words of `sinew run`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::tool {

struct mpiexec_words {
  std::vector<std::string> words;  ///< for `sinew run`
  std::vector<std::string> notes;  ///< for the user: what had no effect
  bool help = false;
  bool version = false;
};

/// Options that `sinew run` has are kept. What cannot be granted is refused: throws usage_failure
/// that names the option to use instead.
[[nodiscard]] mpiexec_words read_mpiexec(std::span<const std::string_view> words);

/// Whether a word names an option of other MPIs' mpiexec ("-wdir", "-map-by=node", "-np2").
[[nodiscard]] bool is_mpiexec_option(std::string_view word);
/// Of an option that other MPIs' mpiexec has and `sinew run` has not: what to do. Else empty.
[[nodiscard]] std::string remark_on_mpiexec_option(std::string_view word);

}  // namespace sinew::tool
