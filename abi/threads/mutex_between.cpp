// SPDX-License-Identifier: BSD-3-Clause
// A mutex between processes names its owner by the kernel's number, and the kernel, when a thread
// ends, marks those robust ones that are in that thread's list and name it. A fiber has no such
// number, and the one that gettid() gives it may be another process' fiber's, too. So a fiber takes
// the mutex in the name of the kernel thread that it runs on, which lives as long as the process,
// and enters it in that one's list. Which fiber it is stands in a list of ours.
#include "abi/threads/mutex_between.hpp"

#include <linux/futex.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <ctime>
#include <mutex>
#include <new>

#include "abi/threads/moment.hpp"
#include "abi/threads/raw.hpp"
#include "abi/threads/real.hpp"
#include "abi/threads/record.hpp"
#include "abi/threads/refuse.hpp"
#include "abi/threads/sleep.hpp"
#include "abi/threads/start.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/sleeper.hpp"

namespace sinew::threads {

namespace {

constexpr int robust_bit = 0x10;
constexpr int shared_bit = 0x80;
// What glibc writes in the place of a robust mutex's owner.
constexpr int inconsistent = INT_MAX;
constexpr int lost = INT_MAX - 1;

/// One mutex that a thread of ours holds.
struct held {
  pthread_mutex_t* mutex;
  const record* owner;
  robust_list_head* list;  ///< of a robust one: that it is in
  unsigned depth;          ///< of a recursive one, beyond the first
  held* next;
};

/// All that are held, and the kernel threads' lists of robust ones: fibers move.
constinit fiber::spin_lock lists;
constinit held* all_held = nullptr;

bool is_robust(const pthread_mutex_t& m) noexcept { return (m.__data.__kind & robust_bit) != 0; }
int type_of(const pthread_mutex_t& m) noexcept { return m.__data.__kind & 3; }

std::atomic_ref<int> word_of(pthread_mutex_t& m) noexcept {
  return std::atomic_ref<int>(m.__data.__lock);
}

void wake_one(pthread_mutex_t& m) noexcept {
  raw_call(SYS_futex, reinterpret_cast<long>(&m.__data.__lock), FUTEX_WAKE, 1);
}

robust_list* node_of(pthread_mutex_t& m) noexcept {
  return reinterpret_cast<robust_list*>(&m.__data.__list.__next);
}

/// The word before a list's node or head: glibc's way back.
void*& way_back(robust_list* at) noexcept { return reinterpret_cast<void**>(at)[-1]; }

robust_list_head* list_of_this_thread() noexcept {
  robust_list_head* head = nullptr;
  std::size_t bytes = 0;
  const long code = raw_call(SYS_get_robust_list, 0, reinterpret_cast<long>(&head),
                             reinterpret_cast<long>(&bytes));
  return code == 0 && bytes == sizeof *head ? head : nullptr;
}

/// The kernel may look at any moment: what it follows is written last.
void enter(robust_list_head& list, pthread_mutex_t& m) noexcept {
  constexpr std::uintptr_t flags = 1;
  robust_list* const first = list.list.next;
  way_back(reinterpret_cast<robust_list*>(reinterpret_cast<std::uintptr_t>(first) & ~flags)) =
      node_of(m);
  m.__data.__list.__prev = reinterpret_cast<__pthread_internal_list*>(&list.list);
  node_of(m)->next = first;
  std::atomic_ref(list.list.next).store(node_of(m), std::memory_order_release);
}

void strike_out(pthread_mutex_t& m) noexcept {
  constexpr std::uintptr_t flags = 1;
  robust_list* const next = node_of(m)->next;
  auto* const previous = reinterpret_cast<robust_list*>(m.__data.__list.__prev);
  SINEW_ASSERT(previous != nullptr && previous->next == node_of(m));
  way_back(reinterpret_cast<robust_list*>(reinterpret_cast<std::uintptr_t>(next) & ~flags)) =
      previous;
  std::atomic_ref(previous->next).store(next, std::memory_order_release);
  m.__data.__list = {nullptr, nullptr};
}

/// For its time the kernel looks at this mutex also, whether it is in the list or not.
class announced {
 public:
  announced(robust_list_head& list, pthread_mutex_t& m) noexcept : pending_(list.list_op_pending) {
    SINEW_EXPECT(pending_.load(std::memory_order_relaxed) == nullptr);
    pending_.store(node_of(m), std::memory_order_seq_cst);
  }
  ~announced() { pending_.store(nullptr, std::memory_order_seq_cst); }
  announced(const announced&) = delete;
  announced& operator=(const announced&) = delete;

 private:
  std::atomic_ref<robust_list*> pending_;
};

/// Where the entry of a mutex is, or the end of the list. Under its lock, as all that follows.
held** entry_of(const pthread_mutex_t& m) noexcept {
  held** at = &all_held;
  while (*at != nullptr && (*at)->mutex != &m) {
    at = &(*at)->next;
  }
  return at;
}

int take_plain(held& h) noexcept {
  pthread_mutex_t& m = *h.mutex;
  int expected = 0;
  if (!word_of(m).compare_exchange_strong(expected, 1, std::memory_order_acquire)) {
    return EBUSY;
  }
  m.__data.__owner = static_cast<int>(raw_call(SYS_gettid));
  m.__data.__count = 1;
  ++m.__data.__nusers;
  return 0;
}

int take_robust(held& h) noexcept {
  pthread_mutex_t& m = *h.mutex;
  h.list = list_of_this_thread();
  if (h.list == nullptr) {
    return refused("a robust mutex shared by processes, where the kernel keeps no lists of them",
                   ENOTSUP);
  }
  const int name = static_cast<int>(raw_call(SYS_gettid));
  const announced to_the_kernel(*h.list, m);
  int now = word_of(m).load(std::memory_order_relaxed);
  bool died = false;
  do {
    died = (now & FUTEX_OWNER_DIED) != 0;
    if (now != 0 && !died) {
      return EBUSY;
    }
  } while (!word_of(m).compare_exchange_weak(now, name | (now & static_cast<int>(FUTEX_WAITERS)),
                                             std::memory_order_acquire));
  if (!died && m.__data.__owner == lost) {
    m.__data.__count = 0;
    if ((word_of(m).exchange(0, std::memory_order_release) & static_cast<int>(FUTEX_WAITERS)) !=
        0) {
      wake_one(m);
    }
    return ENOTRECOVERABLE;
  }
  enter(*h.list, m);
  m.__data.__count = 1;
  m.__data.__owner = died ? inconsistent : name;
  m.__data.__nusers += died ? 0 : 1;  // who died had been counted
  return died ? EOWNERDEAD : 0;
}

int take_again(held& h) noexcept {
  SINEW_EXPECT(h.owner == &mine);
  if (type_of(*h.mutex) == PTHREAD_MUTEX_RECURSIVE) {
    return ++h.depth == 0 ? (--h.depth, EAGAIN) : 0;
  }
  return type_of(*h.mutex) == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : EBUSY;
}

/// Has the main thread taken it before there were fibers, by glibc's functions?
bool main_took_it_before(pthread_mutex_t& m) noexcept {
  const int owner = is_robust(m) ? word_of(m).load(std::memory_order_relaxed) & FUTEX_TID_MASK
                                 : std::atomic_ref(m.__data.__owner).load();
  return mine.main && owner == mine.id;
}

/// EDEADLK, too: a trylock's caller says EBUSY instead.
int take_with_owner(pthread_mutex_t& m) noexcept {
  auto* entry = new (std::nothrow) held{&m, &mine, nullptr, 0, nullptr};
  if (entry == nullptr) {
    return EAGAIN;
  }
  int code = 0;
  {
    const std::lock_guard hold(lists);
    if (held* const there = *entry_of(m)) {
      code = there->owner == &mine ? take_again(*there) : EBUSY;
    } else if (main_took_it_before(m)) {
      code = type_of(m) == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : real().mutex_trylock(&m);
    } else {
      code = is_robust(m) ? take_robust(*entry) : take_plain(*entry);
      if (code == 0 || code == EOWNERDEAD) {
        entry->next = all_held;
        all_held = entry;
        entry = nullptr;
      }
    }
  }
  delete entry;
  return code;
}

/// `as_by_death`: nobody unlocks it, its owner ends.
void give_back_robust(held& h, bool as_by_death) noexcept {
  SINEW_EXPECT(h.list != nullptr);
  constexpr int waiters = static_cast<int>(FUTEX_WAITERS);
  pthread_mutex_t& m = *h.mutex;
  const announced to_the_kernel(*h.list, m);
  strike_out(m);
  int before = 0;
  if (as_by_death) {
    before = word_of(m).load(std::memory_order_relaxed);
    while (!word_of(m).compare_exchange_weak(before, (before & waiters) | FUTEX_OWNER_DIED,
                                             std::memory_order_release)) {
    }
  } else {
    m.__data.__owner = m.__data.__owner == inconsistent ? lost : 0;
    m.__data.__count = 0;
    --m.__data.__nusers;
    before = word_of(m).exchange(0, std::memory_order_release);
  }
  if ((before & waiters) != 0) {
    wake_one(m);
  }
}

void give_back_plain(pthread_mutex_t& m) noexcept {
  SINEW_EXPECT(m.__data.__nusers != 0);
  m.__data.__owner = 0;
  m.__data.__count = 0;
  --m.__data.__nusers;
  if (word_of(m).exchange(0, std::memory_order_release) > 1) {
    wake_one(m);
  }
}

int unlock_with_owner(pthread_mutex_t& m) noexcept {
  held* left = nullptr;
  {
    const std::lock_guard hold(lists);
    held** const at = entry_of(m);
    held* const there = *at;
    if (there == nullptr && main_took_it_before(m)) {
      return real().mutex_unlock(&m);
    }
    if (there == nullptr || there->owner != &mine) {
      return EPERM;
    }
    if (there->depth > 0) {
      --there->depth;
      return 0;
    }
    if (is_robust(m)) {
      give_back_robust(*there, false);
    } else {
      give_back_plain(m);
    }
    *at = there->next;
    left = there;
  }
  delete left;
  return 0;
}

int take(pthread_mutex_t& m) noexcept {
  if ((m.__data.__kind & priority_kinds) != 0) {
    return refused(
        "a mutex that lends priorities, made by a process whose threads are the system's", ENOTSUP);
  }
  return knows_owner(m) ? take_with_owner(m) : real().mutex_trylock(&m);
}

/// Kernel threads have numbers of their own.
bool is_kernel_thread() noexcept { return !mine.ours || !fibers_run(); }

}  // namespace

bool knows_owner(const pthread_mutex_t& m) noexcept {
  return (m.__data.__kind & shared_bit) != 0 &&
         (is_robust(m) || type_of(m) == PTHREAD_MUTEX_RECURSIVE ||
          type_of(m) == PTHREAD_MUTEX_ERRORCHECK);
}

int try_lock_between(pthread_mutex_t& m) noexcept {
  if (is_kernel_thread()) {
    return real().mutex_trylock(&m);
  }
  const int code = take(m);
  return code == EDEADLK ? EBUSY : code;
}

/// The holder may be another process, which cannot make a fiber ready; or a fiber of this worker,
/// which must run.
int lock_between(pthread_mutex_t& m, moment until) noexcept {
  if (is_kernel_thread()) {
    if (until == never) {
      return real().mutex_lock(&m);
    }
    const timespec at{static_cast<time_t>(until / 1'000'000'000),
                      static_cast<long>(until % 1'000'000'000)};
    return real().mutex_clocklock(&m, CLOCK_MONOTONIC, &at);
  }
  for (backoff pause;; pause.wait()) {
    const int code = take(m);
    if (code != EBUSY) {
      return code;
    }
    if (pause.now() >= until) {
      return ETIMEDOUT;
    }
  }
}

int unlock_between(pthread_mutex_t& m) noexcept {
  return knows_owner(m) && !is_kernel_thread() ? unlock_with_owner(m) : real().mutex_unlock(&m);
}

int repair_between(pthread_mutex_t& m) noexcept {
  if (is_kernel_thread()) {
    return real().mutex_consistent(&m);
  }
  const std::lock_guard hold(lists);
  const held* const there = *entry_of(m);
  if (there == nullptr && is_robust(m) && main_took_it_before(m)) {
    return real().mutex_consistent(&m);
  }
  if (there == nullptr || there->owner != &mine || m.__data.__owner != inconsistent) {
    return EINVAL;
  }
  m.__data.__owner = word_of(m).load(std::memory_order_relaxed) & FUTEX_TID_MASK;
  return 0;
}

void leave_mutexes_between() noexcept {
  const std::lock_guard hold(lists);
  for (held** at = &all_held; *at != nullptr;) {
    held* const there = *at;
    if (there->owner != &mine) {
      at = &there->next;
      continue;
    }
    if (is_robust(*there->mutex)) {
      give_back_robust(*there, true);
    }
    *at = there->next;
    delete there;
  }
}

}  // namespace sinew::threads
