// The methods that ours is compared with.
#pragma once

#include <vector>

#include "sinew/route/plan.hpp"

namespace sinew::route {

/// Several paths per job and what each carries. Jobs have distinct ends and positive bytes.
struct split {
  std::vector<std::size_t> first = {0};  ///< job -> its paths
  path_set paths;
  std::vector<double> bytes;
  void close_job() { first.push_back(paths.size()); }
};

split plan_default_route(const topology& net, const job_list& jobs);
split plan_adaptive(const topology& net, const job_list& jobs, std::uint64_t chunk);
split plan_heu_load(const topology& net, const job_list& jobs, const plan_options& options);
split plan_heu_chunk(const topology& net, const job_list& jobs, const plan_options& options);
split plan_opt(const topology& net, const job_list& jobs, const plan_options& options);

}  // namespace sinew::route
