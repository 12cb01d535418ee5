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

}  // namespace sinew::tool
