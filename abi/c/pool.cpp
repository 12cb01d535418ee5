// SPDX-License-Identifier: BSD-3-Clause
// The C binding of pools.
#include "sinew/fiber/pool.hpp"

#include <exception>
#include <memory>
#include <new>

#include "abi/c/failure.hpp"
#include "abi/c/options.hpp"
#include "sinew.h"

namespace fiber = sinew::fiber;
using sinew::c_binding::fail;

struct sinew_pool {
  fiber::pool pool;
};

struct sinew_tasklet final : fiber::tasklet {
  void (*entry)(void*) = nullptr;
};

namespace {

using c_order = int (*)(const sinew_work*, const sinew_work*);

bool c_before(void* context, const fiber::work& a, const fiber::work& b) noexcept {
  const sinew_work first{a.priority, a.argument, a.arrival};
  const sinew_work second{b.priority, b.argument, b.arrival};
  return reinterpret_cast<c_order>(context)(&first, &second) != 0;
}

void run_joined(fiber::tasklet& t) {
  static_cast<sinew_tasklet&>(t).entry(t.about.argument);
  t.done.complete();
}

void run_alone(fiber::tasklet& t) {
  const std::unique_ptr<sinew_tasklet> mine(&static_cast<sinew_tasklet&>(t));
  mine->entry(mine->about.argument);
}

}  // namespace

extern "C" {

int sinew_pool_create(sinew_pool** pool, const sinew_pool_options* how) {
  if (sinew_workers() == 0) {
    return fail(SINEW_NOT_STARTED);
  }
  if (pool == nullptr) {
    return fail(SINEW_INVALID, "there is no place for the pool");
  }
  fiber::pool_options options;
  if (how != nullptr) {
    options.stack_bytes = how->stack_bytes;
    if (how->before != nullptr) {
      options.order = c_before;
      options.context = reinterpret_cast<void*>(how->before);
    }
  }
  try {
    *pool = new sinew_pool{fiber::pool(options)};
    return SINEW_OK;
  } catch (const std::exception&) {
    return fail(SINEW_NO_MEMORY, "no memory for the stacks of a pool");
  }
}

void sinew_pool_destroy(sinew_pool* pool) { delete pool; }

int sinew_pool_fiber(sinew_fiber** made, sinew_pool* pool, int priority, void (*entry)(void*),
                     void* argument, const sinew_fiber_options* how) {
  if (pool == nullptr) {
    return fail(SINEW_INVALID, "there is no pool");
  }
  fiber::spawn_options options;
  if (const int wrong = sinew::c_binding::options_of(how, made, entry, options)) {
    return wrong;
  }
  fiber::fiber* f = nullptr;
  if (pool->pool.spawn(entry, argument, priority, &f, options).retry()) {
    return fail(SINEW_NO_MEMORY, "no memory for the stack of a fiber");
  }
  if (made != nullptr) {
    *made = reinterpret_cast<sinew_fiber*>(f);
  }
  return SINEW_OK;
}

int sinew_fiber_set_priority(int priority) {
  return fiber::pool::set_priority(priority)
             ? SINEW_OK
             : fail(SINEW_INVALID, "the caller is no fiber of a pool");
}

int sinew_tasklet_create(sinew_tasklet** made, sinew_pool* pool, int priority, void (*entry)(void*),
                         void* argument, int worker_plus_one) {
  if (pool == nullptr || entry == nullptr) {
    return fail(SINEW_INVALID, "a tasklet needs a pool and a function");
  }
  if (worker_plus_one < 0 || worker_plus_one > sinew_workers()) {
    return fail(SINEW_INVALID, "there is no such worker");
  }
  auto* const t = new (std::nothrow) sinew_tasklet;
  if (t == nullptr) {
    return fail(SINEW_NO_MEMORY);
  }
  t->about.priority = priority;
  t->about.argument = argument;
  t->entry = entry;
  t->action = made != nullptr ? run_joined : run_alone;
  if (made != nullptr) {
    *made = t;
  }
  pool->pool.post(*t, worker_plus_one - 1);
  return SINEW_OK;
}

int sinew_tasklet_join(sinew_tasklet* tasklet) {
  if (tasklet == nullptr) {
    return fail(SINEW_INVALID);
  }
  fiber::wait(tasklet->done);
  delete tasklet;
  return SINEW_OK;
}

}  // extern "C"
