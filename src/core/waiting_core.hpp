// SPDX-License-Identifier: BSD-3-Clause
// Waiting in a job with threads: who polls, who is parked, who wakes whom. A template without
// clock, network or system call, so that a test can run its threads in any order of their steps
// (tests/core/waiting_core_test.cpp); waiting.cpp has the edges.
//
// A thread that waits is awake or parked. Awake, it leads (polls) or, if another one leads, watches
// its own operation. It parks after a while, unless it is the last one awake: that one stays
// leader and sleeps on the doorbell. So a message finds either somebody awake, or nobody waits.
// But for this: the last one awake may leave, its own operation done, while others are parked.
// Most likely it comes right back, and waking one of them at each message is what makes threads
// slow. So one of the parked, the monitor, looks every 500 us whether anybody has waited since, and
// leads if not. Whoever parks while there is no monitor becomes it; if the monitor was woken
// by its own operation, and nobody has parked since, the last to leave wakes another one
// (unwatched_). After the leader has slept on the doorbell the last to leave always does: then
// messages are rare.
//
// Turns. Where threads share a processor, what counts is that a thread and its partner in the other
// process run at the same time, and stay together for a while. If the leader finds a message for a
// parked thread and all processors are taken, it does not wake it but puts it off (ready_). It
// hands its processor over, to one thread at a time, when its own message does not come, to the
// thread whose message came last: the sender of that is most likely waiting for the answer at this
// moment. When its turn ends, it does so at once, to the thread that was put off first. If both
// sides of two pairs hand over at the same time they miss each other again; hence patience is long
// or short at random (wait_policy.hpp). If nobody waits any more the monitor or the last to leave
// wake those that were put off.
//
// The helper. A rank may have one thread that is not the program's (help()). It naps, and leads
// only when nobody has waited or polled since its last nap: then it sleeps on the doorbell and
// serves what comes, while the program computes. It is never counted as awake. A thread that finds
// the lead taken by it clears helping_ and rings, and the helper gives way; it looks again until it
// leads, so no order of the two is lost. Whoever must not be served for a while bars the helper:
// barred_ and serving_ are a Dekker pair, each side writes its own and then reads the other's.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/wait_policy.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/completion.hpp"

namespace sinew::core {

/// Its address tells threads apart.
inline thread_local constinit char this_thread [[gnu::tls_model("initial-exec")]] = 0;

/// `Platform` is how a thread meets others:
///   lock           with acquire() and release()
///   step()         announces an access to what is shared
///   pause()        between two looks at the own operation, while another thread polls
///   yield()        gives the processor away
///   sleep(w, how)  sleeps while the word `w` is 0; may return early
///   wake(w)        ends that sleep; `w` may be gone, and only its address is used
template <class Platform>
class waiting_core {
 public:
  /// `limits` outlive it, here and below.
  waiting_core(int processors, bool crowded, const wait_limits& limits) noexcept
      : crowded_(crowded), processors_(processors), limits_(&limits) {
    SINEW_EXPECT(processors > 0 && limits.least_turn > 0);
  }
  ~waiting_core() { SINEW_EXPECT(at_rest()); }
  waiting_core(const waiting_core&) = delete;
  waiting_core& operator=(const waiting_core&) = delete;

  /// For waits that begin later. By who leads. Hot.
  void go_by(const wait_limits& limits) noexcept {
    if (limits_.load(std::memory_order_relaxed) != &limits) {
      limits_.store(&limits, std::memory_order_relaxed);
    }
  }

  /// How long a parked thread sleeps.
  enum class nap : std::uint8_t {
    until_woken,
    monitor_period,  ///< at most: it looks whether anybody waits
    long_period      ///< the same while a leader sleeps on the doorbell
  };

  /// The right to poll, or none: however a wait or a poll ends, it is given back.
  class lead {
   public:
    lead() noexcept = default;
    /// Takes it if nobody has it.
    explicit lead(waiting_core& of) noexcept { (void)take(of); }
    ~lead() { give_back(); }
    lead(const lead&) = delete;
    lead& operator=(const lead&) = delete;

    [[nodiscard]] bool take(waiting_core& of) noexcept {
      SINEW_EXPECT(of_ == nullptr);
      if (of.try_lead()) {
        of_ = &of;
      }
      return of_ != nullptr;
    }
    void give_back() noexcept {
      if (of_ != nullptr) {
        of_->follow();
        of_ = nullptr;
      }
    }
    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    waiting_core* of_ = nullptr;
  };

  /// The leader sleeps on the doorbell, or is about to, while this lives.
  class rest {
   public:
    explicit rest(waiting_core& in) noexcept : in_(in) {
      Platform::step();
      in_.resting_.store(true, std::memory_order_release);  // in_a_round()
    }
    ~rest() {
      Platform::step();
      in_.resting_.store(false, std::memory_order_relaxed);
    }
    rest(const rest&) = delete;
    rest& operator=(const rest&) = delete;

   private:
    waiting_core& in_;
  };

  /// Returns when `c` is done. `edge` carries orders out for the runtime:
  ///   poll()            one round of progress, as the leader; returns what happened
  ///   look_for_others() as the leader, before it sleeps, yields or parks
  ///   sleep(since)      on the doorbell, until a message comes or somebody calls ring(); since
  ///                     when nothing has happened (idle_pace::quiet_since())
  ///   ring()
  ///   now_ns(), limits()  as a Clock of idle_pace
  /// What it throws leaves all that is shared as if the wait had ended.
  template <class Edge>
  [[gnu::always_inline]] void wait(completion& c, Edge& edge);

  /// The body of the rank's helper thread. `edge` carries orders out:
  ///   nap(quiet)  sleeps for a while; `quiet`: nobody has waited since the nap before. False: the
  ///               helper is to end
  ///   poll()      one round of progress, as the leader; returns what happened
  ///   sleep()     on the doorbell, until a message comes or somebody rings
  template <class Edge>
  void help(Edge& edge);
  /// For whoever has found the lead taken, or is about to poll for long: if the helper leads, it
  /// gives way soon. `edge` has ring(). Hot.
  template <class Edge>
  void evict(Edge& edge) {
    Platform::step();
    if (helping_.load(std::memory_order_relaxed)) [[unlikely]] {
      Platform::step();
      if (helping_.exchange(false, std::memory_order_acq_rel)) {
        edge.ring();
      }
    }
  }
  /// Returns when the helper does not serve; it does not again before each bar() has its unbar().
  /// The helper begins barred. By the helper itself (in a handler) it returns at once. Cold.
  template <class Edge>
  void bar(Edge& edge);
  void unbar() noexcept {
    Platform::step();
    const int before = barred_.fetch_sub(1, std::memory_order_seq_cst);
    SINEW_EXPECT(before > 0);
    (void)before;
  }
  /// A round of progress is under way in some thread, or is about to begin. Cold.
  [[nodiscard]] bool in_a_round() const noexcept {
    Platform::step();
    // acquire: what the round has done is seen here once follow() or a rest has ended it.
    return leading_.load(std::memory_order_acquire) && !resting_.load(std::memory_order_acquire);
  }
  /// The leader sleeps, or is about to: whoever wants it to look at more rings. Behind a fence.
  [[nodiscard]] bool is_resting() const noexcept {
    Platform::step();
    return resting_.load(std::memory_order_relaxed);
  }
  /// A thread polls without waiting: the helper need not lead. Hot.
  void note_poll() noexcept {
    waits_.store(waits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Asked by the leader, in a wait of its own, before or after it sleeps: all other threads that
  /// wait are parked, and their operations are not done. Then how many of these do not sleep until
  /// they are woken: the monitor, or none; -1: it is not so. As long as waits_begun() stays the
  /// same and the leader has seen nothing happen, they stay parked: whoever leaves a wait and comes
  /// back begins another one. (No other thread is between the two steps of that count now, since
  /// those that are awake are counted.) Cold.
  [[nodiscard]] int others_on_watch() noexcept {
    const held hold(lock_);
    for (const parked* p = parked_.oldest; p != nullptr; p = p->newer) {
      if (p->operation == nullptr || p->operation->done()) {
        return -1;
      }
    }
    if (awake_.load(std::memory_order_acquire) != 1 || ready_.oldest != nullptr) {
      return -1;
    }
    return monitor_.load(std::memory_order_relaxed) != nullptr ? 1 : 0;
  }
  [[nodiscard]] std::uint32_t waits_begun() const noexcept {
    return waits_.load(std::memory_order_relaxed);
  }
  /// In the child of a fork, which has no helper: what it held is free. Cold.
  void forget_helper() noexcept {
    if (serving_.exchange(false)) {
      helping_.store(false, std::memory_order_relaxed);
      leading_.store(false, std::memory_order_relaxed);
    }
  }

  /// Nobody waits, leads, or is listed. Only while nobody can come. Cold.
  [[nodiscard]] bool at_rest() const noexcept {
    return awake_.load(std::memory_order_relaxed) == 0 && parked_.latest == nullptr &&
           ready_.latest == nullptr && ready_count_.load(std::memory_order_relaxed) == 0 &&
           monitor_.load(std::memory_order_relaxed) == nullptr &&
           !leading_.load(std::memory_order_relaxed) && !serving_.load(std::memory_order_relaxed);
  }

 private:
  struct line;
  /// A thread that sleeps until its operation is done, or until it is told to lead.
  struct parked : waiter {
    static constexpr std::uint32_t fired = 1;  ///< its operation is done
    static constexpr std::uint32_t turn = 2;   ///< nobody is awake: lead
    /// Bits above. Setting one is a release, the sleeper's look an acquire. After `fired` is set
    /// without lock_ the object may be gone: the wake-up that follows uses its address only.
    std::atomic<std::uint32_t> word{0};
    waiting_core* home = nullptr;
    const completion* operation = nullptr;
    line* in = nullptr;  ///< this and its place there are guarded by lock_
    parked* newer = nullptr;
    parked* older = nullptr;
  };
  /// Parked threads in the order in which they came.
  struct line {
    parked* oldest = nullptr;
    parked* latest = nullptr;
    void join(parked& p) noexcept;
    void leave(parked& p) noexcept;
  };
  class held {
   public:
    explicit held(typename Platform::lock& l) noexcept : lock_(l) { lock_.acquire(); }
    ~held() { lock_.release(); }
    held(const held&) = delete;
    held& operator=(const held&) = delete;

   private:
    typename Platform::lock& lock_;
  };
  /// A thread that waits and is not parked. The last to leave sees to it that somebody looks.
  class presence {
   public:
    explicit presence(waiting_core& in) noexcept : in_(in) {
      Platform::step();
      in_.awake_.fetch_add(1, std::memory_order_acq_rel);
    }
    ~presence() {
      Platform::step();
      const int before = in_.awake_.fetch_sub(1, std::memory_order_acq_rel);
      SINEW_ASSERT(before > 0);
      if (before == 1 && (slept || in_.unwatched_.load(std::memory_order_relaxed))) [[unlikely]] {
        in_.elect();
      }
    }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;

    bool slept = false;  ///< on the doorbell, as the leader

   private:
    waiting_core& in_;
  };
  /// What enlist() says: whether the thread is parked now, and who goes on instead of it (or null),
  /// whom the caller wakes.
  struct parking {
    bool done;
    parked* instead;
  };

  [[nodiscard]] bool try_lead() noexcept;
  void follow() noexcept;
  [[nodiscard]] wait_policy came() noexcept;
  [[nodiscard]] bool others_ready() const noexcept {
    return ready_count_.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] wait_view seen(bool leads, bool happened) const noexcept {
    return {awake_.load(std::memory_order_relaxed), processors_,
            put_offs_.load(std::memory_order_relaxed), leads, happened};
  }
  template <class Edge>
  [[nodiscard, gnu::always_inline]] wait_order look(wait_policy& policy, lead& leads, Edge& edge);
  template <class Edge>
  void step_aside(lead& leads, Edge& edge);
  template <class Edge>
  [[nodiscard]] bool serve(Edge& edge);

  static void operation_done(waiter& w) noexcept;
  static void wake(parked& p, std::uint32_t why) noexcept {
    std::atomic<std::uint32_t>& word = p.word;
    Platform::step();
    word.fetch_or(why, std::memory_order_release);
    Platform::wake(word);  // `p` may be gone
  }
  [[nodiscard]] bool put_off(parked& p) noexcept;
  [[nodiscard]] parked* next_ready() noexcept;
  void elect() noexcept;
  void park(completion& c);
  void sleep_as(parked& self);
  [[nodiscard]] parking enlist(parked& self) noexcept;
  [[nodiscard]] bool reclaim(parked& self) noexcept;
  void delist(parked& self) noexcept;
  [[nodiscard]] const wait_limits& limits() const noexcept {
    return *limits_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool turn_is_over(std::uint32_t number) const noexcept {
    return static_cast<std::int32_t>(number - turn_ends_.load(std::memory_order_relaxed)) >= 0;
  }

  const bool crowded_;    ///< more ranks than processors: give the processor away early
  const int processors_;  ///< that this process may use
  /// Of waits that begin from now on. Constants of the program, so relaxed.
  std::atomic<const wait_limits*> limits_;

  /// Held by the thread that leads. Taking it is an acquire, leaving it a release, so progress
  /// rounds of different threads are ordered.
  std::atomic<bool> leading_{false};
  /// The leader sleeps, or is about to. A hint to newcomers (relaxed).
  std::atomic<bool> resting_{false};
  /// Which thread leads from inside a wait; null if none does. Only compared with the reader's own
  /// name, so relaxed.
  std::atomic<const void*> leader_{nullptr};
  /// Threads inside wait() that are not parked; whoever wakes a parked thread counts it at once.
  /// Changes are acquire-release: the last to leave sees what those before it left behind.
  std::atomic<int> awake_{0};
  /// Threads are parked and none of them is the monitor. Written under lock_ by a thread
  /// that is awake, read by the last that leaves, ordered by awake_.
  std::atomic<bool> unwatched_{false};
  /// Waits so far, by a plain increment: a hint to the monitor and a source of randomness. Relaxed.
  std::atomic<std::uint32_t> waits_{0};
  /// How many are in `ready_`, and how often one was put there. Written under lock_; relaxed
  /// elsewhere: the leader, who acts upon them, has put them there itself or got the lead from who
  /// did.
  std::atomic<std::uint32_t> ready_count_{0};
  std::atomic<std::uint32_t> put_offs_{0};
  /// The number of the wait with which this turn ends. A hint, relaxed.
  std::atomic<std::uint32_t> turn_ends_{0};
  typename Platform::lock lock_;
  line parked_;  ///< whose operations are not done; guarded by lock_, as is:
  line ready_;   ///< whose operations are done, but who have no processor yet
  /// The parked thread that looks from time to time. Written under lock_; others read it to
  /// learn that it is not they, so relaxed.
  std::atomic<parked*> monitor_{nullptr};

  /// The helper leads and may stay. Set by it alone, cleared by whoever wants the lead, who then
  /// rings: the bell orders the two, and acquire-release the clearing itself.
  std::atomic<bool> helping_{false};
  /// How many do not want it to serve; and whether it does, or is about to. Sequentially
  /// consistent: see the top.
  std::atomic<int> barred_{1};
  std::atomic<bool> serving_{false};
  /// The helper's this_thread; only compared with the reader's own, so relaxed.
  std::atomic<const void*> helper_{nullptr};
};

template <class Platform>
void waiting_core<Platform>::line::join(parked& p) noexcept {
  SINEW_EXPECT(p.in == nullptr);
  p.in = this;
  p.newer = nullptr;
  p.older = latest;
  (latest != nullptr ? latest->newer : oldest) = &p;
  latest = &p;
  SINEW_ENSURE(oldest != nullptr);
}

template <class Platform>
void waiting_core<Platform>::line::leave(parked& p) noexcept {
  SINEW_EXPECT(p.in == this);
  p.in = nullptr;
  (p.newer != nullptr ? p.newer->older : latest) = p.older;
  (p.older != nullptr ? p.older->newer : oldest) = p.newer;
  SINEW_ENSURE((oldest == nullptr) == (latest == nullptr));
}

template <class Platform>
bool waiting_core<Platform>::try_lead() noexcept {
  Platform::step();
  return !leading_.load(std::memory_order_relaxed) &&
         !leading_.exchange(true, std::memory_order_acquire);
}

template <class Platform>
void waiting_core<Platform>::follow() noexcept {
  SINEW_EXPECT(leading_.load(std::memory_order_relaxed));
  leader_.store(nullptr, std::memory_order_relaxed);
  Platform::step();
  leading_.store(false, std::memory_order_release);
}

template <class Platform>
wait_policy waiting_core<Platform>::came() noexcept {
  const std::uint32_t number = waits_.load(std::memory_order_relaxed) + 1;
  Platform::step();
  waits_.store(number, std::memory_order_relaxed);
  return {limits(), number, turn_is_over(number), crowded_};
}

template <class Platform>
template <class Edge>
inline void waiting_core<Platform>::wait(completion& c, Edge& edge) {
  presence here(*this);
  wait_policy policy = came();
  lead leads;
  for (; !c.done(); Platform::step()) {
    wait_order order = policy.begin(others_ready());
    if (order == wait_order::look) {
      order = look(policy, leads, edge);
    }
    if (order == wait_order::look) {
      if (!leads) {
        Platform::pause();
      }
      continue;
    }
    if (leads) {
      edge.look_for_others();
    }
    if (order == wait_order::rest) {
      order = policy.rest(bool{leads}, awake_.load(std::memory_order_relaxed), others_ready());
    }
    if (order == wait_order::sleep) {
      // The leader before may have ended our operation between our last look and its leaving: no
      // message would end this sleep.
      if (c.done()) {
        break;
      }
      const rest quiet(*this);
      edge.sleep(policy.quiet_since());
      here.slept = true;
      continue;
    }
    step_aside(leads, edge);
    if (order == wait_order::yield) {
      Platform::yield();
    } else {
      park(c);
    }
  }
  // `leads` goes before `here`: whoever is elected finds the lead free.
}

// Polls if nobody else does.
template <class Platform>
template <class Edge>
inline wait_order waiting_core<Platform>::look(wait_policy& policy, lead& leads, Edge& edge) {
  if (!leads) {
    if (leads.take(*this)) {
      leader_.store(&this_thread, std::memory_order_relaxed);
    } else {
      evict(edge);
    }
  }
  const bool happened = leads && edge.poll() != 0;
  return policy.looked(seen(bool{leads}, happened), edge);
}

// Before a thread yields or parks, others get the lead.
template <class Platform>
template <class Edge>
void waiting_core<Platform>::step_aside(lead& leads, Edge& edge) {
  if (leads) {
    leads.give_back();
    return;
  }
  Platform::step();
  if (resting_.load(std::memory_order_relaxed)) {
    edge.ring();  // the leader finds that it is no longer alone, and parks
  }
}

template <class Platform>
template <class Edge>
void waiting_core<Platform>::help(Edge& edge) {
  helper_.store(&this_thread, std::memory_order_relaxed);
  std::uint32_t before = waits_.load(std::memory_order_relaxed);
  bool quiet = false;
  while (edge.nap(quiet)) {
    Platform::step();
    const std::uint32_t now = waits_.load(std::memory_order_relaxed);
    quiet = now == before && awake_.load(std::memory_order_acquire) == 0;
    quiet = quiet && serve(edge);
    before = waits_.load(std::memory_order_relaxed);
  }
  helper_.store(nullptr, std::memory_order_relaxed);
}

// As long as nobody wants the lead. False if it may not.
template <class Platform>
template <class Edge>
bool waiting_core<Platform>::serve(Edge& edge) {
  bool served = false;
  Platform::step();
  serving_.store(true, std::memory_order_seq_cst);
  Platform::step();
  if (barred_.load(std::memory_order_seq_cst) == 0) {
    lead mine;
    if (mine.take(*this)) {
      served = true;
      Platform::step();
      helping_.store(true, std::memory_order_release);
      for (;;) {
        Platform::step();
        if (!helping_.load(std::memory_order_acquire)) {
          break;
        }
        if (edge.poll() == 0) {
          edge.sleep();
        }
      }
    }
  }
  Platform::step();
  serving_.store(false, std::memory_order_seq_cst);
  return served;
}

template <class Platform>
template <class Edge>
void waiting_core<Platform>::bar(Edge& edge) {
  Platform::step();
  barred_.fetch_add(1, std::memory_order_seq_cst);
  if (helper_.load(std::memory_order_relaxed) == &this_thread) {
    return;
  }
  for (;;) {
    Platform::step();
    if (!serving_.load(std::memory_order_seq_cst)) {
      return;
    }
    evict(edge);
    Platform::yield();  // it is in a round of progress, or on its way from the doorbell
  }
}

// Wakes one of the parked, since nobody is awake. Rather the latest: its message is the farthest.
template <class Platform>
void waiting_core<Platform>::elect() noexcept {
  const held hold(lock_);
  if (ready_.oldest != nullptr) {
    wake(*next_ready(), parked::fired);
  } else if (parked_.latest != nullptr) {
    unwatched_.store(false, std::memory_order_relaxed);
    wake(*parked_.latest, parked::turn);  // under the lock: it cannot leave park() before
  }
}

// Fired by whoever ends the operation of a parked thread.
template <class Platform>
void waiting_core<Platform>::operation_done(waiter& w) noexcept {
  auto& p = static_cast<parked&>(w);
  waiting_core& home = *p.home;
  Platform::step();
  // A thread that does not wait itself may stay away for long; it puts off nobody.
  if (home.leader_.load(std::memory_order_relaxed) == &this_thread &&
      home.awake_.load(std::memory_order_relaxed) >= home.processors_ && home.put_off(p)) {
    return;
  }
  Platform::step();
  home.awake_.fetch_add(1, std::memory_order_acq_rel);
  wake(p, parked::fired);
}

// Keeps it asleep though its operation is done; the caller leads, and will hand over.
template <class Platform>
bool waiting_core<Platform>::put_off(parked& p) noexcept {
  const held hold(lock_);
  if (p.word.load(std::memory_order_relaxed) != 0) {
    return false;  // it is on its way already
  }
  SINEW_ASSERT(p.in == &parked_);
  p.in->leave(p);
  ready_.join(p);
  ready_count_.fetch_add(1, std::memory_order_relaxed);
  put_offs_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Takes one of those that were put off, counts it as awake; the caller, who holds the lock, wakes
// it now or soon.
template <class Platform>
auto waiting_core<Platform>::next_ready() noexcept -> parked* {
  const std::uint32_t now = waits_.load(std::memory_order_relaxed);
  parked* next = ready_.latest;
  if (turn_is_over(now)) {
    next = ready_.oldest;
    const std::uint32_t least = limits().least_turn;
    turn_ends_.store(now + least + scramble(now) % least, std::memory_order_relaxed);
  }
  SINEW_ASSERT(next != nullptr && others_ready());
  ready_.leave(*next);
  ready_count_.fetch_sub(1, std::memory_order_relaxed);
  Platform::step();
  awake_.fetch_add(1, std::memory_order_acq_rel);
  return next;
}

// Sleeps until `c` is done or somebody has to lead, and lets one of those go on that were put off.
// Not at all if there is none and the caller is the last awake.
template <class Platform>
void waiting_core<Platform>::park(completion& c) {
  parked self;
  self.home = this;
  self.operation = &c;
  self.fire = operation_done;
  const parking how = enlist(self);
  if (!how.done) {
    return;
  }
  Platform::step();
  const bool attached = c.attach(self);
  if (how.instead != nullptr) {
    wake(*how.instead, parked::fired);
  }
  if (attached) {
    sleep_as(self);
  }
  Platform::step();
  if (attached && !c.detach(self)) {
    // Or being fired right now: `self` must outlive the firing.
    while ((self.word.load(std::memory_order_acquire) & parked::fired) == 0 && !reclaim(self)) {
      Platform::yield();
    }
  } else {
    awake_.fetch_add(1, std::memory_order_acq_rel);
  }
  delist(self);
  SINEW_ENSURE(self.in == nullptr);
}

template <class Platform>
void waiting_core<Platform>::sleep_as(parked& self) {
  while (self.word.load(std::memory_order_acquire) == 0) {
    if (monitor_.load(std::memory_order_relaxed) != &self) {
      Platform::sleep(self.word, nap::until_woken);
      continue;
    }
    const bool quiet = resting_.load(std::memory_order_relaxed);
    const std::uint32_t waits = waits_.load(std::memory_order_relaxed);
    Platform::sleep(self.word, quiet ? nap::long_period : nap::monitor_period);
    if (awake_.load(std::memory_order_acquire) == 0 &&
        waits_.load(std::memory_order_relaxed) == waits) {
      return;
    }
  }
}

template <class Platform>
auto waiting_core<Platform>::enlist(parked& self) noexcept -> parking {
  const held hold(lock_);
  const int awake = awake_.load(std::memory_order_relaxed);
  SINEW_EXPECT(awake > 0);  // the caller
  parked* instead = nullptr;
  if (ready_.latest != nullptr && awake <= processors_) {
    instead = next_ready();
  } else if (awake == 1) {
    return {false, nullptr};
  }
  Platform::step();
  awake_.fetch_sub(1, std::memory_order_acq_rel);
  parked_.join(self);
  parked* const monitor = monitor_.load(std::memory_order_relaxed);
  if (monitor == nullptr || monitor == instead) {
    monitor_.store(&self, std::memory_order_relaxed);
    unwatched_.store(false, std::memory_order_relaxed);
  }
  return {true, instead};
}

// Takes itself from those that were put off.
template <class Platform>
bool waiting_core<Platform>::reclaim(parked& self) noexcept {
  const held hold(lock_);
  if (self.in != &ready_) {
    return false;
  }
  ready_.leave(self);
  ready_count_.fetch_sub(1, std::memory_order_relaxed);
  awake_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

template <class Platform>
void waiting_core<Platform>::delist(parked& self) noexcept {
  const held hold(lock_);
  if (self.in != nullptr) {
    self.in->leave(self);
  }
  if (monitor_.load(std::memory_order_relaxed) == &self) {
    monitor_.store(nullptr, std::memory_order_relaxed);
  }
  unwatched_.store((parked_.latest != nullptr || ready_.latest != nullptr) &&
                       monitor_.load(std::memory_order_relaxed) == nullptr,
                   std::memory_order_relaxed);
}

}  // namespace sinew::core
