// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a measuring program meet, and the words that they show each other: handles,
// results. In shared memory where one process has forked all of them; by messages where a launcher
// has started them, on several hosts perhaps.
#ifndef SINEW_BENCH_MEETING_HPP
#define SINEW_BENCH_MEETING_HPP

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "micro.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/event/system.hpp"

namespace micro {

class meeting {
 public:
  static constexpr std::size_t most_words = std::size_t{1} << 18;

  meeting() = default;
  virtual ~meeting() = default;
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;

  /// Returns when all ranks have called it, and makes progress meanwhile. What was shared before is
  /// in everybody's words then.
  virtual void operator()() = 0;
  /// The other ranks get these words of this one: first, first + stride, ... `count` of them.
  virtual void share(std::size_t first, std::size_t count = 1, std::size_t stride = 1) = 0;

  /// The one-way trip of a cache line between ranks 0 and 1, in ns, where there are no others; 0
  /// where they have no memory in common. Both call it.
  virtual double line_trip() { return 0; }

  [[nodiscard]] std::uint64_t& operator[](std::size_t i) const {
    if (i >= most_words) {
      wrong("more words than a meeting has");
    }
    return words_[i];
  }

 protected:
  std::uint64_t* words_ = nullptr;
};

/// What ranks forked from one process share for it; zero at the start.
struct shared_board {
  alignas(256) std::atomic<long> there;  // two lines apart, for the prefetcher of pairs
  alignas(256) std::atomic<long> back;
  alignas(256) std::atomic<int> arrivals;
  std::uint64_t words[meeting::most_words];
};

class shared_meeting final : public meeting {
 public:
  shared_meeting(shared_board& board, int rank, int size, sinew::core::runtime& runtime)
      : board_(board), rank_(rank), size_(size), runtime_(runtime) {
    words_ = board.words;
  }
  void operator()() override {
    const int all = (board_.arrivals.fetch_add(1) / size_ + 1) * size_;
    // Who gives a processor of its own away on a busy machine gets it back after a time slice.
    for (int quiet = 0; board_.arrivals.load(std::memory_order_acquire) < all; ++quiet) {
      if (runtime_.poll() == 0 && (runtime_.crowded() || quiet % 20000 == 19999)) {
        sched_yield();
      }
    }
  }
  void share(std::size_t, std::size_t, std::size_t) override {}
  double line_trip() override {
    constexpr int trips = 200;
    if (size_ != 2) {
      return 0;
    }
    (*this)();
    std::vector<double> ns;
    for (int batch = 0; batch < 6; ++batch) {
      const double begin = now_ns();
      for (int i = 0; i < trips; ++i) {
        ++trip_;
        if (rank_ == 0) {
          board_.there.store(trip_, std::memory_order_release);
          await(board_.back);
        } else {
          await(board_.there);
          board_.back.store(trip_, std::memory_order_release);
        }
      }
      if (batch > 0) {  // the first one warms up
        ns.push_back((now_ns() - begin) / trips / 2);
      }
    }
    return median(ns);
  }

 private:
  void await(const std::atomic<long>& word) const {
    for (int polls = 1; word.load(std::memory_order_acquire) != trip_; ++polls) {
      if (polls % 20000 == 0) {  // whoever is to answer may be on no processor
        sched_yield();
      }
    }
  }

  shared_board& board_;
  long trip_ = 0;
  const int rank_;
  const int size_;
  sinew::core::runtime& runtime_;
};

/// Each rank sends every other what it shares, and then that it is there: messages of two ranks
/// stay in order.
class far_meeting final : public meeting {
 public:
  explicit far_meeting(sinew::event::system& events) : events_(events), mine_(most_words) {
    words_ = mine_.data();
    events.set_handler(
        topic,
        [](void* self, const sinew::event::message& m) {
          static_cast<far_meeting*>(self)->take(m);
        },
        this);
  }
  void operator()() override {
    std::atomic<int>& arrived = arrived_[turn_ % arrived_.size()];
    to_all(here, turn_++, nullptr, 0);
    waited_for one{&arrived, events_.size() - 1};
    events_.runtime().wait_until(
        [](void* context) {
          const auto& w = *static_cast<waited_for*>(context);
          return w.arrived->load(std::memory_order_acquire) >= w.all;
        },
        &one);
    arrived.fetch_sub(one.all);  // nobody is at the meeting after the next one before this rank
  }
  void share(std::size_t first, std::size_t count, std::size_t stride) override {
    const std::size_t most = events_.largest_message() / sizeof(std::uint64_t);
    std::vector<std::uint64_t> some;
    for (std::size_t done = 0; done < count; done += some.size()) {
      some.resize(std::min(most, count - done));
      for (std::size_t i = 0; i < some.size(); ++i) {
        some[i] = (*this)[first + (done + i) * stride];
      }
      to_all(first + done * stride, stride, some.data(), some.size() * sizeof some[0]);
    }
  }

 private:
  static constexpr auto topic = sinew::event::topic::spare;
  static constexpr std::uint64_t here = (std::uint64_t{1} << 56) - 1;
  struct waited_for {
    const std::atomic<int>* arrived;
    int all;
  };

  void to_all(std::uint64_t what, std::uint64_t word, const void* data, std::size_t bytes) {
    for (int r = 0; r < events_.size(); ++r) {
      if (events_.rank().value() != r) {
        events_.send(sinew::job_rank{r}, topic, what, word, data, bytes);
      }
    }
  }
  void take(const sinew::event::message& m) {
    if (m.small == here) {
      arrived_[m.word % arrived_.size()].fetch_add(1, std::memory_order_release);
      return;
    }
    for (std::size_t i = 0; i < m.size / sizeof(std::uint64_t); ++i) {
      std::memcpy(&(*this)[m.small + i * m.word], m.data + i * sizeof(std::uint64_t),
                  sizeof(std::uint64_t));
    }
  }

  sinew::event::system& events_;
  std::vector<std::uint64_t> mine_;
  std::uint64_t turn_ = 0;
  std::array<std::atomic<int>, 2> arrived_{};
};

}  // namespace micro

#endif
