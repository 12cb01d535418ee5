// Telling an observer of messages. While there is none, nothing here runs and nothing elsewhere is
// asked: sends leave the fast path by a bit that they look at anyhow, and arrivals are seen by
// handlers that stand before the usual ones only meanwhile.
#include <cstring>

#include "p2p/state.hpp"
#include "sinew/base/check.hpp"

namespace sinew::p2p {
namespace {

/// Of an RTS and of a push alike: the sender's operation, then the length of the message.
std::size_t announced_bytes(const fabric::arrival& a) noexcept {
  std::uint64_t words[2] = {};
  SINEW_EXPECT(a.size >= sizeof words);
  std::memcpy(words, a.data, sizeof words);
  return words[1];
}

}  // namespace

void engine::state::tell_sent(const operation& op) noexcept {
  const observer seen = told.load(std::memory_order_relaxed);
  if (seen == nullptr) {
    return;
  }
  SINEW_EXPECT(op.in != nullptr && op.todo != step::nothing);
  incident it;
  it.comm = op.in->comm;
  it.collective = kind_of(op.in->context) != 0;
  it.rendezvous = op.todo == step::send_rts;
  it.peer = op.peer;
  it.tag = envelope_in(op.head).tag;
  it.bytes = op.data.bytes();
  seen(it);
}

void engine::state::tell_arrived(am what, const fabric::arrival& a, bool stored) noexcept {
  const observer seen = told.load(std::memory_order_relaxed);
  if (seen == nullptr) {
    return;
  }
  const channel& in = channel_of(static_cast<std::uint32_t>(a.head.word[0]));
  incident it;
  it.comm = in.comm;
  it.collective = kind_of(in.context) != 0;
  it.arrived = true;
  it.unexpected = stored;
  it.rendezvous = what == am_rts;
  it.peer = a.source;
  it.tag = envelope_in(a.head).tag;
  it.bytes = what == am_eager        ? a.size
             : what == am_eager_sync ? a.size - sizeof(std::uint64_t)
                                     : announced_bytes(a);
  it.waiting = in.matcher.unexpected();
  seen(it);
}

// Of one that has met its receive in the network it is not known whether it waited there.
void engine::state::tell_tagged(const channel& in, const match::envelope& sent, std::size_t bytes,
                                bool stored) noexcept {
  const observer seen = told.load(std::memory_order_relaxed);
  if (seen == nullptr) {
    return;
  }
  incident it;
  it.comm = in.comm;
  it.arrived = true;
  it.unexpected = stored;
  it.peer = in.sources()[sent.source];
  it.tag = sent.tag;
  it.bytes = bytes;
  it.waiting = in.matcher.unexpected();
  seen(it);
}

// A message has been stored exactly if there is a new spare, which only the poller replaces.
template <am What>
status engine::state::observed(void* self, const fabric::arrival& a) noexcept {
  auto& s = *static_cast<state*>(self);
  const matched* const before = s.spare;
  const status ended = s.plain_handlers[What - am_eager](self, a);
  if (ended.done()) {
    s.tell_arrived(What, a, s.spare != before);
  }
  return ended;
}

// In the poller, where no handler runs.
int engine::state::apply_observation() {
  const bool wanted = told.load(std::memory_order_relaxed) != nullptr;
  rt.want_chore(observation_chore, false);
  if (wanted == observing.load(std::memory_order_relaxed)) {
    return 0;
  }
  const auto choose = [&](am what, fabric::handler seen) {
    const fabric::handler plain = plain_handlers[what - am_eager];
    SINEW_ASSERT(plain != nullptr);
    set_handler(what, wanted ? seen : plain);
  };
  choose(am_eager, observed<am_eager>);
  choose(am_eager_sync, observed<am_eager_sync>);
  choose(am_rts, observed<am_rts>);
  choose(am_push, observed<am_push>);
  for (job_rank r = 0; r.below(near_ranks + core::outside::room); ++r) {
    if (wanted) {
      slow[r.index()].set(slow_bits::observed);
    } else {
      slow[r.index()].clear(slow_bits::observed);
    }
  }
  observing.store(wanted, std::memory_order_release);
  return 1;
}

void engine::observe(observer seen) {
  state& s = *state_;
  if (s.observation_chore < 0) {
    s.observation_chore = runtime_.add_chore(
        [](void* self) { return static_cast<state*>(self)->apply_observation(); }, &s);
  }
  // What is told is the program's: not by the helper, as long as somebody is told.
  if ((s.told.load(std::memory_order_relaxed) == nullptr) != (seen == nullptr)) {
    seen != nullptr ? runtime_.hold_helper() : runtime_.release_helper();
  }
  s.told.store(seen, std::memory_order_relaxed);
  runtime_.want_chore(s.observation_chore, true);
  const auto applied = [](void* self) {
    const auto& st = *static_cast<state*>(self);
    return st.observing.load(std::memory_order_acquire) ==
           (st.told.load(std::memory_order_relaxed) != nullptr);
  };
  runtime_.wait_until(applied, &s);
  SINEW_ENSURE(applied(&s));
}

}  // namespace sinew::p2p
