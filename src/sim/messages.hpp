// SPDX-License-Identifier: BSD-3-Clause
// The messages of a simulated job, from the ring of who sends one to the ring of who gets it.
//
// Invariants: between two ranks no message overtakes another, whatever the seed. A sender has a
// credit back for each message once its receiver has taken it from its ring. What comes for a rank
// that has left is kept, for it may come back; what comes for one that has died is dropped. What
// links hold back of one that dies meanwhile is lost with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/job_state.hpp"
#include "sinew/fabric/virtual_world.hpp"
#include "sinew/sim/link_faults.hpp"
#include "sinew/sim/network.hpp"

namespace sinew::sim {

class messages {
 public:
  /// `links`: null if none of them fails.
  messages(job_state& job, event_queue& events, network& net, link_faults* links)
      : job_(job), events_(events), net_(net), links_(links) {}

  /// Takes what the rank has put into its ring: messages are to be injected, notices to be shown.
  void take_sent(int rank);
  /// Who has sent what this rank has taken may send more.
  void count_taken(int rank);
  /// The network says when it arrives; of a long one, once it has left the links. Or it is put off,
  /// or lost, since links have failed.
  void inject(const event& injection);
  /// Long ones that have left the links until now.
  void take_left();
  /// It lies ready for its receiver, which gets a turn if it waits.
  void arrive(std::uint64_t message);
  /// Hands over credits, and what has come by the rank's time, as far as its ring has room.
  void fill_ring(int rank);
  /// When the first one came that lies ready for the rank.
  [[nodiscard]] std::int64_t first_arrival(int rank) const {
    return all_[job_.of(rank).arrived.front()].head.time;
  }

 private:
  struct message {
    vw::record head;
    int from;
    int to;
    std::unique_ptr<std::byte[]> data;
    bool has_departure = false;  ///< the links' faults have been asked
  };
  /// False: the message does not go now.
  [[nodiscard]] bool departs(const event& injection);
  /// A message's number, until it is let go.
  std::uint64_t keep(message m);
  void let_go(std::uint64_t number);
  [[nodiscard]] bool hand_credits(int rank);
  void expect(std::uint64_t message, std::int64_t arrival);

  job_state& job_;
  event_queue& events_;
  network& net_;
  link_faults* const links_;
  std::vector<message> all_;         ///< by number
  std::vector<std::uint64_t> free_;  ///< numbers of messages that are gone
  std::vector<network::left> left_;  ///< of take_left(); here for its memory
  std::unordered_map<std::uint64_t, std::int64_t> last_arrival_;  ///< by sender and receiver
};

}  // namespace sinew::sim
