// SPDX-License-Identifier: BSD-3-Clause
// UCP's context and worker with an owner: all calls of UCX that concern no peer.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <string>

#include "sinew/fabric/network.hpp"

namespace sinew::fabric::ucx {

/// One worker, used by one thread at a time: the caller sees to that (SERIALIZED). Cold, but for
/// progress().
class worker {
 public:
  /// Throws sinew::error if UCX finds no transport.
  explicit worker(const network_options& options);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  [[nodiscard]] ucp_worker_h get() const noexcept { return worker_; }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  [[nodiscard]] int event_descriptor() const noexcept { return events_; }

  /// Who pairs tagged messages.
  [[nodiscard]] pairing tags() const noexcept { return tags_; }

  /// Whoever gets all active messages from now on.
  void set_receiver(ucp_am_recv_callback_t call, void* context);
  /// Returns how many things UCX has done. Hot.
  unsigned progress() noexcept { return ucp_worker_progress(worker_); }
  /// True: nothing is there, and the event descriptor tells of what comes from now on.
  [[nodiscard]] bool arm() noexcept;

 private:
  void open_context(const network_options& options);
  void open_worker();
  [[nodiscard]] static bool leaves_out_shared_memory(const network_options& options);
  void read_address(bool net_only);
  [[nodiscard]] bool adapter_pairs();
  void close() noexcept;

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int events_ = -1;
  std::string address_;
  pairing tags_ = pairing::none;
};

/// What UCX says of an endpoint. UCX 1.13 tells lanes as text only. Throws. Cold.
[[nodiscard]] std::string info_of(ucp_ep_h way);
/// Closes it, and waits for that, though not long. Cold.
void close_endpoint(worker& of, ucp_ep_h way, ucp_ep_close_flags_t how) noexcept;

/// Number of the one active message that we use.
inline constexpr unsigned message_id = 1;

}  // namespace sinew::fabric::ucx
