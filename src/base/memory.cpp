// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/memory.hpp"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>

#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/log.hpp"

namespace sinew::base {
namespace {

constexpr std::uint64_t patience_ns = 1'000'000'000;
/// Calls farther apart than this are about different shortages.
constexpr std::uint64_t apart_ns = 200'000'000;
constexpr std::int64_t pause_ns = 1'000'000;

last_words begin() noexcept {
  last_words text;
  text.add("sinew");
  if (!log_identity().empty()) {
    text.add("[").add(log_identity()).add("]");
  }
  text.add(": error: ");
  return text;
}

std::terminate_handler before = nullptr;

/// An exception that nobody has caught, or that met a function which may not throw. Ours end the
/// process with their sentence; any other is the program's own, as before.
[[noreturn]] void on_terminate() {
  if (const std::exception_ptr e = std::current_exception()) {
    try {
      std::rethrow_exception(e);
    } catch (const std::bad_alloc&) {
      out_of_memory("running");
    } catch (const error& failure) {
      begin().add(failure.what()).add("\n").write();
      std::_Exit(1);
    } catch (...) {  // NOLINT(bugprone-empty-catch)
      // Not ours: who was there before says what it is.
    }
  }
  if (before != nullptr && before != on_terminate) {
    before();
  }
  std::abort();
}

// Before the constructors of our other statics, some of which allocate.
[[gnu::constructor(101)]] void watch() noexcept { before = std::set_terminate(on_terminate); }

}  // namespace

bool terminates_by_default() noexcept {
  const std::terminate_handler now = std::get_terminate();
  return now == on_terminate || now == __gnu_cxx::__verbose_terminate_handler;
}

void out_of_memory(std::string_view doing) noexcept {
  begin()
      .add("memory is exhausted (an allocation failed while ")
      .add(doing)
      .add("): start fewer ranks on this node, give the job more memory, or raise the limit ")
      .add("(ulimit -v, or the container's).\n")
      .write();
  std::_Exit(1);
}

namespace {

/// When a shortage was met last, by now_ns(); 0: never. A hint, so relaxed.
std::atomic<std::uint64_t> last_shortage_ns{0};

}  // namespace

bool shortage::any_is_recent() noexcept {
  const std::uint64_t last = last_shortage_ns.load(std::memory_order_relaxed);
  return last != 0 && static_cast<std::uint64_t>(now_ns()) - last < 2 * patience_ns;
}

status shortage::again(std::string_view doing) noexcept {
  const std::uint64_t now = now_ns();
  last_shortage_ns.store(now, std::memory_order_relaxed);
  if (last_ns_ == 0 || now - last_ns_ > apart_ns) {
    since_ns_ = now;
  }
  last_ns_ = now;
  if (now - since_ns_ > patience_ns) {
    out_of_memory(doing);
  }
  // Others may give some back meanwhile.
  sleep_ns(pause_ns);
  return status::again(retry_reason::no_memory);
}

}  // namespace sinew::base
