// SPDX-License-Identifier: BSD-3-Clause
// What MPICH's library has beside the standard's functions: handles and statuses as Fortran has
// them, which are C's own there; data; and a copy function.
#include "abi/foreign/mpich.hpp"

#include <cstring>

#include "abi/foreign/convert.hpp"
#include "abi/foreign/cxx_callers.hpp"

using namespace sinew;
using namespace sinew::foreign;

namespace sinew::foreign {
int unweighted_mark = 0;
int weights_empty_mark = 0;
int all_variables_mark = 0;
}  // namespace sinew::foreign

namespace {

/// Fortran's statuses are C's.
template <class From, class To>
int copy_status(const From* from, To* to) {
  std::memcpy(to, from, sizeof(foreign::status));
  return MPI_SUCCESS;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// By their names in MPICH's header; those of the standard's are macros here.
extern int* const mpich_unweighted asm("MPI_UNWEIGHTED");
int* const mpich_unweighted = &unweighted_mark;
extern int* const mpich_weights_empty asm("MPI_WEIGHTS_EMPTY");
int* const mpich_weights_empty = &weights_empty_mark;
extern int* const mpich_all_handles asm("MPI_T_PVAR_ALL_HANDLES");
int* const mpich_all_handles = &all_variables_mark;
// MPICH's Fortran library sets these; in C they are null before.
extern int* mpich_f_status_ignore asm("MPI_F_STATUS_IGNORE");
int* mpich_f_status_ignore = nullptr;
extern int* mpich_f_statuses_ignore asm("MPI_F_STATUSES_IGNORE");
int* mpich_f_statuses_ignore = nullptr;
extern foreign::status* mpich_f08_status_ignore asm("MPI_F08_STATUS_IGNORE");
foreign::status* mpich_f08_status_ignore = nullptr;
extern foreign::status* mpich_f08_statuses_ignore asm("MPI_F08_STATUSES_IGNORE");
foreign::status* mpich_f08_statuses_ignore = nullptr;

// What MPICH's library for C++ asks for beside MPI's functions.
void MPII_Op_set_cxx(foreign::op /*op*/, slots::procedure* caller) { set_caller(caller); }
void MPII_Errhandler_set_cxx(foreign::errhandler /*handler*/, slots::procedure* caller) {
  set_caller(caller);
}
void MPII_Keyval_set_proxy(int /*key*/, slots::procedure* copy, slots::procedure* erase) {
  set_key_callers(copy, erase);
}

int MPIR_Dup_fn(foreign::comm /*from*/, int /*key*/, void* /*extra*/, void* in, void* out,
                int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

#define SINEW_FORTRAN_HANDLE(Name, type)                                   \
  int PMPI_##Name##_c2f(foreign::type handle) { return handle; }           \
  SINEW_TWIN(MPI_##Name##_c2f) int MPI_##Name##_c2f(foreign::type handle); \
  foreign::type PMPI_##Name##_f2c(int handle) { return handle; }           \
  SINEW_TWIN(MPI_##Name##_f2c) foreign::type MPI_##Name##_f2c(int handle)
SINEW_FORTRAN_HANDLE(Comm, comm);
SINEW_FORTRAN_HANDLE(Errhandler, errhandler);
SINEW_FORTRAN_HANDLE(Group, group);
SINEW_FORTRAN_HANDLE(Info, info);
SINEW_FORTRAN_HANDLE(Message, message);
SINEW_FORTRAN_HANDLE(Op, op);
SINEW_FORTRAN_HANDLE(Request, request);
SINEW_FORTRAN_HANDLE(Session, session);
SINEW_FORTRAN_HANDLE(Type, datatype);
SINEW_FORTRAN_HANDLE(Win, win);
#undef SINEW_FORTRAN_HANDLE

int PMPI_File_c2f(foreign::file handle) {
  return handle == nullptr ? 0 : standard().File_toint(from_foreign<MPI_File>(handle));
}
SINEW_TWIN(MPI_File_c2f) int MPI_File_c2f(foreign::file handle);
foreign::file PMPI_File_f2c(int handle) {
  return handle == 0 ? nullptr : to_foreign(standard().File_fromint(handle));
}
SINEW_TWIN(MPI_File_f2c) foreign::file MPI_File_f2c(int handle);

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define SINEW_FORTRAN_STATUS(name, From, To)                                         \
  int PMPI_Status_##name(const From* from, To* to) { return copy_status(from, to); } \
  SINEW_TWIN(MPI_Status_##name) int MPI_Status_##name(const From* from, To* to)
SINEW_FORTRAN_STATUS(c2f, foreign::status, int);
SINEW_FORTRAN_STATUS(f2c, int, foreign::status);
SINEW_FORTRAN_STATUS(c2f08, foreign::status, foreign::status);
SINEW_FORTRAN_STATUS(f082c, foreign::status, foreign::status);
SINEW_FORTRAN_STATUS(f2f08, int, foreign::status);
SINEW_FORTRAN_STATUS(f082f, foreign::status, int);
#undef SINEW_FORTRAN_STATUS
// NOLINTEND(bugprone-macro-parentheses)

}  // extern "C"
#pragma GCC visibility pop
