// SPDX-License-Identifier: BSD-3-Clause
#include "coll/node_map.hpp"

#include <algorithm>

namespace sinew::coll {

std::optional<node_map> node_map::of(participant at) {
  const boot::place& place = at.engine.runtime().session().where();
  const std::span<const job_rank> all = at.comm.members().members();
  if (place.node_of.empty() || !std::all_of(all.begin(), all.end(), [&](job_rank r) {
        return r.index() < place.node_of.size();  // others are of another job
      })) {
    return {};
  }
  node_map m(at.comm.members());
  m.job_nodes_ = &place.node_of;
  int last = -1;
  for (int r = 0; r < m.ranks(); ++r) {
    const auto job_node =
        static_cast<std::size_t>(place.node_of[all[static_cast<std::size_t>(r)].index()]);
    if (job_node >= m.number_.size()) {
      m.number_.resize(job_node + 1, -1);
    }
    int& number = m.number_[job_node];
    if (number < 0) {
      number = m.nodes();
      m.first_.push_back(r);
      m.counts_.push_back(0);
    } else {
      m.consecutive_ = m.consecutive_ && number == last;
    }
    last = number;
    m.largest_ = std::max(m.largest_, ++m.counts_[static_cast<std::size_t>(number)]);
  }
  if (m.nodes() == 1 || m.largest_ == 1) {
    return {};
  }
  m.here_ = m.node_of(at.comm.rank().value());
  for (int r = 0; r < m.ranks(); ++r) {
    if (m.node_of(r) == m.here_) {
      m.mine_.push_back(r);
    }
  }
  SINEW_ENSURE(static_cast<int>(m.mine_.size()) == m.count(m.here_));
  return m;
}

}  // namespace sinew::coll
