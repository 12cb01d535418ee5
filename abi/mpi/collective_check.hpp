// SINEW_MPI_CHECK: before a collective runs its ranks compare what they call: which collective,
// root, operation, and, where all blocks are alike, how much data of which kind. Rank 0 of the
// communicator compares. Blocking calls wait for its answer, and all fail if one differs, or if an
// earlier call did that was not waited for; if errors are fatal rank 0 tells of those as soon as it
// hears of them. Amounts of the v and w forms and of neighbours are not compared.
//
// While the setting is off this costs nothing: the bindings of collectives leave their path where
// they would ask whether MPI is running (collectives_open).
#pragma once

#include <cstdint>

#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/comm.hpp"

namespace sinew::mpi::check {

enum class form : std::uint8_t { blocking, nonblocking, persistent };

/// What one rank calls. It travels as bytes.
struct signature {
  char name[40] = {};
  std::int32_t root = -1;  ///< -1: none
  std::int32_t op = -1;    ///< the value of a predefined one; -1: none; 0: the program's own
  std::uint64_t bytes = 0;
  bool has_amount = false;
  layout::element kind = layout::element::none;  ///< none: several kinds
  form how = form::blocking;
};

/// Throws what the ranks do not agree on. Blocking calls suspend. Cold.
void compare(form how, MPI_Comm comm, signature mine);

/// Whether the setting is on.
[[nodiscard]] bool wanted() noexcept;

[[nodiscard]] signature amount(MPI_Count count, MPI_Datatype type, int root = -1);
[[nodiscard]] signature with_op(signature s, MPI_Op op);

// One for each collective, by the arguments of its three forms.

inline void Barrier(form how, MPI_Comm comm, auto...) { compare(how, comm, {}); }
inline void Bcast(form how, void*, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                  auto...) {
  compare(how, comm, amount(count, type, root));
}
inline void Reduce(form how, const void*, void*, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   int root, MPI_Comm comm, auto...) {
  compare(how, comm, with_op(amount(count, type, root), op));
}
inline void Allreduce(form how, const void*, void*, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, auto...) {
  compare(how, comm, with_op(amount(count, type), op));
}
inline void Scan(form how, const void* a, void* b, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, auto...) {
  Allreduce(how, a, b, count, type, op, comm);
}
inline void Exscan(form how, const void* a, void* b, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, auto...) {
  Allreduce(how, a, b, count, type, op, comm);
}
inline void Reduce_scatter_block(form how, const void* a, void* b, MPI_Count count,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm, auto...) {
  Allreduce(how, a, b, count, type, op, comm);
}
inline void Reduce_scatter(form how, const void*, void*, const MPI_Count counts[],
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm, auto...) {
  MPI_Count sum = 0;
  for (int r = 0; counts != nullptr && r < comm_of(comm).comm->size(); ++r) {
    sum += counts[r];
  }
  compare(how, comm, with_op(amount(sum, type), op));
}
inline void Gather(form how, const void*, MPI_Count sends, MPI_Datatype send_type, void*,
                   MPI_Count receives, MPI_Datatype receive_type, int root, MPI_Comm comm,
                   auto...) {
  const bool at_root = comm_of(comm).comm->rank() == comm_rank{root};
  compare(how, comm,
          at_root ? amount(receives, receive_type, root) : amount(sends, send_type, root));
}
inline void Scatter(form how, const void*, MPI_Count sends, MPI_Datatype send_type, void*,
                    MPI_Count receives, MPI_Datatype receive_type, int root, MPI_Comm comm,
                    auto...) {
  const bool at_root = comm_of(comm).comm->rank() == comm_rank{root};
  compare(how, comm,
          at_root ? amount(sends, send_type, root) : amount(receives, receive_type, root));
}
inline void Allgather(form how, const void*, MPI_Count, MPI_Datatype, void*, MPI_Count receives,
                      MPI_Datatype receive_type, MPI_Comm comm, auto...) {
  compare(how, comm, amount(receives, receive_type));
}
inline void Alltoall(form how, const void*, MPI_Count, MPI_Datatype, void*, MPI_Count receives,
                     MPI_Datatype receive_type, MPI_Comm comm, auto...) {
  compare(how, comm, amount(receives, receive_type));
}
inline void Gatherv(form how, const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count[],
                    const MPI_Aint[], MPI_Datatype, int root, MPI_Comm comm, auto...) {
  signature s;
  s.root = root;
  compare(how, comm, s);
}
inline void Scatterv(form how, const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype,
                     void*, MPI_Count, MPI_Datatype, int root, MPI_Comm comm, auto...) {
  signature s;
  s.root = root;
  compare(how, comm, s);
}
inline void Allgatherv(form how, const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count[],
                       const MPI_Aint[], MPI_Datatype, MPI_Comm comm, auto...) {
  compare(how, comm, {});
}
inline void Alltoallv(form how, const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype,
                      void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, MPI_Comm comm,
                      auto...) {
  compare(how, comm, {});
}
inline void Alltoallw(form how, const void*, const MPI_Count[], const MPI_Aint[],
                      const MPI_Datatype[], void*, const MPI_Count[], const MPI_Aint[],
                      const MPI_Datatype[], MPI_Comm comm, auto...) {
  compare(how, comm, {});
}

}  // namespace sinew::mpi::check
