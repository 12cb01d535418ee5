// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "coll/node_map.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/choices.hpp"

namespace sinew::coll {
namespace {

std::size_t bytes(std::int64_t setting) { return static_cast<std::size_t>(setting); }

// --- where they can be used, and where they are best ---

bool by_memory(const facts& f) { return f.memory; }
bool by_nodes(const facts& f) { return f.nodes; }
/// A partial result covers consecutive ranks, unless the operator commutes.
bool in_order_of_nodes(const facts& f) { return f.nodes && (f.commutes || f.consecutive); }
bool consecutive_nodes(const facts& f) { return f.nodes && f.consecutive; }
bool alike_by_nodes(const facts& f) { return f.nodes && f.alike; }
bool blocking_by_nodes(const facts& f) { return f.nodes && f.in_call && f.node_memory; }
bool alltoall_by_nodes(const facts& f) { return f.nodes && f.alike && !f.in_place; }
bool alltoall_near_nodes(const facts& f) { return blocking_by_nodes(f) && !f.in_place; }
bool collected(const facts& f) { return f.bytes <= bytes(tuning::level_block()); }
bool forwarded(const facts& f) {
  return f.bytes != 0 && f.bytes <= bytes(tuning::level_alltoall());
}
bool crowded(const facts& f) { return f.fan > 2; }
bool short_and_crowded(const facts& f) {
  return f.fan > 2 && f.bytes <= bytes(tuning::tree_bytes());
}
bool is_long(const facts& f) { return f.bytes >= bytes(tuning::long_reduce()); }
bool commutes(const facts& f) { return f.commutes; }
bool halves(const facts& f) { return f.commutes && f.divisible && f.ranks > 1; }
bool pieces(const facts& f) { return f.divisible && f.ranks > 1; }
bool pieces_apart(const facts& f) { return pieces(f) && !f.in_place; }
bool long_in_background(const facts& f) { return !f.in_call && is_long(f); }
bool several(const facts& f) { return f.ranks > 2; }
bool long_bcast(const facts& f) { return f.bytes >= bytes(tuning::long_bcast()); }
bool alike(const facts& f) { return f.alike; }
bool in_its_place(const facts& f) { return f.in_place; }
bool apart(const facts& f) { return !f.in_place; }
bool alike_and_apart(const facts& f) { return f.alike && !f.in_place && f.ranks > 2; }
/// What goes on in the background sends all at once: a round would wait for somebody's progress.
bool rounds_suit(const facts& f) { return f.in_call || f.ranks >= tuning::many_ranks(); }
bool short_through_root(const facts& f) {
  return several(f) && f.in_call && f.bytes <= bytes(tuning::tree_bytes());
}
bool all_blocks_short_and_crowded(const facts& f) {
  return several(f) && f.fan > 2 && rounds_suit(f) &&
         f.bytes * static_cast<std::size_t>(f.ranks) <= bytes(tuning::tree_bytes());
}
bool short_allgather(const facts& f) {
  return several(f) && rounds_suit(f) &&
         f.bytes * static_cast<std::size_t>(f.ranks) < bytes(tuning::long_allgather());
}
bool short_alltoall(const facts& f) {
  return f.ranks >= tuning::many_ranks() && f.bytes <= bytes(tuning::short_alltoall());
}
bool waited_for(const facts& f) { return f.in_call; }
bool always(const facts&) { return true; }
bool never(const facts&) { return false; }

constexpr const char* memory_says = "over the memory of the node that all ranks share";
constexpr const char* levels_say = "inside nodes, and between the nodes' leaders";

constexpr auto table = [] {
  using enum collective;
  return std::array{
      algorithm{barrier, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{barrier, "levels", levels_say, by_nodes, always, barrier_levels},
      algorithm{barrier, "tree", "up to one rank and down again", always, crowded, barrier_tree},
      algorithm{barrier, "dissemination", "log2(n) rounds", always, always, barrier_dissemination},

      algorithm{bcast, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{bcast, "levels", levels_say, by_nodes, always, bcast_levels},
      algorithm{bcast, "scatter_allgather", "pieces are scattered, then all exchange theirs",
                several, long_bcast, bcast_scatter_allgather},
      algorithm{bcast, "tree", "binomial; flatter for short data where processors are few", always,
                always, bcast_tree},

      algorithm{reduce, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{reduce, "levels", levels_say, in_order_of_nodes, always, reduce_levels},
      algorithm{reduce, "pieces", "each rank combines one part of the elements, piece by piece",
                pieces, long_in_background, reduce_pieces},
      algorithm{reduce, "halving", "recursive halving, then the root collects the pieces", halves,
                is_long, reduce_halving},
      algorithm{reduce, "tree", "binomial; flatter for short data where processors are few", always,
                always, reduce_tree},

      algorithm{allreduce, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{allreduce, "levels", levels_say, in_order_of_nodes, always, allreduce_levels},
      algorithm{allreduce, "tree", "to one rank, and from there to all", always, short_and_crowded,
                allreduce_tree},
      algorithm{allreduce, "pieces", "each rank combines one part of the elements, piece by piece",
                pieces, long_in_background, allreduce_pieces},
      algorithm{allreduce, "halving", "recursive halving, then recursive doubling", halves, is_long,
                allreduce_halving},
      algorithm{allreduce, "ring", "pieces go round a ring twice", commutes, never, allreduce_ring},
      algorithm{allreduce, "doubling", "recursive doubling of whole vectors", always, always,
                allreduce_doubling},

      algorithm{scan, "levels", levels_say, consecutive_nodes, always, scan_levels},
      algorithm{scan, "doubling", "simultaneous binomial trees", always, always, scan_doubling},

      algorithm{exscan, "levels", levels_say, consecutive_nodes, always, scan_levels},
      algorithm{exscan, "doubling", "simultaneous binomial trees", always, always, scan_doubling},

      algorithm{reduce_scatter, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{reduce_scatter, "levels", levels_say, in_order_of_nodes, always,
                reduce_scatter_levels},
      algorithm{reduce_scatter, "root", "to one rank, which hands out the blocks", always,
                short_through_root, reduce_scatter_root},
      algorithm{reduce_scatter, "pieces", "each rank combines its block, piece by piece",
                pieces_apart, long_in_background, reduce_scatter_pieces},
      algorithm{reduce_scatter, "pairwise", "n - 1 exchanges, combined as they come", always,
                waited_for, reduce_scatter_pairwise},
      algorithm{reduce_scatter, "direct", "all blocks at once, combined when they are there",
                always, always, reduce_scatter_direct},

      algorithm{gather, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{gather, "levels", levels_say, alike_by_nodes, collected, gather_levels},
      algorithm{gather, "bundles", "a node's short blocks together, of any lengths",
                blocking_by_nodes, always, nullptr, gather_bundles},
      algorithm{gather, "direct", "each rank sends to the root", always, always, gather_direct},

      algorithm{scatter, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{scatter, "levels", levels_say, alike_by_nodes, collected, scatter_levels},
      algorithm{scatter, "bundles", "a node's short blocks together, of any lengths",
                blocking_by_nodes, always, nullptr, gather_bundles},
      algorithm{scatter, "direct", "the root sends to each rank", always, always, scatter_direct},

      algorithm{allgather, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{allgather, "levels", levels_say, by_nodes, always, allgather_levels},
      algorithm{allgather, "root", "one rank collects and tells everybody", alike,
                all_blocks_short_and_crowded, allgather_root},
      algorithm{allgather, "bruck", "log2(n) rounds of stored blocks", alike, short_allgather,
                allgather_bruck},
      algorithm{allgather, "direct", "everybody sends to everybody", always, always,
                allgather_direct},

      algorithm{alltoall, "memory", memory_says, by_memory, always, nullptr, over_memory},
      algorithm{alltoall, "levels", levels_say, alltoall_by_nodes, forwarded, alltoall_levels},
      algorithm{alltoall, "near", "over memory inside nodes, else a message each",
                alltoall_near_nodes, always, alltoall_near},
      algorithm{alltoall, "bruck", "log2(n) rounds of stored blocks", alike_and_apart,
                short_alltoall, alltoall_bruck},
      algorithm{alltoall, "direct", "everybody sends to everybody", apart, always, alltoall_direct},
      algorithm{alltoall, "in_place", "a partner at a time, what is sent is packed first",
                in_its_place, always, alltoall_in_place},

      algorithm{neighbour_allgather, "direct", "all neighbours at once", always, always,
                neighbours_direct},
      algorithm{neighbour_alltoall, "direct", "all neighbours at once", always, always,
                neighbours_direct},
  };
}();

/// Where the rows of each collective begin, and the end. They stand together.
constexpr auto first_rows = [] {
  std::array<std::size_t, collectives + 1> first{};
  for (std::size_t row = table.size(); row-- > 0;) {
    first[static_cast<std::size_t>(table[row].what)] = row;
  }
  first[collectives] = table.size();
  return first;
}();

constexpr std::array<const char*, collectives> names{
    "barrier",           "bcast",  "reduce",  "allreduce", "scan",     "exscan",
    "reduce_scatter",    "gather", "scatter", "allgather", "alltoall", "neighbour_allgather",
    "neighbour_alltoall"};

/// The names of a collective's algorithms.
template <collective What>
constexpr auto& choices = base::choices_of<table, first_rows[static_cast<std::size_t>(What)],
                                           first_rows[static_cast<std::size_t>(What) + 1]>;

constexpr const char* about =
    "the first of these algorithms that can carry the call out is taken; if none is named, the one "
    "that `sinew info collectives` tells";

template <collective What>
setting<std::string> chosen{"coll",
                            names[static_cast<std::size_t>(What)],
                            "",
                            "",
                            about,
                            accepted<std::string>{choices<What>.data(), true},
                            setting_use::each_use_alike};

/// The first row that a setting names, in its order, and that can; null if there is none.
const algorithm* wanted(const facts& f, std::string_view list) noexcept {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    for (const algorithm& a : algorithms_of(f.what)) {
      if (a.name == list.substr(0, end) && a.can(f) && (a.make != nullptr || f.in_call)) {
        return &a;
      }
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return nullptr;
}

}  // namespace

std::span<const algorithm> algorithms_of(collective what) noexcept {
  const auto i = static_cast<std::size_t>(what);
  return std::span(table).subspan(first_rows[i], first_rows[i + 1] - first_rows[i]);
}

using kind = collective;
setting<std::string>* const tuning::algorithms[collectives] = {
    &chosen<kind::barrier>,        &chosen<kind::bcast>,   &chosen<kind::reduce>,
    &chosen<kind::allreduce>,      &chosen<kind::scan>,    &chosen<kind::exscan>,
    &chosen<kind::reduce_scatter>, &chosen<kind::gather>,  &chosen<kind::scatter>,
    &chosen<kind::allgather>,      &chosen<kind::alltoall>};

const char* text_of(collective what) noexcept { return names[static_cast<std::size_t>(what)]; }

const algorithm& choose(const facts& f) noexcept {
  if (const setting<std::string>* const s = tuning::algorithm_of(f.what);
      s != nullptr && !(*s)().empty()) [[unlikely]] {
    if (const algorithm* const a = wanted(f, (*s)())) {
      return *a;
    }
  }
  const std::span<const algorithm> rows = algorithms_of(f.what);
  for (const algorithm& a : rows) {
    if (a.can(f) && a.is_best(f)) {
      return a;
    }
  }
  SINEW_ASSERT(false);
  return rows.back();
}

bool takes_memory(collective what) noexcept {
  const setting<std::string>* const s = tuning::algorithm_of(what);
  return s == nullptr || (*s)().empty() || (*s)().find("memory") != std::string::npos;
}

bool is_empty(const position& at, const call& c) noexcept {
  using enum collective;
  switch (c.what) {
    case bcast:
      return c.recv.each().bytes() == 0 || at.size == 1;
    case reduce:
    case allreduce:
    case scan:
    case exscan:
      return c.recv.each().count == 0;
    case reduce_scatter:
      for (int r = 0; r < (c.recv.alike() ? 1 : at.size); ++r) {
        if (c.recv.count(r) != 0) {
          return false;
        }
      }
      return true;
    case allgather:
    case alltoall:
      return c.recv.alike() && c.recv.each().bytes() == 0;
    default:
      return false;
  }
}

facts facts_of(const position& at, const call& c, bool in_call) noexcept {
  using enum collective;
  facts f{.what = c.what, .ranks = at.size, .in_call = in_call, .fan = at.fan};
  f.nodes = at.nodes != nullptr;
  f.memory = !f.nodes && at.team != nullptr;
  f.node_memory = f.nodes && in_call;
  f.consecutive = !f.nodes || at.nodes->consecutive();
  f.commutes = c.o == nullptr || c.o->commutative;
  const bool at_root = c.root.value() == at.rank;
  switch (c.what) {
    case bcast:
      f.bytes = c.recv.each().bytes();
      break;
    case reduce:
    case allreduce:
    case scan:
    case exscan:
      f.bytes = c.recv.each().bytes();
      f.divisible = c.recv.each().count >= static_cast<std::size_t>(at.size);
      break;
    case reduce_scatter: {
      std::size_t all = 0;
      for (int r = 0; r < at.size; ++r) {
        all += c.recv.count(r);
      }
      f.bytes = all * c.recv.type().size();
      f.divisible = all >= static_cast<std::size_t>(at.size);
      f.in_place = c.send.in_place() || c.send.base() == c.recv.base();
      break;
    }
    case gather:
      f.alike = c.recv.alike();
      f.bytes = !f.alike ? 0 : (at_root ? c.recv : c.send).each().bytes();
      break;
    case scatter:
      f.alike = c.send.alike();
      f.bytes = !f.alike ? 0 : (at_root ? c.send : c.recv).each().bytes();
      break;
    case allgather:
    case alltoall:
      f.alike = c.recv.alike();
      f.bytes = f.alike ? c.recv.each().bytes() : 0;
      f.in_place = c.send.in_place();
      break;
    default:
      break;
  }
  return f;
}

void make(plan& p, const position& at, const call& c) {
  if (is_empty(at, c)) {
    return;
  }
  if (c.o != nullptr) {
    p.use(c.o);
  }
  const algorithm& a = choose(facts_of(at, c, p.in_call()));
  SINEW_ASSERT(a.make != nullptr);
  a.make(p, at, c);
}

}  // namespace sinew::coll
