// SPDX-License-Identifier: BSD-3-Clause
// What Open MPI's library has beside the standard's functions: objects behind handles, functions
// behind constants, handles and statuses as Fortran has them, and the cells that stand for special
// addresses in Fortran.
#include "abi/foreign/openmpi.hpp"

#include <cstdio>
#include <cstring>

#include "abi/foreign/convert.hpp"

using namespace sinew;
using namespace sinew::foreign;

namespace sinew::foreign {

constinit const predefined_handles all_predefined = [] {
  predefined_handles made{};
  const auto add = [&made](const auto& pairs) {
    for (const handle_pair& p : pairs) {
      if (made.foreign[p.standard] == nullptr) {
        made.foreign[p.standard] = p.foreign;
      }
    }
  };
  add(ops);
  add(comms);
  add(groups);
  add(wins);
  add(files);
  add(sessions);
  add(messages);
  add(infos);
  add(errhandlers);
  add(requests);
  add(datatypes);
  return made;
}();

}  // namespace sinew::foreign

#pragma GCC visibility push(default)
extern "C" {

#define SINEW_ATTRIBUTE_CONSTANTS(Kind)                                                            \
  int OMPI_C_MPI_##Kind##NULL_COPY_FN(void* /*from*/, int /*key*/, void* /*extra*/, void* /*in*/,  \
                                      void* /*out*/, int* flag) {                                  \
    *flag = 0;                                                                                     \
    return MPI_SUCCESS;                                                                            \
  }                                                                                                \
  int OMPI_C_MPI_##Kind##DUP_FN(void* /*from*/, int /*key*/, void* /*extra*/, void* in, void* out, \
                                int* flag) {                                                       \
    *static_cast<void**>(out) = in;                                                                \
    *flag = 1;                                                                                     \
    return MPI_SUCCESS;                                                                            \
  }                                                                                                \
  int OMPI_C_MPI_##Kind##NULL_DELETE_FN(void* /*of*/, int /*key*/, void* /*value*/,                \
                                        void* /*extra*/) {                                         \
    return MPI_SUCCESS;                                                                            \
  }
SINEW_ATTRIBUTE_CONSTANTS()
SINEW_ATTRIBUTE_CONSTANTS(COMM_)
SINEW_ATTRIBUTE_CONSTANTS(TYPE_)
SINEW_ATTRIBUTE_CONSTANTS(WIN_)
#undef SINEW_ATTRIBUTE_CONSTANTS

}  // extern "C"

namespace sinew::foreign {
namespace {

template <class... Functions>
bool is_one_of(void (*function)(), Functions*... known) noexcept {
  return function == nullptr || ((function == reinterpret_cast<void (*)()>(known)) || ...);
}

}  // namespace

bool is_null_copy(void (*function)()) noexcept {
  return is_one_of(function, OMPI_C_MPI_NULL_COPY_FN, OMPI_C_MPI_COMM_NULL_COPY_FN,
                   OMPI_C_MPI_TYPE_NULL_COPY_FN, OMPI_C_MPI_WIN_NULL_COPY_FN);
}
bool is_null_delete(void (*function)()) noexcept {
  return is_one_of(function, OMPI_C_MPI_NULL_DELETE_FN, OMPI_C_MPI_COMM_NULL_DELETE_FN,
                   OMPI_C_MPI_TYPE_NULL_DELETE_FN, OMPI_C_MPI_WIN_NULL_DELETE_FN);
}
bool is_duplicate(void (*function)()) noexcept {
  return function != nullptr && is_one_of(function, OMPI_C_MPI_DUP_FN, OMPI_C_MPI_COMM_DUP_FN,
                                          OMPI_C_MPI_TYPE_DUP_FN, OMPI_C_MPI_WIN_DUP_FN);
}

namespace {

/// A handle in Fortran: a predefined object's own number; of others the standard's integer, which
/// is greater than all of those.
int number_of(void* handle, int made) {
  const auto* const object = static_cast<const predefined_object*>(handle);
  return is_predefined(handle) ? object->fortran : made;
}
template <class Pairs>
void* object_of(int number, const Pairs& pairs) {
  for (const handle_pair& p : pairs) {
    if (static_cast<const predefined_object*>(p.foreign)->fortran == number) {
      return const_cast<void*>(p.foreign);
    }
  }
  return nullptr;
}

/// A status of Fortran's has C's fields in C's order, each an INTEGER; the last two hold the size.
template <class From, class To>
int copy_status(const From* from, To* to) {
  std::memcpy(to, from, sizeof(foreign::status));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace sinew::foreign

extern "C" {

// Cells that Fortran's special addresses are; programs have them as COMMON blocks.
int mpi_fortran_bottom_ = 0;
int mpi_fortran_in_place_ = 0;
int mpi_fortran_unweighted_ = 0;
int mpi_fortran_weights_empty_ = 0;
int mpi_fortran_errcodes_ignore_ = 0;
char mpi_fortran_argv_null_ = 0;
char mpi_fortran_argvs_null_ = 0;
int mpi_fortran_status_ignore_[6] = {};
int mpi_fortran_statuses_ignore_[6] = {};
extern int* openmpi_f_status_ignore asm("MPI_F_STATUS_IGNORE");
int* openmpi_f_status_ignore = mpi_fortran_status_ignore_;
extern int* openmpi_f_statuses_ignore asm("MPI_F_STATUSES_IGNORE");
int* openmpi_f_statuses_ignore = mpi_fortran_statuses_ignore_;
extern foreign::status* openmpi_f08_status_ignore asm("MPI_F08_STATUS_IGNORE");
foreign::status* openmpi_f08_status_ignore = nullptr;
extern foreign::status* openmpi_f08_statuses_ignore asm("MPI_F08_STATUSES_IGNORE");
foreign::status* openmpi_f08_statuses_ignore = nullptr;

#define SINEW_FORTRAN_HANDLE(Name, Standard, pairs)                                    \
  int PMPI_##Name##_c2f(void* handle) {                                                \
    return number_of(handle, standard().Name##_toint(from_foreign<Standard>(handle))); \
  }                                                                                    \
  SINEW_TWIN(MPI_##Name##_c2f) int MPI_##Name##_c2f(void* handle);                     \
  void* PMPI_##Name##_f2c(int number) {                                                \
    void* const known = object_of(number, pairs);                                      \
    return known != nullptr ? known : to_foreign(standard().Name##_fromint(number));   \
  }                                                                                    \
  SINEW_TWIN(MPI_##Name##_f2c) void* MPI_##Name##_f2c(int number)
SINEW_FORTRAN_HANDLE(Comm, MPI_Comm, comms);
SINEW_FORTRAN_HANDLE(Errhandler, MPI_Errhandler, errhandlers);
SINEW_FORTRAN_HANDLE(File, MPI_File, files);
SINEW_FORTRAN_HANDLE(Group, MPI_Group, groups);
SINEW_FORTRAN_HANDLE(Info, MPI_Info, infos);
SINEW_FORTRAN_HANDLE(Message, MPI_Message, messages);
SINEW_FORTRAN_HANDLE(Op, MPI_Op, ops);
SINEW_FORTRAN_HANDLE(Request, MPI_Request, requests);
SINEW_FORTRAN_HANDLE(Session, MPI_Session, sessions);
SINEW_FORTRAN_HANDLE(Type, MPI_Datatype, datatypes);
SINEW_FORTRAN_HANDLE(Win, MPI_Win, wins);
#undef SINEW_FORTRAN_HANDLE

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

int PMPI_Session_set_info(void* /*session*/, void* /*info*/) {
  std::fputs(
      "sinew: error: MPI_Session_set_info is Open MPI's alone, and Sinew does not have it. "
      "Give the info to MPI_Session_init.\n",
      stderr);
  (void)standard().Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
  return code_to(MPI_ERR_UNSUPPORTED_OPERATION);
}
SINEW_TWIN(MPI_Session_set_info) int MPI_Session_set_info(void* session, void* info);

// What Open MPI's Fortran modules call.
MPI_Aint MPI_AINT_ADD_F90(MPI_Aint base, MPI_Aint offset) {
  return standard().Aint_add(base, offset);
}
MPI_Aint MPI_AINT_DIFF_F90(MPI_Aint one, MPI_Aint other) {
  return standard().Aint_diff(one, other);
}
double MPI_WTIME_F90() { return standard().Wtime(); }
double MPI_WTICK_F90() { return standard().Wtick(); }

}  // extern "C"
#pragma GCC visibility pop
