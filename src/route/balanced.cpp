// SPDX-License-Identifier: BSD-3-Clause
// Bound, spread, polish, thin out.
//
// On grids the problem is first solved on contractions (contraction.hpp): that gives the bound and
// the long detours. Then every job buys paths at prices that sharpen from stage to stage; each
// stage starts from loads that are nearly at rest, so a few passes bring them to rest again. In the
// end paths that carry little are taken away as long as the busiest link does not mind.
#include "balanced.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "balancer.hpp"
#include "contraction.hpp"
#include "duality.hpp"
#include "path_finder.hpp"
#include "sinew/base/check.hpp"
#include "symmetry.hpp"
#include "walk.hpp"

namespace sinew::route {
namespace {

constexpr std::uint32_t slots = 16;
constexpr double sharpest = 1500;
constexpr std::size_t most_coarse_jobs = 100'000;
constexpr std::size_t most_jobs_again = 20'000;
constexpr double tree_budget = 2e8;  // visits of links: three seconds or so
constexpr int most_passes = 300;
constexpr int least_passes = 4;

class planner {
 public:
  planner(const topology& net, const job_list& jobs, const plan_options& o, proof& bound,
          std::optional<symmetry> same)
      : net_(net), all_(jobs), options_(o), bound_(bound), same_(std::move(same)) {
    if (!same_) {
      return;
    }
    one_for_all_.orbit = same_->orbit;
    one_for_all_.jobs_per_orbit =
        static_cast<double>(all_.size()) / static_cast<double>(same_->jobs.size());
  }

  split run() {
    prepare();
    state_->start(std::max(bound_.bytes, 1.0), 2);
    spread();
    if (same_ && !good(1)) {
      seek_detours();
    }
    if (!good(1)) {
      polish();
    }
    thin_out();
    return result();
  }

  [[nodiscard]] bool good(double part) const {
    return state_->busiest() <= bound_.bytes * (1 + part * options_.gap);
  }
  [[nodiscard]] double busiest() const { return state_->busiest(); }

 private:
  [[nodiscard]] const job_list& jobs() const { return same_ ? same_->jobs : all_; }
  [[nodiscard]] std::span<const link_id> orbit() const { return one_for_all_.orbit; }

  void prepare() {
    if (net_.grid().empty()) {
      finder_ = std::make_unique<tree_finder>(net_, all_);
    } else {
      if (!same_) {
        solve_contractions();
      }
      make_box_finder();
    }
    if (trees_are_cheap(net_, jobs(), 1)) {
      const std::vector<double> unit(net_.links(), 1.0);
      bound_.raise(dual_bound(net_, jobs(), unit, one_for_all_), "what all links carry");
    }
    state_ = std::make_unique<balancer>(net_, jobs(), *finder_, slots, orbit());
  }

  void solve_contractions() {
    if (all_.size() > most_coarse_jobs) {
      return;
    }
    coarse_ = solve_coarse(net_, all_);
    bound_.raise(coarse_.bound, coarse_.reason());
    if (!same_ || coarse_.skeletons == nullptr) {
      return;
    }
    // The skeletons of the jobs that stand for all.
    SINEW_ASSERT(coarse_.skeletons->of_job.size() == all_.size());
    std::vector<std::uint32_t> ways(jobs().size(), nothing);
    for (std::size_t j = 0; j < all_.size(); ++j) {
      const std::uint32_t row = same_->row[j];
      const bool itself =
          all_.source[j] == jobs().source[row] && all_.destination[j] == jobs().destination[row];
      if (itself) {
        ways[row] = coarse_.skeletons->of_job[j];
      }
    }
    coarse_.skeletons->of_job = std::move(ways);
  }

  void make_box_finder() {
    finder_ =
        std::make_unique<box_finder>(net_, jobs(), options_.seed, coarse_.skeletons.get(), orbit());
  }

  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): first, step, passes
  void sharpen(double from, double factor, int passes) {
    for (sharpness_ = from; sharpness_ < sharpest; sharpness_ *= factor) {
      state_->buy(sharpness_);
      for (int i = 0; i < passes; ++i) {
        state_->even_out(sharpness_);
      }
      if (good(0.6)) {
        break;
      }
    }
    sharpness_ = std::clamp(sharpness_, 100.0, sharpest);
  }

  // Sharp prices see the busiest links only. Patterns that load all links alike, as random ones do,
  // need several rounds: each begins softly again, with the paths of the one before.
  void spread() {
    const int passes = same_ ? 40 : 4;  // few jobs, cautious steps
    sharpen(10, 1.8, passes);
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 8 && !good(1) && state_->busiest() < before * 0.997; ++round) {
      before = state_->busiest();
      state_->rescale(before);
      sharpen(30, 1.5, passes + 2);
    }
  }

  // Most symmetric patterns need neither a bound nor detours from contractions; where orbits hide
  // narrow places between blocks of jobs, those show there.
  void seek_detours() {
    solve_contractions();
    if (good(1) || coarse_.skeletons == nullptr) {
      return;
    }
    auto old = std::move(finder_);
    make_box_finder();
    state_->ask(*finder_);
    state_->rescale(std::max(bound_.bytes, 1.0));
    spread();
  }

  // All paths of the network may be bought, and their prices prove a bound of their own. A pass
  // grows its trees twice, to buy and to prove.
  void polish() {
    const int passes = affordable_trees(net_, jobs(), tree_budget / 2, most_passes);
    if (passes < least_passes) {
      return;
    }
    effort how{passes, options_.gap, bound_.bytes, 60};
    if (passes == most_passes) {  // a small network: what is left is not hidden by many jobs
      how.sharpness = 15;
      how.slowly = true;
    }
    tree_finder trees(net_, jobs(), orbit());
    state_->ask(trees);
    const meeting met = meet(*state_, net_, jobs(), how, one_for_all_);
    SINEW_ASSERT(met.bound <= state_->busiest() * (1 + 1e-6));
    state_->ask(*finder_);
    bound_.raise(met.bound, "the prices of its own links");
    sharpness_ = std::max(sharpness_, met.sharpness);
  }

  // Fewer paths cost less to forward. Each attempt that hurts is undone.
  void thin_out() {
    const double allowed = std::max(state_->busiest() * 1.002, bound_.bytes * (1 + options_.gap));
    std::vector<std::uint32_t> most(jobs().size());
    for (std::size_t j = 0; j < jobs().size(); ++j) {
      // Less than a chunk is not worth a path of its own.
      const std::uint64_t chunks =
          jobs().bytes[j] / std::max<std::uint64_t>(options_.costs.chunk, 1);
      most[j] = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(chunks, 1, std::min(most_paths_of(options_), slots)));
    }
    constexpr std::array<double, 8> shares = {0.003, 0.01, 0.02, 0.04, 0.06, 0.09, 0.13, 0.18};
    for (const double share : shares) {
      const balancer::state before = state_->save();
      state_->drop_below(share);
      for (int i = 0; i < 4; ++i) {
        state_->even_out(sharpness_);
      }
      if (state_->busiest() <= allowed) {
        continue;
      }
      state_->restore(before);
      break;
    }
    state_->drop_beyond(most);
    // What the paths that went have carried weighs on the rest: softly first, so that it spreads.
    for (double sharpness = 60; sharpness < sharpest && state_->busiest() > allowed;
         sharpness *= 1.5) {
      state_->rescale(state_->busiest());
      for (int i = 0; i < 6; ++i) {
        state_->even_out(sharpness);
      }
    }
    for (int i = 0; i < 6; ++i) {
      state_->even_out(sharpness_);
    }
    state_->drop_below(1e-3);
  }

  split result() const {
    split out;
    for (std::size_t j = 0; j < all_.size(); ++j) {
      const std::size_t row = same_ ? same_->row[j] : j;
      state_->for_each_path(row, [&](std::span<const link_id> links, double bytes) {
        if (same_) {
          const std::size_t begin = out.paths.links.size();
          node_id at = all_.source[j];
          for (const link_id l : links) {
            const grid_step s = step_of(net_, l);
            out.paths.links.push_back(net_.step(at, s.dimension, s.up));
            at = net_.to(out.paths.links.back());
          }
          SINEW_ASSERT(is_walk(net_, std::span(out.paths.links).subspan(begin), all_.source[j],
                               all_.destination[j]));
          out.paths.close();
        } else {
          out.paths.add(links);
        }
        out.bytes.push_back(bytes);
      });
      out.close_job();
    }
    return out;
  }

  const topology& net_;
  const job_list& all_;
  const plan_options& options_;
  proof& bound_;
  std::optional<symmetry> same_;
  translates one_for_all_;
  coarse_result coarse_;
  std::unique_ptr<path_finder> finder_;
  std::unique_ptr<balancer> state_;
  double sharpness_ = 10;
};

}  // namespace

split plan_balanced(const topology& net, const job_list& jobs, const plan_options& options,
                    proof& bound) {
  bound.raise(simple_bounds(net, jobs).bytes, simple_bounds(net, jobs).by);
  auto same = find_symmetry(net, jobs);
  const bool symmetric = same.has_value();
  planner first(net, jobs, options, bound, std::move(same));
  split plan = first.run();
  if (!symmetric || first.good(1) || jobs.size() > most_jobs_again) {
    return plan;
  }
  // Steps along orbits are cautious and may stop short: once more, as if nothing were symmetric.
  planner second(net, jobs, options, bound, std::nullopt);
  split other = second.run();
  return second.busiest() < first.busiest() ? other : plan;
}

}  // namespace sinew::route
