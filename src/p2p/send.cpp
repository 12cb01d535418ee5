// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/send.hpp"

#include <cstring>
#include <new>

#include "p2p/backlog.hpp"
#include "p2p/failures.hpp"
#include "p2p/observe.hpp"
#include "p2p/peers.hpp"
#include "p2p/receive.hpp"
#include "p2p/state.hpp"
#include "p2p/tagged.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::p2p {

bool engine::send_at_once(const core::communicator& comm, channel& in, const buffer& from,
                          comm_rank dest, message_tag tag) noexcept try {
  SINEW_EXPECT(is_channel_of(in, comm) && tag >= 0);
  const job_rank peer = comm.job_rank(dest);
  const std::size_t bytes = from.bytes();
  const peer_table& peers = state_->peers;
  if (!peers.takes_line(peer, from, bytes)) [[unlikely]] {
    return false;
  }
  return peers.network()
      .send_short(peer, am_eager, make_header(in, tag, comm.rank()), from.base, bytes)
      .done();
} catch (...) {
  return false;  // the other way meets it again, and can say so
}

result engine::send(const core::communicator& comm, channel& in, const buffer& from, comm_rank dest,
                    message_tag tag, mode how) {
  if (dest == no_rank) {
    return {};
  }
  SINEW_EXPECT(is_channel_of(in, comm) && tag >= 0);
  const job_rank peer = comm.job_rank(dest);
  const fabric::header head = make_header(in, tag, comm.rank());
  state& s = *state_;
  const std::size_t bytes = from.bytes();
  if (how != mode::synchronous && s.peers.send_eager(peer, head, from, bytes)) [[likely]] {
    return {};
  }
  return s.sends.finish(in, head, from, peer, how);
}

result sender::finish(channel& in, fabric::header head, const buffer& from, job_rank peer,
                      mode how) {
  operation* op = start(in, head, from, peer, how);
  all_.rt.wait(*op);
  const result ended = op->outcome;
  all_.operations.give_back(op);
  return ended;
}

request* engine::isend(const core::communicator& comm, channel& in, const buffer& from,
                       comm_rank dest, message_tag tag, mode how) {
  if (dest == no_rank) {
    return nullptr;
  }
  SINEW_EXPECT(is_channel_of(in, comm) && tag >= 0);
  const job_rank peer = comm.job_rank(dest);
  const fabric::header head = make_header(in, tag, comm.rank());
  state& s = *state_;
  const std::size_t bytes = from.bytes();
  if (how != mode::synchronous && s.peers.send_eager(peer, head, from, bytes)) [[likely]] {
    return nullptr;
  }
  return s.sends.start(in, head, from, peer, how);
}

void engine::send_fault(const core::communicator& comm, channel& in, fault why, comm_rank dest,
                        message_tag tag) noexcept {
  SINEW_EXPECT(is_channel_of(in, comm) && in.away == nullptr && why != fault::none && tag >= 0);
  fabric::header head = make_header(in, tag, comm.rank());
  head.word[0] |= static_cast<std::uint64_t>(why) << 32;
  state_->sends.control_in_order(comm.job_rank(dest), am_fault, head);
}

// A message that its receiver fetches. Throws as operation_pool::whole() does.
void sender::offer(operation& op, const buffer& from) {
  const std::size_t bytes = from.bytes();
  void* const at = all_.operations.whole(op, from);
  op.from.address = reinterpret_cast<std::uint64_t>(at);
  op.from.key = {};
  op.exposed = bytes != 0;
  if (op.exposed) {
    op.from.key = all_.peers.endpoint_to(op.peer).expose(at, bytes);
  }
  op.todo = step::send_rts;
  op.handler = am_rts;
}

// How a message goes whose receive is not known: at once where that is allowed, else by an RTS.
step sender::first_step(job_rank peer, const buffer& from, mode how) const {
  const std::size_t bytes = from.bytes();
  if ((all_.peers.slow(peer).get() & slow_bits::throttled) != 0) {
    return step::send_rts;
  }
  if (how == mode::synchronous) {
    return bytes + sizeof(std::uint64_t) <= all_.peers.eager_limit_to(peer) ? step::send_sync
                                                                            : step::send_rts;
  }
  return bytes <= all_.peers.eager_limit_to(peer)   ? step::send_eager
         : bytes <= all_.peers.whole_limit_to(peer) ? step::send_whole
         : all_.peers.can_push(peer, from)          ? step::announce
                                                    : step::send_rts;
}

operation* sender::start(channel& in, fabric::header head, const buffer& from, job_rank peer,
                         mode how) {
  if (!all_.waiting.know(peer)) {  // for submit(): here there is nothing to be undone yet
    throw std::bad_alloc();
  }
  const std::uint8_t why = all_.peers.slow(peer).get();
  if (in.away != nullptr && (why & slow_bits::tagged) != 0) [[unlikely]] {
    return all_.network.start_send(in, head, from, peer, how);
  }
  operation* op = all_.operations.make(&in, from);
  op->head = head;
  if ((why & slow_bits::kinds) != 0 && channel_table::is_of_program(in.context)) [[unlikely]] {
    say_kinds(op->head, layout::kinds_in(*from.type, from.count, from.bytes()));
  }
  op->peer = peer;
  op->outcome = {};
  op->exposed = false;
  op->withdrawing = false;
  op->todo = first_step(peer, from, how);
  op->handler = op->todo == step::send_sync ? am_eager_sync : am_eager;
  if (op->todo == step::send_rts) {
    offer(*op, from);
  } else if (op->todo == step::send_whole ||
             (op->todo == step::announce && !all_.peers.is_near(peer))) {
    (void)all_.operations.whole(*op, from);
  }
  if ((why & (slow_bits::observed | slow_bits::failing)) != 0) [[unlikely]] {
    if (all_.failures.end_failed(*op, peer)) {
      return op;
    }
    if ((why & slow_bits::observed) != 0) {
      all_.observers.tell_sent(*op, true);
    }
  }
  all_.waiting.submit(*op);
  return op;
}

bool sender::attempt(operation& op) {
  const std::size_t bytes = op.data.bytes();
  fabric::endpoint& way = all_.peers.endpoint_to(op.peer);
  switch (op.todo) {
    case step::send_eager:
    case step::send_sync: {
      const std::size_t prefix = op.todo == step::send_sync ? sizeof(std::uint64_t) : 0;
      if (way.reserve(op.peer, op.parcel).retry()) {
        return false;
      }
      const auto self = reinterpret_cast<std::uint64_t>(&op);
      std::memcpy(op.parcel.data, &self, prefix);
      layout::pack(*op.data.type, op.data.count, op.data.base, 0, {op.parcel.data + prefix, bytes});
      op.todo = step::commit_packet;
      [[fallthrough]];
    }
    case step::commit_packet: {
      const bool waits = op.handler == am_eager_sync;
      const std::size_t size = bytes + (waits ? sizeof(std::uint64_t) : 0);
      if (way.commit(op.peer, op.handler, op.head, op.parcel, size).retry()) {
        return false;
      }
      if (!waits) {
        all_.operations.finish(op);
      }
      return true;
    }
    case step::send_whole: {
      const void* const data = op.packed ? op.packed.get() : op.data.base;
      if (way.send_medium(op.peer, am_eager, op.head, data, bytes).retry()) {
        return false;
      }
      all_.operations.finish(op);
      return true;
    }
    case step::send_rts: {
      const rts o{reinterpret_cast<std::uint64_t>(&op), bytes, op.from};
      return way.send_short(op.peer, am_rts, op.head, &o, sizeof o).done();
    }
    case step::announce:
    case step::push:
      return push(op);
    case step::control:
      if (way.send_short(op.peer, op.handler, op.head, nullptr, 0).retry()) {
        return false;
      }
      all_.operations.give_back(&op);
      return true;
    case step::get: {
      std::byte* to = op.packed ? op.packed.get() : static_cast<std::byte*>(op.data.base);
      const status s = way.get(op.peer, to, op.from, op.outcome.bytes,
                               {[](void* o) noexcept {
                                  auto& self = *static_cast<operation*>(o);
                                  self.fetches->fetched(self);
                                },
                                &op});
      if (s.done()) {
        op.fetches->fetched(op);
      }
      return !s.retry();
    }
    case step::nothing:
      SINEW_ASSERT(false);  // submit() expects something
      break;
  }
  return true;
}

void sender::control(job_rank peer, am what, fabric::header word) noexcept {
  if (!all_.peers.endpoint_to(peer).send_short(peer, what, word, nullptr, 0).done()) [[unlikely]] {
    control_in_order(peer, what, word);
  }
}

void sender::control_in_order(job_rank peer, am what, fabric::header word) noexcept {
  operation* op = all_.operations.make_word();
  if (op == nullptr) {
    base::out_of_memory("telling another rank what becomes of a message");
  }
  op->head = word;
  op->peer = peer;
  op->handler = what;
  all_.waiting.submit(*op);
}

void sender::arrived_matched(const fabric::arrival& a) noexcept {
  auto& op = *reinterpret_cast<operation*>(a.head.word[0]);
  if (!all_.waiting.answered(op, a.source)) {
    return;
  }
  SINEW_EXPECT(!op.done() && op.peer == a.source);
  if (op.exposed) {
    all_.peers.endpoint_to(a.source).withdraw(op.from.key);
  }
  op.packed.reset();
  op.outcome.error = a.head.word[1] == 0 ? fault::none : fault::cancelled;
  all_.operations.finish(op);
}

}  // namespace sinew::p2p
