// SPDX-License-Identifier: BSD-3-Clause
#include "fiber/reactor.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

#include "fiber/hub.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fiber/descriptor.hpp"

// System calls by syscall() alone: libsinew_threads.so replaces the C library's names.
namespace sinew::fiber {

/// One wait, on its fiber's stack. Several descriptors may end it at the same time; who sets
/// `ended` wakes it.
struct descriptor_wait {
  explicit descriptor_wait(const char* why) noexcept : who(why) {}
  sleeper who;
  std::atomic<bool> ended{false};
};

namespace {

/// What is known of one descriptor. Registered once, for everything and edge-triggered, it stays in
/// the set until it is closed: the kernel then tells of each change once, and `events` counts.
struct file {
  spin_lock lock;
  /// Raised under the lock (release) before waiters are woken; taken (acquire) before the call that
  /// may find nothing, and compared under the lock by who is about to wait. So either a waiter
  /// stands in the list when an event is told of, or it sees the count.
  std::atomic<std::uint32_t> events{0};
  /// In the set, as far as is known. Relaxed: a wrong `false` costs a system call, and there is no
  /// wrong `true` for those who say when they close.
  std::atomic<bool> registered{false};
  std::atomic<std::uint32_t> note{0};
  watched* first = nullptr;

  void push(watched& w) noexcept {
    SINEW_EXPECT(!w.listed && w.of != nullptr);
    w.previous = nullptr;
    w.next = first;
    if (first != nullptr) {
      first->previous = &w;
    }
    first = &w;
    w.listed = true;
  }
  void remove(watched& w) noexcept {
    SINEW_EXPECT(w.listed && (w.previous != nullptr ? w.previous->next : first) == &w);
    (w.previous != nullptr ? w.previous->next : first) = w.next;
    if (w.next != nullptr) {
      w.next->previous = w.previous;
    }
    w.listed = false;
  }
  /// Not locked. Something has happened that ends waits for any of `what`.
  void tell(std::uint8_t what) noexcept {
    const std::lock_guard hold(lock);
    events.store(events.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    for (watched* each = first; each != nullptr;) {
      watched& now = *each;
      each = now.next;
      if ((static_cast<std::uint8_t>(now.want) & what) != 0) {
        remove(now);
        if (!now.of->ended.exchange(true, std::memory_order_relaxed)) {
          now.of->who.wake();  // the wait and all that is its own may be gone from here
        }
      }
    }
  }
};

constexpr std::uint32_t files_per_chunk = 1024;
constexpr std::uint32_t most_chunks = 1024;  // a million: what the kernel allows unless told more
constexpr std::uint64_t own_event = UINT64_MAX;
constexpr std::uint32_t all_events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;

/// Chunks of the table are made when first used and stay: waiters may look at any time.
constinit std::array<std::atomic<file*>, most_chunks> chunks{};
constinit spin_lock opening;
/// Both -1 until the first wait. Release when opened, acquire by users.
constinit std::atomic<int> set{-1};
constinit std::atomic<int> bell{-1};

file* known(int descriptor) noexcept {
  const auto number = static_cast<std::uint32_t>(descriptor);
  if (number >= files_per_chunk * most_chunks) {
    return nullptr;
  }
  file* const chunk = chunks[number / files_per_chunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + number % files_per_chunk;
}

file* known_or_made(int descriptor) noexcept {
  if (file* const there = known(descriptor)) {
    return there;
  }
  const auto number = static_cast<std::uint32_t>(descriptor);
  if (number >= files_per_chunk * most_chunks) {
    return nullptr;
  }
  void* const memory = ::mmap(nullptr, files_per_chunk * sizeof(file), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  auto* fresh = static_cast<file*>(memory);  // zeros are what a new one is
  file* expected = nullptr;
  auto& place = chunks[number / files_per_chunk];
  if (!place.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
    ::munmap(memory, files_per_chunk * sizeof(file));
    fresh = expected;
  }
  return fresh + number % files_per_chunk;
}

/// Out of the way of programs that count on the lowest numbers; but among the first 64, since the
/// kernel takes milliseconds to enlarge the table of a process with threads.
int moved_up(int descriptor) noexcept {
  constexpr int high = 60;
  const long moved = descriptor >= 0 && descriptor < high
                         ? ::syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, high)
                         : -1;
  if (moved < 0) {
    return descriptor;
  }
  (void)::syscall(SYS_close, descriptor);
  return static_cast<int>(moved);
}

bool open_set() noexcept {
  const std::lock_guard hold(opening);
  if (set.load(std::memory_order_relaxed) >= 0) {
    return true;
  }
  const int fresh = moved_up(static_cast<int>(::syscall(SYS_epoll_create1, EPOLL_CLOEXEC)));
  const int ring =
      moved_up(static_cast<int>(::syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK)));
  epoll_event ringing{};
  ringing.events = EPOLLIN;
  ringing.data.u64 = own_event;
  if (fresh < 0 || ring < 0 ||
      ::syscall(SYS_epoll_ctl, fresh, EPOLL_CTL_ADD, ring, &ringing) != 0) {
    (void)::syscall(SYS_close, fresh);
    (void)::syscall(SYS_close, ring);
    return false;
  }
  bell.store(ring, std::memory_order_release);
  set.store(fresh, std::memory_order_release);
  return true;
}

/// Puts a descriptor into the set, or makes the kernel look at it anew. Either way it tells of what
/// is already so.
bool enter(file& f, int descriptor, bool trust) noexcept {
  if (trust && f.registered.load(std::memory_order_relaxed)) {
    return true;
  }
  if (set.load(std::memory_order_acquire) < 0 && !open_set()) {
    return false;
  }
  const int in = set.load(std::memory_order_acquire);
  epoll_event all{};
  all.events = all_events;
  all.data.u64 = static_cast<std::uint32_t>(descriptor);
  long done = -1;
  if (f.registered.load(std::memory_order_relaxed)) {
    done = ::syscall(SYS_epoll_ctl, in, EPOLL_CTL_MOD, descriptor, &all);
  }
  if (done != 0) {
    done = ::syscall(SYS_epoll_ctl, in, EPOLL_CTL_ADD, descriptor, &all);
  }
  if (done != 0 && errno == EEXIST) {
    done = ::syscall(SYS_epoll_ctl, in, EPOLL_CTL_MOD, descriptor, &all);
  }
  f.registered.store(done == 0, std::memory_order_relaxed);
  return done == 0;
}

std::uint8_t ended_by(std::uint32_t events) noexcept {
  constexpr std::uint32_t both = EPOLLERR | EPOLLHUP;
  std::uint8_t what = 0;
  if ((events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | both)) != 0) {
    what |= static_cast<std::uint8_t>(readiness::in);
  }
  if ((events & (EPOLLOUT | both)) != 0) {
    what |= static_cast<std::uint8_t>(readiness::out);
  }
  return what;
}

/// The bell is for who sleeps, or is about to: nobody else takes its ringing away.
void tell_all(const epoll_event* events, long count, bool slept) noexcept {
  for (long i = 0; i < count; ++i) {
    if (events[i].data.u64 == own_event) {
      std::uint64_t rung = 0;
      if (slept) {
        (void)::syscall(SYS_read, bell.load(std::memory_order_acquire), &rung, sizeof rung);
      }
    } else if (file* const f = known(static_cast<int>(events[i].data.u64))) {
      f->tell(ended_by(events[i].events));
    }
  }
}

constexpr int batch = 256;

/// Enters the caller at all its descriptors. False if the kernel refuses one; `looks` if something
/// has happened already.
bool stand_in_line(watched* files, std::size_t count, bool trust, bool& looks) noexcept {
  for (std::size_t i = 0; i < count && !looks; ++i) {
    watched& w = files[i];
    if (w.descriptor < 0) {
      continue;
    }
    file* const f = known_or_made(w.descriptor);
    if (f == nullptr || !enter(*f, w.descriptor, trust)) {
      return false;
    }
    const std::lock_guard hold(f->lock);
    looks = f->events.load(std::memory_order_relaxed) != w.seen;
    if (!looks) {
      f->push(w);
    }
  }
  return true;
}

void leave_line(watched* files, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (files[i].of == nullptr || files[i].descriptor < 0) {
      continue;
    }
    file* const f = known(files[i].descriptor);
    if (f == nullptr) {
      continue;
    }
    const std::lock_guard hold(f->lock);
    if (files[i].listed) {
      f->remove(files[i]);
    }
  }
}

}  // namespace

std::uint32_t events_of(int descriptor) noexcept {
  const file* const f = known(descriptor);
  return f == nullptr ? 0 : f->events.load(std::memory_order_acquire);
}

descriptor_wait_end wait_for_descriptors(watched* files, std::size_t count,
                                         const descriptor_wait_options& how) noexcept {
  SINEW_EXPECT(self() != nullptr && (files != nullptr || count == 0));
  descriptor_wait me(how.why);
  for (std::size_t i = 0; i < count; ++i) {
    files[i].of = &me;
    files[i].listed = false;
  }
  bool looks = false;
  if (!stand_in_line(files, count, how.told_of_closing, looks)) {
    leave_line(files, count);
    return descriptor_wait_end::impossible;
  }
  if (!looks) {
    worker& w = *here;
    w.starts_watching();
    const bool woken = me.who.wait(how.deadline_ns, how.call_off);
    here->stops_watching();
    if (woken && count == 1) {
      SINEW_ASSERT(!files[0].listed);
      return descriptor_wait_end::happened;  // who woke us has taken it out of the line
    }
  }
  leave_line(files, count);
  SINEW_ASSERT(std::none_of(files, files + count, [](const watched& w) { return w.listed; }));
  // Whoever set it did so under a lock that we have held since: its wake-up is over.
  if (looks || me.ended.load(std::memory_order_relaxed)) {
    return descriptor_wait_end::happened;
  }
  SINEW_ENSURE(how.deadline_ns != no_deadline || how.call_off != nullptr);
  return how.call_off != nullptr && how.call_off->load(std::memory_order_seq_cst) != 0
             ? descriptor_wait_end::called_off
             : descriptor_wait_end::timed_out;
}

void forget_descriptor(int descriptor) noexcept {
  if (file* const f = known(descriptor)) {
    f->registered.store(false, std::memory_order_relaxed);
    f->note.store(0, std::memory_order_relaxed);
  }
}

void wake_waiters_of(int descriptor) noexcept {
  file* const f = known(descriptor);
  if (f == nullptr) {
    return;
  }
  bool any = false;
  {
    const std::lock_guard hold(f->lock);
    any = f->first != nullptr;
  }
  if (any) {
    f->tell(static_cast<std::uint8_t>(readiness::any));
  }
}

unsigned descriptor_bound() noexcept {
  std::uint32_t bound = 1;  // the set's own numbers are in the first chunk's range, or low
  for (std::uint32_t i = 0; i < most_chunks; ++i) {
    bound = chunks[i].load(std::memory_order_relaxed) != nullptr ? i + 1 : bound;
  }
  return bound * files_per_chunk;
}

bool is_own_descriptor(int descriptor) noexcept {
  return descriptor >= 0 && (descriptor == set.load(std::memory_order_relaxed) ||
                             descriptor == bell.load(std::memory_order_relaxed));
}

std::atomic<std::uint32_t>* note_of_descriptor(int descriptor) noexcept {
  file* const f = known_or_made(descriptor);
  return f == nullptr ? nullptr : &f->note;
}

namespace reactor {

bool is_open() noexcept { return set.load(std::memory_order_acquire) >= 0; }

void poll() noexcept {
  const int in = set.load(std::memory_order_acquire);
  if (in < 0) {
    return;
  }
  std::array<epoll_event, batch> events;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  tell_all(events.data(),
           ::syscall(SYS_epoll_pwait, in, events.data(), batch, 0, nullptr, sizeof(std::uint64_t)),
           false);
}

void sleep(std::uint64_t timeout_ns) noexcept {
  const int in = set.load(std::memory_order_acquire);
  SINEW_EXPECT(in >= 0);
  std::array<epoll_event, batch> events;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t longest = 1000 * second;
  const std::uint64_t ns = std::min(timeout_ns, longest);
  const timespec limit{static_cast<time_t>(ns / second), static_cast<long>(ns % second)};
  // Wait: a worker's without work, for descriptors and for others' signals.
  long count =
      ::syscall(SYS_epoll_pwait2, in, events.data(), batch, &limit, nullptr, sizeof(std::uint64_t));
  if (count < 0 && errno == ENOSYS) {  // before Linux 5.11
    constexpr std::uint64_t millisecond = 1'000'000;
    const auto ms = static_cast<int>((ns + millisecond - 1) / millisecond);
    count =
        ::syscall(SYS_epoll_pwait, in, events.data(), batch, ms, nullptr, sizeof(std::uint64_t));
  }
  tell_all(events.data(), count, true);
}

void wake() noexcept {
  const std::uint64_t one = 1;
  (void)::syscall(SYS_write, bell.load(std::memory_order_acquire), &one, sizeof one);
}

void abandon() noexcept {
  for (std::atomic<int>* each : {&set, &bell}) {
    const int mine = each->exchange(-1);
    if (mine >= 0) {
      (void)::syscall(SYS_close, mine);
    }
  }
  for (auto& chunk : chunks) {
    if (file* const files = chunk.load(std::memory_order_relaxed)) {
      ::munmap(files, files_per_chunk * sizeof(file));
      chunk.store(nullptr, std::memory_order_relaxed);
    }
  }
}

}  // namespace reactor
}  // namespace sinew::fiber
