// SPDX-License-Identifier: BSD-3-Clause
// MPI programs in virtual time: under `sinew simulate`, and under SimGrid's SMPI on the same torus.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "sinew/bench/experiment.hpp"
#include "sinew/bench/installed.hpp"

namespace sinew::tool {
namespace {

std::optional<subject> find_smpi() {
  const auto compiler = program_in_path("smpicc");
  const auto launcher = program_in_path("smpirun");
  if (!compiler || !launcher) {
    return std::nullopt;
  }
  return subject{"smpi", *compiler, *launcher, packaged_version(*launcher)};
}

void put_in(std::string& text, std::string_view word, const std::string& value) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    text.replace(at, word.size(), value);
    at += value.size();
  }
}

/// The torus `shape` ("8x8x4") as a platform of SimGrid, and the list of its hosts: files. Empty:
/// they cannot be written.
std::pair<std::string, std::string> smpi_files(const std::string& shape, int ranks) {
  const auto folder = programs_folder();
  const auto sources = bench_sources();
  if (!folder || !sources) {
    return {};
  }
  std::ostringstream text;
  text << std::ifstream(*sources + "/simulate/platform.xml").rdbuf();
  std::string torus = text.str();
  std::string sizes = shape;
  std::replace(sizes.begin(), sizes.end(), 'x', ',');
  put_in(torus, "SIZES", sizes);
  put_in(torus, "LAST", std::to_string(ranks - 1));
  const std::string stem = *folder + "/smpi-" + shape + "-" + std::to_string(ranks);
  std::ofstream platform(stem + ".xml");
  platform << torus;
  std::ofstream hosts(stem + ".hosts");
  for (int r = 0; r < ranks; ++r) {
    hosts << "node-" << r << '\n';
  }
  platform.close();
  hosts.close();
  return platform && hosts ? std::pair(stem + ".xml", stem + ".hosts")
                           : std::pair<std::string, std::string>();
}

// Where the times that ranks see are compared both have the platform's links alone, and 0.5 us of
// each end's own time: without the factors by which SMPI makes a cluster of 2012 of them, and
// without our adapters. Messages of up to 256 KiB leave before their receive is known, as ours do.
constexpr const char* smpi_speeds[] = {"--cfg=smpi/bw-factor:0:1",
                                       "--cfg=smpi/lat-factor:0:1",
                                       "--cfg=smpi/os:0:5e-7:0",
                                       "--cfg=smpi/ois:0:5e-7:0",
                                       "--cfg=smpi/or:0:5e-7:0",
                                       "--cfg=smpi/async-small-thresh:262144",
                                       "--cfg=smpi/send-is-detached-thresh:262144"};
constexpr const char* our_speeds = ",send=500,receive=500,latency=0,gap=0";

class simulated_runner final : public runner {
 public:
  [[nodiscard]] std::vector<subject> subjects(const experiment&, const machine&) const override {
    std::vector<subject> found;
    if (const auto ours = find_ours()) {
      found.push_back(*ours);
    }
    if (const auto peer = find_smpi()) {
      found.push_back(*peer);
    }
    return found;
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> absent(
      const experiment&) const override {
    if (find_smpi()) {
      return {};
    }
    return {{"smpi", "no smpicc and smpirun in PATH (Debian: libsimgrid-dev)"}};
  }
  [[nodiscard]] std::optional<command> prepare(const experiment& e, const subject& who,
                                               const start& how,
                                               std::string& failure) const override {
    const auto program = build_program(who, std::string(e.name), how.program, failure);
    if (!program) {
      return std::nullopt;
    }
    const std::string& shape = how.words.front();
    const std::string ranks = std::to_string(how.ranks);
    command run;
    run.timeout_s = 400;
    const auto [platform, hosts] = smpi_files(shape, how.ranks);
    if (platform.empty()) {
      failure = "SimGrid's platform cannot be written";
      return std::nullopt;
    }
    if (who.name == "smpi") {
      run.words = {who.launcher,
                   "-np",
                   ranks,
                   "-platform",
                   platform,
                   "-hostfile",
                   hosts,
                   "--cfg=smpi/simulate-computation:no",
                   "--log=root.thres:error"};
      if (!how.program.empty()) {
        run.words.insert(run.words.end(), std::begin(smpi_speeds), std::end(smpi_speeds));
      }
      run.words.push_back(*program);
    } else {
      const std::string network = how.program.empty() ? "torus:" + shape : platform + our_speeds;
      run.words = {who.launcher, "simulate", "--network", network, "-n", ranks, *program};
    }
    return run;
  }
};

}  // namespace

const runner& simulated_programs() {
  static const simulated_runner one;
  return one;
}

}  // namespace sinew::tool
