// SPDX-License-Identifier: BSD-3-Clause
// The module's messages: one handler of the fabric, a table of topics behind it, and what the
// fabric could not take yet.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/waiter.hpp"

namespace sinew::event {

class outbox {
 public:
  explicit outbox(core::runtime& runtime);
  ~outbox();
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;

  void set_handler(topic t, message_handler function, void* context);
  void send(job_rank peer, topic t, std::uint64_t small, std::uint64_t word, const void* data,
            std::size_t bytes);
  /// From now on nothing is sent to `peer`, and what comes from it is not delivered.
  void forget(job_rank peer);

 private:
  struct late {
    job_rank peer;
    fabric::header head;
    std::vector<std::byte> data;
  };
  struct receiver {
    message_handler function = nullptr;
    void* context = nullptr;
  };

  [[nodiscard]] status try_send(job_rank peer, const fabric::header& head, const void* data,
                                std::size_t bytes);
  void keep(job_rank peer, const fabric::header& head, const void* data, std::size_t bytes);
  void deliver(const message& m, std::size_t which) const;
  void arrived(const fabric::arrival& a) noexcept;
  [[noreturn]] void refuse(job_rank source, std::size_t which) const;
  [[noreturn]] void give_up(job_rank source, std::size_t which, const char* why) const noexcept;
  int retry() noexcept;

  core::runtime& runtime_;
  fabric::endpoint& endpoint_;
  const std::size_t most_short_;  ///< bytes of a short message
  std::array<receiver, topics> receivers_{};
  int chore_ = -1;
  /// Keeps the order between threads and what is late. Taken under the graph's lock, never around.
  base::lock lock_;
  std::deque<late> late_;                  ///< in the order of send()
  std::unique_ptr<std::uint32_t[]> owed_;  ///< late ones, by rank; forgotten: one more
  /// Written once, under the lock. Read without: relaxed, since a thread that forgets a rank
  /// while another delivers its last message does not care which comes first.
  std::unique_ptr<std::atomic<bool>[]> forgotten_;
  std::unique_ptr<bool[]> full_;  ///< retry()'s, by rank, so that it need not allocate
};

}  // namespace sinew::event
