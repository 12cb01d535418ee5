// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/shm/one_sided.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fabric/shm/cma.hpp"
#include "fabric/tuning.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/base/log.hpp"
#include "sinew/fabric/atomics.hpp"

namespace sinew::fabric::shm {
namespace {

constexpr std::uint64_t key_private = 1;
constexpr std::uint64_t key_node = 2;

/// Sizes found by bench/fabric; see README.md.
constexpr std::size_t stream_chunk = max_medium_bytes;
constexpr std::uint64_t stream_portion = 64 << 10;
/// While both copy through the kernel, the source still streams a piece now and then, to see
/// whether that has become the better way.
constexpr unsigned serves_per_probe = 32;
constexpr std::uint64_t probe_portion = 32 << 10;
constexpr int stream_chunks_per_step = 8;
constexpr std::uint64_t cma_chunk = 256 << 10;
constexpr std::uint64_t least_cma_chunk = 32 << 10;
constexpr std::int64_t patience_ns = 3000;
static_assert(stream_portion % stream_chunk == 0 && probe_portion % stream_chunk == 0);
static_assert(least_cma_chunk <= cma_chunk);

/// What each side copies at a time: half, so that both are busy, but no less than a call is worth.
constexpr std::uint64_t cma_piece(std::uint64_t bytes) {
  constexpr std::uint64_t page = 4096;
  return std::clamp((bytes / 2 + page - 1) / page * page, least_cma_chunk, cma_chunk);
}

constexpr unsigned offset_bits = 40;
constexpr std::uint64_t offset_mask = (std::uint64_t{1} << offset_bits) - 1;
constexpr std::uint64_t generation_mask = (std::uint64_t{1} << (64 - offset_bits)) - 1;
static_assert(generation_mask <= UINT32_MAX, "a get's message has 32 bits for it");
static_assert(2 * sizeof(std::uint64_t) <= max_short_bytes, "what get and atomic requests carry");

/// Takes on the next at most `want` of `bytes`; false if nothing is left or the ticket is reused.
bool take_next(std::atomic<std::uint64_t>& cursor, std::uint64_t generation, std::uint64_t want,
               std::uint64_t bytes, std::uint64_t& from, std::uint64_t& count) {
  SINEW_EXPECT(want != 0 && generation <= generation_mask && bytes <= offset_mask);
  std::uint64_t seen = cursor.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t offset = seen & offset_mask;
    if (seen >> offset_bits != generation || offset >= bytes) {
      return false;
    }
    count = std::min(want, bytes - offset);
    if (cursor.compare_exchange_weak(seen, seen + count, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      from = offset;
      SINEW_ENSURE(count != 0 && from + count <= bytes);
      return true;
    }
  }
}

/// After the kernel has once let us at this process, a refusal means that the memory is not there.
/// Returns if that rank's process has ended: its launcher ends this one, too, or tells it, and then
/// give_up() ends what is under way. In any other case it is this process that cannot go on.
void copy_failed(const char* what, job_rank peer, std::uint64_t address, std::uint64_t bytes) {
  const int why = errno;
  if (why == ESRCH) {
    return;
  }
  log_line(log_level::error, std::string("cannot ") + what + " " + std::to_string(bytes) +
                                 " bytes at address " + std::to_string(address) + " of rank " +
                                 to_string(peer) + " (" + std::strerror(why) +
                                 ": was this memory unmapped while a transfer used it?)");
  std::abort();
}

void prefetch_for_write(void* at) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace

template <bool Threads>
one_sided<Threads>::one_sided(messages<Threads>& carrier, const node_memory& where)
    : carrier_(carrier),
      cma_(current_tuning().cma),
      stream_limit_(
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, current_tuning().stream_limit))),
      patience_(ns_to_ticks(patience_ns)),
      my_rank_(where.rank) {
  const auto ranks = where.local_ranks.back().index() + 1;
  cma_answer_ = std::make_unique<std::atomic<answer>[]>(ranks);
  put_mark_ = std::make_unique<std::atomic<std::uint64_t>[]>(ranks);
  serves_.reserve(64);
  replies_.reserve(64);
  carrier_.set_inner_handler({&one_sided::handle, this, [](void* self, job_rank peer) noexcept {
                                auto& it = *static_cast<one_sided*>(self);
                                it.cma_answer_[peer.index()].store(answer::unknown);
                                it.put_mark_[peer.index()].store(0);
                              }});
  std::uint64_t probe = 0;
  const std::uint64_t here = 1;
  cma_ =
      cma_ && read_process(getpid(), &probe, reinterpret_cast<std::uintptr_t>(&here), sizeof here);
}

template <bool Threads>
remote_key one_sided<Threads>::expose(const void* address, std::size_t bytes) const noexcept {
  const auto* p = static_cast<const std::byte*>(address);
  const std::byte* base = carrier_.node_base();
  const bool mapped = p >= base && p + bytes <= base + carrier_.node_bytes();
  return {{mapped ? key_node : key_private, bytes}};
}

/// Where we can touch the memory ourselves; null if we cannot. Decided by location only, so that
/// all atomics on it go the same way.
template <bool Threads>
std::byte* one_sided<Threads>::direct(job_rank peer, const remote_address& at,
                                      std::size_t bytes) noexcept {
  if (peer == my_rank_) {
    return reinterpret_cast<std::byte*>(at.address);
  }
  if (at.key.word[0] == key_node) {
    const std::uint64_t offset = at.address - carrier_.of_peer(peer).state().base;
    if (bytes > carrier_.node_bytes() || offset > carrier_.node_bytes() - bytes) [[unlikely]] {
      corrupt_peer(peer, "an address said to be in the node's memory is not there", at.address);
    }
    return carrier_.node_base() + offset;
  }
  return nullptr;
}

/// Whether the kernel lets us copy from and to this peer; asked once, by reading a word whose
/// value the peer has announced (a process id may mean another process in another namespace).
template <bool Threads>
bool one_sided<Threads>::cma_with(job_rank peer) {
  if (!cma_) {
    return false;
  }
  std::atomic<answer>& known = cma_answer_[peer.index()];
  answer a = known.load(std::memory_order_relaxed);
  if (a == answer::unknown) {
    const control& theirs = carrier_.of_peer(peer).state();
    std::uint64_t word = 0;
    const bool ok =
        read_process(theirs.pid, &word, theirs.nonce_address, sizeof word) && word == theirs.nonce;
    a = ok ? answer::yes : answer::no;
    known.store(a, std::memory_order_relaxed);
  }
  return a == answer::yes;
}

template <bool Threads>
status one_sided<Threads>::get(job_rank peer, void* local, const remote_address& from,
                               std::size_t bytes, callback when_done) {
  if (bytes == 0) {
    return status::ok();
  }
  if (!carrier_.is_ready(peer)) {
    return status::again(retry_reason::no_slot);
  }
  if (const std::byte* there = direct(peer, from, bytes)) {
    copy_bytes(local, there, bytes);
    return status::ok();
  }
  SINEW_EXPECT(bytes <= offset_mask);
  if (carrier_.is_given_up(peer)) [[unlikely]] {
    return status::ok();
  }
  const int index = gets_.take();
  if (index < 0) {
    return status::again(retry_reason::no_memory);
  }
  get_state& g = gets_[index];
  const bool cma = cma_with(peer);
  const bool stream = bytes <= stream_limit_ || carrier_.streams_from(peer);
  const way how = !cma ? way::stream_alone : (stream ? way::stream : way::both_by_cma);
  g.local = static_cast<std::byte*>(local);
  g.source = from.address;
  g.bytes = bytes;
  g.arrived = 0;
  g.asked_at = ticks();
  g.peer = peer;
  g.how = how;
  g.answered = false;
  g.when_done = when_done;
  const std::uint64_t generation =
      (g.generation.load(std::memory_order_relaxed) + 1) & generation_mask;
  g.generation.store(generation, std::memory_order_release);
  ticket& t = carrier_.mine().tickets()[index];
  t.done.store(0, std::memory_order_relaxed);
  t.cursor.store(generation << offset_bits, std::memory_order_release);
  const header head{{static_cast<std::uint64_t>(index) | (static_cast<std::uint64_t>(how) << 8) |
                         (generation << 32),
                     bytes}};
  const std::uint64_t addresses[2] = {from.address, reinterpret_cast<std::uintptr_t>(local)};
  const status sent = carrier_.send_short_message(peer, slot_kind::inner_short, get_request, head,
                                                  addresses, sizeof addresses);
  if (!sent.done()) {
    g.bytes = 0;
    gets_.release(index);
    return sent;
  }
  // Last, because step() may finish and free what was started. Chunks may arrive before; they
  // only touch the entry.
  gets_.start(index);
  return status::pending();
}

template <bool Threads>
status one_sided<Threads>::put(job_rank peer, const void* local, const remote_address& to,
                               std::size_t bytes, callback when_done) {
  if (bytes == 0) {
    return status::ok();
  }
  if (!carrier_.is_ready(peer)) {
    return status::again(retry_reason::no_slot);
  }
  if (std::byte* there = direct(peer, to, bytes)) {
    copy_bytes(there, local, bytes);
    return status::ok();
  }
  if (carrier_.is_given_up(peer)) [[unlikely]] {
    return status::ok();
  }
  put_state p{static_cast<const std::byte*>(local), to.address, bytes, 0, peer, when_done};
  if (bytes <= (cma_with(peer) ? cma_chunk : stream_chunk)) {
    return push_put(p);
  }
  const int index = puts_.take();
  if (index < 0) {
    return status::again(retry_reason::no_memory);
  }
  puts_[index] = p;
  puts_.start(index);
  return status::pending();
}

/// Moves the next piece.
template <bool Threads>
status one_sided<Threads>::push_put(put_state& p) {
  if (cma_with(p.peer)) {
    const std::uint64_t n = std::min(cma_chunk, p.bytes - p.moved);
    const pid_t pid = carrier_.of_peer(p.peer).state().pid;
    if (!write_process(pid, p.local + p.moved, p.target + p.moved, n)) {
      copy_failed("write", p.peer, p.target + p.moved, n);
    }
    p.moved += n;
    return status::ok();
  }
  const std::uint64_t n = std::min<std::uint64_t>(stream_chunk, p.bytes - p.moved);
  const header head{{p.target + p.moved, 0}};
  const status sent =
      carrier_.send_packet(p.peer, slot_kind::inner_medium, put_chunk, head, p.local + p.moved, n);
  if (sent.done()) {
    p.moved += n;
    put_mark_[p.peer.index()].store(carrier_.sent_to(p.peer), std::memory_order_release);
  }
  return sent;
}

template <bool Threads>
copied one_sided<Threads>::copy_now(job_rank peer, direction how, std::span<const piece> pieces) {
  if (!carrier_.is_ready(peer) || !cma_with(peer)) {
    return copied::refused;
  }
  const pid_t pid = carrier_.of_peer(peer).state().pid;
  const bool in = how == direction::in;
  if (const piece* failed = in ? read_process(pid, pieces) : write_process(pid, pieces)) {
    if (errno == ESRCH) {
      return copied::gone;
    }
    copy_failed(in ? "read" : "write", peer, failed->remote, failed->bytes);
  }
  return copied::done;
}

template <bool Threads>
status one_sided<Threads>::flush(job_rank peer) {
  const std::uint64_t mark = put_mark_[peer.index()].load(std::memory_order_acquire);
  return mark == 0 || carrier_.consumed_by(peer, mark) || carrier_.is_given_up(peer)
             ? status::ok()
             : status::again(retry_reason::busy);
}

template <bool Threads>
status one_sided<Threads>::atomic(job_rank peer, atomic_op op, const remote_address& at,
                                  std::size_t width, std::uint64_t operand, std::uint64_t compare,
                                  std::uint64_t* result, callback when_done) {
  SINEW_EXPECT((width == 4 || width == 8) && at.address % width == 0);
  if (!carrier_.is_ready(peer)) {
    return status::again(retry_reason::no_slot);
  }
  if (std::byte* there = direct(peer, at, width)) {
    const std::uint64_t old = apply_atomic(op, there, width, operand, compare);
    if (result != nullptr) {
      *result = old;
    }
    return status::ok();
  }
  if (carrier_.is_given_up(peer)) [[unlikely]] {
    return status::ok();
  }
  const int index = atomics_.take();
  if (index < 0) {
    return status::again(retry_reason::no_memory);
  }
  atomics_[index] = {result, when_done, peer};
  atomics_.start(index);
  const header head{
      {static_cast<std::uint64_t>(op) | (width << 8) | (static_cast<std::uint64_t>(index) << 16),
       at.address}};
  const std::uint64_t operands[2] = {operand, compare};
  const status sent = carrier_.send_short_message(peer, slot_kind::inner_short, atomic_request,
                                                  head, operands, sizeof operands);
  if (!sent.done()) {
    atomics_.release(index);
    return sent;
  }
  return status::pending();
}

// --- messages of the peers' sides; run inside progress ---

template <bool Threads>
status one_sided<Threads>::handle(void* self, unsigned op, const arrival& m) noexcept {
  auto& me = *static_cast<one_sided*>(self);
  switch (op) {
    case get_request:
      return me.on_get_request(m);
    case get_chunk:
      me.on_get_chunk(m);
      return status::ok();
    case put_chunk:
      copy_bytes(reinterpret_cast<void*>(m.head.word[0]), m.data, m.size);
      return status::ok();
    case atomic_request:
      return me.on_atomic_request(m);
    case atomic_reply:
      me.on_atomic_reply(m);
      return status::ok();
    default:
      corrupt_peer(m.source, "a message within the fabric is of no known kind", op);
  }
}

/// One more, if there is memory for it.
template <class List, class Item>
[[nodiscard]] bool add(List& to, const Item& one) noexcept try {
  to.push_back(one);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

template <bool Threads>
status one_sided<Threads>::on_get_request(const arrival& m) noexcept {
  std::uint64_t addresses[2];
  std::memcpy(addresses, m.data, sizeof addresses);
  serve_state s{};
  s.peer = m.source;
  s.ticket_index = static_cast<int>(m.head.word[0] & 0xff);
  s.how = static_cast<way>((m.head.word[0] >> 8) & 0xff);
  s.generation = m.head.word[0] >> 32;
  s.bytes = m.head.word[1];
  s.source = reinterpret_cast<const std::byte*>(addresses[0]);
  s.target = addresses[1];
  if (s.ticket_index >= tickets_per_rank || s.how > way::both_by_cma || s.bytes > offset_mask)
      [[unlikely]] {
    corrupt_peer(m.source, "it asks for a get that none of its tickets can be", m.head.word[0]);
  }
  if (s.how == way::stream_alone) {
    s.end = s.bytes;
  } else {
    prefetch_for_write(&carrier_.of_peer(s.peer).tickets()[s.ticket_index].cursor);
  }
  s.probing = s.how == way::both_by_cma && (kernel_serves_ + 1) % serves_per_probe == 0;
  if (s.how != way::both_by_cma || cma_with(s.peer)) {
    if (!add(serves_, s)) {
      return shortage_.again("serving a get of another rank");
    }
    ++queued_;
  }
  kernel_serves_ += s.how == way::both_by_cma ? 1 : 0;
  return status::ok();
}

template <bool Threads>
void one_sided<Threads>::on_get_chunk(const arrival& m) noexcept {
  const auto index = static_cast<int>(m.head.word[0] & 0xff);
  if (index >= fixed_table<get_state>::capacity) [[unlikely]] {
    corrupt_peer(m.source, "it answers a get that cannot be", m.head.word[0]);
  }
  if (carrier_.is_given_up(m.source)) [[unlikely]] {
    return;  // the get has ended
  }
  get_state& g = gets_[index];
  // A get ends only when all that was taken on has come; none is under way where `bytes` is 0.
  const bool current = g.generation.load(std::memory_order_acquire) == m.head.word[0] >> 32;
  const std::uint64_t offset = m.head.word[1];
  if (!current || g.peer != m.source || offset >= g.bytes || m.size > g.bytes - offset)
      [[unlikely]] {
    corrupt_peer(m.source, "what it sends for a get is not what was asked of it", offset);
  }
  copy_bytes(g.local + offset, m.data, m.size);
  g.arrived += m.size;
  g.answered = true;
}

template <bool Threads>
status one_sided<Threads>::on_atomic_request(const arrival& m) noexcept {
  std::uint64_t operands[2];
  std::memcpy(operands, m.data, sizeof operands);
  const auto op = static_cast<std::uint8_t>(m.head.word[0]);
  const std::uint64_t width = (m.head.word[0] >> 8) & 0xff;
  // The answer's place first: once done, an operation cannot be taken back.
  reply_state reply{m.source, {{m.head.word[0] >> 16, 0}}};
  if (!add(replies_, reply)) {
    return shortage_.again("serving an atomic operation of another rank");
  }
  replies_.back().head.word[1] = apply_asked_atomic(
      m.source, op, reinterpret_cast<void*>(m.head.word[1]), width, operands[0], operands[1]);
  ++queued_;
  return status::ok();
}

template <bool Threads>
void one_sided<Threads>::on_atomic_reply(const arrival& m) noexcept {
  if (carrier_.is_given_up(m.source)) [[unlikely]] {
    return;  // the operation has ended
  }
  const std::uint64_t index = m.head.word[0];
  // Looking at what has been started acquires the entry.
  if (index >= fixed_table<atomic_state>::capacity || ((atomics_.started() >> index) & 1) == 0)
      [[unlikely]] {
    corrupt_peer(m.source, "it answers an atomic operation that nobody has asked for", index);
  }
  const atomic_state a = atomics_[static_cast<int>(index)];
  if (a.result != nullptr) {
    *a.result = m.head.word[1];
  }
  atomics_.release(static_cast<int>(index));
  a.when_done.call(a.when_done.argument);
}

// --- moving along ---

template <bool Threads>
int one_sided<Threads>::step() {
  int moved = 0;
  blocked_ = false;
  flush_replies();
  const bool own = has_own_to_copy();
  for (std::size_t i = 0; i < serves_.size();) {
    const bool waits = own && serves_[i].how == way::both_by_cma && !serves_[i].probing;
    if (!waits && step_serve(serves_[i], moved)) {
      serves_.erase(serves_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  queued_ = serves_.size() + replies_.size();
  for (std::uint64_t bits = gets_.started(); bits != 0; bits &= bits - 1) {
    moved += step_get(std::countr_zero(bits));
  }
  for (std::uint64_t bits = puts_.started(); bits != 0; bits &= bits - 1) {
    moved += step_put(std::countr_zero(bits));
  }
  return any_given_up_ ? moved + end_atomics() : moved;
}

// What was started before, or by a thread that had not seen it yet, is ended by the next steps.
template <bool Threads>
void one_sided<Threads>::give_up(job_rank peer) noexcept {
  any_given_up_ = true;
  carrier_.give_up(peer);
}

template <bool Threads>
int one_sided<Threads>::end_atomics() {
  int ended = 0;
  for (std::uint64_t bits = atomics_.started(); bits != 0; bits &= bits - 1) {
    const int index = std::countr_zero(bits);
    const atomic_state a = atomics_[index];
    if (carrier_.is_given_up(a.peer)) {
      atomics_.release(index);
      a.when_done.call(a.when_done.argument);
      ++ended;
    }
  }
  return ended;
}

template <bool Threads>
bool one_sided<Threads>::any_to_end() {
  const auto any = [this](auto& table) {
    for (std::uint64_t bits = table.started(); bits != 0; bits &= bits - 1) {
      if (carrier_.is_given_up(table[std::countr_zero(bits)].peer)) {
        return true;
      }
    }
    return false;
  };
  return any(gets_) || any(puts_) || any(atomics_);
}

template <bool Threads>
void one_sided<Threads>::flush_replies() {
  std::size_t sent = 0;
  while (sent < replies_.size()) {
    const reply_state& r = replies_[sent];
    if (!carrier_
             .send_short_message(r.peer, slot_kind::inner_short, atomic_reply, r.head, nullptr, 0)
             .done()) {
      blocked_ = true;
      break;
    }
    ++sent;
  }
  SINEW_ASSERT(sent <= replies_.size());
  replies_.erase(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(sent));
}

template <bool Threads>
int one_sided<Threads>::step_get(int index) {
  get_state& g = gets_[index];
  ticket& t = carrier_.mine().tickets()[index];
  const auto complete = [&] {
    return carrier_.is_given_up(g.peer) || g.arrived == g.bytes ||
           g.arrived + t.done.load(std::memory_order_acquire) == g.bytes;
  };
  int moved = 0;
  if (!complete()) {
    const bool ours = g.how == way::both_by_cma ||
                      (g.how == way::stream && !g.answered && ticks() - g.asked_at > patience_);
    const std::uint64_t want = serves(g.peer) ? cma_chunk : cma_piece(g.bytes);
    std::uint64_t from = 0;
    std::uint64_t count = 0;
    if (!ours || !take_next(t.cursor, g.generation.load(std::memory_order_relaxed), want, g.bytes,
                            from, count)) {
      return 0;
    }
    const pid_t pid = carrier_.of_peer(g.peer).state().pid;
    if (!read_process(pid, g.local + from, g.source + from, count)) {
      copy_failed("read", g.peer, g.source + from, count);
      return 0;
    }
    g.arrived += count;
    SINEW_ASSERT(g.arrived <= g.bytes);
    moved = 1;
    if (!complete()) {
      return moved;
    }
  }
  const callback done = g.when_done;
  g.bytes = 0;  // an answer that still comes is wrong
  gets_.release(index);
  done.call(done.argument);
  return moved + 1;
}

template <bool Threads>
bool one_sided<Threads>::serves(job_rank peer) const noexcept {
  return std::any_of(serves_.begin(), serves_.end(),
                     [peer](const serve_state& s) { return s.peer == peer; });
}

template <bool Threads>
bool one_sided<Threads>::has_own_to_copy() noexcept {
  for (std::uint64_t bits = gets_.started(); bits != 0; bits &= bits - 1) {
    const int index = std::countr_zero(bits);
    if (gets_[index].how == way::both_by_cma && any_left(index)) {
      return true;
    }
  }
  return false;
}

template <bool Threads>
bool one_sided<Threads>::any_left(int index) noexcept {
  const ticket& t = carrier_.mine().tickets()[index];
  return (t.cursor.load(std::memory_order_acquire) & offset_mask) < gets_[index].bytes;
}

template <bool Threads>
int one_sided<Threads>::step_put(int index) {
  put_state& p = puts_[index];
  int moved = 0;
  if (carrier_.is_given_up(p.peer)) [[unlikely]] {
    p.moved = p.bytes;
  }
  for (int i = 0; i < stream_chunks_per_step && p.moved < p.bytes; ++i) {
    if (!push_put(p).done()) {
      blocked_ = true;
      return moved;
    }
    ++moved;
    if (cma_) {
      break;
    }
  }
  SINEW_ASSERT(p.moved <= p.bytes);
  if (p.moved == p.bytes) {
    const callback done = p.when_done;
    puts_.release(index);
    done.call(done.argument);
  }
  return moved;
}

template <bool Threads>
bool one_sided<Threads>::step_serve(serve_state& s, int& moved) {
  if (carrier_.is_given_up(s.peer)) [[unlikely]] {
    if (s.filled.data != nullptr) {
      carrier_.give_back(s.filled);
    }
    return true;
  }
  return s.how == way::both_by_cma && !s.probing ? serve_by_cma(s, moved)
                                                 : serve_by_stream(s, moved);
}

template <bool Threads>
bool one_sided<Threads>::take_for(serve_state& s, std::uint64_t want) {
  if (s.how == way::stream_alone) {
    return false;  // everything was ours from the start
  }
  ticket& t = carrier_.of_peer(s.peer).tickets()[s.ticket_index];
  std::uint64_t count = 0;
  if (!take_next(t.cursor, s.generation, want, s.bytes, s.at, count)) {
    return false;
  }
  s.end = s.at + count;
  SINEW_ENSURE(s.end <= s.bytes);
  return true;
}

template <bool Threads>
bool one_sided<Threads>::serve_by_stream(serve_state& s, int& moved) {
  for (int i = 0; i < stream_chunks_per_step; ++i) {
    if (s.at == s.end) {
      if (s.probing && s.end != 0) {
        s.probing = false;
        return false;
      }
      if (!take_for(s, s.probing ? probe_portion : stream_portion)) {
        return true;
      }
    }
    if (s.filled.data == nullptr) {
      if (!carrier_.reserve(s.peer, s.filled).done()) {
        s.filled = {};
        blocked_ = true;
        return false;
      }
      s.filled_bytes = std::min<std::uint64_t>(stream_chunk, s.end - s.at);
      carrier_.fill(s.peer, s.filled, s.source + s.at, s.filled_bytes);
    }
    const header head{{static_cast<std::uint64_t>(s.ticket_index) | (s.generation << 32), s.at}};
    if (!carrier_.commit(s.peer, slot_kind::inner_medium, get_chunk, head, s.filled, s.filled_bytes)
             .done()) {
      blocked_ = true;
      return false;
    }
    s.at += s.filled_bytes;
    SINEW_ASSERT(s.at <= s.end && s.filled.data == nullptr);  // commit() has emptied it
    ++moved;
  }
  return s.how == way::stream_alone && s.at == s.end;
}

template <bool Threads>
bool one_sided<Threads>::serve_by_cma(serve_state& s, int& moved) {
  if (!take_for(s, cma_piece(s.bytes))) {
    return true;
  }
  const part theirs = carrier_.of_peer(s.peer);
  if (!write_process(theirs.state().pid, s.source + s.at, s.target + s.at, s.end - s.at)) {
    copy_failed("write", s.peer, s.target + s.at, s.end - s.at);
    return true;
  }
  theirs.tickets()[s.ticket_index].done.fetch_add(s.end - s.at, std::memory_order_acq_rel);
  carrier_.ring(s.peer);
  s.at = s.end;
  ++moved;
  return false;
}

template <bool Threads>
bool one_sided<Threads>::can_step() {
  if (any_given_up_ && any_to_end()) {
    return true;
  }
  const bool pushing = !serves_.empty() || !replies_.empty() || puts_.started() != 0;
  if (pushing && !blocked_) {
    return true;
  }
  for (std::uint64_t bits = gets_.started(); bits != 0; bits &= bits - 1) {
    const int index = std::countr_zero(bits);
    const get_state& g = gets_[index];
    const ticket& t = carrier_.mine().tickets()[index];
    const std::uint64_t done = g.arrived + t.done.load(std::memory_order_acquire);
    if (done == g.bytes || (g.how == way::both_by_cma && any_left(index)) ||
        (g.how == way::stream && !g.answered && any_left(index))) {
      return true;
    }
  }
  return false;
}

template class one_sided<false>;
template class one_sided<true>;

}  // namespace sinew::fabric::shm
