// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls; and those over the memory of the node that all ranks are on, as calls of module
// node. They are together for the sake of the latter: such a barrier takes 100 ns.
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/over_node.hpp"
#include "coll/scratch.hpp"
#include "coll/tuning.hpp"
#include "sinew/node/moving.hpp"

namespace sinew::coll {
namespace {

fault reduce_scatter(node::team& t, const call& c) {
  if (is_empty({t.rank(), t.size()}, c)) {
    return fault::none;
  }
  std::vector<std::size_t> starts(static_cast<std::size_t>(t.size()) + 1);
  for (int r = 0; r < t.size(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    starts[i + 1] = starts[i] + c.recv.count(r);
  }
  const buffer mine = part(c.recv.base(), 0, c.recv.count(t.rank()), c.recv.type());
  return node_reduce_scatter(t, input_of(c), mine, starts, *c.o);
}

/// What this rank gives itself is moved while the others write or read.
fault gather(node::team& t, const call& c) {
  fault kept = fault::none;
  const auto own = [&] {
    if (!c.send.in_place()) {
      kept = copy(c.send.each(), c.recv(t.rank()));
    }
  };
  const bool fits = node::gather(
      t, as_data(c.send.each()), c.root.value(), node_lengths(t, movement::gather),
      [&](int r) { return as_data(c.recv(r)); }, own);
  return fits ? kept : fault::truncated;
}

fault scatter(node::team& t, const call& c) {
  fault kept = fault::none;
  const auto own = [&] {
    if (!c.recv.in_place()) {
      kept = copy(c.send(t.rank()), c.recv.each());
    }
  };
  const bool fits = node::scatter(
      t, as_data(c.recv.each()), c.root.value(), node_lengths(t, movement::scatter),
      [&](int r) { return as_data(c.send(r)); }, own);
  return fits ? kept : fault::truncated;
}

fault allgather(node::team& t, const call& c) {
  const buffer own = c.recv(t.rank());
  const buffer mine = c.send.in_place() ? own : c.send.each();
  const bool fits =
      node::allgather(t, as_data(mine), node_lengths(t), [&](int r) { return as_data(c.recv(r)); });
  const fault kept = mine.base == own.base ? fault::none : copy(mine, own);
  return fits ? kept : fault::truncated;
}

/// What is sent lies where the data of the others go: it is packed aside first.
fault alltoall_in_its_place(node::team& t, const call& c) {
  std::size_t bytes = 0;
  for (int r = 0; r < t.size(); ++r) {
    bytes += c.recv(r).bytes();
  }
  const scratch packed(bytes);
  std::size_t used = 0;
  std::vector<node::data> sent;
  sent.reserve(static_cast<std::size_t>(t.size()));
  for (int r = 0; r < t.size(); ++r) {
    const buffer from = c.recv(r);
    sent.push_back(as_data(buffer::of_bytes(packed.base() + used, from.bytes())));
    if (r != t.rank() && from.bytes() != 0) {
      used +=
          layout::pack(*from.type, from.count, from.base, 0, {packed.base() + used, from.bytes()});
    }
  }
  SINEW_ENSURE(used <= bytes);
  return fault_unless(node::alltoall(
      t, node_lengths(t), [&](int r) { return sent[static_cast<std::size_t>(r)]; },
      [&](int r) { return as_data(c.recv(r)); }));
}

fault alltoall(node::team& t, const call& c) {
  if (c.send.in_place()) {
    return alltoall_in_its_place(t, c);
  }
  const bool fits = node::alltoall(
      t, node_lengths(t), [&](int r) { return as_data(c.send(r)); },
      [&](int r) { return as_data(c.recv(r)); });
  const fault own = copy(c.send(t.rank()), c.recv(t.rank()));
  return fits ? own : fault::truncated;
}

template <collective What>
bool suits(core::runtime& runtime, const node::team& t, const call& c) {
  if constexpr (What == collective::barrier || What == collective::bcast) {
    return true;
  } else if constexpr (What == collective::gather || What == collective::scatter) {
    const blocks& all = What == collective::gather ? c.recv : c.send;
    const blocks& mine = What == collective::gather ? c.send : c.recv;
    const blocks& told = c.root.value() == t.rank() ? all : mine;
    return !all.alike() ||
           suits_block(runtime, t, told.each().bytes(),
                       What == collective::gather ? movement::gather : movement::scatter);
  } else if constexpr (What == collective::allgather || What == collective::alltoall) {
    return !c.recv.alike() || suits_block(runtime, t, c.recv.each().bytes(), movement::any);
  } else {
    return reduces(t.size(), c.recv.type());
  }
}

template <collective What>
fault carry_out(node::team& t, const call& c) {
  if constexpr (What == collective::barrier) {
    t.meet();
    return fault::none;
  } else if constexpr (What == collective::bcast) {
    const node::data data = as_data(c.recv.each());
    return fault_unless(c.recv.each().bytes() == 0 ||
                        node::bcast(t, data, c.root.value(), node_lengths(t)));
  } else if constexpr (What == collective::reduce || What == collective::allreduce) {
    const buffer into = c.recv.each();
    return into.count == 0              ? fault::none
           : What == collective::reduce ? node_reduce(t, input_of(c), into, *c.o, c.root.value())
                                        : node_allreduce(t, input_of(c), into, *c.o);
  } else if constexpr (What == collective::reduce_scatter) {
    return reduce_scatter(t, c);
  } else if constexpr (What == collective::gather) {
    return gather(t, c);
  } else if constexpr (What == collective::scatter) {
    return scatter(t, c);
  } else if constexpr (What == collective::allgather) {
    return c.recv.alike() && c.recv.each().bytes() == 0 ? fault::none : allgather(t, c);
  } else {
    static_assert(What == collective::alltoall);
    return c.recv.alike() && c.recv.each().bytes() == 0 ? fault::none : alltoall(t, c);
  }
}

/// use(constant): of the collective, where it has an implementation here.
template <class Use>
auto with_constant(collective what, const Use& use) {
  using enum collective;
  using result = decltype(use(std::integral_constant<collective, barrier>()));
  switch (what) {
    case barrier:
      return use(std::integral_constant<collective, barrier>());
    case bcast:
      return use(std::integral_constant<collective, bcast>());
    case reduce:
      return use(std::integral_constant<collective, reduce>());
    case allreduce:
      return use(std::integral_constant<collective, allreduce>());
    case reduce_scatter:
      return use(std::integral_constant<collective, reduce_scatter>());
    case gather:
      return use(std::integral_constant<collective, gather>());
    case scatter:
      return use(std::integral_constant<collective, scatter>());
    case allgather:
      return use(std::integral_constant<collective, allgather>());
    case alltoall:
      return use(std::integral_constant<collective, alltoall>());
    default:
      return result{};
  }
}

}  // namespace

bool suits_memory(core::runtime& runtime, const node::team& t, const call& c) {
  return with_constant(c.what, [&](auto what) { return suits<what()>(runtime, t, c); });
}

[[gnu::always_inline]] static inline std::optional<fault> run_in_memory(core::runtime& runtime,
                                                                        node::team& t,
                                                                        const call& c) {
  return with_constant(c.what, [&](auto what) {
    return suits<what()>(runtime, t, c) ? std::optional(carry_out<what()>(t, c)) : std::nullopt;
  });
}

fault over_memory(collective_messages& /*t*/, const position& at, const call& c) {
  fault met = fault::none;
  (void)with_constant(c.what, [&](auto what) {
    met = carry_out<what()>(*at.team, c);
    return true;
  });
  return met;
}

fault run(participant at, const call& c) {
  collective_messages t(at, name_of(c), c.root);
  node::team* const team = c.topology == nullptr ? team_of(at) : nullptr;
  if (team == nullptr) {
    return run_chosen(t, c.topology == nullptr ? position_in_call(at) : position(at.comm), c);
  }
  core::runtime& runtime = at.engine.runtime();
  if (tuning::names_no_algorithm(c.what)) [[likely]] {
    if (const std::optional<fault> met = run_in_memory(runtime, *team, c)) [[likely]] {
      return *met;
    }
  } else if (suits_memory(runtime, *team, c)) {
    return run_chosen(t, position(team->rank(), team->size(), nullptr, team), c);
  }
  return run_chosen(t, position_in_call(at), c);
}

}  // namespace sinew::coll
