// SPDX-License-Identifier: BSD-3-Clause
// So many fibers at a time, each of which waits once, for the test in a control group: prints how
// many there were.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/semaphore.hpp"

namespace f = sinew::fiber;

int main(int count, char** words) {
  const std::size_t wanted = count > 1 ? std::strtoul(words[1], nullptr, 10) : 1000;
  f::scheduler s({.workers = 1});
  static f::semaphore go(0);
  std::vector<f::fiber*> made;
  f::fiber* each = nullptr;
  while (made.size() < wanted &&
         f::spawn([](void*) { (void)go.acquire(); }, nullptr, &each).done()) {
    made.push_back(each);
    if (made.size() % 1024 == 0) {
      f::yield();  // they run, and so they use their stacks
    }
  }
  f::yield();
  std::printf("%zu fibers\n", made.size());
  std::fflush(stdout);
  (void)go.release(static_cast<std::uint32_t>(made.size()));
  for (f::fiber* one : made) {
    f::join(*one);
  }
  return made.size() == wanted ? 0 : 3;
}
