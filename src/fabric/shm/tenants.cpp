// SPDX-License-Identifier: BSD-3-Clause
// Places of the node's memory that one rank takes after another. A process is here for one tenant's
// time; the others, which stay, meet several tenants of the same place one after the other.
//
// A ring goes on counting where it stood: a new tenant reads, from the laps in the slots of a ring
// that its predecessor has filled, from which number on no slot can be taken for an old one, and
// says that number beside the ring's credit, with which tenant it is. Its own part it empties
// first. The others see its announcement, or are told to look (meet), and replace what they knew of
// the place: by progress alone, so that no ring is read meanwhile.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "fabric/shm/messages.hpp"

namespace sinew::fabric::shm {

/// All that the predecessor has left. Its peers write nothing any more: they have taken leave of
/// it.
template <bool Threads>
void messages<Threads>::begin_part() {
  SINEW_EXPECT(tenant_ != 0);
  control& state = mine_.state();
  state.ready.store(0, std::memory_order_release);
  // Stays if the system only says that it has removed the pages, as qemu-user does.
  state.base = 1;
  if (::madvise(mine_.at, shape_.bytes, MADV_REMOVE) != 0 || state.base != 0) {
    std::memset(mine_.at, 0, shape_.packets_at);
  }
}

/// Where our ring to a peer begins that our predecessor has used. In the constructor.
template <bool Threads>
void messages<Threads>::find_traces_of_predecessor(pair_type& p) noexcept {
  const auto me = static_cast<unsigned>(local_rank_.value());
  const control& theirs = part_at(p.local_rank).state();
  if (((theirs.opened[me / 64].load(std::memory_order_acquire) >> (me % 64)) & 1) == 0) {
    return;
  }
  std::uint64_t laps = 0;
  for (std::uint32_t i = 0; i < shape_.slots; ++i) {
    laps = std::max<std::uint64_t>(laps,
                                   slot_word::tag(p.out[i].word.load(std::memory_order_relaxed)));
  }
  // A multiple of what acknowledgements can say, so that one that says "nothing yet" is right.
  constexpr std::uint64_t period = slot_word::ack_mask + 1;
  p.tail = p.limit = p.seen_head = ((laps << slot_shift_) + period - 1) / period * period;
  p.acknowledged.store(p.tail, std::memory_order_relaxed);
}

/// What is under way to a peer that will read nothing any more. Under the pair's lock.
template <bool Threads>
void messages<Threads>::take_all_back(pair_type& p) noexcept {
  while (p.first != no_index) {
    const std::uint16_t index = p.first;
    p.first = pool_.link_of(index).next;
    pool_.give_back(index);
    --p.under_way;
  }
  SINEW_ENSURE(p.under_way == 0);
}

/// False: somebody holds a lock; try again. Else the pair is that of the tenant who is there now,
/// if there is a new one. Progress only.
template <bool Threads>
bool messages<Threads>::replace_tenant(pair_type& p) noexcept {
  const std::uint32_t now = part_at(p.local_rank).state().tenant.load(std::memory_order_acquire);
  const std::uint32_t known = p.tenant.load(std::memory_order_relaxed);
  if (now == 0 || (known != nobody && now <= known)) {
    return true;  // not there yet
  }
  const short_guard<Threads> guard(p.lock);
  if (!guard) {
    return false;
  }
  const short_guard<Threads> pool_guard(pool_lock_);
  if (!pool_guard) {
    return false;
  }
  share_.store(shape_.packets / 2, std::memory_order_relaxed);
  take_all_back(p);
  // A new tenant has emptied its part, and so our ring there. One of whom we have known nothing has
  // a ring that our predecessor may have used: then we have found where it begins.
  if (known != nobody) {
    p.tail = p.seen_head = 0;
    p.acknowledged.store(0, std::memory_order_release);
  }
  p.limit = p.tail;
  p.opened = false;
  p.published = 0;
  p.head.store(0, std::memory_order_release);  // until we find its ring: nothing is acknowledged
  p.starved = false;
  p.tenant.store(now, std::memory_order_release);
  p.given_up.store(false, std::memory_order_release);
  inner_.replaced(inner_.context, p.rank);
  return true;
}

/// Whether the peer that we know has opened its ring to us. Progress only.
template <bool Threads>
bool messages<Threads>::find_ring(pair_type& p) noexcept {
  const credit& c = *p.credit_in;
  const std::uint32_t opener = c.opener.load(std::memory_order_acquire);
  if (opener != p.tenant.load(std::memory_order_relaxed)) {
    return false;  // its predecessor has
  }
  if (p.heard != opener) {
    p.heard = opener;
    p.published = c.first;
    p.head.store(c.first, std::memory_order_release);
  }
  return true;
}

template <bool Threads>
bool messages<Threads>::meet(job_rank peer, std::uint32_t tenant) noexcept {
  pair_type& p = pair_with(peer);
  if (p.local_rank.below(started_)) {
    return true;
  }
  const std::uint32_t there = part_at(p.local_rank).state().tenant.load(std::memory_order_acquire);
  const std::uint32_t wanted = tenant == whoever_is_there ? there : tenant;
  if (wanted != 0 && p.tenant.load(std::memory_order_acquire) == wanted) {
    return true;
  }
  p.asked.store(true, std::memory_order_release);
  mine_.state().announce.fetch_add(1, std::memory_order_acq_rel);
  return false;
}

template void messages<false>::begin_part();
template void messages<true>::begin_part();
template void messages<false>::find_traces_of_predecessor(pair_type&) noexcept;
template void messages<true>::find_traces_of_predecessor(pair_type&) noexcept;
template void messages<false>::take_all_back(pair_type&) noexcept;
template void messages<true>::take_all_back(pair_type&) noexcept;
template bool messages<false>::replace_tenant(pair_type&) noexcept;
template bool messages<true>::replace_tenant(pair_type&) noexcept;
template bool messages<false>::find_ring(pair_type&) noexcept;
template bool messages<true>::find_ring(pair_type&) noexcept;
template bool messages<false>::meet(job_rank, std::uint32_t) noexcept;
template bool messages<true>::meet(job_rank, std::uint32_t) noexcept;

}  // namespace sinew::fabric::shm
