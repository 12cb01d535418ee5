// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/losses.hpp"

#include <utility>

#include "core/runtime_impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::core {

losses::losses(runtime& rt, boot::survival* known) : runtime_(rt), known_(known) {
  if (known_ == nullptr) {
    return;
  }
  if (fabric::notice_board* const board = rt.endpoint().notices()) {
    known_->tell_by([board](const boot::ballot& b, std::uint32_t flag, bool left) {
      const boot::vote_words words = boot::packed({b, flag, 0, left});
      board->post({{words.ballot, words.said}});
    });
  }
  gone_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(rt.reach()));
  at(loss_listener::network) = {
      [](void* self, job_rank dead) { static_cast<losses*>(self)->give_up(dead); }, this};
  const int chore =
      rt.add_chore([](void* self) { return static_cast<losses*>(self)->tell_all(); }, this,
                   chore_place::anywhere, ring_for(rt, [](void* self, bool begins) {
                     return static_cast<losses*>(self)->note_sleep(begins);
                   }));
  rt.want_chore(chore, true);
}

losses::sleep_function losses::ring_for(runtime& rt, sleep_function sleep) noexcept {
  return rt.endpoint().notices() != nullptr ? sleep : nullptr;
}

// Threads that wait for a vote are asked after a round in which something happened.
bool losses::note_sleep(bool begins) noexcept {
  woken_ = !begins && runtime_.threaded();
  return true;
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
  int calls = std::exchange(woken_, false) ? 1 : 0;
  if (told_.load(std::memory_order_relaxed) == now) [[likely]] {
    return calls;
  }
  const base::guard held(lock_, runtime_.threaded());
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
