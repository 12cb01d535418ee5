// SPDX-License-Identifier: BSD-3-Clause
// Plans: how the bytes of every job are spread over paths, and how far that is from the best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/route/machine.hpp"
#include "sinew/route/paths.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {

enum class method : std::uint8_t {
  default_route,  ///< the default route of each job, one path
  adaptive,       ///< chunk by chunk the least loaded minimal next link
  heu_load,       ///< paths of k shortest whose links carry few paths yet; the limit rises
  heu_chunk,      ///< chunks of the job with most left on the least loaded of k shortest paths
  opt,            ///< the best split over k shortest paths: the path LP, to 0.1 %
  /// Ours, or the plan of one of the others if that is better: none of theirs is expected to take
  /// less time, and if one of all these plans also has a busiest link that carries no more than any
  /// of theirs, that is taken (plan_options::fall_back). The others are tried on up to 1024 nodes
  /// with up to 20,000 jobs, and with up to 100,000 jobs on any network where ours is not proven to
  /// be within `gap` of the best. Messages of at most a chunk keep to default routes where no plan
  /// can be 5 % faster.
  balanced,
};
/// "default", "adaptive", "heu-load", "heu-chunk", "opt", "sinew".
[[nodiscard]] const char* method_name(method how) noexcept;
/// Throws sinew::error that lists the names.
[[nodiscard]] method parse_method(std::string_view name);

struct plan_options {
  method how = method::balanced;
  machine costs;
  double gap = 0.005;  ///< good enough: this near to the lower bound
  /// Of one job, 1..16. 0: ours keeps to 12, and where another method's plan is better it is taken
  /// with as many as it has.
  std::uint32_t most_paths = 0;
  /// The time decides that plans are expected to take (simulate.hpp), and of equals default routes
  /// go first. Otherwise the busiest link alone decides.
  bool fall_back = true;
  std::uint32_t fed = 0;          ///< k of the k shortest; 0: 50, fewer beyond 1024 jobs
  std::uint32_t load_limit = 16;  ///< of heu_load
  /// How many orders of equally short paths heu_load and heu_chunk try, or choices of them opt, the
  /// best plan of which is kept: their results depend on it, and the originals' are not known. 0:
  /// heu_load 16, the others 2.
  std::uint32_t orders = 0;
  std::uint64_t seed = 1;
};

/// Jobs are distinct pairs; those of equal ends became one. A job on one node has a path without
/// links.
struct route_plan {
  std::string network;
  std::uint64_t fingerprint = 0;  ///< of the topology
  method how = method::balanced;
  bool fell_back = false;  ///< all default routes, since nothing was predicted faster
  /// Whose plan it is: that of a method compared with where `how` is `balanced` and the other's was
  /// better.
  method taken_from = method::balanced;
  job_list jobs;
  std::vector<std::size_t> first_path;  ///< job -> its paths; one more than jobs
  path_set paths;
  std::vector<std::uint64_t> bytes;  ///< by path
  double busiest = 0;                ///< bytes per cable on the busiest link
  double bound = 0;                  ///< no plan can have less on its busiest link
  std::string bound_by;              ///< what proves it
  double seconds = 0;                ///< what planning took

  /// How much more than the bound the busiest link carries; 0.01 is 1 %.
  [[nodiscard]] double gap() const noexcept { return bound > 0 ? busiest / bound - 1 : 0; }
};

/// Plans; deterministic for a seed. Throws sinew::error: disconnected ends, a node that does not
/// exist, too much memory. Cold; single thread.
[[nodiscard]] route_plan make_plan(const topology& net, const job_list& jobs,
                                   const plan_options& options = {});

/// Throws sinew::error unless the plan is one for this network: jobs are distinct pairs of
/// endpoints; paths are loopless walks over working links between the ends of their jobs, and carry
/// all bytes of each.
void check_plan(const topology& net, const route_plan& plan);

/// Bytes on each link.
[[nodiscard]] std::vector<double> link_loads(const topology& net, const route_plan& plan);

/// Lower bound of the busiest link for these jobs (bytes per cable), and what proves it.
[[nodiscard]] std::pair<double, std::string> lower_bound(const topology& net, const job_list& jobs);

/// Seconds until the last byte arrives: for each path what its start and its forwarding take, and
/// the time of the busiest thing on it (link, injection, copying); the worst of them.
[[nodiscard]] double predict(const topology& net, const route_plan& plan, const machine& costs);

/// Nodes of a path at which it leaves the default route and must be forwarded, as positions
/// 1..hops-1.
[[nodiscard]] std::vector<std::uint32_t> forwarding_places(const topology& net,
                                                           std::span<const link_id> path);

/// The columns of the original's table. Only jobs and links that carry something count.
struct plan_figures {
  std::size_t jobs = 0;
  std::size_t paths = 0;
  std::size_t job_paths_max = 0;
  double job_paths_mean = 0;
  double hop_bytes_max = 0;  ///< bytes times hops, per path
  double hop_bytes_mean = 0;
  double copies_max = 0;  ///< chunks times nodes between the ends, per path
  double copies_mean = 0;
  std::size_t hops_max = 0;
  double hops_mean = 0;
  std::size_t link_paths_max = 0;
  double link_paths_mean = 0;
  double link_bytes_max = 0;
  double link_bytes_mean = 0;
  double bytes = 0;  ///< moved in all
};
[[nodiscard]] plan_figures figures_of(const topology& net, const route_plan& plan,
                                      std::uint64_t chunk);

/// The k shortest loopless paths from a to b (Yen), at most `most_hops` long, shortest first. On a
/// torus very many are equally short; `order` says which of them come first: 0 those that go
/// straight on, any other number some at random, the same for the same number.
[[nodiscard]] path_set shortest_paths(const topology& net, node_id a, node_id b, std::uint32_t k,
                                      std::uint32_t most_hops, std::uint64_t order = 0);

/// JSON: jobs, paths as node sequences, the certificate. Reading checks the plan against the
/// network and throws sinew::error with line and reason.
[[nodiscard]] std::string plan_to_json(const topology& net, const route_plan& plan);
[[nodiscard]] route_plan plan_from_json(const topology& net, std::string_view text,
                                        const std::string& where);

/// The network for which a plan's file was made, in words that parse_topology reads.
[[nodiscard]] std::string network_of_plan(std::string_view text, const std::string& where);

}  // namespace sinew::route
