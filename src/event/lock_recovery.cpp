// SPDX-License-Identifier: BSD-3-Clause
// Reservations when a rank is lost.
//
// Those that the lost rank made end with it: requests for them are refused, now and later. All
// others return to their creators, which rebuild their state:
//  lost     a rank that learns of the loss freezes all its reservations (they are neither granted
//           nor moved) and notifies all ranks, which do the same. Messages between two ranks arrive
//           in order: once `lost` has come from all ranks that are left, nothing older is under
//           way.
//  census   then the rank returns to each creator the tokens that it has, and says where it has
//           holders.
//  counted  follows. A rank that has it from all others knows which ranks hold its reservations,
//  and
//           whether the token was returned. If it was not, or if more ranks had holders than have
//           said so, the lost rank had it or held it: what the reservation guards may be half
//           written, and it is suspect.
// Then the token is at its creator, the holders elsewhere are ones that stayed behind, and all
// requests are sent again. Another loss meanwhile begins this again; tokens that were returned stay
// returned. `losses_` numbers the rounds: a rank that has received as many `lost` from each other
// as it knows of losses has received the same ones.
#include <algorithm>

#include "event/lock_core.hpp"
#include "sinew/base/check.hpp"

namespace sinew::event {
namespace {

// Of a census, in drained_, below the number of losses.
constexpr std::uint32_t with_lock = 1;
constexpr std::uint32_t with_holders = 2;
constexpr std::uint32_t held_alone = 4;
constexpr std::uint32_t held_suspect = 8;
constexpr int losses_shift = 4;
static_assert(((with_lock | with_holders | held_alone | held_suspect) >> losses_shift) == 0);

}  // namespace

bool lock_core::recover(cell& c) noexcept {
  if (c.holders == 0 || !c.alone || !c.here) {
    return false;
  }
  c.suspect = false;
  return true;
}

void lock_core::lose(job_rank rank) {
  if (rank == rank_ || is_lost(rank)) {
    return;
  }
  lost_[rank.index()] = 1;
  ++losses_;
  SINEW_ASSERT(losses_ < lost_.size());
  stage_ = stage::silence;
  std::erase_if(early_, [](const lock_item& e) { return e.of == lock_item::want; });
  take_early();
  each([&](reservation r, cell& c) { r.creator() == rank ? abandon(r, c) : freeze(c); });
  lock_item m{};
  m.of = lock_item::lost;
  m.rank = static_cast<std::uint16_t>(rank.value());
  notify_all(m);
  proceed();
}

void lock_core::notify_all(const lock_item& m) {
  SINEW_EXPECT(m.of >= lock_item::lost);
  for (job_rank rank = 0; rank.index() < lost_.size(); ++rank) {
    if (rank != rank_) {
      post(rank, m);
    }
  }
}

template <class Heard>
bool lock_core::all_alive(Heard heard) const {
  for (job_rank rank = 0; rank.index() < lost_.size(); ++rank) {
    if (rank != rank_ && !is_lost(rank) && !heard(rank.index())) {
      return false;
    }
  }
  return true;
}

void lock_core::proceed() {
  if (stage_ == stage::silence && all_alive([&](std::size_t r) { return heard_[r] == losses_; })) {
    stage_ = stage::counting;
    hand_in();
  }
  if (stage_ == stage::counting &&
      all_alive([&](std::size_t r) { return counted_[r] == losses_; })) {
    stage_ = stage::none;
    rebuild();
  }
}

/// Not `here`, it grants nothing; `wanted`, it asks for nothing.
void lock_core::freeze(cell& c) noexcept {
  c.kept = c.kept || c.here;
  c.here = false;
  c.wanted = true;
  c.asking = false;
  c.next = -1;
  c.asker = -1;
  c.target = 0;
}

/// Its creator is lost. Its holders release it as always.
void lock_core::abandon(reservation r, cell& c) {
  refuse_all(r, c);
  c.here = c.kept = c.owes = false;
}

/// Whether a message is handled as if no rank were lost.
bool lock_core::admits(job_rank from, const lock_item& m) {
  if (is_lost(from)) {
    return false;
  }
  if (m.of >= lock_item::lost) {
    settle_loss(from, m);
    return false;
  }
  const reservation r = reservation::from_bits(m.what);
  const bool own = r.creator() == rank_;
  if (r.creator().index() >= lost_.size() || is_lost(r.creator())) {
    return false;
  }
  if (stage_ == stage::none || (stage_ == stage::counting && !own)) {
    return true;
  }
  // What comes from a rank that has counted is of the new round.
  const bool early = own && counted_[from.index()] == losses_;
  if (m.of == lock_item::token) {
    if (cell* const c = find(r)) {
      absorb(*c, m);
      c->kept = true;
    }
  } else if (early && (m.of == lock_item::want || m.of == lock_item::gone)) {
    early_.push_back(m);
  }
  // Requests of the old round will be sent again; nobody waits any more for holders to go.
  return !early && (m.of == lock_item::gone || m.of == lock_item::refuse);
}

void lock_core::take_early() {
  for (const lock_item& m : std::exchange(early_, {})) {
    const reservation r = reservation::from_bits(m.what);
    if (m.of == lock_item::want) {
      on_want(r, m);
    } else if (cell* const c = find(r)) {
      on_gone(r, *c);
    }
  }
}

void lock_core::settle_loss(job_rank from, const lock_item& m) {
  const auto who = from.index();
  SINEW_EXPECT(!is_lost(from));
  if (m.of == lock_item::census) {
    on_census(m);
  } else if (m.of == lock_item::counted) {
    counted_[who] = m.left;
    SINEW_ASSERT(counted_[who] <= losses_);  // it has sent as many `lost` before
    proceed();
  } else {
    ++heard_[who];
    lose(job_rank{m.rank});
    SINEW_ASSERT(heard_[who] <= losses_);
    proceed();
  }
}

/// The token leaves as in pass_on(), whoever holds it: all holders stay behind.
void lock_core::hand_in(reservation r, cell& c) {
  if (c.kept && c.holders > 0) {
    c.owes = true;
    ++c.left;
  }
  SINEW_ASSERT(c.owes == (c.holders > 0));
  if (c.kept || c.owes) {
    lock_item m{};
    m.what = r.bits();
    m.of = lock_item::census;
    m.left = c.left;
    m.drained_ = losses_ << losses_shift | (c.kept ? with_lock : 0) | (c.owes ? with_holders : 0) |
                 (c.alone ? held_alone : 0) | (c.suspect ? held_suspect : 0);
    m.mode = c.mode;
    post(r.creator(), m);
  }
  c.kept = false;
  c.wanted = false;
  c.last = static_cast<std::uint16_t>(r.creator().value());
}

void lock_core::hand_in() {
  const auto of_others = [this](reservation r) {
    return r.creator() != rank_ && !is_lost(r.creator());
  };
  each([&](reservation r, cell& c) {
    if (of_others(r)) {
      hand_in(r, c);
    }
  });
  lock_item m{};
  m.of = lock_item::counted;
  m.left = losses_;
  notify_all(m);
  each([&](reservation r, cell& c) {
    if (of_others(r)) {
      settle(r, c);
    }
  });
}

void lock_core::on_census(const lock_item& m) {
  cell* const c = find(reservation::from_bits(m.what));
  if (c == nullptr) {
    return;  // it was destroyed meanwhile
  }
  if ((m.drained_ & with_lock) != 0) {
    c->kept = true;
    c->suspect = (m.drained_ & held_suspect) != 0;
    c->left = m.left - (c->owes ? 1 : 0);
    c->owes = false;
  }
  if ((m.drained_ & with_holders) != 0 && m.drained_ >> losses_shift == losses_) {
    ++c->target;
    if (c->holders == 0) {
      c->mode = m.mode;
      c->alone = (m.drained_ & held_alone) != 0;
    }
  }
}

/// All that is left of the reservation is known here, its creator; `target` ranks have holders.
void lock_core::rebuild(reservation r, cell& c) {
  SINEW_EXPECT(r.creator() == rank_ && stage_ == stage::none && !c.here);
  if (!c.kept || c.left - c.gone != c.target) {
    c.suspect = true;
    suspects_.push_back(r);
  }
  c.left = c.gone + c.target;
  c.drained = c.gone;
  c.alone = c.alone && (c.holders != 0 || c.target != 0);
  c.here = true;
  c.kept = c.owes = c.wanted = false;
  c.target = 0;
  c.last = static_cast<std::uint16_t>(rank_.value());
  SINEW_ENSURE(c.here && c.next < 0 && !c.asking);
}

void lock_core::rebuild() {
  const auto alive = [this](reservation r, const cell& c) {
    return r.creator() == rank_ && c.live;
  };
  each([&](reservation r, cell& c) {
    if (alive(r, c) && !c.here) {
      rebuild(r, c);
    }
  });
  each([&](reservation r, cell& c) {
    if (alive(r, c)) {
      settle(r, c);
    }
  });
  take_early();
}

}  // namespace sinew::event
