// SPDX-License-Identifier: BSD-3-Clause
#include "coll/over_node.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "coll/node_map.hpp"
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
  bool by_levels = false;
  std::unique_ptr<node::team> of_node;  ///< `by_levels`: of this rank's; null if it is alone there
};
constexpr core::communicator_slot<node_place> place(core::slots::coll_node);
constexpr core::runtime_slot<rma::engine> memory(core::slots::node_memory);

/// So many collectives of a communicator go by messages before its ranks take memory for them.
constexpr int calls_before = 2;

bool on_this_node(participant at) {
  const boot::place& here = at.engine.runtime().session().where();
  const std::span<const job_rank> all = at.comm.members().members();
  return std::all_of(all.begin(), all.end(), [&](job_rank r) { return here.is_near(r); });
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
/// So do more than 64 that share processors: a block has lines for each of the others, and messages
/// in trees wake fewer of them. (1,000 ranks on 2 processors: a barrier and an allreduce in 3 s
/// instead of 9.)
std::unique_ptr<node::team> agree_on_team(participant at, std::span<const int> ranks,
                                          message_tag tag) {
  constexpr std::size_t most_that_share_processors = 64;
  if (ranks.size() > most_that_share_processors && at.engine.runtime().crowded()) {
    return nullptr;
  }
  const auto found = std::find(ranks.begin(), ranks.end(), at.comm.rank().value());
  SINEW_ASSERT(found != ranks.end());
  const auto me = static_cast<int>(found - ranks.begin());
  std::vector<std::uint64_t> blocks(ranks.size());
  std::unique_ptr<node::team> made = make_team(at, ranks, me, blocks[static_cast<std::size_t>(me)]);
  collective_messages t(at, ranks, me, tag);
  const buffer all{blocks.data(), 1, &layout::of(layout::element::u64)};
  run_among(t, {collective::allgather, operand(in_place), all});
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

/// True only if it is on all ranks.
bool all_are(bool able, collective_messages& t) {
  std::uint64_t word = able ? 1 : 0;
  const op least{.kind = op_kind::min};
  const buffer all{&word, 1, &layout::of(layout::element::u64)};
  run_among(t, {collective::allreduce, operand(in_place), all, -1, borrowed(least)});
  return word != 0;
}

/// All nodes have to have their memory, else all ranks go on by messages.
void decide_levels(participant at, node_place& p, const node_map& map) {
  collective_messages t(at, "the sharing of memory for collectives");
  bool able = true;
  std::unique_ptr<node::team> team;
  if (map.mine().size() > 1) {
    team = agree_on_team(at, map.mine(), t.tag());
    able = team != nullptr;
  }
  if (all_are(able, t)) {
    p.by_levels = true;
    p.of_node = std::move(team);
  }
}

/// Whom the kernel lets a process read depends on what the two have in common: user, namespaces,
/// the system's limits. So if each can read the next one in a circle, each is taken to be able to
/// read all: to ask every other one takes a second with 256 ranks, and minutes where others use the
/// processors.
void decide_reading(collective_messages& t, node_place& p) {
  node::team& team = *p.team;
  node::operations& made = p.in_background.emplace(team);
  const job_rank next = team.job_rank_of((team.rank() + 1) % team.size());
  // Whatever a helper could do without this rank's threads is left to messages.
  if (all_are(!t.runtime().wants_helper() && team.memory().copies_from(next), t)) {
    made.allow_showing();
    team.note_readable(true);
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
      decide_reading(t, p);
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

position position_in_call(participant at) noexcept {
  const node_place* const p = at.comm.attached.get(place);
  const int fan = tuning::short_fan(at.engine.runtime(), at.comm.spans_jobs);
  const bool nodes = p != nullptr && p->by_levels;
  return {at.comm.rank().value(), at.comm.size(), nodes ? &*p->map : nullptr,
          nodes ? p->of_node.get() : nullptr, fan};
}

// With trees of two children: where nobody waits in the call, a flat one only adds a message's way.
position position_of(participant at) {
  return {at.comm.rank().value(), at.comm.size(), map_of(at, place_of_comm(at))};
}

bool suits_block(core::runtime& runtime, const node::team& t, std::size_t block, movement what) {
  const std::size_t set = tuning::block_on_node();
  const bool of_any_length = two_that_read(t) || (what != movement::any && crowded_that_read(t));
  return set != 0 ? block < set : of_any_length || block < tuning::usual_block_on_node(runtime);
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
  const auto all = static_cast<std::size_t>(members);
  // Where vectors are divided each member posts for each other one, on a line of its own.
  return type.dense() && type.size() <= node::most_element_bytes &&
         type.size() * all <= node::team::room / 4 &&
         (type.size() + sizeof(node::line)) * all < node::team::room;
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
