// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/observe.hpp"

#include <cstring>

#include "p2p/channels.hpp"
#include "p2p/peers.hpp"
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

void observation::tell_sent(const operation& op, bool numbered) noexcept {
  const observer seen = told_.load(std::memory_order_relaxed);
  if (seen == nullptr) {
    return;
  }
  SINEW_EXPECT(op.in != nullptr && op.todo != step::nothing);
  incident it;
  it.comm = op.in->comm;
  it.collective = channel_table::kind_of(op.in->context) != 0;
  it.rendezvous = op.todo == step::send_rts;
  it.peer = op.peer;
  it.tag = envelope_in(op.head).tag;
  it.bytes = op.data.bytes();
  if (numbered && !it.collective && op.peer.index() < counted_.size()) {
    it.number = counted_[op.peer.index()].sent.fetch_add(1, std::memory_order_relaxed);
  }
  seen(it);
}

void observation::number(const fabric::arrival& a, matched& m) noexcept {
  const bool collective = channel_table::kind_of(context_in(a.head)) != 0;
  const std::size_t source = a.source.index();
  m.number =
      collective || source >= counted_.size() ? incident::no_number : counted_[source].arrived;
}

void observation::tell_arrived(am what, const fabric::arrival& a, bool stored,
                               std::uint64_t number) noexcept {
  if (number != incident::no_number) {
    ++counted_[a.source.index()].arrived;
  }
  const observer seen = told_.load(std::memory_order_relaxed);
  if (seen == nullptr) {
    return;
  }
  const channel& in = all_.channels.of(static_cast<std::uint32_t>(a.head.word[0]));
  incident it;
  it.comm = in.comm;
  it.collective = channel_table::kind_of(in.context) != 0;
  it.arrived = true;
  it.unexpected = stored;
  it.rendezvous = what == am_rts;
  it.peer = a.source;
  it.tag = envelope_in(a.head).tag;
  it.bytes = what == am_eager        ? a.size
             : what == am_eager_sync ? a.size - sizeof(std::uint64_t)
                                     : announced_bytes(a);
  it.waiting = in.matcher.unexpected();
  it.number = number;
  seen(it);
}

void observation::tell_met(const matched& m) noexcept {
  const observer seen = told_.load(std::memory_order_relaxed);
  if (seen == nullptr || m.how == matched::way::fault) {
    return;
  }
  incident it;
  it.comm = m.in->comm;
  it.collective = channel_table::kind_of(m.in->context) != 0;
  it.arrived = true;
  it.met = true;
  it.rendezvous = m.how == matched::way::rts;
  it.peer = m.job_source;
  it.tag = m.sent.tag;
  it.bytes = m.bytes;
  it.waiting = m.in->matcher.unexpected();
  it.number = it.collective ? incident::no_number : m.number;
  seen(it);
}

void observation::tell_tagged(const channel& in, const match::envelope& sent, std::size_t bytes,
                              bool stored) noexcept {
  const observer seen = told_.load(std::memory_order_relaxed);
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

namespace {

// A message has been stored exactly if there is a new spare, which only the poller replaces.
template <am What>
status observed(void* self, const fabric::arrival& a) noexcept {
  auto& s = *static_cast<engine::state*>(self);
  matched* const before = s.receives.spare();
  s.observers.number(a, *before);
  const std::uint64_t number = before->number;  // it may be another's soon, once it is stored
  const status ended = s.observers.plain(What)(self, a);
  if (ended.done()) {
    s.observers.tell_arrived(What, a, s.receives.spare() != before, number);
  }
  return ended;
}

}  // namespace

// In the poller, where no handler runs.
int observation::apply() {
  const bool wanted = is_told();
  all_.rt.want_chore(chore_, false);
  if (wanted == applied_.load(std::memory_order_relaxed)) {
    return 0;
  }
  const auto choose = [&](am what, fabric::handler seen) {
    SINEW_ASSERT(plain(what) != nullptr);
    all_.peers.set_handler(what, wanted ? seen : plain(what), context_);
  };
  choose(am_eager, observed<am_eager>);
  choose(am_eager_sync, observed<am_eager_sync>);
  choose(am_rts, observed<am_rts>);
  choose(am_push, observed<am_push>);
  for (job_rank r = 0; r.below(all_.peers.size()); ++r) {
    if (wanted) {
      all_.peers.slow(r).set(slow_bits::observed);
    } else {
      all_.peers.slow(r).clear(slow_bits::observed);
    }
  }
  applied_.store(wanted, std::memory_order_release);
  return 1;
}

void observation::observe(observer seen) {
  if (seen != nullptr && counted_.empty()) {
    counted_ = std::vector<counted>(static_cast<std::size_t>(all_.peers.size()));
  }
  if (chore_ < 0) {
    chore_ = all_.rt.add_chore([](void* self) { return static_cast<observation*>(self)->apply(); },
                               this);
  }
  // What is told is the program's: not by the helper, as long as somebody is told.
  if (is_told() != (seen != nullptr)) {
    seen != nullptr ? all_.rt.hold_helper() : all_.rt.release_helper();
  }
  told_.store(seen, std::memory_order_relaxed);
  all_.rt.want_chore(chore_, true);
  const auto applied = [](void* self) {
    const auto& it = *static_cast<const observation*>(self);
    return it.applied_.load(std::memory_order_acquire) == it.is_told();
  };
  all_.rt.wait_until(applied, this);
  SINEW_ENSURE(applied(this));
}

void engine::observe(observer seen) { state_->observers.observe(seen); }

}  // namespace sinew::p2p
