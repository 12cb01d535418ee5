// SPDX-License-Identifier: BSD-3-Clause
// What the simulator knows of a job: its ranks, what time it is, what was counted. The parts of the
// simulator share one, and only its thread uses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sinew/fabric/virtual_world.hpp"
#include "sinew/sim/simulator.hpp"

namespace sinew::sim {

namespace vw = fabric::virtual_world;

struct rank_state {
  bool runs = true;  ///< as the simulator knows
  bool left = false;
  bool died = false;     ///< and so has left
  bool sleeps = false;   ///< until `until`, whatever comes
  bool returns = false;  ///< had left, and waits for a turn
  std::uint64_t hand_overs = 0;
  std::int64_t local = 0;         ///< its time; never goes back, and no turn begins before it
  std::int64_t sent = 0;          ///< when it sent last
  std::int64_t last_arrival = 0;  ///< of what it has sent, as far as that is known
  std::uint64_t on_links = 0;     ///< messages of which it is not
  std::int64_t until = vw::never;
  std::deque<std::uint64_t> arrived;  ///< numbers of messages that have come, and lie here
  /// Of the messages in its ring: the sender, and where it ends in the ring's count of bytes.
  std::deque<std::pair<int, std::uint64_t>> handed;
  std::deque<std::pair<int, std::uint32_t>> credits;  ///< who has taken how many of its messages
  bool refused = false;                               ///< a send was, since its last turn began

  /// For messages, and whoever brings one gives it a turn.
  [[nodiscard]] bool waits() const noexcept { return !runs && !sleeps && !left && !returns; }
};

struct job_state {
  job_state(std::byte* its_memory, int count, const choices& how)
      : memory(its_memory),
        head(vw::head_of(its_memory)),
        chosen(how),
        ranks(static_cast<std::size_t>(count)) {}

  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks.size()); }
  [[nodiscard]] rank_state& of(int rank) { return ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] vw::port& port(int rank) const {
    return vw::port_of(memory, static_cast<std::size_t>(rank));
  }
  [[nodiscard]] bool all_have_left() const {
    return std::all_of(ranks.begin(), ranks.end(), [](const rank_state& r) { return r.left; });
  }

  std::byte* const memory;
  vw::head& head;
  const choices chosen;
  std::vector<rank_state> ranks;
  bool some_return = false;  ///< of them
  std::int64_t now = 0;      ///< when the present step begins; never goes back
  totals counted;
};

}  // namespace sinew::sim
