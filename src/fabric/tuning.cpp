// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/tuning.hpp"

#include <string>

#include "sinew/base/settings.hpp"
#include "sinew/fabric/disturbed.hpp"
#include "sinew/fabric/network.hpp"

namespace sinew::fabric {
namespace {

setting<std::int64_t> packets(
    "fabric", "packets", 256, "count",
    "8-KiB packets that each rank holds for messages under way (fewer where a node has more than "
    "8 ranks)",
    {.least = least_packets, .most = most_packets});
setting<std::int64_t> stream_limit(
    "fabric", "stream_limit", std::int64_t{32} << 10, "bytes",
    "up to this size a get is always streamed through shared packets; above it only while the "
    "processors are near each other, else both sides copy by process_vm_readv/writev",
    {.least = 0, .most = most_setting_bytes});
setting<std::string> cma("fabric", "cma", "auto", "",
                         "copy between processes by process_vm_readv/writev", "auto|off");

setting<std::int64_t> nodes(
    "fabric", "nodes", 0, "count",
    "pretend that the ranks of this node are on so many nodes, in blocks: between blocks messages "
    "go over the network's back-end, to try it on one machine (0: do not pretend)",
    {.least = 0, .most = 65536});

setting<std::string> matching(
    "net", "matching", "off", "",
    "messages between hosts are matched by the network adapter: where UCX reports that it can "
    "(auto), or by UCX if it cannot (on)",
    "off|auto|on");

setting<bool> batch(
    "net", "batch", true, "",
    "short messages that follow each other to one rank of another host go together; each by itself "
    "if not. Only where several threads may call, or a helper makes progress");

setting<std::int64_t> disturb_seed(
    "fabric", "disturb", 0, "seed",
    "delay messages and refuse calls at random, as far as the contract allows, to test what is "
    "above (0: do not)",
    {.least = 0, .most = std::int64_t{1} << 62});

}  // namespace

pairing wanted_pairing() {
  const std::string wanted = matching();
  return wanted == "auto" ? pairing::by_adapter
         : wanted == "on" ? pairing::by_library
                          : pairing::none;
}

bool wants_batches() { return batch(); }

std::uint64_t disturbance_seed() { return static_cast<std::uint64_t>(disturb_seed()); }

int pretended_nodes() { return nodes() > 1 ? static_cast<int>(nodes()) : 0; }

tuning current_tuning() { return {packets(), stream_limit(), cma() != "off"}; }

}  // namespace sinew::fabric
