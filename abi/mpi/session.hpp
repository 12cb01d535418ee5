// SPDX-License-Identifier: BSD-3-Clause
// Sessions behind their handles (MPI-5.0 section 11.3), and how they and MPI_Init share the one
// library below them.
#pragma once

#include "abi/mpi/errors.hpp"
#include "abi/mpi/handles.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

struct buffered_sends;

struct session_object : object {
  static constexpr kind tag = kind::session;
  session_object() : object(tag) {}
  ~session_object();

  errhandler_object* errors = nullptr;
  buffered_sends* buffer = nullptr;  ///< MPI_Session_attach_buffer
};

/// Throws MPI_ERR_SESSION.
[[nodiscard]] session_object& session_of(MPI_Session handle);

/// The exception that is being handled, as one that the session's error handler decides. Cold.
[[noreturn, gnu::cold]] void fail_for_session(session_object& s);
/// Runs a call on a session; what it throws goes to the session's error handler.
template <class Call>
int on_session(MPI_Session handle, Call call) {
  session_object& s = session_of(handle);
  try {
    return call(s);
  } catch (...) {
    fail_for_session(s);
  }
}

/// One more user of the library, a session or MPI_Init's world: the first one starts it. `level`:
/// the thread level wanted. Throws. Cold.
void begin_use(int level);
/// The last user stops it; then another one may come. Suspends. Cold.
void end_use();
/// What the library was started with.
[[nodiscard]] int level_of_library() noexcept;

/// Waits until what was buffered for the session's communicators has left (buffered.cpp).
void flush_buffer(session_object& s);
void discard_buffer(session_object& s) noexcept;

}  // namespace sinew::mpi
