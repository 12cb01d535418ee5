// SPDX-License-Identifier: BSD-3-Clause
// Communicators of ranks that meet and do not have a context of their own yet: they share one, and
// tell their messages apart by a tag.
#pragma once

#include <memory>
#include <vector>

#include "p2p/channels.hpp"
#include "p2p/peers.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/communicator.hpp"
#include "sinew/match/engine.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

/// Its lock guards the list. Any thread.
class meeting_table {
 public:
  meeting_table(channel_table& channels, const peer_table& peers, bool threaded) noexcept
      : channels_(channels), peers_(peers), threaded_(threaded) {}

  [[nodiscard]] static bool is_of(const channel& in) noexcept {
    return in.context / 2 == meeting_context / 2;
  }
  void attach(core::communicator& comm, message_tag tag);
  void end(const core::communicator& comm) noexcept;
  /// What becomes of a receive in the common channel.
  [[nodiscard]] fault fault_of(const match::envelope& wanted);

 private:
  struct meeting {
    message_tag tag;
    const core::communicator* comm;
  };
  channel_table& channels_;
  const peer_table& peers_;
  const bool threaded_;
  base::lock lock_;
  std::vector<meeting> now_;
  std::unique_ptr<core::communicator> any_;  ///< stands for all of them in the channel
};

}  // namespace sinew::p2p
