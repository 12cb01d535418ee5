// SPDX-License-Identifier: BSD-3-Clause
// A small program with fibers for valgrind: switches, joins, sleeps, exceptions, stacks of several
// sizes, two workers. Ends with 0 if all went well; "wrong" as argument reads what was never
// written, on a fiber's stack, which valgrind has to find.
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace {

namespace fiber = sinew::fiber;

struct total {
  fiber::mutex door;
  long sum = 0;
};

void count(void* at) {
  auto& t = *static_cast<total*>(at);
  for (int i = 0; i < 20; ++i) {
    char room[512];
    std::memset(room, i, sizeof room);
    fiber::yield();
    try {
      throw std::runtime_error("thrown on a fiber's stack");
    } catch (const std::runtime_error&) {
      fiber::sleep_for(1000);
    }
    t.door.lock();
    t.sum += room[100];
    t.door.unlock();
  }
}

void read_nothing(void*) {
  char room[64];
  asm volatile("" : : "r"(room) : "memory");
  if (room[7] == 3) {
    std::puts("by chance");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const fiber::scheduler s({.workers = 2, .pin = false});
  if (argc > 1 && std::strcmp(argv[1], "wrong") == 0) {
    fiber::fiber* f = nullptr;
    (void)fiber::spawn(read_nothing, nullptr, &f);
    fiber::join(*f);
    return 0;
  }
  total t;
  for (int round = 0; round < 3; ++round) {
    fiber::fiber* all[40] = {};
    for (int i = 0; i < 40; ++i) {
      const std::size_t bytes = std::size_t{16384} << (i % 3);
      if (!fiber::spawn(count, &t, &all[i], {.stack_bytes = bytes, .worker = i % 2}).done()) {
        return 2;
      }
    }
    for (fiber::fiber* f : all) {
      fiber::join(*f);
    }
  }
  return t.sum == 3L * 40 * 190 ? 0 : 1;
}
