// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/uncaught.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include "sinew/base/last_words.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/base/sentence.hpp"

namespace sinew::core {
namespace {

constexpr int code_of_abort = 128 + SIGABRT;

/// What was in force before. Written as `ends_by` is.
std::terminate_handler before = nullptr;
/// Written before the handler is installed and once it is out of force, else only read by it.
boot::session* ends_by = nullptr;
std::atomic_flag ending = ATOMIC_FLAG_INIT;
thread_local bool ending_here = false;

void add_cause(base::last_words& text) noexcept {
  const std::exception_ptr thrown = std::current_exception();
  if (thrown == nullptr) {
    text.add(std::uncaught_exceptions() > 0
                 ? "an exception, perhaps for want of memory, met a function which lets none pass"
                 : "std::terminate was called, without an exception");
    return;
  }
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    base::out_of_memory("running, and nobody caught std::bad_alloc");
  } catch (const std::exception& e) {
    text.add("nobody caught an exception: ").add(as_clause(e.what()));
  } catch (...) {
    text.add("nobody caught an exception, which is no std::exception");
  }
}

[[noreturn]] void end_job() noexcept {
  if (ending_here) {
    std::abort();  // the report itself has failed
  }
  ending_here = true;
  while (ending.test_and_set()) {
    ::pause();  // Wait: another thread is ending the process.
  }
  base::last_words text;
  add_cause(text);
  base::last_words head;
  head.add("sinew: an exception ends rank ");
  head.add_number(ends_by->where().rank.index()).add(" of ");
  head.add_number(static_cast<std::uint64_t>(ends_by->where().known_size()))
      .add(" (")
      .add(text.text());
  head.add("); backtrace, innermost call first:\n");
  head.write();
  base::write_backtrace();
  ends_by->abort(code_of_abort, text.text());
  __builtin_unreachable();
}

}  // namespace

void report_uncaught(boot::session& session) noexcept {
  if (std::get_terminate() == end_job) {
    ends_by = &session;
  } else if (base::terminates_by_default()) {
    ends_by = &session;
    before = std::set_terminate(end_job);
  }
}

void forget_uncaught(const boot::session* session) noexcept {
  if (session != nullptr && session == ends_by && std::get_terminate() == end_job) {
    std::set_terminate(before);
    ends_by = nullptr;
  }
}

}  // namespace sinew::core
