#include "sinew/route/route_files.hpp"

#include <fstream>
#include <iterator>

#include "sinew/base/error.hpp"
#include "sinew/route/interchange.hpp"

namespace sinew::tool {

void write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw error("cannot write " + path, "the file could not be opened or filled", "");
  }
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw error("cannot read " + path, "there is no such file", "");
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_files(const route_files& asked, const route::topology& net,
                 const route::route_plan& plan) {
  if (!asked.loads.empty()) {
    write_text(asked.loads, route::loads_to_csv(net, route::link_loads(net, plan)));
  }
  if (!asked.jobs.empty()) {
    write_text(asked.jobs, route::jobs_to_csv(net, plan.jobs));
  }
  if (!asked.matrix.empty()) {
    write_text(asked.matrix, route::traffic_matrix(net, plan.jobs));
  }
  if (!asked.splits.empty()) {
    write_text(asked.splits, route::splits_to_csv(net, plan));
  }
  if (!asked.graphml.empty()) {
    write_text(asked.graphml, route::topology_to_graphml(net, route::link_loads(net, plan)));
  }
}

}  // namespace sinew::tool
