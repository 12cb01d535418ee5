// SPDX-License-Identifier: BSD-3-Clause
// A job with tasks, locks and regions in one line: what these need is made in the only order that
// works, ranks meet where they have to, and all of it ends in the reverse order.
//
//   int main() {
//     sinew::job here;
//     here.tasks().add<&work>("work");
//     here.start();                                        // if there are tasks
//     sinew::event::event e = here.tasks().spawn<&work>(here.tasks().at(1), {}, 7);
//     here.events().wait(e);
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/system.hpp"
#include "sinew/event/task.hpp"
#include "sinew/region/system.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::region {

/// Processors of a kind that the program names: event::tasks::open().
struct job_kind {
  std::string_view name;
  int workers = 1;  ///< of this rank, beside all others; none: other ranks have some
};

struct job_options {
  int workers = 0;                   ///< that run tasks; 0: SINEW_FIBER_WORKERS, or one per core
  std::vector<job_kind> kinds = {};  ///< the same names in the same order on every rank
  sinew::event::options events = {};
};

/// One per process. It is a fiber's work from the constructor on: the caller is worker 0. All ranks
/// make one, call start() and meet() alike, and end it.
class job {
 public:
  /// Fiber scheduler (if the process has none), runtime for threads, events, reservations, tasks,
  /// heaps and regions. Returns when all ranks have come. Throws sinew::error. Cold.
  explicit job(const job_options& how = {});
  /// Waits until all ranks are here and all their tasks have ended. While an exception is on its
  /// way it waits for nobody: the launcher learns that this rank has failed. Once a rank is lost
  /// (event::system::lost()) it waits for its own tasks only: programs that survive that meet by a
  /// barrier of theirs.
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  [[nodiscard]] job_rank rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] core::runtime& runtime() noexcept;
  [[nodiscard]] sinew::event::system& events() noexcept;
  [[nodiscard]] sinew::event::reservations& locks() noexcept;
  [[nodiscard]] sinew::event::tasks& tasks() noexcept;
  [[nodiscard]] rma::engine& memory() noexcept;
  [[nodiscard]] region::system& regions() noexcept;

  /// tasks::start(). Collective.
  void start();
  /// Returns when all ranks have called it; progress is made meanwhile. Collective. Warm.
  void meet();
  /// Everybody's word, by rank: for handles, which are valid everywhere. Collective. Warm.
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine);

 private:
  struct body;
  std::unique_ptr<body> body_;
};

}  // namespace sinew::region

namespace sinew {
using region::job;
using region::job_kind;
using region::job_options;
}  // namespace sinew
