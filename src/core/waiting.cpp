// SPDX-License-Identifier: BSD-3-Clause
// The edges of waiting among threads: waiting_core decides, this carries out. And conditions that
// whoever polls looks at for those who wait for them.
#include "core/waiting.hpp"

#include "core/idler.hpp"
#include "core/runtime_impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::core {

/// What waiting_core::wait() needs of a runtime.
class runtime::impl::edge : public idler {
 public:
  edge(impl& rt, const completion& c) noexcept : idler(rt, &c), rt_(rt) {}
  int poll() { return rt_.lead_round(); }
  void look_for_others() {
    if (rt_.is_watched()) {
      rt_.look_for_watchers();
    }
  }
  void ring() { rt_.endpoint_->wake(); }

 private:
  impl& rt_;
};

void runtime::impl::wait_among_threads(completion& c) {
  SINEW_EXPECT(threaded());
  edge here(*this, c);
  waiting_.wait(c, here);
  SINEW_ENSURE(c.done());
}

struct runtime::impl::watcher {
  bool (*ready)(void*);
  void* context;
  completion seen{};
  watcher* next = nullptr;
};

void runtime::impl::look_for_watchers() {
  base::guard held(watch_lock_, threaded());
  watcher* kept = nullptr;
  for (watcher* w = watchers_.load(std::memory_order_relaxed); w != nullptr;) {
    watcher* const next = w->next;
    SINEW_ASSERT(!w->seen.done());  // it leaves the list when its condition is seen
    if (w->ready(w->context)) {
      w->seen.complete();  // `w` may be gone
    } else {
      w->next = kept;
      kept = w;
    }
    w = next;
  }
  watchers_.store(kept, std::memory_order_relaxed);
}

void runtime::impl::wait_as_watcher(bool (*ready)(void*), void* context) {
  watcher self{ready, context};
  {
    base::guard held(watch_lock_, threaded());
    if (ready(context)) {
      return;
    }
    self.next = watchers_.load(std::memory_order_relaxed);
    watchers_.store(&self, std::memory_order_relaxed);
  }
  try {
    wait(self.seen);
  } catch (...) {
    unlist(self);
    throw;
  }
  SINEW_ENSURE(self.seen.done());
}

const void* runtime::impl::condition_of(const void* waited) noexcept {
  base::guard held(watch_lock_, threaded());
  for (const watcher* w = watchers_.load(std::memory_order_relaxed); w != nullptr; w = w->next) {
    if (&w->seen == waited) {
      return w->context;
    }
  }
  return waited;
}

// A watcher whose wait has failed: nobody may find it any more.
void runtime::impl::unlist(const watcher& gone) noexcept {
  base::guard held(watch_lock_, threaded());
  watcher* kept = nullptr;
  for (watcher* w = watchers_.load(std::memory_order_relaxed); w != nullptr;) {
    watcher* const next = w->next;
    if (w != &gone) {
      w->next = kept;
      kept = w;
    }
    w = next;
  }
  watchers_.store(kept, std::memory_order_relaxed);
}

}  // namespace sinew::core
