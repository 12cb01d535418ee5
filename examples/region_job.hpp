// SPDX-License-Identifier: BSD-3-Clause
// What the examples with events and regions begin with: this process's place in its job.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/core/job.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/event/system.hpp"
#include "sinew/region/reductions.hpp"
#include "sinew/rma/engine.hpp"

class region_job {
 public:
  region_job()
      : memory(sinew::rma::engine::open(sinew::core::join_job(sinew::core::threading::one))),
        events(memory->runtime()),
        regions(*memory, events),
        locks(events) {
    words_ = memory->memory().allocate(sinew::rma::part::symmetric, 8 * std::size_t(size()));
    memory->sync_all();
  }
  ~region_job() {
    memory->sync_all();  // nobody leaves while others may ask it for something
    sinew::core::leave_job();
  }

  sinew::job_rank rank() const { return memory->rank(); }
  int size() const { return memory->size(); }

  /// Everybody's word, by rank: for handles, which are valid everywhere.
  std::vector<std::uint64_t> gather(std::uint64_t mine) {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
    memory->put({rank(), words_ + 8 * rank().index()}, &mine, 8);
    memory->sync_all();
    for (sinew::job_rank r = 0; r.below(size()); ++r) {
      memory->get(&all[r.index()], {r, words_ + 8 * r.index()}, 8);
    }
    memory->sync_all();
    return all;
  }

  std::unique_ptr<sinew::rma::engine> memory;
  sinew::event::system events;
  sinew::region::system regions;
  sinew::event::reservations locks;

 private:
  std::uint64_t words_ = 0;
};
