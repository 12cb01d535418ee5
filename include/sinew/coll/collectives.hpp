// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives, correct for any rank count and operators that do not commute: run() of
// call.hpp, which says what holds for all of them, by their usual arguments. They run in
// p2p::collectives_of(comm) and never meet the user's messages.
#pragma once

#include <cstddef>
#include <span>

#include "sinew/coll/call.hpp"

namespace sinew::coll {

/// `o` outlasts the call.
[[nodiscard]] inline op_ref borrowed(const op& o) noexcept { return {op_ref(), &o}; }
/// Of reductions: `send` may be in_place, and has the count and the type of what is received.
[[nodiscard]] inline blocks operand(const void* send) noexcept {
  return buffer{const_cast<void*>(send), 0, nullptr};
}

/// `part_of`: the function that waits so for all ranks, for reports. Lasts for ever.
inline fault barrier(participant at, const char* part_of = nullptr) {
  return run(at, {.part_of = part_of});
}
inline fault bcast(participant at, const buffer& data, comm_rank root) {
  return run(at, {collective::bcast, {}, data, root});
}
inline fault reduce(participant at, const void* send, const buffer& recv, const op& o,
                    comm_rank root) {
  return run(at, {collective::reduce, operand(send), recv, root, borrowed(o)});
}
inline fault allreduce(participant at, const void* send, const buffer& recv, const op& o) {
  return run(at, {collective::allreduce, operand(send), recv, -1, borrowed(o)});
}
inline fault scan(participant at, const void* send, const buffer& recv, const op& o) {
  return run(at, {collective::scan, operand(send), recv, -1, borrowed(o)});
}
inline fault exscan(participant at, const void* send, const buffer& recv, const op& o) {
  return run(at, {collective::exscan, operand(send), recv, -1, borrowed(o)});
}
/// counts: of each rank, in elements of the type.
inline fault reduce_scatter(participant at, const void* send, void* recv,
                            std::span<const std::ptrdiff_t> counts, const layout::datatype& type,
                            const op& o) {
  SINEW_EXPECT(counts.size() == static_cast<std::size_t>(at.comm.size()));
  return run(at, {collective::reduce_scatter, operand(send),
                  parts{recv, counts.data(), nullptr, &type}, -1, borrowed(o)});
}
/// The same with recv.count for every rank.
inline fault reduce_scatter_block(participant at, const void* send, const buffer& recv,
                                  const op& o) {
  return run(at, {collective::reduce_scatter, operand(send), recv, -1, borrowed(o)});
}
/// `send` may be in_place where MPI allows it; then its count and type are not looked at.
/// recv: a block for each rank, looked at by the root.
inline fault gather(participant at, const buffer& send, const blocks& recv, comm_rank root) {
  return run(at, {collective::gather, send, recv, root});
}
inline fault scatter(participant at, const blocks& send, const buffer& recv, comm_rank root) {
  return run(at, {collective::scatter, send, recv, root});
}
inline fault allgather(participant at, const buffer& send, const blocks& recv) {
  return run(at, {collective::allgather, send, recv});
}
inline fault alltoall(participant at, const blocks& send, const blocks& recv) {
  return run(at, {collective::alltoall, send, recv});
}
/// The same block to all neighbours, a block from each. All ranks of the communicator call it.
inline fault neighbour_allgather(participant at, const neighbours& n, const buffer& send,
                                 const blocks& recv) {
  return run(at, {collective::neighbour_allgather, send, recv, -1, {}, &n});
}
/// A block to each, a block from each.
inline fault neighbour_alltoall(participant at, const neighbours& n, const blocks& send,
                                const blocks& recv) {
  return run(at, {collective::neighbour_alltoall, send, recv, -1, {}, &n});
}

}  // namespace sinew::coll
