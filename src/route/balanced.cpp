// Bound, spread, polish, thin out.
//
// On grids the problem is first solved on contractions (contraction.hpp): that gives the bound and
// the long detours. Then every job buys paths at prices that sharpen from stage to stage; each
// stage starts from loads that are nearly at rest, so a few passes bring them to rest again. In the
// end paths that carry little are taken away as long as the busiest link does not mind.
#include "balanced.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "balancer.hpp"
#include "contraction.hpp"
#include "duality.hpp"
#include "path_finder.hpp"
#include "symmetry.hpp"

namespace sinew::route {
namespace {

constexpr std::uint32_t slots = 16;
constexpr double sharpest = 1500;
constexpr std::size_t most_coarse_jobs = 100'000;

class planner {
 public:
  planner(const topology& net, const job_list& jobs, const plan_options& o, proof& bound)
      : net_(net), all_(jobs), options_(o), bound_(bound), same_(find_symmetry(net, jobs)) {}

  split run() {
    bound_.raise(simple_bounds(net_, all_).bytes, simple_bounds(net_, all_).by);
    prepare();
    state_->start(std::max(bound_.bytes, 1.0), 2);
    spread();
    if (!good(1)) polish();
    thin_out();
    return result();
  }

 private:
  [[nodiscard]] const job_list& jobs() const { return same_ ? same_->jobs : all_; }
  [[nodiscard]] std::span<const link_id> orbit() const {
    return same_ ? std::span<const link_id>(same_->orbit) : std::span<const link_id>();
  }
  [[nodiscard]] bool good(double part) const {
    return state_->busiest() <= bound_.bytes * (1 + part * options_.gap);
  }

  void prepare() {
    if (net_.grid().empty()) {
      finder_ = std::make_unique<tree_finder>(net_, all_);
      if (trees_are_cheap(net_, all_, 1)) {
        const std::vector<double> unit(net_.links(), 1.0);
        bound_.raise(dual_bound(net_, all_, unit), "what all links carry");
      }
    } else {
      if (!same_ && all_.size() <= most_coarse_jobs) {
        coarse_ = solve_coarse(net_, all_);
        bound_.raise(coarse_.bound, coarse_.reason());
      }
      finder_ = std::make_unique<box_finder>(net_, jobs(), options_.seed, coarse_.skeletons.get(),
                                             orbit());
    }
    state_ = std::make_unique<balancer>(net_, jobs(), *finder_, slots, orbit());
  }

  void spread() {
    for (sharpness_ = 10; sharpness_ < sharpest; sharpness_ *= 1.8) {
      state_->buy(sharpness_);
      for (int i = 0; i < (same_ ? 40 : 4); ++i) state_->even_out(sharpness_);  // few, cautious
      if (good(0.6)) break;
    }
    sharpness_ = std::clamp(sharpness_, 100.0, sharpest);
  }

  // All paths of the network may be bought, and their prices prove a bound of their own.
  void polish() {
    const std::string reason = "the prices of its own links";
    if (same_) {
      if (trees_are_cheap(net_, jobs(), 1)) {
        std::vector<double> price(net_.links());
        for (link_id l = 0; l < net_.links(); ++l) price[l] = state_->prices()[same_->orbit[l]];
        const double jobs_per_orbit =
            static_cast<double>(all_.size()) / static_cast<double>(jobs().size());
        bound_.raise(dual_bound(net_, jobs(), price) * jobs_per_orbit, reason);
      }
      // Orbits hide narrow places between blocks of jobs; those show on the contractions.
      if (!good(1) && all_.size() <= most_coarse_jobs) {
        const coarse_result coarse = solve_coarse(net_, all_);
        bound_.raise(coarse.bound, coarse.reason());
      }
      return;
    }
    if (!trees_are_cheap(net_, all_, 30)) return;
    tree_finder trees(net_, all_);
    state_->ask(trees);
    const meeting met = meet(*state_, net_, all_, {60, options_.gap, bound_.bytes, 60});
    state_->ask(*finder_);
    bound_.raise(met.bound, reason);
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
          std::clamp<std::uint64_t>(chunks, 1, std::clamp(options_.most_paths, 1u, slots)));
    }
    constexpr std::array<double, 8> shares = {0.003, 0.01, 0.02, 0.04, 0.06, 0.09, 0.13, 0.18};
    for (const double share : shares) {
      const balancer::state before = state_->save();
      state_->drop_below(share);
      for (int i = 0; i < 4; ++i) state_->even_out(sharpness_);
      if (state_->busiest() <= allowed) continue;
      state_->restore(before);
      break;
    }
    state_->drop_beyond(most);
    for (int i = 0; i < 6; ++i) state_->even_out(sharpness_);
    state_->drop_below(1e-3);
  }

  split result() const {
    split out;
    for (std::size_t j = 0; j < all_.size(); ++j) {
      const std::size_t row = same_ ? same_->row[j] : j;
      state_->for_each_path(row, [&](std::span<const link_id> links, double bytes) {
        if (same_) {
          node_id at = all_.source[j];
          for (const link_id l : links) {
            const grid_step s = step_of(net_, l);
            out.paths.links.push_back(net_.step(at, s.dimension, s.up));
            at = net_.to(out.paths.links.back());
          }
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
  coarse_result coarse_;
  std::unique_ptr<path_finder> finder_;
  std::unique_ptr<balancer> state_;
  double sharpness_ = 10;
};

}  // namespace

split plan_balanced(const topology& net, const job_list& jobs, const plan_options& options,
                    proof& bound) {
  return planner(net, jobs, options, bound).run();
}

}  // namespace sinew::route
