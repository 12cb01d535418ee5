// SPDX-License-Identifier: BSD-3-Clause
// Some ranks of one node that do collectives together, over memory that they all have mapped.
//
// A collective is one or more *rounds* (rounds.hpp). In a round a member *posts* data, for all or
// for one other member, and *takes* what others have posted. Short data travel in the line that
// says that they are there, longer ones lie in the poster's block, and where neither is large
// enough the reader copies them straight from the poster's memory; then the poster waits in
// finish(). Who takes learns from the line how long the data are and where they lie, so both sides
// need to agree on nothing but the round.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/layout/datatype.hpp"
#include "sinew/node/rounds.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::node {

/// Typed memory of this rank.
struct data {
  void* base = nullptr;
  std::size_t count = 0;
  const layout::datatype* type = nullptr;

  [[nodiscard]] std::size_t bytes() const noexcept {
    SINEW_EXPECT(type != nullptr);
    return count * type->size();
  }
};

/// What a member says in a round. Valid when zero.
struct line {
  static constexpr std::size_t most_inside = 48;
  /// Where the data lie: the rest of the word `length` is their length.
  static constexpr std::uint64_t in_block = std::uint64_t{1} << 62;   ///< at offset lies.where
  static constexpr std::uint64_t elsewhere = std::uint64_t{2} << 62;  ///< at address lies.where
  static constexpr std::uint64_t all_kinds = std::uint64_t{3} << 62;
  /// No data, but where direct ones may be written: address lies.where.
  static constexpr std::uint64_t offer = all_kinds;

  /// The number of the round for which the other words are valid: stored last (release), read
  /// first (acquire). Written by the line's owner only.
  alignas(64) std::atomic<std::uint64_t> stamp;
  std::uint64_t length;
  struct far_data {
    std::uint64_t where;
    std::uint64_t to_come;  ///< bytes that follow in the next rounds; with `in_block` only
    std::uint64_t unit;     ///< with `elsewhere` only: bytes of each element of them
  };
  union {
    std::byte inside[most_inside];
    far_data lies;
  };

  /// From this bit on, below the kind: how many places more the round takes (rounds.hpp).
  static constexpr int wider_at = 56;
  static constexpr std::uint64_t most_bytes = (std::uint64_t{1} << wider_at) - 1;
  static constexpr std::uint64_t most_wider = ~all_kinds >> wider_at;

  [[nodiscard]] std::size_t bytes() const noexcept { return length & most_bytes; }
  [[nodiscard]] std::uint32_t wider() const noexcept {
    return static_cast<std::uint32_t>(length >> wider_at & most_wider);
  }
};
static_assert(sizeof(line) == 64 && offsetof(line, inside) % 16 == 0);

/// This rank's end of it. One thread at a time; all members make the same calls in the same order.
/// The engine outlives it.
class team {
 public:
  /// Longest data that a member may put into its block in a round.
  static constexpr std::size_t room = std::size_t{32} << 10;
  /// What operations.hpp has of a block; the first bytes of it are zero at first.
  static constexpr std::size_t operations_bytes = std::size_t{(76 + 4 * 128)} << 10;
  static constexpr std::size_t operations_zero = std::size_t{12} << 10;

  /// What each member needs of its local heap. Pages exist once they are touched.
  [[nodiscard]] static std::size_t block_bytes(int members) noexcept;
  /// `ranks` of the job, this one being number `me`. While this rank waits, `awaited` is the member
  /// it waits for, else -1; for reports. Throws std::bad_alloc. Cold.
  team(rma::engine& e, std::vector<job_rank> ranks, comm_rank me, std::atomic<comm_rank>& awaited);
  /// `awaited` is told these numbers, by member, instead of the members' own. Cold.
  void name_members(std::span<const int> numbers) { names_.assign(numbers.begin(), numbers.end()); }
  /// This rank's block, once; 0 if its heap has no room. Nobody else uses it before join(). Cold.
  [[nodiscard]] std::uint64_t make_block();
  /// Everybody's block, once all are known; before any round. Cold.
  void join(std::span<const std::uint64_t> blocks) noexcept;
  /// Waits for nobody: the block is released once all members are gone; at once if they never
  /// joined.
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int rank() const noexcept { return me_; }
  [[nodiscard]] bool crowded() const noexcept { return engine_.runtime().crowded(); }

  /// Whether each member can read every other's memory by itself, as they have found out. Cold.
  void note_readable(bool each_by_each) noexcept { readable_ = each_by_each; }
  [[nodiscard]] bool readable() const noexcept { return readable_; }

  /// Returns when all have come. Suspends. Hot.
  void meet();

  /// Begins a round in which each member may put `room` bytes into its block. Suspends if others
  /// are too far behind. Hot.
  void begin() {
    if (rounds_.must_pass()) [[unlikely]] {
      pass();
    }
    begin_now(rounds_.next());
  }
  /// After begin(): makes room for so many bytes, as far as there is some without a wait; returns
  /// how much there is. If one rank alone does so, and posts for each other member, those follow();
  /// else all do so alike, and nobody follows. Hot.
  std::size_t widen(std::size_t bytes) noexcept;
  /// Of the line that to_me_from() of a rank that may have widened the round has returned. Hot.
  void follow(const line& l) noexcept { rounds_.widen(l.wider()); }
  /// At most once a round, for all; `to` says which one takes it, -1: all of them. From
  /// `direct_from` bytes on the data are read where they are. Throws std::bad_alloc. Hot, but for
  /// long data.
  void post(const data& d, int to = -1, std::size_t direct_from = room);
  /// At most once a round for each, beside or instead of that. What the room does not hold (each
  /// rounded up to a line) is read where it is.
  void post_to(const data& d, int to, std::size_t direct_from = room);
  /// `bytes` of the block, for data that are made there; then post_made(). Null: no room.
  [[nodiscard]] std::byte* reserve(std::size_t bytes) noexcept;
  void post_made(const std::byte* made, std::size_t bytes, int to = -1, std::size_t to_come = 0);

  /// What `m` has posted for all, or for this rank; waits for it. Suspends. Hot.
  [[nodiscard]] const line& from(int m) {
    SINEW_EXPECT(m >= 0 && m < size_);
    return await(m, size_);
  }
  [[nodiscard]] const line& to_me_from(int m) {
    SINEW_EXPECT(m >= 0 && m < size_ && m != me_);
    return await(m, me_);
  }
  /// The round under way.
  [[nodiscard]] const round& now() const noexcept { return now_; }
  /// What `m` has posted for this rank in a round of which to_me_from() has returned, until the
  /// next meeting or passing; must not be direct.
  [[nodiscard]] const std::byte* posted_to_me(const round& in, int m) const noexcept {
    return at(line_of(m, rounds::place_of(in), me_), m);
  }
  /// The line of `m` for all in a round of which from() has returned, until the same.
  [[nodiscard]] const line& posted_to_all(const round& in, int m) const noexcept {
    return line_of(m, rounds::place_of(in), size_);
  }
  /// Of the round that is under way: from() has returned for all others. It was a meeting, then.
  void met() noexcept { rounds_.met(); }

  /// The data of a line that are inside it or in the block of `m`.
  [[nodiscard]] const std::byte* at(const line& l, int m) const noexcept {
    SINEW_EXPECT((l.length & line::elsewhere) == 0);
    return (l.length & line::in_block) != 0 ? blocks_[m] + l.lies.where : l.inside;
  }
  /// Whether a line that this rank was to take says that the data lie elsewhere. Then this rank's
  /// finish() tells that it needs them no longer, also if it reads none of them.
  [[nodiscard]] bool is_direct(const line& l) noexcept {
    const bool direct = (l.length & line::elsewhere) != 0;
    read_direct_ = read_direct_ || direct;
    return direct;
  }
  /// Copies what `m` has posted. False if it is longer than `into`: then as much as fits.
  [[nodiscard]] bool take(const line& l, int m, const data& into);
  /// Copies [offset, offset + bytes) of what `m` has posted direct, or has in its block.
  void take_part(const line& l, int m, void* into, std::size_t offset, std::size_t bytes);
  /// Before take() of what `m` posts for this rank alone: from `direct_from` bytes on `m` may write
  /// them into `d` itself, in deliver(). Nothing if `d` has gaps, or memory is not readable.
  void offer(const data& d, int m, std::size_t direct_from);
  /// After post(…, to): if the data are direct, writes them where `to` has offered, or waits until
  /// it has read them. Suspends.
  void deliver(int to);
  /// Ends a round in which direct data may have been posted or taken: tells that this rank has
  /// read what it wanted, and waits until its own have been read. Suspends. Hot.
  void finish() {
    if (read_direct_ || !readers_.empty()) [[unlikely]] {
      finish_direct();
    }
  }

  /// Memory of this rank for temporaries, kept from call to call. Throws std::bad_alloc.
  [[nodiscard]] std::byte* aside(std::size_t bytes) {
    if (aside_bytes_ < bytes) {
      aside_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      aside_bytes_ = bytes;
    }
    return aside_.get();
  }

  /// All but this rank.
  [[nodiscard]] std::span<const int> others() const noexcept { return everybody_; }

  // For operations.hpp: any thread, once all have joined.

  [[nodiscard]] rma::engine& memory() const noexcept { return engine_; }
  [[nodiscard]] job_rank job_rank_of(int m) const noexcept {
    SINEW_EXPECT(m >= 0 && m < size_);
    return ranks_[static_cast<std::size_t>(m)];
  }
  /// A part of each member's block that rounds do not use: `operations_bytes`, zero at first.
  [[nodiscard]] std::byte* beside_rounds(int m) const noexcept {
    SINEW_EXPECT(m >= 0 && m < size_);
    return blocks_[m] + beside_rounds_;
  }
  /// Stores into a word of this rank's block; see engine::announce_without_waiting(). `to`: -1:
  /// all.
  void announce(const std::atomic<std::uint64_t>& word, std::uint64_t value, int to,
                std::vector<job_rank>& asleep) {
    const auto at =
        static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&word) - blocks_[me_]);
    engine_.announce_without_waiting(
        offsets_[static_cast<std::size_t>(me_)] + at, value,
        to < 0 ? std::span<const job_rank>(waiters_)
               : std::span<const job_rank>(&ranks_[static_cast<std::size_t>(to)], 1),
        asleep);
  }

 private:
  struct head;
  [[nodiscard]] static std::uint64_t line_at(int members, std::uint32_t place, int to) noexcept;
  [[nodiscard]] line& line_of(int m, std::uint32_t place, int to) const noexcept;
  [[nodiscard]] head& head_of(int m) const noexcept;
  void begin_now(round r);
  void pass();
  [[nodiscard]] bool say(line& l, const data& d, std::size_t direct_from);
  void publish(line& l, int to);
  const line& await(int m, int to);
  void await_longer(int m, const std::atomic<std::uint64_t>& word, std::uint64_t stamp,
                    bool at_least);
  template <class Condition>
  void await_longer(int m, const Condition& met);
  void finish_direct();
  [[nodiscard]] bool has_offered(int m, int to) const noexcept;
  void announce_of_head(std::atomic<std::uint64_t>& word, std::span<const job_rank> to);

  rma::engine& engine_;
  const int size_;
  const int me_;
  bool readable_ = false;
  const std::size_t beside_rounds_;  ///< where that part is
  std::atomic<comm_rank>& awaited_;  ///< read by who reports; nothing depends on it, so relaxed
  std::vector<int> names_;           ///< by member, for reports; empty: as they are
  std::vector<job_rank> ranks_;      ///< of the job, by member
  std::vector<int> everybody_;       ///< members but this one
  std::vector<job_rank> waiters_;    ///< their ranks in the job
  std::unique_ptr<std::byte*[]> blocks_;  ///< null before join()
  std::vector<std::uint64_t> offsets_;
  rounds rounds_;
  round now_{};
  std::size_t used_ = 0;      ///< of the block's room in this round
  std::uint32_t wider_ = 0;   ///< how many rooms more it has
  std::vector<int> readers_;  ///< members that have to read this rank's memory in this round
  bool read_direct_ = false;  ///< in this round, and so have readers to tell
  std::unique_ptr<std::byte[]> aside_;
  std::size_t aside_bytes_ = 0;
  std::vector<std::vector<std::byte>> packed_;  ///< what is read of this rank, if it had gaps
};

}  // namespace sinew::node
