// SPDX-License-Identifier: BSD-3-Clause
// The C binding of fibers: checks arguments, catches what is thrown.
#include "sinew.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "abi/c/failure.hpp"
#include "abi/c/options.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/local.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::c_binding {
namespace {

/// Not a std::string: it must stay usable while thread-local objects are being destroyed.
thread_local char last_error[256];

}  // namespace

int fail(int code, std::string_view why) noexcept {
  const std::size_t length = std::min(why.size(), sizeof last_error - 1);
  std::memcpy(last_error, why.data(), length);
  last_error[length] = '\0';
  return code;
}

int fail(int code) noexcept { return fail(code, sinew_error_text(code)); }

int options_of(const sinew_fiber_options* how, sinew_fiber** made, void (*entry)(void*),
               fiber::spawn_options& to) noexcept {
  const int workers = sinew_workers();
  if (workers == 0) {
    return fail(SINEW_NOT_STARTED);
  }
  if (how != nullptr) {
    to.name = how->name == nullptr ? "" : how->name;
    to.stack_bytes = how->stack_bytes;
    to.worker = how->worker_plus_one - 1;
    to.detached = how->detached != 0;
  }
  if (entry == nullptr || (made == nullptr && !to.detached)) {
    return fail(SINEW_INVALID, "a fiber needs a function, and somebody to join it or none");
  }
  if (to.worker < -1 || to.worker >= workers) {
    return fail(SINEW_INVALID, "there is no such worker");
  }
  return SINEW_OK;
}

}  // namespace sinew::c_binding

namespace {

namespace fiber = sinew::fiber;
using sinew::c_binding::fail;

fiber::fiber& of(sinew_fiber* f) noexcept { return *reinterpret_cast<fiber::fiber*>(f); }
sinew_fiber* c_of(fiber::fiber* f) noexcept { return reinterpret_cast<sinew_fiber*>(f); }

/// Made by sinew_start(), by the fiber `starter`.
constinit fiber::scheduler* started = nullptr;
constinit fiber::fiber* starter = nullptr;

/// Returns when all other fibers have ended, or after two seconds, having told of those that are
/// there.
void say_who_stays() {
  constexpr std::uint64_t patience_ns = 2'000'000'000;
  constexpr std::uint64_t longest_nap_ns = 20'000'000;
  std::uint64_t waited_ns = 0;
  for (std::uint64_t nap_ns = 50'000; started->living() != 0;) {
    if (waited_ns >= patience_ns) {
      constexpr long most_told = 32;
      long seen = 0;
      sinew::log_line(sinew::log_level::warn, "sinew_stop() waits for these fibers:");
      started->each(
          [](void* count, const fiber::fiber& f, const char* state) {
            if (&f != starter && ++*static_cast<long*>(count) <= most_told) {
              sinew::log_line(sinew::log_level::warn,
                              "  \"" + std::string(fiber::name(f)) + "\": " + state);
            }
          },
          &seen);
      if (seen > most_told) {
        sinew::log_line(sinew::log_level::warn,
                        "  and " + std::to_string(seen - most_told) + " more");
      }
      return;
    }
    fiber::sleep_for(nap_ns);
    waited_ns += nap_ns;
    nap_ns = std::min(2 * nap_ns, longest_nap_ns);
  }
}

}  // namespace

extern "C" {

const char* sinew_version() { return SINEW_VERSION; }

const char* sinew_error_text(int code) {
  switch (code) {
    case SINEW_OK:
      return "no error";
    case SINEW_BUSY:
      return "held by somebody else, or there already";
    case SINEW_TIMED_OUT:
      return "the time is over";
    case SINEW_NO_MEMORY:
      return "no memory";
    case SINEW_NOT_STARTED:
      return "there is no scheduler: call sinew_start() first";
    case SINEW_WRONG_CALLER:
      return "only the fiber that called sinew_start() may do this";
    case SINEW_INVALID:
      return "an argument makes no sense";
    case SINEW_FAILED:
      return "failed";
    case SINEW_CANCELLED:
      return "the calling fiber has been cancelled";
    case SINEW_CLOSED:
      return "the channel is closed";
    case SINEW_POISONED:
      return "the event is poisoned: what it stood for has failed";
    default:
      return "no code of Sinew";
  }
}

const char* sinew_last_error() { return sinew::c_binding::last_error; }

int sinew_start(const sinew_start_options* how) {
  if (fiber::scheduler::of_process() != nullptr) {
    return fail(SINEW_BUSY, "a scheduler runs already");
  }
  try {
    for (const std::string& complaint : sinew::settings::load_environment()) {
      sinew::log_line(sinew::log_level::warn, complaint);
    }
    fiber::scheduler_options options;
    if (how != nullptr) {
      options.workers = how->workers;
      options.pin = how->no_pin == 0;
    }
    started = new fiber::scheduler(options);
    starter = fiber::self();
    return SINEW_OK;
  } catch (const std::bad_alloc&) {
    return fail(SINEW_NO_MEMORY);
  } catch (const std::exception& problem) {
    return fail(SINEW_FAILED, problem.what());
  }
}

int sinew_stop() {
  if (started == nullptr) {
    return fail(SINEW_NOT_STARTED);
  }
  if (fiber::self() != starter) {
    return fail(SINEW_WRONG_CALLER);
  }
  say_who_stays();
  delete started;
  started = nullptr;
  return SINEW_OK;
}

int sinew_workers() {
  const fiber::scheduler* s = fiber::scheduler::of_process();
  return s == nullptr ? 0 : s->workers();
}

int sinew_this_worker() { return fiber::scheduler::this_worker(); }

int sinew_fiber_create(sinew_fiber** made, void (*entry)(void*), void* argument,
                       const sinew_fiber_options* how) {
  fiber::spawn_options options;
  if (const int wrong = sinew::c_binding::options_of(how, made, entry, options)) {
    return wrong;
  }
  fiber::fiber* f = nullptr;
  if (fiber::spawn(entry, argument, &f, options).retry()) {
    return fail(SINEW_NO_MEMORY, "no memory for the stack of a fiber");
  }
  if (made != nullptr) {
    *made = c_of(f);
  }
  return SINEW_OK;
}

int sinew_fiber_join(sinew_fiber* f) {
  if (f == nullptr || &of(f) == fiber::self()) {
    return fail(SINEW_INVALID, "a fiber cannot join itself, nor a null pointer");
  }
  fiber::join(of(f));
  return SINEW_OK;
}

int sinew_fiber_join_for(sinew_fiber* f, uint64_t nanoseconds) {
  if (f == nullptr || &of(f) == fiber::self()) {
    return fail(SINEW_INVALID, "a fiber cannot join itself, nor a null pointer");
  }
  const auto now = static_cast<std::uint64_t>(sinew::now_ns());
  const std::uint64_t deadline =
      nanoseconds >= fiber::no_deadline - now ? fiber::no_deadline : now + nanoseconds;
  switch (fiber::join_until(of(f), deadline)) {
    case fiber::waited::done:
      return SINEW_OK;
    case fiber::waited::cancelled:
      return fail(SINEW_CANCELLED);
    default:
      return fail(SINEW_TIMED_OUT);
  }
}

int sinew_fiber_cancel(sinew_fiber* f) {
  return f != nullptr && fiber::cancel(of(f)) ? SINEW_OK : fail(SINEW_INVALID);
}

int sinew_fiber_cancelled() { return fiber::is_cancelled() ? 1 : 0; }

int sinew_fiber_sleep_for(uint64_t nanoseconds) {
  const auto now = static_cast<std::uint64_t>(sinew::now_ns());
  const std::uint64_t until =
      nanoseconds >= fiber::no_deadline - now ? fiber::no_deadline : now + nanoseconds;
  return fiber::sleep_until(until) == fiber::waited::cancelled ? fail(SINEW_CANCELLED) : SINEW_OK;
}

int sinew_fiber_detach(sinew_fiber* f) {
  if (f == nullptr) {
    return fail(SINEW_INVALID);
  }
  fiber::detach(of(f));
  return SINEW_OK;
}

sinew_fiber* sinew_fiber_self() { return c_of(fiber::self()); }

const char* sinew_fiber_name(const sinew_fiber* f) {
  return f == nullptr ? "" : fiber::name(*reinterpret_cast<const fiber::fiber*>(f)).data();
}

void sinew_fiber_yield() { fiber::yield(); }

void sinew_fiber_sleep(uint64_t nanoseconds) { fiber::sleep_for(nanoseconds); }

struct sinew_key {
  fiber::local_key key;
};

int sinew_key_create(sinew_key** key, void (*destroy)(void*)) {
  try {
    *key = new sinew_key{fiber::local_key(destroy)};
    return SINEW_OK;
  } catch (const std::bad_alloc&) {
    return fail(SINEW_NO_MEMORY);
  }
}

void sinew_key_delete(sinew_key* key) { delete key; }

int sinew_key_set(sinew_key* key, void* value) {
  return key->key.set(value).retry() ? fail(SINEW_NO_MEMORY) : SINEW_OK;
}

void* sinew_key_get(const sinew_key* key) { return key->key.get(); }

}  // extern "C"
