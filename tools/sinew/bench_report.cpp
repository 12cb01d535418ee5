#include "bench_report.hpp"

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

std::string value_of(const parameters& params, const std::string& name) {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return {};
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0 || line.rfind("CPU part", 0) == 0) {
      const std::size_t at = line.find(':');
      if (at != std::string::npos && at + 2 <= line.size()) return line.substr(at + 2);
    }
  }
  return "unknown";
}

std::string load_averages() {
  double loads[3] = {};
  std::string text = "[";
  const int known = getloadavg(loads, 3);
  for (int i = 0; i < known; ++i) {
    if (i > 0) text += ',';
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
    if (!peers.empty()) peers += ',';
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

std::optional<double> latency_floor(const result_set& results, const std::string& experiment,
                                    const parameters& params) {
  const auto line = results.median(experiment, "line", {{"kind", "pair"}}, "floor");
  if (!line) return std::nullopt;
  const auto bytes = stats::parse_number(value_of(params, "bytes"));
  if (!bytes || *bytes <= 64) return line;  // it travels in the line itself
  const auto copy =
      results.median(experiment, "memcpy", {{"bytes", value_of(params, "bytes")}}, "floor");
  if (!copy || *copy <= 0) return std::nullopt;
  return *line + *bytes / *copy;
}

}  // namespace

std::optional<double> floor_of(const result_set& results, const stats::row_key& key) {
  const std::string& e = key.experiment;
  if (e == "latency") return latency_floor(results, e, key.params);
  if (e == "bandwidth") {
    return results.median(e, "memcpy", {{"bytes", value_of(key.params, "bytes")}}, "floor");
  }
  if (e == "rate") return results.median(e, "line-stream", {{"kind", "ring"}}, "floor");
  if (e == "launch") return results.median(e, "fork-exec", {}, "floor");
  if ((e == "latency-mt" || e == "million") && key.metric == "latency") {
    const auto line = results.median(e, "line", {{"kind", "pair"}}, "floor");
    return line ? std::optional(*line / 1e3) : std::nullopt;
  }
  if (e == "oversubscribed" && key.metric == "latency") {
    return results.median(e, "futex-switch", {{"kind", "same-core"}}, "floor");
  }
  return results.median(key, "floor");  // the same row, where it is one
}

std::string experiment_table(const result_set& results, const std::string& experiment,
                             const std::vector<std::string>& subjects) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> head = {experiment};
  head.insert(head.end(), subjects.begin(), subjects.end());
  head.emplace_back("vs best peer");
  if (experiment == "pool") head.emplace_back("net of the clock");
  head.insert(head.end(), {"floor", "of floor", "unit"});
  lines.push_back(head);
  for (const stats::row& r : results.rows()) {
    if (r.key.experiment != experiment) continue;
    if (r.samples.size() == 1 && r.samples.count("floor") == 1) continue;
    std::vector<std::string> cells;
    std::string label = r.key.case_name;
    for (const auto& [name, value] : r.key.params) label += ' ' + name + '=' + value;
    cells.push_back(label);
    for (const std::string& subject : subjects) {
      const auto found = r.samples.find(subject);
      cells.push_back(found == r.samples.end()
                          ? "-"
                          : stats::median_and_spread(stats::summarise(found->second)));
    }
    const auto ours = stats::median_in(r, "sinew");
    const auto best = stats::best_peer(r, "sinew");
    const auto floor = floor_of(results, r.key);
    const auto ratio = [&ours](const std::optional<double>& to) {
      return ours && to && *to > 0 ? stats::short_number(*ours / *to) + "x" : std::string("-");
    };
    cells.push_back(ratio(best));
    if (experiment == "pool") {
      // Only there is the floor the clock, and most of the row.
      const bool of_clock = value_of(r.key.params, "method") == "seed" && ours && best && floor;
      const auto net = of_clock ? stats::net_ratio(*ours, *best, *floor) : std::nullopt;
      cells.push_back(net ? stats::short_number(*net) + "x" : "-");
    }
    cells.push_back(floor ? stats::short_number(*floor) : "-");
    cells.push_back(ratio(floor));
    cells.push_back(r.key.unit + (stats::higher_is_better(r.key.metric) ? " (more)" : " (less)"));
    lines.push_back(cells);
  }
  if (lines.size() == 1) return {};
  return stats::render_table(lines);
}

std::string json_document(const result_set& results,
                          const std::map<std::string, std::string>& versions) {
  return "{\"schema\":1,\n\"host\":" + host_facts(versions) +
         ",\n\"results\":" + stats::json_results(results) + "}\n";
}

}  // namespace sinew::tool
