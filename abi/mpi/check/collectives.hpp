// SPDX-License-Identifier: BSD-3-Clause
// SINEW_MPI_CHECK=collectives: before a collective runs its ranks compare what they call: which
// collective, root, operation, and, where all blocks are alike, how much data of which kind. Rank 0
// of the communicator compares. Blocking calls wait for its answer, and all fail if one differs, or
// if an earlier call did that was not waited for; if errors are fatal rank 0 tells of those as soon
// as it hears of them. Amounts of the v and w forms and of neighbours are not compared, and of
// calls between groups only the names are. A rank's send and receive buffers must not overlap
// either.
#pragma once

#include <cstdint>

#include "abi/mpi/check/buffers.hpp"
#include "abi/mpi/check/bytes_of_buffer.hpp"
#include "abi/mpi/check/check.hpp"
#include "abi/mpi/check/windows.hpp"
#include "abi/mpi/collective_arguments.hpp"
#include "abi/mpi/comm.hpp"

namespace sinew::mpi::check {

enum class form : std::uint8_t { blocking, nonblocking, persistent };

/// The call that is looked at, and in which form it calls its collective.
struct of_call {
  const watch::call& call;
  form how;
};

/// What one rank calls. It travels as bytes.
struct signature {
  char name[40] = {};
  std::int32_t root = -1;  ///< -1: none
  std::int32_t op = -1;    ///< the value of a predefined one; -1: none; 0: the program's own
  std::uint64_t bytes = 0;
  bool has_amount = false;
  bool overlap = false;                          ///< of its send and receive buffers
  layout::element kind = layout::element::none;  ///< none: several kinds
  form how = form::blocking;
};

/// Throws what the ranks do not agree on. Blocking calls suspend. Cold.
void compare(of_call of, comm_object& c, signature mine);

/// What a call is, and which memory it reads and writes.
struct described_call {
  signature is;
  bytes_of_buffer reads;
  bytes_of_buffer writes;

  described_call(const signature& s) : is(s) {}  // NOLINT(google-explicit-constructor): see below
  described_call(const signature& s, bytes_of_buffer read, bytes_of_buffer written)
      : is(s), reads(std::move(read)), writes(std::move(written)) {
    is.overlap = reads.meet(writes);
  }
};

[[nodiscard]] signature amount(MPI_Count count, MPI_Datatype type, int root = -1);
[[nodiscard]] signature with_op(signature s, MPI_Op op);
[[nodiscard]] inline signature with_root(int root) {
  signature s;
  s.root = root;
  return s;
}

/// What describe(size, rank) says of this rank's call; between groups only its name.
template <class Describe>
void compare_as(of_call how, MPI_Comm comm, const Describe& describe) {
  if (!wanted(what::collectives) && !wanted(what::buffers) && !wanted(what::windows)) {
    return;
  }
  comm_object& c = comm_of(comm);
  const described_call mine = c.sides != nullptr ? described_call(signature{})
                                                 : describe(c.comm->size(), c.comm->rank().value());
  if (wanted(what::collectives)) {
    compare(how, c, mine.is);
  }
  if (how.how == form::blocking) {
    compare_accesses(how.call, c);
  }
  reads(how.call, mine.reads);
  writes(how.call, mine.writes);
}

// One for each collective, by the arguments of its three forms.

inline void Barrier(of_call how, MPI_Comm comm, auto...) {
  compare_as(how, comm, [](int, int) { return described_call(signature{}); });
}
inline void Bcast(of_call how, void* data, MPI_Count count, MPI_Datatype type, int root,
                  MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int, int rank) {
    const bytes_of_buffer all(data, count, type);
    return rank == root ? described_call(amount(count, type, root), all, {})
                        : described_call(amount(count, type, root), {}, all);
  });
}
inline void Reduce(of_call how, const void* send, void* recv, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, int root, MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int, int rank) {
    const signature s = with_op(amount(count, type, root), op);
    return rank == root ? described_call(s, {send, count, type}, {recv, count, type})
                        : described_call(s, {send, count, type}, {});
  });
}
inline void Allreduce(of_call how, const void* send, void* recv, MPI_Count count, MPI_Datatype type,
                      MPI_Op op, MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int, int) {
    return described_call(with_op(amount(count, type), op), {send, count, type},
                          {recv, count, type});
  });
}
inline void Scan(of_call how, const void* a, void* b, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, auto...) {
  Allreduce(how, a, b, count, type, op, comm);
}
inline void Exscan(of_call how, const void* a, void* b, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, auto...) {
  Allreduce(how, a, b, count, type, op, comm);
}
inline void Reduce_scatter_block(of_call how, const void* send, void* recv, MPI_Count count,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int size, int) {
    return described_call(with_op(amount(count, type), op), {send, count * size, type},
                          {recv, count, type});
  });
}
inline void Reduce_scatter(of_call how, const void* send, void* recv, const MPI_Count counts[],
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int size, int rank) {
    MPI_Count sum = 0;
    for (int r = 0; counts != nullptr && r < size; ++r) {
      sum += counts[r];
    }
    const signature s = with_op(amount(sum, type), op);
    return counts == nullptr ? described_call(s)
                             : described_call(s, {send, sum, type}, {recv, counts[rank], type});
  });
}
inline void Gather(of_call how, const void* send, MPI_Count sends, MPI_Datatype send_type,
                   void* recv, MPI_Count receives, MPI_Datatype receive_type, int root,
                   MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int size, int rank) {
    return rank != root
               ? described_call(amount(sends, send_type, root), {send, sends, send_type}, {})
               : described_call(amount(receives, receive_type, root),
                                {send, in_place(send) ? 0 : sends, send_type},
                                {recv, receives * size, receive_type});
  });
}
inline void Scatter(of_call how, const void* send, MPI_Count sends, MPI_Datatype send_type,
                    void* recv, MPI_Count receives, MPI_Datatype receive_type, int root,
                    MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int size, int rank) {
    return rank != root
               ? described_call(amount(receives, receive_type, root), {},
                                {recv, receives, receive_type})
               : described_call(amount(sends, send_type, root), {send, sends * size, send_type},
                                {recv, in_place(recv) ? 0 : receives, receive_type});
  });
}
inline void Allgather(of_call how, const void* send, MPI_Count sends, MPI_Datatype send_type,
                      void* recv, MPI_Count receives, MPI_Datatype receive_type, MPI_Comm comm,
                      auto...) {
  compare_as(how, comm, [&](int size, int) {
    return described_call(amount(receives, receive_type),
                          {send, in_place(send) ? 0 : sends, send_type},
                          {recv, receives * size, receive_type});
  });
}
inline void Alltoall(of_call how, const void* send, MPI_Count sends, MPI_Datatype send_type,
                     void* recv, MPI_Count receives, MPI_Datatype receive_type, MPI_Comm comm,
                     auto...) {
  compare_as(how, comm, [&](int size, int) {
    return described_call(amount(receives, receive_type),
                          {send, in_place(send) ? 0 : sends * size, send_type},
                          {recv, receives * size, receive_type});
  });
}
inline void Gatherv(of_call how, const void* send, MPI_Count sends, MPI_Datatype send_type,
                    void* recv, const MPI_Count receives[], const MPI_Aint displacements[],
                    MPI_Datatype receive_type, int root, MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int size, int rank) {
    return rank != root
               ? described_call(with_root(root), {send, sends, send_type}, {})
               : described_call(with_root(root), {send, in_place(send) ? 0 : sends, send_type},
                                {recv, size, receives, displacements, receive_type});
  });
}
inline void Scatterv(of_call how, const void* send, const MPI_Count sends[],
                     const MPI_Aint displacements[], MPI_Datatype send_type, void* recv,
                     MPI_Count receives, MPI_Datatype receive_type, int root, MPI_Comm comm,
                     auto...) {
  compare_as(how, comm, [&](int size, int rank) {
    return rank != root
               ? described_call(with_root(root), {}, {recv, receives, receive_type})
               : described_call(with_root(root), {send, size, sends, displacements, send_type},
                                {recv, in_place(recv) ? 0 : receives, receive_type});
  });
}
inline void Allgatherv(of_call how, const void* send, MPI_Count sends, MPI_Datatype send_type,
                       void* recv, const MPI_Count receives[], const MPI_Aint displacements[],
                       MPI_Datatype receive_type, MPI_Comm comm, auto...) {
  compare_as(how, comm, [&](int size, int) {
    return described_call(signature{}, {send, in_place(send) ? 0 : sends, send_type},
                          {recv, size, receives, displacements, receive_type});
  });
}
/// `Type`: one datatype for all blocks, or one for each.
template <class Type>
void compare_exchange(of_call how, const void* send, const MPI_Count sends[], const MPI_Aint from[],
                      Type send_type, void* recv, const MPI_Count receives[], const MPI_Aint into[],
                      Type receive_type, MPI_Comm comm) {
  compare_as(how, comm, [&](int size, int) {
    return described_call(signature{}, {send, size, sends, from, send_type},
                          {recv, size, receives, into, receive_type});
  });
}
inline void Alltoallv(of_call how, const void* send, const MPI_Count sends[], const MPI_Aint from[],
                      MPI_Datatype send_type, void* recv, const MPI_Count receives[],
                      const MPI_Aint into[], MPI_Datatype receive_type, MPI_Comm comm, auto...) {
  compare_exchange(how, send, sends, from, send_type, recv, receives, into, receive_type, comm);
}
inline void Alltoallw(of_call how, const void* send, const MPI_Count sends[], const MPI_Aint from[],
                      const MPI_Datatype send_types[], void* recv, const MPI_Count receives[],
                      const MPI_Aint into[], const MPI_Datatype receive_types[], MPI_Comm comm,
                      auto...) {
  compare_exchange(how, send, sends, from, send_types, recv, receives, into, receive_types, comm);
}

}  // namespace sinew::mpi::check
