// SPDX-License-Identifier: BSD-3-Clause
// Attributes: Fortran's values are integers of the width of an address, C's are addresses.
// Predefined attributes are addresses of integers in C and the integers in Fortran (MPI-5.0
// section 19.3.7). Compiled twice, as the generated procedures are.
#include <memory>

#include "abi/fortran/callbacks.hpp"
#include "abi/fortran/convert.hpp"

using namespace sinew::fortran;

// Of Sinew's libmpi_abi alone (abi/mpi/attributes.cpp); null on another library, where a value that
// Fortran has set is read in C as the integer itself, not as its address.
extern "C" [[gnu::weak]] void SINEW_caller_is_fortran(int integer_bytes);

namespace {

/// Says for the one call that follows that it is Fortran's.
class fortran_call {
 public:
  explicit fortran_call(std::size_t integer_bytes) { say(static_cast<int>(integer_bytes)); }
  fortran_call(const fortran_call&) = delete;
  fortran_call& operator=(const fortran_call&) = delete;
  ~fortran_call() { say(0); }

 private:
  static void say(int integer_bytes) {
    if (SINEW_caller_is_fortran != nullptr) {
      SINEW_caller_is_fortran(integer_bytes);
    }
  }
};

/// What C's address of a value means to Fortran.
MPI_Aint fortran_value(int key, void* value) {
  switch (key) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *static_cast<int*>(value);
    case MPI_WIN_SIZE:
      return *static_cast<MPI_Aint*>(value);
    default:
      return reinterpret_cast<MPI_Aint>(value);
  }
}

template <class Create, class Copy, class Delete>
void create_keyval(Create create, Copy copy, Delete erase, attribute_procedures all, int* key,
                   int* ierror) {
  auto kept = std::make_unique<attribute_procedures>(all);
  const fortran_call from(all.old ? sizeof(int) : sizeof(MPI_Aint));
  const int code = create(copy, erase, key, kept.get());
  if (code == MPI_SUCCESS) {
    (void)kept.release();  // see attribute_procedures
  }
  done(ierror, code);
}

}  // namespace

extern "C" {

#define SINEW_ATTRIBUTES(name, Name, Handle)                                                   \
  void FORTRAN(name##_create_keyval)(callback * copy, callback * erase, int* key,              \
                                     const MPI_Aint* state, int* ierror) {                     \
    create_keyval(MPI(Name##_create_keyval), name##_copy_of(copy), name##_delete_of(erase),    \
                  {copy, erase, *state, false}, key, ierror);                                  \
  }                                                                                            \
  SAME_AS(name##_create_keyval)                                                                \
  void F08(name##_create_keyval)(callback * copy, callback * erase, int* key,                  \
                                 const MPI_Aint* state, int* ierror);                          \
                                                                                               \
  void FORTRAN(name##_set_attr)(const int* handle, const int* key, const MPI_Aint* value,      \
                                int* ierror) {                                                 \
    const fortran_call from(sizeof *value);                                                    \
    done(ierror, MPI(Name##_set_attr)(from_fortran<Handle>(handle), key_in_c(*key),            \
                                      reinterpret_cast<void*>(*value)));                       \
  }                                                                                            \
  SAME_AS(name##_set_attr)                                                                     \
  void F08(name##_set_attr)(const int* handle, const int* key, const MPI_Aint* value,          \
                            int* ierror);                                                      \
                                                                                               \
  void FORTRAN(name##_get_attr)(const int* handle, const int* key, MPI_Aint* value, int* flag, \
                                int* ierror) {                                                 \
    void* there = nullptr;                                                                     \
    int found = 0;                                                                             \
    const fortran_call from(sizeof *value);                                                    \
    const int key_there = key_in_c(*key);                                                      \
    const int code =                                                                           \
        MPI(Name##_get_attr)(from_fortran<Handle>(handle), key_there, &there, &found);         \
    if (code == MPI_SUCCESS) {                                                                 \
      *flag = logical(found);                                                                  \
      if (found != 0) {                                                                        \
        *value = fortran_value(key_there, there);                                              \
      }                                                                                        \
    }                                                                                          \
    done(ierror, code);                                                                        \
  }                                                                                            \
  SAME_AS(name##_get_attr)                                                                     \
  void F08(name##_get_attr)(const int* handle, const int* key, MPI_Aint* value, int* flag,     \
                            int* ierror);

SINEW_ATTRIBUTES(comm, Comm, MPI_Comm)
SINEW_ATTRIBUTES(type, Type, MPI_Datatype)
SINEW_ATTRIBUTES(win, Win, MPI_Win)
#undef SINEW_ATTRIBUTES

// --- MPI-1's, with default INTEGERs --------------------------------------------------------------

void FORTRAN(keyval_create)(callback* copy, callback* erase, int* key, const int* state,
                            int* ierror) {
  create_keyval(MPI(Comm_create_keyval), comm_copy_of(copy), comm_delete_of(erase),
                {copy, erase, *state, true}, key, ierror);
}

void FORTRAN(keyval_free)(int* key, int* ierror) { done(ierror, MPI(Comm_free_keyval)(key)); }

void FORTRAN(attr_put)(const int* comm, const int* key, const int* value, int* ierror) {
  const fortran_call from(sizeof *value);
  done(ierror, MPI(Comm_set_attr)(from_fortran<MPI_Comm>(comm), key_in_c(*key),
                                  reinterpret_cast<void*>(static_cast<MPI_Aint>(*value))));
}

void FORTRAN(attr_get)(const int* comm, const int* key, int* value, int* flag, int* ierror) {
  void* there = nullptr;
  int found = 0;
  const fortran_call from(sizeof *value);
  const int key_there = key_in_c(*key);
  const int code = MPI(Comm_get_attr)(from_fortran<MPI_Comm>(comm), key_there, &there, &found);
  if (code == MPI_SUCCESS) {
    *flag = logical(found);
    if (found != 0) {
      *value = static_cast<int>(fortran_value(key_there, there));
    }
  }
  done(ierror, code);
}

void FORTRAN(attr_delete)(const int* comm, const int* key, int* ierror) {
  done(ierror, MPI(Comm_delete_attr)(from_fortran<MPI_Comm>(comm), key_in_c(*key)));
}

}  // extern "C"
