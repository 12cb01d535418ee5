// SPDX-License-Identifier: BSD-3-Clause
#include "region/maker.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "sinew/base/error.hpp"

namespace sinew::region {

using sinew::event::event;
using sinew::event::user_event;

maker::maker(const parts& p, bool threaded) : all_(p), unfinished_(threaded), threaded_(threaded) {
  for (const memory_kind kind : {memory_kind::heap, memory_kind::shared, memory_kind::symmetric}) {
    rma::arena* const blocks = all_.blocks.arena_of(kind);
    if (blocks == nullptr) {
      continue;
    }
    using fit = future_memory::fit;
    futures_.try_emplace(
        kind, *blocks, kind == memory_kind::heap ? fit::in_any_pieces : fit::in_one_piece,
        future_memory::source{
            [this, kind](std::size_t bytes) { return all_.blocks.take_block(kind, bytes); },
            [this, kind](std::uint64_t offset, bool others_wait) {
              all_.blocks.give_back_block(kind, offset, others_wait);
            }});
  }
}

instance maker::enter(const layout& l, memory_kind kind, std::span<const job_rank> owners) {
  const std::size_t bytes = record::bytes(l.fields.size(), l.parts);
  const std::uint64_t offset = all_.blocks.take_lasting(bytes);
  SINEW_CHECK(offset != 0, "an instance cannot be made",
              all_.blocks.no_room(memory_kind::shared, bytes).why, "");
  const std::optional<instance> i = all_.table.enter(offset, l, kind, owners);
  if (!i) {
    all_.memory.memory().release(offset);
    const bool images = kind == memory_kind::symmetric;
    SINEW_CHECK(false, "an instance cannot be made",
                images ? "the " + std::to_string(all_.table.slots()) +
                             " of this rank that may be symmetric are not destroyed"
                       : std::string("there is no room for the names of more"),
                images ? "destroy some, or set SINEW_REGION_INSTANCES higher, the same on all ranks"
                       : "destroy some, or set SINEW_RMA_LOCAL_HEAP to more");
  }
  return *i;
}

maker::entered maker::create(const layout& l, memory_kind kind, std::span<const job_rank> owners,
                             event before) {
  const instance i = enter(l, kind, owners);
  const known_ptr k = all_.table.find(i);
  const user_event ready = all_.events.create();
  unfinished_.begin(i, l.parts, ready);
  for (const job_rank owner : owners) {
    if (owner != all_.table.rank()) {
      all_.events.entrust(ready, owner);  // poisoned if that is lost
    }
  }
  make_parts(*k);
  go_on(*k, unfinished_.all_asked(i));
  after(all_.events, before,
        [this, k, ready](bool bad) { go_on(*k, unfinished_.begun(k->id, ready, !bad)); });
  return {k, ready};
}

instance maker::attach(const layout& l, std::byte* base) {
  SINEW_EXPECT(l.parts == 1 && base != nullptr);
  const std::array<job_rank, 1> mine{all_.table.rank()};
  const instance i = enter(l, memory_kind::heap, mine);
  record& r = *all_.table.find(i)->there;
  r.attached = true;
  r.places()[0].address = reinterpret_cast<std::uintptr_t>(base);
  r.state.store(record_state::ready, std::memory_order_release);
  return i;
}

void maker::make_parts(const known& k) {
  const std::uint64_t record_at = all_.table.offset_of(*k.there);
  for (std::uint32_t p = 0; p < k.where.parts; ++p) {
    const allocation a{k.id.bits(), record_at, k.where.part_bytes, p, k.kind};
    // From the record: an image's place names the image's rank, not who allocates. After the last
    // answer the record may be gone, but that is not before all parts have been asked for.
    const job_rank owner = k.there->places()[p].rank;
    if (owner == all_.table.rank()) {
      make_part(owner, a);
    } else {
      all_.messages.allocate(owner, a);
    }
  }
}

void maker::make_part(job_rank creator, const allocation& wanted) {
  allocation a = wanted;
  a.bytes = std::max<std::uint64_t>(a.bytes, 1);
  future_memory* const future = future_of(a.kind);
  if (future == nullptr) {
    return answer(creator, a,
                  a.kind == memory_kind::heap ? all_.blocks.address_of(a.kind, 0, a.bytes)
                                              : all_.blocks.no_room(a.kind, a.bytes));
  }
  future_memory::outcome now{{creator, a}};
  {
    const base::guard held(futures_lock_, threaded_);
    if (future->place(now.of, now.offset) == future_memory::answer::waits) {
      return;  // whoever gives back what it inherits goes on
    }
  }
  answer({now});
}

void maker::answer(const future_memory::outcomes& served) {
  for (const future_memory::outcome& o : served) {
    const auto& [creator, a] = o.of;
    part_memory::result got;
    if (creator == all_.table.rank() || !all_.events.is_lost(creator)) {
      if (o.offset != 0) {
        got = all_.blocks.address_of(a.kind, o.offset, a.bytes);
      } else if (!o.withdrawn) {
        got = all_.blocks.no_room(a.kind, a.bytes);
      }
      answer(creator, a, got);
    }
    if (o.offset != 0 && got.address == 0) {
      give_back({a.id, a.part, a.kind});
    }
  }
}

void maker::give_back(const part_name& p) {
  update(p.kind, [&](future_memory& f, auto& served) { f.release(p, served); });
}
void maker::promise(const part_name& p) {
  update(p.kind, [&](future_memory& f, auto&) { f.promise(p); });
}
void maker::keep(const part_name& p) {
  update(p.kind, [&](future_memory& f, auto& served) { f.keep(p, served); });
}
void maker::withdraw(const part_name& p) {
  update(p.kind, [&](future_memory& f, auto& served) { f.withdraw(p, served); });
}
void maker::lost(job_rank rank) {
  for (const memory_kind kind : {memory_kind::heap, memory_kind::shared, memory_kind::symmetric}) {
    update(kind, [&](future_memory& f, auto& served) { f.lose(rank, served); });
  }
}

void maker::free_part(const part_name& p, std::uint64_t address) {
  all_.blocks.free_address(p.kind, address);
  give_back(p);
}

/// Writes the address, or why there is none, into the creator's record.
void maker::answer(job_rank creator, const allocation& a, const part_memory::result& got) {
  if (!got.why.empty()) {
    all_.trouble.add("an instance cannot be made", got.why);
  }
  const instance i = instance::from_bits(a.id);
  allocated_part answer{a.id, got.address, a.part, {}};
  std::snprintf(answer.why, sizeof answer.why, "%s", got.why.c_str());
  if (!all_.table.heaps().maps(creator)) {
    all_.messages.allocated(creator, answer);
    return;
  }
  record& r = all_.table.record_at(creator, a.record_at);
  SINEW_ASSERT(r.places()[a.part].rank == all_.table.rank());
  write(r, answer);
  if (creator == all_.table.rank()) {
    part_made(i);
  } else {
    all_.messages.allocated(creator, i);
  }
}

void maker::write(record& r, const allocated_part& a) {
  SINEW_ASSERT(a.part < r.parts && r.places()[a.part].address == 0);
  r.places()[a.part].address = a.address;
  const bool has_reason = a.address == 0 && a.why[0] != 0;  // else it was withdrawn
  if (has_reason && !r.why_is_taken.exchange(true, std::memory_order_relaxed)) {
    std::snprintf(r.why, sizeof r.why, "%s", a.why);
  }
}

void maker::part_made_far(const allocated_part& a) {
  const instance i = instance::from_bits(a.id);
  write(*all_.table.find(i)->there, a);
  part_made(i);
}

void maker::part_made(instance i) {
  SINEW_EXPECT(i.creator() == all_.table.rank());
  const known_ptr k = all_.table.find(i);
  const bool good = !k->there->why_is_taken.load(std::memory_order_relaxed);
  go_on(*k, unfinished_.part_answered(i, good));
}

/// The record may be gone once this has returned, unless the step says that more is to come.
void maker::go_on(const known& k, const unfinished::step& s) {
  if (s.withdraw) {
    tell_owners(parts_of(k), &maker::withdraw, &courier::withdraw);
    go_on(k, unfinished_.withdrawn(k.id));
  } else if (s.ready) {
    s.failed ? fail(k, *s.ready) : succeed(k, *s.ready);
  }
}

std::vector<maker::owned> maker::parts_of(const known& k) {
  std::vector<owned> all;
  for (std::uint32_t p = 0; p < k.where.parts; ++p) {
    all.emplace_back(k.there->places()[p].rank, part_name{k.id.bits(), p, k.kind});
  }
  return all;
}

void maker::tell_owners(const std::vector<owned>& all, void (maker::*here)(const part_name&),
                        void (courier::*there)(job_rank, const part_name&)) {
  for (const auto& [owner, part] : all) {
    owner == all_.table.rank() ? (this->*here)(part) : (all_.messages.*there)(owner, part);
  }
}

void maker::succeed(const known& k, user_event ready) {
  SINEW_EXPECT(k.there->state.load(std::memory_order_relaxed) == record_state::making);
  k.there->state.store(record_state::ready, std::memory_order_release);
  all_.events.trigger(ready);
}

void maker::fail(const known& k, user_event ready) {
  record& r = *k.there;
  SINEW_EXPECT(r.state.load(std::memory_order_relaxed) == record_state::making);
  for (std::uint32_t p = 0; p < k.where.parts; ++p) {
    release_part({k.id.bits(), p, k.kind}, r.places()[p]);
    r.places()[p].address = 0;
  }
  if (r.why[0] == 0) {
    std::snprintf(r.why, sizeof r.why, "%s", "the event before it was poisoned");
  }
  r.state.store(record_state::failed, std::memory_order_release);
  all_.events.poison(ready);
}

bool maker::end(instance i) {
  const auto refuse = [&](const char* why) {
    all_.trouble.add("an instance cannot be destroyed", why);
    return false;
  };
  known_ptr k;
  try {
    k = all_.table.find(i);
  } catch (const error& e) {
    all_.trouble.add(e.what());
    return false;
  }
  if (k->there->state.load(std::memory_order_acquire) == record_state::making) {
    return refuse("it is still being made; destroy it after its ready");
  }
  const std::optional<std::uint64_t> record_at = all_.table.retire(i);
  if (!record_at) {
    return refuse("another thread has destroyed it");
  }
  SINEW_ASSERT(*record_at == all_.table.offset_of(*k->there));
  all_.others.retired(i);
  for (std::uint32_t p = 0; p < k->where.parts && !k->there->attached; ++p) {
    release_part({i.bits(), p, k->kind}, k->there->places()[p]);
  }
  all_.memory.memory().release(*record_at);
  return true;
}

void maker::end_after(instance i, event before, std::uint64_t gone) {
  std::vector<owned> promised;
  if (!all_.events.has_triggered(before)) {
    try {
      const known_ptr k = all_.table.find(i);
      const bool has_limit = k->kind != memory_kind::heap || future_of(k->kind) != nullptr;
      if (has_limit && !k->there->attached) {
        promised = parts_of(*k);
      }
    } catch (const error&) {  // end() says what is wrong
      promised.clear();
    }
  }
  tell_owners(promised, &maker::promise, &courier::promise);
  after(all_.events, before, [this, i, gone, promised = std::move(promised)](bool bad) {
    const bool well = !bad && end(i);
    if (!well) {
      tell_owners(promised, &maker::keep, &courier::keep);
    }
    finish(all_.events, gone, well);
  });
}

/// To its owner, if it has memory.
void maker::release_part(const part_name& p, const part_place& at) {
  if (at.address == 0) {
    return;
  }
  if (at.rank == all_.table.rank()) {
    free_part(p, at.address);
  } else {
    all_.messages.release(at.rank, p, at.address);
  }
}

}  // namespace sinew::region
