// SPDX-License-Identifier: BSD-3-Clause
// The fast path of MPI_Send and MPI_Isend: a short message of a predefined datatype, over
// any communicator that is usable, which fits into the fabric now. It runs before the generated
// binding sets up its error handling, and so calls nothing but the fabric, keeps no state and does
// not throw. In all other cases, wrong arguments included, it returns false with nothing changed,
// and the caller takes the general path.
#pragma once

#include "abi/mpi/request.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

/// Hot.
[[nodiscard, gnu::always_inline]] inline bool sent_at_once(const void* buf, int count,
                                                           MPI_Datatype type, int dest, int tag,
                                                           MPI_Comm comm) noexcept {
  const std::uintptr_t c = value_of(comm);
  const std::uintptr_t t = value_of(type);
  if (!is_open() || !is_predefined_type(t) || (count | tag) < 0) [[unlikely]] {
    return false;
  }
  SINEW_ASSERT(process.engine != nullptr);
  const comm_object* const of = is_initial_comm(c) ? &initial_comm(c) : resolve<comm_object>(comm);
  if (of == nullptr) [[unlikely]] {
    return false;
  }
  const core::communicator& in = *of->comm;
  const layout::datatype* const layout = predefined_layouts[t - first_type_value];
  if (static_cast<unsigned>(dest) >= static_cast<unsigned>(in.size()) || layout == nullptr ||
      (buf == nullptr && count != 0)) [[unlikely]] {
    return false;
  }
  const p2p::buffer from{const_cast<void*>(buf), static_cast<std::size_t>(count), layout};
  return process.engine->send_at_once(in, p2p::messages_of(in), from, comm_rank{dest},
                                      message_tag{tag});
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
