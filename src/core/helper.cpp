// SPDX-License-Identifier: BSD-3-Clause
#include "core/helper.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/kernel_thread.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/system_limits.hpp"

namespace sinew::core {
namespace {

const setting<std::string> chosen("core", "progress", "auto", "",
                                  "who makes progress: only threads that wait; also a helper "
                                  "thread while the program computes; or that where it is needed "
                                  "(several nodes, events and tasks)",
                                  {"waiters|thread|auto"});

/// From the program's last wait to the helper's first look is one to two naps. A nap costs some 2
/// to 4 us, and while the program keeps waiting they grow: at 4 ms that is 0.1 % of a core.
constexpr std::uint64_t shortest_nap_ns = 1'000'000;
constexpr std::uint64_t longest_nap_ns = 4'000'000;
/// On the doorbell: a message or a thread that comes rings. With chores to do again it looks after
/// a nap.
constexpr std::uint64_t longest_service_sleep_ns = 100'000'000;

}  // namespace

progress chosen_progress() {
  const std::string& word = chosen();
  SINEW_CHECK(word == "waiters" || word == "thread" || word == "auto",
              "cannot make progress as SINEW_CORE_PROGRESS says",
              "\"" + word + "\" is none of its words", "set waiters, thread or auto");
  return word == "waiters"  ? progress::waiters
         : word == "thread" ? progress::helper
                            : progress::automatic;
}

bool may_have_helper(const boot::place& at, progress how, service what) noexcept {
  if (how == progress::waiters || at.reach() == 1) {
    return false;
  }
  return how == progress::helper || what == service::requests || at.nodes > 1;
}

class runtime::impl::helper::edge {
 public:
  explicit edge(helper& of) noexcept : of_(of) {}

  bool nap(bool quiet) noexcept {
    nap_ns_ = quiet ? shortest_nap_ns : std::min(2 * nap_ns_, longest_nap_ns);
    // Wait: bounded; end() ends it.
    base::futex_wait(of_.ending_, 0, nap_ns_);
    return of_.ending_.load(std::memory_order_acquire) == 0;
  }
  int poll() { return of_.rt_.helper_round(); }
  void sleep() {
    const std::uint32_t mine = ~of_.rt_.chores_in_calls_.load(std::memory_order_relaxed);
    const bool again = (of_.rt_.chores_wanted_.load(std::memory_order_relaxed) & mine) != 0;
    of_.rt_.sleep_at_the_doorbell(again ? shortest_nap_ns : longest_service_sleep_ns, mine);
  }

 private:
  helper& of_;
  std::uint64_t nap_ns_ = shortest_nap_ns;
};

/// While objects are destroyed no thread of ours may run: exit() ends all helpers first.
struct runtime::impl::helper::listing {
  std::mutex lock;
  std::vector<helper*> alive;

  listing() {
    (void)std::atexit([] {
      listing& here = all();
      const std::lock_guard held(here.lock);
      for (helper* each : here.alive) {
        // A handler of a message may be what calls exit().
        if (::pthread_equal(each->thread_, ::pthread_self()) == 0) {
          each->end();
        }
      }
    });
  }
};

runtime::impl::helper::listing& runtime::impl::helper::all() {
  static auto& it = *new listing;  // for ever: exit() uses it
  return it;
}

runtime::impl::helper::helper(impl& rt) : rt_(rt), owner_(::getpid()) {
  SINEW_EXPECT(rt.threaded());
  listing& here = all();
  const std::lock_guard held(here.lock);
  here.alive.reserve(here.alive.size() + 1);
  const int failure = base::start_kernel_thread(thread_, run, this);
  SINEW_CHECK(failure == 0, "cannot make the thread that makes progress for this rank",
              base::system_reason(failure),
              base::system_advice(failure, "set SINEW_CORE_PROGRESS=waiters"));
  here.alive.push_back(this);
}

runtime::impl::helper::~helper() {
  listing& here = all();
  const std::lock_guard held(here.lock);
  std::erase(here.alive, this);
  end();
}

void* runtime::impl::helper::run(void* self) noexcept {
  auto& mine = *static_cast<helper*>(self);
  base::name_own_thread();
  base::prepare_last_words();
  edge here(mine);
  mine.rt_.waiting_.help(here);
  return nullptr;
}

void runtime::impl::helper::end() noexcept {
  if (std::exchange(ended_, true)) {
    return;
  }
  if (::getpid() != owner_) {
    rt_.waiting_.forget_helper();  // the child of a fork has one thread
    return;
  }
  bell_of bell{*rt_.endpoint_};
  rt_.waiting_.bar(bell);
  ending_.store(1, std::memory_order_release);
  base::futex_wake(ending_, 1);
  // Wait: for a thread that was told to end.
  (void)::pthread_join(thread_, nullptr);
  SINEW_ENSURE(ended_);
}

bool runtime::begin_service(service what) {
  impl& self = impl::of(*this);
  if (!threaded() || session_ == nullptr || !may_have_helper(session_->where(), progress_, what)) {
    return false;
  }
  const base::guard held(self.helper_lock_, true);
  if (self.has_left_) {
    return false;
  }
  if (self.helper_ == nullptr) {
    self.helper_ = std::make_unique<impl::helper>(self);
  }
  if (self.services_++ == 0) {
    self.waiting_.unbar();
  }
  return true;
}

void runtime::end_service() {
  impl& self = impl::of(*this);
  const base::guard held(self.helper_lock_, true);
  SINEW_EXPECT(self.services_ > 0);
  if (--self.services_ == 0 && !self.has_left_) {
    bell_of bell{*endpoint_};
    self.waiting_.bar(bell);
  }
}

void runtime::hold_helper() {
  bell_of bell{*endpoint_};
  impl::of(*this).waiting_.bar(bell);
}

void runtime::release_helper() noexcept { impl::of(*this).waiting_.unbar(); }

void runtime::outlast_rounds() {
  impl& self = impl::of(*this);
  bell_of bell{*endpoint_};
  // What the caller has changed is seen by rounds that this does not see: the lead is taken by an
  // exchange.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  while (threaded() && self.waiting_.in_a_round()) {
    self.waiting_.evict(bell);
    // Wait: for handlers, which do not suspend; a leader that waits rests when nothing comes.
    std::this_thread::yield();
  }
}

void runtime::impl::end_helper() {
  const base::guard held(helper_lock_, true);
  has_left_ = true;
  helper_.reset();
}

}  // namespace sinew::core
