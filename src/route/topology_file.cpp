// SPDX-License-Identifier: BSD-3-Clause
// Networks from files: edge lists, JSON, SimGrid's platforms.
#include <algorithm>
#include <optional>

#include "shape_text.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/formats/json.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/formats/xml.hpp"
#include "sinew/route/interchange.hpp"
#include "sinew/route/machine.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::route {
namespace {

constexpr double most_nodes_in_a_file = 1 << 26;

struct edge_list {
  std::vector<arc> links;
  std::uint32_t nodes = 0;
  bool directed = false;

  void add(node_id a, node_id b, double capacity) {
    links.push_back({a, b, capacity});
    if (!directed) {
      links.push_back({b, a, capacity});
    }
    nodes = std::max({nodes, a + 1, b + 1});
  }
};

std::uint32_t node_of(std::string_view word, const std::string& where, std::size_t line) {
  const auto value = base::parse_integer(word);
  if (!value || *value < 0 || static_cast<double>(*value) >= most_nodes_in_a_file) {
    formats::bad_line(where, line, "\"" + std::string(word) + "\" is no node's number");
  }
  return static_cast<std::uint32_t>(*value);
}

// "0-255" or "0-3,8,10-11": how many hosts.
std::optional<std::uint64_t> radical_count(const std::string& text) {
  std::uint64_t count = 0;
  for (const std::string& part : base::split(text, ',')) {
    const auto ends = base::split(part, '-');
    const auto low = base::parse_integer(ends[0]);
    const auto high = ends.size() == 2 ? base::parse_integer(ends[1]) : low;
    if (ends.size() > 2 || !low || !high || *low < 0 || *high < *low) {
      return std::nullopt;
    }
    count += static_cast<std::uint64_t>(*high - *low) + 1;
  }
  return count;
}

// Hosts around one switch, or around two with a backbone of so many cables between them: all that
// hosts send crosses it.
topology star(std::uint32_t hosts, double backbone) {
  const node_id in = hosts;
  const node_id out = backbone > 0 ? hosts + 1 : hosts;
  std::vector<arc> links;
  for (node_id h = 0; h < hosts; ++h) {
    links.push_back({h, in, 1});
    links.push_back({out, h, 1});
  }
  if (backbone > 0) {
    links.push_back({in, out, backbone});
  }
  return {"star", out + 1, hosts, std::move(links)};
}

struct cluster_speeds {
  link_speeds links;
  double backbone = 0;  // in links' bandwidths; 0: none
};

// bw and lat of all links; limiter_link is what a node can send; bb_bw and bb_lat a backbone's.
std::optional<cluster_speeds> speeds_of(const formats::xml_tag& tag, const std::string& where) {
  const auto read = [&](const char* name, auto parse, double otherwise) {
    const auto text = tag.find(name);
    if (!text) {
      return otherwise;
    }
    const std::optional<double> value = parse(*text);
    if (!value) {
      formats::bad_line(where, tag.line,
                        std::string(name) + "=\"" + *text +
                            "\" is neither a bandwidth such as 125MBps nor a time such as 50us");
    }
    return *value;
  };
  cluster_speeds out;
  out.links.bandwidth = read("bw", parse_bandwidth, 0);
  out.links.hop_latency = read("lat", parse_latency, 0);
  out.links.injection = read("limiter_link", parse_bandwidth, 0);
  const double backbone = read("bb_bw", parse_bandwidth, 0);
  const double backbone_latency = read("bb_lat", parse_latency, 0);
  if (out.links.bandwidth <= 0) {
    return std::nullopt;
  }
  if (backbone > 0) {
    out.backbone = backbone / out.links.bandwidth;
    // Every way has two links and the backbone; hops all take the same time here.
    out.links.hop_latency = (2 * out.links.hop_latency + backbone_latency) / 3;
  }
  return out;
}

topology cluster_topology(const std::string& kind, const std::string& parameters,
                          std::uint64_t hosts, double backbone, const std::string& where,
                          std::size_t line) {
  if (kind == "TORUS") {
    auto sizes = number_list(parameters);
    if (!sizes) {
      formats::bad_line(where, line, "topo_parameters of a torus are sizes: \"4,4,8\"");
    }
    // SimGrid numbers the first dimension fastest; here the last one is.
    std::reverse(sizes->begin(), sizes->end());
    return make_torus(*sizes);
  }
  if (kind == "FAT_TREE") {
    const auto shape = fat_tree_from(parameters);
    if (!shape) {
      formats::bad_line(where, line, "topo_parameters of a fat tree are \"2;4,4;1,2;1,2\"");
    }
    return make_fat_tree(*shape);
  }
  if (kind == "DRAGONFLY") {
    const auto shape = dragonfly_from(parameters);
    if (!shape) {
      formats::bad_line(where, line, "topo_parameters of a dragonfly are \"3,4;4,3;5,1;2\"");
    }
    return make_dragonfly(*shape);
  }
  if (kind == "FLAT") {
    return star(static_cast<std::uint32_t>(hosts), backbone);
  }
  formats::bad_line(where, line,
                    "the topology " + kind + " is not read: TORUS, FAT_TREE, DRAGONFLY, FLAT");
}

topology cluster_of(const formats::xml_tag& tag, const std::string& where) {
  const std::size_t line = tag.line;
  const std::string kind = tag.find("topology").value_or("FLAT");
  const auto radical = tag.find("radical");
  const auto hosts = radical ? radical_count(*radical) : std::nullopt;
  if (!hosts || *hosts == 0 || static_cast<double>(*hosts) > most_nodes_in_a_file) {
    formats::bad_line(where, line, "the cluster needs radical=\"0-255\"");
  }
  const auto speeds = speeds_of(tag, where);
  topology net = cluster_topology(kind, tag.find("topo_parameters").value_or(""), *hosts,
                                  speeds ? speeds->backbone : 0, where, line);
  if (net.endpoints() != *hosts) {
    formats::bad_line(where, line,
                      "radical counts " + std::to_string(*hosts) + " hosts, the shape " +
                          std::to_string(net.endpoints()));
  }
  return speeds ? net.with_speeds(where, speeds->links) : net;
}

// The words stand at the beginning of a line.
bool has_line(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  return at != text.npos && (at == 0 || text[at - 1] == '\n');
}

}  // namespace

topology topology_from_edges(std::string_view text, const std::string& where) {
  edge_list edges;
  formats::for_each_line(text, [&](std::size_t line, const std::vector<std::string_view>& words) {
    if (words.size() == 1 && words[0] == "directed") {
      edges.directed = true;
      return;
    }
    if (words.size() == 2 && words[0] == "nodes") {
      edges.nodes = std::max(edges.nodes, node_of(words[1], where, line));
      return;
    }
    if (words.size() < 2 || words.size() > 3) {
      formats::bad_line(where, line, "a link is \"a b [capacity]\"");
    }
    const auto capacity = words.size() == 3 ? base::parse_double(words[2]) : 1.0;
    if (!capacity || !(*capacity >= 0) || *capacity > 1e9) {
      formats::bad_line(where, line, "\"" + std::string(words[2]) + "\" is no capacity");
    }
    const node_id a = node_of(words[0], where, line);
    const node_id b = node_of(words[1], where, line);
    if (a == b) {
      formats::bad_line(where, line, "a node needs no link to itself");
    }
    edges.add(a, b, *capacity);
  });
  if (edges.nodes == 0) {
    formats::bad_line(where, 1, "no link in the whole file");
  }
  return {where, edges.nodes, edges.nodes, std::move(edges.links)};
}

topology topology_from_json(std::string_view text, const std::string& where) {
  using kind = formats::json_value::kind;
  const formats::json_value document = formats::parse_json(text, where);
  edge_list edges;
  edges.nodes = static_cast<std::uint32_t>(
      formats::json_whole(formats::json_member(document, where, "nodes", kind::number), where,
                          "nodes", most_nodes_in_a_file));
  const std::uint32_t nodes = edges.nodes;
  std::uint32_t endpoints = nodes;
  if (const formats::json_value* given = document.find("endpoints")) {
    endpoints = static_cast<std::uint32_t>(formats::json_whole(*given, where, "endpoints", nodes));
  }
  if (const formats::json_value* given = document.find("directed")) {
    edges.directed = given->truth;
  }
  if (nodes == 0 || endpoints == 0) {
    formats::bad_line(where, document.line, "no nodes");
  }
  for (const formats::json_value& one :
       formats::json_member(document, where, "links", kind::array).items) {
    if (one.items.size() < 2 || one.items.size() > 3) {
      formats::bad_line(where, one.line, "a link is [a, b] or [a, b, capacity]");
    }
    const auto a =
        static_cast<node_id>(formats::json_whole(one.items[0], where, "a node", nodes - 1));
    const auto b =
        static_cast<node_id>(formats::json_whole(one.items[1], where, "a node", nodes - 1));
    double capacity = 1;
    if (one.items.size() == 3) {
      capacity = one.items[2].number;
      if (one.items[2].what != kind::number || capacity < 0 || capacity > 1e9) {
        formats::bad_line(where, one.line, "no capacity");
      }
    }
    if (a == b) {
      formats::bad_line(where, one.line, "a node needs no link to itself");
    }
    edges.add(a, b, capacity);
  }
  return {where, nodes, endpoints, std::move(edges.links)};
}

topology topology_from_simgrid(std::string_view text, const std::string& where) {
  std::optional<topology> found;
  formats::for_each_tag(text, where, [&](const formats::xml_tag& tag) {
    if (tag.name != "cluster" || !tag.opens) {
      return;
    }
    if (found) {
      formats::bad_line(where, tag.line, "several clusters: only one is read");
    }
    found = cluster_of(tag, where);
  });
  if (!found) {
    formats::bad_line(where, 1, "no <cluster>: only SimGrid's cluster shapes are read");
  }
  return std::move(*found);
}

topology read_topology(const std::string& path) {
  const std::string text = formats::whole_file(path);
  if (path.ends_with(".graphml") ||
      (path.ends_with(".xml") && text.find("<graphml") != text.npos)) {
    return topology_from_graphml(text, path);
  }
  if (path.ends_with(".xml")) {
    return topology_from_simgrid(text, path);
  }
  if (path.ends_with(".json")) {
    return topology_from_json(text, path);
  }
  if (has_line(text, "switchguid=") || has_line(text, "caguid=")) {
    return topology_from_ibnetdiscover(text, path);
  }
  return topology_from_edges(text, path);
}

}  // namespace sinew::route
