// Collectives of ranks that share a node: over module node, where there is memory for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/collective_messages.hpp"
#include "coll/scratch.hpp"
#include "sinew/node/moving.hpp"
#include "sinew/node/operations.hpp"
#include "sinew/node/reducing.hpp"

namespace sinew::coll {

class levels;

/// The team of `at.comm`; null where its collectives go by messages. All ranks get the same answer
/// in the same call. Every blocking collective asks once, before anything else; the first ones of
/// a communicator get none, so that one which is used but once or twice costs no memory. Then all
/// ranks tell each other, by messages, where their blocks lie. Hot, but for that.
[[nodiscard]] node::team* team_of(participant at);
/// Of its operations in the background; null where there is no team yet. Does not count as a call.
/// Hot.
[[nodiscard]] node::operations* operations_of(participant at) noexcept;
/// What moves, where that decides which way is best.
enum class movement : std::uint8_t { any, gather, scatter };
/// The same for blocks of this length, as many bytes on all ranks: null, too, where they are so
/// long that messages carry them sooner. Hot, but for that.
[[nodiscard]] node::team* team_for(participant at, std::size_t block,
                                   movement what = movement::any);
/// After team_of() has returned null: the levels by which the collectives of `at.comm` go; null
/// where they go by messages between all ranks. Hot.
[[nodiscard]] levels* levels_of(participant at) noexcept;
/// Of such a rank's engine; for tests whose ranks share a process. Else it is the process's own.
void use_node_memory(core::runtime& runtime, rma::engine& memory);

[[nodiscard]] node::lengths node_lengths(const node::team& t,
                                         movement what = movement::any) noexcept;
[[nodiscard]] inline node::data as_data(const buffer& b) noexcept {
  return {b.base, b.count, b.type};
}
[[nodiscard]] inline fault fault_unless(bool fits) noexcept {
  return fits ? fault::none : fault::truncated;
}

/// Whether a reduction of such elements can go over a team of so many ranks. The ranks give
/// elements of one type, so they get one answer.
[[nodiscard]] bool reduces(int members, const layout::datatype& type) noexcept;

// What collectives.hpp says, over `t`.

fault node_reduce(node::team& t, const void* input, const buffer& recv, const op& o, int root);
fault node_allreduce(node::team& t, const void* input, const buffer& recv, const op& o);
/// Rank r gets counts(r) elements. `input` may be `mine.base`.
fault node_reduce_scatter(node::team& t, const void* input, const buffer& mine,
                          std::span<const std::size_t> starts, const op& o);

/// out(r) and in(r) as buffers; what this rank keeps is copied, too. `in_place_data`: what is sent
/// lies where the data of the others go.
template <class Out, class In>
fault node_alltoall(node::team& t, bool in_place_data, const Out& out, const In& in) {
  const auto into = [&](int r) { return as_data(in(r)); };
  if (!in_place_data) {
    const bool fits =
        node::alltoall(t, node_lengths(t), [&](int r) { return as_data(out(r)); }, into);
    const fault own = copy(out(t.rank()), in(t.rank()));
    return fits ? own : fault::truncated;
  }
  std::size_t bytes = 0;
  for (int r = 0; r < t.size(); ++r) {
    bytes += in(r).bytes();
  }
  const scratch packed(bytes);
  std::size_t used = 0;
  std::vector<node::data> sent;
  sent.reserve(static_cast<std::size_t>(t.size()));
  for (int r = 0; r < t.size(); ++r) {
    const buffer from = in(r);
    sent.push_back(as_data(buffer::of_bytes(packed.base() + used, from.bytes())));
    if (r != t.rank() && from.bytes() != 0) {
      used +=
          layout::pack(*from.type, from.count, from.base, 0, {packed.base() + used, from.bytes()});
    }
  }
  SINEW_ENSURE(used <= bytes);
  return fault_unless(node::alltoall(
      t, node_lengths(t), [&](int r) { return sent[static_cast<std::size_t>(r)]; }, into));
}

}  // namespace sinew::coll
