// SPDX-License-Identifier: BSD-3-Clause
#include "abi/threads/parking_lot.hpp"

#include <array>
#include <cerrno>

#include "abi/threads/monitor.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/signals.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/fiber.hpp"

namespace sinew::threads {

/// Waiters of all addresses that fall into one bucket, first come first.
struct queue {
  fiber::spin_lock lock;
  place* first = nullptr;
  place* last = nullptr;

  void append(place& p) noexcept {
    SINEW_EXPECT(!p.listed_ && !p.sleeper_.woken());
    p.previous_ = last;
    (last != nullptr ? last->next_ : first) = &p;
    last = &p;
    p.listed_ = true;
    if (p.count_ != nullptr) {
      p.count_->fetch_add(1, std::memory_order_relaxed);
    }
  }

  void remove(place& p) noexcept {
    SINEW_EXPECT(p.listed_);
    SINEW_ASSERT((p.previous_ != nullptr ? p.previous_->next_ : first) == &p);
    SINEW_ASSERT((p.next_ != nullptr ? p.next_->previous_ : last) == &p);
    (p.previous_ != nullptr ? p.previous_->next_ : first) = p.next_;
    (p.next_ != nullptr ? p.next_->previous_ : last) = p.previous_;
    p.listed_ = false;
    if (p.count_ != nullptr) {
      SINEW_ASSERT(p.count_->load(std::memory_order_relaxed) != 0);
      p.count_->fetch_sub(1, std::memory_order_relaxed);
    }
  }
};

namespace {

// As many as a program of a million threads, each waiting for something of its own, wants; pages
// that nobody uses are never there.
constexpr unsigned queue_bits = 16;
constinit std::array<queue, 1U << queue_bits> queues;

queue& queue_of(const void* address) noexcept {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  return queues[(reinterpret_cast<std::uintptr_t>(address) * golden) >> (64 - queue_bits)];
}

}  // namespace

place::place(const void* address, const char* why) noexcept
    : sleeper_((come_back(), why)), address_(address), poked_(mine.ours ? &mine.poked : nullptr) {}

void place::enter(std::atomic<std::uint32_t>* count) noexcept {
  count_ = count;
  queue& in = queue_of(address_);
  in.lock.lock();
  in.append(*this);
  in.lock.unlock();
}

bool place::enter_if(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  queue& in = queue_of(address_);
  in.lock.lock();
  // Under the lock: who changes the word calls release() afterwards, which takes the same lock, so
  // either we see the change or it sees us.
  const bool same = word.load(std::memory_order_seq_cst) == value;
  if (same) {
    in.append(*this);
  }
  in.lock.unlock();
  return same;
}

woken place::wait(moment until) noexcept {
  const int error = errno;
  woken why = woken::released;
  come_back();  // the sleeper is a fiber's
  SINEW_ASSERT(poked_ == nullptr || poked_ == &mine.poked);
  if (!sleeper_.wait(until, poked_)) {
    queue& in = queue_of(address_);
    in.lock.lock();
    const bool still = listed_;
    if (still) {
      in.remove(*this);
    }
    in.lock.unlock();
    if (still) {
      // Who pokes has said why before; taken here, it is looked at by the caller.
      const bool poked = poked_ != nullptr && poked_->exchange(0, std::memory_order_seq_cst) != 0;
      why = poked ? woken::interrupted : woken::timed_out;
    } else {
      (void)sleeper_.wait();  // it is being woken right now; a poke is for the next wait
    }
  }
  errno = error;
  return why;
}

woken wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value, const char* why,
                 moment until, bool may_interrupt) {
  for (;;) {
    place here(&word, why);
    if (!here.enter_if(word, value)) {
      return woken::changed;
    }
    const woken how = here.wait(until);
    if (how != woken::interrupted || may_interrupt) {
      return how;
    }
    (void)take_signals();
  }
}

unsigned release(const void* address, unsigned most) noexcept {
  unsigned count = 0;
  queue& in = queue_of(address);
  in.lock.lock();
  for (place* each = in.first; each != nullptr && count < most;) {
    place& now = *each;
    each = now.next_;
    if (now.address_ == address) {
      in.remove(now);
      now.sleeper_.wake();  // from here the place may be gone
      ++count;
    }
  }
  in.lock.unlock();
  return count;
}

void interrupt(record& sleeper) noexcept {
  SINEW_EXPECT(sleeper.ours);  // nobody else's places look at it
  sleeper.poked.store(1, std::memory_order_seq_cst);
  if (fiber::fiber* const f = sleeper.fiber.load()) {
    fiber::resume_from_handler(*f);
  }
}

}  // namespace sinew::threads
