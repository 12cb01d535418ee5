// SPDX-License-Identifier: BSD-3-Clause
// Barriers. The owner counts; a phase completes when its arrivals have come, and phases complete in
// order. A rank that asks for a phase's end is notified once, with its value. That an altered count
// travels with the barrier's value is Realm's (Treichler, Bauer, Aiken, PACT 2014: phase barriers).
//
// Messages: to the owner arrive, alter, ask, look; from it complete, seen. An arrival may depend on
// an alteration that travels by another route: it carries the alteration's stamp, and the owner
// holds it back until it has seen that one. (A rank's own alterations come to the owner in order,
// so it is enough to count them: stamp = rank of the alterer and how many it has made.) The same
// holds for an alteration by a rank that was given an altered barrier.
#include "sinew/event/barrier.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/log.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {
namespace {

/// Aligned for any type: the user's fold works on it.
struct alignas(std::max_align_t) value_bytes : std::array<std::byte, most_reduced_bytes> {};

/// ask is answered once the phase has ended, look at once, whether it has or not.
enum op : std::uint64_t { op_arrive, op_alter, op_ask, op_complete, op_look, op_seen };

/// The payload of each message; its word is the barrier's id.
struct barrier_message {
  std::uint64_t phase = 0;
  std::uint64_t after = 0;  ///< the alteration that must have been seen before; 0: none
  std::uint64_t stamp = 0;  ///< of an alteration: its own
  std::int64_t count = 0;   ///< arrivals, or the change
  std::uint64_t has_value = 0;
  std::uint64_t poisoned = 0;
  value_bytes value{};
};
constexpr std::size_t bytes_without_value = offsetof(barrier_message, value);
static_assert(std::is_trivially_copyable_v<barrier_message>);
static_assert(bytes_without_value % alignof(value_bytes) == 0);

constexpr int stamp_shift = 40;  ///< rank + 1 above, how many below
std::size_t alterer(std::uint64_t stamp) { return static_cast<std::size_t>(stamp >> stamp_shift); }
std::uint64_t how_many(std::uint64_t stamp) { return stamp & ((1ull << stamp_shift) - 1); }

std::size_t value_bytes_of(std::uint64_t id) { return static_cast<std::size_t>(id >> 40 & 0xff); }
std::uint64_t number_of(std::uint64_t id) { return id & ((1ull << 40) - 1); }

/// One phase at the owner that has not completed.
struct open_phase {
  std::int64_t arrived = 0;
  bool poisoned = false;
  bool valued = false;
  value_bytes value{};
};

/// A phase that has completed.
struct ended {
  std::uint64_t phase = 0;
  bool poisoned = false;
  bool has_value = false;
  value_bytes value{};
};
using history = std::deque<ended>;  ///< the newest last; at most kept_phases

const ended* recall(const history& h, std::uint64_t phase) {
  const auto at =
      std::find_if(h.begin(), h.end(), [=](const ended& e) { return e.phase == phase; });
  return at == h.end() ? nullptr : &*at;
}
void remember(history& h, const ended& e) {
  if (recall(h, e.phase) == nullptr) {
    h.push_back(e);
  }
  if (h.size() > kept_phases) {
    h.pop_front();
  }
  SINEW_ENSURE(!h.empty() && h.size() <= kept_phases);
}

/// A barrier at its owner.
struct owned {
  std::int64_t arrivals = 0;
  bool broken = false;      ///< all phases from the current one on are poisoned
  std::vector<bool> users;  ///< ranks that have arrived, altered or asked
  void (*fold)(void*, const void*) = nullptr;
  value_bytes identity{};
  std::uint64_t current = 0;
  std::map<std::uint64_t, open_phase> open;
  std::map<std::uint64_t, std::int64_t> changes;        ///< of arrivals, from that phase on
  std::unordered_map<std::size_t, std::uint64_t> seen;  ///< alterations, by rank + 1
  std::vector<std::pair<op, barrier_message>> held;     ///< which come after some that is not seen
  std::multimap<std::uint64_t, job_rank> asked;         ///< by phase
  history past;
  std::vector<std::uint64_t> poisoned;  ///< phases, for ever
};

/// A barrier on a rank that has asked for its phases.
struct followed {
  std::uint64_t alterations = 0;
  std::map<std::uint64_t, user_event> awaited;
  std::map<std::uint64_t, user_event> looked_for;  ///< until the owner has answered
  history past;
};

[[nodiscard]] bool unseen(const owned& b, std::uint64_t stamp) {
  const auto found = b.seen.find(alterer(stamp));
  return stamp != 0 && (found == b.seen.end() || found->second < how_many(stamp));
}

void count(owned& b, const barrier_message& p) {
  SINEW_EXPECT(!b.broken && !unseen(b, p.after));
  if (p.phase < b.current) {
    log_line(log_level::error, "an arrival at phase " + std::to_string(p.phase) +
                                   " of a barrier that is at phase " + std::to_string(b.current) +
                                   ": ignored");
    return;
  }
  open_phase& at = b.open[p.phase];
  SINEW_ASSERT(b.open.begin()->first >= b.current);
  at.arrived += p.count;
  at.poisoned = at.poisoned || p.poisoned != 0;
  if (p.has_value != 0 && b.fold != nullptr) {
    if (!std::exchange(at.valued, true)) {
      at.value = b.identity;
    }
    b.fold(at.value.data(), p.value.data());
  }
}

/// False: it comes later.
[[nodiscard]] bool take(owned& b, op what, const barrier_message& p) {
  if (unseen(b, p.after)) {
    return false;
  }
  SINEW_EXPECT(what == op_arrive || what == op_alter);
  if (what == op_arrive) {
    count(b, p);
  } else {
    const std::uint64_t phase = std::max(p.phase, b.current);
    b.changes[phase] += p.count;
    (void)b.open[phase];  // it may be complete now
    auto& seen = b.seen[alterer(p.stamp)];
    SINEW_ASSERT(how_many(p.stamp) == seen + 1);  // a rank's alterations come in order
    seen = how_many(p.stamp);
  }
  return true;
}

void take_held(owned& b) {
  for (bool more = true; more;) {
    more = false;
    for (auto& [what, p] : std::exchange(b.held, {})) {
      if (take(b, what, p)) {
        more = true;
      } else {
        b.held.emplace_back(what, p);
      }
    }
  }
}

/// Completes the current phase if it is complete: only one that has arrivals or was altered. (A
/// barrier whose count was altered to 0 would complete phases without end.)
[[nodiscard]] bool advance(owned& b) {
  const auto at = b.open.begin();
  if (at == b.open.end() || at->first != b.current) {
    return false;
  }
  std::int64_t needed = b.arrivals;
  if (const auto change = b.changes.find(b.current); change != b.changes.end()) {
    needed += change->second;
  }
  if (at->second.arrived < needed) {
    return false;
  }
  if (at->second.arrived > needed) {
    log_line(log_level::error,
             "more arrivals than awaited at phase " + std::to_string(b.current) + " of a barrier");
  }
  SINEW_ASSERT(b.past.empty() || b.past.back().phase < b.current);
  b.arrivals = needed;
  b.changes.erase(b.current);
  remember(b.past, {b.current, at->second.poisoned, b.fold != nullptr,
                    at->second.valued ? at->second.value : b.identity});
  if (at->second.poisoned) {
    SINEW_ASSERT(b.poisoned.empty() || b.poisoned.back() < b.current);  // end_of() searches it
    b.poisoned.push_back(b.current);
  }
  b.open.erase(at);
  ++b.current;
  return true;
}

}  // namespace

struct barriers::body {
  /// What must be done once the lock is free.
  struct pending_sends {
    struct reply {
      job_rank to;
      op what;
      barrier_message p;
    };
    std::vector<reply> replies;
    std::vector<std::pair<user_event, bool>> triggered;
  };
  /// An arrival that waits for its precondition.
  struct deferred : waiter {
    deferred(body* in, std::uint64_t of, const barrier_message& what) : home(in), id(of), p(what) {}
    body* home;
    std::uint64_t id;
    barrier_message p;
  };

  explicit body(system& of) : s(of) {
    s.set_handler(
        topic::barrier, [](void* self, const message& m) { static_cast<body*>(self)->handle(m); },
        this);
  }
  [[nodiscard]] base::guard locked() { return {lock, s.runtime().threaded()}; }

  void send(std::uint64_t id, job_rank to, op what, const barrier_message& p) {
    SINEW_EXPECT(to.below(s.size()));
    s.send(to, topic::barrier, what, id, &p, p.has_value != 0 ? sizeof p : bytes_without_value);
  }

  void handle(const message& m) {
    barrier_message p;
    SINEW_CHECK(m.size == sizeof p || m.size == bytes_without_value,
                "cannot read a message for barriers", "it has " + std::to_string(m.size) + " bytes",
                "run the same version of Sinew on all ranks");
    std::memcpy(&p, m.data, m.size);
    pending_sends todo;
    {
      const base::guard held = locked();
      if (m.small == op_complete) {
        complete_here(m.word, p, todo);
      } else if (m.small == op_seen) {
        seen_here(m.word, p, todo);
      } else {
        at_owner(m.word, static_cast<op>(m.small), p, m.source, todo);
      }
    }
    for (const auto& [rank, what, reply] : todo.replies) {
      send(m.word, rank, what, reply);
    }
    for (const auto& [e, bad] : todo.triggered) {
      bad ? s.poison(e) : s.trigger(e);
    }
  }

  void at_owner(std::uint64_t id, op what, const barrier_message& p, job_rank from,
                pending_sends& todo) {
    const auto found = mine.find(id);
    if (found == mine.end()) {
      const bool asks = what == op_ask || what == op_look;
      log_line(log_level::error, "rank " + to_string(from) + " uses a barrier that was " +
                                     (number_of(id) < next ? "destroyed" : "never made") +
                                     (what == op_ask    ? ": its event is poisoned"
                                      : what == op_look ? ": it gets no value"
                                                        : ": ignored"));
      if (asks) {
        todo.replies.push_back({from, answer_to(what), refusal_of(p.phase)});
      }
      return;
    }
    owned& b = found->second;
    b.users[from.index()] = true;
    if (what == op_look) {
      todo.replies.push_back({from, op_seen, end_of(b, p.phase)});
      return;
    }
    if (what == op_ask) {
      b.asked.emplace(p.phase, from);
    } else if (b.broken) {
      return;
    } else if (take(b, what, p)) {
      take_held(b);
    } else {
      b.held.emplace_back(what, p);
    }
    while (advance(b)) {
      answer(b, todo);  // phase by phase: of many that end at once the first are soon forgotten
    }
    answer(b, todo);
  }

  [[nodiscard]] static op answer_to(op question) noexcept {
    return question == op_look ? op_seen : op_complete;
  }

  [[nodiscard]] static barrier_message refusal_of(std::uint64_t phase) {
    barrier_message p;
    p.phase = phase;
    p.poisoned = 1;
    return p;
  }

  /// Throws if it is known here that the handle stands for no barrier. Under the lock.
  void check(barrier b) const {
    const char* const what = "a barrier cannot be used";
    SINEW_CHECK(b.owner().below(s.size()) && number_of(b.id) != 0 &&
                    value_bytes_of(b.id) <= most_reduced_bytes,
                what, "its handle was never given out",
                "make one with barriers::create() and pass it as it is");
    SINEW_CHECK(b.owner() != s.rank() || mine.contains(b.id), what,
                number_of(b.id) < next ? "it was destroyed" : "its handle was never given out",
                "destroy it when nobody uses it any more");
  }

  /// What is known of a phase: whether it is poisoned, and its value if that is remembered.
  static barrier_message end_of(const owned& b, std::uint64_t phase) {
    barrier_message p;
    p.phase = phase;
    const bool is_poisoned = (b.broken && phase >= b.current) ||
                             std::binary_search(b.poisoned.begin(), b.poisoned.end(), phase);
    p.poisoned = is_poisoned ? 1 : 0;
    if (const ended* e = recall(b.past, phase); e != nullptr && e->has_value) {
      p.has_value = 1;
      p.value = e->value;
    }
    return p;
  }

  static void answer(owned& b, pending_sends& todo) {
    const auto end = b.broken ? b.asked.end() : b.asked.lower_bound(b.current);
    for (auto a = b.asked.begin(); a != end; a = b.asked.erase(a)) {
      todo.replies.push_back({a->second, op_complete, end_of(b, a->first)});
    }
  }

  void complete_here(std::uint64_t id, const barrier_message& p, pending_sends& todo) {
    followed& f = theirs[id];
    if (auto asked = f.awaited.extract(p.phase)) {
      remember_end(f, p);
      todo.triggered.emplace_back(asked.mapped(), p.poisoned != 0);
    }
  }

  void seen_here(std::uint64_t id, const barrier_message& p, pending_sends& todo) {
    followed& f = theirs[id];
    if (auto asked = f.looked_for.extract(p.phase)) {
      remember_end(f, p);
      todo.triggered.emplace_back(asked.mapped(), false);
    }
  }

  static void remember_end(followed& f, const barrier_message& p) {
    if (p.has_value != 0 || p.poisoned != 0) {
      remember(f.past, {p.phase, p.poisoned != 0, p.has_value != 0, p.value});
    }
  }

  /// The phase as this rank remembers it. Under the lock.
  [[nodiscard]] const ended* known(barrier b) const {
    const auto follower = theirs.find(b.id);
    const ended* const seen =
        follower == theirs.end() ? nullptr : recall(follower->second.past, b.phase);
    if (seen != nullptr) {
      return seen;
    }
    const auto owner = mine.find(b.id);
    return owner == mine.end() ? nullptr : recall(owner->second.past, b.phase);
  }

  system& s;
  base::lock lock;  ///< guards what follows; never held while something is sent or triggered
  std::uint64_t next = 1;
  std::unordered_map<std::uint64_t, owned> mine;
  std::unordered_map<std::uint64_t, followed> theirs;
};

barriers::barriers(system& s) : body_(std::make_unique<body>(s)) {}
barriers::~barriers() = default;

barrier barriers::create(std::uint64_t arrivals, const reduction& values) {
  SINEW_CHECK(values.bytes <= most_reduced_bytes &&
                  (values.bytes == 0 || (values.fold != nullptr && values.identity != nullptr)),
              "cannot make a barrier",
              "its values have " + std::to_string(values.bytes) +
                  " bytes (64 at most), or no fold or identity",
              "reduce larger values by a region");
  SINEW_CHECK(arrivals > 0, "cannot make a barrier", "no arrivals are awaited",
              "await one, and alter that");
  const base::guard held = body_->locked();
  const std::uint64_t id = body_->s.rank().index() << 48 |
                           static_cast<std::uint64_t>(values.bytes) << 40 | body_->next++;
  owned& b = body_->mine[id];
  SINEW_ASSERT(value_bytes_of(id) == values.bytes && barrier{id}.owner() == body_->s.rank());
  b.arrivals = static_cast<std::int64_t>(arrivals);
  b.users.resize(static_cast<std::size_t>(body_->s.size()));
  if (values.bytes != 0) {
    b.fold = values.fold;
    std::memcpy(b.identity.data(), values.identity, values.bytes);
  }
  return {id, 0, 0};
}

void barriers::destroy(barrier b) {
  std::multimap<std::uint64_t, job_rank> asked;
  {
    const base::guard held = body_->locked();
    const auto found = body_->mine.find(b.id);
    SINEW_CHECK(found != body_->mine.end(), "cannot destroy a barrier",
                "it is not this rank's, or was destroyed before", "destroy it once, at its owner");
    asked = std::move(found->second.asked);
    body_->mine.erase(found);
  }
  for (const auto& [phase, rank] : asked) {
    body_->send(b.id, rank, op_complete, body::refusal_of(phase));
  }
}

void barriers::arrive(barrier b, std::uint64_t count, const void* value, event after) {
  {
    const base::guard held = body_->locked();
    body_->check(b);
  }
  barrier_message p;
  p.phase = b.phase;
  p.after = b.stamp;
  p.count = static_cast<std::int64_t>(count);
  if (value != nullptr && value_bytes_of(b.id) != 0) {
    p.has_value = 1;
    std::memcpy(p.value.data(), value, value_bytes_of(b.id));
  }
  if (after.exists()) {
    auto later = std::make_unique<body::deferred>(body_.get(), b.id, p);
    later->fire = [](waiter& w) noexcept {
      const std::unique_ptr<body::deferred> self(&static_cast<body::deferred&>(w));
      self->p.poisoned = self->poisoned ? 1 : 0;
      self->home->send(self->id, barrier{self->id}.owner(), op_arrive, self->p);
    };
    const state now = body_->s.subscribe(after, *later);
    if (now == state::pending) {
      (void)later.release();  // it deletes itself
      return;
    }
    p.poisoned = now == state::poisoned ? 1 : 0;
  }
  body_->send(b.id, b.owner(), op_arrive, p);
}

barrier barriers::alter(barrier b, std::int64_t change) {
  barrier_message p;
  p.phase = b.phase;
  p.after = b.stamp;
  p.count = change;
  {
    const base::guard held = body_->locked();
    body_->check(b);
    const std::uint64_t number = ++body_->theirs[b.id].alterations;
    SINEW_ASSERT(how_many(number) == number);
    p.stamp = (body_->s.rank().index() + 1) << stamp_shift | number;
  }
  body_->send(b.id, b.owner(), op_alter, p);
  return {b.id, b.phase, p.stamp};
}

event barriers::completed(barrier b) {
  user_event made;
  bool bad = false;
  {
    const base::guard held = body_->locked();
    body_->check(b);
    followed& f = body_->theirs[b.id];
    if (const auto at = f.awaited.find(b.phase); at != f.awaited.end()) {
      return at->second;
    }
    const ended* const known = recall(f.past, b.phase);
    if (known != nullptr && !known->poisoned) {
      return {};
    }
    made = body_->s.create();
    bad = known != nullptr || body_->s.is_lost(b.owner());
    if (!bad) {
      f.awaited.emplace(b.phase, made);
    }
  }
  if (bad) {
    body_->s.poison(made);
  } else {
    barrier_message p;
    p.phase = b.phase;
    body_->send(b.id, b.owner(), op_ask, p);
  }
  return made;
}

bool barriers::value(barrier b, void* into) {
  SINEW_CHECK(value_bytes_of(b.id) <= most_reduced_bytes && b.owner().below(body_->s.size()),
              "a barrier has no value", "its handle was never given out",
              "make one with barriers::create() and pass it as it is");
  const auto copy = [&] {
    const ended* const e = body_->known(b);
    const bool has_value = e != nullptr && e->has_value;
    if (has_value) {
      std::memcpy(into, e->value.data(), value_bytes_of(b.id));
    }
    return has_value;
  };
  user_event answered;
  bool is_new = false;
  {
    const base::guard held = body_->locked();
    if (value_bytes_of(b.id) == 0 || copy()) {
      return value_bytes_of(b.id) != 0;
    }
    if (b.owner() == body_->s.rank() || body_->s.is_lost(b.owner()) || body_->s.is_firing()) {
      return false;
    }
    auto& looked_for = body_->theirs[b.id].looked_for;
    const auto at = looked_for.find(b.phase);
    is_new = at == looked_for.end();
    answered = is_new ? body_->s.create() : at->second;
    if (is_new) {
      looked_for.emplace(b.phase, answered);
    }
  }
  if (is_new) {
    barrier_message p;
    p.phase = b.phase;
    body_->send(b.id, b.owner(), op_look, p);
  }
  (void)body_->s.wait(answered);
  const base::guard held = body_->locked();
  return copy();
}

void barriers::lost(job_rank rank) {
  std::vector<user_event> gone;
  std::vector<std::pair<std::uint64_t, body::pending_sends>> refusals;
  {
    const base::guard held = body_->locked();
    for (auto& [id, b] : body_->mine) {
      if (b.current == 0 || b.users[rank.index()]) {
        b.broken = true;
        b.open.clear();
        b.held.clear();
        body::answer(b, refusals.emplace_back(id, body::pending_sends{}).second);
      }
    }
    for (auto& [id, f] : body_->theirs) {
      if (barrier{id}.owner() == rank) {
        for (const auto& [phase, e] : f.awaited) {
          gone.push_back(e);
        }
        for (const auto& [phase, e] : f.looked_for) {
          gone.push_back(e);
        }
        f.awaited.clear();
        f.looked_for.clear();
      }
    }
  }
  for (const auto& [id, todo] : refusals) {
    for (const auto& [asker, what, p] : todo.replies) {
      body_->send(id, asker, what, p);
    }
  }
  for (const user_event e : gone) {
    body_->s.poison(e);
  }
}

}  // namespace sinew::event
