// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/event/reservation.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include "event/lock_core.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {
namespace {

setting<std::int64_t> local_grants_setting(
    "event", "LOCAL_GRANTS", 64, "",
    "times that a reservation is granted on a rank while another rank waits for it",
    {.least = 1, .most = 1 << 30});

/// `small` of a message; others carry lock_items.
constexpr std::uint64_t wants_destruction = 1;
constexpr std::uint64_t asks_for_holders = 2;

std::string name_of(reservation r) {
  char text[96];
  std::snprintf(text, sizeof text, "reservation %u of rank %d (generation %u)", r.index(),
                r.creator().value(), r.generation());
  return text;
}

/// When requests began to wait and holds began, while a trace is taken.
class lock_trace {
 public:
  void asked(const lock_request& q) { waits_[&q] = trace::begin(); }
  void granted(const lock_request& q, reservation r) {
    const auto at = waits_.find(&q);
    if (at != waits_.end()) {
      trace::span(trace::kind::lock, "wait", at->second, r.bits());
      waits_.erase(at);
    }
    held(r);
  }
  void held(reservation r) { holds_.emplace(r.bits(), trace::begin()); }
  void released(reservation r) {
    const auto at = holds_.find(r.bits());
    if (at != holds_.end()) {
      trace::span(trace::kind::lock, "hold", at->second, r.bits());
      holds_.erase(at);
    }
  }

 private:
  std::unordered_map<const lock_request*, std::int64_t> waits_;
  std::unordered_multimap<std::uint64_t, std::int64_t> holds_;
};

}  // namespace

/// An acquire from its call to its grant, or a release until it happens.
struct reservations::request final : waiter, lock_request {
  reservations::body* home = nullptr;
  reservation what;
  user_event grant;
};

/// Last in, first out, so that a chain of requests stays in cache. Memory is kept to the end.
class reservations::request_pool {
 public:
  [[nodiscard]] request& get() {
    if (free_ == nullptr) [[unlikely]] {
      slabs_.push_back(std::make_unique<request[]>(slab_requests));
      for (std::size_t i = slab_requests; i-- > 0;) {
        put(slabs_.back()[i]);
      }
    }
    lock_request& q = *free_;
    free_ = q.pool_link;
    return static_cast<request&>(q);
  }
  void put(lock_request& q) noexcept {
    SINEW_EXPECT(&q != free_);
    q.pool_link = free_;
    free_ = &q;
  }

 private:
  static constexpr std::size_t slab_requests = 256;
  lock_request* free_ = nullptr;
  std::vector<std::unique_ptr<request[]>> slabs_;
};

struct reservations::body {
  body(reservations& of, system& s, std::uint32_t local_grants)
      : all(of),
        events(s),
        threaded(s.runtime().threaded()),
        core(s.rank(), s.size(), local_grants) {
    flusher.fire = on_flush;
    flusher.home = this;
  }

  [[nodiscard]] lock_core::cell& cell_of(reservation r);
  [[nodiscard]] request& make(reservation r, lock_mode how, void (*fire)(waiter&) noexcept);
  void enter(request& q) noexcept;
  [[nodiscard]] bool release(reservation r) noexcept;
  void release_late(request& q) noexcept;
  void finish(base::guard& held) noexcept;
  void flush() noexcept;
  void receive(const message& m);
  void destroy_for(const message& m);
  void lose(job_rank rank) noexcept;
  void notify_suspects() noexcept;
  [[nodiscard]] std::string report(bool ask);
  void log_holders(const message& m);

  static void on_acquire(waiter& w) noexcept {
    auto& q = static_cast<request&>(w);
    q.home->enter(q);
  }
  struct flush_waiter final : waiter {
    body* home = nullptr;
  };
  static void on_flush(waiter& w) noexcept { static_cast<flush_waiter&>(w).home->flush(); }
  static void on_release(waiter& w) noexcept {
    auto& q = static_cast<request&>(w);
    q.home->release_late(q);
  }

  reservations& all;
  system& events;
  const bool threaded;
  const int exceptions = std::uncaught_exceptions();  ///< when it was made
  std::atomic<bool> ignores_messages{false};          ///< see ~tasks(). Relaxed: only itself counts
  base::lock lock;  ///< guards what follows; nothing is fired under it
  lock_core core;
  request_pool requests;
  flush_waiter flusher;
  bool flush_is_due = false;  ///< the flusher will fire
  std::uint64_t misuses = 0;
  std::uint64_t messages = 0;
  lock_trace trace;
};

/// The cell of `r`, or an error for the caller.
lock_core::cell& reservations::body::cell_of(reservation r) {
  lock_core::cell* const c = core.find(r);
  SINEW_CHECK(c != nullptr, name_of(r) + " cannot be used",
              "it was never made, or has been destroyed",
              "reservations come from reservations::create()");
  return *c;
}

reservations::request& reservations::body::make(reservation r, lock_mode how,
                                                void (*fire)(waiter&) noexcept) {
  request& q = requests.get();
  q.fire = fire;
  q.poisoned = q.refused = q.destroys = q.suspect = false;
  q.mode = how.mode;
  q.exclusive = how.exclusive;
  q.home = this;
  q.what = r;
  return q;
}

void reservations::body::enter(request& q) noexcept {
  SINEW_EXPECT(q.home == this && q.grant.exists());
  base::guard held(lock, threaded);
  lock_core::cell* const c = core.find(q.what);
  if (trace::on()) [[unlikely]] {
    trace.asked(q);
  }
  if (c == nullptr) [[unlikely]] {
    core.refuse(q);
  } else {
    events.expect(q.grant);  // while it waits its turn
    core.enter(q.what, *c, q);
  }
  finish(held);
}

bool reservations::body::release(reservation r) noexcept {
  base::guard held(lock, threaded);
  lock_core::cell* const c = core.find(r);
  if (c == nullptr || !core.release(r, *c)) [[unlikely]] {
    if (core.is_lost(r.creator())) {
      return true;  // of an acquire that was refused: its rank cannot have known
    }
    ++misuses;
    return false;
  }
  if (trace::on()) [[unlikely]] {
    trace.released(r);
  }
  finish(held);
  return true;
}

void reservations::body::release_late(request& q) noexcept {
  const reservation r = q.what;
  {
    const base::guard held(lock, threaded);
    requests.put(q);
  }
  if (!release(r)) {
    SINEW_LOG(error, name_of(r) +
                         " was to be released when an event triggered, but is not held "
                         "on this rank (released twice, or on another rank than its "
                         "acquire); the release is ignored");
  }
}

/// Triggers what has been granted, and has what must be sent flushed. Unlocks.
void reservations::body::finish(base::guard& held) noexcept {
  lock_request* first = core.take_granted();
  const bool must_flush = !core.addressees().empty() && !flush_is_due;
  flush_is_due = flush_is_due || must_flush;
  if (first != nullptr && trace::on()) [[unlikely]] {
    for (lock_request* q = first; q != nullptr; q = q->pool_link) {
      if (!q->refused) {
        trace.granted(*q, static_cast<request*>(q)->what);
      }
    }
  }
  held.unlock();
  while (first != nullptr) {
    auto& q = *static_cast<request*>(first);
    first = q.pool_link;
    const user_event grant = q.grant;
    SINEW_ASSERT(grant.owner() == events.rank());
    const bool fails = q.refused || q.poisoned || q.suspect;
    {
      const base::guard again(lock, threaded);
      requests.put(q);
    }
    if (fails) [[unlikely]] {
      events.poison(grant);
    } else {
      events.trigger(grant);
    }
  }
  if (must_flush) {
    events.later(flusher);  // within a cascade: when more has gathered
  }
}

/// Another rank wants a reservation of ours destroyed.
void reservations::body::destroy_for(const message& m) {
  std::uint64_t words[2];
  SINEW_EXPECT(m.size == sizeof words);
  std::memcpy(words, m.data, sizeof words);
  const user_event gone(event::from_bits(words[0]));
  try {
    events.trigger(gone, all.destroy(reservation::from_bits(m.word), event::from_bits(words[1])));
  } catch (const sinew::error&) {
    events.poison(gone);  // it was destroyed before
  }
}

void reservations::body::receive(const message& m) {
  if (ignores_messages.load(std::memory_order_relaxed)) [[unlikely]] {
    return;
  }
  if (m.small == wants_destruction) {
    destroy_for(m);
    return;
  }
  if (m.small == asks_for_holders) {
    log_holders(m);
    return;
  }
  SINEW_EXPECT(m.size != 0 && m.size % sizeof(lock_item) == 0);
  const together all_at_once(events);
  base::guard held(lock, threaded);
  for (std::size_t at = 0; at + sizeof(lock_item) <= m.size; at += sizeof(lock_item)) {
    lock_item one;
    std::memcpy(&one, m.data + at, sizeof one);
    core.receive(m.source, one);
  }
  notify_suspects();
  finish(held);
}

void reservations::body::lose(job_rank rank) noexcept {
  const together all_at_once(events);
  base::guard held(lock, threaded);
  core.lose(rank);
  notify_suspects();
  finish(held);
}

void reservations::body::notify_suspects() noexcept {
  for (const reservation r : core.take_suspects()) {
    log_line(log_level::warn,
             name_of(r) +
                 " may have been held by a rank that is lost: what it guards may be half "
                 "done, and its grants are poisoned until reservations::recover()");
  }
}

void reservations::body::flush() noexcept {
  const base::guard held(lock, threaded);
  flush_is_due = false;
  const std::size_t most = events.largest_message() / sizeof(lock_item);
  SINEW_ASSERT(most != 0);
  for (const job_rank peer : core.addressees()) {
    std::vector<lock_item>& items = core.outgoing(peer);
    SINEW_ASSERT(!items.empty());
    for (std::size_t at = 0; at < items.size(); at += most) {
      const std::size_t count = std::min(most, items.size() - at);
      events.send(peer, topic::reservation, 0, 0, items.data() + at, count * sizeof(lock_item));
      ++messages;
    }
    items.clear();
  }
  core.addressees().clear();
}

/// Another rank has waited too long for it: says on stderr who holds it here.
void reservations::body::log_holders(const message& m) {
  const reservation r = reservation::from_bits(m.word);
  const base::guard held(lock, threaded);
  const lock_core::cell* const c = core.find(r);
  if (c != nullptr && c->holders != 0) {
    log_line(log_level::error, "rank " + to_string(events.rank()) + ", asked by rank " +
                                   to_string(m.source) + ": " + name_of(r) + ": " +
                                   std::to_string(c->holders) + " hold it here");
  }
}

// Only the rank that has the lock knows that it has. So in a hang all are asked, and holders
// answer.
std::string reservations::body::report(bool ask) {
  // The caller holds the lock of events, which is taken under ours elsewhere.
  if (!lock.try_acquire()) {
    return "\n  reservations: in use, not looked at";
  }
  std::string text;
  core.each([&](reservation r, lock_core::cell& c) {
    std::size_t waiting = 0;
    for (const lock_request* q = c.head; q != nullptr; q = q->pool_link) {
      ++waiting;
    }
    if (waiting == 0 && c.holders == 0) {
      return;
    }
    text += "\n  " + name_of(r) + ": " + std::to_string(waiting) + " wait here, " +
            std::to_string(c.holders) + " hold it here" +
            (c.here ? c.next >= 0 ? ", rank " + to_string(c.next) + " is next" : ""
                    : ", the lock is on another rank");
    for (job_rank peer = 0; ask && waiting != 0 && c.holders == 0 && peer.below(events.size());
         ++peer) {
      if (peer != events.rank()) {
        events.send(peer, topic::reservation, asks_for_holders, r.bits());
      }
    }
  });
  lock.release();
  return text;
}

reservations::reservations(system& s, const reservation_options& how)
    : system_(s),
      body_(std::make_unique<body>(*this, s,
                                   how.local_grants != 0
                                       ? how.local_grants
                                       : static_cast<std::uint32_t>(local_grants_setting()))) {
  s.set_handler(
      topic::reservation,
      [](void* self, const message& m) { static_cast<body*>(self)->receive(m); }, body_.get());
  s.add_report([](void* self, bool ask) { return static_cast<body*>(self)->report(ask); },
               body_.get());
  s.on_lost([](void* self, job_rank rank) { static_cast<body*>(self)->lose(rank); }, body_.get());
}

reservations::~reservations() {
  if (std::uncaught_exceptions() > body_->exceptions) {
    // As in ~tasks(): messages may still come.
    body_->ignores_messages.store(true, std::memory_order_relaxed);
    (void)body_.release();
    return;
  }
  system_.set_handler(topic::reservation, [](void*, const message&) {}, nullptr);
  system_.add_report(nullptr, body_.get());
  system_.on_lost(nullptr, body_.get());
}

reservation reservations::create() {
  const base::guard held(body_->lock, body_->threaded);
  return body_->core.create();
}

event reservations::acquire(reservation r, lock_mode how, event after) {
  body& b = *body_;
  const bool at_once =
      !after.exists() || (after.owner() == system_.rank() && system_.has_triggered(after) &&
                          system_.look(after) == state::triggered);
  base::guard held(b.lock, b.threaded);
  lock_core::cell& c = b.cell_of(r);
  if (at_once && b.core.try_enter(c, how)) {
    if (trace::on()) [[unlikely]] {
      b.trace.held(r);
    }
    return {};
  }
  request& q = b.make(r, how, body::on_acquire);
  const user_event grant = q.grant = system_.create();
  held.unlock();
  if (!at_once) {
    const state seen = system_.subscribe(after, q);
    if (seen == state::pending) {
      return grant;
    }
    q.poisoned = seen == state::poisoned;
  }
  b.enter(q);
  return grant;
}

void reservations::release(reservation r, event after) {
  body& b = *body_;
  if (after.exists()) {
    request& q = [&]() -> request& {
      const base::guard held(b.lock, b.threaded);
      (void)b.cell_of(r);
      return b.make(r, {}, body::on_release);
    }();
    if (system_.subscribe(after, q) == state::pending) {
      return;
    }
    const base::guard held(b.lock, b.threaded);
    b.requests.put(q);
  }
  SINEW_CHECK(b.release(r), name_of(r) + " cannot be released", "it is not held on this rank",
              "release once for each acquire, on the rank of the acquire");
}

bool reservations::try_acquire(reservation r, lock_mode how, event* again) {
  {
    const base::guard held(body_->lock, body_->threaded);
    if (body_->core.try_enter(body_->cell_of(r), how)) {
      if (trace::on()) [[unlikely]] {
        body_->trace.held(r);
      }
      return true;
    }
  }
  if (again != nullptr) {
    *again = acquire(r, how);
    release(r, *again);
  }
  return false;
}

event reservations::destroy(reservation r, event after) {
  body& b = *body_;
  if (r.creator() != system_.rank()) {
    // Its creator does it, and triggers an event of ours.
    const user_event gone = system_.create();
    system_.entrust(gone, r.creator());
    const std::uint64_t words[2] = {gone.bits(), after.bits()};
    system_.send(r.creator(), topic::reservation, wants_destruction, r.bits(), words, sizeof words);
    return gone;
  }
  base::guard held(b.lock, b.threaded);
  (void)b.cell_of(r);
  request& q = b.make(r, {}, body::on_acquire);
  q.destroys = true;
  const user_event gone = q.grant = system_.create();
  held.unlock();
  const state seen = system_.subscribe(after, q);
  if (seen != state::pending) {
    b.enter(q);
  }
  return gone;
}

hold reservations::lock(reservation r, lock_mode how) {
  const event granted = acquire(r, how);
  const state seen = granted.exists() ? system_.wait(granted) : state::triggered;
  return {*this, r, seen == state::poisoned};
}

std::size_t reservations::held(reservation r) const {
  const base::guard held(body_->lock, body_->threaded);
  const lock_core::cell* const c = body_->core.find(r);
  return c == nullptr ? 0 : c->holders;
}

std::size_t reservations::waiting(reservation r) const {
  const base::guard held(body_->lock, body_->threaded);
  const lock_core::cell* const c = body_->core.find(r);
  std::size_t count = 0;
  for (const lock_request* q = c == nullptr ? nullptr : c->head; q != nullptr; q = q->pool_link) {
    ++count;
  }
  return count;
}

std::uint64_t reservations::misuses() const noexcept {
  const base::guard held(body_->lock, body_->threaded);
  return body_->misuses;
}
std::uint64_t reservations::moved() const noexcept {
  const base::guard held(body_->lock, body_->threaded);
  return body_->core.moved();
}
std::uint64_t reservations::messages() const noexcept {
  const base::guard held(body_->lock, body_->threaded);
  return body_->messages;
}

void reservations::recover(reservation r) {
  const base::guard held(body_->lock, body_->threaded);
  lock_core::cell& c = body_->cell_of(r);
  SINEW_CHECK(lock_core::recover(c), name_of(r) + " cannot be called whole",
              "this rank does not hold it alone, or one more rank was lost since",
              "repair what it guards while you hold it exclusively, then call recover()");
}

void hold::release(event after) noexcept {
  reservations* const of = std::exchange(of_, nullptr);
  if (of == nullptr) {
    return;
  }
  try {
    of->release(what_, after);
  } catch (const sinew::error&) {
    // The reservation was destroyed while we waited for it: nothing is held.
    SINEW_ASSERT(poisoned_);
  }
}

bool scoped_acquire::await_suspend(std::coroutine_handle<> frame) {
  frame_ = frame;
  fire = [](waiter& w) noexcept {
    auto& self = static_cast<scoped_acquire&>(w);
    self.failed_ = self.poisoned;
    self.frame_.resume();
  };
  system& events = of_.events();
  const event granted = of_.acquire(what_, how_);
  if (!granted.exists()) {
    return false;
  }
  // Once subscribed, the frame and this object in it may be gone.
  const state seen = events.subscribe(granted, *this);
  if (seen == state::pending) {
    return true;
  }
  failed_ = seen == state::poisoned;
  return false;
}

}  // namespace sinew::event
