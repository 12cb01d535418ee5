// SPDX-License-Identifier: BSD-3-Clause
#include "abi/fortran/callbacks.hpp"

#include <cstdio>
#include <memory>

#include "abi/slots.hpp"
// The predefined procedures. Given to MPI_X_create_keyval they are C's own, by their address; a
// program may call them, too.
extern "C" {

void mpi_comm_null_copy_fn_(int*, int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, int* flag, int* ierror) {
  *flag = sinew::fortran::logical(0);
  *ierror = MPI_SUCCESS;
}

void mpi_comm_dup_fn_(int*, int*, MPI_Aint*, MPI_Aint* in, MPI_Aint* out, int* flag, int* ierror) {
  *out = *in;
  *flag = sinew::fortran::logical(1);
  *ierror = MPI_SUCCESS;
}

void mpi_comm_null_delete_fn_(int*, int*, MPI_Aint*, MPI_Aint*, int* ierror) {
  *ierror = MPI_SUCCESS;
}

void mpi_type_null_copy_fn_(int*, int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, int* flag, int* ierror) {
  mpi_comm_null_copy_fn_(nullptr, nullptr, nullptr, nullptr, nullptr, flag, ierror);
}

void mpi_type_dup_fn_(int*, int*, MPI_Aint*, MPI_Aint* in, MPI_Aint* out, int* flag, int* ierror) {
  mpi_comm_dup_fn_(nullptr, nullptr, nullptr, in, out, flag, ierror);
}

void mpi_type_null_delete_fn_(int*, int*, MPI_Aint*, MPI_Aint*, int* ierror) {
  *ierror = MPI_SUCCESS;
}

void mpi_win_null_copy_fn_(int*, int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, int* flag, int* ierror) {
  mpi_comm_null_copy_fn_(nullptr, nullptr, nullptr, nullptr, nullptr, flag, ierror);
}

void mpi_win_dup_fn_(int*, int*, MPI_Aint*, MPI_Aint* in, MPI_Aint* out, int* flag, int* ierror) {
  mpi_comm_dup_fn_(nullptr, nullptr, nullptr, in, out, flag, ierror);
}

void mpi_win_null_delete_fn_(int*, int*, MPI_Aint*, MPI_Aint*, int* ierror) {
  *ierror = MPI_SUCCESS;
}

// Of MPI-1: values are default INTEGERs.
void mpi_null_copy_fn_(int*, int*, int*, int*, int*, int* flag, int* ierror) {
  *flag = sinew::fortran::logical(0);
  *ierror = MPI_SUCCESS;
}

void mpi_dup_fn_(int*, int*, int*, int* in, int* out, int* flag, int* ierror) {
  *out = *in;
  *flag = sinew::fortran::logical(1);
  *ierror = MPI_SUCCESS;
}

void mpi_null_delete_fn_(int*, int*, int*, int*, int* ierror) { *ierror = MPI_SUCCESS; }

void mpi_conversion_fn_null_(void*, int*, int*, void*, MPI_Offset*, MPI_Aint*, int* ierror) {
  *ierror = MPI_ERR_CONVERSION;
}

void mpi_conversion_fn_null_c_(void*, int*, MPI_Count*, void*, MPI_Offset*, MPI_Aint*,
                               int* ierror) {
  *ierror = MPI_ERR_CONVERSION;
}

}  // extern "C"

namespace sinew::fortran {
namespace {

template <class F>
F* as(callback* user) {
  return reinterpret_cast<F*>(user);
}

template <class F>
callback* plain(F* f) {
  return reinterpret_cast<callback*>(f);
}

slots::table operations;
slots::table large_operations;
slots::table comm_errhandlers;
slots::table file_errhandlers;
slots::table session_errhandlers;
slots::table win_errhandlers;

template <int Slot>
void call_operation(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  int type = to_fortran(*datatype);
  operations.at<void(void*, void*, int*, int*)>(Slot)(in, inout, length, &type);
}

template <int Slot>
void call_large_operation(void* in, void* inout, MPI_Count* length, MPI_Datatype* datatype) {
  int type = to_fortran(*datatype);
  large_operations.at<void(void*, void*, MPI_Count*, int*)>(Slot)(in, inout, length, &type);
}

template <slots::table& Of, class Handle, int Slot>
void call_errhandler(Handle* handle, int* code, ...) {
  int value = to_fortran(*handle);
  Of.template at<void(int*, int*)>(Slot)(&value, code);
}

template <int Slot>
struct operation_call {
  static constexpr MPI_User_function* function = call_operation<Slot>;
};
template <int Slot>
struct large_operation_call {
  static constexpr MPI_User_function_c* function = call_large_operation<Slot>;
};
template <int Slot>
struct comm_call {
  static constexpr MPI_Comm_errhandler_function* function =
      call_errhandler<comm_errhandlers, MPI_Comm, Slot>;
};
template <int Slot>
struct file_call {
  static constexpr MPI_File_errhandler_function* function =
      call_errhandler<file_errhandlers, MPI_File, Slot>;
};
template <int Slot>
struct session_call {
  static constexpr MPI_Session_errhandler_function* function =
      call_errhandler<session_errhandlers, MPI_Session, Slot>;
};
template <int Slot>
struct win_call {
  static constexpr MPI_Win_errhandler_function* function =
      call_errhandler<win_errhandlers, MPI_Win, Slot>;
};

// --- attributes ----------------------------------------------------------------------------------

using copy_procedure = void(int*, int*, MPI_Aint*, MPI_Aint*, MPI_Aint*, int*, int*);
using delete_procedure = void(int*, int*, MPI_Aint*, MPI_Aint*, int*);
using old_copy_procedure = void(int*, int*, int*, int*, int*, int*, int*);
using old_delete_procedure = void(int*, int*, int*, int*, int*);

template <class Handle>
int call_copy(Handle from, int key, void* extra, void* in, void* out, int* flag) {
  auto* const all = static_cast<attribute_procedures*>(extra);
  int handle = to_fortran(from);
  int copied = logical(0);
  int code = MPI_SUCCESS;
  auto value_in = reinterpret_cast<MPI_Aint>(in);
  MPI_Aint value_out = 0;
  if (all->old) {
    int state = static_cast<int>(all->state);
    int old_in = static_cast<int>(value_in);
    int old_out = 0;
    as<old_copy_procedure>(all->copy)(&handle, &key, &state, &old_in, &old_out, &copied, &code);
    value_out = old_out;
  } else {
    as<copy_procedure>(all->copy)(&handle, &key, &all->state, &value_in, &value_out, &copied,
                                  &code);
  }
  *flag = truth(copied);
  *static_cast<MPI_Aint*>(out) = value_out;
  return code;
}

template <class Handle>
int call_delete(Handle from, int key, void* value, void* extra) {
  auto* const all = static_cast<attribute_procedures*>(extra);
  int handle = to_fortran(from);
  int code = MPI_SUCCESS;
  auto wide = reinterpret_cast<MPI_Aint>(value);
  if (all->old) {
    int state = static_cast<int>(all->state);
    int narrow = static_cast<int>(wide);
    as<old_delete_procedure>(all->erase)(&handle, &key, &narrow, &state, &code);
  } else {
    as<delete_procedure>(all->erase)(&handle, &key, &wide, &all->state, &code);
  }
  return code;
}

template <class F>
F* chosen(callback* user, F* copies_nothing, callback* null_one, F* duplicates, callback* dup_one,
          F* other) {
  if (user == null_one) {
    return copies_nothing;
  }
  return user == dup_one ? duplicates : other;
}

}  // namespace

MPI_User_function* operation_of(callback* user) {
  return slots::function_of<MPI_User_function, operation_call>(operations, user);
}
MPI_User_function_c* large_operation_of(callback* user) {
  return slots::function_of<MPI_User_function_c, large_operation_call>(large_operations, user);
}
MPI_Comm_errhandler_function* comm_errhandler_of(callback* user) {
  return slots::function_of<MPI_Comm_errhandler_function, comm_call>(comm_errhandlers, user);
}
MPI_File_errhandler_function* file_errhandler_of(callback* user) {
  return slots::function_of<MPI_File_errhandler_function, file_call>(file_errhandlers, user);
}
MPI_Session_errhandler_function* session_errhandler_of(callback* user) {
  return slots::function_of<MPI_Session_errhandler_function, session_call>(session_errhandlers,
                                                                           user);
}
MPI_Win_errhandler_function* win_errhandler_of(callback* user) {
  return slots::function_of<MPI_Win_errhandler_function, win_call>(win_errhandlers, user);
}

int no_slot(const char* what) {
  std::fprintf(stderr,
               "sinew: error: %d different Fortran procedures are %s already, and there is no room "
               "for more: use one procedure for several of them.\n",
               slots::most, what);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_INTERN);
  return MPI_ERR_INTERN;
}

MPI_Comm_copy_attr_function* comm_copy_of(callback* user) {
  if (user == plain(mpi_null_copy_fn_)) {
    return MPI_COMM_NULL_COPY_FN;
  }
  if (user == plain(mpi_dup_fn_)) {
    return MPI_COMM_DUP_FN;
  }
  return chosen<MPI_Comm_copy_attr_function>(user, MPI_COMM_NULL_COPY_FN,
                                             plain(mpi_comm_null_copy_fn_), MPI_COMM_DUP_FN,
                                             plain(mpi_comm_dup_fn_), call_copy<MPI_Comm>);
}

MPI_Comm_delete_attr_function* comm_delete_of(callback* user) {
  const bool none = user == plain(mpi_comm_null_delete_fn_) || user == plain(mpi_null_delete_fn_);
  return none ? MPI_COMM_NULL_DELETE_FN : call_delete<MPI_Comm>;
}

MPI_Type_copy_attr_function* type_copy_of(callback* user) {
  return chosen<MPI_Type_copy_attr_function>(user, MPI_TYPE_NULL_COPY_FN,
                                             plain(mpi_type_null_copy_fn_), MPI_TYPE_DUP_FN,
                                             plain(mpi_type_dup_fn_), call_copy<MPI_Datatype>);
}

MPI_Type_delete_attr_function* type_delete_of(callback* user) {
  return user == plain(mpi_type_null_delete_fn_) ? MPI_TYPE_NULL_DELETE_FN
                                                 : call_delete<MPI_Datatype>;
}

MPI_Win_copy_attr_function* win_copy_of(callback* user) {
  return chosen<MPI_Win_copy_attr_function>(user, MPI_WIN_NULL_COPY_FN,
                                            plain(mpi_win_null_copy_fn_), MPI_WIN_DUP_FN,
                                            plain(mpi_win_dup_fn_), call_copy<MPI_Win>);
}

MPI_Win_delete_attr_function* win_delete_of(callback* user) {
  return user == plain(mpi_win_null_delete_fn_) ? MPI_WIN_NULL_DELETE_FN : call_delete<MPI_Win>;
}

int grequest_query(void* state, MPI_Status* status) {
  auto* const all = static_cast<request_procedures*>(state);
  int code = MPI_SUCCESS;
  as<void(MPI_Aint*, MPI_Status*, int*)>(all->query)(all->state, status, &code);
  return code;
}

int grequest_free(void* state) {
  const std::unique_ptr<request_procedures> all(static_cast<request_procedures*>(state));
  int code = MPI_SUCCESS;
  as<void(MPI_Aint*, int*)>(all->release)(all->state, &code);
  return code;
}

int grequest_cancel(void* state, int complete) {
  auto* const all = static_cast<request_procedures*>(state);
  int code = MPI_SUCCESS;
  int whether = logical(complete);
  as<void(MPI_Aint*, int*, int*)>(all->cancel)(all->state, &whether, &code);
  return code;
}

namespace {

template <class Count>
int convert(callback* user, void* buffer, MPI_Datatype datatype, Count count, void* file,
            MPI_Offset position, MPI_Aint* state) {
  int type = to_fortran(datatype);
  int code = MPI_SUCCESS;
  as<void(void*, int*, Count*, void*, MPI_Offset*, MPI_Aint*, int*)>(user)(
      buffer, &type, &count, file, &position, state, &code);
  return code;
}

datarep_procedures& of(void* state) { return *static_cast<datarep_procedures*>(state); }

}  // namespace

int datarep_read(void* buffer, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                 void* state) {
  return convert(of(state).read, buffer, datatype, count, file, position, &of(state).state);
}

int datarep_write(void* buffer, MPI_Datatype datatype, int count, void* file, MPI_Offset position,
                  void* state) {
  return convert(of(state).write, buffer, datatype, count, file, position, &of(state).state);
}

int datarep_read_large(void* buffer, MPI_Datatype datatype, MPI_Count count, void* file,
                       MPI_Offset position, void* state) {
  return convert(of(state).read, buffer, datatype, count, file, position, &of(state).state);
}

int datarep_write_large(void* buffer, MPI_Datatype datatype, MPI_Count count, void* file,
                        MPI_Offset position, void* state) {
  return convert(of(state).write, buffer, datatype, count, file, position, &of(state).state);
}

int datarep_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  int type = to_fortran(datatype);
  int code = MPI_SUCCESS;
  as<void(int*, MPI_Aint*, MPI_Aint*, int*)>(of(state).extent)(&type, extent, &of(state).state,
                                                               &code);
  return code;
}

}  // namespace sinew::fortran
