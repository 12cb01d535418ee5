// SPDX-License-Identifier: BSD-3-Clause
// The smallest job: two runtimes in this process that send each other numbers.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "sinew/core/completion.hpp"
#include "support/job.hpp"

namespace sinew::core {

/// Two ranks in this process. A message to rank r carries the number of a box, and completes it.
class pair_of_ranks {
 public:
  struct rank {
    std::unique_ptr<runtime> own;
    std::vector<completion> box;
    std::atomic<int> arrived{0};
  };

  explicit pair_of_ranks(std::size_t boxes = 64, threading threads = threading::many,
                         progress how = progress::waiters)
      : made_(2, test::backend::shm, threads == threading::many) {
    for (int r = 0; r < 2; ++r) {
      ranks_[r].box = std::vector<completion>(boxes);
      ranks_[r].own =
          runtime::over(std::make_unique<test::fake_session>(r, 2), made_.take(r), threads, how);
      ranks_[r].own->endpoint().set_handler(
          1,
          [](void* at, const fabric::arrival& a) noexcept {
            auto& self = *static_cast<rank*>(at);
            self.arrived.fetch_add(1, std::memory_order_release);
            if (a.head.word[0] < self.box.size()) {
              self.box[a.head.word[0]].complete();
            }
            return status::ok();
          },
          &ranks_[r]);
    }
  }
  rank& operator[](int r) { return ranks_[r]; }
  void send(int from, std::uint64_t box) {
    while (!ranks_[from]
                .own->endpoint()
                .send_short(job_rank{1 - from}, 1, {{box, 0}}, nullptr, 0)
                .done()) {
      ranks_[from].own->poll();
    }
  }
  void await(int r, std::size_t box) {
    ranks_[r].own->wait(ranks_[r].box[box]);
    ranks_[r].box[box].reset();
  }

 private:
  test::endpoints made_;
  rank ranks_[2];
};

}  // namespace sinew::core
