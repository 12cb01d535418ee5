// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint does that has nothing faster.
#include <memory>
#include <new>

#include "sinew/base/check.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {

status endpoint::reserve(job_rank /*peer*/, packet& out) {
  const std::size_t bytes = bounds().max_medium;
  auto* const data = new (std::nothrow) std::byte[bytes];
  if (data == nullptr) {
    return status::again(retry_reason::no_memory);
  }
  out = {data, bytes, 0};
  return status::ok();
}

status endpoint::commit(job_rank peer, handler_id id, header head, packet& filled,
                        std::size_t size) {
  SINEW_EXPECT(filled.data != nullptr && size <= filled.capacity);
  const status sent = send_medium(peer, id, head, filled.data, size);
  if (sent.done()) {
    delete[] filled.data;
    filled = {};
  }
  return sent;
}

}  // namespace sinew::fabric
