// The experiment `matching` (bench/matching/matching.c): what is measured, and how it is shown.
#pragma once

#include <string>
#include <vector>

#include "bench_stats.hpp"

namespace sinew::tool {

/// Cases shown together under one title, as words for the measuring program.
struct matching_section {
  std::string title;
  std::vector<std::string> cases;
};

/// `level`: 0 quick, 1 usual, 2 full. Cold.
std::vector<matching_section> matching_sections(std::size_t level);

/// One table per section, a column per subject ("sinew:hash": an engine of ours), the first of them
/// compared with the best peer. Cold.
std::string matching_tables(const stats::result_set& results,
                            const std::vector<matching_section>& sections,
                            const std::vector<std::string>& subjects);

}  // namespace sinew::tool
