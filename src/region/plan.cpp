// SPDX-License-Identifier: BSD-3-Clause
#include "region/plan.hpp"

#include <cstring>

namespace sinew::region {

job_rank choose_executor(action what, owners of, job_rank me, bool kernel_copies) noexcept {
  SINEW_EXPECT(me >= 0);
  if (what == action::fill) {
    return of.target_is_far(me) ? of.target : me;
  }
  const bool far_source = of.source_is_far(me);
  const bool far_target = of.target_is_far(me);
  if (!far_source && !far_target) {
    return me;
  }
  if (far_source && far_target) {
    return of.source;
  }
  if (kernel_copies) {
    return me;  // without anybody's help
  }
  const job_rank executor = far_source ? of.source : of.source == me ? me : of.target;
  SINEW_ENSURE(!of.source_is_far(executor));
  return executor;
}

job_rank choose_sender(owners of, job_rank me) noexcept {
  const job_rank sender = of.source_is_far(me) ? of.source : me;
  SINEW_ENSURE(!of.source_is_far(sender));
  return sender;
}

std::vector<share> shares_of(const known& k, const shared_heaps& heaps, job_rank me) {
  std::vector<share> all;
  for (std::uint32_t p = 0; p < k.where.parts; ++p) {
    const job_rank owner =
        k.kind == memory_kind::symmetric ? k.id.creator() : k.there->places()[p].rank;
    const int node = heaps.node_of(owner);
    if (std::any_of(all.begin(), all.end(), [node](const share& s) { return s.node == node; })) {
      continue;
    }
    const bool mine = heaps.maps(owner) && k.kind != memory_kind::heap;
    all.push_back({node, mine ? me : owner});
  }
  SINEW_ENSURE(!all.empty());
  return all;
}

namespace {

std::vector<job_rank> ranks_of(std::span<const share> all) {
  std::vector<job_rank> ranks;
  for (const share& s : all) {
    ranks.push_back(s.rank);
  }
  return ranks;
}

}  // namespace

division divide(std::span<const share> source, std::span<const share> target, owners of) {
  SINEW_EXPECT(!source.empty() && !target.empty());
  if (source.size() > 1 || target.size() > 1 || source[0].node != target[0].node) {
    return {ranks_of(source), true};
  }
  const bool by_target = of.source == every_rank && of.target != every_rank;
  return {{by_target ? target[0].rank : source[0].rank}, false};
}

division divide(std::span<const share> target) { return {ranks_of(target), target.size() > 1}; }

copy_way choose_copy_way(const copy_facts& facts, owners of, job_rank me) noexcept {
  if (facts.elements == 0) {
    return copy_way::nothing;
  }
  SINEW_EXPECT(facts.bytes != 0 && facts.contiguous >= facts.bytes);
  const bool far_source = of.source_is_far(me);
  const bool far_target = of.target_is_far(me);
  if (far_source && far_target) {
    return copy_way::messages;
  }
  const bool short_pieces =
      facts.contiguous < std::min<std::uint64_t>(least_piece, facts.elements * facts.bytes);
  return facts.listed || ((far_source || far_target) && short_pieces) ? copy_way::scattered
                                                                      : copy_way::by_runs;
}

namespace {

bool earlier(const element_move& a, const element_move& b) noexcept { return a.there < b.there; }

[[maybe_unused]] bool sorted(std::span<const element_move> moves) {
  return std::is_sorted(moves.begin(), moves.end(), earlier);
}

}  // namespace

void sort_by_address(std::span<element_move> moves) {
  if (!std::is_sorted(moves.begin(), moves.end(), earlier)) {
    std::stable_sort(moves.begin(), moves.end(), earlier);
  }
  SINEW_ENSURE(sorted(moves));
}

void plan_read(std::span<const element_move> moves, std::size_t bytes, std::uint64_t gap,
               std::span<std::byte> buffer, joined_read& plan) {
  SINEW_EXPECT(!moves.empty() && bytes != 0 && bytes <= buffer.size());
  SINEW_EXPECT(sorted(moves));
  plan.pieces.clear();
  plan.found.clear();
  std::size_t used = 0;  // of the buffer
  for (const element_move& m : moves) {
    const std::uint64_t end =
        plan.pieces.empty() ? 0 : plan.pieces.back().remote + plan.pieces.back().bytes;
    const bool joins = !plan.pieces.empty() && m.there <= end + gap;
    const std::uint64_t more = !joins ? bytes : m.there + bytes > end ? m.there + bytes - end : 0;
    if (used + more > buffer.size()) {
      break;
    }
    if (joins) {
      plan.pieces.back().bytes += more;
    } else {
      plan.pieces.push_back({buffer.data() + used, m.there, bytes});
    }
    used += more;
    const fabric::piece& last = plan.pieces.back();
    plan.found.push_back(static_cast<const std::byte*>(last.local) + (m.there - last.remote));
  }
  SINEW_ENSURE(!plan.found.empty() && plan.found.back() + bytes <= buffer.data() + used);
}

std::vector<fabric::piece> plan_write(std::span<const element_move> moves, std::size_t bytes,
                                      std::span<std::byte> packed) {
  SINEW_EXPECT(packed.size() >= moves.size() * bytes);
  SINEW_EXPECT(sorted(moves));
  std::vector<fabric::piece> pieces;
  std::byte* at = packed.data();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (i + 1 < moves.size() && moves[i + 1].there == moves[i].there) {
      continue;
    }
    std::memcpy(at, moves[i].here, bytes);
    if (!pieces.empty() && pieces.back().remote + pieces.back().bytes == moves[i].there) {
      pieces.back().bytes += bytes;
    } else {
      pieces.push_back({at, moves[i].there, bytes});
    }
    at += bytes;
  }
  SINEW_ENSURE(moves.empty() == pieces.empty());
  return pieces;
}

}  // namespace sinew::region
