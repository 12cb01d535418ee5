// SPDX-License-Identifier: BSD-3-Clause
// Who holds the processes of the ranks: the launcher itself, or a daemon on each host.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/boot/survival.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/rank_process.hpp"

namespace sinew::tool {

/// What a rank had no more of.
enum class exhausted : std::uint8_t { nothing, memory, processor_time };

/// How a rank's process ended.
struct rank_exit {
  int rank = 0;
  int code = 0;    ///< 0..255, or 128 + signal
  int signal = 0;  ///< 0: it ended by itself
  bool core_dumped = false;
  exhausted what = exhausted::nothing;  ///< why the kernel killed it, most likely
};

using boot::cast_vote;

/// What happens to ranks, in the order in which it happens on their host. Called from the event
/// loop and from rank_holder::start().
struct rank_events {
  std::function<void(int rank, pid_t pid)> started;
  /// `code` is the exit code that a shell would give.
  std::function<void(int rank, int code, const std::string& why)> not_started;
  std::function<void(int rank, std::string_view bytes)> said;  ///< PMI-1 from a rank's socket
  /// Of processes that were seen to have ended at the same moment.
  std::function<void(const std::vector<rank_exit>& exits)> ended;
  std::function<void(const std::string& text)> remark;  ///< for the user
  /// Where it stands, as `stacks` has packed it (ask/stacks.hpp).
  std::function<void(int rank, std::string_view stacks)> stands;
  /// It has done nothing for another --silence, or does something again after that.
  std::function<void(int rank, bool idle)> idle;
  /// This rank has loaded another MPI's library, and no rank beside it has called ours so far.
  std::function<void(int rank, const std::string& path)> other_mpi;
};

inline constexpr int every_rank = -1;
enum class wanted_of_rank : std::uint8_t { stacks, numbers };

/// One per job. Grade: cold. Used by the launcher's one thread.
class rank_holder {
 public:
  virtual ~rank_holder() = default;

  /// Starts the ranks, at once or as soon as their hosts are ready. `mask` is the ranks' signal
  /// mask; `report_at_ns` (0: never) the moment of now_ns() when waiting ranks say what for.
  virtual void start(const sigset_t& mask, std::int64_t report_at_ns) = 0;
  /// PMI-1 to a rank.
  virtual void answer(int rank, const std::string& bytes) = 0;
  /// To every rank that has been started and has not ended, but not to those of `spared`, which
  /// ascends.
  virtual void signal_all(int signal, const std::vector<int>& spared) = 0;
  /// That rank, or `every_rank`, is to say where it stands, or what it does in numbers:
  /// rank_events::stands, now or later.
  virtual void ask(int rank, wanted_of_rank what) = 0;
  /// Starts the ranks of `plan` in these places of the job, which are free: all of them, or none.
  /// Their environment has `more`. After start().
  [[nodiscard]] virtual std::optional<start_failure> spawn(
      const job_plan& plan, const std::vector<int>& places,
      const std::vector<std::string>& more) = 0;
  /// Takes what ranks have said and nobody has read yet: others may know of it already.
  virtual void read_all() {}
  /// With --survive, to the other ranks: this one has died.
  virtual void tell_dead(int rank) = 0;
  /// The same of a vote, where ranks do not write them down themselves.
  virtual void tell_vote(int /*rank*/, const cast_vote& /*vote*/) {}
  /// Nobody reads a stream of ours any more: the ranks get SIGPIPE.
  virtual void close_output(int /*stream*/) {}
  /// A child of this process has ended, a rank or another one; see reap_children().
  virtual void on_child(const siginfo_t& child) = 0;
  /// No other one has ended at the same moment.
  virtual void tell_exits() {}
  /// Every rank has ended, or never will be started: gives back what is held elsewhere.
  virtual void finish() = 0;
  /// Nothing is left anywhere.
  [[nodiscard]] virtual bool done() const = 0;
  /// Called once in each round of the event loop; the next round may wait so long (-1: for ever).
  [[nodiscard]] virtual int look_after() { return -1; }

  /// Whether ranks may run of whose start nobody has been told.
  [[nodiscard]] virtual bool starts_unheard() const { return false; }
  /// When something was heard last, by now_ns(), of whoever tells of this rank.
  [[nodiscard]] virtual std::int64_t heard_ns(int /*rank*/) const { return INT64_MAX; }
  /// Silence until now was ours (^Z): it is no sign of a lost host.
  virtual void forgive_silence() {}
  /// By how much now_ns() is ahead of ours where this rank runs.
  [[nodiscard]] virtual std::int64_t clock_ahead_ns(int /*rank*/) const { return 0; }
};

}  // namespace sinew::tool
