// SPDX-License-Identifier: BSD-3-Clause
// What Open MPI's header for C++ leaves to libmpi_cxx.so.40, with classes that are made as its are:
// a table of virtual functions, which each program has, and a handle.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

// MPI's names; in each class a virtual function that makes the compiler define its table here.
// NOLINTBEGIN(*-identifier-naming, *-use-override, *-casting-through-void)

extern "C" {
void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* type,
                               MPI_User_function* function);
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function* function);
int ompi_mpi_cxx_grequest_query_fn_intercept(void* state, MPI_Status* status);
int ompi_mpi_cxx_grequest_free_fn_intercept(void* state);
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void* state, int complete);
}

namespace MPI {

template <class Handle, int Class>
class object {
 public:
  virtual ~object() = default;
  virtual int number() const { return Class; }
  Handle handle;
};

class Errhandler : public object<MPI_Errhandler, 1> {
 public:
  Errhandler(const Errhandler& other) : object(other) {}
  virtual void define_table();
};
class Comm_Null : public object<MPI_Comm, 2> {
  virtual void define_table();
};
class Comm : public Comm_Null {
 public:
  Comm();
  virtual void define_table();
  int number() const override { return 3; }
  static Errhandler Create_errhandler(void (*function)(Comm&, int*, ...));

 protected:
  friend int make_key(int& key, int& state);
  static int do_create_keyval(int (*)(MPI_Comm, int, void*, void*, void*, int*),
                              int (*)(MPI_Comm, int, void*, void*),
                              int (*)(const Comm&, int, void*, void*, void*, bool&),
                              int (*)(Comm&, int, void*, void*), void*, int&);
};
class Intracomm : public Comm {
  virtual void define_table();
  int number() const override { return 4; }
};
class Datatype : public object<MPI_Datatype, 5> {
  virtual void define_table();

 public:
  virtual void Free();
};
class Status : public object<MPI_Status, 6> {
  virtual void define_table();
};
inline void Errhandler::define_table() {}
inline void Comm_Null::define_table() {}
inline void Comm::define_table() {}
inline void Intracomm::define_table() {}
inline void Datatype::define_table() {}
inline void Status::define_table() {}

void InitializeIntercepts();
int make_key(int& key, int& state);
extern Intracomm COMM_WORLD;
extern const Datatype INT;
extern const Errhandler ERRORS_THROW_EXCEPTIONS;
extern int mpi_errno;

}  // namespace MPI

namespace {

void demand(bool holds, const char* what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::abort();
  }
}

void add(const void* in, void* inout, int length, const MPI::Datatype& type) {
  demand(type.number() == 5 && type.handle == MPI_INT, "the datatype of an operation");
  for (int i = 0; i < length; ++i) {
    static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
  }
}
void multiply(const void* in, void* inout, int length, const MPI::Datatype& /*type*/) {
  for (int i = 0; i < length; ++i) {
    static_cast<int*>(inout)[i] *= static_cast<const int*>(in)[i];
  }
}

MPI_Op operation(void (*function)(const void*, void*, int, const MPI::Datatype&)) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(reinterpret_cast<MPI_User_function*>(ompi_mpi_cxx_op_intercept), 1, &op);
  ompi_op_set_cxx_callback(op, reinterpret_cast<MPI_User_function*>(function));
  return op;
}

void operations(int ranks) {
  MPI_Op sum = operation(add);
  MPI_Op product = operation(multiply);
  int mine = 2;
  int result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI::INT.handle, sum, MPI_COMM_WORLD);
  demand(result == 2 * ranks, "a sum");
  MPI_Allreduce(&mine, &result, 1, MPI::INT.handle, product, MPI_COMM_WORLD);
  demand(result == 1 << ranks, "a product");
  MPI_Op_free(&sum);
  MPI_Op_free(&product);
}

int errors = 0;
void count_error(MPI::Comm& comm, int* code, ...) {
  int of = MPI_SUCCESS;
  MPI_Error_class(*code, &of);
  demand(comm.number() == 4 && of == MPI_ERR_RANK, "what an error handler gets");
  ++errors;
}

void error_handlers(int ranks) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI::COMM_WORLD.handle, &comm);
  MPI::Errhandler handler = MPI::Comm::Create_errhandler(count_error);
  demand(handler.number() == 1, "the class of an error handler");
  MPI_Comm_set_errhandler(comm, handler.handle);
  MPI_Send(nullptr, 0, MPI_INT, ranks + 3, 0, comm);
  demand(errors == 1, "an error handler");
  MPI_Comm_set_errhandler(comm, MPI::ERRORS_THROW_EXCEPTIONS.handle);
  MPI_Send(nullptr, 0, MPI_INT, ranks + 3, 0, comm);
  int of = MPI_SUCCESS;
  MPI_Error_class(MPI::mpi_errno, &of);
  demand(of == MPI_ERR_RANK, "MPI::mpi_errno");
  MPI_Errhandler_free(&handler.handle);
  MPI_Comm_free(&comm);
}

int copies = 0;
int copy(const MPI::Comm& from, int, void* state, void* in, void* out, bool& flag) {
  demand(from.number() == 4 && *static_cast<int*>(state) == 7, "what a copy function gets");
  ++copies;
  *static_cast<void**>(out) = in;
  flag = true;
  return MPI_SUCCESS;
}
int erase(MPI::Comm&, int, void*, void*) {
  --copies;
  return MPI_SUCCESS;
}

void attributes(int& state) {
  int key = MPI_KEYVAL_INVALID;
  demand(MPI::make_key(key, state) == MPI_SUCCESS, "a key");
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm two = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &one);
  MPI_Comm_set_attr(one, key, &state);
  MPI_Comm_dup(one, &two);
  void* there = nullptr;
  int found = 0;
  MPI_Comm_get_attr(two, key, &there, &found);
  demand(found != 0 && there == &state && copies == 1, "a copied attribute");
  MPI_Comm_free(&two);
  demand(copies == 0, "a deleted attribute");
  MPI_Comm_delete_attr(one, key);
  MPI_Comm_free(&one);
  MPI_Comm_free_keyval(&key);
}

int query(void*, MPI::Status& status) {
  demand(status.number() == 6, "the class of a status");
  status.handle.MPI_TAG = 5;
  return MPI_SUCCESS;
}
int release(void* freed) {
  ++*static_cast<int*>(freed);
  return MPI_SUCCESS;
}
int cancel(void*, bool) { return MPI_SUCCESS; }

void requests() {
  struct functions {
    void* extra;
    int (*query)(void*, MPI::Status&);
    int (*release)(void*);
    int (*cancel)(void*, bool);
  };
  int freed = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(ompi_mpi_cxx_grequest_query_fn_intercept,
                     ompi_mpi_cxx_grequest_free_fn_intercept,
                     ompi_mpi_cxx_grequest_cancel_fn_intercept,
                     new functions{&freed, query, release, cancel}, &request);
  MPI_Grequest_complete(request);
  MPI_Status status;
  MPI_Wait(&request, &status);
  demand(status.MPI_TAG == 5 && freed == 1, "a generalized request");
}

}  // namespace

int MPI::make_key(int& key, int& state) {
  return Comm::do_create_keyval(nullptr, nullptr, copy, erase, &state, key);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI::InitializeIntercepts();
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  demand(MPI::COMM_WORLD.handle == MPI_COMM_WORLD, "MPI::COMM_WORLD");
  demand(static_cast<const MPI::Comm&>(MPI::COMM_WORLD).number() == 4, "its class");
  demand(MPI::Comm().number() == 3, "a communicator's class");
  int state = 7;
  operations(ranks);
  error_handlers(ranks);
  attributes(state);
  requests();
  MPI::Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair.handle);
  pair.Free();
  demand(pair.handle == MPI_DATATYPE_NULL, "MPI::Datatype::Free");
  MPI_Finalize();
  if (rank == 0) {
    std::puts("good");
  }
  return 0;
}

// NOLINTEND(*-identifier-naming, *-use-override, *-casting-through-void)
