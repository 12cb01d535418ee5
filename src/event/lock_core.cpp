// SPDX-License-Identifier: BSD-3-Clause
#include "event/lock_core.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"

namespace sinew::event {
namespace {

constexpr std::uint32_t generations = 1u << reservation::generation_bits;

/// Generation 0 means a cell never used, so it is passed over.
std::uint32_t following(std::uint32_t generation) {
  return generation + 1 == generations ? 1 : generation + 1;
}

/// Counters that wrap: whether `a` has reached `b`.
bool reached(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

/// Of two generations of one cell, whether `a` is the later.
bool later(std::uint32_t a, std::uint32_t b) {
  return a != b && ((a - b) & (generations - 1)) < generations / 2;
}

lock_item item(lock_item::kind of, reservation r) {
  lock_item m{};
  m.what = r.bits();
  m.of = of;
  return m;
}

}  // namespace

lock_core::lock_core(job_rank rank, int size, std::uint32_t local_grants)
    : rank_(rank),
      budget_(static_cast<std::uint16_t>(std::clamp<std::uint32_t>(local_grants, 1, UINT16_MAX))),
      tables_(static_cast<std::size_t>(size)),
      outgoing_(static_cast<std::size_t>(size)),
      lost_(static_cast<std::size_t>(size)),
      heard_(static_cast<std::size_t>(size)),
      counted_(static_cast<std::size_t>(size)) {
  SINEW_EXPECT(rank.below(size) && size <= 1 << 16);
  SINEW_ENSURE(budget_ >= 1);
}

lock_core::cell& lock_core::reach(job_rank creator, std::uint32_t index) {
  SINEW_EXPECT(creator.index() < tables_.size());
  table& t = tables_[creator.index()];
  const std::size_t chunk = index / chunk_cells;
  if (chunk >= t.size()) [[unlikely]] {
    t.resize(chunk + 1);
  }
  if (t[chunk] == nullptr) [[unlikely]] {
    t[chunk] = std::make_unique<cell[]>(chunk_cells);
  }
  return t[chunk][index % chunk_cells];
}

reservation lock_core::create() {
  std::uint32_t index = created_;
  if (!unused_.empty()) {
    index = unused_.back();
    unused_.pop_back();
  } else {
    SINEW_CHECK(created_ < 1u << reservation::index_bits, "too many reservations",
                "a rank can have 2^28 at a time", "destroy those that are no longer used");
    ++created_;
  }
  cell& c = reach(rank_, index);
  SINEW_ASSERT(!c.live && c.holders == 0 && c.head == nullptr);
  c.generation = std::max<std::uint32_t>(c.generation, 1);
  c.last = static_cast<std::uint16_t>(rank_.value());
  c.here = c.live = true;
  c.wanted = false;
  SINEW_ENSURE(in_queue_order({rank_, index, c.generation}, c));
  return {rank_, index, c.generation};
}

/// What find() has not met yet under this generation.
lock_core::cell* lock_core::find_new(reservation r) {
  if (!r.exists() || r.generation() == 0 || r.creator().index() >= tables_.size() ||
      (r.creator() == rank_ && r.index() >= created_)) [[unlikely]] {
    return nullptr;
  }
  cell& c = reach(r.creator(), r.index());
  return c.generation == r.generation() ? &c : renew(r, c);
}

/// Another rank's cell under a generation not met here before.
lock_core::cell* lock_core::renew(reservation r, cell& c) {
  const bool idle = c.holders == 0 && c.head == nullptr && c.next < 0 && !c.here && !c.kept;
  if (r.creator() == rank_ || !idle ||
      (c.generation != 0 && !later(r.generation(), c.generation))) {
    return nullptr;
  }
  c = cell{};
  c.generation = r.generation();
  c.last = static_cast<std::uint16_t>(r.creator().value());
  return &c;
}

void lock_core::post(job_rank rank, const lock_item& m) {
  SINEW_EXPECT(rank != rank_);
  if (is_lost(rank)) [[unlikely]] {
    return;
  }
  auto& to = outgoing_[rank.index()];
  if (to.empty()) {
    addressees_.push_back(rank);
  }
  to.push_back(m);
}

void lock_core::grant(lock_request& q) noexcept {
  SINEW_EXPECT(granted_end_ != nullptr && *granted_end_ == nullptr);
  q.pool_link = nullptr;
  *granted_end_ = &q;
  granted_end_ = &q.pool_link;
}

void lock_core::enter(reservation r, cell& c, lock_request& q) {
  SINEW_EXPECT(c.generation == r.generation() && !q.refused);
  if (is_lost(r.creator())) [[unlikely]] {
    refuse(q);
    return;
  }
  q.pool_link = nullptr;
  (c.head == nullptr ? c.head : c.tail->pool_link) = &q;
  c.tail = &q;
  settle(r, c);
  SINEW_ENSURE(in_queue_order(r, c));
}

bool lock_core::release(reservation r, cell& c) {
  if (c.holders == 0) {
    return false;
  }
  if (--c.holders == 0) {
    c.alone = false;
    if (c.owes) {
      c.owes = false;
      notify_gone(r);
    }
  }
  if (c.head != nullptr || c.next >= 0) {
    settle(r, c);
  }
  SINEW_ENSURE(in_queue_order(r, c));
  return true;
}

/// Grants what can be granted here, lets the lock go, or asks for what is missing.
void lock_core::settle(reservation r, cell& c) {
  SINEW_EXPECT(!(c.here && c.wanted) && !(c.here && c.owes));
  if (!c.here) {
    if (c.head != nullptr && !c.wanted) {
      c.wanted = true;
      lock_item m = item(lock_item::want, r);
      m.rank = static_cast<std::uint16_t>(rank_.value());
      post(job_rank{c.last}, m);
      c.last = static_cast<std::uint16_t>(rank_.value());
    }
    return;
  }
  while (c.head != nullptr && (c.next < 0 || c.budget > 0) &&
         free_for(c, c.head->mode, c.head->exclusive)) {
    lock_request& q = *c.head;
    c.head = q.pool_link;
    c.budget = static_cast<std::uint16_t>(c.budget - (c.next >= 0 ? 1 : 0));
    grant(q);
    if (q.destroys) [[unlikely]] {
      end(r, c);
      return;
    }
    q.suspect = c.suspect;
    take(c, q.mode, q.exclusive);
  }
  // If the holder is exclusive and stayed behind (another rank was lost), its end is awaited first.
  if (c.next >= 0 && !c.alone && (c.head == nullptr || c.budget == 0)) {
    pass_on(r, c);
  } else if ((c.head != nullptr || c.next >= 0) && c.holders == 0 && !c.asking) {
    ask_to_drain(r, c);
  }
}

void lock_core::pass_on(reservation r, cell& c) {
  SINEW_EXPECT(c.here && c.next >= 0 && c.next != rank_ && !c.alone);
  if (c.holders > 0) {
    c.owes = true;
    ++c.left;
  }
  lock_item m = item(lock_item::token, r);
  m.left = c.left;
  m.drained_ = c.drained;
  m.mode = c.mode;
  m.rank = c.suspect ? 1 : 0;
  post(c.next, m);
  ++moved_;
  c.next = -1;
  c.here = false;
  c.asking = false;
  settle(r, c);  // for requests that still wait here it is requested again
}

void lock_core::on_want(reservation r, const lock_item& m) {
  cell* const c = find(r);
  if (c == nullptr) {
    post(job_rank{m.rank}, item(lock_item::refuse, r));
    return;
  }
  if (job_rank{c->last} != rank_) {
    post(job_rank{c->last}, m);
    c->last = m.rank;
    return;
  }
  SINEW_ASSERT(c->next < 0 && job_rank{m.rank} != rank_);
  c->last = m.rank;
  c->next = job_rank{m.rank};
  c->budget = budget_;
  settle(r, *c);
}

void lock_core::on_token(reservation r, cell& c, const lock_item& m) {
  SINEW_ASSERT(!c.here && reached(m.left, m.drained_));
  c.here = true;
  c.wanted = false;
  c.budget = budget_;
  absorb(c, m);
  settle(r, c);
}

/// Notes what came with the lock.
void lock_core::absorb(cell& c, const lock_item& m) noexcept {
  c.left = m.left;
  c.drained = m.drained_;
  c.suspect = m.rank != 0;
  if (c.owes) {  // our holders that stayed behind are ordinary ones again
    c.owes = false;
    --c.left;
  } else {
    c.mode = m.mode;
  }
}

void lock_core::ask_to_drain(reservation r, cell& c) {
  SINEW_EXPECT(c.here && c.holders == 0 && !c.asking);
  c.asking = true;
  lock_item m = item(lock_item::drain, r);
  m.rank = static_cast<std::uint16_t>(rank_.value());
  m.left = c.left;
  if (r.creator() != rank_) {
    post(r.creator(), m);
  } else {
    on_drain(r, c, m);
  }
}

void lock_core::notify_gone(reservation r) {
  if (r.creator() != rank_) {
    post(r.creator(), item(lock_item::gone, r));
  } else {
    on_gone(r, reach(rank_, r.index()));
  }
}

void lock_core::on_gone(reservation r, cell& c) {
  SINEW_EXPECT(r.creator() == rank_);
  ++c.gone;
  if (c.asker >= 0 && reached(c.gone, c.target)) {
    lock_item m = item(lock_item::drain, r);
    m.rank = static_cast<std::uint16_t>(c.asker.value());
    m.left = c.target;
    on_drain(r, c, m);
  }
}

void lock_core::on_drain(reservation r, cell& c, const lock_item& m) {
  SINEW_EXPECT(r.creator() == rank_);
  if (!reached(c.gone, m.left)) {
    c.asker = job_rank{m.rank};
    c.target = m.left;
    return;
  }
  c.asker = -1;
  lock_item answer = item(lock_item::drained, r);
  answer.left = m.left;
  if (job_rank{m.rank} != rank_) {
    post(job_rank{m.rank}, answer);
  } else {
    on_drained(r, c, answer);
  }
}

void lock_core::on_drained(reservation r, cell& c, const lock_item& m) {
  c.asking = false;
  if (c.here) {
    c.drained = m.left;
    SINEW_ASSERT(reached(c.left, c.drained));
    c.alone = c.alone && c.holders != 0;
    settle(r, c);
  }
}

/// The holder of `c`, here at its creator, has destroyed it.
void lock_core::end(reservation r, cell& c) {
  SINEW_EXPECT(r.creator() == rank_ && c.holders == 0);
  refuse_all(r, c);
  const std::uint32_t generation = following(c.generation);
  c = cell{};
  c.generation = generation;
  c.last = static_cast<std::uint16_t>(rank_.value());
  unused_.push_back(r.index());
}

void lock_core::refuse_all(reservation r, cell& c) {
  while (c.head != nullptr) {
    lock_request& q = *c.head;
    c.head = q.pool_link;
    q.refused = true;
    grant(q);
  }
  if (c.next >= 0) {
    post(c.next, item(lock_item::refuse, r));
    c.next = -1;
  }
}

void lock_core::receive(job_rank from, const lock_item& m) {
  SINEW_EXPECT(from != rank_ && m.of <= lock_item::counted);
  if ((losses_ != 0 || m.of == lock_item::lost) && !admits(from, m)) [[unlikely]] {
    return;
  }
  const reservation r = reservation::from_bits(m.what);
  if (m.of == lock_item::want) {
    on_want(r, m);
    return;
  }
  cell* const c = find(r);
  if (c == nullptr) {
    return;  // it was destroyed meanwhile
  }
  switch (m.of) {
    case lock_item::token:
      on_token(r, *c, m);
      break;
    case lock_item::gone:
      on_gone(r, *c);
      break;
    case lock_item::drain:
      on_drain(r, *c, m);
      break;
    case lock_item::drained:
      on_drained(r, *c, m);
      break;
    default:
      SINEW_ASSERT(m.of == lock_item::refuse);
      refuse_all(r, *c);
      c->wanted = false;
      c->last = static_cast<std::uint16_t>(r.creator().value());
  }
}

}  // namespace sinew::event
