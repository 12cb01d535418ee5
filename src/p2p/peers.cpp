// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/peers.hpp"

#include <string>

#include "sinew/base/settings.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/layout/datatype.hpp"

namespace sinew::p2p {
namespace {

setting<std::int64_t> eager_bytes(
    "p2p", "eager_limit", 8192, "bytes",
    "longest message sent in one packet before its receive is known; a packet holds 8k, so larger "
    "values mean 8k",
    {.least = 0, .most = most_setting_bytes});
setting<std::int64_t> push_bytes(
    "p2p", "push_limit", std::int64_t{128} << 10, "bytes",
    "longer messages up to this size are sent in pieces before their receive is known, where the "
    "processors are near each other",
    {.least = 0, .most = most_setting_bytes});
// Between nodes a get takes a round trip more, and a piece is a message of the network.
setting<std::int64_t> net_eager_bytes(
    "p2p", "net_eager_limit", std::int64_t{64} << 10, "bytes",
    "longest message to a rank of another node that is sent at once, before its receive is known; "
    "the network carries 64k in one message, so larger values mean 64k",
    {.least = 0, .most = most_setting_bytes});
setting<std::int64_t> net_push_bytes(
    "p2p", "net_push_limit", std::int64_t{256} << 10, "bytes",
    "longer messages to ranks of other nodes, up to this size, are sent in pieces before their "
    "receive is known",
    {.least = 0, .most = most_setting_bytes});

}  // namespace

peer_table::peer_table(core::runtime& rt)
    : net_(rt.endpoint()),
      where_(rt.session().where()),
      self_(rt.rank()),
      near_ranks_(rt.reach()),
      survives_(rt.session().survivors() != nullptr),
      max_short_(net_.bounds().max_short),
      eager_limit_(std::min(static_cast<std::size_t>(eager_bytes()), net_.bounds().max_medium)),
      at_once_limit_(std::min(max_short_, eager_limit_)),
      push_limit_(static_cast<std::size_t>(push_bytes())),
      net_eager_limit_(static_cast<std::size_t>(net_eager_bytes())),
      net_push_limit_(static_cast<std::size_t>(net_push_bytes())),
      slow_(std::make_unique<slow_bits[]>(static_cast<std::size_t>(size()))) {
  SINEW_CHECK(sizeof(rts) <= max_short_ && max_short_ <= net_.bounds().max_medium,
              "this network cannot carry messages",
              "an RTS takes " + std::to_string(sizeof(rts)) + " bytes and a line has " +
                  std::to_string(max_short_),
              "use another back-end");
  SINEW_ENSURE(at_once_limit_ <= eager_limit_ && eager_limit_ <= net_.bounds().max_medium);
}

// What does not fit a line is packed by the sender, which keeps the packet if there is no slot.
bool peer_table::send_packed(job_rank peer, fabric::header head, const buffer& from,
                             std::size_t bytes) {
  if (bytes > max_short_) {
    return false;
  }
  std::byte line[64];
  SINEW_ASSERT(bytes <= sizeof line);
  layout::pack(*from.type, from.count, from.base, 0, {line, bytes});
  return net_.send_short(peer, am_eager, head, line, bytes).done();
}

bool peer_table::can_push(job_rank peer, const buffer& from) const {
  const std::size_t bytes = from.bytes();
  if (peer == self_ || push_limit_ == 0) {
    return false;
  }
  if (!is_near(peer)) {
    return bytes <= net_push_limit_;
  }
  return from.type->dense() ? bytes <= push_limit_ && endpoint_to(peer).streams_to(peer)
                            : bytes <= std::max(push_limit_, most_with_gaps);
}

void peer_table::arrived_throttle(const fabric::arrival& a) noexcept {
  if (a.head.word[0] != 0) {
    slow(a.source).set(slow_bits::throttled);
  } else {
    slow(a.source).clear(slow_bits::throttled);
  }
}

void peer_table::tell_kinds() noexcept {
  for (job_rank r = 0; r.below(near_ranks_); ++r) {
    slow(r).set(slow_bits::kinds);
  }
}

void peer_table::open_strangers(fabric::endpoint& far) noexcept {
  SINEW_EXPECT(!has_strangers());
  for (job_rank r{near_ranks_}; r.below(size()); ++r) {
    slow(r).set(slow_bits::stranger);
  }
  far_.store(&far, std::memory_order_release);
}

void peer_table::set_handler(fabric::handler_id id, fabric::handler h, void* context) {
  net_.set_handler(id, h, context);
  if (fabric::endpoint* const f = far_.load(std::memory_order_acquire); f != nullptr) {
    f->set_handler(id, h, context);
  }
}

}  // namespace sinew::p2p
