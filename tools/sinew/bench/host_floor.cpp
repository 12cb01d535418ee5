// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/host_floor.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sinew/base/check.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/bench/perftest.hpp"

namespace sinew::tool {
namespace {

constexpr const char* usual_agent = "ssh -x -o BatchMode=yes -o ConnectTimeout=4 -o LogLevel=ERROR";
constexpr double share_of_budget = 4;  // of one case of a measuring program, which has ten samples
constexpr int first_port = 20'000, ports = 12'000;

struct floor_kind {
  ucx_floor what;
  std::string_view name;
  const char* row;  ///< case, metric, unit
  const char* params;
  const char* tests[2];  ///< the faster one is the floor
};
constexpr floor_kind kinds[] = {
    {ucx_floor::latency, "latency", "one-way latency ns", "", {"ucp_am_lat", "tag_lat"}},
    {ucx_floor::bandwidth,
     "bandwidth",
     "uni bandwidth GB/s",
     ",window=64",
     {"ucp_am_bw", "tag_bw"}},
    {ucx_floor::rate, "rate", "window rate Mmsg/s", ",window=64", {"ucp_am_bw", "tag_bw"}}};

/// What the words of host_floor() say.
struct floor_words_read {
  perftest_plan plan;
  const floor_kind* kind = nullptr;
  std::vector<int> sizes;
  double budget_ms = 50;
};

floor_words_read read_words(int argc, char** argv) {
  floor_words_read all;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string_view key = word.substr(0, equals);
    const std::string value(word.substr(equals + 1));
    if (key == "what") {
      all.kind = std::find_if(std::begin(kinds), std::end(kinds),
                              [&](const floor_kind& k) { return k.name == value; });
      SINEW_ASSERT(all.kind != std::end(kinds));
    } else if (key == "sizes") {
      for (const std::string& size : stats::split(value, ',')) {
        all.sizes.push_back(std::atoi(size.c_str()));
      }
    } else if (key == "budget_ms") {
      all.budget_ms = std::atof(value.c_str());
    } else if (key == "set") {
      all.plan.settings.push_back(value);
    } else if (key == "cpus") {
      const auto cpus = stats::split(value, ',');
      all.plan.server_cpu = {"-c", cpus.front()};
      all.plan.client_cpu = {"-c", cpus.back()};
    } else if (key == "thread") {
      all.plan.threads = value == "multiple";
    } else if (key == "server" || key == "client" || key == "agent") {
      (key == "server"   ? all.plan.server
       : key == "client" ? all.plan.client
                         : all.plan.agent) = value;
    }
  }
  return all;
}

// By a guess of 15 us for a message and 1 GB/s; the time is spent, whatever comes of it.
int iterations_for(int bytes, double budget_ms, bool both_ways) {
  const double us = (15 + bytes / 1e3) * (both_ways ? 2 : 1);
  return std::clamp(static_cast<int>(budget_ms * 1e3 * share_of_budget / us), 20, 100'000);
}

double value_of_kind(ucx_floor what, const perftest_result& r) {
  return what == ucx_floor::latency     ? r.latency_ns
         : what == ucx_floor::bandwidth ? r.bandwidth_gb
                                        : r.rate_m;
}

}  // namespace

command host_floor(const experiment& e, const request& asked, const placement& on) {
  SINEW_EXPECT(on.hosts.size() >= 2);
  command c;
  const auto starts = e.starts(asked);
  if (e.over_hosts == ucx_floor::none || starts.empty()) {
    return c;
  }
  c.words = {"/proc/self/exe", "bench", "--host-floor"};
  for (const floor_kind& kind : kinds) {
    if (kind.what == e.over_hosts) {
      c.words.push_back("what=" + std::string(kind.name));
    }
  }
  c.words.push_back("server=" + on.hosts[1].name);
  c.words.push_back("client=" + on.hosts[0].name);
  c.words.push_back("agent=" + (on.agent.empty() ? usual_agent : on.agent));
  for (const auto& [name, value] : ucx_settings(on, false)) {
    c.words.push_back("set=" + name + '=' + value);
  }
  const std::vector<int> cpus = topology::usable_cpu_list();
  if (on.one_machine && !cpus.empty()) {  // as place_rank_main() does
    c.words.push_back("cpus=" + std::to_string(cpus[1 % cpus.size()]) + ',' +
                      std::to_string(cpus[0]));
  }
  c.words.insert(c.words.end(), starts[0].words.begin(), starts[0].words.end());
  return c;
}

int host_floor_main(int argc, char** argv) {
  floor_words_read asked = read_words(argc, argv);
  if (asked.kind == nullptr || asked.plan.server.empty() || asked.plan.client.empty()) {
    std::fprintf(stderr, "bench --host-floor is for `sinew bench --hosts`.\n");
    return 2;
  }
  adopt_orphans();
  int port = static_cast<int>(::getpid()) * 7;
  for (const int bytes : asked.sizes) {
    double best = 0;
    for (const char* test : asked.kind->tests) {
      if (bytes == 0 || interrupted()) {  // it sends 1 byte at least
        continue;
      }
      perftest_plan plan = asked.plan;
      plan.port = first_port + ++port % ports;
      plan.test = test;
      plan.bytes = bytes;
      plan.iterations =
          iterations_for(bytes, asked.budget_ms, asked.kind->what == ucx_floor::latency);
      const command_result done = run_command({{"/bin/sh", "-c", perftest_line(plan)}, {}, 60});
      const auto result = parse_perftest(done.output);
      if (!done.ok() || !result) {
        std::fprintf(stderr, "ucx_perftest -t %s: %s\n", test,
                     done.timed_out ? "no end after 60 s" : stats::last_line(done.errors).c_str());
        return 1;
      }
      const double value = value_of_kind(asked.kind->what, *result);
      const bool less = asked.kind->what == ucx_floor::latency;
      best = best == 0 ? value : less ? std::min(best, value) : std::max(best, value);
    }
    if (best > 0) {
      std::printf("@ %s bytes=%d%s%s %.9g\n", asked.kind->row, bytes, asked.kind->params,
                  asked.plan.threads ? ",thread=multiple" : "", best);
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace sinew::tool
