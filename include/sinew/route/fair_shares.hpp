// SPDX-License-Identifier: BSD-3-Clause
// Max-min fair rates of flows over things that have a rate each: links, adapters, memories.
//
// A flow is no faster than its share of the busiest thing on its way; what it leaves of the others
// goes to the flows there (progressive filling: Bertsekas, Gallager: Data Networks, 1992, 6.5.2).
// When flows come or go, only those are looked at that share a thing with them, directly or over
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"

namespace sinew::route {

/// One thread's. The same calls give the same rates, to the last bit.
class fair_shares {
 public:
  using flow_id = std::uint32_t;   ///< of one that has gone, a new one's later
  using thing_id = std::uint32_t;  ///< its place in `rates`

  /// What each thing carries at most, above 0 or (a failed one, which no flow may cross) 0.
  explicit fair_shares(std::vector<double> rates);

  /// A flow over these things, each at most once and at least one, that is never faster than
  /// `most`. Its rate is 0 until settle(). Warm: allocates while there are more flows than ever
  /// before.
  flow_id add(std::span<const thing_id> things,
              double most = std::numeric_limits<double>::infinity());
  void remove(flow_id f);

  /// Whether flows have come or gone since the last settle().
  [[nodiscard]] bool is_settled() const noexcept { return changed_.empty(); }
  /// Makes all rates fair. Returns the flows whose rate is another one now, until the next call.
  /// Costs the flows that are looked at, times their things, times the logarithm of these.
  std::span<const flow_id> settle();

  /// In what the things' rates are in.
  [[nodiscard]] double rate(flow_id f) const noexcept {
    SINEW_EXPECT(f < flows_.size());
    return flows_[f].rate;
  }
  /// The flow's part if each thing were divided evenly; sets its rate to that until settle().
  double divide_evenly(flow_id f);
  [[nodiscard]] std::size_t flows() const noexcept { return flows_.size() - free_.size(); }

 private:
  struct use {
    thing_id thing;
    std::uint32_t place;  ///< in the thing's list of users
  };
  struct flow {
    std::vector<use> uses;
    double most = 0;
    double rate = 0;
    std::uint64_t seen = 0;   ///< the call of settle() that has looked at it
    std::uint64_t fixed = 0;  ///< the one that has given it its rate
  };
  struct user {
    flow_id flow;
    std::uint32_t use;  ///< which of the flow's
  };
  struct thing {
    double whole = 0;
    double room = 0;         ///< that settle() has not given away yet
    std::uint32_t open = 0;  ///< users to which it has not
    std::uint64_t seen = 0;
    bool changed = false;
    std::vector<user> users;
  };
  using part = std::pair<double, thing_id>;  ///< of each open user

  void mark(thing_id t);
  void look_at(thing_id t);
  void gather();
  void fix(flow_id f, double rate);
  void fix_slower_than(double rate);

  std::vector<thing> things_;
  std::vector<flow> flows_;
  std::vector<flow_id> free_;
  std::vector<thing_id> changed_;
  std::uint64_t calls_ = 0;
  // Of one call of settle(); here for their memory.
  std::vector<thing_id> gathered_;
  std::vector<part> heap_;
  std::vector<std::pair<double, flow_id>> limited_;  ///< flows with a limit of their own
  std::size_t next_limited_ = 0;
  std::vector<flow_id> moved_;
};

}  // namespace sinew::route
