// SPDX-License-Identifier: BSD-3-Clause
// The file's head: what machine, what build, what was asked for.
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "sinew/base/topology.hpp"
#include "sinew/bench/report.hpp"
#include "sinew/bench/results_json.hpp"
#include "sinew/formats/json.hpp"

namespace sinew::tool {
namespace {

using formats::json_quoted;

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

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string governor() {
  const std::string name = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return name.empty() ? "unknown" : name;
}

// Whether the processor says that it is virtual, and what the machine calls itself.
std::string hypervisor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("flags", 0) == 0 && line.find(" hypervisor") != std::string::npos) {
      const std::string vendor = first_line("/sys/class/dmi/id/sys_vendor");
      return vendor.empty() ? "unnamed" : vendor;
    }
  }
  return "none";
}

template <class Items, class Text>
std::string json_array(const Items& items, Text&& text) {
  std::string out = "[";
  for (const auto& item : items) {
    out += (out.size() > 1 ? "," : "") + text(item);
  }
  return out + ']';
}

// Of the tree that the measuring programs come from; an installed one has none.
std::string commit() {
  const auto sources = bench_sources();
  if (!sources) {
    return "unknown";
  }
  const command_result said =
      run_command({{"/usr/bin/git", "-C", *sources, "describe", "--always", "--dirty"}, {}, 10});
  return said.ok() ? said.output.substr(0, said.output.find('\n')) : "unknown";
}

std::string json_command(const started& c) {
  std::string environment = "{";
  for (const auto& [name, value] : c.what.environment) {
    environment +=
        (environment.size() > 1 ? "," : "") + json_quoted(name) + ':' + json_quoted(value);
  }
  return "\n {\"experiment\":" + json_quoted(c.experiment) +
         ",\"subject\":" + json_quoted(c.subject) + ",\"words\":" +
         json_array(c.what.words, [](const std::string& w) { return json_quoted(w); }) +
         ",\"environment\":" + environment + "}}";
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

// {"name":"text",...}
std::string json_object(const std::map<std::string, std::string>& texts) {
  std::string all;
  for (const auto& [name, text] : texts) {
    all.append(all.empty() ? "" : ",").append(json_quoted(name)).append(":");
    all += json_quoted(text);
  }
  return '{' + all + '}';
}

std::string host_facts(std::map<std::string, std::string> versions) {
  utsname system{};
  (void)uname(&system);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string ours = versions["sinew"];
  versions.erase("sinew");
  return "{\"cpu\":" + json_quoted(cpu_model()) +
         ",\"cores\":" + std::to_string(topology::usable_cpus()) + ",\"pinned_to\":" +
         json_array(topology::usable_cpu_list(), [](int cpu) { return std::to_string(cpu); }) +
         ",\"governor\":" + json_quoted(governor()) +
         ",\"hypervisor\":" + json_quoted(hypervisor()) +
         ",\"memory_bytes\":" + stats::json_number(memory) +
         ",\"kernel\":" + json_quoted(system.release) +
         ",\"machine\":" + json_quoted(system.machine) + ",\"load\":" + load_averages() +
         ",\"time\":" + json_quoted(time_text()) + ",\"sinew\":" + json_quoted(ours) +
         ",\"peers\":" + json_object(versions) + '}';
}

std::string run_part(const run_facts& facts) {
  return "{\"options\":" +
         json_array(facts.options, [](const std::string& w) { return json_quoted(w); }) +
         ",\"commit\":" + json_quoted(commit()) + ",\"compiler\":" + json_quoted(SINEW_COMPILER) +
         ",\"flags\":" + json_quoted(SINEW_FLAGS) + ",\"absent\":" + json_object(facts.absent) +
         (facts.hosts.empty() ? "" : ",\"hosts\":" + json_quoted(facts.hosts)) +
         ",\"commands\":" + json_array(facts.commands, json_command) + '}';
}

}  // namespace

std::string json_document(const stats::result_set& results, const run_facts& facts) {
  return "{\"schema\":2,\n\"host\":" + host_facts(facts.versions) +
         ",\n\"run\":" + run_part(facts) + ",\n\"results\":" + stats::json_results(results) + "}\n";
}

}  // namespace sinew::tool
