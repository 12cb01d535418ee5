// SPDX-License-Identifier: BSD-3-Clause
// sinew info: what this build is, what it finds here and how it is set.
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/bench/process.hpp"
#include "sinew/bench/subjects.hpp"
#include "sinew/coll/choices.hpp"
#include "sinew/commands.hpp"
#include "sinew/fabric/back_ends.hpp"
#include "sinew/formats/json.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/info/machine_picture.hpp"
#include "sinew/info/reach.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/program_check.hpp"
#include "sinew/run/rank_process.hpp"

namespace sinew::tool {
namespace {

struct info_request {
  bool json = false;
  bool help = false;
  std::string svg;
  host_choice hosts;
  coll::imagined_call call;
};

std::size_t bytes_of(std::string_view text) {
  const std::optional<std::int64_t> bytes = base::parse_bytes(text);
  if (!bytes) {
    throw usage_failure("--bytes takes a number such as 8, 64k or 1M, not \"" + std::string(text) +
                        "\"");
  }
  return static_cast<std::size_t>(*bytes);
}

std::vector<option> table(info_request& request) {
  return {{{"--json"}, "", "prints JSON", [&request](std::string_view) { request.json = true; }},
          {{"--svg"},
           "FILE",
           "topology: draws processors and memory",
           [&request](std::string_view v) { request.svg = v; }},
          {{"-n", "--ranks"},
           "N",
           "collectives: of so many ranks (default: 4)",
           [&request](std::string_view v) { request.call.ranks = whole_number("-n", v, 1); }},
          {{"--nodes"},
           "N",
           "collectives: on so many nodes (default: 1)",
           [&request](std::string_view v) { request.call.nodes = whole_number("--nodes", v, 1); }},
          {{"--bytes"},
           "SIZE",
           "collectives: with blocks or vectors of this size (default: 8)",
           [&request](std::string_view v) { request.call.bytes = bytes_of(v); }},
          {{"--hosts", "--host"},
           "HOST,...",
           "transports: which of these hosts reach each other, by what, and how fast",
           [&request](std::string_view v) { request.hosts.list = v; }},
          {{"--hostfile"},
           "FILE",
           "the same with a file of hosts",
           [&request](std::string_view v) { request.hosts.file = v; }},
          {{"--rsh"},
           "COMMAND",
           "starts a command on a host, as for sinew run (default: ssh)",
           [&request](std::string_view v) { request.hosts.agent = v; }},
          {{"-h", "--help"}, "", "shows this text", [&request](std::string_view) {
             request.help = true;
           }}};
}

/// One thing to tell: the same fields for people and for programs.
using record = std::vector<std::pair<std::string, std::string>>;
/// "text" is one block for people; the others are tables.
struct section {
  std::vector<record> rows;
  std::string text;
  std::string head{};  ///< of a table, for people
};

std::string as_json(const section& what) {
  std::string text = "[";
  for (const record& row : what.rows) {
    text += text.size() > 1 ? ",\n  {" : "\n  {";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i > 0 ? "," : "") + formats::json_quoted(row[i].first) + ":" +
              formats::json_quoted(row[i].second);
    }
    text += "}";
  }
  return text + "]";
}

std::string as_table(const section& what) {
  if (!what.text.empty()) {
    return what.text;
  }
  std::vector<std::size_t> widths;
  for (const record& row : what.rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].second.size());
    }
  }
  std::string text = what.head;
  for (const record& row : what.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i].second;
      if (i + 1 < row.size()) {
        cell.resize(widths[i] + 2, ' ');
      }
      line += cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

const char* origin_name(setting_origin origin) {
  switch (origin) {
    case setting_origin::environment:
      return "environment";
    case setting_origin::command_line:
      return "command line";
    case setting_origin::program:
      return "program";
    default:
      return "default";
  }
}

const char* origin_name(topology::origin origin) {
  switch (origin) {
    case topology::origin::attributes:
      return "attributes";
    case topology::origin::distances:
      return "distances";
    default:
      return "estimate";
  }
}

section config(const info_request& /*request*/) {
  section result;
  for (const setting_base* each : settings::all()) {
    result.rows.push_back({{"name", each->name()},
                           {"value", each->text()},
                           {"origin", origin_name(each->origin())},
                           {"default", each->default_text()},
                           {"accepts", each->accepted_text()},
                           {"unit", each->unit()},
                           {"about", each->about()}});
  }
  return result;
}

section transports(const info_request& /*request*/) {
  section result;
  for (const fabric::back_end& each : fabric::back_ends()) {
    result.rows.push_back({{"name", each.name}, {"reach", each.about}, {"state", each.state()}});
  }
  return result;
}

/// The same for hosts, by a job on them. A host that takes part in nothing, or a pair that does not
/// reach each other, has a sentence in the place of transports.
section transports_of_hosts(const reach_map& map) {
  section result;
  result.text = reach_text(map);
  for (std::size_t a = 0; a < map.hosts.size(); ++a) {
    for (std::size_t b = 0; b < map.hosts.size(); ++b) {
      const reach_map::way& way = map.ways[a][b];
      std::string problem = way.problem.empty() ? map.ways[b][a].problem : way.problem;
      for (const std::size_t host : {a, b}) {
        problem = problem.empty() ? map.hosts[host].problem : problem;
      }
      result.rows.push_back({{"from", map.hosts[a].name},
                             {"to", map.hosts[b].name},
                             {"transports", way.transports},
                             {"latency_us", way.us > 0 ? std::to_string(way.us) : ""},
                             {"problem", problem}});
    }
  }
  return result;
}

int tell_hosts(const info_request& request) {
  adopt_orphans();
  const reach_map map = reach_of(request.hosts);
  const section page = transports_of_hosts(map);
  const std::string text =
      request.json ? "{\"transports\": " + as_json(page) + "}\n" : as_table(page);
  std::fputs(text.c_str(), stdout);
  return interrupted() ? 130 : map.complete() ? 0 : 1;
}

section topology_page(const info_request& /*request*/) {
  section result;
  for (const topology::core& each : topology::cores()) {
    std::string cpus;
    for (const int cpu : each.cpus) {
      cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
    }
    result.rows.push_back({{"core", std::to_string(result.rows.size())},
                           {"cpus", cpus},
                           {"numa_node", std::to_string(each.numa_node)},
                           {"package", std::to_string(each.package)}});
  }
  const topology::memory_map& memory = topology::memory_map::of_machine();
  for (const topology::memory_node& from : memory.nodes()) {
    for (const topology::memory_node& to : memory.nodes()) {
      const topology::nearness& near = memory.between(from.number, to.number);
      result.rows.push_back({{"from_node", std::to_string(from.number)},
                             {"memory_node", std::to_string(to.number)},
                             {"bandwidth", std::to_string(near.bandwidth)},
                             {"bandwidth_from", origin_name(near.bandwidth_from)},
                             {"latency", std::to_string(near.latency)},
                             {"latency_from", origin_name(near.latency_from)}});
    }
  }
  result.text = topology::tree() + "\n" + memory.text();
  return result;
}

section deps(const info_request& /*request*/) {
  section result;
  const auto add = [&result](const char* name, const std::string& version) {
    result.rows.push_back({{"name", name}, {"version", version}});
  };
  utsname system{};
  ::uname(&system);
  add("sinew", SINEW_VERSION);
#if defined(__clang__)
  add("compiler", std::string("clang ") + __clang_version__);
#else
  add("compiler", std::string("gcc ") + __VERSION__);
#endif
  add("libc", std::string("glibc ") + ::gnu_get_libc_version());
  add("hwloc", topology::hwloc_version());
  add("kernel", std::string(system.sysname) + " " + system.release);
  add("machine", system.machine);
  return result;
}

section collectives_page(const info_request& request) {
  const coll::imagined_call& of = request.call;
  section result;
  result.head = std::to_string(of.ranks) + (of.ranks == 1 ? " rank" : " ranks") + " on " +
                std::to_string(of.nodes) + (of.nodes == 1 ? " node" : " nodes") + ", " +
                std::to_string(of.bytes) + " bytes a block or a vector.\n";
  for (const coll::algorithm_choice& each : coll::choices(of)) {
    const bool both = each.blocking && each.nonblocking;
    result.rows.push_back({{"collective", each.collective},
                           {"algorithm", each.algorithm},
                           {"chosen", both               ? "blocking, nonblocking"
                                      : each.blocking    ? "blocking"
                                      : each.nonblocking ? "nonblocking"
                                                         : ""},
                           {"about", each.about}});
  }
  return result;
}

record program_record(const std::string& named) {
  const program_lookup lookup = find_program(named);
  const std::string path = lookup.path.empty() ? named : lookup.path;
  const program_facts facts = examine(path, linker_environment({}));
  const auto lines = [](const std::vector<std::string>& sentences) {
    std::string text;
    for (const std::string& each : sentences) {
      text += (text.empty() ? "" : "\n") + as_sentence(each);
    }
    return text;
  };
  return {{"program", path},
          {"kind", facts.kind},
          {"MPI", facts.mpi},
          {"found", facts.found},
          {"interfaces", facts.interfaces},
          {"remark", lines(facts.remarks)},
          {"runs", facts.faults.empty() ? "yes" : "no"},
          {"why", lines(facts.faults)}};
}

/// A field a line.
std::string as_lines(const record& fields) {
  constexpr std::size_t width = 12;
  std::string text;
  for (const auto& [name, value] : fields) {
    std::string rest = value;
    for (std::string head = name; !rest.empty(); head.clear()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      head.resize(width, ' ');
      text += head + rest.substr(0, end) + "\n";
      rest.erase(0, end + 1);
    }
  }
  return text;
}

/// 1 if one of them does not run on Sinew.
int tell_programs(const info_request& request, const std::vector<std::string>& files) {
  section all;
  int code = 0;
  for (const std::string& file : files) {
    all.rows.push_back(program_record(file));
    code = all.rows.back().back().second.empty() ? code : 1;
    all.text += (all.text.empty() ? "" : "\n") + as_lines(all.rows.back());
  }
  const std::string text = request.json ? "{\"programs\": " + as_json(all) + "}\n" : all.text;
  std::fputs(text.c_str(), stdout);
  return code;
}

struct page {
  std::string_view name;
  section (*make)(const info_request& request);
};
constexpr std::array pages = {page{"config", config}, page{"transports", transports},
                              page{"topology", topology_page}, page{"deps", deps},
                              page{"collectives", collectives_page}};

std::vector<page> chosen_pages(std::vector<std::string_view> names) {
  std::vector<page> result;
  for (const std::string_view name : names) {
    std::vector<std::string_view> known;
    for (const page& each : pages) {
      known.push_back(each.name);
      if (each.name == name) {
        result.push_back(each);
      }
    }
    if (result.empty() || result.back().name != name) {
      const std::string_view near = nearest(name, known);
      throw usage_failure("no page " + std::string(name) +
                          (near.empty() ? "; there are config, transports, topology, deps, "
                                          "collectives and program"
                                        : "; did you mean " + std::string(near) + "?"));
    }
  }
  return result.empty() ? std::vector<page>(pages.begin(), pages.end()) : result;
}

}  // namespace

command_page info_page() {
  static info_request unused;
  return {"info",
          "shows settings, transports, topology and versions",
          "[config|transports|topology|deps|collectives]... [--json|--svg FILE] [--hosts LIST]\n"
          "program FILE... [--json]",
          "config: every setting with its value and where that comes from. Settings are variables\n"
          "SINEW_<MODULE>_<KEY>.\n"
          "collectives: the algorithms of each collective, and which one a call takes: the first\n"
          "that can carry it out and that SINEW_COLL_<COLLECTIVE> names, else what is measured to\n"
          "be the best.\n"
          "program: which MPI a program, a library or a script was built with, by which of MPI's\n"
          "interfaces it calls, and whether it runs on Sinew; if not, why not.",
          table(unused),
          {"config", "transports", "topology", "deps", "collectives", "program"}};
}

int info_main(int argc, char** argv) {
  info_request request;
  const std::vector<option> known = table(request);
  std::vector<std::string_view> words(argv + 1, argv + argc);
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t taken = parse_options(std::span(words).subspan(at), known);
    at += taken;
    if (taken == 0) {
      names.push_back(words[at++]);
    }
  }
  if (request.help) {
    std::fputs(help_text(info_page()).c_str(), stdout);
    return 0;
  }
  if (!request.svg.empty() && (names.size() != 1 || names[0] != "topology" || request.json)) {
    throw usage_failure("--svg draws the page topology: sinew info topology --svg FILE");
  }
  if (request.call.ranks < request.call.nodes) {
    throw usage_failure("--nodes " + std::to_string(request.call.nodes) + " of " +
                        std::to_string(request.call.ranks) +
                        " ranks: each node has at least one (-n N)");
  }
  if (request.hosts.given() && (names.size() != 1 || names[0] != "transports")) {
    throw usage_failure("--hosts is for one page: sinew info transports --hosts h1,h2");
  }
  if (!names.empty() && names.front() == "program") {
    if (names.size() == 1) {
      throw usage_failure("program needs a file: sinew info program ./my_program");
    }
    return tell_programs(request, {names.begin() + 1, names.end()});
  }
  const std::vector<page> wanted = chosen_pages(names);
  for (const std::string& sentence : settings::load_environment()) {
    std::fprintf(stderr, "sinew info: %s\n", as_sentence(sentence).c_str());
  }
  if (request.hosts.given()) {
    return tell_hosts(request);
  }
  if (!request.svg.empty()) {
    formats::write_file(request.svg,
                        machine_picture(topology::cores(), topology::memory_map::of_machine()));
    return 0;
  }
  std::string text;
  for (const page& each : wanted) {
    if (request.json) {
      text += (text.empty() ? "{" : ",\n ") + formats::json_quoted(std::string(each.name)) + ": " +
              as_json(each.make(request));
    } else {
      text += wanted.size() > 1 ? (text.empty() ? "" : "\n") + std::string(each.name) + "\n" : "";
      text += as_table(each.make(request));
    }
  }
  std::fputs((text + (request.json ? "}\n" : "")).c_str(), stdout);
  return 0;
}

}  // namespace sinew::tool
