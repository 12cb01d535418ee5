// SPDX-License-Identifier: BSD-3-Clause
// What the programs over Argobots share. `sinew bench` compiles them where pkg-config knows it.
#ifndef SINEW_BENCH_ARGOBOTS_HPP
#define SINEW_BENCH_ARGOBOTS_HPP

#include <abt.h>

#include "micro.hpp"

namespace micro {

/// Ends the program if a call has failed.
inline void good(int code) {
  if (code != ABT_SUCCESS) {
    wrong("Argobots returned an error");
  }
}

inline ABT_pool pool_of(ABT_xstream stream) {
  ABT_pool pool{};
  good(ABT_xstream_get_main_pools(stream, 1, &pool));
  return pool;
}
/// Of the stream that runs the caller.
inline ABT_pool own_pool() {
  ABT_xstream self{};
  good(ABT_xstream_self(&self));
  return pool_of(self);
}

/// Threads wait here until it is open: a flag, a mutex and a condition variable, as its users would
/// write it.
class abt_gate {
 public:
  abt_gate() {
    good(ABT_mutex_create(&mutex_));
    good(ABT_cond_create(&changed_));
  }
  ~abt_gate() {
    good(ABT_cond_free(&changed_));
    good(ABT_mutex_free(&mutex_));
  }
  abt_gate(const abt_gate&) = delete;
  abt_gate& operator=(const abt_gate&) = delete;

  /// Lets one pass, of those who call pass_and_shut().
  void open_for_one() {
    open();
    good(ABT_cond_signal(changed_));
  }
  void pass_and_shut() { pass(false); }
  /// Lets all pass, of those who call pass().
  void open_for_all() {
    open();
    good(ABT_cond_broadcast(changed_));
  }
  void pass() { pass(true); }

 private:
  void open() {
    good(ABT_mutex_lock(mutex_));
    open_ = true;
    good(ABT_mutex_unlock(mutex_));
  }
  void pass(bool stays_open) {
    good(ABT_mutex_lock(mutex_));
    while (!open_) {
      good(ABT_cond_wait(changed_, mutex_));
    }
    open_ = stays_open;
    good(ABT_mutex_unlock(mutex_));
  }

  ABT_mutex mutex_{};
  ABT_cond changed_{};
  bool open_ = false;
};

/// Argobots' life around measure().
template <class Measure>
int over_argobots(Measure measure) {
  good(ABT_init(0, nullptr));
  const int code = measure();
  good(ABT_finalize());
  return code;
}

}  // namespace micro

#endif
