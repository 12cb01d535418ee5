// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/node/team.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sinew/base/copy.hpp"

namespace sinew::node {

/// The first lines of a block.
struct team::head {
  /// The last round in which the owner has read other members' memory, and is done with that.
  /// Written by the owner (release), never falls; read by those whose memory it was (acquire).
  alignas(64) std::atomic<std::uint64_t> has_read;
  /// The same of what it has written into memory that another one has offered.
  std::atomic<std::uint64_t> has_written;
  /// How many of the other members are gone for ever.
  alignas(64) std::atomic<std::uint64_t> gone;
};

namespace {

constexpr std::size_t line_bytes = sizeof(line);
constexpr std::size_t page = 4096;
/// A member that always finds everybody there before it would otherwise never make progress.
constexpr std::uint64_t rounds_per_poll = 64;
/// More than these meet in a tree: else each looks at a line of every other one.
constexpr int most_who_meet_flat = 64;
constexpr int meeting_fan = 16;

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::size_t bytes_of_lines(int members) {
  return 2 * line_bytes + rounds::places * (static_cast<std::size_t>(members) + 1) * line_bytes;
}
std::size_t room_at(int members) { return round_up(bytes_of_lines(members), page); }
std::size_t room_of(int members, const round& r) {
  SINEW_EXPECT(r.position < rounds::depth);
  return room_at(members) + (r.half * rounds::depth + r.position) * team::room;
}

std::size_t beside_rounds_at(int members) {
  return room_at(members) + std::size_t{2} * rounds::depth * team::room;
}

}  // namespace

std::size_t team::block_bytes(int members) noexcept {
  static_assert(sizeof(head) == 2 * line_bytes && room % line_bytes == 0);
  SINEW_EXPECT(members > 1);
  return beside_rounds_at(members) + operations_bytes;
}

team::team(rma::engine& e, std::vector<job_rank> ranks, comm_rank me,
           std::atomic<comm_rank>& awaited)
    : engine_(e),
      size_(static_cast<int>(ranks.size())),
      me_(me.value()),
      beside_rounds_(beside_rounds_at(size_)),
      awaited_(awaited),
      ranks_(std::move(ranks)),
      blocks_(std::make_unique<std::byte*[]>(ranks_.size())),
      offsets_(ranks_.size()) {
  SINEW_EXPECT(size_ > 1 && me.below(size_));
  SINEW_EXPECT(ranks_[me.index()] == e.rank());
  for (int m = 0; m < size_; ++m) {
    if (m != me_) {
      everybody_.push_back(m);
      waiters_.push_back(ranks_[static_cast<std::size_t>(m)]);
    }
  }
  readers_.reserve(ranks_.size());
}

std::uint64_t team::make_block() {
  std::uint64_t& mine = offsets_[static_cast<std::size_t>(me_)];
  SINEW_EXPECT(mine == 0);
  engine_.release_those_due();
  mine = engine_.memory().try_allocate(rma::part::local, block_bytes(size_), page);
  if (mine != 0) {
    std::byte* const block = engine_.at({engine_.rank(), mine});
    std::memset(block, 0, bytes_of_lines(size_));
    std::memset(block + beside_rounds_at(size_), 0, operations_zero);
  }
  return mine;
}

void team::join(std::span<const std::uint64_t> blocks) noexcept {
  SINEW_EXPECT(blocks.size() == ranks_.size());
  for (std::size_t m = 0; m < blocks.size(); ++m) {
    SINEW_EXPECT(blocks[m] != 0);
    offsets_[m] = blocks[m];
    blocks_[m] = engine_.at({ranks_[m], blocks[m]});
  }
}

team::~team() {
  const auto me = static_cast<std::size_t>(me_);
  if (offsets_[me] == 0) {
    return;
  }
  if (blocks_[me] == nullptr) {
    engine_.memory().release(offsets_[me]);
    return;
  }
  for (const int m : everybody_) {
    // Release: what this rank has read was read before; seq_cst is more than that takes.
    (void)head_of(m).gone.fetch_add(1, std::memory_order_seq_cst);
  }
  try {
    engine_.release_once(offsets_[me], offsets_[me] + offsetof(head, gone),
                         static_cast<std::uint64_t>(size_) - 1);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // Then it stays allocated until the program ends.
  }
}

std::uint64_t team::line_at(int members, std::uint32_t place, int to) noexcept {
  SINEW_EXPECT(place < rounds::places && to >= 0 && to <= members);
  return sizeof(head) +
         (place * (static_cast<std::size_t>(members) + 1) + static_cast<std::size_t>(to)) *
             line_bytes;
}
line& team::line_of(int m, std::uint32_t place, int to) const noexcept {
  return *reinterpret_cast<line*>(blocks_[m] + line_at(size_, place, to));
}
team::head& team::head_of(int m) const noexcept { return *reinterpret_cast<head*>(blocks_[m]); }

void team::begin_now(round r) {
  now_ = r;
  used_ = 0;
  wider_ = 0;
  SINEW_ASSERT(!read_direct_ && readers_.empty());
  if (now_.stamp % rounds_per_poll == 0) {
    (void)engine_.runtime().poll_before_wait();
  }
}

void team::meet() {
  begin();
  line& mine = line_of(me_, rounds::place_of(now_), size_);
  mine.length = 0;
  if (size_ <= most_who_meet_flat) {
    publish(mine, -1);
    for (const int m : everybody_) {
      (void)from(m);
    }
    return met();
  }
  // In a tree: a member's line says that all below it have come, so the root's that all have.
  const int first = me_ * meeting_fan + 1;
  for (int m = first; m < std::min(first + meeting_fan, size_); ++m) {
    (void)from(m);
  }
  publish(mine, me_ == 0 ? -1 : (me_ - 1) / meeting_fan);
  if (me_ != 0) {
    (void)from(0);
  }
  met();
}

void team::pass() {
  begin_now(rounds_.passing());
  publish(line_of(me_, rounds::place_of(now_), size_), -1);
  const round awaited = rounds_.passed();
  for (const int m : everybody_) {
    const auto& word = line_of(m, rounds::place_of(awaited), size_).stamp;
    if (word.load(std::memory_order_seq_cst) < awaited.stamp) {
      await_longer(m, word, awaited.stamp, true);
    }
  }
}

/// Waits for nothing: `l` belongs to this round alone, and is free (rounds.hpp).
void team::publish(line& l, int to) {
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&l) - blocks_[me_]);
  SINEW_EXPECT(l.stamp.load(std::memory_order_relaxed) < now_.stamp);
  engine_.announce_to(offsets_[static_cast<std::size_t>(me_)] + offset, now_.stamp,
                      to < 0 ? std::span<const job_rank>(waiters_)
                             : std::span<const job_rank>(&ranks_[static_cast<std::size_t>(to)], 1));
}

std::byte* team::reserve(std::size_t bytes) noexcept {
  const std::size_t rooms = (std::size_t{wider_} + 1) * room;
  if (now_.position == rounds::depth || bytes > rooms - used_) {
    return nullptr;
  }
  std::byte* const at = blocks_[me_] + room_of(size_, now_) + used_;
  used_ = std::min(rooms, round_up(used_ + bytes, line_bytes));
  return at;
}

std::size_t team::widen(std::size_t bytes) noexcept {
  SINEW_EXPECT(used_ == 0 && wider_ == 0);
  static_assert(rounds::depth <= line::most_wider);
  if (bytes > room) {
    wider_ = static_cast<std::uint32_t>(
        std::min<std::size_t>((bytes - 1) / room, std::min(rounds_.left(), rounds::depth / 4)));
    rounds_.widen(wider_);
  }
  return (std::size_t{wider_} + 1) * room;
}

/// Whether the data are to be read where they are.
bool team::say(line& l, const data& d, std::size_t direct_from) {
  const std::size_t bytes = d.bytes();
  SINEW_EXPECT(bytes <= line::most_bytes);
  const auto pack_to = [&](std::byte* to) {
    if (d.type->dense()) {
      rma::engine::move_out(to, d.base, bytes);
    } else {
      layout::pack(*d.type, d.count, d.base, 0, {to, bytes});
    }
  };
  l.length = bytes | std::uint64_t{wider_} << line::wider_at;
  if (bytes <= line::most_inside) {
    if (bytes != 0) {
      pack_to(l.inside);
    }
    return false;
  }
  if (bytes < direct_from) {
    if (std::byte* to = reserve(bytes)) {
      pack_to(to);
      l.length |= line::in_block;
      l.lies = {static_cast<std::uint64_t>(to - blocks_[me_]), 0, 0};
      return false;
    }
  }
  const void* from = d.base;
  if (!d.type->dense()) {
    packed_.emplace_back(bytes);
    pack_to(packed_.back().data());
    from = packed_.back().data();
  }
  l.length |= line::elsewhere;
  l.lies.where = reinterpret_cast<std::uintptr_t>(from);
  return true;
}

void team::post(const data& d, int to, std::size_t direct_from) {
  line& l = line_of(me_, rounds::place_of(now_), size_);
  if (say(l, d, direct_from)) {
    if (to < 0) {
      readers_ = everybody_;
    } else {
      readers_.push_back(to);
    }
  }
  publish(l, to);
}

void team::post_to(const data& d, int to, std::size_t direct_from) {
  SINEW_EXPECT(to >= 0 && to < size_ && to != me_);
  line& l = line_of(me_, rounds::place_of(now_), to);
  if (say(l, d, direct_from)) {
    readers_.push_back(to);
  }
  publish(l, to);
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): bytes, for whom, how many to come
void team::post_made(const std::byte* made, std::size_t bytes, int to, std::size_t to_come) {
  SINEW_EXPECT(made >= blocks_[me_] && made < blocks_[me_] + block_bytes(size_));
  line& l = line_of(me_, rounds::place_of(now_), size_);
  l.length = bytes | line::in_block;
  l.lies = {static_cast<std::uint64_t>(made - blocks_[me_]), to_come, 0};
  publish(l, to);
}

const line& team::await(int m, int to) {
  const line& l = line_of(m, rounds::place_of(now_), to);
  // Sequentially consistent as rma's waiting wants it; acquire is what the data take. Equal: it is
  // never written for a later round before this rank has ended this one.
  if (l.stamp.load(std::memory_order_seq_cst) != now_.stamp) {
    await_longer(m, l.stamp, now_.stamp, false);
  }
  return l;
}

void team::await_longer(int m, const std::atomic<std::uint64_t>& word, std::uint64_t stamp,
                        bool at_least) {
  await_longer(m, [&word, stamp, at_least] {
    const std::uint64_t seen = word.load(std::memory_order_seq_cst);
    SINEW_ASSERT(at_least || seen <= stamp);
    return at_least ? seen >= stamp : seen == stamp;
  });
}

template <class Condition>
void team::await_longer(int m, const Condition& met) {
  const int name = names_.empty() ? m : names_[static_cast<std::size_t>(m)];
  awaited_.store(comm_rank{name}, std::memory_order_relaxed);
  engine_.wait_until([](void* c) { return (*static_cast<const Condition*>(c))(); },
                     const_cast<Condition*>(&met));
  awaited_.store(-1, std::memory_order_relaxed);
}

bool team::take(const line& l, int m, const data& into) {
  const std::size_t sent = l.bytes();
  const std::size_t room_here = into.bytes();
  const std::size_t bytes = std::min(sent, room_here);
  const std::byte* from = nullptr;
  if ((l.length & line::elsewhere) != 0 && has_offered(me_, m)) {
    const auto& word = head_of(m).has_written;
    if (word.load(std::memory_order_seq_cst) < now_.stamp) {
      await_longer(m, word, now_.stamp, true);
    }
  } else if (is_direct(l)) {
    const job_rank r = ranks_[static_cast<std::size_t>(m)];
    const rma::outside there = rma::outside::of(r, l.lies.where);
    if (into.type->dense()) {
      engine_.get(into.base, there, bytes);
    } else {
      std::vector<std::byte> packed(bytes);
      engine_.get(packed.data(), there, bytes);
      layout::unpack(*into.type, into.count, into.base, 0, packed);
    }
  } else if (from = at(l, m); into.type->dense()) {
    copy_bytes(into.base, from, bytes);
  } else {
    layout::unpack(*into.type, into.count, into.base, 0, {from, bytes});
  }
  return sent <= room_here;
}

void team::take_part(const line& l, int m, void* into, std::size_t offset, std::size_t bytes) {
  SINEW_EXPECT(offset + bytes <= l.bytes());
  if (is_direct(l)) {
    engine_.get(into, rma::outside::of(ranks_[static_cast<std::size_t>(m)], l.lies.where + offset),
                bytes);
  } else {
    copy_bytes(into, at(l, m) + offset, bytes);
  }
}

void team::announce_of_head(std::atomic<std::uint64_t>& word, std::span<const job_rank> to) {
  const auto at = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&word) - blocks_[me_]);
  engine_.announce_to(offsets_[static_cast<std::size_t>(me_)] + at, now_.stamp, to);
}

bool team::has_offered(int m, int to) const noexcept {
  const line& l = line_of(m, rounds::place_of(now_), to);
  return l.stamp.load(std::memory_order_seq_cst) == now_.stamp &&
         (l.length & line::all_kinds) == line::offer;
}

void team::offer(const data& d, int m, std::size_t direct_from) {
  SINEW_EXPECT(m >= 0 && m < size_ && m != me_);
  if (!readable_ || !d.type->dense() || d.bytes() < direct_from) {
    return;
  }
  line& l = line_of(me_, rounds::place_of(now_), m);
  l.length = d.bytes() | line::offer;
  l.lies.where = reinterpret_cast<std::uintptr_t>(d.base);
  publish(l, m);
}

void team::deliver(int to) {
  if (readers_.empty()) {
    return;
  }
  SINEW_EXPECT(readers_.size() == 1 && readers_.front() == to);
  const auto& read = head_of(to).has_read;
  const auto answered = [&] {
    return has_offered(to, me_) || read.load(std::memory_order_seq_cst) >= now_.stamp;
  };
  if (!answered()) {
    await_longer(to, answered);
  }
  if (has_offered(to, me_)) {
    const line& mine = line_of(me_, rounds::place_of(now_), size_);
    const line& there = line_of(to, rounds::place_of(now_), me_);
    const job_rank r = ranks_[static_cast<std::size_t>(to)];
    engine_.put(rma::outside::of(r, there.lies.where),
                reinterpret_cast<const void*>(mine.lies.where),
                std::min(mine.bytes(), there.bytes()));
    engine_.flush(r);
    announce_of_head(head_of(me_).has_written, {&r, 1});
    readers_.clear();
    packed_.clear();
  }
}

/// First this rank says that it has read, then it waits; so nobody waits in a circle.
void team::finish_direct() {
  if (read_direct_) {
    // One word for all whose memory was read; those who do not wait for it are woken in vain.
    announce_of_head(head_of(me_).has_read, waiters_);
    read_direct_ = false;
  }
  for (const int m : readers_) {
    const auto& word = head_of(m).has_read;
    if (word.load(std::memory_order_seq_cst) < now_.stamp) {
      await_longer(m, word, now_.stamp, true);
    }
  }
  readers_.clear();
  packed_.clear();
}

}  // namespace sinew::node
