// SPDX-License-Identifier: BSD-3-Clause
// Runs the ranks of a job in virtual time: gives each its turn when something happens to it, and
// carries messages as a network's model says. One thread of its own, beside the launcher's.
//
// A step begins at the time of the next event, and ends before a message that is sent now could
// come. All ranks to which something happens meanwhile have the turn, side by side; when the last
// one has handed over the next step begins. What ranks have sent is put in order by (time, rank),
// never by who was quicker, so that the run is a function of program, network and seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sinew/fabric/fabric.hpp"
#include "sinew/sim/faults.hpp"
#include "sinew/sim/network.hpp"

namespace sinew::sim {

struct choices {
  std::uint64_t seed = 0;  ///< 0: nothing is varied
  double compute = 0;      ///< virtual time for each of the processor's; 0: computing takes none
  /// A rank that neither runs nor hands over for so long waits for something else than messages:
  /// time goes on without it.
  std::int64_t patience_ns = 20'000'000;
  bool preempt = false;  ///< the same without one that computes so long without a call
  bool survive = false;  ///< the others go on when a rank has died; see ended()
  std::vector<fault> faults = {};
  std::int64_t longest_ns = 0;  ///< a job that takes longer does not end; 0: no limit
};

/// Of all ranks.
struct wait_total {
  std::string call;
  std::int64_t ns = 0;
};

struct totals {
  std::int64_t virtual_ns = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t steps = 0;
  std::uint64_t digest = 0;            ///< of all arrivals
  std::vector<wait_total> waits = {};  ///< by call, the longest first; once run() has ended
  bool deadlock = false;
  bool cut_off = false;  ///< a rank was by links, after it had left, while others had not
  bool late = false;     ///< longest_ns is over
  bool whole = false;    ///< all ranks have left
};

/// Called by the simulator's thread.
struct listeners {
  /// No rank can go on; each has been asked what it waits for. Or it is late.
  std::function<void()> on_deadlock = [] {};
  /// A rank has computed for so long without a call; once a job.
  std::function<void(int rank, double seconds)> on_long_computing = [](int, double) {};
  /// Between two steps, so that all ranks know of it whose time is later: it has died some while
  /// ago, or is cut off by links; a rank has posted a notice.
  std::function<void(int rank)> on_death = [](int) {};
  std::function<void(int rank, const fabric::header& words)> on_notice =
      [](int, const fabric::header&) {};
};

class simulator {
 public:
  /// `memory`: fabric::virtual_world::bytes_for(ranks) bytes, zero-filled, which the ranks open
  /// once this has returned; it outlives this object. Cold.
  simulator(std::byte* memory, int ranks, std::unique_ptr<network> net, const choices& how);
  ~simulator();
  simulator(const simulator&) = delete;
  simulator& operator=(const simulator&) = delete;

  /// Until stop(), or a deadlock. Its thread's only call. Throws what the network throws.
  void run(const listeners& told);
  /// Ends run(). Any thread.
  void stop() noexcept;
  /// The process has ended; `died`: the others go on without it. With choices::survive time stands
  /// still until it is said of a rank that had the turn. Any thread.
  void ended(int rank, bool died) noexcept;
  /// After run().
  [[nodiscard]] const totals& result() const noexcept;
  [[nodiscard]] const network& model() const noexcept;

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace sinew::sim
