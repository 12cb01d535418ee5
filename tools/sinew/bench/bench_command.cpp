// SPDX-License-Identifier: BSD-3-Clause
// `sinew bench`: its command line.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/base/sentence.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/bench/compare.hpp"
#include "sinew/bench/floor_probe.hpp"
#include "sinew/bench/host_floor.hpp"
#include "sinew/bench/run.hpp"
#include "sinew/commands.hpp"
#include "sinew/sim/network.hpp"

namespace sinew::tool {
namespace {

std::vector<option> option_table(bench_options& o) {
  const auto flag = [](auto& target, auto value) {
    return [&target, value](std::string_view) { target = value; };
  };
  return {
      {{"--quick"}, "", "few sizes, three rounds", flag(o.asked.how, effort::quick)},
      {{"--full"}, "", "long measurements, eleven rounds", flag(o.asked.how, effort::full)},
      {{"--json"},
       "FILE",
       "writes every sample with the host's facts",
       [&o](std::string_view text) { o.json = text; }},
      {{"--peers"},
       "LIST",
       "auto, none, or names: mpich,openmpi,tbb,boost,...",
       [&o](std::string_view text) { o.peers = text; },
       "auto|none|mpich|openmpi|openmpi-ucx|opencoarrays"},
      {{"--repeat"},
       "N",
       "rounds: every subject runs once in each",
       [&o](std::string_view text) { o.rounds = whole_number("--repeat", text, 1); }},
      {{"--threads"},
       "LEVEL",
       "single (the default) or multiple: what MPI_Init asks for",
       [&o](std::string_view text) {
         if (text != "single" && text != "multiple") {
           throw usage_failure("--threads takes single or multiple, not " + std::string(text));
         }
         o.asked.thread_multiple = text == "multiple";
       },
       "single|multiple"},
      {{"--hosts"},
       "HOST[:N],...",
       "over these hosts, with N ranks each (default 1), beside ucx_perftest",
       [&o](std::string_view text) { o.hosts.list = text; }},
      {{"--hostfile"},
       "FILE",
       "the hosts as `sinew run --hostfile` reads them",
       [&o](std::string_view text) { o.hosts.file = text; }},
      {{"--rsh"},
       "COMMAND",
       "starts a command on a host: COMMAND HOST LINE (default: ssh)",
       [&o](std::string_view text) { o.hosts.agent = text; }},
      {{"--simulate"},
       "NETWORK",
       "Sinew alone, in virtual time on this network, as sinew simulate --network takes it",
       [&o](std::string_view text) { o.network = text; }},
      {{"--shape"},
       "AxBxC",
       "carry --hosts: the torus that cables of the hosts make, like 2x2x2x2",
       [&o](std::string_view text) { o.asked.shape = text; }},
      {{"--sweep"},
       "",
       "routing: along distance, destinations, bytes, ranks, paths fed, groups",
       flag(o.asked.sweep, true)},
      {{"-h", "--help"}, "", "explains", flag(o.help, true)},
  };
}

/// Adds the experiment of this name, or the one that has a case of it.
void choose(bench_options& o, std::string_view word) {
  std::vector<std::string_view> names;
  for (const experiment* e : all_experiments()) {
    names.push_back(e->name);
    if (e->name == word) {
      o.cases[e].clear();
      o.cases[e].emplace_back();
    } else if (std::find(e->cases.begin(), e->cases.end(), word) != e->cases.end()) {
      auto& chosen = o.cases[e];
      if (chosen != std::vector<std::string>{""}) {
        chosen.emplace_back(word);
      }
    } else {
      continue;
    }
    if (std::find(o.experiments.begin(), o.experiments.end(), e) == o.experiments.end()) {
      o.experiments.push_back(e);
    }
    return;
  }
  const std::string_view near = nearest(word, names);
  throw usage_failure(
      "unknown experiment " + std::string(word) +
      (near.empty() ? "; see sinew bench --help" : "; did you mean " + std::string(near) + "?"));
}

void check_hosts(const bench_options& o) {
  if (!o.hosts.list.empty() && !o.hosts.file.empty()) {
    throw usage_failure("--hosts and --hostfile exclude each other");
  }
  if (!o.hosts.given()) {
    if (!o.hosts.agent.empty() || !o.asked.shape.empty()) {
      throw usage_failure(std::string(o.hosts.agent.empty() ? "--shape" : "--rsh") +
                          " is for --hosts or --hostfile");
    }
    return;
  }
  std::string possible;
  for (const experiment* e : all_experiments()) {
    if (e->hosts != between_hosts::no) {
      possible += (possible.empty() ? "" : ", ") + std::string(e->name);
    }
  }
  for (const experiment* e : o.experiments) {
    if (e->hosts == between_hosts::no) {
      throw usage_failure(std::string(e->name) + " is of one machine; over hosts there are " +
                          possible);
    }
    if (e->hosts == between_hosts::torus && o.asked.shape.empty()) {
      throw usage_failure(std::string(e->name) +
                          " over hosts is of cables that join them as a torus; name it: --shape "
                          "2x2x2x2 (`tools/hosts up --links 2x2x2x2 --rate 20M` makes such hosts)");
    }
  }
}

void check_network(const bench_options& o) {
  if (o.network.empty()) {
    return;
  }
  if (o.hosts.given()) {
    throw usage_failure("a simulated network is on this machine: leave out --hosts and --hostfile");
  }
  (void)sim::parse_network(o.network);
  for (const experiment* e : o.experiments) {
    if (!e->by.over_mpi()) {
      throw usage_failure(std::string(e->name) + " is not simulated: it is no program of MPI");
    }
  }
}

bench_options read_command_line(int argc, char** argv) {
  bench_options o;
  const std::vector<option> table = option_table(o);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  o.words.assign(words.begin(), words.end());
  for (std::size_t at = 0; at < words.size();) {
    at += parse_options(std::span(words).subspan(at), table);
    if (at < words.size()) {
      choose(o, words[at++]);
    }
  }
  if (o.experiments.empty()) {
    for (const experiment* e : all_experiments()) {
      if (!o.network.empty() && !e->by.over_mpi()) {
        continue;
      }
      if (!o.hosts.given() || (e->hosts != between_hosts::no &&
                               (e->hosts != between_hosts::torus || !o.asked.shape.empty()))) {
        o.experiments.push_back(e);
      }
    }
  }
  check_hosts(o);
  check_network(o);
  return o;
}

/// A line per experiment.
std::string list_of_experiments() {
  std::string text = "Experiments (all by default):\n";
  for (const experiment* e : all_experiments()) {
    std::string name(e->name);
    name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
    text += "  " + name + std::string(e->about) + '\n';
  }
  return text +
         "A cell is the median and, in brackets, where it lies in 95 of 100 resamples; \"noisy\" "
         "if\n"
         "that says too little. \"vs best peer\" is Sinew divided by the best other; \"floor\" is "
         "what\n"
         "the machine itself allows. sinew bench compare A.json B.json says what changed.";
}

}  // namespace

command_page bench_page() {
  static bench_options unused;
  static const std::string text = list_of_experiments();
  std::vector<std::string_view> names;
  for (const experiment* e : all_experiments()) {
    names.push_back(e->name);
  }
  return {"bench",
          "measures Sinew and the MPI implementations found, side by side",
          "[EXPERIMENT...] [options] | compare A.json B.json [--all]",
          text,
          option_table(unused),
          std::move(names)};
}

int bench_main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--floor-probe") {
    return floor_probe(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "--host-floor") {
    return host_floor_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "--place-rank") {
    return place_rank_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "compare") {
    return compare_main(argc - 1, argv + 1);
  }
  const bench_options o = read_command_line(argc, argv);
  if (o.help) {
    std::fputs(help_text(bench_page()).c_str(), stdout);
    return 0;
  }
  for (const std::string& sentence : settings::load_environment()) {
    std::fprintf(stderr, "sinew bench: %s\n", as_sentence(sentence).c_str());
  }
  return run_experiments(o);
}

}  // namespace sinew::tool
