#include "region/maker.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "sinew/base/error.hpp"

namespace sinew::region {

using sinew::event::event;
using sinew::event::user_event;

instance maker::enter(const layout& l, memory_kind kind, std::span<const job_rank> owners) {
  const std::uint64_t offset =
      all_.memory.memory().allocate(rma::part::local, record::bytes(l.fields.size(), l.parts));
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
  after(all_.events, before, [this, k](bool bad) {
    if (bad) {
      fail(*k, "the event before it was poisoned", unfinished_.abandon(k->id));
    } else {
      make_parts(*k);
    }
  });
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
  part_memory::result got{0, "what is free and will be is wanted by others that wait for memory"};
  {
    const base::guard held(waiting_lock_, threaded_);
    waiting_parts& w = waiting_for(a.kind);
    // What does not fit is tried as well, for the reason.
    const std::uint64_t free = w.empty() ? 0 : all_.blocks.free_bytes(a.kind);
    if (a.bytes > free || w.may_pass(a.bytes, free)) {
      got = all_.blocks.take(a.kind, a.bytes);
    }
    if (got.address == 0 && w.may_wait(a.bytes, all_.blocks.free_bytes(a.kind))) {
      w.wait({creator, a});
      return;  // settled() goes on
    }
  }
  answer(creator, a, got);
}

/// Gives memory to those that wait, in their order. Under the lock.
void maker::serve(waiting_parts& w, answers& to) {
  while (!w.empty()) {
    const waiting_parts::request& r = w.first();
    part_memory::result got = all_.blocks.take(r.what.kind, r.what.bytes);
    if (got.address == 0 && w.any_promised()) {
      return;
    }
    to.emplace_back(r, std::move(got));
    w.drop_first();
  }
}

void maker::promised(job_rank by, memory_kind kind, std::uint64_t bytes) {
  const base::guard held(waiting_lock_, threaded_);
  waiting_for(kind).promise(by, bytes);
}

void maker::settled(job_rank by, memory_kind kind, std::uint64_t bytes) {
  answers served;
  {
    const base::guard held(waiting_lock_, threaded_);
    waiting_parts& w = waiting_for(kind);
    w.settle(by, bytes);
    serve(w, served);
  }
  for (const auto& [request, got] : served) {
    answer(request.creator, request.what, got);
  }
}

void maker::lost(job_rank rank) {
  answers served;
  {
    const base::guard held(waiting_lock_, threaded_);
    for (waiting_parts& w : waiting_) {
      w.lose(rank);
      serve(w, served);
    }
  }
  for (const auto& [request, got] : served) {
    answer(request.creator, request.what, got);
  }
}

/// Writes the address, or why there is none, into the creator's record.
void maker::answer(job_rank creator, const allocation& a, const part_memory::result& got) {
  if (got.address == 0) {
    SINEW_ASSERT(!got.why.empty());
    all_.trouble.add("an instance cannot be made (" + got.why + ")");
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
  if (a.address == 0 && !r.why_is_taken.exchange(true, std::memory_order_relaxed)) {
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
  const std::optional<user_event> ready = unfinished_.part_answered(i);
  if (!ready) {
    return;  // more parts are to come
  }
  const known_ptr k = all_.table.find(i);
  bool good = true;
  for (std::uint32_t p = 0; p < k->where.parts; ++p) {
    good = good && k->place(p).address != 0;
  }
  if (good) {
    succeed(*k, *ready);
  } else {
    fail(*k, k->there->why, *ready);
  }
}

void maker::succeed(const known& k, user_event ready) {
  SINEW_EXPECT(k.there->state.load(std::memory_order_relaxed) == record_state::making);
  k.there->state.store(record_state::ready, std::memory_order_release);
  all_.events.trigger(ready);
}

void maker::fail(const known& k, const std::string& why, user_event ready) {
  SINEW_EXPECT(k.there->state.load(std::memory_order_relaxed) == record_state::making);
  for (std::uint32_t p = 0; p < k.where.parts; ++p) {
    release_part(k.kind, k.there->places()[p]);
    k.there->places()[p].address = 0;
  }
  if (why != k.there->why) {
    std::snprintf(k.there->why, sizeof k.there->why, "%s", why.c_str());
  }
  SINEW_ENSURE(k.there->why[0] != 0);
  k.there->state.store(record_state::failed, std::memory_order_release);
  all_.events.poison(ready);
}

bool maker::end(instance i) {
  const auto refuse = [&](const char* why) {
    all_.trouble.add(why);
    return false;
  };
  known_ptr k;
  try {
    k = all_.table.find(i);
  } catch (const error& e) {
    return refuse(e.what());
  }
  if (k->there->state.load(std::memory_order_acquire) == record_state::making) {
    return refuse(
        "an instance cannot be destroyed (it is still being made; destroy it after its ready)");
  }
  const std::optional<std::uint64_t> record_at = all_.table.retire(i);
  if (!record_at) {
    return refuse("an instance cannot be destroyed (another thread has destroyed it)");
  }
  SINEW_ASSERT(*record_at == all_.table.offset_of(*k->there));
  all_.others.retired(i);
  for (std::uint32_t p = 0; p < k->where.parts && !k->there->attached; ++p) {
    release_part(k->kind, k->there->places()[p]);
  }
  all_.memory.memory().release(*record_at);
  return true;
}

void maker::end_after(instance i, event before, std::uint64_t gone) {
  std::vector<job_rank> owners;
  std::uint64_t bytes = 0;
  memory_kind kind = memory_kind::heap;
  if (!all_.events.has_triggered(before)) {
    try {
      const known_ptr k = all_.table.find(i);
      kind = k->kind;
      bytes = std::max<std::uint64_t>(k->where.part_bytes, 1);
      const bool promises = part_memory::has_limit(kind) && !k->there->attached;
      for (std::uint32_t p = 0; promises && p < k->where.parts; ++p) {
        owners.push_back(k->there->places()[p].rank);
      }
    } catch (const error&) {  // end() says what is wrong
      owners.clear();
    }
  }
  const job_rank me = all_.table.rank();
  for (const job_rank owner : owners) {
    owner == me ? promised(me, kind, bytes) : all_.messages.promise(owner, kind, bytes);
  }
  after(all_.events, before,
        [this, i, gone, kind, bytes, me, owners = std::move(owners)](bool bad) {
          const bool well = !bad && end(i);
          for (const job_rank owner : owners) {
            owner == me ? settled(me, kind, bytes) : all_.messages.settle(owner, kind, bytes);
          }
          finish(all_.events, gone, well);
        });
}

/// To its owner, if it has memory.
void maker::release_part(memory_kind kind, const part_place& p) {
  if (p.address == 0) {
    return;
  }
  if (p.rank == all_.table.rank()) {
    free_part(kind, p.address);
  } else {
    all_.messages.release(p.rank, kind, p.address);
  }
}

}  // namespace sinew::region
