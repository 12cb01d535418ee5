#include "coll/over_node.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "coll/levels.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/error.hpp"
#include "sinew/coll/nonblocking.hpp"

namespace sinew::coll {
namespace {

/// What a communicator has of it.
struct node_place {
  bool decided = false;
  int calls = 0;
  std::unique_ptr<node::team> team;
  std::optional<node::operations> in_background;  ///< with `team`
  bool mapped = false;
  std::optional<node_map> map;
  std::unique_ptr<levels> by_levels;
};
constexpr core::communicator_slot<node_place> place(core::slots::coll_node);
constexpr core::runtime_slot<rma::engine> memory(core::slots::node_memory);

/// So many collectives of a communicator go by messages before its ranks take memory for them.
constexpr int calls_before = 2;

bool on_this_node(participant at) {
  const std::vector<job_rank>& local = at.engine.runtime().session().where().local_ranks;
  const std::span<const job_rank> all = at.comm.members().members();
  return std::all_of(all.begin(), all.end(), [&](job_rank r) {
    return std::find(local.begin(), local.end(), r) != local.end();
  });
}

/// The team of `ranks` of this node, this one being number `me`. Null if this rank has no memory.
std::unique_ptr<node::team> make_team(participant at, std::span<const int> ranks, int me,
                                      std::uint64_t& block) {
  try {
    core::runtime& runtime = at.engine.runtime();
    rma::engine* const given = runtime.attached.get(memory);
    rma::engine& e = given != nullptr ? *given : rma::engine::of_process(runtime);
    std::vector<job_rank> members(ranks.size());
    std::transform(ranks.begin(), ranks.end(), members.begin(),
                   [&](int r) { return at.comm.job_rank(comm_rank{r}); });
    auto made = std::make_unique<node::team>(e, std::move(members), comm_rank{me},
                                             at.comm.collective.awaited);
    made->name_members(ranks);
    block = made->make_block();
    return block != 0 ? std::move(made) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  } catch (const error&) {  // its ranks have no memory in common
    return nullptr;
  }
}

/// `ranks` tell each other where their blocks lie; one that has none says 0, and then all get null.
std::unique_ptr<node::team> agree_on_team(participant at, std::span<const int> ranks,
                                          message_tag tag) {
  const auto found = std::find(ranks.begin(), ranks.end(), at.comm.rank().value());
  SINEW_ASSERT(found != ranks.end());
  const auto me = static_cast<int>(found - ranks.begin());
  std::vector<std::uint64_t> blocks(ranks.size());
  std::unique_ptr<node::team> made = make_team(at, ranks, me, blocks[static_cast<std::size_t>(me)]);
  collective_messages t(at, ranks, me, tag);
  const auto word = [&](int r) {
    return buffer::of_bytes(&blocks[static_cast<std::size_t>(r)], sizeof(std::uint64_t));
  };
  exchange_all(t, [&](int) { return word(t.rank()); }, word);
  if (std::find(blocks.begin(), blocks.end(), std::uint64_t{0}) != blocks.end()) {
    return nullptr;
  }
  SINEW_ASSERT(made != nullptr);
  made->join(blocks);
  return made;
}

/// The nodes of the ranks, where collectives go by levels; null elsewhere.
const node_map* map_of(participant at, node_place& p) {
  if (!p.mapped) {
    if (tuning::levels() && !at.comm.spans_jobs) {
      p.map = node_map::of(at);
    }
    p.mapped = true;
  }
  return p.map ? &*p.map : nullptr;
}

node_place& place_of_comm(participant at) {
  node_place* const p = at.comm.attached.get(place);
  return p != nullptr ? *p : at.comm.attached.emplace(place);
}

/// All nodes have to have their memory, else all ranks go on by messages.
void decide_levels(participant at, node_place& p, const node_map& map) {
  collective_messages t(at, "the sharing of memory for collectives");
  std::uint64_t able = 1;
  std::unique_ptr<node::team> team;
  if (map.mine().size() > 1) {
    team = agree_on_team(at, map.mine(), t.tag());
    able = team != nullptr ? 1 : 0;
  }
  const op least{.kind = op_kind::min};
  allreduce_any(t, &able, {&able, 1, &layout::of(layout::element::u64)}, least);
  if (able != 0) {
    p.by_levels = std::make_unique<levels>(at, map, std::move(team));
  }
}

void decide(participant at, node_place& p) {
  p.decided = true;
  if (at.comm.size() == 1 || at.comm.spans_jobs ||
      at.engine.runtime().session().survivors() != nullptr) {
    // Ranks of several jobs share no memory, nor each other's places. Whoever waits for a word of a
    // rank that has died is not told; a message fails.
    return;
  }
  if (on_this_node(at)) {
    collective_messages t(at, "the sharing of memory for collectives");
    std::vector<int> all(static_cast<std::size_t>(at.comm.size()));
    std::iota(all.begin(), all.end(), 0);
    p.team = agree_on_team(at, all, t.tag());
    if (p.team != nullptr) {
      // Whatever a helper could do without this rank's threads is left to messages.
      node::operations& made = p.in_background.emplace(*p.team);
      made.agree_on_reading(!at.engine.runtime().wants_helper());
      p.team->note_readable(made.may_show());
    }
  } else if (const node_map* const map = map_of(at, p)) {
    decide_levels(at, p, *map);
  }
}

struct typed_op {
  const op& o;
  const layout::datatype& type;
  [[nodiscard]] node::combiner combiner() const noexcept {
    // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a combiner's
    return {[](const void* self, const void* lower, void* inout, std::size_t count) {
              const auto& t = *static_cast<const typed_op*>(self);
              t.o.apply(lower, inout, count, t.type);
            },
            this, type.size()};
  }
};

constexpr std::size_t usual_direct = std::size_t{4} << 20;
constexpr std::size_t never_direct = std::numeric_limits<std::size_t>::max();
constexpr std::size_t direct_both_ways = std::size_t{64} << 10;
constexpr std::size_t direct_of_two = std::size_t{32} << 10;
constexpr std::size_t direct_both_ways_of_two = std::size_t{8} << 10;
constexpr std::size_t direct_gather_of_crowded = std::size_t{64} << 10;
constexpr std::size_t direct_scatter_of_crowded = std::size_t{128} << 10;

/// Between two ranks that can read each other's memory that costs less than to copy data twice; if
/// more read at once, the kernel lets them wait for each other.
bool two_that_read(const node::team& t) noexcept { return t.size() == 2 && t.readable(); }

/// Where ranks wait for a processor few of them read at once, and a message costs its switches.
bool crowded_that_read(const node::team& t) noexcept {
  return t.size() > 2 && t.readable() && t.crowded();
}

/// Where data are read where they are.
std::size_t direct_from(std::int64_t set, const node::team& t, std::size_t of_two,
                        std::size_t usual = usual_direct) noexcept {
  const std::size_t chosen = two_that_read(t) ? of_two : usual;
  return set != 0 ? static_cast<std::size_t>(set) : chosen;
}

node::reduction_lengths reduction_lengths(const node::team& t, std::size_t of_two) noexcept {
  return {static_cast<std::size_t>(tuning::node_shared()) / static_cast<std::size_t>(t.size()),
          direct_from(tuning::node_direct_reduce(), t, of_two,
                      t.crowded() ? never_direct : usual_direct)};
}

}  // namespace

void use_node_memory(core::runtime& runtime, rma::engine& engine) {
  runtime.attached.set(memory, &engine);
}

node::team* team_of(participant at) {
  node_place* p = at.comm.attached.get(place);
  if (p != nullptr && p->decided) [[likely]] {
    return p->team.get();
  }
  if (!tuning::node()) {
    return nullptr;
  }
  p = &place_of_comm(at);
  if (p->calls++ >= calls_before) {
    decide(at, *p);
  }
  return p->team.get();
}

node::operations* operations_of(participant at) noexcept {
  node_place* const p = at.comm.attached.get(place);
  return p != nullptr && p->in_background ? &*p->in_background : nullptr;
}

levels* levels_of(participant at) noexcept {
  const node_place* const p = at.comm.attached.get(place);
  return p != nullptr ? p->by_levels.get() : nullptr;
}

position position_of(participant at) {
  return {at.comm.rank().value(), at.comm.size(), map_of(at, place_of_comm(at))};
}

node::team* team_for(participant at, std::size_t block, movement what) {
  node::team* const team = team_of(at);
  if (team == nullptr) {
    return nullptr;
  }
  const std::size_t set = tuning::block_on_node();
  const bool of_any_length =
      two_that_read(*team) || (what != movement::any && crowded_that_read(*team));
  const bool on_node =
      set != 0 ? block < set
               : of_any_length || block < tuning::usual_block_on_node(at.engine.runtime());
  return on_node ? team : nullptr;
}

node::lengths node_lengths(const node::team& t, movement what) noexcept {
  std::size_t one_way = t.crowded() ? never_direct : usual_direct;
  if (what != movement::any && crowded_that_read(t)) {
    one_way = what == movement::gather ? direct_gather_of_crowded : direct_scatter_of_crowded;
  }
  return {direct_from(tuning::node_direct(), t, direct_both_ways_of_two, direct_both_ways),
          direct_from(tuning::node_direct_one_way(), t, direct_of_two, one_way)};
}

bool reduces(int members, const layout::datatype& type) noexcept {
  return type.dense() && type.size() <= node::most_element_bytes &&
         type.size() * static_cast<std::size_t>(members) <= node::team::room / 4;
}

fault node_reduce(node::team& t, const void* input, const buffer& recv, const op& o, int root) {
  const typed_op typed{o, *recv.type};
  // One of two that copies while the other adds is quicker than one that reads and adds.
  return fault_unless(node::reduce(t, {input, recv.base, recv.count}, typed.combiner(), root,
                                   reduction_lengths(t, never_direct)));
}

fault node_allreduce(node::team& t, const void* input, const buffer& recv, const op& o) {
  const typed_op typed{o, *recv.type};
  return fault_unless(node::allreduce(t, {input, recv.base, recv.count}, typed.combiner(),
                                      reduction_lengths(t, direct_of_two)));
}

fault node_reduce_scatter(node::team& t, const void* input, const buffer& mine,
                          std::span<const std::size_t> starts, const op& o) {
  const typed_op typed{o, *mine.type};
  if (input != mine.base) {
    return fault_unless(node::reduce_scatter(t, input, mine.base, starts, typed.combiner(),
                                             reduction_lengths(t, direct_of_two)));
  }
  const scratch sum(mine.count, *mine.type);
  const bool fits = node::reduce_scatter(t, input, sum.base(), starts, typed.combiner(),
                                         reduction_lengths(t, direct_of_two));
  const fault own = copy(part(sum.base(), 0, mine.count, *mine.type), mine);
  return fits ? own : fault::truncated;
}

}  // namespace sinew::coll
