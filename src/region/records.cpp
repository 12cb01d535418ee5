// Slots and records: how any rank learns what a handle stands for, without a message.
//
// A slot is one word in its creator's symmetric memory: generation and the record's offset, or the
// next generation and 0 once the instance is destroyed. The handle carries the generation.
#include <algorithm>
#include <cstring>

#include "region/body.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::region {
namespace {

setting<std::int64_t> most_instances("region", "INSTANCES", 16384, "",
                                     "instances that a rank may have made at a time",
                                     {.least = 1, .most = 1 << instance::index_bits});

setting<std::int64_t> symmetric_bytes(
    "region", "SYMMETRIC", 0, "bytes",
    "what each rank sets aside of SINEW_RMA_HEAP for symmetric instances (0: a quarter of what is "
    "free); the same on all ranks",
    {.least = 4096, .most = most_setting_bytes, .or_zero = true});

constexpr std::uint64_t offset_mask = (std::uint64_t{1} << rma::offset_bits) - 1;
static_assert(rma::offset_bits + instance::generation_bits == 64);

std::uint64_t slot_word(std::uint32_t generation, std::uint64_t offset) {
  return static_cast<std::uint64_t>(generation) << rma::offset_bits | offset;
}
std::uint32_t next(std::uint32_t generation) {
  return (generation + 1) & ((1u << instance::generation_bits) - 1);
}

}  // namespace

system::body::body(rma::engine& memory, sinew::event::system& all)
    : rma(memory),
      events(all),
      rank(memory.rank()),
      threaded(memory.runtime().threaded()),
      slot_count(static_cast<std::uint32_t>(most_instances())),
      kernel_works(true) {
  slots_at = rma.memory().allocate(rma::part::symmetric, 8 * std::uint64_t{slot_count});
  std::memset(rma.at({rank, slots_at}), 0, 8 * std::size_t{slot_count});
  // The same on all ranks, since all have made the same symmetric allocations so far.
  constexpr std::size_t page = 4096;
  pool_bytes = symmetric_bytes() > 0 ? static_cast<std::size_t>(symmetric_bytes())
                                     : rma.memory().largest_free(rma::part::symmetric) / 4;
  pool_bytes = pool_bytes / page * page;
  if (pool_bytes != 0) {
    pool_at = rma.memory().allocate(rma::part::symmetric, pool_bytes, page);
    if (rank == 0) {
      const rma::heap_sizes sizes{pool_bytes, 0};
      pool.emplace(rma::heap_shape(1, sizes), sizes, rma.at({0, pool_at}) - pool_begin());
    }
  }
  using sinew::event::message;
  using sinew::event::topic;
  events.set_handler(
      topic::region, [](void* b, const message& m) { static_cast<body*>(b)->on_region(m); }, this);
  events.set_handler(
      topic::copy, [](void* b, const message& m) { static_cast<body*>(b)->on_copy(m); }, this);
  events.set_handler(
      topic::reduction, [](void* b, const message& m) { static_cast<body*>(b)->on_reduction(m); },
      this);
}

system::body::~body() {
  using sinew::event::topic;
  for (const topic t : {topic::region, topic::copy, topic::reduction}) {  // for late messages
    events.set_handler(t, [](void*, const sinew::event::message&) {}, nullptr);
  }
  give_back_kept();
  for (const auto& [address, bytes] : private_blocks) {
    std::free(reinterpret_cast<void*>(address));
  }
}

instance system::body::enter(const layout& l, memory_kind kind, const std::vector<int>& owners) {
  const std::uint64_t offset =
      rma.memory().allocate(rma::part::local, record::bytes(l.fields.size(), l.parts));
  auto* r = new (rma.at({rank, offset})) record;
  r->state.store(record_state::making, std::memory_order_relaxed);
  r->kind = kind;
  r->elements = l.elements;
  r->parts = l.parts;
  r->shift = l.shift;
  r->fields = static_cast<std::uint32_t>(l.fields.size());
  r->part_bytes = l.part_bytes;
  r->told.store(false, std::memory_order_relaxed);
  r->why[0] = 0;
  std::uninitialized_copy(l.fields.begin(), l.fields.end(), r->field_list());
  for (std::uint32_t p = 0; p < l.parts; ++p) {
    new (r->places() + p) part_place{owners[p], 0};
  }
  const core::guard held(lock, threaded);
  std::uint32_t index = fresh_slot;
  if (fresh_slot < slot_count) {
    ++fresh_slot;
  } else if (!free_slots.empty()) {
    index = free_slots.front();
    free_slots.pop_front();
  } else {
    rma.memory().release(offset);
    SINEW_CHECK(false, "an instance cannot be made",
                "this rank has made " + std::to_string(slot_count) + " that are not destroyed",
                "destroy some, or set SINEW_REGION_INSTANCES higher, the same on all ranks");
  }
  const auto word = slot(rank, index);
  const auto generation =
      static_cast<std::uint32_t>(word.load(std::memory_order_relaxed) >> rma::offset_bits);
  word.store(slot_word(generation, offset), std::memory_order_release);
  return {rank, index, generation};
}

known_ptr system::body::find(instance i) const {
  const auto refuse = [](const char* why) {
    SINEW_CHECK(false, "an instance cannot be used", why, "");
  };
  const instance base = base_of(i);
  if (!i.exists() || i.creator() >= rma.size() || base.creator() >= rma.size()) {
    refuse("the handle stands for none");
  }
  // Acquire: the record was written before the slot.
  const std::uint64_t word = slot(base.creator(), base.index()).load(std::memory_order_acquire);
  if (word >> rma::offset_bits != i.generation() || (word & offset_mask) == 0) {
    refuse("it has been destroyed");
  }
  const std::uint64_t key = i.bits() >> instance::generation_bits;
  const core::guard held(lock, threaded);
  known_ptr& cached = cache[key];
  if (cached != nullptr && cached->id == i) {
    return cached;
  }
  record& r = record_at(base.creator(), word & offset_mask);
  auto k = std::make_shared<known>();
  k->id = i;
  k->kind = r.kind;
  k->there = &r;
  k->where.elements = r.elements;
  k->where.parts = r.parts;
  k->where.shift = r.shift;
  k->where.part_bytes = r.part_bytes;
  k->where.fields.assign(r.field_list(), r.field_list() + r.fields);
  cached = k;
  return k;
}

std::byte* system::body::reach(const known& k, std::uint32_t part) const noexcept {
  const part_place& p = k.place(part);
  if (k.kind != memory_kind::heap) {
    return rma.at({p.rank, p.address});
  }
  return p.rank == rank ? reinterpret_cast<std::byte*>(p.address) : nullptr;
}

/// Takes the instance's name, as its maker knows it, away; what it lay in is given back by those
/// who have it.
outcome system::body::end(instance i) {
  known_ptr k;
  try {
    k = find(i);
  } catch (const error& e) {
    problem(e.what());
    return outcome::failed;
  }
  if (k->there->state.load(std::memory_order_acquire) == record_state::making) {
    problem("an instance cannot be destroyed (it is still being made; destroy it after its ready)");
    return outcome::failed;
  }
  std::uint64_t record_offset = 0;
  {
    const core::guard held(lock, threaded);
    const auto word = slot(rank, i.index());
    record_offset = word.load(std::memory_order_relaxed) & offset_mask;
    word.store(slot_word(next(i.generation()), 0), std::memory_order_release);
    cache.erase(i.bits() >> instance::generation_bits);
    free_slots.push_back(i.index());
  }
  for (std::uint32_t p = 0; p < k->where.parts; ++p) {
    release_part(k->kind, k->there->places()[p]);
  }
  rma.memory().release(record_offset);
  return outcome::done;
}

}  // namespace sinew::region
