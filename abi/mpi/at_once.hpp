// The usual send, short and to be had at once, before the usual frame: MPI_Send and MPI_Isend begin
// with it. It calls nothing but the fabric, keeps nothing and throws nothing; whatever is not
// usual, wrong arguments included, makes it false before anything has happened, and the full way
// decides.
#pragma once

#include "abi/mpi/request.hpp"
#include "abi/mpi/type.hpp"

namespace sinew::mpi {

/// Hot.
[[nodiscard, gnu::always_inline]] inline bool sent_at_once(const void* buf, int count,
                                                           MPI_Datatype type, int dest, int tag,
                                                           MPI_Comm comm) noexcept {
  const std::uintptr_t c = value_of(comm);
  const std::uintptr_t t = value_of(type);
  if (process.now.load(std::memory_order_relaxed) != phase::running || c - 0x101 >= 2 ||
      t >> 8 != 2 || (count | tag) < 0) [[unlikely]] {
    return false;
  }
  const core::communicator& in = *process.comms[c & 3]->comm;
  const layout::datatype* const layout = predefined_layouts[t & 0xff];
  if (static_cast<unsigned>(dest) >= static_cast<unsigned>(in.size()) || layout == nullptr ||
      (buf == nullptr && count != 0)) [[unlikely]] {
    return false;
  }
  const p2p::buffer from{const_cast<void*>(buf), static_cast<std::size_t>(count), layout};
  return process.engine->send_at_once(in, p2p::messages_of(in), from, dest, tag);
}

/// Hot.
[[nodiscard, gnu::always_inline]] inline bool sent_at_once(const void* buf, int count,
                                                           MPI_Datatype type, int dest, int tag,
                                                           MPI_Comm comm,
                                                           MPI_Request* request) noexcept {
  if (request == nullptr || !sent_at_once(buf, count, type, dest, tag, comm)) [[unlikely]] {
    return false;
  }
  *request = done_request();
  return true;
}

}  // namespace sinew::mpi
