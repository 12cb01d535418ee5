// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 9.3: error handlers.
#include "abi/mpi/comm.hpp"
#include "abi/mpi/errors.hpp"
#include "abi/mpi/file.hpp"
#include "abi/mpi/from_groups.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/world.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

using action = errhandler_object::action;

errhandler_object& everlasting(action a) {
  SINEW_EXPECT(a == action::fatal || a == action::abort || a == action::ret);
  auto& made = *new errhandler_object(a, nullptr);
  made.references = 1 << 30;  // programs may free handles of predefined ones
  return made;
}

errhandler_object& fixed(action a) {
  static auto& fatal = everlasting(action::fatal);
  static auto& abort = everlasting(action::abort);
  static auto& ret = everlasting(action::ret);
  return a == action::fatal ? fatal : a == action::abort ? abort : ret;
}

/// MPI_ERRORS_RETURN by another handle, which is for abi/foreign alone: bindings of C++ throw where
/// they find it.
MPI_Errhandler errors_throw() { return reinterpret_cast<MPI_Errhandler>(0x14f); }
errhandler_object& throwing() {
  static auto& made = everlasting(action::ret);
  return made;
}

errhandler_object* files = nullptr;  ///< null: MPI_ERRORS_RETURN

int create(action a, void (*function)(), MPI_Errhandler* errhandler) {
  check_out(errhandler, "errhandler");
  if (function == nullptr) {
    fail(MPI_ERR_ARG, "the function is null");
  }
  SINEW_EXPECT(a != action::fatal && a != action::abort && a != action::ret);
  *errhandler = handle_of<MPI_Errhandler>(arena<errhandler_object>::make(a, function));
  return MPI_SUCCESS;
}

}  // namespace

errhandler_object* errhandler_of(MPI_Errhandler handle) {
  if (handle == MPI_ERRORS_ARE_FATAL) {
    return &fixed(action::fatal);
  }
  if (handle == MPI_ERRORS_ABORT) {
    return &fixed(action::abort);
  }
  if (handle == MPI_ERRORS_RETURN) {
    return &fixed(action::ret);
  }
  if (handle == errors_throw()) {
    return &throwing();
  }
  auto* found = resolve<errhandler_object>(handle);
  if (found == nullptr) {
    fail(MPI_ERR_ERRHANDLER, "the error handler is %s",
         handle == MPI_ERRHANDLER_NULL ? "MPI_ERRHANDLER_NULL" : "freed or no error handler");
  }
  return found;
}

MPI_Errhandler handle_of(errhandler_object* e) noexcept {
  SINEW_EXPECT(e != nullptr);
  switch (e->act) {
    case action::fatal:
      return MPI_ERRORS_ARE_FATAL;
    case action::abort:
      return MPI_ERRORS_ABORT;
    case action::ret:
      return e == &throwing() ? errors_throw() : MPI_ERRORS_RETURN;
    default:
      return handle_of<MPI_Errhandler>(e);
  }
}

int impl::Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
                                 MPI_Errhandler* errhandler) {
  return create(action::comm, reinterpret_cast<void (*)()>(comm_errhandler_fn), errhandler);
}
int impl::Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  return create(action::win, reinterpret_cast<void (*)()>(win_errhandler_fn), errhandler);
}
int impl::File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn,
                                 MPI_Errhandler* errhandler) {
  return create(action::file, reinterpret_cast<void (*)()>(file_errhandler_fn), errhandler);
}
int impl::Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                    MPI_Errhandler* errhandler) {
  return create(action::session, reinterpret_cast<void (*)()>(session_errhandler_fn), errhandler);
}

int impl::Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  comm_object& c = local_comm_of(comm);
  errhandler_object* e = comm_errhandler_of(errhandler);
  errhandler_object* before = c.errors;
  c.errors = keep(e);
  drop(before);
  if (&c == process.comms[2]) {
    process.self_has_handler.store(true, std::memory_order_relaxed);
  }
  return MPI_SUCCESS;
}

int impl::Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  check_out(errhandler, "errhandler");
  *errhandler = handle_of(keep(local_comm_of(comm).errors));
  return MPI_SUCCESS;
}

int impl::Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  comm_object& c = local_comm_of(comm);
  (void)raise_error(&c, errorcode, "called by the program");
  return MPI_SUCCESS;
}

errhandler_object* errhandler_of_files() noexcept {
  return files != nullptr ? files : &fixed(action::ret);
}

int impl::File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  const auto set = [errhandler](errhandler_object*& where) -> int {
    errhandler_object* e = errhandler_of(errhandler);
    if (e->act == action::comm || e->act == action::win || e->act == action::session) {
      fail(MPI_ERR_ERRHANDLER, "the error handler was not made for files");
    }
    drop(std::exchange(where, keep(e)));
    return MPI_SUCCESS;
  };
  if (file == MPI_FILE_NULL) {
    return on_no_file([&] { return set(files); });
  }
  return on_file(file, [&](file_object& f) { return set(f.comm->errors); });
}

int impl::File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  const auto get = [errhandler](errhandler_object* which) -> int {
    check_out(errhandler, "errhandler");
    *errhandler = handle_of(keep(which));
    return MPI_SUCCESS;
  };
  if (file == MPI_FILE_NULL) {
    return on_no_file([&] { return get(errhandler_of_files()); });
  }
  return on_file(file, [&](file_object& f) { return get(f.comm->errors); });
}

int impl::File_call_errhandler(MPI_File fh, int errorcode) {
  if (fh == MPI_FILE_NULL) {
    (void)raise_file_error(errorcode, "called by the program");
    return MPI_SUCCESS;
  }
  return on_file(fh, [&](file_object& f) -> int {
    (void)raise_error(f.comm, errorcode, "called by the program");
    return MPI_SUCCESS;
  });
}

int impl::Errhandler_free(MPI_Errhandler* errhandler) {
  check_out(errhandler, "errhandler");
  // A predefined one may be given back too: MPI_Comm_get_errhandler may have returned it.
  drop(errhandler_of(*errhandler));
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
