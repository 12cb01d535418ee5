// SPDX-License-Identifier: BSD-3-Clause
// The ranks of other hosts, as the launcher sees them: a daemon on each host, and a connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/daemon_starter.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/frame_link.hpp"
#include "sinew/run/host_orders.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/rank_holder.hpp"

namespace sinew::tool {

/// What comes from hosts besides what happens to ranks.
struct host_events {
  /// Before the start: which ranks read input, and from where; from none, what has ended already.
  std::function<std::vector<std::pair<int, boot::descriptor>>()> inputs;
  std::function<void(int rank, int stream, std::string_view bytes)> output;
  /// No more output can be taken now.
  std::function<bool()> full;
  /// A host takes no part any more: it could not be started, or is lost. `node` and a sentence.
  std::function<void(int node, int code, const std::string& why)> lost;
};

/// Starts daemons, which are a tree: those that the launcher starts start others (host_tree.hpp).
/// The ranks start when all hosts are ready. One that is not heard of for --host-timeout is lost.
class remote_ranks final : public rank_holder {
 public:
  /// `words` are those behind `sinew run`.
  remote_ranks(const run_options& options, const job_plan& plan, std::vector<std::string> words,
               event_loop& loop, rank_events events, host_events calls);

  void start(const sigset_t& mask, std::int64_t report_at_ns) override;
  void answer(int rank, const std::string& bytes) override;
  void ask(int rank, wanted_of_rank what) override {
    send_all(frame_kind::ask, packer().number(rank).number(static_cast<int>(what)).bytes());
  }
  void signal_all(int signal, const std::vector<int>& spared) override;
  /// A job over hosts has no places for ranks that are spawned.
  [[nodiscard]] std::optional<start_failure> spawn(const job_plan&, const std::vector<int>&,
                                                   const std::vector<std::string>&) override {
    return start_failure{.text = "ranks on other hosts cannot be added"};
  }
  void tell_dead(int rank) override;
  void tell_vote(int rank, const cast_vote& vote) override;
  void close_output(int stream) override;
  void on_child(const siginfo_t& child) override;
  void finish() override;
  [[nodiscard]] bool done() const override;
  [[nodiscard]] int look_after() override;
  [[nodiscard]] bool starts_unheard() const override { return true; }
  [[nodiscard]] std::int64_t heard_ns(int rank) const override;
  void forgive_silence() override;
  /// As well as questions and answers tell: to half of the shortest way there and back. 0 unless
  /// there is a trace to write.
  [[nodiscard]] std::int64_t clock_ahead_ns(int rank) const override;

 private:
  enum class stage { starting, preparing, ready, running, gone };
  struct host {
    int node = 0;
    std::string name;
    std::unique_ptr<frame_link> link;  // of those that the launcher has started itself
    stage at = stage::starting;
    std::int64_t owed = 0;  // bytes of output that were taken and not yet acknowledged
    // Its clock: when it was asked (0: it is not being asked), and the best answer.
    std::int64_t clock_asked_ns = 0;
    std::int64_t clock_way_ns = INT64_MAX;
    std::int64_t clock_ahead_ns = 0;
    int clock_answers = 0;
  };
  struct input {
    int rank = 0;
    boot::descriptor pipe;
    std::int64_t in_flight = 0;
    bool watched = false;
    bool ended = false;  // the rank has been told
  };

  [[nodiscard]] host_orders orders_for(int node) const;
  void attach(host& to, daemon_line line);
  void take(host& by, const frame& got);
  void take_of_rank(const frame& got);
  void take_exits(const host& by, const frame& got);
  void ask_clock(host& of);
  void take_clock(host& of, std::int64_t theirs);
  void go_if_all_ready();
  void lose(host& which, int code, const std::string& why);
  void lose_below(const host& which);
  void watch_times(std::int64_t now);
  void read_input(int rank, boot::descriptor pipe);
  void pump(input& from);
  void pump_when_open(input& from);
  [[nodiscard]] bool is_rank_by(const host& by, int rank) const;
  [[nodiscard]] host& host_of(int rank) const {
    return *hosts_[static_cast<std::size_t>(plan_.hosts.node(rank))];
  }
  /// The daemon, of those that the launcher has started itself, by which `node` is reached.
  [[nodiscard]] host& way_to(int node) const;
  void send(const host& to, frame_kind kind, int rank, std::string_view bytes);
  void send_all(frame_kind kind, std::string_view bytes = {}, int rank = 0);

  const run_options& options_;
  const job_plan& plan_;
  std::vector<std::string> words_;
  event_loop& loop_;
  rank_events events_;
  host_events calls_;
  std::vector<int> parents_;                  // by node
  std::vector<std::unique_ptr<host>> hosts_;  // by node
  daemon_starter starter_;
  std::vector<std::unique_ptr<input>> inputs_;
  std::int64_t report_at_ns_ = 0;
  std::int64_t next_beat_ns_ = 0;
  std::int64_t finish_by_ns_ = 0;  // 0: not finishing
};

}  // namespace sinew::tool
