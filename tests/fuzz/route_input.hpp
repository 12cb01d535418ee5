// What both the fuzzer and the seeded test do with a piece of input: every reader of route's files.
#pragma once

#include <string>
#include <string_view>

#include "sinew/base/error.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::fuzz {

inline constexpr int route_readers = 6;

/// False if a reader accepts what is not sound, or refuses without a reason; crashes and sanitizers
/// tell the rest.
inline bool route_input(int reader, std::string_view text) {
  const std::string where = "the input";
  const route::topology net = route::make_torus({2, 2, 2});
  try {
    switch (reader) {
      case 0:
      case 1:
      case 2: {
        const route::topology read = reader == 0   ? route::topology_from_edges(text, where)
                                     : reader == 1 ? route::topology_from_json(text, where)
                                                   : route::topology_from_simgrid(text, where);
        for (route::link_id l = 0; l < read.links(); ++l) {
          if (read.from(l) >= read.nodes() || read.to(l) >= read.nodes()) {
            return false;
          }
          if (!(read.capacity(l) >= 0)) {
            return false;
          }
        }
        return read.endpoints() <= read.nodes();
      }
      case 3: {
        const route::job_list jobs = route::pattern_from_text(net, text, where);
        for (std::size_t j = 0; j < jobs.size(); ++j) {
          if (jobs.source[j] >= 8 || jobs.destination[j] >= 8) {
            return false;
          }
        }
        return true;
      }
      case 4: {
        const route::route_plan plan = route::plan_from_json(net, text, where);
        route::check_plan(net, plan);
        return true;
      }
      default:
        // Names of files would be read: only what cannot be one.
        if (text.find('/') != text.npos || text.find('.') != text.npos) {
          return true;
        }
        return route::parse_topology(text).nodes() > 0;
    }
  } catch (const error& e) {
    return !e.problem().empty();
  }
}

}  // namespace sinew::fuzz
