// SPDX-License-Identifier: BSD-3-Clause
#include "event/courier.hpp"

#include <string>

#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"

namespace sinew::event {
namespace {

static_assert(sizeof(event) == sizeof(std::uint64_t), "a batch is an array of handles");

[[noreturn]] void refuse_message(job_rank source) {
  throw error("cannot read a message about an event",
              "rank " + to_string(source) + " has sent what no rank of this version sends",
              "run the same version of Sinew on all ranks");
}

}  // namespace

event_message wire::read(const message& m, job_rank rank, int ranks) {
  using kind = event_message::kind;
  event_message read;
  read.what = static_cast<kind>(m.small & kind_mask);
  read.poisoned = (m.small & poisoned_bit) != 0;
  read.source = m.source;
  read.about = event::from_bits(m.word);
  const auto number = static_cast<std::uint32_t>(m.small >> number_shift);
  bool good = false;
  if (read.what == kind::subscribe || read.what == kind::trigger || read.what == kind::cancel) {
    good = read.about.owner() == rank;
  } else if (read.what == kind::settled) {
    read.how = {number, read.about.generation(), read.poisoned};
    good = number >= 1 && number <= read.how.to && read.about.owner() == m.source;
  } else if (read.what == kind::batch) {
    read.events = m.size / sizeof(std::uint64_t);
    read.bits = m.data;
    good = read.events != 0 && m.size % sizeof(std::uint64_t) == 0;
  } else if (read.what == kind::lost) {
    read.rank = job_rank{static_cast<int>(number)};
    good = number < static_cast<std::uint32_t>(ranks);
  }
  if (!good) [[unlikely]] {
    refuse_message(m.source);
  }
  return read;
}

courier::courier(outbox& messages, job_rank rank, int ranks, receiver arrived, void* context)
    : messages_(messages), rank_(rank), ranks_(ranks), arrived_(arrived), context_(context) {
  SINEW_EXPECT(arrived != nullptr && rank.below(ranks));
  messages_.set_handler(topic::event, &courier::on_message, this);
}

void courier::on_message(void* self, const message& m) {
  auto& c = *static_cast<courier*>(self);
  SINEW_EXPECT(m.source != c.rank_);
  c.arrived_(c.context_, wire::read(m, c.rank_, c.ranks_));
}

void courier::settled(job_rank to, event about, const run& how) {
  SINEW_EXPECT(about.owner() == rank_ && how.from >= 1 && how.from <= how.to);
  send(to, event_message::kind::settled, how.poisoned, how.from,
       event(about.owner(), about.index(), how.to));
}

void courier::settled(job_rank to, std::span<const event> clean) {
  SINEW_EXPECT(!clean.empty() && to != rank_ && to.below(ranks_));
  if (clean.size() == 1) {
    settled(to, clean.front(), {1, clean.front().generation(), false});
  } else {
    messages_.send(to, topic::event, wire::small_of(event_message::kind::batch, false, 0), 0,
                   clean.data(), clean.size_bytes());
  }
}

void courier::lost(job_rank rank) {
  SINEW_EXPECT(rank != rank_ && rank.below(ranks_));
  messages_.forget(rank);
  for (job_rank other = 0; other.below(ranks_); ++other) {
    if (other != rank_) {
      send(other, event_message::kind::lost, false, static_cast<std::uint32_t>(rank.value()), {});
    }
  }
}

}  // namespace sinew::event
