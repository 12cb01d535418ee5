// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/coll/choices.hpp"

#include "coll/algorithms.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/node/operations.hpp"

namespace sinew::coll {
namespace {

/// As a job of its own, in which every communicator has set its memory up. The operator commutes,
/// nothing is in place, and the nodes have ranks that follow each other.
facts facts_of(const imagined_call& of, collective what, bool in_call) {
  facts f{.what = what, .ranks = of.ranks, .bytes = of.bytes, .in_call = in_call};
  const bool one_node = of.nodes == 1;
  const bool shares_node = of.ranks > of.nodes;
  f.fan = in_call ? tuning::fan_of(one_node && of.ranks > topology::usable_cpus()) : 2;
  if (what == collective::reduce_scatter) {
    f.bytes *= static_cast<std::size_t>(of.ranks);
  }
  f.divisible = f.bytes >= 8 * static_cast<std::size_t>(of.ranks);
  const bool short_enough = in_call || of.bytes <= node::operations::room;
  const bool has_form = what != collective::scan && what != collective::exscan &&
                        what < collective::neighbour_allgather &&
                        (in_call || what != collective::reduce_scatter);
  f.memory = one_node && of.ranks > 1 && has_form && short_enough && tuning::node();
  f.nodes = !one_node && shares_node && tuning::levels();
  f.node_memory = f.nodes && in_call && tuning::node();
  return f;
}

}  // namespace

std::vector<algorithm_choice> choices(const imagined_call& of) {
  std::vector<algorithm_choice> rows;
  for (int i = 0; i < collectives; ++i) {
    const auto what = static_cast<collective>(i);
    const algorithm* const blocking = &choose(facts_of(of, what, true));
    const algorithm* const nonblocking = &choose(facts_of(of, what, false));
    for (const algorithm& each : algorithms_of(what)) {
      rows.push_back(
          {text_of(what), each.name, each.says, &each == blocking, &each == nonblocking});
    }
  }
  return rows;
}

}  // namespace sinew::coll
