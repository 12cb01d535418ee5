// SPDX-License-Identifier: BSD-3-Clause
// The statement that this image executes and what it waits for there; used by reports of hangs
// only. A statement costs two stores, a wait a few more when it begins.
#pragma once

#include <cstdint>

#include "abi/coarray/job.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/rma/place.hpp"

namespace sinew::coarray {

/// A statement, from here to the end of the scope.
class statement {
 public:
  explicit statement(const char* name, int image = 0) noexcept
      : name_(name), image_(image), around_(this_job.doing) {
    this_job.doing = this;
  }
  ~statement() { this_job.doing = around_; }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] int image() const noexcept { return image_; }

 private:
  const char* name_;
  int image_;
  const statement* around_;
};

/// What a wait is for. Which fields count depends on `what`.
struct pending {
  enum class sort : std::uint8_t {
    barrier,         ///< `number` of the team `in`
    pair,            ///< `rank` to come to the same statement
    posts,           ///< `number` of them of the event at `at`
    lock,            ///< the one at `at`, element `number` (from 0)
    departures,      ///< all images' end
    remote_request,  ///< `rank` to reach its own component for this image
  };
  sort what;
  const team* in = nullptr;
  std::uint64_t number = 0;
  job_rank rank = -1;
  rma::place at{};
};

/// Waits until `ready()` holds, which must only look at mapped memory.
template <class Ready>
void await(const pending& p, Ready&& ready) {
  if (!ready()) {
    SINEW_ASSERT(this_job.open());
    this_job.waiting = &p;
    this_job.engine->wait_until([](void* r) { return (*static_cast<Ready*>(r))(); }, &ready);
    this_job.waiting = nullptr;
  }
}

/// Prints the statement and the wait. Called while polling, when a wait has lasted too long.
void report_statement(void*);

}  // namespace sinew::coarray
