#include "sinew/bench/report.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "sinew/base/topology.hpp"

namespace sinew::tool {
namespace {

using stats::parameters;
using stats::result_set;

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0 || line.rfind("CPU part", 0) == 0) {
      const std::size_t at = line.find(':');
      if (at != std::string::npos && at + 2 <= line.size()) {
        return line.substr(at + 2);
      }
    }
  }
  return "unknown";
}

std::string load_averages() {
  double loads[3] = {};
  std::string text = "[";
  const int known = getloadavg(loads, 3);
  for (int i = 0; i < known; ++i) {
    if (i > 0) {
      text += ',';
    }
    text += stats::json_number(loads[i]);
  }
  return text + "]";
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string host_facts(const std::map<std::string, std::string>& versions) {
  utsname system{};
  (void)uname(&system);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::string peers;
  std::string ours;
  for (const auto& [name, version] : versions) {
    if (name == "sinew") {
      ours = version;
      continue;
    }
    if (!peers.empty()) {
      peers += ',';
    }
    peers += stats::json_string(name) + ':' + stats::json_string(version);
  }
  return "{\"cpu\":" + stats::json_string(cpu_model()) +
         ",\"cores\":" + std::to_string(topology::usable_cpus()) +
         ",\"memory_bytes\":" + stats::json_number(memory) +
         ",\"kernel\":" + stats::json_string(system.release) +
         ",\"machine\":" + stats::json_string(system.machine) + ",\"load\":" + load_averages() +
         ",\"time\":" + stats::json_string(time_text()) + ",\"sinew\":" + stats::json_string(ours) +
         ",\"peers\":{" + peers + "}}";
}

}  // namespace

std::string value_of(const parameters& params, const std::string& name) {
  for (const auto& [key, value] : params) {
    if (key == name) {
      return value;
    }
  }
  return {};
}

std::optional<double> line_trip_us(const result_set& results, const stats::row_key& key) {
  const auto line = results.median(key.experiment, "line", {{"kind", "pair"}}, "floor");
  return line && key.metric == "latency" ? std::optional(*line / 1e3) : std::nullopt;
}

std::optional<double> copy_rate_of(const result_set& results, const stats::row_key& key) {
  return results.median(key.experiment, "memcpy", {{"bytes", value_of(key.params, "bytes")}},
                        "floor");
}

std::string experiment_table(const experiment& e, const result_set& results, const request&,
                             const std::vector<std::string>& subjects) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> head = {std::string(e.name)};
  head.insert(head.end(), subjects.begin(), subjects.end());
  head.emplace_back("vs best peer");
  if (e.extra) {
    head.emplace_back(e.extra->heading);
  }
  head.insert(head.end(), {"floor", "of floor", "unit"});
  lines.push_back(head);
  for (const stats::row& r : results.rows()) {
    if (r.key.experiment != e.name) {
      continue;
    }
    if (r.samples.size() == 1 && r.samples.count("floor") == 1) {
      continue;
    }
    std::vector<std::string> cells;
    std::string label = r.key.case_name;
    for (const auto& [name, value] : r.key.params) {
      label += ' ' + name + '=' + value;
    }
    cells.push_back(label);
    for (const std::string& subject : subjects) {
      const auto found = r.samples.find(subject);
      cells.push_back(found == r.samples.end()
                          ? "-"
                          : stats::median_and_spread(stats::summarise(found->second)));
    }
    const auto ours = stats::median_in(r, "sinew");
    const auto best = stats::best_peer(r, "sinew");
    const auto floor =
        e.floor_of != nullptr ? e.floor_of(results, r.key) : results.median(r.key, "floor");
    const auto ratio = [&ours](const std::optional<double>& to) {
      return ours && to && *to > 0 ? stats::short_number(*ours / *to) + "x" : std::string("-");
    };
    cells.push_back(ratio(best));
    if (e.extra) {
      cells.push_back(e.extra->cell(r, floor));
    }
    cells.push_back(floor ? stats::short_number(*floor) : "-");
    cells.push_back(ratio(floor));
    cells.push_back(r.key.unit + (stats::higher_is_better(r.key.metric) ? " (more)" : " (less)"));
    lines.push_back(cells);
  }
  if (lines.size() == 1) {
    return {};
  }
  return stats::render_table(lines);
}

std::string json_document(const result_set& results,
                          const std::map<std::string, std::string>& versions) {
  return "{\"schema\":1,\n\"host\":" + host_facts(versions) +
         ",\n\"results\":" + stats::json_results(results) + "}\n";
}

}  // namespace sinew::tool
