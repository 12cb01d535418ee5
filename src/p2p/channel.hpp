// SPDX-License-Identifier: BSD-3-Clause
// Where messages of one context meet their receives.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/match/parallel.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

/// Where messages of one context meet their receives. Each group of fields is written by the part
/// that it names.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the first fields are looked at first
struct channel {
  std::uint32_t context = 0;
  /// Null until the communicator is attached: messages may arrive before that.
  const core::communicator* comm = nullptr;
  match::parallel_engine<base::lock> matcher;
  /// Of messages between two groups: the remote one, whose ranks are their sources. Else empty. Set
  /// before the first operation.
  core::group remote;
  /// Promised: each message is as long as the receive that it meets. Set before the operations
  /// concerned; so relaxed.
  std::atomic<bool> exact_length{false};
  // failure_watch's. Relaxed: whoever needs to know looks again while it waits.
  std::atomic<bool> revoked{false};
  job_rank revoked_by = no_job_rank;           ///< the poller's, and its who attaches
  std::atomic<std::uint32_t> acknowledged{0};  ///< deaths that the program knows of
  // network_matching's. `away` is null where all is matched here, and set when the communicator is
  // attached; the rest, and what is in `away`, under its lock.
  std::unique_ptr<match::engine> away;  ///< the receives that the network has; it gets no message
  bool keeps_all = false;  ///< receives from other nodes wait here: one from any source does
  /// Messages of the network that are stored here. Relaxed: whoever looks for one that it must
  /// find has stored it itself, or held that lock after who did.
  std::atomic<std::size_t> stored_tagged{0};
  channel* next_dropped = nullptr;  ///< channel_table's

  channel(std::uint32_t number, std::string_view engine) : context(number), matcher(engine) {}

  /// Whose messages have these sources. Attached channels only.
  [[nodiscard]] const core::group& sources() const noexcept {
    SINEW_EXPECT(comm != nullptr);
    return remote.size() != 0 ? remote : comm->members();
  }
};

/// Attached for `comm`, or for another view of the same context (engine::attach_as).
[[nodiscard]] inline bool is_channel_of(const channel& c, const core::communicator& comm) noexcept {
  return c.comm != nullptr && c.comm->context() == comm.context();
}

inline fabric::header make_header(const channel& in, message_tag tag, comm_rank source) noexcept {
  return {{in.context, std::bit_cast<std::uint64_t>(match::envelope{source, tag})}};
}

}  // namespace sinew::p2p
