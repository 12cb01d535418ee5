// SPDX-License-Identifier: BSD-3-Clause
// A running job: the ranks, what they say and how they end.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/ask/inquiry.hpp"
#include "sinew/ask/wait_board.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/run/event_loop.hpp"
#include "sinew/run/input_pump.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/output_router.hpp"
#include "sinew/run/pmi_server.hpp"
#include "sinew/run/rank_holder.hpp"
#include "sinew/run/rank_process.hpp"
#include "sinew/run/run_report.hpp"
#include "sinew/run/signal_pipe.hpp"
#include "sinew/run/world.hpp"

namespace sinew::tool {

/// Starts the ranks of a plan and stays until the last has gone. One per process: it takes over
/// the launcher's signals. Grade: cold, but on the way of every start.
class job {
 public:
  /// `words` are those behind `sinew run`, for the daemons of other hosts.
  job(const run_options& options, const job_plan& plan, std::vector<std::string> words);

  /// Before run(): when `bell` becomes readable the job ends with `code`, and with what `why` says
  /// then.
  void end_when(int bell, int code, std::function<std::string()> why);
  /// Of a simulated job: `listener` is called for each rank that ends, `died` if the others go on
  /// without it. Who takes that tells the others by tell_dead(), and of votes; from any one thread.
  void when_ranks_end(std::function<void(int rank, bool died)> listener);
  void tell_dead(int rank);
  void tell_vote(int rank, cast_vote vote);
  /// The launcher's exit code.
  [[nodiscard]] int run();

 private:
  // After a failure the others have this long between SIGTERM and SIGKILL; a crash must have ended
  // the job within 0.2 s.
  static constexpr double failure_grace_s = 0.1;

  struct rank_state {
    pid_t pid = -1;
    bool alive = false;
    bool settled = false;  // started, or never will be
    world* in = nullptr;   // null: the place is free
    int number = 0;        // in that world
    std::uint32_t tenant = 0;
    bool kept = false;  // by who has ended; see session::stay_connected()
    bool dead = false;  // and the others go on
    // Of a rank that is being ended:
    int next_signal = 0;
    std::int64_t signal_at_ns = 0;
    std::int64_t grace_ns = 0;  // between the first signal and SIGKILL
  };

  /// The first of a world ends it, and all worlds that it is connected to. Until that is done the
  /// rank's place is nobody else's.
  struct failure {
    int code;
    int rank;  ///< -1: the job's own
    std::string text;
    std::int64_t give_up_ns;  ///< then worlds that are being left end, too
  };

  /// A connection between two ranks has broken. If one of them has died its daemon is about to say
  /// so, which is the cause to be told.
  struct loss {
    int rank;
    int other;
    std::string why;
    std::int64_t at_ns;
    std::int64_t give_up_ns;  ///< 0: nothing has been heard of the other's daemon since
  };

  struct other_mpi {
    int rank;
    std::string path;
  };

  // Start (job_start.cpp).
  void take_signals();
  [[nodiscard]] std::unique_ptr<rank_holder> make_holder(std::vector<std::string> words);
  [[nodiscard]] rank_events make_events();
  [[nodiscard]] std::vector<std::pair<int, boot::descriptor>> remote_streams();
  [[nodiscard]] bool reads_input(int rank) const;
  [[nodiscard]] bool has_input() const;
  void set_up_streams(int rank, start_plan& start, std::vector<boot::descriptor>& held);
  [[nodiscard]] boot::descriptor output_file(int rank, int stream);
  [[nodiscard]] boot::descriptor null_device() const;
  void remark_on_cores();
  void carry_output();
  [[nodiscard]] int next_wait_ms();
  void write_report() const;

  // Ranks that are spawned (job_spawn.cpp).
  world& add_world(std::vector<int> applications, std::vector<int> nodes, int spawner);
  [[nodiscard]] pmi_server& pmi_of(int rank) const;
  void on_spawn(int rank, const std::string& request);
  void serve_spawns();
  [[nodiscard]] std::optional<boot::spawn_answer> spawn(const wanted_spawn& wanted);
  [[nodiscard]] boot::spawn_answer start_world(const wanted_spawn& wanted,
                                               const std::vector<program_lookup>& programs,
                                               const std::vector<int>& counts);
  [[nodiscard]] std::vector<int> free_places() const;
  [[nodiscard]] int places_not_kept() const;
  [[nodiscard]] std::string no_room_for(int ranks) const;
  void leave_world(int rank);
  [[nodiscard]] bool forget_ended_worlds();
  void on_connected(int rank, const boot::connections& with);
  [[nodiscard]] int ranks_at_start() const { return static_cast<int>(plan_.ranks.size()); }
  [[nodiscard]] rank_state& state_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const rank_state& state_of(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)];
  }

  // While it runs (job.cpp).
  void read_signals();
  void on_interrupt(int signal);
  void stop_and_continue();
  void on_started(int rank, pid_t pid);
  void on_output(int rank, int stream, std::string_view bytes);
  void on_exits(std::vector<rank_exit> exits);
  void on_lost_host(int node, int code, const std::string& why);
  void judge(const std::vector<rank_exit>& exits);
  void check_waiting();
  void check_waiting(const world& w);
  void survive(const std::vector<rank_exit>& exits);
  void go_on_without(int rank);
  void on_vote(int rank, cast_vote vote);
  void on_remark(const std::string& text);
  [[nodiscard]] bool survives_host(int node) const;
  [[nodiscard]] std::string cause_of(const rank_exit& exit) const;
  void on_loss(int rank, int other, const std::string& why);
  void check_loss(std::int64_t now);
  void on_abort(int rank, int code, const std::string& why);
  void settle(int rank);
  void check_deadlines();
  [[nodiscard]] int wait_ms() const;
  [[nodiscard]] std::string name_of(int rank) const;
  [[nodiscard]] const std::string& host_of(int rank) const;
  [[nodiscard]] std::string still_running() const;
  void say(const std::string& text);

  // Where the ranks stand (job_ask.cpp).
  void ask(inquiry::answer then);
  void ask_for_numbers(inquiry::answer then);
  [[nodiscard]] std::string numbers_text(const roll& found) const;
  void ask_for_wait(int rank, int turn);
  /// `places`: not why they are not known.
  enum class telling { always, places, if_all_wait };
  void tell_lines(const std::string& what, const std::string& lines);
  void tell_places(const roll& found);
  void tell_where_all_stand(telling when);
  void on_crash(int rank);
  void on_stacks(int rank, rank_stacks found);
  void forget_rank(int rank);
  void on_idle(int rank, bool idle);
  void judge_silence(const roll& found);
  void on_wait(int rank, const boot::wait_report& report);
  [[nodiscard]] std::vector<int> running_ranks() const;
  void on_deadlock();
  void serve_askers();
  void answer_asker(int connection);

  // How worlds end (job_end.cpp).
  void fail(int code, int rank, const std::string& text);
  void judge_failures(bool patient = true);
  [[nodiscard]] bool is_over(const failure& f, bool patient);
  void end(const std::vector<world*>& which, int signal, double grace_s,
           const failure* because = nullptr);
  [[nodiscard]] bool may_finish(const rank_state& rank, const failure& f) const;
  [[nodiscard]] static bool runs(const rank_state& rank);
  [[nodiscard]] std::string consequences(const failure& f, const std::vector<world*>& with) const;
  [[nodiscard]] std::vector<world*> all_worlds() const;
  [[nodiscard]] bool ending() const;
  [[nodiscard]] bool goes_on() const;
  void send_signals(std::int64_t now);

  const run_options& options_;
  const job_plan& plan_;
  std::string host_;
  run_report report_;
  event_loop loop_;
  std::vector<std::unique_ptr<world>> worlds_;  // the first is that of the start
  output_router output_;
  input_pump input_;
  std::vector<rank_state> ranks_;  // those of the start, then places for others
  std::deque<wanted_spawn> wanted_spawns_;
  std::uint32_t deaths_ = 0;  // of ranks that others survive, as has been told
  std::function<void(int rank, bool died)> rank_ended_;  // empty: this tells of deaths
  std::unique_ptr<rank_holder> holder_;
  std::vector<boot::descriptor> remote_files_;  // by rank and stream, for --output
  std::array<bool, 2> told_closed_{};           // our streams that nobody reads any more
  std::optional<signal_pipe> signals_;
  boot::descriptor common_output_;  // of all ranks, when the pattern has no %r
  int alive_ = 0;
  int unsettled_ = 0;              // ranks of which nothing has been heard yet
  std::optional<int> exit_code_;   // set by the first failure
  std::vector<failure> failures_;  // not judged yet
  bool catching_up_ = false;       // in rank_holder::read_all()
  int interrupts_ = 0;
  std::int64_t time_is_up_ns_ = 0;  // 0: never; once that was told, when the ranks are ended
  bool time_told_ = false;
  std::optional<loss> loss_;            // the first
  std::optional<other_mpi> other_mpi_;  // the first
  std::set<std::string> remarks_;
  inquiry inquiry_;
  inquiry counting_;  ///< the same of what ranks do, in numbers
  wait_board waits_{[this](int rank, int turn) { ask_for_wait(rank, turn); }};
  std::set<int> crashing_;  ///< ranks that wait until their calls are told
  std::set<int> idle_;      ///< ranks that have done nothing for long
  bool silence_told_ = false;
  boot::descriptor askers_;  ///< where `sinew status` finds this job
  std::map<int, boot::descriptor> connections_;
  std::int64_t next_signals_ns_ = 0;  // the first of rank_state::signal_at_ns; 0: none
};

}  // namespace sinew::tool
