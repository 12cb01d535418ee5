// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/shm/messages.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "sinew/base/error.hpp"
#include "sinew/base/membarrier.hpp"

namespace sinew::fabric::shm {
namespace {

/// A sender that runs ahead, `ahead_from` messages or more, takes so many lines over at a time.
constexpr std::uint64_t taken_at_once = 16;
constexpr std::uint64_t ahead_from = 8;
static_assert(std::has_single_bit(taken_at_once));
/// A sleep that has begun looks once more after this. Once, on a loaded machine, a message did not
/// end a sleep in the contract's test; why is not known, but if membarrier passed over the sender's
/// processor, what it had not stored by the first look is there by the second.
constexpr std::uint64_t second_look_ns = 50'000;

}  // namespace

packet_pool::packet_pool(std::uint32_t count)
    : count_(count), mask_(std::bit_ceil(count) - 1), ring_(mask_ + 1), links_(count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    give_back(static_cast<std::uint16_t>(i));
  }
}

template <bool Threads>
messages<Threads>::messages(const node_memory& where)
    : base_(where.base),
      bytes_per_rank_(where.bytes_per_rank),
      shape_(static_cast<int>(where.local_ranks.size()), where.started),
      mine_(part_at(where.local_rank)),
      rank_(where.rank),
      local_rank_(where.local_rank),
      size_(static_cast<int>(where.local_ranks.size())),
      started_(where.started == 0 ? size_ : where.started),
      tenant_(where.tenant),
      slot_mask_(shape_.slots - 1),
      slot_shift_(static_cast<unsigned>(std::countr_zero(shape_.slots))),
      quarter_(shape_.slots / 4),
      crowded_(where.crowded),
      pool_(shape_.packets),
      share_(started_ > 2 ? shape_.packets / 2 : shape_.packets) {
  SINEW_CHECK(where.bytes_per_rank >= shape_.bytes, "shared memory of a rank is too small",
              std::to_string(where.bytes_per_rank) + " bytes were mapped, " +
                  std::to_string(shape_.bytes) + " are needed",
              "start all ranks with the same SINEW_FABRIC_* settings");
  const auto local = local_rank_.index();
  SINEW_CHECK(local < where.local_ranks.size() && where.local_ranks[local] == where.rank,
              "rank " + to_string(rank_) + " has no place in the node's memory",
              "it is not the local rank that its message names", "");
  SINEW_EXPECT((tenant_ == 0) == local_rank_.below(started_));
  if (tenant_ != 0) {
    begin_part();
  }
  make_pairs(where);
#if defined(PR_SET_PTRACER)
  // Under Yama, the other ranks may copy from and to us only if we say so. Elsewhere an error.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
  // Where ranks sleep all the time, a fence per message costs less than a barrier per sleep.
  can_membarrier_ = !where.crowded && base::join_membarrier(base::within::machine);
  // Unlikely to be found at the same address of another process by chance.
  nonce_ = reinterpret_cast<std::uintptr_t>(this) ^ (static_cast<std::uint64_t>(getpid()) << 40) ^
           0x9e3779b97f4a7c15u;
  control& state = mine_.state();
  state.base = reinterpret_cast<std::uintptr_t>(base_);
  state.nonce_address = reinterpret_cast<std::uintptr_t>(&nonce_);
  state.nonce = nonce_;
  state.pid = getpid();
  state.needs_fence = can_membarrier_ ? 0 : 1;
  state.ready.store(shape_.signature, std::memory_order_release);
  state.tenant.store(tenant_, std::memory_order_release);
}

/// In the constructor, once the own part is ready to be written to.
template <bool Threads>
void messages<Threads>::make_pairs(const node_memory& where) {
  by_rank_.resize(where.local_ranks.back().index() + 1);
  pairs_ = std::make_unique<pair_type[]>(where.local_ranks.size());
  active_.reserve(where.local_ranks.size());
  for (local_rank peer = 0; peer.below(size_); ++peer) {
    pair_type& p = pairs_[peer.index()];
    const part theirs = part_at(peer);
    p.local_rank = peer;
    p.rank = where.local_ranks[peer.index()];
    p.out = theirs.ring_from(local_rank_);
    p.credit_out = theirs.credit_for(local_rank_);
    p.bell = &theirs.state().bell;
    p.in = mine_.ring_from(peer);
    p.credit_in = mine_.credit_for(peer);
    p.packets = theirs.packets();
    by_rank_[p.rank.index()] = &p;
    if (peer.below(started_)) {
      p.tenant.store(0, std::memory_order_relaxed);
    }
    if (tenant_ != 0 && peer != local_rank_) {
      find_traces_of_predecessor(p);
    }
  }
  for (const auto& [peer, tenant] : where.tenants) {
    pair_with(peer).tenant.store(tenant, std::memory_order_relaxed);
  }
  pair_with(rank_).tenant.store(tenant_, std::memory_order_relaxed);
}

template <bool Threads>
messages<Threads>::~messages() = default;

template <bool Threads>
void messages<Threads>::set_handler(handler_id id, handler function, void* context) {
  SINEW_EXPECT(id < max_handlers && function != nullptr);
  handlers_[id] = {function, context};
}

/// First send to a peer: false until it has set up. Under the pair's lock.
template <bool Threads>
bool messages<Threads>::open(pair_type& p) {
  SINEW_EXPECT(!p.opened && p.limit == p.tail && (p.tail & slot_mask_) == 0);
  control& theirs = part_at(p.local_rank).state();
  if (theirs.tenant.load(std::memory_order_acquire) != p.tenant.load(std::memory_order_acquire)) {
    return false;
  }
  const std::uint64_t signature = theirs.ready.load(std::memory_order_acquire);
  if (signature == 0) {
    return false;
  }
  if (signature != shape_.signature) {
    throw error("ranks " + to_string(rank_) + " and " + to_string(p.rank) +
                    " disagree about the layout of shared memory",
                "they run different versions or settings",
                "start all ranks with the same SINEW_FABRIC_* settings and the same library");
  }
  p.fence = !can_membarrier_ || theirs.needs_fence != 0;
  if (tenant_ != 0) {
    p.credit_out->first = p.tail;
    p.credit_out->opener.store(tenant_, std::memory_order_release);
  }
  const auto me = static_cast<unsigned>(local_rank_.value());
  theirs.opened[me / 64].fetch_or(std::uint64_t{1} << (me % 64), std::memory_order_acq_rel);
  theirs.announce.fetch_add(1, std::memory_order_acq_rel);
  p.limit = p.tail + shape_.slots;
  p.opened = true;
  return true;
}

/// Takes over the lines of slots to come, from the consumer's cache, by storing what their words
/// hold already: a release, so that who is still to handle one loses nothing, and nobody else
/// writes there. Stores leave in order, and while one waits for its line only those in the
/// processor's queue have theirs asked for: of a run of these many, of messages with all that comes
/// between them three. 64 messages of 8 B left in 14 ns each instead of 19, and where the
/// processors are far from each other in 37 instead of 66. (Prefetching for writing does not take
/// over a line that both have cached.) Under the pair's lock.
template <bool Threads>
void messages<Threads>::take_lines(pair_type& p) noexcept {
  SINEW_EXPECT(shape_.slots >= 4 * taken_at_once);  // so it is none that the next publish() fills
  const std::uint64_t first = p.tail + taken_at_once;
  for (std::uint64_t n = first; n < first + taken_at_once; ++n) {
    std::atomic<std::uint64_t>& word = p.out[n & slot_mask_].word;
    word.store(word.load(std::memory_order_relaxed), std::memory_order_release);
  }
}

/// The ring looks full: is it? Under the pair's lock. A sender that runs ahead is stopped here now
/// and then, before it is full, to take over lines.
template <bool Threads>
bool messages<Threads>::find_credit(pair_type& p) {
  if (!p.opened) {
    return open(p) || (refuse(p), false);
  }
  if (p.tail == p.consumed() + shape_.slots) {
    p.seen_head = p.credit_out->head.load(std::memory_order_acquire);
  }
  const std::uint64_t consumed = p.consumed();
  if (consumed > p.tail) [[unlikely]] {
    corrupt_peer(p.rank, "it acknowledges messages that it was never sent", consumed - p.tail);
  }
  if (p.tail == consumed + shape_.slots) {
    refuse(p);
    return false;
  }
  // In a short ring they would still be unread.
  if (p.tail - consumed >= ahead_from && shape_.slots >= 4 * taken_at_once) {
    take_lines(p);
  }
  p.limit = std::min(consumed + shape_.slots, p.tail + taken_at_once);
  SINEW_ENSURE(p.limit > p.tail);
  return true;
}

template <bool Threads>
void messages<Threads>::refuse(pair_type& p) noexcept {
  p.starved = true;
  starved_.store(true, std::memory_order_relaxed);
}

template <bool Threads>
void messages<Threads>::activate_rings() {
  control& state = mine_.state();
  // The count first: a ring opened after this load changes it again.
  announced_ = state.announce.load(std::memory_order_acquire);
  active_.clear();
  for (local_rank peer = 0; peer.below(size_); ++peer) {
    const auto bit = static_cast<unsigned>(peer.value());
    pair_type& p = pairs_[bit];
    const bool is_open =
        ((state.opened[bit / 64].load(std::memory_order_acquire) >> (bit % 64)) & 1) != 0;
    if (!peer.below(started_) && (is_open || p.asked.exchange(false, std::memory_order_acq_rel)) &&
        !replace_tenant(p)) {
      --announced_;  // so that the next look comes here again
      continue;
    }
    if (is_open && find_ring(p)) {
      p.fence_in = !can_membarrier_ || part_at(peer).state().needs_fence != 0;
      const std::uint64_t head = p.head.load(std::memory_order_relaxed);
      active_.push_back({&p.in[head & slot_mask_].word, tag_of(head), &p});
    }
  }
}

template <bool Threads>
bool messages<Threads>::dispatch_other(pair_type& p, const slot& s, std::uint64_t word) {
  const slot_kind kind = slot_word::kind(word);
  const std::size_t size = slot_word::size(word);
  const bool packet = names_packet(kind);
  if (kind > slot_kind::inner_medium || size > (packet ? max_medium_bytes : max_short_bytes)) {
    corrupt_peer(p.rank, "a slot of its ring names a kind or a size that no message has", size);
  }
  const std::byte* data = s.payload;
  if (packet) {
    std::uint32_t index;
    std::memcpy(&index, s.payload, sizeof index);
    if (index >= shape_.packets) {
      corrupt_peer(p.rank, "a slot of its ring names a packet that it does not have", index);
    }
    data = p.packets + index * packet_stride;
  }
  const arrival message{p.rank, s.head, data, size};
  if (kind != slot_kind::medium) {
    return inner_.call(inner_.context, slot_word::id(word), message).done();
  }
  const service& e = handlers_[slot_word::id(word)];
  return e.function(e.context, message).done();
}

/// Takes back the packets that the peer is known to have read. Under the pair's lock.
template <bool Threads>
void messages<Threads>::collect(pair_type& p) noexcept {
  if (p.first == no_index) {
    return;
  }
  const std::uint64_t consumed = p.consumed();
  if (pool_.link_of(p.first).slot >= consumed) {
    return;
  }
  const short_guard<Threads> guard(pool_lock_);
  if (!guard) {
    return;
  }
  while (p.first != no_index && pool_.link_of(p.first).slot < consumed) {
    const std::uint16_t index = p.first;
    SINEW_ASSERT(p.under_way != 0);
    p.first = pool_.link_of(index).next;
    pool_.give_back(index);
    --p.under_way;
  }
  SINEW_ENSURE((p.first == no_index) == (p.under_way == 0));
}

/// The pool is empty: looks at every peer's credit. Under no lock.
template <bool Threads>
void messages<Threads>::reclaim() {
  for (local_rank peer = 0; peer.below(size_); ++peer) {
    pair_type& p = pairs_[peer.index()];
    const short_guard<Threads> guard(p.lock);
    if (guard && p.first != no_index) {
      p.seen_head = p.credit_out->head.load(std::memory_order_acquire);
      collect(p);
    }
  }
}

template <bool Threads>
status messages<Threads>::reserve(job_rank peer, packet& out, bool is_short) {
  pair_type& p = pair_with(peer);
  for (int attempt = 0; attempt < 2; ++attempt) {
    {
      const short_guard<Threads> guard(p.lock);
      if (!guard) {
        return status::again(retry_reason::busy);
      }
      if (p.tail == p.limit && !find_credit(p)) {
        return status::again(retry_reason::no_slot);
      }
      collect(p);
      if (p.under_way >= share_.load(std::memory_order_relaxed)) {
        p.seen_head = p.credit_out->head.load(std::memory_order_acquire);
        collect(p);
      }
      if (p.under_way >= share_.load(std::memory_order_relaxed)) {
        refuse(p);
        return status::again(retry_reason::no_packet);
      }
      const short_guard<Threads> pool_guard(pool_lock_);
      if (!pool_guard) {
        return status::again(retry_reason::busy);
      }
      if (!pool_.empty()) {
        const std::uint16_t index =
            is_short && p.first == no_index ? pool_.take_hot() : pool_.take_cold();
        SINEW_ASSERT(index < shape_.packets);
        out = {mine_.packets() + index * packet_stride, max_medium_bytes, index};
        return status::ok();
      }
    }
    reclaim();
  }
  const short_guard<Threads> guard(p.lock);
  if (guard) {
    refuse(p);
  }
  return status::again(retry_reason::no_packet);
}

template <bool Threads>
void messages<Threads>::give_back(const packet& unused) noexcept {
  while (!pool_lock_.acquire()) {
    // Wait: for a thread of this process.
    sched_yield();  // its holder was descheduled inside a few instructions
  }
  pool_.give_back(static_cast<std::uint16_t>(unused.token));
  pool_lock_.release();
}

template <bool Threads>
status messages<Threads>::commit(job_rank peer, slot_kind kind, std::uint8_t id, header head,
                                 packet& filled, std::size_t size) {
  SINEW_EXPECT(filled.data != nullptr && size <= filled.capacity);
  SINEW_EXPECT(filled.data == mine_.packets() + filled.token * packet_stride);
  pair_type& p = pair_with(peer);
  const auto index = static_cast<std::uint16_t>(filled.token);
  {
    const short_guard<Threads> guard(p.lock);
    if (!guard) {
      return status::again(retry_reason::busy);
    }
    if (p.tail == p.limit) [[unlikely]] {
      if (!find_credit(p)) {
        return status::again(retry_reason::no_slot);
      }
    }
    slot& s = p.out[p.tail & slot_mask_];
    s.set_head(head);
    const std::uint32_t wide = index;
    std::memcpy(s.payload, &wide, sizeof wide);
    pool_.link_of(index) = {p.tail, no_index};
    if (p.first == no_index) {
      p.first = index;
    } else {
      pool_.link_of(p.last).next = index;
    }
    p.last = index;
    ++p.under_way;
    publish(p, s, kind, id, size);
  }
  filled = {};
  after_publishing(*p.bell, p.fence);
  return status::ok();
}

template <bool Threads>
status messages<Threads>::send_packet(job_rank peer, slot_kind kind, std::uint8_t id, header head,
                                      const void* data, std::size_t size) {
  SINEW_EXPECT(size <= max_medium_bytes);
  packet p;
  if (const status got = reserve(peer, p, size < least_string_copy); !got.done()) {
    return refused(pair_with(peer), got.reason);
  }
  fill(peer, p, data, size);
  const status sent = commit(peer, kind, id, head, p, size);
  if (!sent.done()) [[unlikely]] {
    give_back(p);
    return refused(pair_with(peer), sent.reason);
  }
  return sent;
}

template <bool Threads>
void messages<Threads>::publish_distance(pair_type& p, distance::change c) noexcept {
  const auto them = static_cast<unsigned>(p.local_rank.value());
  std::atomic<std::uint64_t>& word = mine_.state().far[them / 64];
  const std::uint64_t bit = std::uint64_t{1} << (them % 64);
  if (c == distance::change::went_far) {
    word.fetch_or(bit, std::memory_order_relaxed);
  } else {
    word.fetch_and(~bit, std::memory_order_relaxed);
  }
}

template <bool Threads>
bool messages<Threads>::no_longer_starved(pair_type& p) {
  if (!p.starved) {
    return false;
  }
  p.starved = false;
  if (p.tail == p.limit && !find_credit(p)) {
    return false;
  }
  p.seen_head = p.credit_out->head.load(std::memory_order_acquire);
  collect(p);
  const short_guard<Threads> guard(pool_lock_);
  const bool packet_free =
      !guard || (!pool_.empty() && p.under_way < share_.load(std::memory_order_relaxed));
  if (!packet_free) {
    refuse(p);
  }
  return packet_free;
}

template <bool Threads>
bool messages<Threads>::anything_new() {
  if (first_ready() != nullptr) {
    return true;
  }
  if (!starved_.load(std::memory_order_relaxed)) {
    return false;
  }
  starved_.store(false, std::memory_order_relaxed);
  for (local_rank peer = 0; peer.below(size_); ++peer) {
    pair_type& p = pairs_[peer.index()];
    const short_guard<Threads> guard(p.lock);
    if (!guard || no_longer_starved(p)) {
      return true;
    }
  }
  return false;
}

template <bool Threads>
void messages<Threads>::sleep(std::uint64_t timeout_ns, bool (*more)(void* context),
                              void* context) {
  std::atomic<std::uint32_t>& bell = mine_.state().bell;
  std::uint32_t expected = bell_awake;
  if (bell.compare_exchange_strong(expected, bell_armed, std::memory_order_acq_rel)) {
    if (can_membarrier_) {
      base::membarrier(base::within::machine);
    } else {
      full_fence();
    }
    // A look that finds something takes note of it: the next would not find it again.
    const auto look = [&] { return anything_new() || more(context); };
    bool found = look();
    if (!found && can_membarrier_ && timeout_ns > second_look_ns) {
      await_bell(bell, second_look_ns);
      timeout_ns -= second_look_ns;
      found = bell.load(std::memory_order_acquire) != bell_armed || look();
    }
    if (!found) {
      await_bell(bell, timeout_ns);
    }
  }
  bell.store(bell_awake, std::memory_order_release);
}

template <bool Threads>
std::uint64_t messages<Threads>::sent_to(job_rank peer) {
  pair_type& p = pair_with(peer);
  while (!p.lock.acquire()) {
    // Wait: for a thread of this process.
    sched_yield();  // its holder was descheduled inside a few instructions
  }
  const std::uint64_t sent = p.tail;
  p.lock.release();
  return sent;
}

template <bool Threads>
bool messages<Threads>::consumed_by(job_rank peer, std::uint64_t n) {
  pair_type& p = pair_with(peer);
  const short_guard<Threads> guard(p.lock);
  if (!guard) {
    return false;
  }
  if (p.consumed() < n) {
    p.seen_head = p.credit_out->head.load(std::memory_order_acquire);
  }
  return p.consumed() >= n;
}

template class messages<false>;
template class messages<true>;

}  // namespace sinew::fabric::shm
