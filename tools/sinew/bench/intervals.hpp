// SPDX-License-Identifier: BSD-3-Clause
// What may be concluded from noisy samples: intervals for medians and for their ratios, by
// resampling (Efron and Tibshirani, An Introduction to the Bootstrap, 1993), and the states of a
// machine whose processors are sometimes near and sometimes far from each other. Pure; the same
// samples always give the same answer.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sinew/bench/stats.hpp"

namespace sinew::tool::stats {

/// A median, and where it lies in 95 of 100 resamples. Samples of one start are alike, so first
/// starts are drawn, then samples within each. With one sample low = high = median.
struct estimate {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t samples = 0;
  std::size_t starts = 0;

  /// Too noisy for its median to mean something: the interval is wider than 0.6 of the median.
  [[nodiscard]] bool doubtful() const noexcept { return high - low > 0.6 * median; }
};

/// All zero when there is no sample. Cold: about a millisecond for 200 samples.
[[nodiscard]] estimate estimate_of(const series& samples);

/// Whether all of the interval is on the better side of a floor: of what no library should beat.
/// Then the floor is of another way, or was measured at a worse moment.
[[nodiscard]] inline bool beats_floor(const estimate& e, double floor, bool more_is_better) {
  return e.samples > 0 && !e.doubtful() && (more_is_better ? e.low > floor : e.high < floor);
}

/// The quotient of two medians with its interval.
struct ratio {
  double value = 0;
  double low = 0;
  double high = 0;
  /// Whether 1 lies outside the interval.
  [[nodiscard]] bool distinguishable() const noexcept { return low > 1 || high < 1; }
};

/// Nothing when one has no samples, or the lower one's median is not positive. Cold.
[[nodiscard]] std::optional<ratio> ratio_of(const series& upper, const series& lower);

/// Groups into which the trips of a cache line fall: a density over their logarithm (width of its
/// kernel: 9%) is divided where it is less than half as high as the lower of the peaks beside.
/// Groups with less than 3 % of the trips are of no state.
class machine_states {
 public:
  machine_states() = default;
  explicit machine_states(std::span<const double> trips);

  struct state {
    double low = 0, high = 0;  ///< trips from `low` up to but without `high`
    double trip_ns = 0;        ///< the median
    double share = 0;          ///< of all trips, 0 to 1
  };
  /// Nearest first. Empty when no trips were measured.
  [[nodiscard]] const std::vector<state>& all() const noexcept { return states_; }
  /// Where a trip belongs, if to one of them.
  [[nodiscard]] std::optional<std::size_t> of(double trip_ns) const;

 private:
  std::vector<state> states_;
};

/// The states in which an experiment's samples were taken: of all results together, so that the
/// same trips mean the same state.
[[nodiscard]] machine_states states_of(std::initializer_list<const result_set*> all,
                                       std::string_view experiment);

/// The experiment's rows, with the samples of one state and those without a trip only.
[[nodiscard]] result_set in_state(const result_set& results, std::string_view experiment,
                                  const machine_states::state& which);

/// The states that may be compared, as indices: those in which all subjects have samples in half of
/// their rows; else those in which one of ours ("sinew...") and another one have; else all.
[[nodiscard]] std::vector<std::size_t> comparable_states(const result_set& results,
                                                         std::string_view experiment,
                                                         const machine_states& states);

/// "187 (185-190)"; "noisy" when the estimate is doubtful, "-" when there is none.
[[nodiscard]] std::string estimate_text(const estimate& e);
/// "0.62x (0.60-0.65)" or "not distinguishable".
[[nodiscard]] std::string ratio_text(const ratio& r);

}  // namespace sinew::tool::stats
