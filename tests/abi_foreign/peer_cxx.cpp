// SPDX-License-Identifier: BSD-3-Clause
// MPI's C++ binding as MPI-2.2 has it, compiled with another MPI's header. Errors throw with MPICH;
// Open MPI's library, as Debian has it, sets MPI::mpi_errno.
#include <mpi.h>

#include <cstdlib>
#include <iostream>

#if defined(OPEN_MPI) && !OMPI_BUILD_CXX_BINDINGS
#error "this MPI lacks what the program uses"
#endif

namespace {

void demand(bool holds, const char* what) {
  if (!holds) {
    std::cout << "wrong: " << what << std::endl;
    std::abort();
  }
}

void add(const void* in, void* inout, int length, const MPI::Datatype& type) {
  demand(type == MPI::INT, "the datatype of an operation");
  for (int i = 0; i < length; ++i) {
    static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
  }
}

int errors = 0;
void count_error(MPI::Comm&, int* code, ...) {
  demand(MPI::Get_error_class(*code) == MPI::ERR_RANK, "the code of an error handler");
  ++errors;
}

int copies = 0;
int copy(const MPI::Comm&, int, void*, void* in, void* out, bool& flag) {
  ++copies;
  *static_cast<void**>(out) = in;
  flag = true;
  return MPI::SUCCESS;
}
int erase(MPI::Comm&, int, void*, void*) {
  --copies;
  return MPI::SUCCESS;
}

void messages(MPI::Intracomm& comm, int rank, int ranks) {
  int sent = rank;
  int received = -1;
  MPI::Request request = comm.Isend(&sent, 1, MPI::INT, (rank + 1) % ranks, 3);
  MPI::Status status;
  comm.Recv(&received, 1, MPI::INT, MPI::ANY_SOURCE, 3, status);
  request.Wait();
  demand(received == (rank + ranks - 1) % ranks && status.Get_source() == received, "a message");
  demand(status.Get_count(MPI::INT) == 1, "a status");
  MPI::Op op;
  op.Init(add, true);
  int sum = 0;
  comm.Allreduce(&sent, &sum, 1, MPI::INT, op);
  demand(sum == ranks * (ranks - 1) / 2, "a user operation");
  op.Free();
}

void error_handlers(MPI::Intracomm& comm, int ranks) {
  int value = 0;
  MPI::Errhandler handler = MPI::Comm::Create_errhandler(count_error);
  comm.Set_errhandler(handler);
  comm.Send(&value, 1, MPI::INT, ranks + 4, 0);
  demand(errors == 1, "an error handler");
  handler.Free();
  comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  int told = MPI::SUCCESS;
  try {
    comm.Send(&value, 1, MPI::INT, ranks + 4, 0);
#ifdef OPEN_MPI
    told = MPI::Get_error_class(MPI::mpi_errno);
#endif
  } catch (MPI::Exception& e) {
    told = e.Get_error_class();
  }
  demand(told == MPI::ERR_RANK, "MPI::ERRORS_THROW_EXCEPTIONS");
  comm.Set_errhandler(MPI::ERRORS_ARE_FATAL);
}

void attributes(MPI::Intracomm& comm) {
  int value = 0;
  int key = MPI::Comm::Create_keyval(copy, erase, nullptr);
  comm.Set_attr(key, &value);
  MPI::Intracomm twin = comm.Dup();
  void* there = nullptr;
  demand(twin.Get_attr(key, &there) && there == &value && copies == 1, "a copied attribute");
  twin.Free();
  demand(copies == 0, "a deleted attribute");
  comm.Delete_attr(key);
  copies = 0;
  MPI::Comm::Free_keyval(key);
}

void objects(MPI::Intracomm& comm, int rank, int ranks) {
  const int dimensions[1] = {ranks};
  const bool periodic[1] = {true};
  MPI::Cartcomm ring = comm.Create_cart(1, dimensions, periodic, false);
  int from = -1;
  int to = -1;
  ring.Shift(0, 1, from, to);
  demand(to == (rank + 1) % ranks, "a ring");
  ring.Free();
  MPI::Datatype three = MPI::INT.Create_contiguous(3);
  three.Commit();
  demand(three.Get_size() == 12, "a datatype");
  three.Free();
  MPI::Group group = comm.Get_group();
  demand(group.Get_size() == ranks, "a group");
  group.Free();
  int shared = rank;
  MPI::Win win = MPI::Win::Create(&shared, sizeof shared, 1, MPI::INFO_NULL, comm);
  int got = -1;
  win.Fence(0);
  win.Get(&got, 1, MPI::INT, (rank + 1) % ranks, 0, 1, MPI::INT);
  win.Fence(0);
  demand(got == (rank + 1) % ranks, "a window");
  win.Free();
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank();
  const int ranks = MPI::COMM_WORLD.Get_size();
  MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
  messages(comm, rank, ranks);
  error_handlers(comm, ranks);
  attributes(comm);
  objects(comm, rank, ranks);
  comm.Free();
  if (rank == 0) {
    std::cout << "good" << std::endl;
  }
  MPI::Finalize();
  return 0;
}
