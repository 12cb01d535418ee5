#include "coll/levels.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"
#include "sinew/node/moving.hpp"

namespace sinew::coll {
namespace {

node::data nothing() noexcept { return {nullptr, 0, &layout::of(layout::element::byte)}; }

}  // namespace

levels::levels(participant at, const node_map& map, std::unique_ptr<node::team> team)
    : at_(at),
      map_(map),
      team_(std::move(team)),
      member_(team_ != nullptr ? team_->rank() : 0),
      leaders_(map_.first().begin(), map_.first().end()) {
  SINEW_EXPECT((team_ == nullptr) == (map_.mine().size() == 1));
  SINEW_EXPECT(map_.mine()[static_cast<std::size_t>(member_)] == at.comm.rank().value());
}

int levels::lead(int root) const noexcept {
  const std::span<const int> mine = map_.mine();
  const auto at = std::lower_bound(mine.begin(), mine.end(), root);
  return at != mine.end() && *at == root ? static_cast<int>(at - mine.begin()) : 0;
}

bool levels::reduces(const layout::datatype& type, const op& o) const noexcept {
  return (o.commutative || map_.consecutive()) && coll::reduces(map_.largest(), type);
}

bool levels::collects(std::size_t block) noexcept {
  return block <= static_cast<std::size_t>(tuning::level_block());
}

bool levels::forwards(std::size_t block) noexcept {
  return block <= static_cast<std::size_t>(tuning::level_alltoall());
}

fault levels::barrier(collective_messages& t) {
  const node::lengths limits = {node::team::room, node::team::room};
  if (team_ != nullptr) {
    (void)node::gather(*team_, nothing(), 0, limits, [](int) { return nothing(); });
  }
  if (leads()) {
    leaders l(*this, t);
    barrier_any(*l);
  }
  if (team_ != nullptr) {
    (void)node::bcast(*team_, nothing(), 0, limits);
  }
  return t.outcome();
}

fault levels::bcast(collective_messages& t, const buffer& data, int root) {
  const int from = lead(root);
  if (from == member_) {
    leaders l(*this, t, root);
    bcast_any(*l, data, map_.node_of(root));
  }
  if (team_ != nullptr) {
    t.note(fault_unless(node::bcast(*team_, as_data(data), from, node_lengths(*team_))));
  }
  return t.outcome();
}

fault levels::reduce(collective_messages& t, const void* input, const buffer& recv, const op& o,
                     int root) {
  const int to = lead(root);
  if (to != member_) {
    t.note(node_reduce(*team_, input, recv, o, to));
    return t.outcome();
  }
  scratch partial;
  void* sum = recv.base;
  if (t.rank() != root && team_ != nullptr) {
    partial.take(recv.count, *recv.type);
    sum = partial.base();
  }
  if (team_ != nullptr) {
    t.note(node_reduce(*team_, input, {sum, recv.count, recv.type}, o, to));
    input = sum;
  }
  leaders l(*this, t, root);
  reduce_any(*l, input, recv, o, map_.node_of(root));
  (*l).note(t.outcome());
  return (*l).outcome();
}

fault levels::allreduce(collective_messages& t, const void* input, const buffer& recv,
                        const op& o) {
  if (team_ != nullptr) {
    t.note(node_reduce(*team_, input, recv, o, 0));
    input = recv.base;
  }
  if (leads()) {
    leaders l(*this, t);
    allreduce_any(*l, input, recv, o);
  }
  if (team_ != nullptr) {
    t.note(fault_unless(node::bcast(*team_, as_data(recv), 0, node_lengths(*team_))));
  }
  return t.outcome();
}

fault levels::scatter_reduced(collective_messages& t, const void* input, const buffer& mine,
                              std::span<const std::size_t> starts, const op& o) {
  const layout::datatype& type = *mine.type;
  const auto start = [&](int r) { return starts[static_cast<std::size_t>(r)]; };
  const auto length = [&](int r) { return start(r + 1) - start(r); };
  if (!leads()) {
    t.note(node_reduce(*team_, input, {nullptr, starts.back(), &type}, o, 0));
    t.note(fault_unless(node::scatter(*team_, as_data(mine), 0, node_lengths(*team_),
                                      [](int) { return nothing(); })));
    return t.outcome();
  }
  scratch sum;
  if (team_ != nullptr) {
    sum.take(starts.back(), type);
    t.note(node_reduce(*team_, input, {sum.base(), starts.back(), &type}, o, 0));
    input = sum.base();
  }
  // The blocks of each node one behind the other.
  std::vector<std::ptrdiff_t> counts(static_cast<std::size_t>(map_.nodes()));
  for (int r = 0; r < t.size(); ++r) {
    counts[static_cast<std::size_t>(map_.node_of(r))] += static_cast<std::ptrdiff_t>(length(r));
  }
  scratch ordered;
  if (!map_.consecutive()) {
    std::vector<std::ptrdiff_t> next(counts.size());
    for (std::size_t k = 1; k < counts.size(); ++k) {
      next[k] = next[k - 1] + counts[k - 1];
    }
    ordered.take(starts.back(), type);
    for (int r = 0; r < t.size(); ++r) {
      std::ptrdiff_t& to = next[static_cast<std::size_t>(map_.node_of(r))];
      t.note(copy(part(input, static_cast<std::ptrdiff_t>(start(r)), length(r), type),
                  part(ordered.base(), to, length(r), type)));
      to += static_cast<std::ptrdiff_t>(length(r));
    }
    input = ordered.base();
  }
  const auto ours = static_cast<std::size_t>(counts[static_cast<std::size_t>(map_.here())]);
  const scratch block(ours, type);
  {
    leaders l(*this, t);
    reduce_scatter_any(*l, input, part(block.base(), 0, ours, type), counts, o);
  }
  t.note(copy(part(block.base(), 0, mine.count, type), mine));  // the leader's is the first
  if (team_ != nullptr) {
    const std::span<const int> ranks = map_.mine();
    const auto before = [&](int m) {
      return std::accumulate(ranks.begin(), ranks.begin() + m, std::size_t{0},
                             [&](std::size_t before_r, int r) { return before_r + length(r); });
    };
    SINEW_ASSERT(before(team_->size()) == ours);
    t.note(fault_unless(node::scatter(*team_, as_data(mine), 0, node_lengths(*team_), [&](int m) {
      return as_data(part(block.base(), static_cast<std::ptrdiff_t>(before(m)),
                          length(ranks[static_cast<std::size_t>(m)]), type));
    })));
  }
  return t.outcome();
}

}  // namespace sinew::coll
