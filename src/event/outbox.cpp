// SPDX-License-Identifier: BSD-3-Clause
#include "event/outbox.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/last_words.hpp"
#include "sinew/base/sentence.hpp"

namespace sinew::event {

namespace {

/// What a topic's messages are for.
const char* name_of(std::size_t which) {
  switch (static_cast<topic>(which)) {
    case topic::event:
    case topic::queue:
    case topic::hang:
      return "events";
    case topic::barrier:
      return "barriers";
    case topic::reservation:
      return "reservations";
    case topic::task:
      return "tasks";
    case topic::profile:
      return "profiles";
    case topic::job:
      return "a job's meetings";
    case topic::region:
    case topic::copy:
    case topic::reduction:
      return "regions";
    default:
      return "a program's topic";
  }
}

}  // namespace

outbox::outbox(core::runtime& runtime)
    : runtime_(runtime),
      endpoint_(runtime.endpoint()),
      most_short_(endpoint_.bounds().max_short),
      owed_(std::make_unique<std::uint32_t[]>(static_cast<std::size_t>(runtime.size()))),
      forgotten_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(runtime.size()))),
      full_(std::make_unique<bool[]>(static_cast<std::size_t>(runtime.size()))) {
  chore_ = runtime.add_chore(
      [](void* self) noexcept { return static_cast<outbox*>(self)->retry(); }, this);
  endpoint_.set_handler(
      core::handlers::event,
      [](void* self, const fabric::arrival& a) noexcept {
        static_cast<outbox*>(self)->arrived(a);
        return status::ok();
      },
      this);
}

// The thread that polls has not asked for this message and could do nothing about what is thrown;
// and its sender waits for an answer. What can be answered is answered by the handler; what is
// thrown as far as here ends the job.
void outbox::arrived(const fabric::arrival& a) noexcept {
  if (forgotten_[a.source.index()].load(std::memory_order_relaxed)) {
    return;
  }
  SINEW_EXPECT(a.source.below(endpoint_.size()) && a.source != endpoint_.rank());
  const std::uint64_t first = a.head.word[0];
  const std::size_t which = first & 0xff;
  try {
    deliver({a.source, first >> 8, a.head.word[1], a.data, a.size}, which);
  } catch (const std::bad_alloc&) {
    give_up(a.source, which, "there is no memory left");
  } catch (const std::exception& e) {
    give_up(a.source, which, e.what());
  } catch (...) {
    give_up(a.source, which, "its handler has thrown something that is no std::exception");
  }
}

// Without allocation of its own: there may be no memory.
void outbox::give_up(job_rank source, std::size_t which, const char* why) const noexcept {
  base::last_words text;
  text.add("rank ").add_number(endpoint_.rank().index());
  text.add(" cannot handle a message for ").add(name_of(which)).add(" from rank ");
  text.add_number(source.index()).add(" (").add(as_clause(why));
  text.add("); the job ends, since nobody would ever answer");
  runtime_.session().abort(1, text.text());
  __builtin_unreachable();
}

outbox::~outbox() {
  const core::without_helper still(runtime_);
  runtime_.drop_chore(chore_);
  // A message that comes later is dropped.
  endpoint_.set_handler(
      core::handlers::event, [](void*, const fabric::arrival&) noexcept { return status::ok(); },
      nullptr);
}

void outbox::set_handler(topic t, message_handler function, void* context) {
  SINEW_EXPECT(static_cast<std::size_t>(t) < topics && function != nullptr);
  receivers_[static_cast<std::size_t>(t)] = {function, context};
}

// Nothing may be thrown through the fabric, and the sender would wait for ever.
void outbox::refuse(job_rank source, std::size_t which) const {
  const error failure(
      "rank " + to_string(source) + " has sent a message for " + std::string(name_of(which)) +
          ", which rank " + to_string(endpoint_.rank()) + " has not made",
      "nobody would ever answer",
      "make them on all ranks, and let the ranks meet, before one of them sends: acquires, spawns, "
      "starts, creates");
  if (source == endpoint_.rank()) {
    throw failure;
  }
  runtime_.session().abort(1, failure.what());
  __builtin_unreachable();
}

void outbox::deliver(const message& m, std::size_t which) const {
  if (which >= topics || receivers_[which].function == nullptr) [[unlikely]] {
    refuse(m.source, which);
  }
  receivers_[which].function(receivers_[which].context, m);
}

status outbox::try_send(job_rank peer, const fabric::header& head, const void* data,
                        std::size_t bytes) {
  return bytes <= most_short_
             ? endpoint_.send_short(peer, core::handlers::event, head, data, bytes)
             : endpoint_.send_medium(peer, core::handlers::event, head, data, bytes);
}

void outbox::send(job_rank peer, topic t, std::uint64_t small, std::uint64_t word, const void* data,
                  std::size_t bytes) {
  SINEW_EXPECT(peer.below(endpoint_.size()) && static_cast<std::size_t>(t) < topics);
  SINEW_EXPECT(small >> 56 == 0 && bytes <= endpoint_.bounds().max_medium);
  SINEW_EXPECT(data != nullptr || bytes == 0);
  if (peer == endpoint_.rank()) {
    deliver({peer, small, word, static_cast<const std::byte*>(data), bytes},
            static_cast<std::size_t>(t));
    return;
  }
  const fabric::header head{{small << 8 | static_cast<std::uint64_t>(t), word}};
  const base::guard held(lock_, runtime_.threaded());
  if (owed_[peer.index()] != 0 || !try_send(peer, head, data, bytes).done()) {
    keep(peer, head, data, bytes);
  }
}

void outbox::forget(job_rank peer) {
  const base::guard held(lock_, runtime_.threaded());
  const auto which = peer.index();
  SINEW_EXPECT(peer != endpoint_.rank());
  forgotten_[which].store(true, std::memory_order_relaxed);
  std::erase_if(late_, [peer](const late& l) { return l.peer == peer; });
  owed_[which] = 1;  // so that send() comes to keep()
}

void outbox::keep(job_rank peer, const fabric::header& head, const void* data, std::size_t bytes) {
  if (forgotten_[peer.index()].load(std::memory_order_relaxed)) {
    return;
  }
  const auto* first = static_cast<const std::byte*>(data);
  late_.push_back({peer, head, {first, first + bytes}});
  ++owed_[peer.index()];
  SINEW_ENSURE(late_.size() >= owed_[peer.index()]);
  runtime_.want_chore(chore_, true);
}

// One round over what is late; a rank whose ring is full is skipped, so order is kept.
int outbox::retry() noexcept {
  const base::guard held(lock_, runtime_.threaded());
  std::fill_n(full_.get(), runtime_.size(), false);
  const auto before = late_.size();
  std::erase_if(late_, [this](const late& l) {  // in order, and each once
    const auto peer = l.peer.index();
    if (full_[peer] || !try_send(l.peer, l.head, l.data.data(), l.data.size()).done()) {
      full_[peer] = true;
      return false;
    }
    SINEW_ASSERT(owed_[peer] != 0);
    --owed_[peer];
    return true;
  });
  const int sent = static_cast<int>(before - late_.size());
  runtime_.want_chore(chore_, !late_.empty());
  return sent;
}

}  // namespace sinew::event
