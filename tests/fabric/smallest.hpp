// SPDX-License-Identifier: BSD-3-Clause
// The smallest back-end that keeps the contract: ranks in one process, a queue for each. What
// docs/internals/back-ends.md begins with.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "fabric/message_endpoint.hpp"

namespace sinew::fabric::contract {

class smallest final : public message_endpoint {
 public:
  struct message {
    job_rank source;
    handler_id id;
    header head;
    std::vector<std::byte> data;
  };
  struct inbox {
    std::mutex mutex;
    std::condition_variable bell;
    std::deque<message> queue;
    bool woken = false;
    std::atomic<bool> refused{false};  ///< the owner has found a queue full: it may have room now
  };
  using inboxes = std::vector<inbox>;

  smallest(std::shared_ptr<inboxes> all, job_rank rank) : all_(std::move(all)), rank_(rank) {}

  [[nodiscard]] job_rank rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(all_->size()); }
  [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] const char* name() const noexcept override { return "smallest"; }

  status send_medium(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override {
    const auto* const bytes = static_cast<const std::byte*>(data);
    inbox& to = (*all_)[peer.index()];
    const std::lock_guard held(to.mutex);
    if (to.queue.size() == most) {
      (*all_)[rank_.index()].refused.store(true);  // before somebody can have made room
      return status::again(retry_reason::no_slot);
    }
    to.queue.push_back({rank_, id, head, {bytes, bytes + size}});
    to.bell.notify_one();
    return status::ok();
  }

  void wake() override { wake((*all_)[rank_.index()]); }

 private:
  static constexpr std::size_t most = 64;

  int take(int budget) override {
    inbox& mine = (*all_)[rank_.index()];
    int taken = 0;
    for (; taken < budget; ++taken) {
      const message* next = nullptr;
      {
        const std::lock_guard held(mine.mutex);
        if (mine.queue.empty()) {
          break;
        }
        next = &mine.queue.front();  // which stays while others are added behind it
      }
      const arrival m{next->source, next->head, next->data.data(), next->data.size()};
      if (!deliver(next->id, m).done()) {
        break;
      }
      const std::lock_guard held(mine.mutex);
      mine.queue.pop_front();
    }
    for (inbox& each : *all_) {
      if (taken != 0 && each.refused.exchange(false)) {
        wake(each);
      }
    }
    return taken;
  }

  void rest(std::uint64_t timeout_ns) override {
    inbox& mine = (*all_)[rank_.index()];
    std::unique_lock held(mine.mutex);
    mine.bell.wait_for(held, std::chrono::nanoseconds(timeout_ns),
                       [&] { return mine.woken || !mine.queue.empty(); });
    mine.woken = false;
  }

  static void wake(inbox& of) {
    const std::lock_guard held(of.mutex);
    of.woken = true;
    of.bell.notify_one();
  }

  std::shared_ptr<inboxes> all_;
  job_rank rank_;
  limits bounds_{40, 4096, false};
};

inline std::vector<std::unique_ptr<endpoint>> open_smallest(int ranks, bool /*threads*/) {
  const auto boxes = std::make_shared<smallest::inboxes>(static_cast<std::size_t>(ranks));
  std::vector<std::unique_ptr<endpoint>> all;
  for (int r = 0; r < ranks; ++r) {
    all.push_back(std::make_unique<smallest>(boxes, job_rank{r}));
  }
  return all;
}

}  // namespace sinew::fabric::contract
