// Events of other ranks. All that waits for one here hangs on a slot of ours, its alias, which
// triggers when the owner says so. Messages, each about an event by its handle:
//   subscribe  to the owner, when the alias is made: one, however many wait.
//   settled    from the owner: generations from..to of the slot have triggered, all poisoned or
//   none.
//              To each rank that subscribed, when it triggers or at once; several clean ones of
//              slots that know no poison in one message (batch).
//   trigger, cancel  to the owner, who alone decides which came first: a rank that triggers learns
//              of it like all others. (If it took its own trigger for granted, a cancel that came
//              before would split the ranks.)
//   lost       to all: a rank has died. From then on the two exchange no messages, so that what was
//              awaited from it cannot be poisoned here and trigger later.
// An answer that comes twice, or for nothing, is true all the same. Since what is known of a slot
// is only ever a true statement about its generations, messages may come in any order.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "event/body.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"
#include "sinew/event/barrier.hpp"

namespace sinew::event {
namespace {

enum op : std::uint64_t { op_subscribe, op_trigger, op_settled, op_batch, op_cancel, op_lost };
constexpr std::uint64_t op_mask = 0xf;
constexpr std::uint64_t poisoned_bit = 0x10;
constexpr int from_shift = 8;

/// Names the slot of `e` whatever the generation.
std::uint64_t slot_key(event e) { return event(e.owner(), e.index(), 0).bits(); }

std::uint64_t settled_word(const run& r) {
  return op_settled | (r.poisoned ? poisoned_bit : 0) | std::uint64_t{r.from} << from_shift;
}

}  // namespace

system::body::proxy& system::body::proxy_of(int owner, std::uint32_t index) {
  SINEW_CHECK(owner < self.size_, "cannot use an event",
              "its owner would be rank " + std::to_string(owner), "pass handles as they are");
  auto& pages = peers[static_cast<std::size_t>(owner)].pages;
  const std::size_t page = index / proxies_per_page;
  if (page >= pages.size() || pages[page] == nullptr) [[unlikely]] {
    try {
      pages.resize(std::max(pages.size(), page + 1));
      pages[page] = std::make_unique<proxy[]>(proxies_per_page);
    } catch (const std::bad_alloc&) {
      throw error("cannot use an event of rank " + std::to_string(owner),
                  "there is no memory to note what is known of it", "free some");
    }
  }
  return pages[page][index % proxies_per_page];
}

const run* system::body::known(const proxy& p, event e, run& room) const {
  if (p.from != 0 && p.from <= e.generation() && e.generation() <= p.to) {
    room = {p.from, p.to, false};
    return &room;
  }
  return p.mixed ? mixed.at(slot_key(e)).find(e.generation()) : nullptr;
}

void system::body::learn(proxy& p, event e, const run& r) {
  if (!r.poisoned) {
    if (p.from == 0) {
      p.from = r.from;
      p.to = r.to;
      return;
    }
    if (r.from <= p.to + 1 && p.from <= r.to + 1) {
      p.from = std::min(p.from, r.from);
      p.to = std::max(p.to, r.to);
      return;
    }
  }
  mixed[slot_key(e)].add(r);
  p.mixed = true;
}

system::body::found system::body::find_remote(event e) {
  proxy& p = proxy_of(e.owner(), e.index());
  run room;
  if (const run* r = known(p, e, room)) {
    return {0, r->poisoned ? state::poisoned : state::triggered};
  }
  for (std::uint32_t i = p.alias; i != 0; i = at(i).ranks) {
    if (at(i).remaining == e.generation()) {
      return {i, state::pending};
    }
  }
  if (peers[static_cast<std::size_t>(e.owner())].lost) {
    return {0, state::poisoned};
  }
  const std::uint32_t i = take_slot();
  at(i).link |= alias | armed;
  at(i).remaining = e.generation();
  at(i).ranks = p.alias;
  p.alias = i;
  out.send(e.owner(), topic::event, op_subscribe, e.bits(), nullptr, 0);
  return {i, state::pending};
}

void system::body::resolve_aliases(proxy& p, const run& r) {
  for (std::uint32_t* link = &p.alias; *link != 0;) {
    slot& s = at(*link);
    if (!r.holds(s.remaining)) {
      link = &s.ranks;
      continue;
    }
    const std::uint32_t i = *link;
    *link = std::exchange(s.ranks, 0);
    mark(i, r.poisoned);
  }
}

void system::body::subscribe_rank(slot& s, int rank) {
  const auto r = static_cast<std::uint32_t>(rank);
  if (s.ranks == 0) {
    s.ranks = r + 1;
    return;
  }
  std::uint32_t list = (s.ranks & many_ranks) != 0 ? s.ranks & ~many_ranks : 0;
  if (list == 0) {
    put(list, s.ranks - 1);
  }
  put(list, r);
  s.ranks = list | many_ranks;
}

void system::body::notify_all(slot& s, std::uint32_t i, bool bad) {
  const std::uint32_t to = std::exchange(s.ranks, 0);
  if ((to & many_ranks) == 0) {
    notify(static_cast<int>(to - 1), i, bad);
    return;
  }
  for (std::uint32_t c = to & ~many_ranks; c != 0;) {
    const std::uint32_t* const items = chunks[c].items;
    for (std::uint32_t n = 0; n < chunks[c].count; ++n) {
      notify(static_cast<int>(items[n]), i, bad);
    }
    c = release_chunk(c);
  }
}

void system::body::notify(int rank, std::uint32_t i, bool) {
  const event e(self.rank_, i, at(i).generation.load(std::memory_order_relaxed) - 1);
  if ((at(i).link & tainted) != 0) [[unlikely]] {
    answer(rank, e);
    return;
  }
  auto& b = batches[static_cast<std::size_t>(rank)];
  if (b == nullptr) {
    b = std::make_unique<batch>();
  }
  if (b->count == 0) {
    dirty.push_back(rank);
  }
  b->events[b->count++] = e.bits();
  if (b->count == batch::most) {
    flush();
  }
}

void system::body::flush() {
  for (const int rank : dirty) {
    batch& b = *batches[static_cast<std::size_t>(rank)];
    if (b.count == 1) {
      out.send(rank, topic::event, settled_word({1, 0, false}), b.events[0], nullptr, 0);
    } else {
      out.send(rank, topic::event, op_batch, 0, b.events, b.count * sizeof(std::uint64_t));
    }
    b.count = 0;
  }
  dirty.clear();
}

/// `e` is ours and has triggered.
void system::body::answer(int rank, event e) {
  const std::uint32_t newest = at(e.index()).generation.load(std::memory_order_relaxed) - 1;
  run r{1, newest, false};
  if ((at(e.index()).link & tainted) != 0) {
    r = poisoned.at(e.index()).around(e.generation(), newest);
  }
  out.send(rank, topic::event, settled_word(r), event(e.owner(), e.index(), r.to).bits(), nullptr,
           0);
}

void system::body::trigger_remote(user_event e, bool bad) {
  if (peers[static_cast<std::size_t>(e.owner())].lost) {
    return;
  }
  out.send(e.owner(), topic::event, op_trigger | (bad ? poisoned_bit : 0), e.bits(), nullptr, 0);
}

void system::body::owner_trigger(event e, bool bad, int from) {
  const found f = find(e);
  if (f.known == state::poisoned) {
    return;
  }
  if (f.known == state::triggered || (at(f.slot).link & armed) != 0) {
    log_line(log_level::error, "rank " + std::to_string(from) + " triggered " + describe(e) +
                                   " which had triggered or will by itself: ignored");
    return;
  }
  mark(f.slot, bad);
}

void system::body::on_message(void* context, const message& m) {
  auto& b = *static_cast<body*>(context);
  if ((m.small & op_mask) == op_lost) {
    const int rank = static_cast<int>(m.small >> from_shift);
    if (rank != b.self.rank_) {
      b.self.lost(rank);
    }
    return;
  }
  section s(b);
  try {
    b.handle(m);
  } catch (const error& e) {
    b.refuse(m, e);
  }
  s.work();
}

/// The message names an event that cannot be: its sender is told that it has failed, if it asks.
void system::body::refuse(const message& m, const error& why) {
  log_line(log_level::error, "a message of rank " + std::to_string(m.source) +
                                 " about an event is refused: " + why.what());
  if ((m.small & op_mask) == op_subscribe) {
    const std::uint32_t only = event::from_bits(m.word).generation();
    out.send(m.source, topic::event, settled_word({only, only, true}), m.word, nullptr, 0);
  }
}

void system::body::handle(const message& m) {
  const event e = event::from_bits(m.word);
  const bool bad = (m.small & poisoned_bit) != 0;
  switch (m.small & op_mask) {
    case op_subscribe:
      if (const found f = find(e); f.known == state::pending) {
        subscribe_rank(at(f.slot), m.source);
      } else {
        answer(m.source, e);
      }
      break;
    case op_trigger:
      owner_trigger(e, bad, m.source);
      break;
    case op_settled: {
      proxy& p = proxy_of(e.owner(), e.index());
      const run r{static_cast<std::uint32_t>(m.small >> from_shift), e.generation(), bad};
      learn(p, e, r);
      resolve_aliases(p, r);
      break;
    }
    case op_batch:
      for (std::size_t at_byte = 0; at_byte < m.size; at_byte += sizeof(std::uint64_t)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, m.data + at_byte, sizeof bits);
        const event each = event::from_bits(bits);
        proxy& p = proxy_of(each.owner(), each.index());
        const run r{1, each.generation(), false};
        learn(p, each, r);
        resolve_aliases(p, r);
      }
      break;
    case op_cancel:
      (void)cancel_here(e);
      break;
    default:
      SINEW_ASSERT(false);
  }
}

bool system::cancel(event e) {
  section s(*body_);
  if (e.exists() && e.owner() != rank_) {
    if (!body_->peers.at(static_cast<std::size_t>(e.owner())).lost) {
      body_->out.send(e.owner(), topic::event, op_cancel, e.bits(), nullptr, 0);
    }
    return false;
  }
  const bool done = e.exists() && body_->cancel_here(e);
  s.work();
  return done;
}

/// False if that is known.
bool system::body::lose(int rank) {
  section s(*this);
  peer& p = peers[static_cast<std::size_t>(rank)];
  if (p.lost) {
    return false;
  }
  p.lost = true;
  out.forget(rank);
  for (int other = 0; other < self.size_; ++other) {
    if (other != self.rank_) {
      out.send(other, topic::event, op_lost | static_cast<std::uint64_t>(rank) << from_shift, 0,
               nullptr, 0);
    }
  }
  constexpr run everything{1, event::last_generation, true};
  for (const auto& page : p.pages) {
    for (std::uint32_t n = 0; page != nullptr && n < proxies_per_page; ++n) {
      resolve_aliases(page[n], everything);
    }
  }
  for (const event e : std::exchange(p.entrusted, {})) {
    (void)cancel_here(e);
  }
  s.work();
  return true;
}

void system::lost(int rank) {
  SINEW_CHECK(rank >= 0 && rank < size_ && rank != rank_, "cannot give up a rank",
              "rank " + std::to_string(rank) + " is this one or none", "name another rank");
  if (!body_->lose(rank)) {
    return;
  }
  barriers_->lost(rank);
  for (const auto& [call, context] : body_->on_death) {
    call(context, rank);
  }
}

void system::entrust(event e, int rank) {
  section s(*body_);
  body::peer& p = body_->peers.at(static_cast<std::size_t>(rank));
  if (p.lost) {
    (void)body_->cancel_here(e);
    s.work();
    return;
  }
  p.entrusted.push_back(e);
  if (p.entrusted.size() >= p.most_entrusted) {
    std::erase_if(p.entrusted,
                  [this](event old) { return body_->find(old).known != state::pending; });
    p.most_entrusted = std::max<std::size_t>(64, 2 * p.entrusted.size());
  }
}

void system::on_lost(void (*call)(void*, int), void* context) {
  std::erase_if(body_->on_death, [context](const auto& m) { return m.second == context; });
  if (call != nullptr) {
    body_->on_death.emplace_back(call, context);
  }
}

bool system::is_lost(int rank) const noexcept {
  const section s(*body_);
  return body_->peers[static_cast<std::size_t>(rank)].lost;
}

}  // namespace sinew::event
