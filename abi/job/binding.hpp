// SPDX-License-Identifier: BSD-3-Clause
// What the functions of sinew_job.h have in common.
#pragma once

#include <exception>
#include <new>

#include "abi/c/failure.hpp"
#include "sinew/region/job.hpp"
#include "sinew_job.h"

namespace sinew::job_binding {

using c_binding::fail;

/// Of this process; null while none is open.
region::job* open_job() noexcept;

/// body(job), or the code for what has gone wrong.
template <class Body>
int with_job(Body body) noexcept {
  region::job* const job = open_job();
  if (job == nullptr) {
    return fail(SINEW_NOT_STARTED, "no job is open: call sinew_job_open() first");
  }
  try {
    return body(*job);
  } catch (const std::bad_alloc&) {
    return fail(SINEW_NO_MEMORY);
  } catch (const std::exception& e) {
    return fail(SINEW_FAILED, e.what());
  }
}

[[nodiscard]] inline event::event event_of(sinew_event bits) noexcept {
  return event::event::from_bits(bits);
}

/// Into what a caller wants, or does not want.
template <class T>
int give(T value, T* to) noexcept {
  if (to != nullptr) {
    *to = value;
  }
  return SINEW_OK;
}

}  // namespace sinew::job_binding
