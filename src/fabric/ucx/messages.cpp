// SPDX-License-Identifier: BSD-3-Clause
// Active messages: numbered by the sender, put in order by the receiver, bounded by a window.
#include <algorithm>
#include <cstring>

#include "fabric/ucx/endpoint.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::fabric::ucx {

status ucx_endpoint::refuse(retry_reason why) noexcept {
  refused_ = true;
  return status::again(why);
}

status ucx_endpoint::send_short(job_rank peer, handler_id id, header head, const void* data,
                                std::size_t size) {
  SINEW_EXPECT(size <= max_short_bytes);
  return send(peer, id, head, data, size, nullptr);
}

status ucx_endpoint::send_medium(job_rank peer, handler_id id, header head, const void* data,
                                 std::size_t size) {
  SINEW_EXPECT(size <= max_long_bytes);
  return send(peer, id, head, data, size, nullptr);
}

status ucx_endpoint::send_lazily(job_rank peer, handler_id id, header head, const void* data,
                                 std::size_t size) {
  SINEW_EXPECT(size <= max_long_bytes);
  return send(peer, id, head, data, size, nullptr, true);
}

status ucx_endpoint::reserve(job_rank to, packet& out) {
  const guard held(*this);
  peer& p = peer_of(to);
  if (!p.has_room(max_medium_bytes)) {
    return refuse(retry_reason::no_slot);
  }
  outgoing* const o = take_packet();
  if (o == nullptr) {
    return refuse(retry_reason::no_packet);
  }
  out = {o->data, o->room, reinterpret_cast<std::uintptr_t>(o)};
  return status::ok();
}

status ucx_endpoint::commit(job_rank peer, handler_id id, header head, packet& filled,
                            std::size_t size) {
  SINEW_EXPECT(filled.token != 0 && size <= filled.capacity);
  auto* const o = reinterpret_cast<outgoing*>(filled.token);
  const status outcome = send(peer, id, head, o->data, size, o);
  if (outcome.done()) {
    filled = {};
  }
  return outcome;
}

/// `filled`: the caller's packet, with the data in it; null: the data is to be copied.
status ucx_endpoint::send(job_rank to, handler_id id, header head, const void* data,
                          std::size_t size, outgoing* filled, bool lazily) {
  SINEW_EXPECT(id < max_handlers && size <= max_long_bytes);
  const guard held(*this);
  peer& p = peer_of(to);
  const bool waits = batches_ && (lazily || may_wait(p));
  if (filled == nullptr && size <= (lazily ? most_gathered_bytes : most_batched_bytes) &&
      to != rank_ && (waits || p.batch != nullptr)) {
    const status taken = add_to_batch(p, id, head, data, size);
    if (!waits && taken.done()) {
      send_batch(p);
      ++p.alone;
    }
    return taken;
  }
  send_batch(p);
  if (!p.has_room(size)) {
    return refuse(retry_reason::no_slot);
  }
  if (to == rank_) {
    send_to_self(p, id, head, data, size);
    if (filled != nullptr) {
      packets_.give_back(filled);
    }
    return status::ok();
  }
  if (batches_) {
    list_recent(p);
    ++p.alone;
  }
  outgoing* const o = filled != nullptr ? filled : take_packet(size);
  if (o == nullptr) {
    return refuse(retry_reason::no_packet);
  }
  wire& w = o->head() = {};
  w.number = p.sent;
  w.what = kind::message;
  w.id = id;
  w.head = head;
  p.sent += places_of(size);
  if (filled == nullptr && size != 0) {
    std::memcpy(o->data, data, size);
  }
  post(p, *o, o->data, size, true);
  SINEW_ENSURE(p.sent - p.acknowledged <= window);
  return status::ok();
}

/// A message of this rank to itself: it goes round UCX.
void ucx_endpoint::send_to_self(peer& self, handler_id id, header head, const void* data,
                                std::size_t size) {
  SINEW_EXPECT(self.rank == rank_);
  incoming* const r = records_.take(size, SIZE_MAX);
  r->head = {};
  r->head.source = static_cast<std::uint32_t>(rank_.value());
  r->head.number = self.sent;
  r->head.what = kind::message;
  r->head.id = id;
  r->head.head = head;
  self.sent += places_of(size);
  r->size = size;
  if (size != 0) {
    std::memcpy(r->data, data, size);
  }
  arrived_.append(r);
  if (asleep_) {
    wake();
  }
}

/// From inside UCX: copies it out. Its turn comes in progress(), without the lock.
void ucx_endpoint::arrived_message(const delivery& d) {
  if (d.rendezvous || d.bytes > max_long_bytes || d.head.id >= max_handlers) [[unlikely]] {
    corrupt_peer(job_rank::of_index(d.head.source), "a message over the network is too long",
                 d.bytes);
  }
  incoming* const r = records_.take(d.bytes, SIZE_MAX);  // the senders' windows bound them
  r->head = d.head;
  r->size = d.bytes;
  r->handled = 0;
  if (d.bytes != 0) {
    std::memcpy(r->data, d.data, d.bytes);
  }
  arrived_.append(r);
}

/// Puts what has arrived into its sender's order.
void ucx_endpoint::sort(chain<incoming> news) {
  while (incoming* const r = news.take_first()) {
    peer& from = *peers_[r->head.source];
    incoming*& place = from.place_of(r->head.number);
    if (r->head.number - from.expected > window - places_of(r->size) || place != nullptr)
        [[unlikely]] {
      corrupt_peer(from.rank, "a message over the network has a number that is not due",
                   r->head.number);
    }
    place = r;
    if (!from.listed && from.has_next()) {
      from.listed = true;
      ready_.push_back(&from);
    }
  }
}

/// Handles at most `budget` messages. Who has none left leaves the list; who used the budget up, or
/// was refused, goes behind the others.
int ucx_endpoint::handle(int budget) {
  int handled = 0;
  std::size_t left = ready_.size();
  for (std::size_t i = 0; i < left && handled < budget; ++i) {
    peer& from = *ready_[i];
    SINEW_ASSERT(from.listed && from.has_next());
    while (handled < budget && from.has_next() && handle_next(from)) {
      ++handled;
    }
    from.listed = from.has_next();
  }
  std::erase_if(ready_, [](const peer* p) { return !p->listed; });
  if (handled >= budget && ready_.size() > 1) {
    std::rotate(ready_.begin(), ready_.begin() + 1, ready_.end());
  }
  SINEW_ENSURE(handled <= budget);
  return handled;
}

/// False: its handler has refused it, and it stays the next.
bool ucx_endpoint::handle_next(peer& from) {
  incoming*& place = from.place_of(from.expected);
  incoming* const r = place;
  if (r->head.what == kind::batch) {
    if (!handle_item(from, *r)) {
      return false;
    }
    if (r->handled != r->size) {
      return true;  // it stays the next, with those that are left
    }
  } else {
    const service& e = handlers_[r->head.id];
    if (!e.function(e.context, arrival{from.rank, r->head.head, r->data, r->size}).done()) {
      return false;
    }
  }
  place = nullptr;
  from.expected += places_of(r->size);
  used_.append(r);
  from.consumed.store(from.expected, std::memory_order_relaxed);
  if (from.rank == rank_) {
    const guard held(*this, who::poller);
    from.acknowledged = from.expected;
    news_ = news_ || refused_;
  } else if (among_jobs() || from.unreported() >= window / 4) {
    const guard held(*this, who::poller);
    report_to(from);
    report_now_ = true;
  }
  return true;
}

}  // namespace sinew::fabric::ucx
