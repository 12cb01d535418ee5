// SPDX-License-Identifier: BSD-3-Clause
// The ranks of this machine: their start, their sockets and how they end.
#pragma once

#include <sys/resource.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/ask/idle_watch.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/survival.hpp"
#include "sinew/run/binding_watch.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/memory_kills.hpp"
#include "sinew/run/rank_holder.hpp"
#include "sinew/run/rank_process.hpp"
#include "sinew/run/reaper.hpp"

namespace sinew::tool {

/// Raises the limit on open files as far as it goes and returns what it was, for the ranks.
[[nodiscard]] rlimit raise_file_limit() noexcept;
/// "rank 3 of 8 (pid 71 on h2)"; without "of 8" if `size` is 0.
[[nodiscard]] std::string rank_name(int rank, std::size_t size, pid_t pid, const std::string& host);

/// What ranks share.
struct inherited_memory {
  boot::descriptor node = {};  ///< the node's; made at the start if it is none
  /// Ranks of the job that it is laid out for, those that may be spawned included; 0: those of the
  /// plan alone.
  int places = 0;
};

/// Used by `sinew run` itself for a job on one machine, and by the daemon of each host otherwise.
class local_ranks final : public rank_holder {
 public:
  /// Sets the streams of a rank's start; what must stay open until then goes into `held`.
  using stream_setter =
      std::function<void(int rank, start_plan& start, std::vector<boot::descriptor>& held)>;

  local_ranks(const run_options& options, const job_plan& plan, event_loop& loop,
              rank_events events, stream_setter streams, inherited_memory memory = {});

  void start(const sigset_t& mask, std::int64_t report_at_ns) override;
  void answer(int rank, const std::string& bytes) override;
  [[nodiscard]] std::optional<start_failure> spawn(const job_plan& plan,
                                                   const std::vector<int>& places,
                                                   const std::vector<std::string>& more) override;
  void signal_all(int signal, const std::vector<int>& spared) override;
  void ask(int rank, wanted_of_rank what) override;
  void read_all() override;
  void tell_dead(int rank) override;
  void tell_vote(int rank, const cast_vote& vote) override;
  /// Who has died, as the ranks here see it; null without --survive.
  [[nodiscard]] boot::survival* survival() noexcept { return survival_.get(); }
  void on_child(const siginfo_t& child) override;
  void tell_exits() override;
  void finish() override {}
  [[nodiscard]] bool done() const override { return true; }
  [[nodiscard]] int look_after() override;

 private:
  struct state {
    int rank = 0;
    pid_t pid = -1;
    bool alive = false;
    bool killed_by_us = false;
    bool has_spoken = false;
    boot::descriptor socket;
  };

  /// A rank of a plan that is to be started.
  struct starting {
    const job_plan& plan;
    int local;  ///< which of plan.local
    int index;  ///< its place in ranks_
    const std::vector<std::string>& more_environment;
  };
  [[nodiscard]] int index_of(int rank) const;
  [[nodiscard]] start_plan prepare(const starting& what, int pmi_fd);
  [[nodiscard]] std::optional<start_failure> start_one(const starting& what);
  void end_unheard(state& rank);
  void tell(const state& rank, const start_plan& start) const;
  [[nodiscard]] exhausted why_killed(const state& rank, int signal);
  void read_socket(state& rank);
  void note_call(state& rank, std::string_view bytes);
  void tell_other_mpi(int rank, const std::string& path);
  void look_at_programs(const std::vector<rank_exit>& exits);
  // Milliseconds to the next look; -1: none.
  [[nodiscard]] int look_for_other_mpi(std::int64_t now);
  [[nodiscard]] int look_at_bindings(std::int64_t now);
  [[nodiscard]] int look_for_idle(std::int64_t now);

  const run_options& options_;
  const job_plan& plan_;
  event_loop& loop_;
  rank_events events_;
  stream_setter streams_;
  /// Of this machine, ascending; the index is the local rank. Then the places of ranks that may be
  /// spawned, where the index is the rank's number, too.
  std::vector<state> ranks_;
  std::vector<rank_exit> exits_;  // not told yet
  reaper reaper_;
  std::vector<std::string> environment_;
  memory_kills memory_kills_;
  binding_watch bindings_;
  idle_watch idle_;
  inherited_memory memory_;
  boot::descriptor survival_memory_;
  std::unique_ptr<boot::survival> survival_;
  rlimit original_files_{};
  sigset_t mask_{};
  std::int64_t report_at_ns_ = 0;
  // Until a rank here has called Sinew's MPI, or has been seen to have another one.
  bool looks_for_other_mpi_ = true;
  std::int64_t started_ns_ = 0;
  std::int64_t next_look_ns_ = 0;
  std::size_t looks_ = 0;
};

}  // namespace sinew::tool
