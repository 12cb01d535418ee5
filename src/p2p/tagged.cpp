// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/tagged.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "p2p/backlog.hpp"
#include "p2p/failures.hpp"
#include "p2p/observe.hpp"
#include "p2p/peers.hpp"
#include "p2p/unexpected.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::p2p {
namespace {

// A key, from its lowest bit: tag, source, communicator. Exact receives have the mask of all ones,
// without which UCX would search for them in a list.
constexpr unsigned tag_bits = 31;
constexpr unsigned source_bits = 20;
constexpr unsigned comm_bits = 13;
constexpr unsigned source_at = tag_bits;
constexpr unsigned comm_at = source_at + source_bits;
static_assert(comm_at + comm_bits == 64);
constexpr std::uint64_t tag_mask = (std::uint64_t{1} << tag_bits) - 1;
static_assert(max_tag.value() == tag_mask);
constexpr std::uint64_t comm_mask = ~std::uint64_t{0} << comm_at;
constexpr std::uint32_t most_comms = 1U << comm_bits;
constexpr int most_ranks = 1 << source_bits;

std::uint64_t key_of(std::uint64_t context) noexcept { return context / 2 << comm_at; }
std::uint64_t key_of(std::uint64_t context, comm_rank source, message_tag tag) noexcept {
  SINEW_EXPECT(source.below(most_ranks));
  return key_of(context) | static_cast<std::uint64_t>(source.value()) << source_at |
         (tag == any_tag ? 0 : static_cast<std::uint64_t>(tag.value()));
}
std::uint64_t key_of(fabric::header head) noexcept {
  const match::envelope sent = envelope_in(head);
  return key_of(head.word[0], sent.source, sent.tag);
}
comm_rank source_in(std::uint64_t key) noexcept {
  return comm_rank{static_cast<int>(key >> source_at & (most_ranks - 1))};
}
message_tag tag_in(std::uint64_t key) noexcept {
  return message_tag{static_cast<int>(key & tag_mask)};
}

}  // namespace

network_matching::network_matching(const parts& p) : all_(p), tags_(p.peers.network().tags()) {
  if (tags_ == nullptr) {
    return;
  }
  SINEW_CHECK(all_.rt.size() <= most_ranks, "the network cannot match the messages of this job",
              "a key has room for 1,048,576 ranks, and there are " + std::to_string(all_.rt.size()),
              "set SINEW_NET_MATCHING=off");
  for (job_rank r = 0; r.below(all_.rt.size()); ++r) {
    if (!all_.peers.is_near(r)) {
      all_.peers.slow(r).set(slow_bits::tagged);
    }
  }
  kept_chore_ = all_.rt.add_chore(
      [](void* s) { return static_cast<network_matching*>(s)->look_after_kept(); }, this);
}

void network_matching::match_for(channel& in) const {
  if (tags_ != nullptr && in.away == nullptr && in.context / 2 < most_comms) {
    in.away = match::make_engine("hash");
  }
}

// Its communicator is gone: what has come for it and was never received goes, too.
void network_matching::stop_matching(channel& in) {
  if (in.away == nullptr) {
    return;
  }
  const base::guard held(lock_, true);
  std::erase(kept_, &in);
  in.matcher.gathered().all().each_message(
      [](void* by, const match::message& m) {
        const auto& stored = static_cast<const matched&>(m);
        if (stored.how == matched::way::tagged) {
          static_cast<fabric::tagged*>(by)->drop(stored.tagged);
        }
      },
      tags_);
  while (const auto found = tags_->take(key_of(in.context), comm_mask)) {
    tags_->drop(*found);
  }
}

bool network_matching::comes_tagged(const channel& in, comm_rank source) const noexcept {
  SINEW_EXPECT(source != any_source);
  return (all_.peers.slow(in.sources()[source]).get() & slow_bits::tagged) != 0;
}

operation* network_matching::start_send(channel& in, fabric::header head, const buffer& from,
                                        job_rank peer, mode how) {
  SINEW_EXPECT(in.away != nullptr);
  operation* const op = all_.operations.make(&in, from);
  op->head = head;
  op->peer = peer;
  op->outcome = {};
  op->exposed = false;
  op->todo = step::send_eager;
  op->handler = am_eager;
  if (all_.failures.end_failed(*op, peer)) {
    return op;
  }
  const void* const at = all_.operations.whole(*op, from);
  if ((all_.peers.slow(peer).get() & slow_bits::observed) != 0) {
    all_.observers.tell_sent(*op, false);
  }
  op->part.self = op;
  op->part.by = this;
  op->part.ended = [](fabric::tagged::operation& o, const fabric::tagged::ending& e) noexcept {
    const auto& part = static_cast<operation::tagged_part&>(o);
    part.by->sent(*part.self, e);
  };
  all_.waiting.expect_answer(peer);
  using until = fabric::tagged::until;
  const auto ended = tags_->send(peer, key_of(head), at, from.bytes(),
                                 how == mode::synchronous ? until::taken : until::sent, op->part);
  if (ended.has_value()) {
    sent(*op, *ended);
  }
  return op;
}

void network_matching::sent(operation& op, const fabric::tagged::ending& how) noexcept {
  op.packed.reset();
  if (how.why != fabric::tagged::reason::done) {
    op.outcome.error = fault::peer_failed;
  }
  all_.waiting.end_answer(op.peer);
  all_.operations.finish(op);
}

// Throws std::bad_alloc, and the receive is stored nowhere.
match::message* network_matching::post(operation& op) {
  channel& in = *op.in;
  const bool from_any = op.wanted.source == any_source;
  if (!from_any && !comes_tagged(in, op.wanted.source)) {
    return in.matcher.enter(op.wanted).post(op);
  }
  endings ends;
  match::message* met = nullptr;
  {
    const base::guard held(lock_, true);
    if (from_any || in.keeps_all) {
      bring(in, ends);
      met = in.matcher.enter(op.wanted).post(op);
      if (met == nullptr && !in.keeps_all) {
        base::must_have_memory("listing a communicator", [&] { kept_.push_back(&in); });
        in.keeps_all = true;
        all_.rt.want_chore(kept_chore_, true);
      }
    } else {
      if (in.stored_tagged.load(std::memory_order_relaxed) != 0) {
        met = in.matcher.enter(op.wanted).take(op.wanted);
      }
      if (met == nullptr) {
        hand_over(op, ends);
      }
    }
  }
  end_all(ends);
  return met;
}

// Under lock_. Throws std::bad_alloc, and nothing has happened.
void network_matching::hand_over(operation& op, endings& ends) {
  const std::size_t room = op.data.bytes();
  ends.reserve(ends.size() + 1);
  void* into = op.data.base;
  if (!op.data.type->dense()) {
    op.packed.reset(new std::byte[room]);
    into = op.packed.get();
  }
  match::message* const none = op.in->away->post(op);
  SINEW_ASSERT(none == nullptr);
  op.away = true;
  const bool any = op.wanted.tag == any_tag;
  const auto ended = tags_->receive(key_of(op.in->context, op.wanted.source, op.wanted.tag),
                                    any ? ~tag_mask : ~std::uint64_t{0}, into, room, set_part(op));
  if (ended.has_value()) {
    ends.push_back({&op, *ended});
  }
}

fabric::tagged::operation& network_matching::set_part(operation& op) noexcept {
  op.part.self = &op;
  op.part.by = this;
  op.part.ended = [](fabric::tagged::operation& o, const fabric::tagged::ending& e) noexcept {
    const auto& part = static_cast<operation::tagged_part&>(o);
    part.by->received(*part.self, e);
  };
  return op.part;
}

// Under lock_: what has met no receive in the network meets one here, or is stored. In the
// order in which it came, all of it: later receives look here first.
void network_matching::bring(channel& in, endings& ends) {
  for (;;) {
    ends.reserve(ends.size() + 1);
    matched* const m = all_.unexpected.get();
    if (m == nullptr) {
      throw std::bad_alloc();
    }
    const auto found = tags_->take(key_of(in.context), comm_mask);
    if (!found.has_value()) {
      all_.unexpected.put(m);
      return;
    }
    m->in = &in;
    const match::envelope sent{source_in(found->key), tag_in(found->key)};
    m->sent = sent;
    m->how = matched::way::tagged;
    m->number = incident::no_number;
    m->tagged = *found;
    m->bytes = found->bytes;
    m->charged = 0;
    m->sender_operation = 0;
    in.stored_tagged.fetch_add(1, std::memory_order_relaxed);
    match::receive* met = nullptr;
    base::must_have_memory("storing a message that no receive waits for",
                           [&] { met = in.matcher.enter(sent).arrive(*m); });
    if (all_.observers.is_told()) [[unlikely]] {
      all_.observers.tell_tagged(in, sent, found->bytes, met == nullptr);
    }
    if (met != nullptr) {
      in.stored_tagged.fetch_sub(1, std::memory_order_relaxed);
      all_.unexpected.put(m);
      take(*static_cast<operation*>(met), *found, &ends);
    }
  }
}

void network_matching::bring(channel& in) {
  endings ends;
  {
    const base::guard held(lock_, true);
    bring(in, ends);
  }
  end_all(ends);
}

// A receive has met a message that the network has for it.
void network_matching::take(operation& op, const fabric::tagged::waiting& what,
                            endings* ends) noexcept {
  std::size_t room = op.data.bytes();
  void* into = op.data.base;
  op.away = false;
  op.unmatched.store(false, std::memory_order_relaxed);
  if (!op.data.type->dense()) {
    op.packed.reset(new (std::nothrow) std::byte[room]);
    room = op.packed ? room : 0;
    into = op.packed.get();
  }
  const auto ended = tags_->receive(what, into, room, set_part(op));
  if (!ended.has_value()) {
    return;
  }
  if (ends == nullptr) {
    received(op, *ended);
  } else {
    ends->push_back({&op, *ended});  // reserved by the caller
  }
}

void network_matching::end_all(const endings& ends) noexcept {
  for (const ending& each : ends) {
    received(*each.op, each.how);
  }
}

void network_matching::received(operation& op, const fabric::tagged::ending& how) noexcept {
  using reason = fabric::tagged::reason;
  channel& in = *op.in;
  bool was_away = false;
  {
    const base::guard held(lock_, true);
    was_away = std::exchange(op.away, false);
    if (was_away) {
      const bool listed = in.away->cancel(op);
      SINEW_ASSERT(listed);
    }
  }
  op.outcome = {};
  if (how.why == reason::cancelled || how.why == reason::failed) {
    const fault why = all_.failures.fault_of(in, op.wanted.source);
    op.outcome.source = op.wanted.source;
    op.outcome.tag = op.wanted.tag;
    op.outcome.error = why != fault::none             ? why
                       : how.why == reason::cancelled ? fault::cancelled
                                                      : fault::peer_failed;
    op.packed.reset();
    all_.operations.finish(op);
    return;
  }
  op.outcome.source = source_in(how.key);
  op.outcome.tag = tag_in(how.key);
  op.outcome.sent_bytes = how.bytes;
  if (how.why == reason::done) {
    op.outcome.bytes = how.bytes;
    unpack_whole(op);
  } else {
    const bool no_memory = !op.data.type->dense() && !op.packed && op.data.bytes() != 0;
    op.outcome.error = no_memory ? fault::no_memory : fault::truncated;
    op.outcome.bytes =
        no_memory ? 0 : std::min(op.data.bytes(), how.bytes);  // of undefined content
    op.packed.reset();
  }
  if (was_away && all_.observers.is_told()) [[unlikely]] {
    all_.observers.tell_tagged(in, {op.outcome.source, op.outcome.tag}, how.bytes, false);
  }
  all_.operations.finish(op);
}

// In the poller. A channel without a receive from any source gives those to the network that wait
// for ranks of other nodes.
int network_matching::look_after_kept() {
  int happened = 0;
  endings ends;
  base::must_have_memory("handing receives to the network", [&] {
    const base::guard held(lock_, true);
    for (channel* const in : kept_) {
      bring(*in, ends);
      if (!in->matcher.has_wildcards()) {
        give_away(*in, ends);
        in->keeps_all = false;
        ++happened;
      }
    }
    std::erase_if(kept_, [](const channel* in) { return !in->keeps_all; });
    if (kept_.empty()) {
      all_.rt.want_chore(kept_chore_, false);
    }
  });
  end_all(ends);
  return happened + static_cast<int>(ends.size());
}

// Under lock_: of those, no message from here takes one, so they stay posted until cancelled.
void network_matching::give_away(channel& in, endings& ends) {
  struct collection {
    const network_matching& self;
    channel& in;
    std::vector<operation*> found;
  } all{*this, in, {}};
  in.matcher.gathered().all().each_receive(
      [](void* c, const match::receive& r) {
        auto& to = *static_cast<collection*>(c);
        if (r.wanted.source != any_source && to.self.comes_tagged(to.in, r.wanted.source)) {
          to.found.push_back(static_cast<operation*>(const_cast<match::receive*>(&r)));
        }
      },
      &all);
  for (operation* const op : all.found) {
    if (in.matcher.enter(op->wanted).cancel(*op)) {
      hand_over(*op, ends);
    }
  }
}

// True: the network has it, and ends it soon.
bool network_matching::cancel(operation& op) {
  const base::guard held(lock_, true);
  if (!op.away) {
    return false;
  }
  tags_->cancel(op.part);
  return true;
}

// In a revoked communicator.
void network_matching::end_receives(channel& in) {
  if (in.away == nullptr || !in.revoked.load(std::memory_order_relaxed)) {
    return;
  }
  const base::guard held(lock_, true);
  std::vector<operation*> all;
  in.away->each_receive(
      [](void* c, const match::receive& r) {
        static_cast<std::vector<operation*>*>(c)->push_back(
            static_cast<operation*>(const_cast<match::receive*>(&r)));
      },
      &all);
  for (operation* const op : all) {
    tags_->cancel(op->part);
  }
}

}  // namespace sinew::p2p
