// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/route/route_files.hpp"

#include "sinew/formats/text.hpp"
#include "sinew/route/interchange.hpp"

namespace sinew::tool {

void write_files(const route_files& asked, const route::topology& net,
                 const route::route_plan& plan) {
  if (!asked.loads.empty()) {
    formats::write_file(asked.loads, route::loads_to_csv(net, route::link_loads(net, plan)));
  }
  if (!asked.jobs.empty()) {
    formats::write_file(asked.jobs, route::jobs_to_csv(net, plan.jobs));
  }
  if (!asked.matrix.empty()) {
    formats::write_file(asked.matrix, route::traffic_matrix(net, plan.jobs));
  }
  if (!asked.splits.empty()) {
    formats::write_file(asked.splits, route::splits_to_csv(net, plan));
  }
  if (!asked.graphml.empty()) {
    formats::write_file(asked.graphml,
                        route::topology_to_graphml(net, route::link_loads(net, plan)));
  }
}

}  // namespace sinew::tool
