#include "abi/threads/lot.hpp"

#include <array>
#include <cerrno>

#include "abi/threads/record.hpp"

namespace sinew::threads {

/// Waiters of all addresses that fall into one bucket, first come first.
struct queue {
  fiber::spin_lock lock;
  place* first = nullptr;
  place* last = nullptr;

  void append(place& p) noexcept {
    p.previous_ = last;
    (last != nullptr ? last->next_ : first) = &p;
    last = &p;
    p.listed_ = true;
    if (p.count_ != nullptr) {
      p.count_->fetch_add(1, std::memory_order_relaxed);
    }
  }

  void remove(place& p) noexcept {
    (p.previous_ != nullptr ? p.previous_->next_ : first) = p.next_;
    (p.next_ != nullptr ? p.next_->previous_ : last) = p.previous_;
    p.listed_ = false;
    if (p.count_ != nullptr) {
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

place::place(const void* address, const char* why, bool may_cancel) noexcept
    : sleeper_(why), address_(address), who_(may_cancel ? &mine : nullptr) {}

void place::enter(std::atomic<std::uint32_t>* count) noexcept {
  count_ = count;
  if (who_ != nullptr) {
    // Before it can be found in the queue; interrupt() reads it after it has set `poked`, which we
    // read after this. Sequentially consistent: one of the two sees the other.
    who_->waits_at.store(address_, std::memory_order_seq_cst);
  }
  queue& in = queue_of(address_);
  in.lock.lock();
  in.append(*this);
  in.lock.unlock();
}

bool place::enter_if(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  if (who_ != nullptr) {
    who_->waits_at.store(address_, std::memory_order_seq_cst);
  }
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
  const bool poked = who_ != nullptr && who_->poked.exchange(false, std::memory_order_seq_cst);
  woken why = woken::released;
  if (poked || !sleeper_.wait(until)) {
    queue& in = queue_of(address_);
    in.lock.lock();
    const bool still = listed_;
    if (still) {
      in.remove(*this);
    }
    in.lock.unlock();
    if (still) {
      why = poked ? woken::interrupted : woken::timed_out;
    } else {
      (void)sleeper_.wait();  // it is being woken right now
      if (poked) {
        who_->poked.store(true, std::memory_order_relaxed);  // for the next wait
      }
    }
  }
  errno = error;
  return interrupted_ ? woken::interrupted : why;
}

woken wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value, const char* why,
                 moment until, bool may_cancel) noexcept {
  place here(&word, why, may_cancel);
  return here.enter_if(word, value) ? here.wait(until) : woken::changed;
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
  sleeper.poked.store(true, std::memory_order_seq_cst);
  const void* const address = sleeper.waits_at.load(std::memory_order_seq_cst);
  queue& in = queue_of(address);
  in.lock.lock();
  for (place* each = in.first; each != nullptr; each = each->next_) {
    if (each->who_ == &sleeper) {
      in.remove(*each);
      each->interrupted_ = true;
      sleeper.poked.store(false, std::memory_order_relaxed);
      each->sleeper_.wake();
      break;
    }
  }
  in.lock.unlock();
}

}  // namespace sinew::threads
