// Who holds the processes of the ranks: the launcher itself, or a daemon on each host.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/boot/survival.hpp"

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

/// With --survive over hosts: a rank has voted, or left a ballot (boot/survival.hpp).
struct cast_vote {
  boot::ballot ballot;
  std::uint32_t flag = 0;
  std::uint32_t deaths = 0;  ///< before it, as the launcher counts
  bool left = false;
};

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
  /// This rank has loaded another MPI's library, and no rank beside it has called ours so far.
  std::function<void(int rank, const std::string& path)> other_mpi;
};

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
};

}  // namespace sinew::tool
