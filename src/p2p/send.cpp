#include <cstring>
#include <new>
#include <utility>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::p2p {

// The common case: to the fabric at once. False if that cannot be.
[[gnu::always_inline]] inline bool engine::state::try_eager(job_rank peer, fabric::header head,
                                                            const buffer& from, std::size_t bytes) {
  if (bytes > eager_limit || slow[peer.index()].get() != 0) [[unlikely]] {
    return false;
  }
  if (!from.type->dense()) [[unlikely]] {
    return try_packed(peer, head, from, bytes);
  }
  return bytes <= max_short ? net.send_short(peer, am_eager, head, from.base, bytes).done()
                            : net.send_medium(peer, am_eager, head, from.base, bytes).done();
}

// What does not fit a line is packed by attempt(), which keeps the packet if there is no slot.
bool engine::state::try_packed(job_rank peer, fabric::header head, const buffer& from,
                               std::size_t bytes) {
  if (bytes > max_short) {
    return false;
  }
  std::byte line[64];
  SINEW_ASSERT(bytes <= sizeof line);
  layout::pack(*from.type, from.count, from.base, 0, {line, bytes});
  return net.send_short(peer, am_eager, head, line, bytes).done();
}

bool engine::send_at_once(const core::communicator& comm, channel& in, const buffer& from,
                          comm_rank dest, message_tag tag) noexcept try {
  SINEW_EXPECT(is_channel_of(in, comm) && tag >= 0);
  const job_rank peer = comm.job_rank(dest);
  const std::size_t bytes = from.bytes();
  state& s = *state_;
  if (bytes > s.at_once_limit || !from.type->dense() || s.slow[peer.index()].get() != 0)
      [[unlikely]] {
    return false;
  }
  return s.net.send_short(peer, am_eager, make_header(in, tag, comm.rank()), from.base, bytes)
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
  if (how != mode::synchronous && s.try_eager(peer, head, from, bytes)) [[likely]] {
    return {};
  }
  return s.send_waiting(in, head, from, peer, how);
}

result engine::state::send_waiting(channel& in, fabric::header head, const buffer& from,
                                   job_rank peer, mode how) {
  operation* op = start_send(in, head, from, peer, how);
  rt.wait(*op);
  const result ended = op->outcome;
  give_back(op);
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
  if (how != mode::synchronous && s.try_eager(peer, head, from, bytes)) [[likely]] {
    return nullptr;
  }
  return s.start_send(in, head, from, peer, how);
}

// The data in one piece: where they are, or packed. Throws std::bad_alloc, and the operation is
// given back then.
void* engine::state::whole(operation& op, const buffer& from) {
  if (from.type->dense()) {
    return from.base;
  }
  const std::size_t bytes = from.bytes();
  op.packed.reset(new (std::nothrow) std::byte[bytes]);
  if (!op.packed) {
    give_back(&op);
    throw std::bad_alloc();
  }
  layout::pack(*from.type, from.count, from.base, 0, {op.packed.get(), bytes});
  return op.packed.get();
}

// A message that its receiver fetches. Throws as whole() does.
void engine::state::offer(operation& op, const buffer& from) {
  const std::size_t bytes = from.bytes();
  void* const at = whole(op, from);
  op.from.address = reinterpret_cast<std::uint64_t>(at);
  op.from.key = {};
  op.exposed = bytes != 0;
  if (op.exposed) {
    op.from.key = way_to(op.peer).expose(at, bytes);
  }
  op.todo = step::send_rts;
  op.handler = am_rts;
}

// How a message goes whose receive is not known: at once where that is allowed, else by an RTS.
step engine::state::first_step(job_rank peer, const buffer& from, mode how) const {
  const std::size_t bytes = from.bytes();
  if ((slow[peer.index()].get() & slow_bits::throttled) != 0) {
    return step::send_rts;
  }
  if (how == mode::synchronous) {
    return bytes + sizeof(std::uint64_t) <= eager_limit_to(peer) ? step::send_sync : step::send_rts;
  }
  return bytes <= eager_limit_to(peer)   ? step::send_eager
         : bytes <= whole_limit_to(peer) ? step::send_whole
         : can_push(peer, from)          ? step::announce
                                         : step::send_rts;
}

// A send that could not go at once: synchronous, long, throttled, or behind others.
operation* engine::state::start_send(channel& in, fabric::header head, const buffer& from,
                                     job_rank peer, mode how) {
  (void)state_of(peer);  // for submit(): here there is nothing to be undone yet
  if (in.away != nullptr && (slow[peer.index()].get() & slow_bits::tagged) != 0) [[unlikely]] {
    return start_tagged(in, head, from, peer, how);
  }
  operation* op = make(&in, from);
  op->head = head;
  op->peer = peer;
  op->outcome = {};
  op->exposed = false;
  op->withdrawing = false;
  const std::uint8_t why = slow[peer.index()].get();
  op->todo = first_step(peer, from, how);
  op->handler = op->todo == step::send_sync ? am_eager_sync : am_eager;
  if (op->todo == step::send_rts) {
    offer(*op, from);
  } else if (op->todo == step::send_whole || (op->todo == step::announce && !is_near(peer))) {
    (void)whole(*op, from);
  }
  if ((why & (slow_bits::observed | slow_bits::failing)) != 0) [[unlikely]] {
    if (end_failed(*op, peer)) {
      return op;
    }
    if ((why & slow_bits::observed) != 0) {
      tell_sent(*op);
    }
  }
  submit(*op);
  return op;
}

// In order of submission to each peer: behind its backlog if there is one. The attempt is made
// without the lock: a thread's own earlier sends are either gone or seen in the backlog, and
// between threads MPI promises no order.
void engine::state::submit(operation& op) {
  SINEW_EXPECT(op.todo != step::nothing);
  SINEW_EXPECT(op.peer.below(near_ranks + core::outside::room));
  peer_state* const known = peers.make(op.peer.index());
  if (known == nullptr) [[unlikely]] {
    base::out_of_memory("remembering a message to another rank");
  }
  peer_state& p = *known;
  const bool is_rts = op.todo == step::send_rts || op.todo == step::send_sync;
  bool clear = false;
  {
    base::guard held(flow_lock, threaded);
    p.rts_pending += is_rts ? 1 : 0;
    if (is_rts && outlives(op.peer)) [[unlikely]] {
      unanswered.push_back(&op);
    }
    clear = p.backlog == nullptr && !p.draining;
  }
  if (clear && attempt(op)) {
    return;
  }
  op.next = nullptr;
  base::guard held(flow_lock, threaded);
  SINEW_ASSERT(p.backlog == nullptr || p.backlog_last->next == nullptr);
  (p.backlog == nullptr ? p.backlog : p.backlog_last->next) = &op;
  p.backlog_last = &op;
  if ((slow[op.peer.index()].get() & slow_bits::backlogged) == 0) {
    slow[op.peer.index()].set(slow_bits::backlogged);
    p.rank = op.peer;
    p.next_listed = std::exchange(first_listed, &p);
    ++backlogged_peers;
    rt.want_chore(true);
  }
}

// Takes the next step of `op` if the fabric has room. After true the operation may be gone.
bool engine::state::attempt(operation& op) {
  const std::size_t bytes = op.data.bytes();
  switch (op.todo) {
    case step::send_eager:
    case step::send_sync: {
      const std::size_t prefix = op.todo == step::send_sync ? sizeof(std::uint64_t) : 0;
      if (way_to(op.peer).reserve(op.peer, op.parcel).retry()) {
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
      if (way_to(op.peer).commit(op.peer, op.handler, op.head, op.parcel, size).retry()) {
        return false;
      }
      if (!waits) {
        finish(op);
      }
      return true;
    }
    case step::send_whole: {
      const void* const data = op.packed ? op.packed.get() : op.data.base;
      if (way_to(op.peer).send_medium(op.peer, am_eager, op.head, data, bytes).retry()) {
        return false;
      }
      finish(op);
      return true;
    }
    case step::send_rts: {
      const rts o{reinterpret_cast<std::uint64_t>(&op), bytes, op.from};
      return way_to(op.peer).send_short(op.peer, am_rts, op.head, &o, sizeof o).done();
    }
    case step::announce:
    case step::push:
      return push(op);
    case step::control:
      if (way_to(op.peer).send_short(op.peer, op.handler, op.head, nullptr, 0).retry()) {
        return false;
      }
      give_back(&op);
      return true;
    case step::get: {
      op.owner = this;
      std::byte* to = op.packed ? op.packed.get() : static_cast<std::byte*>(op.data.base);
      const status s = way_to(op.peer).get(op.peer, to, op.from, op.outcome.bytes,
                                           {[](void* o) noexcept {
                                              auto& self = *static_cast<operation*>(o);
                                              self.owner->fetched(self);
                                            },
                                            &op});
      if (s.done()) {
        fetched(op);
      }
      return !s.retry();
    }
    case step::nothing:
      SINEW_ASSERT(false);  // submit() expects something
      break;
  }
  return true;
}

// A word to another rank, from inside a handler: at once, or from the backlog. What it tells of has
// happened, and its receiver waits.
void engine::state::send_control(job_rank peer, am what, fabric::header word) noexcept {
  if (!way_to(peer).send_short(peer, what, word, nullptr, 0).done()) [[unlikely]] {
    send_control_in_order(peer, what, word);
  }
}

// Behind what was submitted to that rank before. Without memory to remember it there is no way on.
void engine::state::send_control_in_order(job_rank peer, am what, fabric::header word) noexcept {
  operation* op = operations.get();
  if (op == nullptr) {
    base::out_of_memory("telling another rank what becomes of a message");
  }
  op->reset();
  op->in = nullptr;
  op->data = {nullptr, 0, plain_bytes};
  op->head = word;
  op->peer = peer;
  op->handler = what;
  op->todo = step::control;
  submit(*op);
}

// By the poller only, so nobody else takes from a backlog. Those that still find no room are listed
// again; meanwhile their bit tells others that they need not be.
int engine::state::retry_backlog() {
  peer_state* due = nullptr;
  {
    base::guard held(flow_lock, threaded);
    due = std::exchange(first_listed, nullptr);
  }
  int done = 0;
  while (due != nullptr) {
    peer_state& p = *due;
    due = p.next_listed;
    done += retry_backlog_of(p);
  }
  return done;
}

// An operation may be gone after a successful attempt: it leaves the backlog before, and goes back
// to its front if there was no room.
int engine::state::retry_backlog_of(peer_state& p) {
  for (int done = 0;; ++done) {
    operation* first = nullptr;
    {
      base::guard held(flow_lock, threaded);
      first = p.backlog;
      p.draining = first != nullptr;
      if (first == nullptr) {
        slow[p.rank.index()].clear(slow_bits::backlogged);
        SINEW_ASSERT(backlogged_peers > 0);
        if (--backlogged_peers == 0) {
          rt.want_chore(false);
        }
        return done;
      }
      p.backlog = first->next;
    }
    if (!attempt(*first)) {
      base::guard held(flow_lock, threaded);
      first->next = p.backlog;
      if (p.backlog == nullptr) {
        p.backlog_last = first;
      }
      p.backlog = first;
      p.draining = false;
      p.next_listed = std::exchange(first_listed, &p);
      return done;
    }
  }
}

}  // namespace sinew::p2p
