// SPDX-License-Identifier: BSD-3-Clause
// Tasks of other ranks in the order in which they end, each with a word of the program's own.
#include "sinew/event/completion_queue.hpp"

#include <array>
#include <cstdio>

#include "sinew/region/job.hpp"

using namespace sinew::event;

void work(std::uint64_t) {}

int main() {
  sinew::job job({.workers = 1});
  job.tasks().add<&work>("work");
  job.start();
  constexpr std::uint64_t count = 10;
  completion_queue queue(job.events());
  for (std::uint64_t i = 0; i < count; ++i) {
    const sinew::job_rank where{static_cast<int>(i) % job.size()};
    queue.add(job.tasks().spawn<&work>(job.tasks().at(where), {}, i), i);
  }
  std::uint64_t seen = 0;
  std::uint64_t tags = 0;
  while (queue.size() != 0) {
    (void)job.events().wait(queue.filled());
    std::array<completed, 4> some;
    const std::size_t n = queue.pop(some);
    for (std::size_t i = 0; i < n; ++i) {
      tags += some[i].tag;
    }
    seen += n;
  }
  std::printf("rank %d: %d tasks have ended\n", job.rank().value(), static_cast<int>(seen));
  return seen == count && tags == 45 ? 0 : 1;
}
