// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for several descriptors. Each looks without waiting; then the fiber sleeps until
// something happens to one of them.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <array>
#include <cerrno>
#include <vector>

#include "abi/threads/files.hpp"
#include "abi/threads/signal_set.hpp"
#include "abi/threads/waiting.hpp"
#include "sinew/base/check.hpp"

namespace sinew::threads {
namespace {

using fiber::readiness;

bool is_zero(const timespec* limit) noexcept {
  return limit != nullptr && limit->tv_sec == 0 && limit->tv_nsec == 0;
}

/// Not with a mask: a signal that comes between the last look at it and the call would be handled
/// before the call, and not end it. Who waits as a fiber is woken.
bool waits_in_kernel(const sigset_t* mask, bool at_once) noexcept {
  return at_once || (mask == nullptr && may_block());
}

/// The descriptors of a wait: a few on the stack.
class watch_list {
 public:
  explicit watch_list(std::size_t most) {
    if (most > few_.size()) {
      many_.reserve(most);
    }
  }
  void add(int descriptor, readiness want) {
    if (many_.capacity() != 0) {
      many_.push_back({descriptor, want});
    } else {
      SINEW_EXPECT(count_ < few_.size());
      few_[count_] = {descriptor, want};
    }
    ++count_;
  }
  [[nodiscard]] fiber::watched* data() noexcept {
    return many_.capacity() != 0 ? many_.data() : few_.data();
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  std::array<fiber::watched, 8> few_{};
  std::vector<fiber::watched> many_;
  std::size_t count_ = 0;
};

readiness readiness_of(short events) noexcept {
  const bool in = (events & (POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND)) != 0;
  const bool out = (events & (POLLOUT | POLLWRNORM | POLLWRBAND)) != 0;
  return in && out ? readiness::any : out ? readiness::out : readiness::in;
}

int poll_until(pollfd* files, nfds_t count, moment until) {
  watch_list list(count);
  for (nfds_t i = 0; i < count; ++i) {
    list.add(files[i].fd, readiness_of(files[i].events));
  }
  return when_one_is_ready(list.data(), list.size(), "poll", until, [=] {
    const timespec now{};  // the kernel writes to it
    return static_cast<int>(answer_of(raw_call(SYS_ppoll, word(files), static_cast<long>(count),
                                               word(&now), 0, sizeof(std::uint64_t))));
  });
}

int poll_again(pollfd* files, nfds_t count, int timeout_ms) {
  static auto* const call = real_call<decltype(::poll)>("poll");
  if (may_block() || timeout_ms == 0) {
    return call(files, count, timeout_ms);
  }
  return poll_until(files, count, end_in_ms(timeout_ms));
}

/// The three sets of select(), which it changes.
struct three_sets {
  fd_set* given[3];
  fd_set asked[3];

  three_sets(fd_set* in, fd_set* out, fd_set* odd) noexcept : given{in, out, odd}, asked{} {
    for (int i = 0; i < 3; ++i) {
      if (given[i] != nullptr) {
        asked[i] = *given[i];
      }
    }
  }
  void renew() noexcept {
    for (int i = 0; i < 3; ++i) {
      if (given[i] != nullptr) {
        *given[i] = asked[i];
      }
    }
  }
};

int select_until(int end, fd_set* in, fd_set* out, fd_set* odd, moment until) {
  three_sets sets(in, out, odd);
  const int most = end < FD_SETSIZE ? end : FD_SETSIZE;
  watch_list list(static_cast<std::size_t>(most > 0 ? most : 0));
  for (int i = 0; i < most; ++i) {
    const bool for_in = FD_ISSET(i, &sets.asked[0]) || FD_ISSET(i, &sets.asked[2]);
    const bool for_out = FD_ISSET(i, &sets.asked[1]);
    if (for_in || for_out) {
      list.add(i, for_in && for_out ? readiness::any : for_out ? readiness::out : readiness::in);
    }
  }
  return when_one_is_ready(list.data(), list.size(), "select", until, [&] {
    sets.renew();
    const timespec now{};
    return static_cast<int>(
        answer_of(raw_call(SYS_pselect6, end, word(in), word(out), word(odd), word(&now), 0)));
  });
}

int epoll_until(int descriptor, epoll_event* events, int most, moment until) {
  fiber::watched set{descriptor, readiness::in};
  return when_one_is_ready(&set, 1, "epoll_wait", until, [=] {
    return static_cast<int>(answer_of(raw_call(SYS_epoll_wait, descriptor, word(events), most, 0)));
  });
}

}  // namespace
}  // namespace sinew::threads

using namespace sinew::threads;

extern "C" {

int poll(pollfd* files, nfds_t count, int timeout_ms) {
  return poll_again(files, count, timeout_ms);
}

int __poll_chk(pollfd* files, nfds_t count, int timeout_ms, size_t room);
int __poll_chk(pollfd* files, nfds_t count, int timeout_ms, size_t room) {
  static auto* const call = real_call<decltype(::__poll_chk)>("__poll_chk");
  return count <= room / sizeof(pollfd) ? poll_again(files, count, timeout_ms)
                                        : call(files, count, timeout_ms, room);
}

int ppoll(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
  static auto* const call = real_call<decltype(::ppoll)>("ppoll");
  if (!is_fiber()) {
    return call(files, count, limit, mask);
  }
  return with_mask(mask, [=] {
    return waits_in_kernel(mask, is_zero(limit)) ? call(files, count, limit, nullptr)
                                                 : poll_until(files, count, end_of(limit));
  });
}

int select(int end, fd_set* in, fd_set* out, fd_set* odd, timeval* limit) {
  static auto* const call = real_call<decltype(::select)>("select");
  if (may_block() || (limit != nullptr && limit->tv_sec == 0 && limit->tv_usec == 0)) {
    return call(end, in, out, odd, limit);
  }
  const timespec length =
      limit == nullptr ? timespec{} : timespec{limit->tv_sec, limit->tv_usec * 1000};
  return select_until(end, in, out, odd, end_of(limit == nullptr ? nullptr : &length));
}

int pselect(int end, fd_set* in, fd_set* out, fd_set* odd, const timespec* limit,
            const sigset_t* mask) {
  static auto* const call = real_call<decltype(::pselect)>("pselect");
  if (!is_fiber()) {
    return call(end, in, out, odd, limit, mask);
  }
  return with_mask(mask, [=] {
    return waits_in_kernel(mask, is_zero(limit)) ? call(end, in, out, odd, limit, nullptr)
                                                 : select_until(end, in, out, odd, end_of(limit));
  });
}

int epoll_wait(int descriptor, epoll_event* events, int most, int timeout_ms) {
  static auto* const call = real_call<decltype(::epoll_wait)>("epoll_wait");
  if (may_block() || timeout_ms == 0) {
    return call(descriptor, events, most, timeout_ms);
  }
  return epoll_until(descriptor, events, most, end_in_ms(timeout_ms));
}

int epoll_pwait(int descriptor, epoll_event* events, int most, int timeout_ms,
                const sigset_t* mask) {
  static auto* const call = real_call<decltype(::epoll_pwait)>("epoll_pwait");
  if (!is_fiber()) {
    return call(descriptor, events, most, timeout_ms, mask);
  }
  return with_mask(mask, [=] {
    return waits_in_kernel(mask, timeout_ms == 0)
               ? call(descriptor, events, most, timeout_ms, nullptr)
               : epoll_until(descriptor, events, most, end_in_ms(timeout_ms));
  });
}

#if __GLIBC_PREREQ(2, 35)
int epoll_pwait2(int descriptor, epoll_event* events, int most, const timespec* limit,
                 const sigset_t* mask) {
  static auto* const call = real_call<decltype(::epoll_pwait2)>("epoll_pwait2");
  if (!is_fiber()) {
    return call(descriptor, events, most, limit, mask);
  }
  return with_mask(mask, [=] {
    return waits_in_kernel(mask, is_zero(limit))
               ? call(descriptor, events, most, limit, nullptr)
               : epoll_until(descriptor, events, most, end_of(limit));
  });
}
#endif

}  // extern "C"
