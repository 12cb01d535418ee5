// SPDX-License-Identifier: BSD-3-Clause
// The part of `sinew run` that runs on another host: holds the ranks there, and tells the launcher
// what happens to them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/daemon_children.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/frame_link.hpp"
#include "sinew/run/host_orders.hpp"
#include "sinew/run/local_ranks.hpp"
#include "sinew/run/signal_pipe.hpp"

namespace sinew::tool {

/// One per process and host; it also leads to the hosts below it (host_tree.hpp). Ends when the
/// launcher says so, when the connection is lost or when nothing has been heard for the host
/// timeout; whatever the way, its ranks end with it.
class host_daemon {
 public:
  explicit host_daemon(daemon_line line);

  /// The exit code.
  [[nodiscard]] int run();

 private:
  /// A rank's stream, which is read into frames.
  struct source {
    int rank = 0;
    int stream = 1;
    boot::descriptor pipe;
    bool watched = false;
  };
  /// A rank's input, which frames are written to.
  struct target {
    int rank = 0;
    boot::descriptor pipe;
    std::string queue;
    bool watched = false;
    bool end = false;  // behind the queue
  };

  void take(const frame& got);
  void take_for_all(const frame& got);
  void set_up(const frame& got);
  void read_options(const host_orders& orders);
  void start_children(const host_orders& orders);
  void prepare(const host_orders& orders);
  void go(std::int64_t report_in_ns);
  void note_fate(const frame& got);
  void read_signals();
  void tell_exits(const std::vector<rank_exit>& exits);
  void set_up_streams(int rank, start_plan& start, std::vector<boot::descriptor>& held);
  [[nodiscard]] boot::descriptor open_output(int rank, int stream);
  [[nodiscard]] boot::descriptor open_input(int rank);
  bool read_from(source& from);  // whether there may be more
  void read_all(source& from);
  void read_all_of(int rank);
  void balance();
  void write_to(target& to);
  void add_input(int rank, const std::string& bytes);
  void close_output(int stream);
  void drain();
  void stop(int code, const std::string& why);
  void lost_launcher(const link_loss& how);
  [[nodiscard]] bool silent() const;

  event_loop loop_;
  std::optional<signal_pipe> signals_;
  frame_link link_;
  run_options options_;
  job_plan plan_;
  std::int64_t host_timeout_ns_ = 0;
  std::vector<std::unique_ptr<source>> sources_;
  std::vector<std::unique_ptr<target>> targets_;
  std::unique_ptr<local_ranks> ranks_;
  std::unique_ptr<daemon_children> children_;  // if there are hosts below this one
  int node_ = 0;
  std::int64_t unread_ = 0;  // bytes of output that the launcher has not yet written
  bool patient_ = false;     // the launcher is stopped: silence means nothing
  bool finishing_ = false;
  std::optional<int> exit_code_;
};

}  // namespace sinew::tool
