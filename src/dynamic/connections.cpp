// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/dynamic/connections.hpp"

#include <atomic>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/coll/connections.hpp"
#include "sinew/dynamic/failure.hpp"

namespace sinew::dynamic {

coll::intercommunicator_ref connected(coll::participant local, comm_rank leader,
                                      const coll::leaders_link* link, core::communicator& job) {
  coll::intercommunicator_ref made = coll::connect(local, leader, link, job);
  if (made == nullptr) {
    throw failure(error_kind::groups_overlap, "the two groups have a rank in common");
  }
  tell_connections(local.engine);
  return made;
}

void tell_that_there_is_none(coll::participant local, core::communicator& job) {
  [[maybe_unused]] bool refused = false;
  try {
    (void)connected(local, local.comm.rank(), nullptr, job);
  } catch (const error&) {  // the same on all ranks of the group; the leader knows more
    refused = true;
  }
  SINEW_ENSURE(refused);
}

void tell_connections(p2p::engine& engine) {
  auto* const listener = dynamic_cast<boot::connection_listener*>(&engine.runtime().session());
  if (listener == nullptr) {
    return;
  }
  static auto& lock = *new std::mutex;  // so that the last word is the latest
  const std::lock_guard held(lock);
  listener->tell_connections(coll::connections(engine));
}

int next_number() noexcept {
  static std::atomic<int> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) % 0x3fffffff + 1;
}

message_tag tag_of_connection(int caller, int number) noexcept {
  const auto mixed = (static_cast<std::uint32_t>(caller) * 0x9e3779b1U) ^
                     (static_cast<std::uint32_t>(number) * 0x85ebca6bU);
  return message_tag{static_cast<int>(mixed & 0x7fffffff)};
}

boot::session& launcher_line(core::runtime& rt, std::unique_lock<std::mutex>& held) {
  static auto& lock = *new std::mutex;
  held = std::unique_lock(lock);
  return rt.session();
}

}  // namespace sinew::dynamic
