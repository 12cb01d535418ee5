// SPDX-License-Identifier: BSD-3-Clause
#include "coll/tuning.hpp"

#include "sinew/base/check.hpp"

namespace sinew::coll::tuning {

setting<std::int64_t> fan{
    "coll",
    "fan",
    0,
    "",
    "children per level of the trees that carry short messages; 0 means 2 if every rank can have "
    "a core of its own, else 32",
    {.least = 2, .most = 65536, .or_zero = true},
    setting_use::each_use_alike};
setting<std::int64_t> tree_bytes{
    "coll",
    "tree_bytes",
    8192,
    "bytes",
    "with more ranks than cores, allreduce and allgather of up to this size go through one rank",
    {.least = 0, .most = most_setting_bytes},
    setting_use::each_use_alike};
setting<std::int64_t> long_bcast{"coll",
                                 "long_bcast",
                                 256 << 10,
                                 "bytes",
                                 "broadcasts from this size are scattered and then gathered",
                                 {.least = 1, .most = most_setting_bytes},
                                 setting_use::each_use_alike};
setting<std::int64_t> long_reduce{
    "coll",
    "long_reduce",
    16 << 10,
    "bytes",
    "commutative reductions from this size are divided among the ranks",
    {.least = 1, .most = most_setting_bytes},
    setting_use::each_use_alike};
setting<std::int64_t> long_allgather{
    "coll",
    "long_allgather",
    32 << 10,
    "bytes",
    "allgathers whose result has at least this size exchange every block directly",
    {.least = 1, .most = most_setting_bytes},
    setting_use::each_use_alike};
setting<std::int64_t> short_alltoall{
    "coll",
    "short_alltoall",
    128,
    "bytes",
    "alltoalls of blocks up to this size are stored and forwarded in log2(ranks) rounds",
    {.least = 0, .most = most_setting_bytes},
    setting_use::each_use_alike};
setting<std::int64_t> many_ranks{"coll",
                                 "many_ranks",
                                 32,
                                 "ranks",
                                 "alltoalls are stored and forwarded from this many ranks on",
                                 {.least = 2, .most = 1 << 30},
                                 setting_use::each_use_alike};

setting<bool> levels{
    "coll", "levels", true, "",
    "collectives of ranks on several nodes go inside nodes over shared memory and "
    "between nodes by messages of one rank of each; nonblocking ones by messages everywhere"};
setting<std::int64_t> level_block{
    "coll",
    "level_block",
    4 << 10,
    "bytes",
    "between nodes a gather or scatter of blocks up to this size sends one message a node",
    {.least = 0, .most = 1 << 20},
    setting_use::each_use_alike};
setting<std::int64_t> level_alltoall{
    "coll",
    "level_alltoall",
    256,
    "bytes",
    "between nodes an alltoall of blocks up to this size sends one message for each pair of nodes",
    {.least = 0, .most = 1 << 20},
    setting_use::each_use_alike};

setting<bool> node{"coll", "node", true, "",
                   "collectives of ranks on one node go over shared memory, not by messages"};
setting<std::int64_t> node_direct{
    "coll",
    "node_direct",
    0,
    "bytes",
    "inside a node data of this size are read where they are, shorter ones copied aside; 0 means "
    "64k, but 8k between two ranks that can read each other's memory",
    {.least = 1, .most = most_setting_bytes, .or_zero = true}};
setting<std::int64_t> node_direct_one_way{
    "coll",
    "node_direct_one_way",
    0,
    "bytes",
    "the same where only the root sends or receives: bcast, gather, scatter; 0 means 4M, but 32k "
    "between two such ranks, and where there are more such ranks than cores never in a bcast, 64k "
    "in a gather and 128k in a scatter",
    {.least = 1, .most = most_setting_bytes, .or_zero = true}};
setting<std::int64_t> node_direct_reduce{"coll",
                                         "node_direct_reduce",
                                         0,
                                         "bytes",
                                         "the same of a reduction, by the length of its vectors; 0 "
                                         "means 32k where two such ranks both want results, never "
                                         "where one of them does or ranks are more than cores, "
                                         "else 4M",
                                         {.least = 1, .most = most_setting_bytes, .or_zero = true}};
setting<std::int64_t> node_block{
    "coll",
    "node_block",
    0,
    "bytes",
    "inside a node allgather, alltoall, gather and scatter of blocks of this size go by messages; "
    "0 means none if it is two such ranks, else 16k if every rank can have a core of its own; if "
    "not, 128k in allgather and alltoall, and none in gather and scatter of such ranks",
    {.least = 1, .most = most_setting_bytes, .or_zero = true},
    setting_use::each_use_alike};
setting<std::int64_t> node_read{
    "coll",
    "node_read",
    8 << 10,
    "bytes",
    "inside a node nonblocking collectives of blocks longer than this, up to 1M, read them where "
    "they are in the other ranks' memory, if the system allows that; the others of more than 1k go "
    "by messages, but for those of more ranks that have room in the node's memory",
    {.least = 0, .most = most_setting_bytes},
    setting_use::each_use_alike};
setting<std::int64_t> node_shared{
    "coll",
    "node_shared",
    8 << 10,
    "bytes",
    "inside a node reductions of this size (over all ranks together) are divided among the ranks",
    {.least = 1, .most = most_setting_bytes}};

namespace {
constexpr int crowded_fan = 32;
// Two ranks with processors of their own, line's trip 60 ns: messages take half the time from here.
constexpr std::size_t block_by_message = std::size_t{16} << 10;
// Four ranks on two processors: level from here to four times as much, then messages.
constexpr std::size_t crowded_block_by_message = std::size_t{128} << 10;
}  // namespace

bool crowded(core::runtime& rt) {
  if (fan() != 0) {
    return fan() > 2;
  }
  return rt.crowded_at_start();
}

int fan_of(bool are_crowded) {
  SINEW_ENSURE(fan() == 0 || fan() >= 2);
  return fan() != 0 ? static_cast<int>(fan()) : are_crowded ? crowded_fan : 2;
}

int short_fan(core::runtime& rt, bool spans_jobs) { return fan_of(!spans_jobs && crowded(rt)); }

std::size_t block_on_node() {
  SINEW_ENSURE(node_block() >= 0);
  return static_cast<std::size_t>(node_block());
}

std::size_t usual_block_on_node(core::runtime& rt) {
  return crowded(rt) ? crowded_block_by_message : block_by_message;
}

}  // namespace sinew::coll::tuning
