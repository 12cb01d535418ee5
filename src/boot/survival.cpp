// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/survival.hpp"

#include <algorithm>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::boot {
namespace {

/// Of a vote: who cast it has left the ballot.
constexpr std::uint64_t left_bit = std::uint64_t{1} << 63;

/// Of a vote and a decision: the upper half says of which ballot. Never 0, what memory begins with.
std::uint64_t name_of(const ballot& b) noexcept {
  SINEW_EXPECT(b.turn != 0);
  return (std::uint64_t{b.key} << 16 | b.turn) << 32 & ~left_bit;
}

/// Of two turns for each slot.
constexpr std::size_t rows = std::size_t{2} * survival::slots;
std::size_t row_of(const ballot& b) noexcept { return std::size_t{2} * b.slot + b.turn % 2; }

constexpr std::uint64_t name_mask = (~std::uint64_t{0} << 32) & ~left_bit;

}  // namespace

vote_words packed(const cast_vote& vote) noexcept {
  return {std::uint64_t{vote.ballot.slot} << 32 | std::uint64_t{vote.ballot.key} << 16 |
              vote.ballot.turn,
          std::uint64_t{vote.left} << 32 | vote.flag};
}

cast_vote unpacked(const vote_words& words) noexcept {
  return {
      {static_cast<std::uint32_t>(words.ballot >> 32),
       static_cast<std::uint16_t>(words.ballot >> 16), static_cast<std::uint16_t>(words.ballot)},
      static_cast<std::uint32_t>(words.said),
      0,
      words.said >> 32 != 0};
}

std::size_t survival::bytes_for(int ranks) noexcept {
  const auto n = static_cast<std::size_t>(ranks);
  return sizeof(word) * (1 + n + rows + 2 * rows * n);
}

survival::survival(int descriptor, int ranks, vote_teller tell)
    : memory_(memory_mapping::of(descriptor, bytes_for(ranks))),
      ranks_(ranks),
      tell_(std::move(tell)),
      words_(reinterpret_cast<word*>(memory_.base())) {
  SINEW_EXPECT(ranks > 0);
}

// Of two turns after each other: the votes of one may be read while those of the next are cast.
survival::word& survival::decision_of(const ballot& b) const noexcept {
  SINEW_EXPECT(b.slot < slots);
  return words_[1 + static_cast<std::size_t>(ranks_) + row_of(b)];
}

survival::word& survival::vote_of(const ballot& b, job_rank rank) const noexcept {
  SINEW_EXPECT(rank.below(ranks_));
  const auto n = static_cast<std::size_t>(ranks_);
  return words_[1 + n + rows + row_of(b) * n + rank.index()];
}

survival::word& survival::deaths_at_vote(const ballot& b, job_rank rank) const noexcept {
  return *(&vote_of(b, rank) + rows * static_cast<std::size_t>(ranks_));
}

void survival::mark_dead(job_rank rank) noexcept {
  SINEW_EXPECT(rank.below(ranks_));
  const std::uint64_t before = count().load(std::memory_order_relaxed);
  SINEW_ASSERT(before < static_cast<std::uint64_t>(ranks_));
  dead_at(static_cast<std::uint32_t>(before)).store(rank.index(), std::memory_order_relaxed);
  // Release: who sees the count sees the rank.
  count().store(before + 1, std::memory_order_release);
}

std::uint32_t survival::deaths() const noexcept {
  return static_cast<std::uint32_t>(count().load(std::memory_order_acquire));
}

job_rank survival::dead(std::uint32_t i) const noexcept {
  SINEW_EXPECT(i < static_cast<std::uint32_t>(ranks_));
  return job_rank::of_index(dead_at(i).load(std::memory_order_relaxed));
}

bool survival::is_dead(job_rank rank, std::uint32_t among_first) const noexcept {
  for (std::uint32_t i = 0; i < among_first; ++i) {
    if (dead(i) == rank) {
      return true;
    }
  }
  return false;
}

void survival::vote(const ballot& b, job_rank rank, std::uint32_t flag) noexcept {
  if (tell_) {
    return tell_(b, flag, false);
  }
  // Release: with the acquire in decided().
  vote_of(b, rank).store(name_of(b) | flag, std::memory_order_release);
}

void survival::note(job_rank rank, const cast_vote& vote) noexcept {
  if (vote.left) {
    return note_left(vote.ballot, rank);
  }
  deaths_at_vote(vote.ballot, rank).store(vote.deaths, std::memory_order_relaxed);
  // Release: who sees the vote sees the number, too.
  vote_of(vote.ballot, rank).store(name_of(vote.ballot) | vote.flag, std::memory_order_release);
}

// Where votes and deaths have one order: how many were dead when the last member had voted or died.
// All hosts know of these, and so say the same, however many have died since.
std::uint32_t survival::deaths_at_last_vote(const ballot& b,
                                            std::span<const job_rank> members) const noexcept {
  std::uint32_t result = 0;
  const std::uint32_t dead_now = deaths();
  for (const job_rank r : members) {
    std::uint32_t then = 0;
    if (has_voted(b, r)) {
      then = static_cast<std::uint32_t>(deaths_at_vote(b, r).load(std::memory_order_relaxed));
    } else {
      for (then = 1; then <= dead_now && dead(then - 1) != r; ++then) {
      }
      SINEW_ASSERT(then <= dead_now);  // it has died, or would have voted
    }
    result = std::max(result, then);
  }
  return result;
}

bool survival::decided(const ballot& b, std::span<const job_rank> members,
                       std::span<const job_rank> heard, decision& result) noexcept {
  word& place = decision_of(b);
  std::uint64_t known = place.load(std::memory_order_acquire);
  while ((known & name_mask) != name_of(b)) {
    const std::uint32_t dead_now = deaths();
    for (const job_rank r : members) {
      if (!has_voted(b, r) && !is_dead(r, dead_now)) {
        return false;
      }
    }
    const std::uint64_t said = name_of(b) | (tell_ ? deaths_at_last_vote(b, members) : dead_now);
    // Acquire and release: the votes were seen before, and are read after.
    if (place.compare_exchange_strong(known, said, std::memory_order_acq_rel)) {
      known = said;
    }
  }
  result.deaths = static_cast<std::uint32_t>(known);
  result.flag = ~std::uint32_t{0};
  for (const job_rank r : heard) {
    if (!is_dead(r, result.deaths)) {
      const std::uint64_t its = vote_of(b, r).load(std::memory_order_acquire);
      SINEW_ASSERT((its & name_mask) == name_of(b));
      result.flag &= static_cast<std::uint32_t>(its);
    }
  }
  return true;
}

void survival::leave(const ballot& b, job_rank rank) noexcept {
  tell_ ? tell_(b, 0, true) : note_left(b, rank);
}

void survival::note_left(const ballot& b, job_rank rank) noexcept {
  // Release: what it has read of the others' votes it has read by now.
  vote_of(b, rank).fetch_or(left_bit, std::memory_order_release);
}

bool survival::has_voted(const ballot& b, job_rank rank) const noexcept {
  return (vote_of(b, rank).load(std::memory_order_acquire) & name_mask) == name_of(b);
}

ballot survival::undecided_of(job_rank rank) const noexcept {
  for (std::size_t row = 0; row < rows; ++row) {
    ballot in{static_cast<std::uint32_t>(row / 2), 0, static_cast<std::uint16_t>(row % 2)};
    const std::uint64_t vote = vote_of(in, rank).load(std::memory_order_acquire);
    in.key = static_cast<std::uint16_t>(vote >> 48 & 0x7fff);
    in.turn = static_cast<std::uint16_t>(vote >> 32);
    if (in.turn != 0 && (vote & left_bit) == 0 &&
        (decision_of(in).load(std::memory_order_acquire) & name_mask) != name_of(in)) {
      return in;
    }
  }
  return {};
}

bool survival::is_over(const ballot& b, std::span<const job_rank> members) const noexcept {
  const std::uint32_t dead_now = deaths();
  return std::all_of(members.begin(), members.end(), [&](job_rank r) {
    const std::uint64_t its = vote_of(b, r).load(std::memory_order_acquire);
    return (its & name_mask) != name_of(b) || (its & left_bit) != 0 || is_dead(r, dead_now);
  });
}

}  // namespace sinew::boot
