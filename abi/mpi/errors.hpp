// SPDX-License-Identifier: BSD-3-Clause
// How a call fails: it throws `failure`, which the binding catches and hands to the error handler
// of the communicator. A call that succeeds pays nothing.
#pragma once

#include <string>

#include "abi/mpi/handles.hpp"
#include "sinew/base/error.hpp"
#include "sinew/dynamic/failure.hpp"

namespace sinew::mpi {

struct comm_object;
struct session_object;

/// `code` is an MPI error code. `comm`: whose error handler decides; null: the one of the call's
/// communicator argument, or of MPI_COMM_SELF.
struct failure {
  int code;
  std::string sentence;
  comm_object* comm = nullptr;
  bool of_no_file = false;            ///< the handler of MPI_FILE_NULL decides
  session_object* session = nullptr;  ///< not null: its handler decides
};

/// Name of the MPI function that this thread has entered last, for messages. After a suspension it
/// may be another fiber's: caught() sets it right.
/// (constinit: without it every access would ask first whether it has been constructed.)
extern constinit thread_local const char* current_call [[gnu::tls_model("initial-exec")]];

/// Throws failure{code, sentence}; the sentence is made as printf does. Cold.
[[noreturn, gnu::format(printf, 2, 3), gnu::cold]] void fail(int code, const char* format, ...);
/// The same, decided by the error handler of `comm`.
[[noreturn, gnu::format(printf, 3, 4), gnu::cold]] void fail_on(comm_object* comm, int code,
                                                                const char* format, ...);
/// The current call is one that Sinew has not got.
[[noreturn, gnu::cold]] void unsupported();

/// What an error of the modules below is to the program. Cold.
[[nodiscard]] int class_of(const error& e) noexcept;
[[nodiscard]] int class_of(const dynamic::failure& f) noexcept;

/// Who has called a function of the binding, for call_site().
struct caller {
  const void* returns_to;
  const void* frame;
};
/// In a function of the binding.
#define SINEW_MPI_CALLER (::sinew::mpi::caller{__builtin_return_address(0), __builtin_dwarf_cfa()})

/// In the catch clause of binding `name`: translates the exception, calls the error handler,
/// returns the code (or does not return). Cold.
[[gnu::cold, gnu::noinline]] int caught(caller from, const char* name,
                                        MPI_Comm comm = MPI_COMM_NULL) noexcept;

/// Calls the error handler that decides; returns `code` if it returns. Cold.
int raise_error(comm_object* comm, int code, const std::string& sentence) noexcept;
/// The same by the handler of a session.
int raise_session_error(session_object& s, int code, const std::string& sentence) noexcept;
/// The same by the handler of MPI_FILE_NULL.
int raise_file_error(int code, const std::string& sentence) noexcept;

/// Behind MPI_Errhandler. The predefined ones are objects too, so that holders need no cases.
struct errhandler_object : object {
  static constexpr kind tag = kind::errhandler;
  enum class action { fatal, abort, ret, comm, win, file, session };
  errhandler_object(action a, void (*f)()) : object(tag), act(a), function(f) {}
  action act;
  void (*function)();  ///< MPI_Comm_errhandler_function* and so on, by `act`
};

/// Throws MPI_ERR_ERRHANDLER.
[[nodiscard]] errhandler_object* errhandler_of(MPI_Errhandler handle);
[[nodiscard]] MPI_Errhandler handle_of(errhandler_object* e) noexcept;
/// The handler of MPI_FILE_NULL, which new files get: MPI_ERRORS_RETURN until the program sets it.
[[nodiscard]] errhandler_object* errhandler_of_files() noexcept;

/// The class of a code, as MPI_Error_class.
[[nodiscard]] int class_of(int code) noexcept;
[[nodiscard]] std::string text_of(int code);
[[nodiscard]] int last_used_code() noexcept;

}  // namespace sinew::mpi
