// SPDX-License-Identifier: BSD-3-Clause
// A job of `sinew run --simulate`: the simulator's thread, its memory, and what is told at the end.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/job.hpp"
#include "sinew/run/run_options.hpp"
#include "sinew/sim/simulator.hpp"

namespace sinew::tool {

/// One per process, made before the job is planned: it adds variables to what each program's ranks
/// get. Cold.
class simulation {
 public:
  /// Throws sinew::error: a network that cannot be, too little room for the ranks.
  explicit simulation(run_options& options);
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  /// Runs the job, and says at its end what the simulator has counted. Its exit code.
  [[nodiscard]] int run(job& running);

 private:
  void serve(job& running) noexcept;
  void draw() const;

  const run_options& options_;
  int ranks_;
  std::size_t bytes_;
  boot::descriptor memory_;
  std::byte* mapped_ = nullptr;
  boot::descriptor bell_;  ///< rung when the simulator has to end the job
  std::string why_;        ///< written before the bell is rung
  std::unique_ptr<sim::simulator> simulator_;
};

}  // namespace sinew::tool
