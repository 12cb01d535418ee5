// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/shm/layout.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "fabric/tuning.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fabric {
namespace shm {
namespace {

constexpr std::uint64_t layout_version = 3;
constexpr std::uint32_t most_slots = 256;
static_assert(most_slots <= slot_word::ack_mask, "an acknowledgement names any slot of a ring");
static_assert(most_packets < 1 << 20 && max_local_ranks < 1 << 20, "fields of the signature");

std::size_t page_up(std::size_t n) { return (n + page_bytes - 1) / page_bytes * page_bytes; }

std::uint32_t slots_for(int local_size) {
  // A receiver's rings together stay near 1 MiB, however many ranks share the node.
  const auto share = static_cast<std::uint32_t>(16384 / local_size);
  return std::bit_floor(std::clamp(share, 16u, most_slots));
}

std::uint32_t packets_for(int local_size, std::int64_t wanted) {
  const std::int64_t share = std::max<std::int64_t>(32, wanted * 8 / std::max(8, local_size));
  return static_cast<std::uint32_t>(std::min(wanted, share));
}

}  // namespace

part_layout::part_layout(int local_size, int started) {
  SINEW_CHECK(local_size >= 1 && local_size <= max_local_ranks,
              "cannot share memory among " + std::to_string(local_size) + " ranks of one node",
              "the limit is " + std::to_string(max_local_ranks), "start fewer ranks on this node");
  const std::int64_t wanted = current_tuning().packets;
  SINEW_ASSERT(wanted >= least_packets && wanted <= most_packets);
  SINEW_EXPECT(started >= 0 && started <= local_size);
  const auto ranks = static_cast<std::size_t>(local_size);
  const int tuned_for = started == 0 ? local_size : started;
  slots = slots_for(tuned_for);
  packets = packets_for(tuned_for, wanted);
  tickets_at = page_up(sizeof(control));
  credits_at = tickets_at + page_up(sizeof(ticket) * tickets_per_rank);
  rings_at = credits_at + page_up(sizeof(credit) * ranks);
  packets_at = rings_at + page_up(sizeof(slot) * slots * ranks);
  bytes = packets_at + page_up(packet_stride * packets);
  signature = (layout_version << 56) | (std::uint64_t{slots} << 40) |
              (std::uint64_t{packets} << 20) | ranks;
  SINEW_ENSURE(std::has_single_bit(slots) && packets >= least_packets && packets <= wanted);
  SINEW_ENSURE(rings_at % page_bytes == 0 && packets_at % page_bytes == 0 && bytes > packets_at);
}

}  // namespace shm

std::size_t shm_bytes_per_rank(int local_size, int started) {
  return shm::part_layout(local_size, started).bytes;
}

}  // namespace sinew::fabric
