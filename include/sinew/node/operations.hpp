// SPDX-License-Identifier: BSD-3-Clause
// Operations of a team that are under way at once: what nonblocking collectives stand on.
//
// All members number them alike, from 1. An operation has a *slot* in each member's block, a line
// and some room, in which the member posts what it gives. Who has read all that it wants, or gives
// up, says that the operation has ended for it; a slot is written again only once all have said so
// of the operation that had it before. Long data are not copied into the slot: the line says where
// they lie, and they stay there until all who read them have ended. They may lie in a *place* of
// the block: then others read them as their own memory, and the rank that has put them there is
// done with the operation. Nothing here waits: who finds something missing comes again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/node/team.hpp"

namespace sinew::node {

/// One rank's end. One thread at a time, not necessarily the team's. The team outlives it.
class operations {
 public:
  /// How many can be under way at once; more begin later.
  static constexpr std::uint32_t depth = 64;
  /// The most bytes that a member posts for one.
  static constexpr std::size_t room = 1024;
  /// Longer data that have a place in the block, and how many such places there are.
  static constexpr std::size_t long_room = std::size_t{128} << 10;
  static constexpr std::uint64_t long_places = 4;

  explicit operations(team& t) noexcept : team_(t) {
    for (std::uint64_t i = 0; i < long_places; ++i) {
      places_[i].turn = i;
    }
  }

  /// Data may be shown where they lie: each member can read every other's memory by itself, and is
  /// willing to. All members alike, before any operation. Cold.
  void allow_showing() noexcept { may_show_ = true; }
  [[nodiscard]] bool may_show() const noexcept { return may_show_; }

  /// The number of the next one. Hot.
  [[nodiscard]] std::uint64_t next() noexcept { return ++begun_; }
  /// Whether this rank may post for operation `n`. Hot.
  [[nodiscard]] bool is_free(std::uint64_t n) noexcept {
    SINEW_EXPECT(n != 0 && n <= begun_);
    return n <= free_up_to_ || look_for_free(n);
  }

  /// Where to put what is to be posted, `bytes` up to `room`; then publish(). Hot.
  [[nodiscard]] std::byte* place(std::uint64_t n, std::size_t bytes) const noexcept {
    SINEW_EXPECT(n <= free_up_to_ && bytes <= room);
    slots& mine = slots_of(team_.rank());
    return bytes <= line::most_inside ? mine.lines[slot_of(n)].inside
                                      : mine.rooms[slot_of(n)].data();
  }
  /// `to`: the member that reads it; -1: all. Ranks that it could not wake are added to `asleep`
  /// (engine.hpp). Hot.
  void publish(std::uint64_t n, std::size_t bytes, int to, std::vector<job_rank>& asleep) {
    SINEW_EXPECT(n <= free_up_to_ && bytes <= room);
    line& l = slots_of(team_.rank()).lines[slot_of(n)];
    l.length = bytes;
    team_.announce(l.stamp, n, to, asleep);
  }
  /// Data that stay where they are: elements of `unit` bytes each.
  struct elements {
    const void* at;
    std::size_t bytes;
    std::size_t unit;
  };
  /// Instead of both: `data` stay as they are until all who read them have ended the operation.
  void show(std::uint64_t n, const elements& data, int to, std::vector<job_rank>& asleep) {
    show_in(slots_of(team_.rank()).lines, n, data, to, asleep);
  }

  /// For an operation that wants a place for long data: its turn, in the order of operations. In
  /// any other order ranks would wait for each other in a circle. Each turn has to be used. Hot.
  [[nodiscard]] std::uint64_t next_turn() noexcept { return turns_++; }
  /// The place of that turn, for `bytes` up to `long_room` that will be shown, until all have ended
  /// operation `n`. Null: it is not free yet. Hot.
  [[nodiscard]] std::byte* long_place(std::uint64_t turn, std::uint64_t n,
                                      std::size_t bytes) noexcept;

  /// For all, when all have posted for `n`: what this rank has made of that, which stays as show()
  /// says. Ranks that it could not wake: the same.
  void show_part(std::uint64_t n, const elements& data, std::vector<job_rank>& asleep) {
    show_in(slots_of(team_.rank()).parts, n, data, -1, asleep);
  }
  /// As from().
  [[nodiscard]] const line* part_from(std::uint64_t n, int m) const noexcept {
    return posted(slots_of(m).parts[slot_of(n)], n);
  }

  /// What `m` has posted, null as long as it has not. Hot.
  [[nodiscard]] const line* from(std::uint64_t n, int m) const noexcept {
    return posted(slots_of(m).lines[slot_of(n)], n);
  }
  [[nodiscard]] const std::byte* data_of(std::uint64_t n, int m, const line& l) const noexcept {
    SINEW_EXPECT(!is_shown(l) && l.bytes() <= room);
    return l.bytes() <= line::most_inside ? l.inside : slots_of(m).rooms[slot_of(n)].data();
  }
  [[nodiscard]] static bool is_shown(const line& l) noexcept {
    return (l.length & line::elsewhere) != 0;
  }
  /// Whether `l` shows as many elements as `data` are, of the same length each.
  [[nodiscard]] static bool is_alike(const line& l, const elements& data) noexcept {
    return is_shown(l) && l.bytes() == data.bytes && l.lies.unit == data.unit;
  }
  /// A part of what `m` shows, if it has put it into a place, else null. Hot.
  [[nodiscard]] const std::byte* in_long_place(int m, const line& l, std::size_t offset,
                                               std::size_t bytes) const noexcept;
  /// Copies a part of what `m` shows, by itself. False: the process of `m` has ended.
  [[nodiscard]] bool read(int m, const line& l, std::size_t offset, void* into,
                          std::size_t bytes) const;

  /// This rank reads nothing of it any more, and its own is posted if it is ever to be. Hot.
  void end(std::uint64_t n, std::vector<job_rank>& asleep) {
    SINEW_EXPECT(n <= free_up_to_);
    team_.announce(slots_of(team_.rank()).ended[slot_of(n)], n, -1, asleep);
  }
  /// Whether `m` has ended it, or a later one of that slot. Hot.
  [[nodiscard]] bool has_ended(std::uint64_t n, int m) const noexcept {
    return slots_of(m).ended[slot_of(n)].load(std::memory_order_seq_cst) >= n;
  }

  [[nodiscard]] node::team& of() const noexcept { return team_; }

 private:
  struct slots {
    /// By slot; a line's owner writes it.
    std::array<line, depth> lines;
    /// By slot: the last operation that has ended there for the owner, who writes it (release);
    /// never falls. Who reads it (acquire) may overwrite what the owner has read.
    alignas(64) std::array<std::atomic<std::uint64_t>, depth> ended;
    std::array<line, depth> parts;  ///< as `lines`
    alignas(64) std::array<std::array<std::byte, room>, depth> rooms;
    std::array<std::array<std::byte, long_room>, long_places> long_rooms;
  };
  static_assert(sizeof(slots) <= team::operations_bytes);
  static_assert(offsetof(slots, rooms) <= team::operations_zero);

  [[nodiscard]] static std::size_t slot_of(std::uint64_t n) noexcept { return n % depth; }
  [[nodiscard]] slots& slots_of(int m) const noexcept {
    return *reinterpret_cast<slots*>(team_.beside_rounds(m));
  }
  void show_in(std::array<line, depth>& lines, std::uint64_t n, const elements& data, int to,
               std::vector<job_rank>& asleep) {
    SINEW_EXPECT(n <= free_up_to_ && may_show_ && data.bytes < line::in_block);
    line& l = lines[slot_of(n)];
    l.length = data.bytes | line::elsewhere;
    l.lies.where = reinterpret_cast<std::uintptr_t>(data.at);
    l.lies.unit = data.unit;
    team_.announce(l.stamp, n, to, asleep);
  }
  [[nodiscard]] static const line* posted(const line& l, std::uint64_t n) noexcept {
    // Sequentially consistent as rma's waiting wants it; acquire is what the data take. It is never
    // written for a later operation before this rank has ended this one.
    return l.stamp.load(std::memory_order_seq_cst) == n ? &l : nullptr;
  }
  bool look_for_free(std::uint64_t n) noexcept;
  [[nodiscard]] bool all_have_ended(std::uint64_t n) const noexcept;

  team& team_;
  bool may_show_ = false;
  std::uint64_t begun_ = 0;
  std::uint64_t turns_ = 0;
  /// Of each place: the turn that is next, and the operation that had it before, 0: none.
  struct place_state {
    std::uint64_t turn;
    std::uint64_t before;
  };
  std::array<place_state, long_places> places_{};
  /// The slots of all operations up to this one are free for them, or were.
  std::uint64_t free_up_to_ = depth;
};

}  // namespace sinew::node
