// SPDX-License-Identifier: BSD-3-Clause
// Indirect networks, Mira's partitions, and shapes as text.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "shape_text.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/route/topology.hpp"
#include "size_limit.hpp"

namespace sinew::route {
namespace {

void both_ways(std::vector<arc>& links, node_id a, node_id b, double cables) {
  links.push_back({a, b, cables});
  links.push_back({b, a, cables});
}

std::string joined(const std::vector<std::uint32_t>& numbers) {
  std::string out;
  for (const std::uint32_t n : numbers) {
    if (!out.empty()) {
      out += ',';
    }
    out += std::to_string(n);
  }
  return out;
}

[[noreturn]] void bad_shape(std::string_view text, const std::string& why) {
  throw error("unknown shape " + std::string(text), why,
              "shapes are 4x4x4x8x2, mesh:8x8, hypercube:10, fattree:2;4,4;1,2;1,2, "
              "dragonfly:3,4;4,3;5,1;2, mira:1024, or a file's name");
}

}  // namespace

topology make_fat_tree(const fat_tree_shape& shape) {
  const std::size_t levels = shape.down.size();
  SINEW_CHECK(levels > 0 && shape.up.size() == levels && shape.cables.size() == levels,
              "a malformed fat tree", "down, up and cables need one number per level", "");
  // A node of level l is written in mixed radix: up[0..l-1] digits, then down[l..] digits.
  std::vector<std::uint64_t> count(levels + 1, 1);
  for (std::size_t l = 0; l <= levels; ++l) {
    for (std::size_t k = 0; k < levels; ++k) {
      count[l] *= k < l ? shape.up[k] : shape.down[k];
      SINEW_CHECK(count[l] > 0 && count[l] < (1u << 28), "a malformed fat tree",
                  "a level has no nodes or too many", "");
    }
  }
  std::vector<std::uint64_t> first(levels + 1, 0);
  std::uint64_t cables = 0;
  for (std::size_t l = 0; l < levels; ++l) {
    first[l + 1] = first[l] + count[l];
    cables += count[l] * shape.up[l];
  }
  check_size("the fat tree", first[levels] + count[levels], 2 * cables, 0);
  std::vector<arc> links;
  for (std::size_t l = 0; l < levels; ++l) {
    // low: digits below place l; a child's digit there counts down[l], a parent's up[l].
    std::uint64_t low = 1;
    for (std::size_t k = 0; k < l; ++k) {
      low *= shape.up[k];
    }
    for (std::uint64_t child = 0; child < count[l]; ++child) {
      const std::uint64_t high = child / low / shape.down[l];
      for (std::uint32_t u = 0; u < shape.up[l]; ++u) {
        const std::uint64_t parent = (high * shape.up[l] + u) * low + child % low;
        SINEW_ASSERT(parent < count[l + 1]);
        both_ways(links, static_cast<node_id>(first[l] + child),
                  static_cast<node_id>(first[l + 1] + parent), shape.cables[l]);
      }
    }
  }
  SINEW_ENSURE(links.size() == 2 * cables);
  return {"fattree:" + std::to_string(levels) + ";" + joined(shape.down) + ";" + joined(shape.up) +
              ";" + joined(shape.cables),
          static_cast<std::uint32_t>(first[levels] + count[levels]),
          static_cast<std::uint32_t>(count[0]), std::move(links)};
}

topology make_dragonfly(const dragonfly_shape& s) {
  const std::uint64_t per_group = std::uint64_t{s.chassis} * s.routers;
  const std::uint64_t routers = per_group * s.groups;
  const std::uint64_t hosts = routers * s.nodes;
  SINEW_CHECK(hosts > 0 && hosts < (1u << 28), "a malformed dragonfly",
              "each number must be at least 1, and the product a sane size", "");
  const std::uint64_t cables = hosts + routers * (s.routers - 1 + s.chassis - 1) / 2 +
                               std::uint64_t{s.groups} * (s.groups - 1) / 2;
  check_size("the dragonfly", hosts + routers, 2 * cables, 0);
  std::vector<arc> links;
  const auto router = [&](std::uint64_t r) { return static_cast<node_id>(hosts + r); };
  for (std::uint64_t h = 0; h < hosts; ++h) {
    both_ways(links, static_cast<node_id>(h), router(h / s.nodes), 1);
  }
  for (std::uint64_t r = 0; r < routers; ++r) {
    const std::uint64_t place = r % s.routers;
    const std::uint64_t chassis = r / s.routers % s.chassis;
    for (std::uint64_t p = place + 1; p < s.routers; ++p) {
      both_ways(links, router(r), router(r + p - place), s.green);
    }
    for (std::uint64_t c = chassis + 1; c < s.chassis; ++c) {
      both_ways(links, router(r), router(r + (c - chassis) * s.routers), s.black);
    }
  }
  for (std::uint64_t i = 0; i < s.groups; ++i) {
    for (std::uint64_t j = i + 1; j < s.groups; ++j) {
      both_ways(links, router(i * per_group + j % per_group), router(j * per_group + i % per_group),
                s.blue);
    }
  }
  SINEW_ENSURE(links.size() == 2 * cables);
  return {"dragonfly:" + joined({s.groups, s.blue}) + ";" + joined({s.chassis, s.black}) + ";" +
              joined({s.routers, s.green}) + ";" + std::to_string(s.nodes),
          static_cast<std::uint32_t>(hosts + routers), static_cast<std::uint32_t>(hosts),
          std::move(links)};
}

std::vector<std::uint32_t> mira_shape(std::uint32_t nodes) {
  switch (nodes) {
    case 512:
      return {4, 4, 4, 4, 2};
    case 1024:
      return {4, 4, 4, 8, 2};
    case 2048:
      return {4, 4, 4, 16, 2};
    case 4096:
      return {4, 4, 8, 16, 2};
    case 8192:
      return {4, 4, 16, 16, 2};
    case 16384:
      return {4, 8, 16, 16, 2};
    case 32768:
      return {8, 8, 16, 16, 2};
    default:
      throw error("no partition of " + std::to_string(nodes) + " nodes", "its shape is not known",
                  "known are 512, 1024, 2048, 4096, 8192, 16384, 32768");
  }
}

std::optional<std::vector<std::uint32_t>> number_list(std::string_view text) {
  std::vector<std::uint32_t> found;
  for (const std::string& word : base::split(text, ',')) {
    const auto value = base::parse_integer(word);
    if (!value || *value < 1 || *value > 1'000'000) {
      return std::nullopt;
    }
    found.push_back(static_cast<std::uint32_t>(*value));
  }
  return found;
}

std::optional<fat_tree_shape> fat_tree_from(std::string_view text) {
  const auto parts = base::split(text, ';');
  if (parts.size() != 4) {
    return std::nullopt;
  }
  const auto levels = base::parse_integer(parts[0]);
  const auto down = number_list(parts[1]);
  const auto up = number_list(parts[2]);
  const auto cables = number_list(parts[3]);
  if (!levels || !down || !up || !cables) {
    return std::nullopt;
  }
  const auto count = static_cast<std::size_t>(*levels);
  if (down->size() != count || up->size() != count || cables->size() != count) {
    return std::nullopt;
  }
  return fat_tree_shape{*down, *up, *cables};
}

std::optional<dragonfly_shape> dragonfly_from(std::string_view text) {
  std::vector<std::uint32_t> all;
  std::size_t place = 0;
  for (const std::string& part : base::split(text, ';')) {
    const auto numbers = number_list(part);
    if (!numbers || numbers->size() != (place < 3 ? 2u : 1u)) {
      return std::nullopt;
    }
    all.insert(all.end(), numbers->begin(), numbers->end());
    ++place;
  }
  if (all.size() != 7) {
    return std::nullopt;
  }
  return dragonfly_shape{all[0], all[1], all[2], all[3], all[4], all[5], all[6]};
}

std::optional<grid_shape> grid_from(std::string_view text, bool wraps) {
  grid_shape shape;
  for (std::string word : base::split(text, 'x')) {
    bool wrap = wraps;
    if (!word.empty() && word.back() == 'm') {
      wrap = false;
      word.pop_back();
    }
    const auto size = base::parse_integer(word);
    if (!size || *size < 1 || *size > (1 << 28)) {
      return std::nullopt;
    }
    shape.sizes.push_back(static_cast<std::uint32_t>(*size));
    shape.wraps.push_back(wrap);
  }
  if (shape.empty()) {
    return std::nullopt;
  }
  return shape;
}

topology parse_topology(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = colon == text.npos ? "torus" : text.substr(0, colon);
  const std::string_view rest = colon == text.npos ? text : text.substr(colon + 1);
  if (kind == "torus" || kind == "torus2" || kind == "mesh") {
    if (const auto shape = grid_from(rest, kind != "mesh")) {
      return make_grid(*shape, kind == "torus2" ? ring_of_two::two_cables : ring_of_two::one_cable);
    }
    std::error_code failed;  // a text too long for a name is no file
    if (colon == text.npos && std::filesystem::exists(std::filesystem::path(text), failed)) {
      return read_topology(std::string(text));
    }
    bad_shape(text, "neither sizes such as 4x4x8 nor a file that exists");
  }
  if (kind == "hypercube" || kind == "mira") {
    const auto count = base::parse_integer(rest);
    if (!count || *count < 1 || *count > (1 << 28)) {
      bad_shape(text, "it needs one number");
    }
    const auto n = static_cast<std::uint32_t>(*count);
    if (kind == "mira") {
      return make_torus(mira_shape(n));
    }
    if (n > 24) {
      bad_shape(text, "a hypercube has at most 24 dimensions");
    }
    return make_hypercube(n);
  }
  if (kind == "fattree") {
    const auto shape = fat_tree_from(rest);
    if (!shape) {
      bad_shape(text, "a fat tree is levels;down,...;up,...;cables,...");
    }
    return make_fat_tree(*shape);
  }
  if (kind == "dragonfly") {
    const auto shape = dragonfly_from(rest);
    if (!shape) {
      bad_shape(text, "a dragonfly is groups,blue;chassis,black;routers,green;nodes");
    }
    return make_dragonfly(*shape);
  }
  return read_topology(std::string(text));
}

}  // namespace sinew::route
