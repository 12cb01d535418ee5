// SPDX-License-Identifier: BSD-3-Clause
// A connection that carries frames, in a program's event loop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/frames.hpp"
#include "sinew/run/greeting.hpp"
#include "sinew/sealing/sealing.hpp"

namespace sinew::tool {

/// How a link ends that nobody here has closed.
struct link_loss {
  bool by_other_side = true;  ///< the connection has ended; else what came was not the other side's
  std::string why;
};

/// Owns both directions of a socket, or two pipes. Nothing blocks: what cannot go out now waits in
/// memory, bounded by those who send (windows of output and input). Grade: cold.
class frame_link {
 public:
  struct events {
    std::function<void(const frame& got)> got;
    /// The link is closed already.
    std::function<void(const link_loss& how)> lost;
  };

  enum class side { launcher, daemon };

  /// With keys all is sealed: `self` says which of them seals what goes out.
  frame_link(event_loop& loop, daemon_line line, side self, events calls);
  frame_link(const frame_link&) = delete;
  frame_link& operator=(const frame_link&) = delete;
  ~frame_link() { close(); }

  void send(frame_kind kind, int rank = 0, std::string_view bytes = {});
  void close() noexcept;
  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(in_); }
  /// Everything has gone out.
  [[nodiscard]] bool idle() const noexcept { return sent_ == queue_.size(); }
  /// When bytes of the other side last came, by now_ns().
  [[nodiscard]] std::int64_t heard_ns() const noexcept { return heard_ns_; }
  /// As if bytes had come now: after a time in which nobody could listen.
  void forgive_silence() noexcept;

 private:
  void read();
  void write();
  void end(const link_loss& how);

  event_loop& loop_;
  boot::descriptor in_;
  boot::descriptor out_;
  events calls_;
  std::optional<sealer> sealer_;  // with unsealer_, or none of them
  std::optional<unsealer> unsealer_;
  frame_buffer input_;
  std::string queue_;
  std::size_t sent_ = 0;
  bool watched_ = false;  // out_
  std::int64_t heard_ns_ = 0;
};

}  // namespace sinew::tool
