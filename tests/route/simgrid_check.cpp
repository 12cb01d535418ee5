// SPDX-License-Identifier: BSD-3-Clause
// Our fluid simulation beside SimGrid's: the same plans, every path a flow over the same links.
// SimGrid gives a flow a share by its round-trip time, so each path gets a link of its own that
// holds all of its latency; then its shares are max-min fair, as ours are.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "simgrid/s4u.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/simulate.hpp"

namespace {

namespace sg = simgrid::s4u;
using namespace sinew::route;

constexpr double bandwidth = 1e9;
constexpr double latency = 1e-6;

struct flow {
  sg::Host* from;
  sg::Host* to;
  double bytes;
};

/// Only links are narrow and nothing takes time but them.
simulation_options links_only() {
  simulation_options o;
  o.costs.link_bandwidth = bandwidth;
  o.costs.injection_bandwidth = o.costs.copy_bandwidth = 1e18;
  o.costs.start_up = o.costs.hop_latency = o.costs.forward_latency = 0;
  o.costs.chunk = 1;  // forwarding waits for the first chunk, which SimGrid's flows do not know
  o.tolerance = 0;
  return o;
}

std::vector<flow> build(const topology& net, const route_plan& plan, const std::string& name,
                        sg::NetZone* world) {
  auto* zone = sg::create_full_zone(name)->set_parent(world);
  std::vector<sg::Link*> links;
  for (link_id l = 0; l < net.links(); ++l) {
    links.push_back(
        zone->create_link(name + "-" + std::to_string(l), bandwidth * net.capacity(l))->seal());
  }
  std::vector<flow> flows;
  for (std::size_t p = 0; p < plan.paths.size(); ++p) {
    if (plan.paths[p].empty() || plan.bytes[p] == 0) {
      continue;
    }
    const std::string id = name + "-p" + std::to_string(p);
    auto* from = zone->create_host(id + "-from", 1e9)->seal();
    auto* to = zone->create_host(id + "-to", 1e9)->seal();
    auto* own = zone->create_link(id + "-own", 1e15)->set_latency(latency)->seal();
    std::vector<sg::LinkInRoute> way = {sg::LinkInRoute(own)};
    for (const link_id l : plan.paths[p]) {
      way.emplace_back(links[l]);
    }
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, way, false);
    flows.push_back({from, to, static_cast<double>(plan.bytes[p])});
  }
  zone->seal();
  return flows;
}

struct trial {
  std::string name;
  std::vector<flow> flows;
  double ours;
};

int faults = 0;

void play(const std::vector<trial>* trials) {
  for (const trial& t : *trials) {
    const double from = sg::Engine::get_clock();
    std::vector<sg::CommPtr> all;
    for (const flow& f : t.flows) {
      all.push_back(sg::Comm::sendto_async(f.from, f.to, static_cast<uint64_t>(f.bytes)));
    }
    for (const auto& c : all) {
      c->wait();
    }
    const double theirs = sg::Engine::get_clock() - from - latency;
    const bool good = std::abs(theirs - t.ours) <= 1e-3 * theirs;
    std::printf("%-28s %4zu flows: ours %.6f s, SimGrid %.6f s%s\n", t.name.c_str(), t.flows.size(),
                t.ours, theirs, good ? "" : "  <- differ");
    faults += good ? 0 : 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  for (const char* setting :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
        "network/crosstraffic:0", "network/weight-S:0", "network/TCP-gamma:0"}) {
    sg::Engine::set_config(setting);
  }
  auto* world = sg::create_full_zone("world");
  std::vector<trial> trials;
  for (const char* shape : {"4x4x2", "mesh:4x5", "hypercube:4", "fattree:2;4,4;1,2;1,2"}) {
    const topology net = parse_topology(shape);
    for (const char* pattern : {"random", "alltoallv"}) {
      pattern_options o;
      o.bytes = 4 << 20;
      const job_list jobs = make_pattern(net, pattern, o);
      for (const method how : {method::default_route, method::balanced}) {
        plan_options p;
        p.how = how;
        p.fall_back = false;
        const route_plan plan = make_plan(net, jobs, p);
        const std::string name = std::string(shape) + ' ' + pattern + ' ' + method_name(how);
        trials.push_back(
            {name, build(net, plan, name, world), simulate_flows(net, plan, links_only()).seconds});
      }
    }
  }
  world->seal();
  sg::Actor::create("player", trials.front().flows.front().from, play, &trials);
  engine.run();
  return faults == 0 ? 0 : 1;
}
