// SPDX-License-Identifier: BSD-3-Clause
// Cheap paths under prices on links: what the balancer asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "contraction.hpp"
#include "sinew/base/random.hpp"
#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

class path_finder {
 public:
  virtual ~path_finder() = default;
  /// Appends a cheap path of job j; false if it found none that costs less than `below`. Prices are
  /// positive; a failed link's is infinite.
  virtual bool find(std::size_t j, std::span<const double> price, double below,
                    std::vector<link_id>& out) = 0;
  /// In which order jobs are cheapest to ask for.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const noexcept { return order_; }
  /// Forgets what it knows of prices.
  virtual void new_pass() {}

 protected:
  std::vector<std::uint32_t> order_;
};

/// The best of the shortest paths in a grid, by dynamic programming over the box that they span,
/// the best of those that begin with one step aside and end with the step back, and the best along
/// a skeleton.
class box_finder final : public path_finder {
 public:
  /// `skeletons`: ways that jobs may also take through some dimensions; outlives this, or null.
  /// `orbit`: which link's price counts for a link, as the balancer has it.
  box_finder(const topology& net, const job_list& jobs, std::uint64_t seed,
             const skeleton_set* skeletons = nullptr, std::span<const link_id> orbit = {});
  bool find(std::size_t j, std::span<const double> price, double below,
            std::vector<link_id>& out) override;

 private:
  /// A direction of the box: the same step again and again, or the steps of a skeleton.
  struct side {
    grid_step step;
    std::uint32_t steps;
    const grid_step* way = nullptr;
  };
  [[nodiscard]] link_id seat(link_id l) const noexcept { return orbit_.empty() ? l : orbit_[l]; }
  void choose_sides(node_id a, node_id b, const std::vector<bool>* except);
  void try_aside(node_id a, node_id b, std::span<const double> price, double& cheapest);
  void try_skeletons(std::size_t j, std::span<const double> price, double& cheapest);
  double search(node_id a, std::span<const double> price, double below);
  void trace(node_id b, std::vector<link_id>& out) const;
  void cut_loops(node_id a);

  const topology& net_;
  const job_list& jobs_;
  random_generator draw_;
  const skeleton_set* skeletons_;
  std::span<const link_id> orbit_;
  std::vector<side> sides_;             // dimensions in which there is a way to go
  std::vector<std::uint32_t> strides_;  // of the box
  std::vector<node_id> node_;           // by place in the box
  std::vector<double> cost_;
  std::vector<std::uint8_t> last_;  // the side of the last step to a place
  std::vector<std::uint32_t> digits_;
  std::vector<link_id> best_;
  std::vector<std::uint64_t> seen_;  // call << 32 | links before this node
  std::uint32_t call_ = 0;
};

/// The cheapest path of all, by Dijkstra's trees: one for each source or for each destination,
/// whichever are fewer.
class tree_finder final : public path_finder {
 public:
  /// `orbit`: which link's price counts for a link, as the balancer has it.
  tree_finder(const topology& net, const job_list& jobs, std::span<const link_id> orbit = {});
  bool find(std::size_t j, std::span<const double> price, double below,
            std::vector<link_id>& out) override;
  void new_pass() override { root_ = nothing; }
  /// The cost of job j's cheapest path; infinite if there is none.
  double cost(std::size_t j, std::span<const double> price);

 private:
  void grow(node_id root, std::span<const double> price);
  [[nodiscard]] link_id seat(link_id l) const noexcept { return orbit_.empty() ? l : orbit_[l]; }

  const topology& net_;
  const job_list& jobs_;
  std::span<const link_id> orbit_;
  bool from_sources_;
  node_id root_ = nothing;
  std::vector<double> cost_;
  std::vector<link_id> link_;  // towards the root
  std::vector<std::pair<double, node_id>> heap_;
};

}  // namespace sinew::route
