// SPDX-License-Identifier: BSD-3-Clause
// GraphML: networks from graph programs, and to them.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <unordered_map>

#include "shape_text.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/formats/xml.hpp"
#include "sinew/route/interchange.hpp"
#include "sinew/route/machine.hpp"

namespace sinew::route {
namespace {

/// What a <key> declares.
struct data_key {
  std::string element;  // "node", "edge", "graph", "all"
  std::string name;
  std::string otherwise;
};

struct named_node {
  std::string id;
  bool endpoint = true;
};

struct named_edge {
  std::string source, target;
  bool directed = false;
  double capacity = 1;
  std::size_t line = 0;
};

/// Reads one graph; what it holds becomes a network only at its end, since edges may stand before
/// their nodes.
class graph_reader {
 public:
  explicit graph_reader(const std::string& where) : where_(where) { speeds_.bandwidth = -1; }

  topology read(std::string_view whole) {
    formats::for_each_tag(whole, where_, [this](const formats::xml_tag& tag) {
      tag_ = &tag;
      tag.opens ? open() : close();
    });
    if (!seen_graph_) {
      formats::bad_line(where_, 1, "no <graph>");
    }
    return network();
  }

 private:
  [[nodiscard]] std::string need(const char* attribute) const {
    const auto value = tag_->find(attribute);
    if (!value || value->empty()) {
      formats::bad_line(where_, tag_->line,
                        "<" + std::string(tag_->name) + "> needs " + attribute + "=\"...\"");
    }
    return *value;
  }

  [[nodiscard]] std::string text() const { return std::string(tag_->text); }

  void open() {
    const std::string_view name = tag_->name;
    if (name == "key") {
      key_ = need("id");
      keys_[key_] = {tag_->find("for").value_or("all"), tag_->find("attr.name").value_or(key_), ""};
    } else if (name == "graph") {
      if (seen_graph_) {
        formats::bad_line(where_, tag_->line, "a second graph: one is read");
      }
      seen_graph_ = true;
      directed_ = need("edgedefault") == "directed";
    } else if (name == "node") {
      nodes_.push_back({need("id"), flag(standard("node", "endpoint"), true)});
      within_ = "node";
    } else if (name == "edge") {
      open_edge();
    } else if (name == "data") {
      key_ = need("key");
      if (keys_.count(key_) == 0) {
        formats::bad_line(where_, tag_->line, "no <key id=\"" + key_ + "\">");
      }
    } else if (name == "hyperedge" || name == "port") {
      formats::bad_line(where_, tag_->line, "<" + std::string(name) + "> is not read");
    }
  }

  void open_edge() {
    named_edge e{need("source"), need("target"), directed_, 1, tag_->line};
    if (const auto own = tag_->find("directed")) {
      e.directed = flag(*own, directed_);
    }
    e.capacity = capacity(standard("edge", "capacity"));
    edges_.push_back(std::move(e));
    within_ = "edge";
  }

  void close() {
    const std::string_view name = tag_->name;
    if (name == "node" || name == "edge") {
      within_ = "graph";
    } else if (name == "default" && keys_.count(key_) != 0) {
      keys_[key_].otherwise = text();
    } else if (name == "data" && !tag_->text.empty()) {
      const std::string& what = keys_[key_].name;
      if (within_ == "node" && what == "endpoint") {
        nodes_.back().endpoint = flag(text(), true);
      } else if (within_ == "edge" && what == "capacity") {
        edges_.back().capacity = capacity(text());
      } else if (within_ == "graph") {
        take_of_graph(what);
      }
    }
  }

  void take_of_graph(const std::string& what) {
    if (what == "shape") {
      shape_ = grid_from(text(), true);
      shape_line_ = tag_->line;
      if (!shape_) {
        formats::bad_line(where_, tag_->line, "a shape is sizes such as 4x4mx8");
      }
    } else if (what == "bandwidth") {
      speeds_.bandwidth = number(parse_bandwidth(text()), what);
    } else if (what == "latency") {
      speeds_.hop_latency = number(parse_latency(text()), what);
    } else if (what == "injection") {
      speeds_.injection = number(parse_bandwidth(text()), what);
    }
  }

  [[nodiscard]] double number(const std::optional<double>& read, const std::string& what) const {
    if (!read) {
      formats::bad_line(where_, tag_->line, "no usable " + what);
    }
    return *read;
  }

  /// The default of that element's attribute, or "".
  [[nodiscard]] std::string standard(std::string_view element, std::string_view name) const {
    for (const auto& [id, key] : keys_) {
      if (key.name == name && (key.element == element || key.element == "all")) {
        return key.otherwise;
      }
    }
    return {};
  }

  [[nodiscard]] bool flag(const std::string& text, bool otherwise) const {
    const auto value = base::parse_bool(text);
    if (!text.empty() && !value) {
      formats::bad_line(where_, tag_->line, "\"" + text + "\" is neither true nor false");
    }
    return value.value_or(otherwise);
  }

  [[nodiscard]] double capacity(const std::string& text) const {
    const auto value = text.empty() ? 1.0 : base::parse_double(text);
    if (!value || !(*value >= 0) || *value > 1e9) {
      formats::bad_line(where_, tag_->line, "\"" + text + "\" is no capacity");
    }
    return *value;
  }

  topology network() {
    if (nodes_.empty()) {
      formats::bad_line(where_, 1, "no node in the whole graph");
    }
    std::stable_partition(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.endpoint; });
    std::unordered_map<std::string, node_id> places;
    std::vector<std::string> labels;
    std::uint32_t endpoints = 0;
    bool plain = true;  // ids are the numbers themselves
    for (const named_node& n : nodes_) {
      if (!places.emplace(n.id, static_cast<node_id>(labels.size())).second) {
        formats::bad_line(where_, 1, "two nodes have the id \"" + n.id + "\"");
      }
      plain = plain && n.id == std::to_string(labels.size());
      labels.push_back(n.id);
      endpoints += n.endpoint ? 1 : 0;
    }
    if (endpoints == 0) {
      formats::bad_line(where_, 1, "no node is an endpoint");
    }
    std::vector<arc> links;
    for (const named_edge& e : edges_) {
      const auto from = places.find(e.source);
      const auto to = places.find(e.target);
      if (from == places.end() || to == places.end()) {
        formats::bad_line(where_, e.line,
                          "no node \"" + (from == places.end() ? e.source : e.target) + "\"");
      }
      if (from == to) {
        formats::bad_line(where_, e.line, "a node needs no link to itself");
      }
      links.push_back({from->second, to->second, e.capacity});
      if (!e.directed) {
        links.push_back({to->second, from->second, e.capacity});
      }
    }
    const auto count = static_cast<std::uint32_t>(labels.size());
    topology net(where_, count, endpoints, std::move(links), grid_shape{});
    if (shape_) {
      net = as_grid(net);
    }
    if (speeds_.bandwidth > 0) {
      net = net.with_speeds(where_, speeds_);
    }
    return plain ? net : net.with_labels(std::move(labels));
  }

  // A shape is believed only if the graph has exactly its links.
  topology as_grid(const topology& net) {
    const topology grid = make_grid(*shape_);
    bool same = grid.nodes() == net.nodes() && grid.links() == net.links() &&
                net.endpoints() == net.nodes();
    std::vector<arc> links;
    for (link_id l = 0; same && l < net.links(); ++l) {
      same = grid.from(l) == net.from(l) && grid.to(l) == net.to(l);
      links.push_back({net.from(l), net.to(l), net.capacity(l)});
    }
    if (!same) {
      formats::bad_line(where_, shape_line_,
                        "the graph's edges are not those of the grid " + grid.name());
    }
    return {where_, net.nodes(), net.nodes(), std::move(links), *shape_};
  }

  const std::string& where_;
  const formats::xml_tag* tag_ = nullptr;  // which is being told of
  std::map<std::string, data_key> keys_;
  std::string key_;
  std::string_view within_ = "graph";
  bool seen_graph_ = false;
  bool directed_ = false;
  std::vector<named_node> nodes_;
  std::vector<named_edge> edges_;
  std::optional<grid_shape> shape_;
  std::size_t shape_line_ = 0;
  link_speeds speeds_;
};

std::string graphml_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string data_of(const char* key, const std::string& value) {
  return std::string("<data key=\"") + key + "\">" + value + "</data>";
}

std::string head_of(const topology& net, bool loads, bool both) {
  // In two pieces, since no address may stand in a source.
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http:/"
      "/graphml.graphdrawing.org/xmlns\">\n";
  const auto key = [&out](const char* name, const char* element, const char* type,
                          const char* otherwise) {
    out += std::string("<key id=\"") + name + "\" for=\"" + element + "\" attr.name=\"" + name +
           "\" attr.type=\"" + type + "\"" +
           (*otherwise == '\0' ? "/>\n"
                               : std::string("><default>") + otherwise + "</default></key>\n");
  };
  key("endpoint", "node", "boolean", "true");
  key("capacity", "edge", "double", "1");
  if (loads) {
    key("bytes", "edge", "double", "");
  }
  if (!net.grid().empty()) {
    key("shape", "graph", "string", "");
  }
  if (net.speeds()) {
    key("bandwidth", "graph", "double", "");
    key("latency", "graph", "double", "");
    key("injection", "graph", "double", "");
  }
  out += "<graph id=\"" + formats::xml_escaped(net.name()) + "\" edgedefault=\"" +
         (both ? "undirected" : "directed") + "\">\n";
  if (!net.grid().empty()) {
    std::string shape;
    for (std::size_t d = 0; d < net.dimensions(); ++d) {
      shape += (d > 0 ? "x" : "") + std::to_string(net.grid().sizes[d]);
      shape += net.grid().wraps[d] ? "" : "m";
    }
    out += data_of("shape", shape) + '\n';
  }
  if (net.speeds()) {
    out += data_of("bandwidth", graphml_number(net.speeds()->bandwidth));
    out += data_of("latency", graphml_number(net.speeds()->hop_latency));
    if (net.speeds()->injection > 0) {
      out += data_of("injection", graphml_number(net.speeds()->injection));
    }
    out += '\n';
  }
  return out;
}

// Each link has one in the other direction that is as wide.
bool symmetric(const topology& net) {
  for (link_id l = 0; l < net.links(); ++l) {
    const link_id back = net.find(net.to(l), net.from(l));
    if (back == nothing || net.capacity(back) != net.capacity(l)) {
      return false;
    }
  }
  return true;
}

}  // namespace

topology topology_from_graphml(std::string_view text, const std::string& where) {
  return graph_reader(where).read(text);
}

std::string topology_to_graphml(const topology& net, std::span<const double> loads) {
  SINEW_EXPECT(loads.empty() || loads.size() == net.links());
  const bool both = loads.empty() && symmetric(net);
  std::string out = head_of(net, !loads.empty(), both);
  std::vector<std::string> names;
  for (node_id n = 0; n < net.nodes(); ++n) {
    names.push_back(formats::xml_escaped(net.label(n)));
    out += "<node id=\"" + names.back() + "\"";
    out += n < net.endpoints() ? "/>\n" : ">" + data_of("endpoint", "false") + "</node>\n";
  }
  for (link_id l = 0; l < net.links(); ++l) {
    if (both && net.from(l) > net.to(l)) {
      continue;
    }
    std::string data;
    if (net.capacity(l) != 1) {
      data += data_of("capacity", graphml_number(net.capacity(l)));
    }
    if (!loads.empty()) {
      data += data_of("bytes", graphml_number(loads[l]));
    }
    out += "<edge source=\"" + names[net.from(l)] + "\" target=\"" + names[net.to(l)] + "\"";
    out += data.empty() ? "/>\n" : ">" + data + "</edge>\n";
  }
  return out + "</graph>\n</graphml>\n";
}

}  // namespace sinew::route
