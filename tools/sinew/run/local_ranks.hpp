// The ranks of this machine: their start, their sockets and how they end.
#pragma once

#include <sys/resource.h>

#include <functional>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/memory_kills.hpp"
#include "sinew/run/rank_holder.hpp"
#include "sinew/run/rank_process.hpp"
#include "sinew/run/reaper.hpp"

namespace sinew::tool {

/// Raises the limit on open files as far as it goes and returns what it was, for the ranks.
[[nodiscard]] rlimit raise_file_limit() noexcept;
/// The name of this machine, for messages.
[[nodiscard]] std::string own_host_name();
/// "rank 3 of 8 (pid 71 on h2)".
[[nodiscard]] std::string rank_name(int rank, std::size_t size, pid_t pid, const std::string& host);

/// Used by `sinew run` itself for a job on one machine, and by the daemon of each host otherwise.
class local_ranks final : public rank_holder {
 public:
  /// Sets the streams of a rank's start; what must stay open until then goes into `held`.
  using stream_setter =
      std::function<void(int rank, start_plan& start, std::vector<boot::descriptor>& held)>;

  /// `survival_memory`: what ranks inherit with --survive; negative without.
  local_ranks(const run_options& options, const job_plan& plan, event_loop& loop,
              rank_events events, stream_setter streams, int survival_memory = -1);

  void start(const sigset_t& mask, std::int64_t report_at_ns) override;
  void answer(int rank, const std::string& bytes) override;
  void signal_all(int signal) override;
  void on_child() override;
  void finish() override {}
  [[nodiscard]] bool done() const override { return true; }

 private:
  struct state {
    int rank = 0;
    pid_t pid = -1;
    bool alive = false;
    boot::descriptor socket;
  };

  [[nodiscard]] start_plan prepare(int index, int pmi_fd, const sigset_t& mask,
                                   std::int64_t report_at_ns);
  bool start_one(int index, const sigset_t& mask, std::int64_t report_at_ns);
  void tell(const state& rank, const start_plan& start) const;
  void read_socket(const state& rank);

  const run_options& options_;
  const job_plan& plan_;
  event_loop& loop_;
  rank_events events_;
  stream_setter streams_;
  std::vector<state> ranks_;  // of this machine, ascending; the index is the local rank
  reaper reaper_;
  std::vector<std::string> environment_;
  memory_kills memory_kills_;
  boot::descriptor memory_;
  int survival_memory_;
  rlimit original_files_{};
  bool killed_by_us_ = false;
};

}  // namespace sinew::tool
