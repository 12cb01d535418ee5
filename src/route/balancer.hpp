// SPDX-License-Identifier: BSD-3-Clause
// Spreads jobs over paths so that the busiest link carries as little as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "path_finder.hpp"
#include "sinew/base/check.hpp"
#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

/// Every link has a price that grows exponentially with its load; each job moves bytes from its
/// dearer paths to its cheapest until they cost the same, and buys new paths at the prices of the
/// moment. At rest the sum of exponentials is least, and its exponent, the sharpness, tells how
/// near that is to the least maximum: the prices are then a near-optimal dual solution.
/// (Exponential penalties for packing and flows: Shahrokhi and Matula, The maximum concurrent flow
/// problem, 1990; Plotkin, Shmoys and Tardos, Fast approximation algorithms for fractional packing
/// and covering problems, 1995.)
///
/// Jobs have distinct ends and positive bytes. Shares are real numbers here.
class balancer {
 public:
  static constexpr std::uint32_t most_slots = 64;

  /// `slots`: paths that a job can have at a time. `orbit`, where not empty, says which link stands
  /// for a link in loads and prices: with a symmetric pattern one job stands for its whole orbit.
  balancer(const topology& net, const job_list& jobs, path_finder& finder, std::uint32_t slots = 16,
           std::span<const link_id> orbit = {});

  /// Gives each job its first paths, in rounds that each place a part of its bytes. `scale` is a
  /// guess of the final busiest link. Throws sinew::error that names a job without any path.
  void start(double scale, std::uint32_t rounds);

  /// One pass in which every job looks for a new path and evens out.
  void buy(double sharpness);
  /// One pass over the paths that exist.
  void even_out(double sharpness);

  /// Takes away paths with less than this share of their job's bytes (never the last).
  void drop_below(double share);
  /// Takes the thinnest paths from jobs with more than their row of `most` says.
  void drop_beyond(std::span<const std::uint32_t> most);

  /// Bytes per cable on the busiest link.
  [[nodiscard]] double busiest() const noexcept;
  [[nodiscard]] std::span<const double> prices() const noexcept { return price_; }
  [[nodiscard]] std::size_t paths_in_use() const noexcept;
  /// From now on new paths come from here.
  void ask(path_finder& finder) noexcept { finder_ = &finder; }

  /// Shares as they are now, to return to as long as no new path is bought.
  struct state;
  [[nodiscard]] state save() const;
  void restore(const state& then);

  /// The guess may be corrected when more is known.
  void rescale(double scale) noexcept {
    SINEW_EXPECT(scale > 0);
    scale_ = scale;
  }

  /// Calls take(links, bytes) for the paths of job j that carry something.
  template <class Take>
  void for_each_path(std::size_t j, Take take) const {
    SINEW_EXPECT(carries_all(j));
    for (std::uint32_t i = 0; i < count_[j]; ++i) {
      const slot& s = slots_[j * width_ + i];
      if (s.flow > 0) {
        take(links_of(s), s.flow);
      }
    }
  }

 private:
  struct slot {
    std::size_t first = 0;
    std::uint32_t hops = 0;
    double flow = 0;
  };
  [[nodiscard]] link_id seat(link_id l) const noexcept { return orbit_.empty() ? l : orbit_[l]; }
  [[nodiscard]] std::span<const link_id> links_of(const slot& s) const noexcept {
    SINEW_EXPECT(s.hops != 0 && s.first + s.hops <= arena_.size());
    return {arena_.data() + s.first, s.hops};
  }
  /// Whether the paths of job j carry its bytes together, but for rounding.
  [[nodiscard]] bool carries_all(std::size_t j) const noexcept;
  [[nodiscard]] double cost_of(std::span<const link_id> path) const noexcept;
  void set_prices(double sharpness);
  void put(std::span<const link_id> path, double flow) noexcept;
  bool find_anywhere(std::size_t j);
  void widen(std::span<const link_id> path);
  [[nodiscard]] double worthwhile(std::size_t j) const noexcept;
  bool insert(std::size_t j);
  void improve(std::size_t j);
  void shift(slot& from, slot& to, double most);
  void hand_over(std::size_t j, std::uint32_t i);
  void compact();

  const topology& net_;
  const job_list& jobs_;
  path_finder* finder_;
  std::uint32_t width_;  // slots per job
  double scale_ = 1;
  double sharpness_ = 1;
  double caution_ = 1;  // part of a computed step that is taken
  std::span<const link_id> orbit_;
  std::vector<double> inverse_;  // 1 / capacity
  std::vector<double> load_;     // bytes
  std::vector<double> price_;
  std::vector<std::uint32_t> mark_;
  std::uint32_t stamp_ = 0;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> count_;
  std::vector<link_id> arena_;
  std::vector<link_id> found_;
};

struct balancer::state {
  std::vector<slot> slots;
  std::vector<std::uint32_t> count;
  std::vector<double> load;
};

}  // namespace sinew::route
