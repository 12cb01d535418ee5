// SPDX-License-Identifier: BSD-3-Clause
// Plans as JSON: what another program, or a later call, needs to carry one out.
#include <algorithm>
#include <cstdio>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/formats/json.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/route/plan.hpp"

namespace sinew::route {
namespace {

using kind = formats::json_value::kind;
constexpr double most_bytes_in_a_file = 9007199254740992.0;  // 2^53

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// A path as the nodes that it visits.
void write_path(const topology& net, const route_plan& plan, std::size_t p, std::string& out) {
  out += "[" + std::to_string(plan.bytes[p]);
  for (const link_id l : plan.paths[p]) {
    out += ',';
    out += std::to_string(net.to(l));
  }
  out += ']';
}

void read_paths(const topology& net, const formats::json_value& list, const std::string& where,
                route_plan& plan) {
  for (const formats::json_value& one : list.items) {
    if (one.items.empty()) {
      formats::bad_line(where, one.line, "a path is [bytes, node, ...]");
    }
    plan.bytes.push_back(formats::json_whole(one.items[0], where, "bytes", most_bytes_in_a_file));
    node_id at = plan.jobs.source.back();
    for (std::size_t i = 1; i < one.items.size(); ++i) {
      const auto to =
          static_cast<node_id>(formats::json_whole(one.items[i], where, "a node", net.nodes() - 1));
      const link_id l = net.find(at, to);
      if (l == nothing) {
        formats::bad_line(
            where, one.items[i].line,
            "no link from node " + std::to_string(at) + " to node " + std::to_string(to));
      }
      plan.paths.links.push_back(l);
      at = to;
    }
    plan.paths.close();
  }
}

}  // namespace

std::string plan_to_json(const topology& net, const route_plan& plan) {
  SINEW_EXPECT(plan.fingerprint == net.fingerprint());
  char mark[24];
  std::snprintf(mark, sizeof mark, "%016llx", static_cast<unsigned long long>(plan.fingerprint));
  std::string out = "{\"schema\":1,\"network\":" + formats::json_quoted(plan.network);
  out += ",\"fingerprint\":\"" + std::string(mark) + "\",\"method\":\"";
  out += method_name(plan.how);
  out += "\",\"fell_back\":";
  out += plan.fell_back ? "true" : "false";
  out += ",\"taken_from\":\"" + std::string(method_name(plan.taken_from)) + "\"";
  out += ",\"busiest\":" + number(plan.busiest) + ",\"bound\":" + number(plan.bound);
  out += ",\"bound_by\":" + formats::json_quoted(plan.bound_by) +
         ",\"seconds\":" + number(plan.seconds);
  out += ",\n\"jobs\":[";
  for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
    out += j > 0 ? ",\n" : "\n";
    out += "{\"from\":" + std::to_string(plan.jobs.source[j]);
    out += ",\"to\":" + std::to_string(plan.jobs.destination[j]) + ",\"paths\":[";
    for (std::size_t p = plan.first_path[j]; p < plan.first_path[j + 1]; ++p) {
      if (p > plan.first_path[j]) {
        out += ',';
      }
      write_path(net, plan, p, out);
    }
    out += "]}";
  }
  out += "\n]}\n";
  return out;
}

std::string network_of_plan(std::string_view text, const std::string& where) {
  return formats::json_member(formats::parse_json(text, where), where, "network", kind::text).text;
}

route_plan plan_from_json(const topology& net, std::string_view text, const std::string& where) {
  const formats::json_value document = formats::parse_json(text, where);
  route_plan plan;
  plan.network = formats::json_member(document, where, "network", kind::text).text;
  char mark[24];
  std::snprintf(mark, sizeof mark, "%016llx", static_cast<unsigned long long>(net.fingerprint()));
  if (formats::json_member(document, where, "fingerprint", kind::text).text != mark) {
    throw error("the plan in " + where + " was made for another network", plan.network,
                "make a new one for " + net.name());
  }
  plan.fingerprint = net.fingerprint();
  plan.how = parse_method(formats::json_member(document, where, "method", kind::text).text);
  plan.fell_back = formats::json_member(document, where, "fell_back", kind::boolean).truth;
  plan.taken_from = plan.fell_back ? method::default_route : plan.how;
  if (const formats::json_value* from = document.find("taken_from")) {
    plan.taken_from = parse_method(from->text);
  }
  plan.bound = formats::json_member(document, where, "bound", kind::number).number;
  plan.bound_by = formats::json_member(document, where, "bound_by", kind::text).text;
  plan.seconds = formats::json_member(document, where, "seconds", kind::number).number;
  plan.first_path.push_back(0);
  for (const formats::json_value& job :
       formats::json_member(document, where, "jobs", kind::array).items) {
    const double last = net.nodes() - 1;
    plan.jobs.add(static_cast<node_id>(formats::json_whole(
                      formats::json_member(job, where, "from", kind::number), where, "from", last)),
                  static_cast<node_id>(formats::json_whole(
                      formats::json_member(job, where, "to", kind::number), where, "to", last)),
                  0);
    const std::size_t begin = plan.bytes.size();
    read_paths(net, formats::json_member(job, where, "paths", kind::array), where, plan);
    for (std::size_t p = begin; p < plan.bytes.size(); ++p) {
      plan.jobs.bytes.back() += plan.bytes[p];
    }
    plan.first_path.push_back(plan.paths.size());
  }
  check_plan(net, plan);
  const std::vector<double> load = link_loads(net, plan);
  for (link_id l = 0; l < net.links(); ++l) {
    if (net.capacity(l) > 0) {
      plan.busiest = std::max(plan.busiest, load[l] / net.capacity(l));
    }
  }
  return plan;
}

}  // namespace sinew::route
