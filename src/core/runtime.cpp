#include "sinew/core/runtime.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "core/futex.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/spin.hpp"

namespace sinew::core {
namespace {

// An idle virtual core takes tens of microseconds to wake, so a waiter spins first and sleeps
// late; with more ranks than processors it gives its processor away almost at once.
setting<std::int64_t> spin_us("core", "spin_us", 20, "us",
                              "how long a waiter polls without pause before it yields");
setting<std::int64_t> yield_us("core", "yield_us", 2000, "us",
                               "how long a waiter polls and yields before it sleeps");
setting<std::int64_t> crowded_yield_us("core", "crowded_yield_us", 100, "us",
                                       "the same with more ranks than processors");
setting<double> hang_timeout("core", "hang_timeout", 0.0, "s",
                             "after this long in one wait, print what is waited for (0: never)");

/// By what is the same for all ranks of a node: a rank's own affinity may be a single core.
bool is_crowded(const boot::place& at) {
  const long cpus = at.local_cpus > 0 ? at.local_cpus : sysconf(_SC_NPROCESSORS_ONLN);
  return at.local_size > cpus;
}

constexpr int round_budget = 64;
constexpr std::uint64_t longest_sleep_ns = 10'000'000;

}  // namespace

/// What a poller does between rounds that found nothing: relax, yield, sleep, in that order; and
/// it watches for a wait that does not end.
class runtime::idler {
 public:
  explicit idler(runtime& rt) noexcept : rt_(rt) {}

  void busy() noexcept { quiet_rounds_ = 0; }

  /// No pause instruction: on some processors it lasts longer than a round of progress. (Here, no
  /// difference could be measured.)
  void quiet() {
    ++quiet_rounds_;
    const std::uint32_t first_look = rt_.crowded_ ? 8 : 64;
    if (quiet_rounds_ < first_look || (!rt_.crowded_ && quiet_rounds_ % first_look != 0)) {
      return;
    }
    const std::uint64_t now = now_ns();
    if (quiet_rounds_ == first_look) {
      quiet_since_ = now;
      started_ = started_ == 0 ? now : started_;
    }
    const std::uint64_t quiet_us = (now - quiet_since_) / 1000;
    const auto spin = static_cast<std::uint64_t>(rt_.crowded_ ? 0 : spin_us());
    const auto yield =
        spin + static_cast<std::uint64_t>(rt_.crowded_ ? crowded_yield_us() : yield_us());
    if (quiet_us >= yield) {
      rt_.endpoint_->sleep(longest_sleep_ns);
      watch(now);
    } else if (quiet_us >= spin) {
      sched_yield();
    }
  }

 private:
  void watch(std::uint64_t now) {
    if (told_ || hang_timeout() <= 0 || rt_.diagnose_ == nullptr) {
      return;
    }
    if (static_cast<double>(now - started_) > hang_timeout() * 1e9) {
      told_ = true;
      rt_.diagnose_(rt_.diagnose_context_);
    }
  }

  runtime& rt_;
  std::uint32_t quiet_rounds_ = 0;
  std::uint64_t quiet_since_ = 0;
  std::uint64_t started_ = 0;
  bool told_ = false;
};

/// A thread that waits while another one polls.
struct runtime::parked : waiter {
  static constexpr std::uint32_t fired = 1;  ///< its operation is done
  static constexpr std::uint32_t turn = 2;   ///< it is its turn to poll
  /// Bits above. Setting one is a release, the sleeper's look an acquire. After `fired` is set the
  /// object may be gone: the wake-up that follows uses its address only.
  std::atomic<std::uint32_t> word{0};
  parked* next = nullptr;
  parked* previous = nullptr;
  bool listed = false;

  void rouse(std::uint32_t why) noexcept {
    word.fetch_or(why, std::memory_order_release);
    futex_wake(word, 1);
  }
};

std::unique_ptr<runtime> runtime::open(std::unique_ptr<boot::session> session, threading threads) {
  const boot::place& at = session->where();
  const bool many = threads == threading::many;
  std::unique_ptr<fabric::endpoint> endpoint;
  if (at.size == 1) {
    endpoint = std::move(fabric::open_inproc(1, many).front());
  } else {
    SINEW_CHECK(at.local_size == at.size, "cannot connect the ranks of this job",
                "they are on several nodes (" + std::to_string(at.local_size) + " of " +
                    std::to_string(at.size) + " here), and only shared memory is built in yet",
                "start all ranks on one node");
    fabric::node_memory where{};
    where.bytes_per_rank = fabric::shm_bytes_per_rank(at.local_size);
    where.base = session->map_node_memory(where.bytes_per_rank);
    where.rank = at.rank;
    where.local_rank = at.local_rank;
    where.local_ranks = at.local_ranks;
    where.crowded = is_crowded(at);
    endpoint = fabric::open_shm(where, many);
  }
  return std::make_unique<runtime>(std::move(session), std::move(endpoint), threads);
}

runtime::runtime(std::unique_ptr<boot::session> session, std::unique_ptr<fabric::endpoint> endpoint,
                 threading threads)
    : session_(std::move(session)), endpoint_(std::move(endpoint)), threads_(threads) {
  crowded_ = session_ != nullptr && is_crowded(session_->where());
}

runtime::~runtime() = default;

void runtime::set_chore(int (*chore)(void*), void* context) noexcept {
  chore_ = chore;
  chore_context_ = context;
}

void runtime::set_diagnosis(void (*print)(void*), void* context) noexcept {
  diagnose_ = print;
  diagnose_context_ = context;
}

int runtime::round() {
  int happened = endpoint_->progress(round_budget);
  if (chore_wanted_.load(std::memory_order_relaxed)) [[unlikely]] {
    happened += chore_(chore_context_);
  }
  return happened;
}

int runtime::poll() {
  if (!threaded()) {
    return round();
  }
  if (polling_.load(std::memory_order_relaxed) ||
      polling_.exchange(true, std::memory_order_acquire)) {
    return 0;
  }
  const int happened = round();
  hand_over();
  return happened;
}

template <class Ready>
void runtime::poll_until(Ready ready, idler& idle) {
  while (!ready()) {
    if (round() != 0) {
      idle.busy();
    } else {
      idle.quiet();
    }
  }
}

void runtime::wait(completion& c) {
  if (c.done()) {
    return;
  }
  idler idle(*this);
  if (!threaded()) {
    poll_until([&c] { return c.done(); }, idle);
    return;
  }
  while (!c.done()) {
    if (!polling_.load(std::memory_order_relaxed) &&
        !polling_.exchange(true, std::memory_order_acquire)) {
      poll_until([&c] { return c.done(); }, idle);
      hand_over();
      return;
    }
    parked self;
    self.fire = [](waiter& w) noexcept { static_cast<parked&>(w).rouse(parked::fired); };
    if (!c.attach(self)) {
      return;
    }
    park(self, false);
    if (!c.detach(self)) {
      // Fired, or being fired right now: `self` must outlive the firing.
      while ((self.word.load(std::memory_order_acquire) & parked::fired) == 0) {
        cpu_relax();
      }
      pass_on(self);
    }
  }
}

void runtime::wait_until(bool (*ready)(void*), void* context) {
  idler idle(*this);
  if (!threaded()) {
    poll_until([=] { return ready(context); }, idle);
    return;
  }
  while (!ready(context)) {
    if (!polling_.load(std::memory_order_relaxed) &&
        !polling_.exchange(true, std::memory_order_acquire)) {
      poll_until([=] { return ready(context); }, idle);
      hand_over();
      return;
    }
    parked self;
    park(self, true);
    if (ready(context)) {
      pass_on(self);
      return;
    }
  }
}

// Leaves the poller's place and wakes one parked thread to take it. No wake-up is lost: a thread
// lists itself under parked_lock_ and only then looks at polling_; we clear polling_ before we take
// parked_lock_. So either we find it in the list, or it finds the place free.
void runtime::hand_over() {
  polling_.store(false, std::memory_order_seq_cst);
  offer_turn();
}

void runtime::offer_turn() {
  guard held(parked_lock_, true);
  if (parked_ != nullptr) {
    parked* first = parked_;
    parked_ = first->next;
    if (parked_ != nullptr) {
      parked_->previous = nullptr;
    }
    first->listed = false;
    first->rouse(parked::turn);  // under the lock: it cannot leave park() before it takes the lock
  }
}

// A thread that was given the turn but needs it no longer gives it to the next one.
void runtime::pass_on(parked& self) {
  if ((self.word.load(std::memory_order_acquire) & parked::turn) != 0 &&
      !polling_.load(std::memory_order_seq_cst)) {
    offer_turn();
  }
}

void runtime::park(parked& self, bool timed) {
  {
    guard held(parked_lock_, true);
    self.listed = true;
    self.next = parked_;
    if (parked_ != nullptr) {
      parked_->previous = &self;
    }
    parked_ = &self;
  }
  while (self.word.load(std::memory_order_acquire) == 0 &&
         polling_.load(std::memory_order_seq_cst)) {
    futex_wait(self.word, 0, timed ? 100'000 : longest_sleep_ns);
    if (timed) {
      break;
    }
  }
  guard held(parked_lock_, true);
  if (self.listed) {
    (self.previous != nullptr ? self.previous->next : parked_) = self.next;
    if (self.next != nullptr) {
      self.next->previous = self.previous;
    }
    self.listed = false;
  }
}

}  // namespace sinew::core
