// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives the messages about events between ranks. Read this first, after
// peer_table.hpp; outbox.hpp below it has the module's active messages and keeps what the fabric
// cannot take yet.
//
// Messages, each about an event by its handle:
//   subscribe  to the owner, when an alias is made: one, however many wait.
//   settled    from the owner: generations from..to of the slot have triggered, all poisoned or
//              none. To each rank that subscribed, when it triggers or at once.
//   batch      from the owner: several events that have triggered, as have all earlier generations
//              of their slots, none poisoned.
//   trigger,   to the owner, who alone decides which came first: a rank that triggers learns of it
//   cancel     like all others. (If it took its own trigger for granted, a cancel that came before
//              would split the ranks.)
//   lost       to all: a rank has died. From then on the two exchange no messages, so that what was
//              awaited from it cannot be poisoned here and trigger later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "event/outbox.hpp"
#include "event/runs.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/event.hpp"
#include "sinew/event/waiter.hpp"

namespace sinew::event {

/// A message as its receiver sees it.
struct event_message {
  enum class kind : std::uint8_t { subscribe, trigger, settled, batch, cancel, lost };
  kind what = kind::subscribe;
  bool poisoned = false;   ///< trigger
  job_rank source = 0;     ///< of the message
  job_rank rank = 0;       ///< lost
  event about;             ///< subscribe, trigger, cancel; settled: the newest of the run
  run how;                 ///< settled
  std::size_t events = 0;  ///< batch
  const std::byte* bits = nullptr;

  /// Of a batch; the bytes need not be aligned.
  [[nodiscard]] event operator[](std::size_t i) const noexcept {
    SINEW_EXPECT(what == kind::batch && i < events);
    std::uint64_t word = 0;
    std::memcpy(&word, bits + i * sizeof word, sizeof word);
    return event::from_bits(word);
  }
};

/// What an event's message says in `message::small`: the kind (4 bits), poisoned (1), and from bit
/// 8 on a number. Pure, so that a test can hold one against the other.
namespace wire {
inline constexpr std::uint64_t kind_mask = 0xf;
inline constexpr std::uint64_t poisoned_bit = 0x10;
inline constexpr int number_shift = 8;
static_assert(static_cast<std::uint64_t>(event_message::kind::lost) <= kind_mask);
static_assert(event::generation_bits + number_shift <= 56, "message::small has 56 bits");

[[nodiscard]] constexpr std::uint64_t small_of(event_message::kind what, bool poisoned,
                                               std::uint32_t number) noexcept {
  return static_cast<std::uint64_t>(what) | (poisoned ? poisoned_bit : 0) |
         std::uint64_t{number} << number_shift;
}
/// At `rank`. Throws sinew::error if no rank of this version can have sent it there.
[[nodiscard]] event_message read(const message& m, job_rank rank, int ranks);
}  // namespace wire

class courier {
 public:
  using receiver = void (*)(void* context, const event_message& m);
  /// `arrived(context, message)` is called in progress, with no lock held.
  courier(outbox& messages, job_rank rank, int ranks, receiver arrived, void* context);
  courier(const courier&) = delete;
  courier& operator=(const courier&) = delete;

  // To the event's owner.
  void subscribe(event e) { send(e.owner(), event_message::kind::subscribe, false, 0, e); }
  void trigger(event e, bool poisoned) {
    send(e.owner(), event_message::kind::trigger, poisoned, 0, e);
  }
  void cancel(event e) { send(e.owner(), event_message::kind::cancel, false, 0, e); }

  // From the event's owner.
  /// Generations how.from..how.to of the slot of `about` have triggered.
  void settled(job_rank to, event about, const run& how);
  /// These have triggered clean, and so have all earlier generations of their slots. At least one.
  void settled(job_rank to, std::span<const event> clean);

  /// To all other ranks. Nothing is sent to `rank`, nor heard from it, from now on.
  void lost(job_rank rank);

 private:
  void send(job_rank to, event_message::kind what, bool poisoned, std::uint32_t number, event e) {
    SINEW_EXPECT(to != rank_ && to.below(ranks_));
    messages_.send(to, topic::event, wire::small_of(what, poisoned, number), e.bits(), nullptr, 0);
  }
  static void on_message(void* self, const message& m);

  outbox& messages_;
  const job_rank rank_;
  const int ranks_;
  const receiver arrived_;
  void* const context_;
};

}  // namespace sinew::event
