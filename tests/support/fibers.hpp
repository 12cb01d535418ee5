// SPDX-License-Identifier: BSD-3-Clause
// Fibers that run closures, for tests.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/fiber/fiber.hpp"

namespace sinew::test {

/// Fibers that are joined at the end of the scope at the latest. A thread or a fiber may hold one.
class crew {
 public:
  crew() = default;
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew() { join(); }

  /// Null if there was no memory.
  fiber::fiber* add(std::function<void()> work, const fiber::spawn_options& how = {}) {
    auto held = std::make_unique<std::function<void()>>(std::move(work));
    fiber::fiber* made = nullptr;
    if (!fiber::spawn([](void* w) { (*static_cast<std::function<void()>*>(w))(); }, held.get(),
                      &made, how)
             .done()) {
      return nullptr;
    }
    work_.push_back(std::move(held));
    fibers_.push_back(made);
    return made;
  }
  void join() {
    for (fiber::fiber* f : fibers_) {
      fiber::join(*f);
    }
    fibers_.clear();
    work_.clear();
  }

 private:
  std::vector<std::unique_ptr<std::function<void()>>> work_;
  std::vector<fiber::fiber*> fibers_;
};

}  // namespace sinew::test
