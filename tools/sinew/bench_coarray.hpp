// The experiments that are written with coarrays: coarray and himeno. Each has several programs in
// one folder, in Fortran and in C, of which every subject runs those that it can.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench_subjects.hpp"

namespace sinew::tool {

/// Whether `experiment` is one of them.
[[nodiscard]] bool has_coarrays(std::string_view experiment);

/// One start of one of its programs.
struct coarray_start {
  int images = 2;
  std::vector<std::string> words;
  std::string source;  ///< in the experiment's folder
};

/// What an experiment consists of; `level` 0 quick, 1 usual, 2 full.
[[nodiscard]] std::vector<coarray_start> coarray_starts(std::string_view experiment,
                                                        std::size_t level);

/// OpenCoarrays of Debian's packages, over its Open MPI, if it is installed with its launcher and
/// there is a gfortran. Cold.
[[nodiscard]] std::optional<subject> find_opencoarrays();

/// Whether `who` runs `source`: coarray programs run on us and on OpenCoarrays, those in C on every
/// MPI, and on ours where that adds a row (himeno).
[[nodiscard]] bool takes_part(const subject& who, std::string_view experiment,
                              std::string_view source);

/// The program, compiled if need be; on failure nothing, and `failure` says why. Suspends. Cold.
[[nodiscard]] std::optional<std::string> coarray_program(const subject& who,
                                                         const std::string& experiment,
                                                         const std::string& source,
                                                         std::string& failure);

/// The command that runs it.
[[nodiscard]] command coarray_command(const subject& who, const coarray_start& how,
                                      const std::string& program);

}  // namespace sinew::tool
