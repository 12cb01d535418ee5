// SPDX-License-Identifier: BSD-3-Clause
// The C binding of what fibers and threads wait for together. The objects lie in the C ones.
#include <cerrno>
#include <exception>
#include <memory>
#include <new>

#include "abi/c/failure.hpp"
#include "sinew.h"
#include "sinew/base/clock.hpp"
#include "sinew/fiber/barrier.hpp"
#include "sinew/fiber/channel.hpp"
#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/future.hpp"
#include "sinew/fiber/io.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/once.hpp"
#include "sinew/fiber/semaphore.hpp"
#include "sinew/fiber/shared_mutex.hpp"

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

int code_of(fiber::waited how) noexcept {
  switch (how) {
    case fiber::waited::done:
      return SINEW_OK;
    case fiber::waited::timed_out:
      return fail(SINEW_TIMED_OUT);
    case fiber::waited::cancelled:
      return fail(SINEW_CANCELLED);
    default:
      return fail(SINEW_CLOSED);
  }
}

int ok_or(bool good, int code) noexcept { return good ? SINEW_OK : fail(code); }

std::int64_t answer(const fiber::io_result& got) noexcept {
  errno = got.ok() ? errno : got.error;
  return got.value;
}

/// 0 stays 0: not to wait at all.
std::uint64_t deadline_or_now(std::uint64_t nanoseconds) noexcept {
  return nanoseconds == 0 ? 0 : deadline_in(nanoseconds);
}

}  // namespace

struct sinew_channel {
  fiber::channel channel;
};

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

void sinew_semaphore_init(sinew_semaphore* s, unsigned units) { new (s) fiber::semaphore(units); }
void sinew_semaphore_destroy(sinew_semaphore* s) { in<fiber::semaphore>(s).~semaphore(); }
int sinew_semaphore_wait(sinew_semaphore* s) { return code_of(in<fiber::semaphore>(s).acquire()); }
int sinew_semaphore_trywait(sinew_semaphore* s) {
  return ok_or(in<fiber::semaphore>(s).try_acquire(), SINEW_BUSY);
}
int sinew_semaphore_wait_for(sinew_semaphore* s, uint64_t nanoseconds) {
  return code_of(in<fiber::semaphore>(s).acquire(deadline_in(nanoseconds)));
}
int sinew_semaphore_post(sinew_semaphore* s, unsigned units) {
  return ok_or(in<fiber::semaphore>(s).release(units), SINEW_INVALID);
}

void sinew_rwlock_init(sinew_rwlock* l) { new (l) fiber::shared_mutex; }
void sinew_rwlock_destroy(sinew_rwlock* l) { std::destroy_at(&in<fiber::shared_mutex>(l)); }
void sinew_rwlock_read(sinew_rwlock* l) { in<fiber::shared_mutex>(l).lock_shared(); }
int sinew_rwlock_tryread(sinew_rwlock* l) {
  return ok_or(in<fiber::shared_mutex>(l).try_lock_shared(), SINEW_BUSY);
}
int sinew_rwlock_read_for(sinew_rwlock* l, uint64_t nanoseconds) {
  return ok_or(in<fiber::shared_mutex>(l).try_lock_shared_until(deadline_in(nanoseconds)),
               SINEW_TIMED_OUT);
}
void sinew_rwlock_unread(sinew_rwlock* l) { in<fiber::shared_mutex>(l).unlock_shared(); }
void sinew_rwlock_write(sinew_rwlock* l) { in<fiber::shared_mutex>(l).lock(); }
int sinew_rwlock_trywrite(sinew_rwlock* l) {
  return ok_or(in<fiber::shared_mutex>(l).try_lock(), SINEW_BUSY);
}
int sinew_rwlock_write_for(sinew_rwlock* l, uint64_t nanoseconds) {
  return ok_or(in<fiber::shared_mutex>(l).try_lock_until(deadline_in(nanoseconds)),
               SINEW_TIMED_OUT);
}
void sinew_rwlock_unwrite(sinew_rwlock* l) { in<fiber::shared_mutex>(l).unlock(); }

void sinew_once_call(sinew_once* o, void (*action)(void*), void* argument) {
  in<fiber::once>(o).call([=] { action(argument); });
}

void sinew_future_init(sinew_future* f) { new (f) fiber::future; }
void sinew_future_destroy(sinew_future* f) { in<fiber::future>(f).~future(); }
int sinew_future_set(sinew_future* f, void* value) {
  return ok_or(in<fiber::future>(f).set(value), SINEW_BUSY);
}
int sinew_future_get(sinew_future* f, void** value, uint64_t nanoseconds) {
  const int code = code_of(in<fiber::future>(f).wait(deadline_in(nanoseconds)));
  if (code == SINEW_OK && value != nullptr) {
    *value = in<fiber::future>(f).value();
  }
  return code;
}

int sinew_channel_create(sinew_channel** made, size_t element_bytes, size_t capacity) {
  if (made == nullptr || element_bytes == 0) {
    return fail(SINEW_INVALID, "a channel needs elements of at least a byte");
  }
  try {
    *made = new sinew_channel{{element_bytes, capacity}};
    return SINEW_OK;
  } catch (const std::exception&) {
    return fail(SINEW_NO_MEMORY);
  }
}
void sinew_channel_destroy(sinew_channel* c) { delete c; }
int sinew_channel_send(sinew_channel* c, const void* element, uint64_t nanoseconds) {
  try {
    return code_of(c->channel.send(element, deadline_or_now(nanoseconds)));
  } catch (const std::exception&) {
    return fail(SINEW_NO_MEMORY);
  }
}
int sinew_channel_receive(sinew_channel* c, void* element, uint64_t nanoseconds) {
  return code_of(c->channel.receive(element, deadline_or_now(nanoseconds)));
}
int sinew_channel_close(sinew_channel* c) { return ok_or(c->channel.close(), SINEW_CLOSED); }
size_t sinew_channel_size(sinew_channel* c) { return c->channel.size(); }

int sinew_channel_select(const sinew_choice* choices, size_t count, size_t* which,
                         uint64_t nanoseconds) {
  if (count == 0 || count > fiber::channel::most_choices || choices == nullptr) {
    return fail(SINEW_INVALID, "from 1 to 64 choices");
  }
  fiber::channel::choice all[fiber::channel::most_choices];
  for (size_t i = 0; i < count; ++i) {
    all[i] = {&choices[i].channel->channel, choices[i].sends != 0, choices[i].element};
  }
  try {
    const auto got = fiber::channel::select(all, count, deadline_or_now(nanoseconds));
    if (which != nullptr && got.which < count) {
      *which = got.which;
    }
    return code_of(got.how);
  } catch (const std::exception&) {
    return fail(SINEW_NO_MEMORY);
  }
}

int64_t sinew_read(int descriptor, void* to, size_t bytes, uint64_t nanoseconds) {
  return answer(fiber::read(descriptor, to, bytes, deadline_in(nanoseconds)));
}
int64_t sinew_write(int descriptor, const void* from, size_t bytes, uint64_t nanoseconds) {
  return answer(fiber::write(descriptor, from, bytes, deadline_in(nanoseconds)));
}
int sinew_accept(int descriptor, sockaddr* from, void* length, uint64_t nanoseconds) {
  return static_cast<int>(
      answer(fiber::accept(descriptor, from, length, deadline_in(nanoseconds))));
}
int sinew_connect(int descriptor, const sockaddr* to, unsigned length, uint64_t nanoseconds) {
  return static_cast<int>(answer(fiber::connect(descriptor, to, length, deadline_in(nanoseconds))));
}
int sinew_poll(pollfd* files, size_t count, uint64_t nanoseconds) {
  return static_cast<int>(answer(fiber::poll(files, count, deadline_in(nanoseconds))));
}

}  // extern "C"
