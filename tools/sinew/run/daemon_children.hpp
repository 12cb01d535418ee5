// SPDX-License-Identifier: BSD-3-Clause
// The daemons below a daemon: it starts them, and passes on what they and the launcher say.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/run/daemon_starter.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/frame_link.hpp"
#include "sinew/run/host_orders.hpp"

namespace sinew::tool {

class daemon_children {
 public:
  /// `up` sends towards the launcher.
  using sender = std::function<void(frame_kind kind, int rank, std::string_view bytes)>;

  /// `orders`: this daemon's own, of which those below get the like.
  daemon_children(event_loop& loop, const host_orders& orders, bool through_agent, sender up);

  void start(const sigset_t& mask) { starter_.start(mask); }
  /// What is for all daemons.
  void pass_to_all(const frame& got);
  /// What is for one rank that is not here, or with output_taken and ask_clock for one node.
  void pass_on(const frame& got);
  void on_child(const siginfo_t& ended) { starter_.on_child(ended); }
  void look_after(std::int64_t now);
  /// Silence until now was ours.
  void forgive_silence();
  /// No daemon is left, none will come, and no agent runs.
  [[nodiscard]] bool gone() const;

 private:
  struct child {
    int node = 0;
    std::unique_ptr<frame_link> link;
    bool gone = false;
  };

  void attach(child& to, daemon_line line);
  void take(child& from, const frame& got);
  void lose(child& which, int code, const std::string& why);
  [[nodiscard]] child& child_of(int node);

  event_loop& loop_;
  host_orders orders_;
  sender up_;
  std::vector<std::unique_ptr<child>> children_;
  daemon_starter starter_;
  bool finishing_ = false;
};

}  // namespace sinew::tool
