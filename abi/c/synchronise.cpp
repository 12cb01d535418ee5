// The C binding of what fibers and threads wait for together. The objects lie in the C ones.
#include <new>

#include "abi/c/failure.hpp"
#include "sinew.h"
#include "sinew/base/clock.hpp"
#include "sinew/fiber/barrier.hpp"
#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/mutex.hpp"

namespace {

namespace fiber = sinew::fiber;
using sinew::c_binding::fail;

/// All zeros, which the static initialisers give, is what the constructors make too.
template <class Ours, class Theirs>
Ours& in(Theirs* outer) noexcept {
  static_assert(sizeof(Ours) <= sizeof(Theirs) && alignof(Ours) <= alignof(Theirs));
  return *reinterpret_cast<Ours*>(outer);
}

std::uint64_t deadline_in(std::uint64_t nanoseconds) noexcept {
  const auto now = static_cast<std::uint64_t>(sinew::now_ns());
  return nanoseconds >= fiber::no_deadline - now ? fiber::no_deadline : now + nanoseconds;
}

}  // namespace

extern "C" {

void sinew_mutex_init(sinew_mutex* m) { new (m) fiber::mutex; }
void sinew_mutex_destroy(sinew_mutex* m) { in<fiber::mutex>(m).~mutex(); }
void sinew_mutex_lock(sinew_mutex* m) { in<fiber::mutex>(m).lock(); }
int sinew_mutex_trylock(sinew_mutex* m) {
  return in<fiber::mutex>(m).try_lock() ? SINEW_OK : fail(SINEW_BUSY);
}
void sinew_mutex_unlock(sinew_mutex* m) { in<fiber::mutex>(m).unlock(); }

void sinew_condition_init(sinew_condition* c) { new (c) fiber::condition_variable; }
void sinew_condition_destroy(sinew_condition* c) {
  in<fiber::condition_variable>(c).~condition_variable();
}
void sinew_condition_wait(sinew_condition* c, sinew_mutex* m) {
  in<fiber::condition_variable>(c).wait(in<fiber::mutex>(m));
}
int sinew_condition_wait_for(sinew_condition* c, sinew_mutex* m, uint64_t nanoseconds) {
  return in<fiber::condition_variable>(c).wait_until(in<fiber::mutex>(m), deadline_in(nanoseconds))
             ? SINEW_OK
             : fail(SINEW_TIMED_OUT);
}
void sinew_condition_signal(sinew_condition* c) { in<fiber::condition_variable>(c).notify_one(); }
void sinew_condition_broadcast(sinew_condition* c) {
  in<fiber::condition_variable>(c).notify_all();
}

int sinew_barrier_init(sinew_barrier* b, unsigned parties) {
  if (parties == 0) {
    return fail(SINEW_INVALID, "a barrier for nobody");
  }
  new (b) fiber::barrier(parties);
  return SINEW_OK;
}
void sinew_barrier_destroy(sinew_barrier* b) { in<fiber::barrier>(b).~barrier(); }
int sinew_barrier_wait(sinew_barrier* b) { return in<fiber::barrier>(b).wait() ? 1 : 0; }

}  // extern "C"
