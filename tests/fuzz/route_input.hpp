// SPDX-License-Identifier: BSD-3-Clause
// What both the fuzzer and the seeded test do with a piece of input: every reader of route's files.
#pragma once

#include <string>
#include <string_view>

#include "sinew/base/error.hpp"
#include "sinew/route/interchange.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::fuzz {

inline constexpr int route_readers = 10;

inline bool sound(const route::topology& read) {
  for (route::link_id l = 0; l < read.links(); ++l) {
    if (read.from(l) >= read.nodes() || read.to(l) >= read.nodes() || !(read.capacity(l) >= 0)) {
      return false;
    }
  }
  return read.endpoints() <= read.nodes();
}

inline bool sound(const route::topology& net, const route::job_list& jobs) {
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs.source[j] >= net.endpoints() || jobs.destination[j] >= net.endpoints()) {
      return false;
    }
  }
  return true;
}

/// False if a reader accepts what is not sound, or refuses without a reason; crashes and sanitizers
/// tell the rest.
inline bool route_input(int reader, std::string_view text) {
  const std::string where = "the input";
  const route::topology net = route::make_torus({2, 2, 2});
  try {
    switch (reader) {
      case 0:
        return sound(route::topology_from_edges(text, where));
      case 1:
        return sound(route::topology_from_json(text, where));
      case 2:
        return sound(route::topology_from_simgrid(text, where));
      case 3:
        return sound(net, route::pattern_from_text(net, text, where));
      case 4: {
        const route::route_plan plan = route::plan_from_json(net, text, where);
        route::check_plan(net, plan);
        return true;
      }
      case 5:
        // Names of files would be read: only what cannot be one.
        if (text.find('/') != text.npos || text.find('.') != text.npos) {
          return true;
        }
        return route::parse_topology(text).nodes() > 0;
      case 6: {
        const route::topology read = route::topology_from_graphml(text, where);
        return sound(read) && route::topology_from_graphml(route::topology_to_graphml(read), where)
                                      .fingerprint() == read.fingerprint();
      }
      case 7:
        return sound(route::topology_from_ibnetdiscover(text, where));
      case 8:
        return sound(net, route::pattern_from_csv(net, text, where));
      default:
        for (const double load : route::loads_from_csv(net, text, where)) {
          if (!(load >= 0)) {
            return false;
          }
        }
        return true;
    }
  } catch (const error& e) {
    return !e.problem().empty();
  }
}

}  // namespace sinew::fuzz
