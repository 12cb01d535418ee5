// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fiber/local.hpp"

#include <cstdlib>
#include <mutex>
#include <vector>

#include "fiber/local_values.hpp"
#include "fiber/worker.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::fiber {

struct local_values {
  struct value {
    void* held;
    std::uint64_t generation;
  };
  std::uint32_t count;
  value values[1];  ///< `count` of them

  [[nodiscard]] value* find(std::uint32_t index, std::uint64_t generation) noexcept {
    return index < count && values[index].generation == generation ? &values[index] : nullptr;
  }
};

namespace {

struct key {
  void (*destroy)(void*) = nullptr;
  std::uint64_t generation = 0;  ///< of the key that has this index, or 0: free
};

/// All keys of the process. Never destroyed: fibers may end after static destructors have run.
struct key_table {
  spin_lock lock;
  std::vector<key> keys;
  std::uint64_t generations = 0;
};

key_table& table() {
  static auto* one = new key_table;
  return *one;
}

/// Takes one value that has a destructor out of `v`; null if there is none.
void (*take_one(local_values& v, void*& held) noexcept)(void*) {
  key_table& t = table();
  const std::lock_guard hold(t.lock);
  for (std::uint32_t i = 0; i < v.count && i < t.keys.size(); ++i) {
    local_values::value& each = v.values[i];
    const key& k = t.keys[i];
    if (each.held != nullptr && each.generation == k.generation && k.destroy != nullptr) {
      held = each.held;
      each.held = nullptr;
      return k.destroy;
    }
  }
  return nullptr;
}

/// Bounded, because a destructor may store again: as many calls as four rounds would make.
void destroy_all(local_values*& v) noexcept {
  if (v == nullptr) {
    return;
  }
  std::uint32_t left = 4 * v->count;
  void* held = nullptr;
  for (auto* destroy = take_one(*v, held); destroy != nullptr && left-- > 0;
       destroy = take_one(*v, held)) {
    destroy(held);
  }
  std::free(v);
  v = nullptr;
}

struct thread_values {
  local_values* all = nullptr;
  ~thread_values() { destroy_all(all); }
};
thread_local thread_values of_thread;

local_values*& mine() noexcept {
  fiber* f = self();
  return f != nullptr ? f->locals : of_thread.all;
}

}  // namespace

void destroy_locals(fiber& f) noexcept { destroy_all(f.locals); }

local_key::local_key(void (*destroy)(void* value)) : index_(0), generation_(0) {
  key_table& t = table();
  const std::lock_guard hold(t.lock);
  while (index_ < t.keys.size() && t.keys[index_].generation != 0) {
    ++index_;
  }
  if (index_ == t.keys.size()) {
    t.keys.emplace_back();
  }
  generation_ = ++t.generations;
  t.keys[index_] = {destroy, generation_};
}

local_key::~local_key() {
  key_table& t = table();
  const std::lock_guard hold(t.lock);
  SINEW_EXPECT(t.keys[index_].generation == generation_);
  t.keys[index_] = {};
}

void* local_key::get() const noexcept {
  local_values* v = mine();
  local_values::value* found = v == nullptr ? nullptr : v->find(index_, generation_);
  return found == nullptr ? nullptr : found->held;
}

status local_key::set(void* value) noexcept {
  local_values*& v = mine();
  const std::uint32_t had = v == nullptr ? 0 : v->count;
  if (index_ >= had) {
    const std::uint32_t count = index_ + 4;
    auto* larger = static_cast<local_values*>(
        std::realloc(v, sizeof(local_values) + (count - 1) * sizeof(local_values::value)));
    if (larger == nullptr) {
      return status::again(retry_reason::no_memory);
    }
    for (std::uint32_t i = had; i < count; ++i) {
      larger->values[i] = {};
    }
    larger->count = count;
    v = larger;
  }
  v->values[index_] = {value, generation_};
  return status::ok();
}

}  // namespace sinew::fiber
