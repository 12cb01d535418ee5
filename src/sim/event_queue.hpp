// SPDX-License-Identifier: BSD-3-Clause
// What is still to happen in a simulated job, in order of time.
//
// Invariant: the order of what happens at one time depends on nothing but what ranks do and the
// seed. A message that is injected is known by its sender and the sender's count of messages, one
// that arrives by the order of injection, a notice by its rank; turns come after arrivals, by rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "sim/job_state.hpp"
#include "sinew/base/random.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::sim {

/// What all ranks are to see at a time: words that a rank has posted, its death, or that links have
/// cut it off for good, if it has left before.
enum class notice_kind : std::uint8_t { words, death, cut_off };
struct notice {
  int rank;
  notice_kind kind;
  fabric::header words;
};

enum class happening : std::uint8_t { injection, arrival, turn };

struct event {
  std::int64_t time;
  std::uint64_t order;  ///< of those of one time
  happening what;
  int rank;              ///< turn: whose
  std::uint64_t number;  ///< turn: its hand_over; else: of the message
};

class event_queue {
 public:
  explicit event_queue(job_state& job)
      : job_(job), random_(job.chosen.seed), sent_by_(job.ranks.size()) {}

  /// At the time of the sender's last message.
  void add_injection(int sender, std::uint64_t message);
  /// One that was taken, later: it stays before those that its sender has sent after it.
  void put_off(const event& injection, std::int64_t time);
  /// With a seed: which of those of one moment is first.
  void add_arrival(int receiver, std::int64_t time, std::uint64_t message);
  /// All see it later by `delay` than `time`, with a seed by up to twice that, and what a rank
  /// posts in its order.
  void add_notice(std::int64_t time, std::int64_t delay, const notice& what);
  /// At exactly that time, unless the rank dies before.
  void add_cut_off(int rank, std::int64_t time) {
    notices_.emplace(std::pair(time, rank), notice{rank, notice_kind::cut_off, {}});
  }
  /// Not before the rank's own time, and later if it is slow.
  void add_turn(int rank, std::int64_t time);

  /// When something happens next; never if nothing does.
  [[nodiscard]] std::int64_t next();
  [[nodiscard]] std::int64_t next_notice() const;
  [[nodiscard]] bool has_messages_or_turns() const {
    return !events_.empty() || !injections_.empty();
  }
  /// The first one of up to `time`; none if there is none.
  [[nodiscard]] std::optional<event> take_injection(std::int64_t time);
  [[nodiscard]] std::optional<notice> take_notice(std::int64_t time);
  /// The first arrival or turn before `end`.
  [[nodiscard]] std::optional<event> take(std::int64_t end);

  /// With a seed: something below `end`; else 0.
  [[nodiscard]] std::int64_t varied(std::int64_t end);

 private:
  struct later {
    bool operator()(const event& a, const event& b) const noexcept {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  using by_time = std::priority_queue<event, std::vector<event>, later>;
  struct sender_state {
    std::uint64_t messages = 0;  ///< that it has sent
    std::int64_t noticed = 0;    ///< when its last notice is seen
  };

  void drop_stale_turns();
  [[nodiscard]] sender_state& of(int rank) { return sent_by_[static_cast<std::size_t>(rank)]; }

  job_state& job_;
  random_generator random_;
  std::vector<sender_state> sent_by_;
  by_time injections_;  ///< of messages that wait for all earlier ones
  by_time events_;      ///< arrivals and turns
  std::multimap<std::pair<std::int64_t, int>, notice> notices_;  ///< by time and rank
  std::uint64_t arrivals_ = 0;
};

}  // namespace sinew::sim
