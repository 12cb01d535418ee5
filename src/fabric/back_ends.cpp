// SPDX-License-Identifier: BSD-3-Clause
// The table of back-ends.
#include "sinew/fabric/back_ends.hpp"

#include <array>
#include <iterator>

#include "fabric/rows.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/choices.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::fabric {
namespace {

constexpr back_end table[] = {
    {.name = "inproc",
     .about = "ranks in one process",
     .open = open_inproc,
     .state = [] { return std::string("yes, for tests and jobs of one rank"); }},
    {.name = "shm",
     .about = "ranks on one node",
     .open = open_on_node{shm_bytes_per_rank, open_shm},
     .state = shm_state},
    {.name = "ucx",
     .about = "ranks on several nodes",
     .open = open_ucx,
     .usable = ucx_is_there,
     .state = ucx_state},
    {.name = "sim",
     .about = "ranks on simulated nodes",
     .open = open_sim,
     .usable = sim_is_there,
     .state = sim_state},
};
static_assert(std::size(table) >= 1 && std::get_if<open_in_process>(&table[0].open) != nullptr,
              "a job of one rank needs neither memory that is shared nor a network");

setting<std::string> wanted(
    "fabric", "back_ends", "", "",
    "what may carry messages: of these the first that reaches the ranks of a node carries theirs, "
    "and the first that reaches further those between nodes (none named: the first of all that can "
    "be used; `sinew info transports` lists them). Alike on all ranks",
    {base::choices_of<table>.data(), true});

constexpr std::array whom{"the ranks of its process", "the ranks of its node",
                          "ranks of other nodes"};

}  // namespace

std::span<const back_end> back_ends() noexcept { return table; }

std::vector<back_end> wanted_back_ends() {
  if (wanted().empty()) {
    return {std::begin(table), std::end(table)};
  }
  std::vector<back_end> named;
  for (const std::string& name : base::split(wanted(), ',')) {
    for (const back_end& each : table) {
      if (name == each.name) {
        named.push_back(each);
      }
    }
  }
  return named;
}

const back_end& choose(std::span<const back_end> among, reach far) {
  const back_end* first = nullptr;
  for (const back_end& each : among) {
    if (each.reaches() >= far) {
      if (each.usable()) {
        return each;
      }
      first = first != nullptr ? first : &each;
    }
  }
  std::string names;
  for (const back_end& each : among) {
    names += (names.empty() ? "" : ",") + std::string(each.name);
  }
  SINEW_CHECK(first != nullptr,
              std::string("no back-end reaches ") + whom[static_cast<std::size_t>(far)],
              "only " + names + " may be used", "let SINEW_FABRIC_BACK_ENDS name more, or none");
  return *first;
}

}  // namespace sinew::fabric
