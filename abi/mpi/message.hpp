// SPDX-License-Identifier: BSD-3-Clause
// What the calls that move messages share: the checked buffer, and messages behind their handles.
#pragma once

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

/// A message that a matched probe has taken.
struct message_object : object {
  static constexpr kind tag = kind::message;
  message_object(comm_object& c, p2p::matched* m) : object(tag), comm(&c), inner(m) {
    SINEW_EXPECT(m != nullptr);
  }
  comm_object* comm;
  p2p::matched* inner;
};

/// The message that is to be received, taken out of its handle. Throws.
[[nodiscard]] p2p::matched* take_out(MPI_Message* message, comm_object*& c);
/// A message that a probe had taken is received, or a request is under way that does so.
void received(comm_object& c);

[[noreturn, gnu::cold]] inline void null_buffer(MPI_Count count) {
  SINEW_EXPECT(count > 0);
  fail(MPI_ERR_BUFFER, "the buffer is null and the count is %lld", static_cast<long long>(count));
}

/// Buffer, count and type as p2p takes them; throws if one is wrong. A null buffer is allowed
/// where its type has absolute addresses (MPI_BOTTOM). Hot.
[[nodiscard]] inline p2p::buffer data_of(const void* buf, MPI_Count count, MPI_Datatype type) {
  check_count(count);
  const layout::datatype& t = layout_of(type, count == 0);
  if (buf == nullptr && count != 0 && t.dense() && t.size() != 0) [[unlikely]] {
    null_buffer(count);
  }
  return {const_cast<void*>(buf), static_cast<std::size_t>(count), &t};
}

}  // namespace sinew::mpi
