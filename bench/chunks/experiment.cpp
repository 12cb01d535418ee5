// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request& asked) {
  static constexpr const char* sizes[] = {"sizes=64k", "sizes=16k,64k,256k",
                                          "sizes=8k,16k,32k,64k,128k,256k,512k,1M"};
  static constexpr const char* steps[] = {"step=7", "step=1", "step=1"};
  std::vector<start> all;
  for (const char* nodes : {"nodes=512", "nodes=1024"}) {
    if (asked.how == effort::quick && !all.empty()) {
      break;
    }
    all.push_back(
        {1, {"route", "--measure", "chunks", nodes, asked.choose(sizes), asked.choose(steps)}});
  }
  // The published partition: seven of the experiments, each size a start of its own, which takes
  // minutes.
  if (asked.how == effort::full) {
    for (const char* size : {"sizes=8k", "sizes=16k", "sizes=32k", "sizes=64k", "sizes=128k",
                             "sizes=256k", "sizes=512k", "sizes=1M"}) {
      all.push_back({1, {"route", "--measure", "chunks", "nodes=2048", size, "step=15"}});
    }
  } else if (asked.how == effort::usual) {
    all.push_back({1, {"route", "--measure", "chunks", "nodes=2048", "sizes=64k", "step=45"}});
  }
  return all;
}

bool one_round(const request&) { return true; }

const experiment self{.name = "chunks",
                      .about = "a plan simulated with chunks of 8 KiB to 1 MiB; MB/s",
                      .by = own_commands(),
                      .starts = starts,
                      .one_round = one_round};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
