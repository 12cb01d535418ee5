// SPDX-License-Identifier: BSD-3-Clause
// Fibers in all states, for the test of the gdb script.
#include <cstdlib>

#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace f = sinew::fiber;

extern "C" [[gnu::noinline]] void stop_here() { asm volatile(""); }

extern "C" [[gnu::noinline]] void deep_in_the_hive(bool& go) {
  while (!go) {
    f::suspend();
  }
  asm volatile("");
}

extern "C" [[gnu::noinline]] void hive(void* go) {
  deep_in_the_hive(*static_cast<bool*>(go));
  asm volatile("");
}

int main() {
  f::scheduler s({.workers = 1});
  bool go = false;
  static f::fiber* bee = nullptr;
  const auto spawn = [](void (*entry)(void*), void* argument, const char* name) {
    f::fiber* made = nullptr;
    if (!f::spawn(entry, argument, &made, {.name = name}).done()) {
      std::abort();
    }
    return made;
  };
  bee = spawn(hive, &go, "worker-bee");
  f::fiber* joiner = spawn([](void*) { f::join(*bee); }, nullptr, "joiner");
  // For longer than a busy machine keeps this from coming to stop_here().
  f::fiber* sleeper = spawn([](void*) { f::sleep_for(4'000'000'000); }, nullptr, "sleeper");
  f::fiber* ended = spawn([](void*) {}, nullptr, "ended-already");
  f::join(*ended);
  f::fiber* fresh = spawn([](void*) {}, nullptr, "fresh");
  stop_here();
  go = true;
  f::resume(*bee);
  for (f::fiber* each : {joiner, sleeper, fresh}) {
    f::join(*each);
  }
}
