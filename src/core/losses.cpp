// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/losses.hpp"

#include "core/runtime_impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::core {

losses::losses(runtime& rt, boot::survival* known) : runtime_(rt), known_(known) {
  if (known_ == nullptr) {
    return;
  }
  gone_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(rt.reach()));
  at(loss_listener::network) = {
      [](void* self, job_rank dead) { static_cast<losses*>(self)->give_up(dead); }, this};
  const int chore =
      rt.add_chore([](void* self) { return static_cast<losses*>(self)->tell_all(); }, this);
  rt.want_chore(chore, true);
}

void losses::give_up(job_rank dead) {
  runtime_.endpoint().give_up(dead);
  gone_[dead.index()].store(true, std::memory_order_release);
}

losses& losses::of(runtime& rt) noexcept { return runtime::impl::of(rt).lost(); }

void losses::listen(loss_listener as, void (*tell)(void*, job_rank), void* context) {
  SINEW_EXPECT(tell != nullptr && as != loss_listener::network);
  if (known_ == nullptr) {
    return;
  }
  const base::guard held(lock_, runtime_.threaded());
  SINEW_EXPECT(at(as).tell == nullptr);
  at(as) = {tell, context};
  told_.store(0, std::memory_order_relaxed);
}

void losses::stop_listening(loss_listener as) {
  const base::guard held(lock_, runtime_.threaded());
  at(as) = {};
}

int losses::tell_all() {
  const std::uint32_t now = known_->deaths();
  if (told_.load(std::memory_order_relaxed) == now) [[likely]] {
    return 0;
  }
  const base::guard held(lock_, runtime_.threaded());
  int calls = 0;
  for (listener& each : listeners_) {
    for (; each.tell != nullptr && each.told < now; ++each.told) {
      if (const job_rank dead = known_->dead(each.told); dead != runtime_.rank()) {
        each.tell(each.context, dead);
        ++calls;
      }
    }
  }
  told_.store(now, std::memory_order_relaxed);
  return calls;
}

}  // namespace sinew::core
