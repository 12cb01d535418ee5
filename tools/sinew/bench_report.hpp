// What `sinew bench` shows and writes: tables on the screen, facts of the host, the JSON file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench_stats.hpp"

namespace sinew::tool {

/// The machine's bound for a row, where one is known: composed of the floor's own rows. For example
/// a message's latency is one trip of a line plus its bytes at memcpy's rate.
std::optional<double> floor_of(const stats::result_set& results, const stats::row_key& key);

/// The table of one experiment: a line per case, a column per subject, the ratio to the best peer
/// and the multiple of the floor.
std::string experiment_table(const stats::result_set& results, const std::string& experiment,
                             const std::vector<std::string>& subjects);

/// {"schema":1,"host":{...},"results":[...]}. `versions` goes to host.peers and host.sinew.
std::string json_document(const stats::result_set& results,
                          const std::map<std::string, std::string>& versions);

}  // namespace sinew::tool
