// SPDX-License-Identifier: BSD-3-Clause
#include "normal_jobs.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::route {

job_list merged_jobs(const topology& net, const job_list& jobs) {
  SINEW_CHECK(jobs.destination.size() == jobs.size() && jobs.bytes.size() == jobs.size(),
              "a malformed list of jobs", "its columns differ in length", "");
  job_list out;
  std::unordered_map<std::uint64_t, std::size_t> row;
  row.reserve(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const node_id a = jobs.source[j];
    const node_id b = jobs.destination[j];
    SINEW_CHECK(a < net.endpoints() && b < net.endpoints(),
                "job " + std::to_string(j) + " is from node " + std::to_string(a) + " to node " +
                    std::to_string(b),
                "endpoints are 0.." + std::to_string(net.endpoints() - 1), "");
    const auto [at, fresh] = row.try_emplace((std::uint64_t{a} << 32) | b, out.size());
    if (fresh) {
      out.add(a, b, 0);
    }
    out.bytes[at->second] += jobs.bytes[j];
    SINEW_CHECK(jobs.bytes[j] <= (1ull << 53) && out.bytes[at->second] <= (1ull << 53),
                "job " + std::to_string(j) + " is too large",
                "sums of more than 2^53 bytes are not exact here", "");
  }
  return out;
}

job_list jobs_that_move(const job_list& jobs) {
  job_list out;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs.source[j] != jobs.destination[j] && jobs.bytes[j] > 0) {
      out.add(jobs.source[j], jobs.destination[j], jobs.bytes[j]);
    }
  }
  return out;
}

std::vector<std::uint32_t> by_destination(const job_list& jobs) {
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
    return jobs.destination[x] < jobs.destination[y];
  });
  return order;
}

}  // namespace sinew::route
