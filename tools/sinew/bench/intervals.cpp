// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/intervals.hpp"

#include <tuple>

#include "sinew/base/check.hpp"
#include "sinew/base/random.hpp"

namespace sinew::tool::stats {
namespace {

constexpr int resamples = 1000;
constexpr std::uint64_t seed = 20160531;

using groups = std::vector<std::vector<double>>;  // a start's values each

groups by_start(const series& samples) {
  std::map<int, std::vector<double>> found;
  for (const sample& s : samples) {
    found[s.start].push_back(s.value);
  }
  groups all;
  for (auto& [start, values] : found) {
    all.push_back(std::move(values));
  }
  return all;
}

// Like median_of, without sorting: the buffer is the caller's and is rearranged.
double quick_median(std::vector<double>& values) {
  SINEW_EXPECT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// Medians of resamples: starts drawn with replacement, then values within each.
class resampler {
 public:
  explicit resampler(const series& samples, std::uint64_t stream)
      : groups_(by_start(samples)), random_(seed + stream) {
    SINEW_EXPECT(!groups_.empty());
  }
  double next() {
    drawn_.clear();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& from = groups_[random_.below(groups_.size())];
      for (std::size_t i = 0; i < from.size(); ++i) {
        drawn_.push_back(from[random_.below(from.size())]);
      }
    }
    return quick_median(drawn_);
  }
  [[nodiscard]] std::size_t starts() const noexcept { return groups_.size(); }

 private:
  groups groups_;
  random_generator random_;
  std::vector<double> drawn_;
};

// The 2.5th and the 97.5th percentile.
std::pair<double, double> middle_95(std::vector<double>& values) {
  SINEW_EXPECT(values.size() >= 40);
  std::sort(values.begin(), values.end());
  const std::size_t cut = values.size() / 40;
  return {values[cut], values[values.size() - 1 - cut]};
}

// ---- states -----------------------------------------------------------------------------------

constexpr double kernel_width = 0.125;  // in octaves: 9 %
constexpr double grid_step = 0.02;
constexpr double least_share = 0.03;

// Density of the octaves at points that lie `grid_step` apart from `first` on, unscaled.
std::vector<double> density_of(const std::vector<double>& octaves, double first,
                               std::size_t points) {
  std::vector<double> density(points, 0.0);
  const int reach = static_cast<int>(4 * kernel_width / grid_step);
  for (const double at : octaves) {
    const int centre = static_cast<int>((at - first) / grid_step);
    for (int p = std::max(centre - reach, 0); p <= centre + reach; ++p) {
      if (p < static_cast<int>(points)) {
        const double distance = (first + p * grid_step - at) / kernel_width;
        density[static_cast<std::size_t>(p)] += std::exp(-0.5 * distance * distance);
      }
    }
  }
  return density;
}

// Points at which the density is divided: the lowest between two peaks, where it is less than half
// as high as the lower one.
std::vector<std::size_t> valleys_of(const std::vector<double>& density) {
  std::vector<std::size_t> valleys;
  double peak = 0;  // the highest since the last division
  std::size_t lowest = 0;
  bool falling = false;
  for (std::size_t p = 0; p < density.size(); ++p) {
    if (!falling) {
      peak = std::max(peak, density[p]);
      if (density[p] < 0.5 * peak) {
        falling = true;
        lowest = p;
      }
      continue;
    }
    if (density[p] < density[lowest]) {
      lowest = p;
    }
    // It rises again: a division if what it rises to is twice as high, else still the same slope.
    if (density[p] > 2 * density[lowest] && density[p] > 0.5) {
      valleys.push_back(lowest);
      peak = density[p];
      falling = false;
    }
  }
  return valleys;
}

}  // namespace

estimate estimate_of(const series& samples) {
  if (samples.empty()) {
    return {};
  }
  estimate e;
  e.median = median_of(samples);
  e.low = e.high = e.median;
  e.samples = samples.size();
  resampler draw(samples, 0);
  e.starts = draw.starts();
  if (samples.size() > 1) {
    std::vector<double> medians(resamples);
    std::generate(medians.begin(), medians.end(), [&draw] { return draw.next(); });
    std::tie(e.low, e.high) = middle_95(medians);
  }
  SINEW_ENSURE(e.low <= e.high && e.starts <= e.samples);
  return e;
}

std::optional<ratio> ratio_of(const series& upper, const series& lower) {
  if (upper.empty() || lower.empty() || median_of(lower) <= 0) {
    return std::nullopt;
  }
  ratio r;
  r.value = median_of(upper) / median_of(lower);
  resampler above(upper, 1);
  resampler below(lower, 2);
  std::vector<double> ratios;
  for (int i = 0; i < resamples; ++i) {
    const double divisor = below.next();
    if (divisor > 0) {
      ratios.push_back(above.next() / divisor);
    }
  }
  if (ratios.size() < 40) {
    return std::nullopt;
  }
  std::tie(r.low, r.high) = middle_95(ratios);
  SINEW_ENSURE(r.low <= r.high);
  return r;
}

machine_states::machine_states(std::span<const double> trips) {
  std::vector<double> sorted;
  for (const double t : trips) {
    if (t > 0) {
      sorted.push_back(t);
    }
  }
  if (sorted.empty()) {
    return;
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> octaves;
  for (const double t : sorted) {
    octaves.push_back(std::log2(t));
  }
  const double first = octaves.front() - 0.5;
  const auto points = static_cast<std::size_t>((octaves.back() + 0.5 - first) / grid_step) + 1;
  std::vector<double> borders = {0};
  for (const std::size_t p : valleys_of(density_of(octaves, first, points))) {
    borders.push_back(std::exp2(first + static_cast<double>(p) * grid_step));
  }
  borders.push_back(2 * sorted.back());
  for (std::size_t b = 0; b + 1 < borders.size(); ++b) {
    const auto from = std::lower_bound(sorted.begin(), sorted.end(), borders[b]);
    const auto to = std::lower_bound(from, sorted.end(), borders[b + 1]);
    const double share = static_cast<double>(to - from) / static_cast<double>(sorted.size());
    if (share >= least_share) {
      states_.push_back(
          {borders[b], borders[b + 1], median_of(std::vector<double>(from, to)), share});
    }
  }
  SINEW_ENSURE(!states_.empty());
}

std::optional<std::size_t> machine_states::of(double trip_ns) const {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (trip_ns >= states_[s].low && trip_ns < states_[s].high) {
      return s;
    }
  }
  return std::nullopt;
}

machine_states states_of(std::initializer_list<const result_set*> all,
                         std::string_view experiment) {
  std::vector<double> trips;
  for (const result_set* results : all) {
    for (const row& r : results->rows()) {
      for (const auto& [subject, samples] : r.samples) {
        for (const sample& s : samples) {
          if (r.key.experiment == experiment) {
            trips.push_back(s.line_ns);
          }
        }
      }
    }
  }
  return machine_states(trips);
}

result_set in_state(const result_set& results, std::string_view experiment,
                    const machine_states::state& which) {
  SINEW_EXPECT(which.low < which.high);
  result_set found;
  for (const row& r : results.rows()) {
    if (r.key.experiment != experiment) {
      continue;
    }
    for (const auto& [subject, samples] : r.samples) {
      for (const sample& s : samples) {
        if (s.line_ns == 0 || (s.line_ns >= which.low && s.line_ns < which.high)) {
          found.add(r.key, subject, s);
        }
      }
    }
  }
  return found;
}

std::vector<std::size_t> comparable_states(const result_set& results, std::string_view experiment,
                                           const machine_states& states) {
  std::map<std::string, std::size_t> rows;                    // of a subject
  std::map<std::string, std::vector<std::size_t>> rows_with;  // samples in each state
  for (const row& r : results.rows()) {
    for (const auto& [subject, samples] : r.samples) {
      if (r.key.experiment != experiment || subject == "floor" || published(subject)) {
        continue;
      }
      std::vector<bool> has(states.all().size());
      for (const sample& s : samples) {
        if (const auto at = states.of(s.line_ns)) {
          has[*at] = true;
        }
      }
      ++rows[subject];
      auto& with = rows_with[subject];
      with.resize(has.size());
      for (std::size_t i = 0; i < has.size(); ++i) {
        with[i] += has[i] ? 1 : 0;
      }
    }
  }
  std::vector<std::size_t> by_all, by_two, every;
  for (std::size_t i = 0; i < states.all().size(); ++i) {
    bool all = true, ours = false, theirs = false;
    for (const auto& [subject, with] : rows_with) {
      const bool here = 2 * with[i] >= rows[subject];
      all &= here;
      (subject.rfind("sinew", 0) == 0 ? ours : theirs) |= here;
    }
    every.push_back(i);
    if (all) {
      by_all.push_back(i);
    }
    if (ours && theirs) {
      by_two.push_back(i);
    }
  }
  return !by_all.empty() ? by_all : !by_two.empty() ? by_two : every;
}

std::string estimate_text(const estimate& e) {
  if (e.samples == 0) {
    return "-";
  }
  if (e.doubtful()) {
    return "noisy";
  }
  const std::string median = short_number(e.median);
  if (e.samples == 1) {
    return median;
  }
  return median + " (" + short_number(e.low) + '-' + short_number(e.high) + ')';
}

std::string ratio_text(const ratio& r) {
  if (!r.distinguishable()) {
    return "not distinguishable";
  }
  return short_number(r.value) + "x (" + short_number(r.low) + '-' + short_number(r.high) + ')';
}

}  // namespace sinew::tool::stats
