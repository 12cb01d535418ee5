// SPDX-License-Identifier: BSD-3-Clause
// Which senders the receives from any source of a program have met in the runs of sinew explore,
// and which runs are still to be tried so that each that could be met is met once (as ISP and DAMPI
// do: Vakkalanka et al., CAV 2008; Vo et al., SC 2010).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sinew/p2p/steering.hpp"
#include "sinew/sim/faults.hpp"

namespace sinew::tool {

/// What is varied in a run.
struct trial {
  std::uint64_t seed = 0;
  std::vector<sim::fault> faults = {};
  std::vector<p2p::source_match> matches = {};  ///< that are forced
  std::int64_t longest_ns = 0;                  ///< the run ends then; 0: whenever it likes

  friend bool operator==(const trial&, const trial&) = default;
  [[nodiscard]] bool may_kill() const;
  [[nodiscard]] std::string text() const;     ///< "seed 5, match 0:1=2"
  [[nodiscard]] std::string options() const;  ///< "--seed 5 --match 0:1=2"
};

/// What a run tells of itself.
struct run_facts {
  std::int64_t virtual_ns = 0;
  int ranks = 0;
  std::vector<std::array<int, 2>> links = {};  ///< that were used, by their ends
  bool stuck = false;                          ///< all ranks waited in vain, or it did not end
  bool cut_off = false;  ///< a rank was after it had left, and others waited for it
  std::set<p2p::source_match> met = {};
  std::vector<p2p::source_match> could_be_met = {};  ///< in the order in which it was seen
};
void write_facts(int file, const run_facts& facts);  ///< but for the last two, which ranks write
[[nodiscard]] run_facts facts_in(const std::string& text);

/// Some of what was forced has not been met: it cannot be, in such a run.
[[nodiscard]] bool lacks_a_match(const trial& of, const run_facts& facts);

class wildcard_coverage {
 public:
  void add(const trial& of, const run_facts& facts);
  /// A run that meets what none has met so far: up to what it changes it is the run in which that
  /// was seen.
  [[nodiscard]] std::optional<trial> next();
  /// Whether there are receives from any source that could have met another sender.
  [[nodiscard]] bool has_choices() const noexcept { return known_.size() > first_met_; }
  /// "wildcard receives: 7 of 7 matches seen"; "" if there are none.
  [[nodiscard]] std::string text() const;

 private:
  std::set<p2p::source_match> met_, known_, impossible_;
  std::size_t first_met_ = 0;  ///< how many the first run has met
  std::deque<trial> left_;
};

}  // namespace sinew::tool
