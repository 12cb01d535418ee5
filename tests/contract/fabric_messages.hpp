// SPDX-License-Identifier: BSD-3-Clause
// Numbered messages of known content, and who checks them, for tests of fabric.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/fabric_ranks.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric::contract {

/// SINEW_TEST_SEED repeats a failing run.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("SINEW_TEST_SEED");
    const std::uint64_t s =
        text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}() | 1u;
    std::printf("SINEW_TEST_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return value;
}

/// Byte `i` of message `number` from `source`.
inline std::byte pattern(std::uint64_t number, int source, std::size_t i) {
  const std::uint64_t x = (number * 0x9e3779b97f4a7c15u) ^ (i * 0x2545f4914f6cdd1du) ^
                          static_cast<std::uint64_t>(source);
  return static_cast<std::byte>(x >> 29);
}
inline void fill(std::byte* at, std::size_t n, std::uint64_t number, int source) {
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = pattern(number, source, i);
  }
}
inline void check_filled(const std::byte* at, std::size_t n, std::uint64_t number, int source) {
  for (std::size_t i = 0; i < n; ++i) {
    if (at[i] != pattern(number, source, i)) {
      throw std::runtime_error("byte " + std::to_string(i) + " of " + std::to_string(n) +
                               " of message " + std::to_string(number) + " from rank " +
                               std::to_string(source) + " is wrong");
    }
  }
}

/// Exceptions must not pass through a back-end: handlers note the first problem here.
struct receiver {
  std::vector<std::uint64_t> next;  ///< expected number, by source (and stream)
  std::uint64_t total = 0;
  std::string problem;

  explicit receiver(std::size_t streams) : next(streams) {}

  static status take(void* self, const arrival& m) noexcept {
    auto& me = *static_cast<receiver*>(self);
    ++me.total;
    try {
      // head: stream, number
      const std::uint64_t stream = m.head.word[0];
      require(stream < me.next.size(), "a header is wrong");
      std::uint64_t& expected = me.next[stream];
      require(m.head.word[1] == expected,
              "message " + std::to_string(m.head.word[1]) + " of stream " + std::to_string(stream) +
                  " came when " + std::to_string(expected) + " was due");
      ++expected;
      check_filled(m.data, m.size, m.head.word[1], static_cast<int>(stream));
    } catch (const std::exception& e) {
      if (me.problem.empty()) {
        me.problem = e.what();
      }
    }
    return status::ok();
  }
  void check() const { require(problem.empty(), problem); }
};

/// Sends one filled message by one of the four ways; `progress` is called while it must wait.
template <class Wait>
void send_somehow(endpoint& fabric, int peer, std::uint64_t stream, std::uint64_t number,
                  std::size_t size, unsigned choice, std::vector<std::byte>& room, Wait wait) {
  const header head{{stream, number}};
  const auto source = static_cast<int>(stream);
  if (choice % 4 == 0 && size <= fabric.bounds().max_medium) {
    packet p;
    while (fabric.reserve(job_rank{peer}, p).retry()) {
      wait();
    }
    require(p.capacity >= size, "a packet is too small");
    fill(p.data, size, number, source);
    while (fabric.commit(job_rank{peer}, 1, head, p, size).retry()) {
      wait();
    }
    return;
  }
  fill(room.data(), size, number, source);
  for (;;) {
    const status s = choice % 4 == 1 && size <= fabric.bounds().max_short
                         ? fabric.send_short(job_rank{peer}, 1, head, room.data(), size)
                     : choice % 4 == 3
                         ? fabric.send_lazily(job_rank{peer}, 1, head, room.data(), size)
                         : fabric.send_medium(job_rank{peer}, 1, head, room.data(), size);
    require(!s.posted(), "an active message was posted");
    if (s.done()) {
      // The buffer is ours again at once.
      std::memset(room.data(), 0xee, size);
      return;
    }
    wait();
  }
}

inline std::size_t longest_of(const endpoint& fabric) {
  std::size_t longest = fabric.bounds().max_medium;
  for (int peer = 0; peer < fabric.size(); ++peer) {
    require(fabric.longest_to(job_rank{peer}) >= fabric.bounds().max_medium,
            "a message of medium size is too long");
    longest = std::max(longest, fabric.longest_to(job_rank{peer}));
  }
  return longest;
}

}  // namespace sinew::fabric::contract
