// SPDX-License-Identifier: BSD-3-Clause
// Long pieces of copies between nodes: their sender only says where they lie, and the owner of the
// target fetches them by the network's get, straight from memory to memory, many at a time.
#pragma once

#include <deque>

#include "region/courier.hpp"
#include "region/instance_table.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/event/system.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::region {

/// The owner's side. Any thread, if `threaded`. No call waits.
class fetches {
 public:
  fetches(sinew::event::system& events, instance_table& table, courier& messages, bool threaded);
  ~fetches();
  fetches(const fetches&) = delete;
  fetches& operator=(const fetches&) = delete;

  /// Brings what `f` tells, and then answers the sender.
  void begin(job_rank sender, const fetch_piece& f);

 private:
  struct fetch {
    fetches* home;
    job_rank from;
    fetch_piece what;
  };
  [[nodiscard]] bool start(fetch* f);
  void end(fetch* f);
  int start_waiting();

  fabric::endpoint& endpoint_;
  core::runtime& runtime_;
  instance_table& table_;
  courier& messages_;
  const bool threaded_;
  base::lock lock_;             ///< guards what follows
  std::deque<fetch*> waiting_;  ///< for which the network had no room
  int chore_;
};

}  // namespace sinew::region
