// SPDX-License-Identifier: BSD-3-Clause
// What MPICH's library for C++ asks libmpi.so.12 for: functions of C++ are called by functions of
// that library, which are named after an operation, an error handler or a key has been created.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

extern "C" {
using procedure = void();
void MPII_Op_set_cxx(MPI_Op op, procedure* caller);
void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, procedure* caller);
void MPII_Keyval_set_proxy(int key, procedure* copy, procedure* erase);
}

namespace {

constexpr MPI_Errhandler errors_throw_exceptions = 0x54000002;

void demand(bool holds, const char* what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::abort();
  }
}

template <class F>
procedure* plain(F* function) {
  return reinterpret_cast<procedure*>(function);
}

using operation = void(const int* in, int* inout, int length);
void add(const int* in, int* inout, int length) {
  for (int i = 0; i < length; ++i) {
    inout[i] += in[i];
  }
}
void call_operation(const void* in, void* inout, int length, MPI_Datatype type,
                    operation* function) {
  demand(type == MPI_INT, "the datatype of an operation");
  function(static_cast<const int*>(in), static_cast<int*>(inout), length);
}

int errors = 0;
void count_error(int kind) { errors += kind == 0 ? 1 : 100; }
void call_errhandler(int kind, int* comm, int* code, void (*function)(int)) {
  int class_of_code = MPI_SUCCESS;
  int size = 0;
  MPI_Error_class(*code, &class_of_code);
  demand(class_of_code == MPI_ERR_RANK && MPI_Comm_size(*comm, &size) == MPI_SUCCESS,
         "what an error handler gets");
  function(kind);
}

int copies = 0;
int copy(int by) { return copies += by; }
int call_copy(int (*function)(int), int comm, int /*key*/, void* extra, int kind, void* in,
              void** out, int* flag) {
  demand(comm != MPI_COMM_NULL && extra == &copies && kind == 0, "what a copy function gets");
  *out = in;
  *flag = 1;
  function(1);
  return MPI_SUCCESS;
}
int call_delete(int (*function)(int), int /*comm*/, int /*key*/, int kind, void* value,
                void* extra) {
  demand(kind == 0 && value == &errors && extra == &copies, "what a delete function gets");
  function(-1);
  return MPI_SUCCESS;
}

void operations(int ranks) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(reinterpret_cast<MPI_User_function*>(add), 1, &op);
  MPII_Op_set_cxx(op, plain(call_operation));
  const int mine = 3;
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  demand(sum == 3 * ranks, "an operation");
  MPI_Op_free(&op);
}

void error_handlers(int ranks) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(reinterpret_cast<MPI_Comm_errhandler_function*>(count_error),
                             &handler);
  MPII_Errhandler_set_cxx(handler, plain(call_errhandler));
  MPI_Comm_set_errhandler(comm, handler);
  demand(MPI_Send(nullptr, 0, MPI_INT, ranks, 0, comm) == MPI_SUCCESS,
         "an error that is dealt with");
  demand(errors == 1, "an error handler");
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(comm, errors_throw_exceptions);
  MPI_Comm_get_errhandler(comm, &handler);
  demand(handler == errors_throw_exceptions, "the handler of exceptions");
  demand(MPI_Send(nullptr, 0, MPI_INT, ranks, 0, comm) != MPI_SUCCESS, "an error for an exception");
  MPI_Comm_free(&comm);
}

void attributes() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(reinterpret_cast<MPI_Comm_copy_attr_function*>(copy),
                         reinterpret_cast<MPI_Comm_delete_attr_function*>(copy), &key, &copies);
  MPII_Keyval_set_proxy(key, plain(call_copy), plain(call_delete));
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm two = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &one);
  MPI_Comm_set_attr(one, key, &errors);
  MPI_Comm_dup(one, &two);
  demand(copies == 1, "a copied attribute");
  MPI_Comm_free(&two);
  MPI_Comm_free(&one);
  demand(copies == -1, "deleted attributes");
  MPI_Comm_free_keyval(&key);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  operations(ranks);
  error_handlers(ranks);
  attributes();
  MPI_Finalize();
  std::puts("good");
  return 0;
}
