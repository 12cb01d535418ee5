// SPDX-License-Identifier: BSD-3-Clause
// The methods that ours is compared with.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/route/plan.hpp"

namespace sinew::route {

/// Several paths per job and what each carries. Jobs have distinct ends and positive bytes.
struct split {
  std::vector<std::size_t> first = {0};  ///< job -> its paths
  path_set paths;
  std::vector<double> bytes;
  void close_job() {
    SINEW_EXPECT(bytes.size() == paths.size() && first.back() < paths.size());
    first.push_back(paths.size());
  }
};

/// The paths that the originals feed to their planners: 50 for each job, and at most 50 * 1024 in
/// all. Choice 0 are those that go straight on; with another number each job has an order of its
/// own of those that are equally short, and so others of them. Each choice is found once.
class path_choices {
 public:
  struct list {
    path_set paths;
    std::vector<std::size_t> first = {0};  ///< of each job; one more at the end
  };
  path_choices(const topology& net, const job_list& jobs, const plan_options& options)
      : net_(net), jobs_(jobs), options_(options) {}
  const list& operator[](std::uint64_t choice);

 private:
  const topology& net_;
  const job_list& jobs_;
  const plan_options& options_;
  std::map<std::uint64_t, list> known_;
};

split plan_default_route(const topology& net, const job_list& jobs);
split plan_adaptive(const topology& net, const job_list& jobs, std::uint64_t chunk);
/// The best of options.orders tries.
split plan_heu_load(const topology& net, const job_list& jobs, const plan_options& options,
                    path_choices& fed);
split plan_heu_chunk(const topology& net, const job_list& jobs, const plan_options& options,
                     path_choices& fed);
split plan_opt(const topology& net, const job_list& jobs, const plan_options& options,
               path_choices& fed);

}  // namespace sinew::route
