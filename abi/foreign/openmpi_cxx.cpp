// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's C++ binding (MPI-2's, which Open MPI had until 4.1): what its header leaves to a
// library. All its classes are a table of virtual functions and a handle. The tables are the
// program's, for the header makes every source that includes it define them; here they have only
// names.
#include <atomic>
#include <cstdio>
#include <memory>

#include "abi/foreign/generated/openmpi/mpi.h"
#include "abi/slots.hpp"

using namespace sinew;

// MPI's names, and its constants, are as they are.
// NOLINTBEGIN(*-identifier-naming, *-casting-through-void, *-macro-parentheses)

extern "C" void SINEW_set_foreign_operation(MPI_Op op, MPI_User_function* function);

namespace sinew::foreign {

// Of each class, by the name that compilers give it. Two words precede the functions.
#define SINEW_TABLE(class, name)                                                          \
  extern "C" [[gnu::weak]] const void* const all_of_##class[3] asm("_ZTVN3MPI" name "E"); \
  static constexpr const void* const* class##_table = &all_of_##class[2];
SINEW_TABLE(null_comm, "9Comm_Null")
SINEW_TABLE(comm, "4Comm")
SINEW_TABLE(intracomm, "9Intracomm")
SINEW_TABLE(intercomm, "9Intercomm")
SINEW_TABLE(cartcomm, "8Cartcomm")
SINEW_TABLE(graphcomm, "9Graphcomm")
SINEW_TABLE(datatype, "8Datatype")
SINEW_TABLE(errhandler, "10Errhandler")
SINEW_TABLE(file, "4File")
SINEW_TABLE(group, "5Group")
SINEW_TABLE(info, "4Info")
SINEW_TABLE(op, "2Op")
SINEW_TABLE(request, "7Request")
SINEW_TABLE(status, "6Status")
SINEW_TABLE(win, "3Win")
#undef SINEW_TABLE

template <class Handle>
struct object {
  const void* const* table;
  Handle handle;
};

namespace {

/// The program's function that MPI calls may call a virtual one.
void warn_of_hidden_tables() {
  static std::atomic<bool> is_told{false};
  if (all_of_comm == nullptr && !is_told.exchange(true)) {
    std::fputs(
        "sinew: warning: what this program has of MPI's C++ classes is hidden in it, so that "
        "objects that MPI makes for its functions have no virtual functions: compile what includes "
        "mpi.h without -fvisibility=hidden.\n",
        stderr);
  }
}

/// As the program sees what MPI calls it with.
object<MPI_Datatype> object_of(MPI_Datatype type) {
  warn_of_hidden_tables();
  return {datatype_table, type};
}
object<MPI_File> object_of(MPI_File file) { return {file_table, file}; }
object<MPI_Win> object_of(MPI_Win win) { return {win_table, win}; }
object<MPI_Comm> object_of(MPI_Comm comm) {
  warn_of_hidden_tables();
  int inter = 0;
  int topology = MPI_UNDEFINED;
  if (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter != 0) {
    return {intercomm_table, comm};
  }
  PMPI_Topo_test(comm, &topology);
  return {topology == MPI_CART    ? cartcomm_table
          : topology == MPI_GRAPH ? graphcomm_table
                                  : intracomm_table,
          comm};
}

template <class F>
slots::procedure* plain(F* f) {
  return reinterpret_cast<slots::procedure*>(f);
}

void no_slot(const char* what) {
  std::fprintf(stderr,
               "sinew: error: %d different functions are %s already, and there is no room for "
               "more: use one function for several of them.\n",
               slots::most, what);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_INTERN);
}

// --- operations ----------------------------------------------------------------------------------

slots::table operations;

template <int Slot>
struct operation_call {
  static void function(void* in, void* inout, int* length, MPI_Datatype* type) {
    const object<MPI_Datatype> of = object_of(*type);
    operations.at<void(const void*, void*, int, const object<MPI_Datatype>&)>(Slot)(in, inout,
                                                                                    *length, of);
  }
};

// --- error handlers ------------------------------------------------------------------------------

template <class Handle>
slots::table errhandler_functions;

template <class Handle>
struct errhandler_of {
  template <int Slot>
  struct call {
    static void function(Handle* handle, int* code, ...) {
      object<Handle> of = object_of(*handle);
      errhandler_functions<Handle>.template at<void(object<Handle>&, int*, ...)>(Slot)(of, code);
    }
  };
};

template <class Handle, class User, class F>
MPI_Errhandler create_errhandler(User* user, int (*create)(F*, MPI_Errhandler*)) {
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  F* const call = slots::function_of<F, errhandler_of<Handle>::template call>(
      errhandler_functions<Handle>, plain(user));
  if (call == nullptr) {
    no_slot("error handlers");
  } else {
    create(call, &made);
  }
  return made;
}

// --- attributes ----------------------------------------------------------------------------------

template <class Handle>
using c_copy = int(Handle, int, void*, void*, void*, int*);
template <class Handle>
using c_delete = int(Handle, int, void*, void*);

/// One of each two. Lives as long as the process: copies of an attribute may outlive its key.
template <class Handle>
struct attribute_functions {
  c_copy<Handle>* copy_in_c;
  c_delete<Handle>* delete_in_c;
  slots::procedure* copy;
  slots::procedure* erase;
  void* extra;
};

template <class Handle>
int call_copy(Handle from, int key, void* extra, void* in, void* out, int* flag) {
  const auto& all = *static_cast<attribute_functions<Handle>*>(extra);
  if (all.copy_in_c != nullptr) {
    return all.copy_in_c(from, key, all.extra, in, out, flag);
  }
  using function = int(const object<Handle>&, int, void*, void*, void*, bool&);
  const object<Handle> of = object_of(from);
  bool copied = false;
  const int code = reinterpret_cast<function*>(all.copy)(of, key, all.extra, in, out, copied);
  *flag = copied ? 1 : 0;
  return code;
}

template <class Handle>
int call_delete(Handle from, int key, void* value, void* extra) {
  const auto& all = *static_cast<attribute_functions<Handle>*>(extra);
  if (all.delete_in_c != nullptr) {
    return all.delete_in_c(from, key, value, all.extra);
  }
  using function = int(object<Handle>&, int, void*, void*);
  object<Handle> of = object_of(from);
  return reinterpret_cast<function*>(all.erase)(of, key, value, all.extra);
}

template <class Handle, class Create>
int create_key(const attribute_functions<Handle>& functions, Create* create, int& key) {
  auto all = std::make_unique<attribute_functions<Handle>>(functions);
  const int code = create(call_copy<Handle>, call_delete<Handle>, &key, all.get());
  if (code == MPI_SUCCESS) {
    (void)all.release();
  }
  return code;
}

// --- data representations ------------------------------------------------------------------------

using c_conversion = MPI_Datarep_conversion_function;
using conversion = void(void*, object<MPI_Datatype>&, int, void*, MPI_Offset, void*);

/// Of each two that convert one may be C's. Lives as long as the process.
struct representation {
  c_conversion* read_in_c;
  c_conversion* write_in_c;
  slots::procedure* read;
  slots::procedure* write;
  slots::procedure* extent;
  void* extra;
};

int call_conversion(c_conversion* in_c, slots::procedure* other, void* user, MPI_Datatype type,
                    int count, void* file, MPI_Offset position, void* extra) {
  if (in_c != nullptr) {
    return in_c(user, type, count, file, position, extra);
  }
  object<MPI_Datatype> of = object_of(type);
  reinterpret_cast<conversion*>(other)(user, of, count, file, position, extra);
  return MPI_SUCCESS;
}
int call_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
              void* state) {
  const auto& all = *static_cast<representation*>(state);
  return call_conversion(all.read_in_c, all.read, user, type, count, file, position, all.extra);
}
int call_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
               void* state) {
  const auto& all = *static_cast<representation*>(state);
  return call_conversion(all.write_in_c, all.write, user, type, count, file, position, all.extra);
}
int call_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  const auto& all = *static_cast<representation*>(state);
  const object<MPI_Datatype> of = object_of(type);
  using function = void(const object<MPI_Datatype>&, MPI_Aint&, void*);
  reinterpret_cast<function*>(all.extent)(of, *extent, all.extra);
  return MPI_SUCCESS;
}

void register_datarep(const char* name, const representation& functions) {
  const bool reads = functions.read_in_c != nullptr || functions.read != nullptr;
  const bool writes = functions.write_in_c != nullptr || functions.write != nullptr;
  auto all = std::make_unique<representation>(functions);
  if (PMPI_Register_datarep(name, reads ? call_read : MPI_CONVERSION_FN_NULL,
                            writes ? call_write : MPI_CONVERSION_FN_NULL, call_extent,
                            all.get()) == MPI_SUCCESS) {
    (void)all.release();
  }
}

}  // namespace
}  // namespace sinew::foreign

using namespace sinew::foreign;

// --- the classes' own ----------------------------------------------------------------------------

namespace MPI {

using offset = long long;  // MPI_Offset, as programs were compiled

/// Returned in memory, as a class with a copy constructor of its own is.
class Errhandler : object<MPI_Errhandler> {
 public:
  Errhandler(MPI_Errhandler made) : object{errhandler_table, made} {}
  Errhandler(const Errhandler& other) : object(other) {}
};

class Comm_Null : public object<MPI_Comm> {};

class Comm : object<MPI_Comm> {
 public:
  using errhandler_function = void(Comm&, int*, ...);
  using copy_function = int(const Comm&, int, void*, void*, void*, bool&);
  using delete_function = int(Comm&, int, void*, void*);

  Comm();
  Comm(const Comm_Null& other);
  static Errhandler Create_errhandler(errhandler_function* function);
  static int do_create_keyval(c_copy<MPI_Comm>* copy_in_c, c_delete<MPI_Comm>* delete_in_c,
                              copy_function* copy, delete_function* erase, void* extra, int& key);
};
Comm::Comm() : object{comm_table, MPI_COMM_NULL} {}
Comm::Comm(const Comm_Null& other) : object{comm_table, other.handle} {}
Errhandler Comm::Create_errhandler(errhandler_function* function) {
  return create_errhandler<MPI_Comm>(function, PMPI_Comm_create_errhandler);
}
int Comm::do_create_keyval(c_copy<MPI_Comm>* copy_in_c, c_delete<MPI_Comm>* delete_in_c,
                           copy_function* copy, delete_function* erase, void* extra, int& key) {
  return create_key<MPI_Comm>({copy_in_c, delete_in_c, plain(copy), plain(erase), extra},
                              PMPI_Comm_create_keyval, key);
}

class Win : object<MPI_Win> {
 public:
  using errhandler_function = void(Win&, int*, ...);
  using copy_function = int(const Win&, int, void*, void*, void*, bool&);
  using delete_function = int(Win&, int, void*, void*);

  void Free();
  static Errhandler Create_errhandler(errhandler_function* function);
  static int do_create_keyval(c_copy<MPI_Win>* copy_in_c, c_delete<MPI_Win>* delete_in_c,
                              copy_function* copy, delete_function* erase, void* extra, int& key);
};
void Win::Free() { MPI_Win_free(&handle); }
Errhandler Win::Create_errhandler(errhandler_function* function) {
  return create_errhandler<MPI_Win>(function, PMPI_Win_create_errhandler);
}
int Win::do_create_keyval(c_copy<MPI_Win>* copy_in_c, c_delete<MPI_Win>* delete_in_c,
                          copy_function* copy, delete_function* erase, void* extra, int& key) {
  return create_key<MPI_Win>({copy_in_c, delete_in_c, plain(copy), plain(erase), extra},
                             PMPI_Win_create_keyval, key);
}

class Datatype : object<MPI_Datatype> {
 public:
  using copy_function = int(const Datatype&, int, void*, const void*, void*, bool&);
  using delete_function = int(Datatype&, int, void*, void*);

  void Free();
  static int do_create_keyval(c_copy<MPI_Datatype>* copy_in_c, c_delete<MPI_Datatype>* delete_in_c,
                              copy_function* copy, delete_function* erase, void* extra, int& key);
};
void Datatype::Free() { MPI_Type_free(&handle); }
int Datatype::do_create_keyval(c_copy<MPI_Datatype>* copy_in_c, c_delete<MPI_Datatype>* delete_in_c,
                               copy_function* copy, delete_function* erase, void* extra, int& key) {
  return create_key<MPI_Datatype>({copy_in_c, delete_in_c, plain(copy), plain(erase), extra},
                                  PMPI_Type_create_keyval, key);
}

class File : object<MPI_File> {
 public:
  using errhandler_function = void(File&, int*, ...);

  void Close();
  static Errhandler Create_errhandler(errhandler_function* function);
};
void File::Close() { MPI_File_close(&handle); }
Errhandler File::Create_errhandler(errhandler_function* function) {
  return create_errhandler<MPI_File>(function, PMPI_File_create_errhandler);
}

using in_c = int(void*, MPI_Datatype, int, void*, offset, void*);
using in_cxx = void(void*, Datatype&, int, void*, offset, void*);
using extent_function = void(const Datatype&, long&, void*);

c_conversion* conversion_of(in_c* function) { return reinterpret_cast<c_conversion*>(function); }

void Register_datarep(const char* name, in_cxx* read, in_cxx* write, extent_function* extent,
                      void* extra) {
  register_datarep(name, {nullptr, nullptr, plain(read), plain(write), plain(extent), extra});
}
void Register_datarep(const char* name, in_c* read, in_cxx* write, extent_function* extent,
                      void* extra) {
  register_datarep(name,
                   {conversion_of(read), nullptr, nullptr, plain(write), plain(extent), extra});
}
void Register_datarep(const char* name, in_cxx* read, in_c* write, extent_function* extent,
                      void* extra) {
  register_datarep(name,
                   {nullptr, conversion_of(write), plain(read), nullptr, plain(extent), extra});
}
void Register_datarep(const char* name, in_c* read, in_c* write, extent_function* extent,
                      void* extra) {
  register_datarep(
      name, {conversion_of(read), conversion_of(write), nullptr, nullptr, plain(extent), extra});
}

// --- objects -------------------------------------------------------------------------------------

int mpi_errno = MPI_SUCCESS;
extern const char ompi_libcxx_version_string[] = "Sinew";
extern void* const BOTTOM = MPI_BOTTOM;
extern void* const IN_PLACE = MPI_IN_PLACE;
const char** ARGV_NULL = nullptr;
const char*** ARGVS_NULL = nullptr;

object<MPI_Comm> COMM_WORLD{intracomm_table, MPI_COMM_WORLD};
object<MPI_Comm> COMM_SELF{intracomm_table, MPI_COMM_SELF};
object<MPI_Comm> COMM_NULL{null_comm_table, MPI_COMM_NULL};
object<MPI_Group> GROUP_NULL{group_table, MPI_GROUP_NULL};
object<MPI_Group> GROUP_EMPTY{group_table, MPI_GROUP_EMPTY};
object<MPI_Info> INFO_NULL{info_table, MPI_INFO_NULL};
object<MPI_Win> WIN_NULL{win_table, MPI_WIN_NULL};
object<MPI_File> FILE_NULL{file_table, MPI_FILE_NULL};
object<MPI_Request> REQUEST_NULL{request_table, MPI_REQUEST_NULL};
object<MPI_Errhandler> ERRHANDLER_NULL{errhandler_table, MPI_ERRHANDLER_NULL};
object<MPI_Errhandler> ERRORS_ARE_FATAL{errhandler_table, MPI_ERRORS_ARE_FATAL};
object<MPI_Errhandler> ERRORS_RETURN{errhandler_table, MPI_ERRORS_RETURN};
object<MPI_Errhandler> ERRORS_THROW_EXCEPTIONS{errhandler_table, MPI_ERRHANDLER_NULL};

#define SINEW_OP(name, value) object<MPI_Op> name{op_table, MPI_##value};
SINEW_OP(OP_NULL, OP_NULL)
SINEW_OP(MAX, MAX)
SINEW_OP(MIN, MIN)
SINEW_OP(SUM, SUM)
SINEW_OP(PROD, PROD)
SINEW_OP(LAND, LAND)
SINEW_OP(BAND, BAND)
SINEW_OP(LOR, LOR)
SINEW_OP(BOR, BOR)
SINEW_OP(LXOR, LXOR)
SINEW_OP(BXOR, BXOR)
SINEW_OP(MAXLOC, MAXLOC)
SINEW_OP(MINLOC, MINLOC)
SINEW_OP(REPLACE, REPLACE)
#undef SINEW_OP

#define SINEW_TYPE(name, value) object<MPI_Datatype> name{datatype_table, MPI_##value};
SINEW_TYPE(CHAR, CHAR)
SINEW_TYPE(SIGNED_CHAR, SIGNED_CHAR)
SINEW_TYPE(UNSIGNED_CHAR, UNSIGNED_CHAR)
SINEW_TYPE(BYTE, BYTE)
SINEW_TYPE(WCHAR, WCHAR)
SINEW_TYPE(SHORT, SHORT)
SINEW_TYPE(UNSIGNED_SHORT, UNSIGNED_SHORT)
SINEW_TYPE(INT, INT)
SINEW_TYPE(UNSIGNED, UNSIGNED)
SINEW_TYPE(LONG, LONG)
SINEW_TYPE(UNSIGNED_LONG, UNSIGNED_LONG)
SINEW_TYPE(LONG_LONG, LONG_LONG)
SINEW_TYPE(LONG_LONG_INT, LONG_LONG_INT)
SINEW_TYPE(UNSIGNED_LONG_LONG, UNSIGNED_LONG_LONG)
SINEW_TYPE(FLOAT, FLOAT)
SINEW_TYPE(DOUBLE, DOUBLE)
SINEW_TYPE(LONG_DOUBLE, LONG_DOUBLE)
SINEW_TYPE(BOOL, CXX_BOOL)
SINEW_TYPE(COMPLEX, CXX_FLOAT_COMPLEX)
SINEW_TYPE(DOUBLE_COMPLEX, CXX_DOUBLE_COMPLEX)
SINEW_TYPE(LONG_DOUBLE_COMPLEX, CXX_LONG_DOUBLE_COMPLEX)
SINEW_TYPE(PACKED, PACKED)
SINEW_TYPE(FLOAT_INT, FLOAT_INT)
SINEW_TYPE(DOUBLE_INT, DOUBLE_INT)
SINEW_TYPE(LONG_INT, LONG_INT)
SINEW_TYPE(SHORT_INT, SHORT_INT)
SINEW_TYPE(LONG_DOUBLE_INT, LONG_DOUBLE_INT)
SINEW_TYPE(TWOINT, 2INT)
SINEW_TYPE(CHARACTER, CHARACTER)
SINEW_TYPE(INTEGER, INTEGER)
SINEW_TYPE(INTEGER1, INTEGER1)
SINEW_TYPE(INTEGER2, INTEGER2)
SINEW_TYPE(INTEGER4, INTEGER4)
SINEW_TYPE(REAL, REAL)
SINEW_TYPE(REAL2, REAL)
SINEW_TYPE(REAL4, REAL4)
SINEW_TYPE(REAL8, REAL8)
SINEW_TYPE(DOUBLE_PRECISION, DOUBLE_PRECISION)
SINEW_TYPE(LOGICAL, LOGICAL)
SINEW_TYPE(F_COMPLEX, COMPLEX)
SINEW_TYPE(F_DOUBLE_COMPLEX, DOUBLE_COMPLEX)
SINEW_TYPE(TWOREAL, 2REAL)
SINEW_TYPE(TWODOUBLE_PRECISION, 2DOUBLE_PRECISION)
SINEW_TYPE(TWOINTEGER, 2INTEGER)
SINEW_TYPE(DATATYPE_NULL, DATATYPE_NULL)
#undef SINEW_TYPE

}  // namespace MPI

namespace sinew::foreign {
namespace {

/// As Open MPI's does where it was built without exceptions, which Debian's is: C's functions are
/// between whoever throws and whoever catches.
void tell_error(MPI_Comm* /*comm*/, int* code, ...) {
  MPI::mpi_errno = *code;
  std::fprintf(stderr,
               "sinew: error: MPI::ERRORS_THROW_EXCEPTIONS cannot throw; MPI::mpi_errno has the "
               "error's code, %d.\n",
               *code);
}

}  // namespace
}  // namespace sinew::foreign

namespace MPI {

/// MPI::Init calls it.
void InitializeIntercepts() {
  PMPI_Comm_create_errhandler(tell_error, &ERRORS_THROW_EXCEPTIONS.handle);
}

}  // namespace MPI

// --- what the header calls by C's names ----------------------------------------------------------

namespace {

using operation = void(const void*, void*, int, const object<MPI_Datatype>&);

/// Of a generalized request, in the header's order. Whoever frees the request deletes it.
struct request_functions {
  void* extra;
  int (*query)(void* extra, object<MPI_Status>& status);
  int (*release)(void* extra);
  int (*cancel)(void* extra, bool complete);
};

}  // namespace

extern "C" {

/// What MPI::Op::Init makes an operation of, before it says what it calls.
void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* type,
                               MPI_User_function* function) {
  const object<MPI_Datatype> of = object_of(*type);
  reinterpret_cast<operation*>(plain(function))(in, inout, *length, of);
}

void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function* function) {
  MPI_User_function* const call =
      slots::function_of<MPI_User_function, operation_call>(operations, plain(function));
  if (call == nullptr) {
    no_slot("operations");
  } else {
    SINEW_set_foreign_operation(op, call);
  }
}

int ompi_mpi_cxx_grequest_query_fn_intercept(void* state, MPI_Status* status) {
  const auto& all = *static_cast<request_functions*>(state);
  object<MPI_Status> told{status_table, *status};
  const int code = all.query(all.extra, told);
  *status = told.handle;
  return code;
}

int ompi_mpi_cxx_grequest_free_fn_intercept(void* state) {
  const std::unique_ptr<request_functions> all(static_cast<request_functions*>(state));
  return all->release(all->extra);
}

int ompi_mpi_cxx_grequest_cancel_fn_intercept(void* state, int complete) {
  const auto& all = *static_cast<request_functions*>(state);
  return all.cancel(all.extra, complete != 0);
}

}  // extern "C"

// NOLINTEND(*-identifier-naming, *-casting-through-void, *-macro-parentheses)
