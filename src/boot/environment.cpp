// SPDX-License-Identifier: BSD-3-Clause
#include "boot/environment.hpp"

#include <cstdlib>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::boot {

std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  return text;
}

int number_variable(const char* name, int least) {
  const auto text = variable(name);
  SINEW_CHECK(text.has_value(), std::string(name) + " is not set",
              "the launcher set variables that belong with it",
              "start the program with its launcher, or unset the launcher's variables");
  const auto number = parse_number(*text);
  SINEW_CHECK(number && *number >= least, std::string(name) + "=" + *text + " makes no sense",
              "a whole number of at least " + std::to_string(least) + " is needed",
              "start the program with `sinew run` or mpiexec rather than by hand");
  return *number;
}

rank_and_size rank_variables(const char* rank_name, const char* size_name) {
  const rank_and_size result{number_variable(rank_name, 0), number_variable(size_name, 1)};
  SINEW_CHECK(result.rank < result.size,
              std::string(rank_name) + "=" + std::to_string(result.rank) + " and " + size_name +
                  "=" + std::to_string(result.size) + " contradict each other",
              "ranks count from 0 to size-1", "unset both, or start with one launcher only");
  return result;
}

std::vector<job_rank> all_ranks(int size) {
  SINEW_EXPECT(size >= 1);
  std::vector<job_rank> all;
  for (job_rank r = 0; r.below(size); ++r) {
    all.push_back(r);
  }
  return all;
}

}  // namespace sinew::boot
