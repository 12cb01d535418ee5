// Making and destroying instances: the creator names them, the owners of their parts find memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "region/body.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::region {
namespace {

setting<std::int64_t> heap_limit("region", "HEAP", 0, "bytes",
                                 "private memory of a rank for instances; 0: no limit",
                                 {.least = 0, .most = most_setting_bytes});

setting<std::int64_t> keep_limit(
    "region", "KEEP", 64 << 20, "bytes",
    "shared memory of destroyed instances that a rank keeps for new ones: its pages are there",
    {.least = 0, .most = most_setting_bytes});

constexpr std::size_t least_kept = 16 << 10;
constexpr std::size_t most_blocks = 256;

using sinew::event::topic;

template <class T>
T read(const sinew::event::message& m) {
  T value;
  SINEW_ASSERT(m.size >= sizeof value);
  std::memcpy(&value, m.data, sizeof value);
  return value;
}

std::string no_room(std::uint64_t bytes, int rank, const char* where, std::size_t used,
                    std::size_t largest, const char* setting) {
  return "no room for " + std::to_string(bytes) + " bytes in rank " + std::to_string(rank) + "'s " +
         where + " (" + std::to_string(used) + " in use, the largest free block has " +
         std::to_string(largest) + ") set " + setting + "=" +
         std::to_string((used + bytes + (1 << 20) - 1) >> 20) + "M or more";
}

}  // namespace

made system::create(const schema& what, region::memory where, const layout_options& how,
                    event after) {
  const bool striped = where.kind == memory_kind::global && size() > 1;
  SINEW_CHECK(where.rank >= 0 && where.rank < size(), "an instance cannot be made",
              "there is no rank " + std::to_string(where.rank), "");
  SINEW_CHECK(!what.fields().empty(), "an instance cannot be made", "its schema has no fields", "");
  if (where.kind == memory_kind::global) {
    layout::check_striping(how);  // with one rank too: a program does not change with their number
  }
  const layout l = layout::of(what, how, striped ? static_cast<std::uint32_t>(size()) : 1);
  const bool of_one = where.kind == memory_kind::heap || where.kind == memory_kind::shared;
  std::vector<int> owners(l.parts, of_one ? where.rank : 0);
  for (std::uint32_t p = 0; striped && p < l.parts; ++p) {
    owners[p] = static_cast<int>(p);
  }
  const bool symmetric = where.kind == memory_kind::symmetric;
  SINEW_CHECK(!symmetric || (static_cast<std::uint64_t>(size()) + 1) * body_->slot_count <=
                                (std::uint64_t{1} << instance::index_bits),
              "an instance cannot be made",
              "images of " + std::to_string(size()) + " ranks and " +
                  std::to_string(body_->slot_count) + " instances a rank have no names",
              "set SINEW_REGION_INSTANCES lower, the same on all ranks");
  const instance i = body_->enter(l, where.kind, owners);
  const instance name = symmetric ? body_->image_of(i, rank()) : i;
  record* r = body_->find(i)->there;
  const std::uint64_t record_at = rma_.offset_of(r);
  const bool at_once = l.parts == 1 && owners[0] == rank() && events_.has_triggered(after);
  const user_event ready = events_.create();
  {
    const core::guard held(body_->lock, body_->threaded);
    body_->being_made[i.bits()] = {l.parts, false, ready};
  }
  body_->after(after, [b = body_.get(), i, record_at, ready](bool poisoned) {
    if (poisoned) {
      b->give_up(i, "the event before it was poisoned");
    } else {
      b->make_parts(i, record_at, ready);
    }
  });
  if (at_once && r->state.load(std::memory_order_acquire) == record_state::ready) {
    return {name, {}};
  }
  return {name, ready};
}

void system::body::make_parts(instance i, std::uint64_t record_at, user_event /*ready*/) {
  record& r = this->record_at(rank, record_at);
  const std::uint32_t parts = r.parts;  // the record may be gone after the last part
  const memory_kind kind = r.kind;
  const std::uint64_t bytes = r.part_bytes;
  for (std::uint32_t p = 0; p < parts; ++p) {
    const int owner = r.places()[p].rank;
    const allocation a{i.bits(), record_at, bytes, p, kind};
    if (owner == rank) {
      make_part(rank, a);
    } else {
      events.send(owner, topic::region, allocate, 0, &a, sizeof a);
    }
  }
}

/// At the owner. Writes the address, or why there is none, into the creator's record.
void system::body::make_part(int creator, const allocation& a) {
  std::uint64_t address = 0;
  std::string why;
  const std::size_t bytes = std::max<std::uint64_t>(a.bytes, 1);
  if (a.kind == memory_kind::symmetric) {
    address = take_symmetric(bytes);
    if (address == 0) {
      const bool any = pool.has_value();
      why = no_room(bytes, rank, "symmetric memory for instances",
                    any ? pool->used(rma::part::symmetric) : 0,
                    any ? pool->largest_free(rma::part::symmetric) : 0, "SINEW_REGION_SYMMETRIC");
    }
  } else if (a.kind != memory_kind::heap) {
    address = take_shared(bytes);
    if (address == 0) {
      why = no_room(bytes, rank, "shared memory", rma.memory().used(rma::part::local),
                    rma.memory().largest_free(rma::part::local), "SINEW_RMA_LOCAL_HEAP");
    }
  } else {
    const core::guard held(lock, threaded);
    const auto limit = static_cast<std::size_t>(heap_limit());
    const bool fits = limit == 0 || (bytes <= limit && private_bytes <= limit - bytes);
    void* block = fits ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr;
    if (block != nullptr) {
      address = reinterpret_cast<std::uintptr_t>(block);
      private_blocks[address] = bytes;
      private_bytes += bytes;
    } else {
      why = no_room(bytes, rank, fits ? "private memory: the system has no more" : "private memory",
                    private_bytes, limit > private_bytes ? limit - private_bytes : 0,
                    "SINEW_REGION_HEAP");
    }
  }
  record& r = record_at(creator, a.record_at);
  r.places()[a.part].address = address;
  if (address == 0) {
    if (!r.told.exchange(true, std::memory_order_relaxed)) {
      std::snprintf(r.why, sizeof r.why, "%s", why.c_str());
    }
    problem("an instance cannot be made (" + why + ")");
  }
  const instance i = instance::from_bits(a.id);
  if (creator == rank) {
    part_made(i);
  } else {
    events.send(creator, topic::region, allocated, a.id);
  }
}

/// At the creator, after each part; the last one ends it.
void system::body::part_made(instance i) {
  user_event ready;
  {
    const core::guard held(lock, threaded);
    own_instance& o = being_made[i.bits()];
    if (--o.parts_to_come != 0) {
      return;
    }
    ready = o.ready;
  }
  const known_ptr k = find(i);
  bool good = true;
  for (std::uint32_t p = 0; p < k->where.parts; ++p) {
    good = good && k->place(p).address != 0;
  }
  if (!good) {
    give_up(i, k->there->why);
    return;
  }
  {
    const core::guard held(lock, threaded);
    being_made.erase(i.bits());
  }
  k->there->state.store(record_state::ready, std::memory_order_release);
  events.trigger(ready);
}

void system::body::give_up(instance i, const std::string& why) {
  const known_ptr k = find(i);
  user_event ready;
  {
    const core::guard held(lock, threaded);
    ready = being_made[i.bits()].ready;
    being_made.erase(i.bits());
  }
  for (std::uint32_t p = 0; p < k->where.parts; ++p) {
    if (k->place(p).address != 0) {
      release_part(k->kind, k->there->places()[p]);
      k->there->places()[p].address = 0;
    }
  }
  if (why != k->there->why) {
    std::snprintf(k->there->why, sizeof k->there->why, "%s", why.c_str());
  }
  k->there->state.store(record_state::failed, std::memory_order_release);
  events.poison(ready);
}

event system::destroy(instance what, event after) {
  (void)body_->find(what);
  what = body_->base_of(what);
  body* b = body_.get();
  const bool here = what.creator() == rank();
  if (here && !after.exists()) {
    return b->end(what) == outcome::done ? event{} : b->poisoned();
  }
  const user_event gone = events_.create();
  b->after(after, [b, what, here, gone](bool poisoned) {
    if (poisoned) {
      b->events.poison(gone);
    } else if (here) {
      b->finish(gone.bits(), b->end(what) == outcome::done);
    } else {
      b->events.send(what.creator(), topic::region, destroy_instance, gone.bits(), &what,
                     sizeof what);
    }
  });
  return gone;
}

void system::body::release_part(memory_kind kind, const part_place& p) {
  if (p.address == 0) {
    return;
  }
  if (p.rank == rank) {
    free_here(kind, p.address);
  } else {
    events.send(p.rank, topic::region, release, p.address, &kind, sizeof kind);
  }
}

void system::body::free_here(memory_kind kind, std::uint64_t address) {
  if (kind == memory_kind::symmetric) {
    pool->release(address - pool_at + pool_begin());
    return;
  }
  if (kind != memory_kind::heap) {
    give_shared(address);
    return;
  }
  const core::guard held(lock, threaded);
  const auto block = private_blocks.find(address);
  private_bytes -= block->second;
  private_blocks.erase(block);
  std::free(reinterpret_cast<void*>(address));
}

/// At rank 0: an offset that is free on every rank; 0: there is none.
std::uint64_t system::body::take_symmetric(std::size_t bytes) {
  const std::uint64_t found =
      pool.has_value() ? pool->try_allocate(rma::part::symmetric, bytes) : 0;
  return found == 0 ? 0 : found - pool_begin() + pool_at;
}

/// The smallest kept block that wastes less than half of itself, or a new one; 0: no room.
std::uint64_t system::body::take_shared(std::size_t bytes) {
  {
    const core::guard held(lock, threaded);
    auto best = kept.end();
    for (auto b = kept.begin(); b != kept.end(); ++b) {
      if (b->bytes >= bytes && b->bytes / 2 <= bytes &&
          (best == kept.end() || b->bytes < best->bytes)) {
        best = b;
      }
    }
    if (best != kept.end()) {
      const free_block found = *best;
      kept_bytes -= found.bytes;
      *best = kept.back();
      kept.pop_back();
      return found.offset;
    }
  }
  const std::uint64_t fresh = rma.memory().try_allocate(rma::part::local, bytes);
  if (fresh != 0) {
    return fresh;
  }
  give_back_kept();
  return rma.memory().try_allocate(rma::part::local, bytes);
}

void system::body::give_shared(std::uint64_t offset) {
  const std::size_t bytes = rma.memory().bytes_of(offset);
  {
    const core::guard held(lock, threaded);
    if (bytes >= least_kept && kept.size() < most_blocks &&
        kept_bytes + bytes <= static_cast<std::size_t>(keep_limit())) {
      kept.push_back({offset, bytes});
      kept_bytes += bytes;
      return;
    }
  }
  rma.memory().release(offset);
}

void system::body::give_back_kept() {
  std::vector<free_block> all;
  {
    const core::guard held(lock, threaded);
    all.swap(kept);
    kept_bytes = 0;
  }
  for (const free_block& b : all) {
    rma.memory().release(b.offset);
  }
}

std::uint64_t system::take_memory(std::size_t bytes) {
  const std::uint64_t offset = body_->take_shared(bytes);
  return offset != 0 ? offset : rma_.memory().allocate(rma::part::local, bytes);  // throws
}
void system::give_memory(std::uint64_t offset) { body_->give_shared(offset); }

void system::body::on_region(const sinew::event::message& m) {
  switch (static_cast<region_message>(m.small)) {
    case allocate:
      make_part(m.source, read<allocation>(m));
      break;
    case allocated:
      part_made(instance::from_bits(m.word));
      break;
    case release:
      free_here(read<memory_kind>(m), m.word);
      break;
    case destroy_instance:
      finish(m.word, end(read<instance>(m)) == outcome::done);
      break;
  }
}

}  // namespace sinew::region
