// A running job: the ranks, what they say and how they end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/input_pump.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/memory_kills.hpp"
#include "sinew/run/output_router.hpp"
#include "sinew/run/pmi_server.hpp"
#include "sinew/run/rank_process.hpp"
#include "sinew/run/reaper.hpp"
#include "sinew/run/signal_pipe.hpp"

namespace sinew::tool {

/// Starts the ranks of a plan and stays until the last has gone. One per process: it takes over
/// the launcher's signals. Grade: cold, but on the way of every start.
class job {
 public:
  job(const run_options& options, const job_plan& plan);

  /// The launcher's exit code.
  [[nodiscard]] int run();

 private:
  struct rank_state {
    pid_t pid = -1;
    bool alive = false;
    boot::descriptor socket;
  };
  struct exit_event {
    int rank;
    int code;    // 0..255, or 128 + signal
    int signal;  // 0: it ended by itself
    bool core_dumped;
    bool no_memory;  // the kernel's doing, most likely
  };

  // Start (job_start.cpp).
  void take_signals();
  bool start_all();
  [[nodiscard]] start_plan prepare(int rank, int pmi_fd);
  void set_up_streams(int rank, start_plan& start, std::vector<boot::descriptor>& held);
  [[nodiscard]] boot::descriptor output_file(int rank, int stream);
  [[nodiscard]] boot::descriptor null_device() const;
  void remark_on_cores() const;

  // While it runs (job.cpp).
  void read_signals();
  void on_interrupt(int signal);
  void stop_and_continue();
  void read_socket(int rank);
  void reap();
  void judge(const std::vector<exit_event>& exits);
  void check_waiting();
  [[nodiscard]] std::string cause_of(const exit_event& exit) const;
  void on_abort(int rank, int code, const std::string& why);
  void fail(int code, int rank, const std::string& text);
  void end_others(int first_signal, double grace_s);
  void signal_all(int signal) const;
  void check_deadlines();
  [[nodiscard]] int wait_ms() const;
  [[nodiscard]] std::string name_of(int rank) const;
  [[nodiscard]] std::string the_others(int rank) const;
  void say(const std::string& text) const;

  const run_options& options_;
  const job_plan& plan_;
  std::string host_;
  event_loop loop_;
  pmi_server pmi_;
  output_router output_;
  input_pump input_;
  reaper reaper_;
  std::vector<rank_state> ranks_;
  std::vector<std::string> environment_;
  memory_kills memory_kills_;
  boot::descriptor memory_;
  std::optional<signal_pipe> signals_;
  boot::descriptor common_output_;  // of all ranks, when the pattern has no %r
  rlimit original_files_{};
  int alive_ = 0;
  std::optional<int> exit_code_;  // set by the first failure
  bool ending_ = false;
  int interrupts_ = 0;
  std::int64_t time_is_up_ns_ = 0;  // 0: never; once that was told, when the ranks are ended
  bool time_told_ = false;
  std::int64_t kill_at_ns_ = 0;  // 0: nobody is being ended
};

}  // namespace sinew::tool
