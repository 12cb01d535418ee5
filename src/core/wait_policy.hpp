// SPDX-License-Identifier: BSD-3-Clause
// One wait of one thread, as a state machine: what the thread does next, from what it has seen. It
// has no atomic, clock or system call. What threads share is in waiting_core.hpp; waiting.cpp and
// runtime.cpp carry the orders out.
//
// The inputs are when the thread came (the number of its wait, whether its turn is over), what its
// looks saw (wait_view), and time (a `Clock` with now_ns() and limits(), asked seldom). The output
// is a wait_order.
#pragma once

#include <cstdint>

#include "sinew/base/check.hpp"

namespace sinew::core {

/// What a waiting thread does next.
enum class wait_order : std::uint8_t {
  look,   ///< poll, or if another thread leads, look at the own operation
  yield,  ///< give the processor away, then look
  rest,   ///< wait_policy::rest() says how
  sleep,  ///< on the doorbell, as the leader of those who are parked
  park,   ///< sleep until the own operation wakes it; before, let another thread go on
};

/// A switch between threads costs 2 to 3 us, an answer from a thread that runs on another processor
/// 0.2 to 1: several microseconds of looking keep two such threads together.
struct wait_limits {
  /// While more threads are awake than processors: looks before a thread parks.
  std::uint32_t looks_in_crowd = 512;
  /// Looks before a leader hands over to a thread that was put off: while nothing new has come for
  /// anybody; after something has, long or short at random. What a wait's first look finds does not
  /// count: most often it is the answer to the thread whose turn has just ended.
  std::uint32_t patience_in_silence = 1536;
  std::uint32_t long_patience = 512;
  std::uint32_t short_patience = 16;
  /// Waits before a turn ends, and up to as many more at random: a fraction of a millisecond if
  /// each is answered at once. Shorter turns are fairer and slower.
  std::uint32_t least_turn = 1024;
  /// Looks without result before the clock is read, and between readings while there are processors
  /// enough.
  std::uint32_t looks_per_reading = 64;
  std::uint32_t looks_per_reading_crowded = 8;
};
inline constexpr wait_limits usual_waits{};
/// While messages come from other nodes: an answer takes longer than a switch, and over tcp a look
/// is a call of the system; and what all threads have to say goes together if each says it and
/// hands over. With 14 threads a side on one processor over tcp a message took 50 to 60 us so, 150
/// with turns of 64 waits and the usual patience; with the usual turns some waited for
/// milliseconds.
inline constexpr wait_limits waits_between_nodes{.looks_in_crowd = 4,
                                                 .patience_in_silence = 1,
                                                 .long_patience = 1,
                                                 .short_patience = 1,
                                                 .least_turn = 1};

/// How much silence, in us, makes a waiter yield between looks, and how much makes it rest.
struct silence_limits {
  std::uint64_t yield_us = 0;
  std::uint64_t rest_us = 0;
};

/// Spreads the bits of a count: the golden ratio's fraction (multiplicative hashing: Knuth, The Art
/// of Computer Programming, volume 3, section 6.4).
constexpr std::uint32_t scramble(std::uint32_t count) noexcept { return count * 0x9E3779B1u; }

/// What a waiter does between looks that found nothing: look again, yield, rest, in that order.
class idle_pace {
 public:
  idle_pace(const wait_limits& limits, bool crowded) noexcept
      : first_reading_(crowded ? limits.looks_per_reading_crowded : limits.looks_per_reading),
        crowded_(crowded) {
    SINEW_EXPECT(first_reading_ > 0);
  }

  void busy() noexcept { quiet_looks_ = 0; }
  /// Since when nothing has happened, by the Clock; 0: not for long enough to have asked it.
  [[nodiscard]] std::uint64_t quiet_since() const noexcept {
    return quiet_looks_ >= first_reading_ ? quiet_since_ : 0;
  }

  /// No pause instruction: on some processors it lasts longer than a round of progress. (Here, no
  /// difference could be measured.)
  template <class Clock>
  [[nodiscard]] wait_order quiet(Clock& clock) noexcept {
    ++quiet_looks_;
    if (quiet_looks_ < first_reading_ || (!crowded_ && quiet_looks_ % first_reading_ != 0)) {
      return wait_order::look;
    }
    const std::uint64_t now = clock.now_ns();
    if (quiet_looks_ == first_reading_) {
      quiet_since_ = now;
    }
    SINEW_ASSERT(now >= quiet_since_);
    const std::uint64_t quiet_us = (now - quiet_since_) / 1000;
    const silence_limits most = clock.limits();
    SINEW_ASSERT(most.yield_us <= most.rest_us);
    return quiet_us >= most.rest_us    ? wait_order::rest
           : quiet_us >= most.yield_us ? wait_order::yield
                                       : wait_order::look;
  }

  /// The same while other threads of ours want this processor. Counts every look, whether or not
  /// it brought something for others.
  [[nodiscard]] wait_order among_others(std::uint32_t most) noexcept {
    return ++looks_ <= most ? wait_order::look : wait_order::rest;
  }

 private:
  std::uint32_t quiet_looks_ = 0;
  std::uint32_t looks_ = 0;
  std::uint32_t first_reading_;
  bool crowded_;
  std::uint64_t quiet_since_ = 0;
};

/// What a thread saw in one look.
struct wait_view {
  int awake = 1;               ///< threads that wait and are not parked, itself included
  int processors = 1;          ///< that this process may use
  std::uint32_t put_offs = 0;  ///< how often a thread has been put off so far
  bool leads = false;
  bool happened = false;  ///< its round of progress brought something
};

class wait_policy {
 public:
  /// The wait of that number; `turn_over`: it hands over at once if another thread was put off.
  wait_policy(const wait_limits& limits, std::uint32_t number, bool turn_over,
              bool crowded) noexcept
      : limits_(limits),
        pace_(limits, crowded),
        number_(number),
        turn_over_(turn_over),
        crowded_(crowded) {}

  /// Each time before a look: look, or park. `others_ready`: there are threads that were put off.
  [[nodiscard]] wait_order begin(bool others_ready) noexcept {
    others_ready_ = others_ready;
    const bool hands_over = others_ready && turn_over_;
    turn_over_ = false;
    return hands_over ? wait_order::park : wait_order::look;
  }

  /// After a look that did not end the wait: look, yield or rest.
  template <class Clock>
  [[nodiscard]] wait_order looked(const wait_view& v, Clock& clock) noexcept {
    SINEW_EXPECT(v.leads || !v.happened);
    if (v.happened) {
      pace_.busy();
    }
    if (first_) {
      put_offs_at_first_ = v.put_offs;
      first_ = false;
    }
    if (v.awake > v.processors) {
      return pace_.among_others(v.leads || v.processors > 1 ? limits_.looks_in_crowd : 0);
    }
    if (others_ready_) {
      return pace_.among_others(patience(v.put_offs));
    }
    return v.happened ? wait_order::look : pace_.quiet(clock);
  }

  /// Instead of `rest`: sleep, or park. Only the last one awake sleeps: a message then finds
  /// somebody who polls, or nobody waits. `others_ready` as it is now: the look that has just ended
  /// may have put somebody off, who would sleep as long.
  [[nodiscard]] wait_order rest(bool leads, int awake, bool others_ready) const noexcept {
    SINEW_EXPECT(awake > 0);
    return leads && awake == 1 && !others_ready ? wait_order::sleep : wait_order::park;
  }

  [[nodiscard]] std::uint64_t quiet_since() const noexcept { return pace_.quiet_since(); }

  /// Looks that a leader takes before it hands over, if `put_offs` threads have been put off so
  /// far.
  [[nodiscard]] std::uint32_t patience(std::uint32_t put_offs) const noexcept {
    if (put_offs == put_offs_at_first_ && !crowded_) {
      return limits_.patience_in_silence;
    }
    return scramble(number_) >> 31 != 0 && !crowded_ ? limits_.long_patience
                                                     : limits_.short_patience;
  }

 private:
  const wait_limits& limits_;
  idle_pace pace_;
  std::uint32_t number_;
  std::uint32_t put_offs_at_first_ = 0;
  bool turn_over_;
  bool crowded_;
  bool first_ = true;
  bool others_ready_ = false;
};

}  // namespace sinew::core
