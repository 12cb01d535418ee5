// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/errors.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "abi/mpi/call_site.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/error_table.hpp"
#include "abi/mpi/from_groups.hpp"
#include "abi/mpi/session.hpp"
#include "abi/mpi/tool_watch.hpp"
#include "abi/mpi/world.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/base/source_lines.hpp"

namespace sinew::mpi {

constinit thread_local const char* current_call = "MPI";

namespace {

std::string print(const char* format, std::va_list list) {
  std::va_list again;
  va_copy(again, list);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(static_cast<std::size_t>(length < 0 ? 0 : length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, list);
  return text;
}

/// What the last error of this thread was about, for MPI_Error_string.
struct last_error {
  int code = MPI_SUCCESS;
  std::string sentence;
};
last_error& last() {
  thread_local last_error it;
  return it;
}

std::string describe(const std::string& sentence) {
  return std::string(current_call) + ": " + sentence;
}

/// Who has called what has failed last in this thread, as current_call.
constinit thread_local caller current_caller = {nullptr, nullptr};

/// ", called in main (a.c:12)". Nothing where there is no memory to find it.
std::string text_of_caller() noexcept try {
  const void* const site = call_site(current_caller.returns_to, current_caller.frame);
  const base::source_place found = base::source_of(site);
  return found.line == 0 ? "" : ", called in " + base::text_of(found, site);
} catch (const std::bad_alloc&) {
  return "";
}

[[noreturn]] void die(int code, const std::string& sentence) {
  const int error_class = class_of(code);
  const std::string why = describe(std::string(as_clause(sentence))) + " [" +
                          class_name(error_class) + "]" + text_of_caller() + ".";
  const int exit_code = error_class == MPI_SUCCESS || error_class > 125 ? 1 : error_class;
  if (process.now.load() == phase::running) {
    process.runtime->session().abort(exit_code, why);
  }
  // Outside init and finalize there is no job to end; the launcher, if any, sees the exit code.
  base::raw_write(2, "sinew: " + why + "\n");
  std::_Exit(exit_code);
}

/// The handler that decides where no communicator is involved: MPI_COMM_SELF's (MPI-5.0 section
/// 9.3).
/// Until MPI-3.1 it was MPI_COMM_WORLD's, and that is what programs still set: it is taken where
/// they have set none for MPI_COMM_SELF.
errhandler_object* default_error_handler() noexcept {
  const bool of_self = process.self_has_handler.load(std::memory_order_relaxed);
  const comm_object* comm = process.comms[of_self ? 2 : 1];
  return comm != nullptr ? comm->errors : errhandler_of(MPI_ERRORS_ARE_FATAL);
}

}  // namespace

void fail(int code, const char* format, ...) {
  SINEW_EXPECT(code != MPI_SUCCESS && format != nullptr);
  std::va_list list;
  va_start(list, format);
  std::string sentence = print(format, list);
  va_end(list);
  throw failure{code, std::move(sentence)};
}

void fail_on(comm_object* comm, int code, const char* format, ...) {
  SINEW_EXPECT(code != MPI_SUCCESS && format != nullptr);
  std::va_list list;
  va_start(list, format);
  std::string sentence = print(format, list);
  va_end(list);
  throw failure{code, std::move(sentence), comm};
}

void unsupported() {
  fail(MPI_ERR_UNSUPPORTED_OPERATION, "Sinew does not implement this function yet");
}

namespace {

/// What the error belongs to: `comm`, null for nothing or for MPI_FILE_NULL; or `session`. Returns
/// what the call that raised it returns, which the program's own handler may change.
int raise_by(errhandler_object* handler, comm_object* comm, int code, const std::string& sentence,
             session_object* session = nullptr) noexcept {
  using action = errhandler_object::action;
  SINEW_EXPECT(handler != nullptr);
  if (handler->act == action::fatal || handler->act == action::abort) {
    try {
      die(code, sentence);
    } catch (...) {  // returning would tell the program that its errors are not fatal
      base::out_of_memory(current_call);
    }
  }
  tool::tell_error(code);
  try {
    last() = {code, describe(as_sentence(sentence))};
  } catch (const std::bad_alloc&) {
    last().code = MPI_SUCCESS;  // MPI_Error_string says what the code means, and no more
  }
  if (handler->act == action::comm) {
    SINEW_ASSERT(handler->function != nullptr);
    MPI_Comm handle = comm != nullptr ? comm->handle : MPI_COMM_SELF;
    reinterpret_cast<MPI_Comm_errhandler_function*>(handler->function)(&handle, &code);
  }
  if (handler->act == action::win) {
    SINEW_ASSERT(handler->function != nullptr);
    MPI_Win handle = comm != nullptr ? comm->window : MPI_WIN_NULL;
    reinterpret_cast<MPI_Win_errhandler_function*>(handler->function)(&handle, &code);
  }
  if (handler->act == action::file) {
    SINEW_ASSERT(handler->function != nullptr);
    MPI_File handle = comm != nullptr ? comm->file : MPI_FILE_NULL;
    reinterpret_cast<MPI_File_errhandler_function*>(handler->function)(&handle, &code);
  }
  if (handler->act == action::session) {
    SINEW_ASSERT(handler->function != nullptr);
    MPI_Session handle = handle_of<MPI_Session>(session);
    reinterpret_cast<MPI_Session_errhandler_function*>(handler->function)(&handle, &code);
  }
  return code;
}

}  // namespace

int raise_session_error(session_object& s, int code, const std::string& sentence) noexcept {
  SINEW_EXPECT(s.errors != nullptr);
  return raise_by(s.errors, nullptr, code, sentence, &s);
}

int raise_error(comm_object* comm, int code, const std::string& sentence) noexcept {
  return raise_by(comm != nullptr ? comm->errors : default_error_handler(), comm, code, sentence);
}

int raise_error_by(errhandler_object& errors, int code, const std::string& sentence) noexcept {
  return raise_by(&errors, nullptr, code, sentence);
}

int raise_file_error(int code, const std::string& sentence) noexcept {
  return raise_by(errhandler_of_files(), nullptr, code, sentence);
}

int class_of(const dynamic::failure& f) noexcept {
  switch (f.kind) {
    case dynamic::error_kind::none:
      return MPI_SUCCESS;
    case dynamic::error_kind::caller:
      return f.code;
    case dynamic::error_kind::argument:
      return MPI_ERR_ARG;
    case dynamic::error_kind::groups_overlap:
      return MPI_ERR_GROUP;
    case dynamic::error_kind::info_value:
      return MPI_ERR_INFO_VALUE;
    case dynamic::error_kind::port:
      return MPI_ERR_PORT;
    case dynamic::error_kind::spawn:
      return MPI_ERR_SPAWN;
  }
  return MPI_ERR_INTERN;
}

int class_of(const error& e) noexcept {
  if (const auto* dynamic_one = dynamic_cast<const dynamic::failure*>(&e)) {
    return class_of(*dynamic_one);
  }
  const auto* refused = dynamic_cast<const coll::not_made*>(&e);
  if (refused == nullptr) {
    return MPI_ERR_OTHER;
  }
  return refused->why_not == p2p::fault::revoked ? MPIX_ERR_REVOKED : MPIX_ERR_PROC_FAILED;
}

int caught(caller from, const char* name, MPI_Comm comm) noexcept {
  SINEW_EXPECT(name != nullptr);
  SINEW_EXPECT(std::current_exception() != nullptr);
  current_call = name;
  current_caller = from;
  comm_object* on = process.now.load() == phase::running ? find_comm(comm) : nullptr;
  try {
    throw;
  } catch (const failure& f) {
    if (f.session != nullptr) {
      return raise_session_error(*f.session, f.code, f.sentence);
    }
    if (f.of_no_file) {
      return raise_file_error(f.code, f.sentence);
    }
    return raise_error(f.comm != nullptr ? f.comm : on, f.code, f.sentence);
  } catch (const std::bad_alloc&) {
    return raise_error(on, MPI_ERR_NO_MEM, "out of memory");
  } catch (const error& e) {
    return raise_error(on, class_of(e), e.what());
  } catch (const std::exception& e) {
    return raise_error(on, MPI_ERR_INTERN, e.what());
  }
}

std::string text_of(int code) {
  std::string text = table_text(code);
  // A text of the program's own is the program's: as it was given (MPI-5.0 section 9.5).
  const bool own = code > MPI_ERR_LASTCODE;
  if (last().code == code && code != MPI_SUCCESS && !own) {
    text += "; here: " + last().sentence;
  }
  return text;
}

}  // namespace sinew::mpi
