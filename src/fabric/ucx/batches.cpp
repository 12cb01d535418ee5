// SPDX-License-Identifier: BSD-3-Clause
// Short messages that follow each other to one rank go as one message of UCX, which over tcp costs
// some 10 us whatever it holds. Gathered is what may wait (send_lazily), what is sent after several
// messages have come at once, and what comes after the first few that went since the last
// progress(). It goes with the next message that does not wait, when the batch is full, with the
// next progress(), or by the flusher if the sender computes.
#include <cstring>
#include <utility>

#include "fabric/ucx/endpoint.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::fabric::ucx {
namespace {

/// So many go by themselves: who sends one or two and waits for the answer gains nothing from
/// gathering.
constexpr std::uint32_t alone_first = 2;

/// In front of each message of a batch, whose data follow, up to a multiple of its alignment.
struct item {
  header head;
  std::uint16_t size;
  handler_id id;
  std::uint8_t nothing[5];

  [[nodiscard]] static constexpr std::size_t bytes_with(std::size_t size) noexcept {
    return sizeof(item) + (size + alignof(item) - 1) / alignof(item) * alignof(item);
  }
};
static_assert(std::is_trivially_copyable_v<item> && sizeof(item) == 24);
static_assert(item::bytes_with(most_gathered_bytes) + item::bytes_with(most_batched_bytes) <=
              max_medium_bytes);

}  // namespace

/// Whether a message whose sender wants it to go waits all the same, for it will not be the last.
bool ucx_endpoint::may_wait(const peer& to) const noexcept {
  return to.alone >= alone_first || many_came_.load(std::memory_order_relaxed);
}

void ucx_endpoint::list_recent(peer& to) {
  if (!to.recent) {
    recent_.push_back(&to);
    to.recent = true;
  }
}

status ucx_endpoint::add_to_batch(peer& to, handler_id id, header head, const void* data,
                                  std::size_t size) {
  SINEW_EXPECT(batches_ && size <= most_gathered_bytes && to.rank != rank_);
  const std::size_t bytes = item::bytes_with(size);
  if (to.batch != nullptr && to.batch->filled + bytes > to.batch->room) {
    send_batch(to);
  }
  bool alone = false;
  if (to.batch == nullptr) {
    if (!to.has_room(0)) {
      return refuse(retry_reason::no_slot);
    }
    outgoing* const fresh = take_packet();
    if (fresh == nullptr) {
      return refuse(retry_reason::no_packet);
    }
    fresh->head() = {};
    fresh->head().what = kind::batch;
    fresh->filled = 0;
    list_recent(to);
    to.batch = fresh;
    alone = open_batches_++ == 0 && !flusher_.call();
  }
  std::byte* const at = to.batch->data + to.batch->filled;
  const item front{head, static_cast<std::uint16_t>(size), id, {}};
  std::memcpy(at, &front, sizeof front);
  if (size != 0) {
    std::memcpy(at + sizeof front, data, size);
  }
  to.batch->filled += bytes;
  if (alone) {
    send_batch(to);
  }
  return status::ok();
}

/// Its number is given now: room for it was seen when it was begun, and nothing overtakes it.
void ucx_endpoint::send_batch(peer& to) {
  outgoing* const o = std::exchange(to.batch, nullptr);
  if (o != nullptr) {
    SINEW_EXPECT(o->filled != 0 && open_batches_ != 0);
    --open_batches_;
    o->head().number = to.sent++;
    post(to, *o, o->data, o->filled, true);
    SINEW_ENSURE(to.sent - to.acknowledged <= window);
  }
}

void ucx_endpoint::send_batches() {
  for (peer* const p : recent_) {
    send_batch(*p);
    p->recent = false;
    p->alone = 0;
  }
  recent_.clear();
}

void ucx_endpoint::flush_batches(void* self) noexcept {
  auto& me = *static_cast<ucx_endpoint*>(self);
  const guard held(me);
  base::must_have_memory("sending messages to another node", [&] { me.send_batches(); });
}

/// Hands the next message of a batch to its handler; false: that has refused it.
bool ucx_endpoint::handle_item(const peer& from, incoming& batch) {
  const std::size_t left = batch.size - batch.handled;
  const auto* const front = reinterpret_cast<const item*>(batch.data + batch.handled);
  if (left < sizeof(item) || left < item::bytes_with(front->size) || front->id >= max_handlers)
      [[unlikely]] {
    corrupt_peer(from.rank, "a batch of messages over the network is cut short", left);
  }
  const service& e = handlers_[front->id];
  const arrival one{from.rank, front->head, batch.data + batch.handled + sizeof(item), front->size};
  if (!e.function(e.context, one).done()) {
    return false;
  }
  batch.handled += item::bytes_with(front->size);
  return true;
}

}  // namespace sinew::fabric::ucx
