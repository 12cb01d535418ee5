// SPDX-License-Identifier: BSD-3-Clause
#include "region/instance_table.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

namespace sinew::region {

instance_table::instance_table(shared_heaps heaps, std::uint64_t slots_at, std::uint32_t slots,
                               bool threaded, taker more)
    : heaps_(std::move(heaps)),
      slots_at_(slots_at),
      slots_(slots),
      threaded_(threaded),
      more_(std::move(more)) {
  SINEW_EXPECT(heaps_.rank.below(heaps_.size()) && heaps_.maps(heaps_.rank));
  SINEW_EXPECT(heaps_.nodes.empty() || heaps_.nodes.size() == heaps_.begins.size());
  SINEW_EXPECT(slots_at_ % 8 == 0 && slots_at_ != 0);
  SINEW_EXPECT(slots_ >= 1 && slots_ <= 1u << instance::index_bits);
}

std::optional<instance> instance_table::enter(std::uint64_t offset, const layout& l,
                                              memory_kind kind, std::span<const job_rank> owners) {
  SINEW_EXPECT(owners.size() == l.parts && l.parts >= 1);
  SINEW_EXPECT(!l.fields.empty() && l.fields.size() <= most_fields);
  SINEW_EXPECT(offset < std::uint64_t{1} << rma::offset_bits);
  auto* r = new (&record_at(heaps_.rank, offset)) record;
  r->state.store(record_state::making, std::memory_order_relaxed);
  r->kind = kind;
  r->attached = false;
  r->elements = l.elements;
  r->parts = l.parts;
  r->shift = l.shift;
  r->fields = static_cast<std::uint32_t>(l.fields.size());
  r->part_bytes = l.part_bytes;
  r->why_is_taken.store(false, std::memory_order_relaxed);
  r->why[0] = 0;
  std::uninitialized_copy(l.fields.begin(), l.fields.end(), r->field_list());
  for (std::uint32_t p = 0; p < l.parts; ++p) {
    SINEW_ASSERT(owners[p].below(heaps_.size()));
    new (r->places() + p) part_place{owners[p], 0};
  }
  const base::guard held(lock_, threaded_);
  const std::optional<std::uint32_t> found = take_slot(kind == memory_kind::symmetric);
  if (!found) {
    return {};
  }
  const std::uint32_t index = *found;
  const auto word = slot(heaps_.rank, index);
  const slot_word before = slot_word::from(word.load(std::memory_order_relaxed));
  SINEW_ASSERT(before.offset == 0);  // nobody has it
  word.store(slot_word{before.generation, offset}.bits(), std::memory_order_release);
  return instance(heaps_.rank, index, before.generation);
}

/// Under the lock. One never used before one that was, and that before more memory.
std::optional<std::uint32_t> instance_table::take_slot(bool of_row) {
  const auto first = [](std::deque<std::uint32_t>& of) {
    const std::uint32_t index = of.front();
    of.pop_front();
    return index;
  };
  if (fresh_ < slots_) {
    return fresh_++;
  }
  if (!free_.empty()) {
    return first(free_);
  }
  if (of_row) {
    return {};
  }
  if (fresh_beyond_ == beyond_) {
    if (!free_beyond_.empty()) {
      return first(free_beyond_);
    }
    if (!grow()) {
      return {};
    }
  }
  return static_cast<std::uint32_t>(first_beyond() + fresh_beyond_++);
}

/// Block b has 2^b times as many slots as the row, so those before it have 2^b - 1 times as many.
instance_table::beyond instance_table::place_of(std::uint32_t index) const noexcept {
  SINEW_EXPECT(index >= first_beyond());
  const std::uint64_t number = index - first_beyond();
  const auto block = static_cast<std::size_t>(std::bit_width(number / slots_ + 1) - 1);
  return {block, number - slots_ * ((std::uint64_t{1} << block) - 1)};
}

/// The offset of its word; 0: that rank has no such slot.
std::uint64_t instance_table::slot_beyond(job_rank whose, std::uint32_t index) const noexcept {
  const beyond p = place_of(index);
  // Acquire: its words were set to zero before.
  const std::uint64_t begin =
      p.block < most_blocks
          ? word(whose, slots_at_ + 8 * (slots_ + p.block)).load(std::memory_order_acquire)
          : 0;
  return begin == 0 ? 0 : begin + 8 * p.at;
}

/// Under the lock.
bool instance_table::grow() {
  const std::uint64_t block = std::uint64_t{slots_} << blocks_;
  const std::uint64_t end = first_beyond() + beyond_ + block;
  if (!more_ || end > std::uint64_t{1} << instance::index_bits) {
    return false;
  }
  const std::size_t bytes = 8 * block;
  const std::uint64_t at = more_(bytes);
  if (at == 0) {
    return false;
  }
  SINEW_ASSERT(at % 8 == 0 && blocks_ < most_blocks);
  std::memset(heaps_.at(heaps_.rank, at), 0, bytes);
  word(heaps_.rank, slots_at_ + 8 * (slots_ + blocks_)).store(at, std::memory_order_release);
  ++blocks_;
  beyond_ += block;
  return true;
}

std::optional<std::uint64_t> instance_table::retire(instance i) {
  SINEW_EXPECT(i.exists() && i.creator() == heaps_.rank && base_of(i) == i);
  const base::guard held(lock_, threaded_);
  const auto word = slot(heaps_.rank, i.index());
  const slot_word before = slot_word::from(word.load(std::memory_order_relaxed));
  if (before.generation != i.generation() || before.offset == 0) {
    return {};
  }
  (i.index() < slots_ ? free_ : free_beyond_).push_back(i.index());  // first: it may lack memory
  word.store(slot_word{slot_word::after(i.generation()), 0}.bits(), std::memory_order_release);
  cache_.erase(cache_key(i));
  SINEW_ENSURE(free_.size() <= fresh_ && free_beyond_.size() <= fresh_beyond_);
  return before.offset;
}

namespace {

void refuse(const char* why) { SINEW_CHECK(false, "an instance cannot be used", why, ""); }

}  // namespace

known_ptr instance_table::find(instance i) const {
  const auto ranks = static_cast<std::uint32_t>(heaps_.size());
  if (!i.exists() || static_cast<std::uint32_t>(i.creator().value()) >= ranks) {
    refuse("the handle stands for none");
  }
  const instance base = i.index() < slots_ ? i : base_of(i);
  if (!heaps_.maps(base.creator())) [[unlikely]] {
    return find_far(i, base);
  }
  if (!has_slot(base.creator(), base.index())) {
    refuse("the handle stands for none");
  }
  const slot_word word =
      slot_word::from(slot(base.creator(), base.index()).load(std::memory_order_acquire));
  if (word.generation != i.generation() || word.offset == 0) {
    refuse("it has been destroyed");
  }
  const base::guard held(lock_, threaded_);
  known_ptr& cached = cache_[cache_key(i)];
  if (cached != nullptr && cached->id == i) {
    return cached;
  }
  record& r = record_at(base.creator(), word.offset);
  cached = known_from(i, r);
  return cached;
}

std::shared_ptr<known> instance_table::known_from(instance i, record& r) const {
  SINEW_ASSERT(r.parts >= 1 && r.fields >= 1 && r.fields <= most_fields);
  auto k = std::make_shared<known>();
  k->id = i;
  k->kind = r.kind;
  k->there = &r;
  k->where.elements = r.elements;
  k->where.parts = r.parts;
  k->where.shift = r.shift;
  k->where.part_bytes = r.part_bytes;
  k->where.fields.assign(r.field_list(), r.field_list() + r.fields);
  k->seen = true;
  for (std::uint32_t p = 0; p < r.parts; ++p) {
    // Not place(), which reads the address as well: that may just be written.
    const job_rank owner = r.kind == memory_kind::symmetric ? i.creator() : r.places()[p].rank;
    k->seen = k->seen && (r.kind == memory_kind::heap ? owner == heaps_.rank : heaps_.maps(owner));
  }
  return k;
}

known_ptr instance_table::find_far(instance i, instance base) const {
  const base::guard held(lock_, threaded_);
  const auto found = far_.find(cache_key(base));
  if (found == far_.end() || found->second.id != base) {
    refuse("it has been destroyed, or the rank that made it is lost");
  }
  known_ptr& cached = cache_[cache_key(i)];
  record& r = found->second.get();
  if (cached == nullptr || cached->id != i || cached->there != &r) {
    const std::shared_ptr<known> k = known_from(i, r);
    k->kept = found->second.copy;
    cached = k;
  }
  return cached;
}

bool instance_table::has_heard_of(instance i) const {
  if (one_node() || !i.exists() || !base_of(i).creator().below(heaps_.size()) ||
      heaps_.maps(base_of(i).creator())) {
    return true;  // or find() says what is wrong
  }
  const base::guard held(lock_, threaded_);
  const auto found = far_.find(cache_key(base_of(i)));
  return found != far_.end() && found->second.id == base_of(i);
}

bool instance_table::knows(instance i) const {
  if (one_node()) {
    return true;
  }
  if (!has_heard_of(i)) {
    return false;
  }
  const base::guard held(lock_, threaded_);
  const auto found = i.exists() ? far_.find(cache_key(base_of(i))) : far_.end();
  return found == far_.end() ||
         found->second.get().state.load(std::memory_order_relaxed) != record_state::making;
}

std::vector<std::byte> instance_table::copy_of(instance i) const {
  SINEW_EXPECT(i.creator() == heaps_.rank);
  if (!has_slot(heaps_.rank, i.index())) {
    return {};
  }
  const slot_word word =
      slot_word::from(slot(heaps_.rank, i.index()).load(std::memory_order_acquire));
  if (word.generation != i.generation() || word.offset == 0) {
    return {};
  }
  record& r = record_at(heaps_.rank, word.offset);
  std::vector<std::byte> bytes(record::bytes(r.fields, r.parts));
  auto& copy = *new (bytes.data()) record;
  const record_state state = r.state.load(std::memory_order_acquire);
  copy.state.store(state, std::memory_order_relaxed);
  copy.kind = r.kind;
  copy.attached = r.attached;
  copy.elements = r.elements;
  copy.parts = r.parts;
  copy.shift = r.shift;
  copy.fields = r.fields;
  copy.part_bytes = r.part_bytes;
  copy.why_is_taken.store(true, std::memory_order_relaxed);
  std::memset(copy.why, 0, sizeof copy.why);
  if (state == record_state::failed) {
    std::memcpy(copy.why, r.why, sizeof copy.why);
  }
  std::uninitialized_copy(r.field_list(), r.field_list() + r.fields, copy.field_list());
  for (std::uint32_t p = 0; p < r.parts; ++p) {
    // While it is being made the owners write the addresses.
    const part_place& place = r.places()[p];
    new (copy.places() + p)
        part_place{place.rank, state == record_state::ready ? place.address : 0};
  }
  return bytes;
}

void instance_table::learn(instance i, std::shared_ptr<std::byte[]> copy) {
  SINEW_EXPECT(base_of(i) == i && !heaps_.maps(i.creator()) && copy != nullptr);
  const base::guard held(lock_, threaded_);
  far_[cache_key(i)] = {i, std::move(copy)};
}

void instance_table::forget(instance i) {
  SINEW_EXPECT(base_of(i) == i && !heaps_.maps(i.creator()));
  const base::guard held(lock_, threaded_);
  const auto found = far_.find(cache_key(i));
  if (found != far_.end() && found->second.id == i) {
    far_.erase(found);
    cache_.erase(cache_key(i));
  }
}

// An image's index is that of the instance plus as many rows of slots as the creator's rank + 1.

instance instance_table::base_of(instance i) const noexcept {
  const std::uint32_t maker = i.index() / slots_;
  return maker == 0 || i.index() >= first_beyond()
             ? i
             : instance(job_rank{static_cast<int>(maker) - 1}, i.index() % slots_, i.generation());
}

instance instance_table::image_of(instance base, job_rank of) const noexcept {
  SINEW_EXPECT(base.index() < slots_ && of.below(heaps_.size()));
  const instance image(
      of, static_cast<std::uint32_t>(base.creator().value() + 1) * slots_ + base.index(),
      base.generation());
  SINEW_ENSURE(base_of(image) == base && image.creator() == of);
  return image;
}

bool instance_table::can_name_images() const noexcept {
  return (static_cast<std::uint64_t>(heaps_.size()) + 1) * slots_ <= std::uint64_t{1}
                                                                         << instance::index_bits;
}

std::byte* instance_table::reach(const known& k, std::uint32_t part) const noexcept {
  const part_place p = k.place(part);
  SINEW_ASSERT(p.address != 0);  // whoever asks has seen that it is ready
  if (k.kind != memory_kind::heap) {
    return heaps_.maps(p.rank) ? heaps_.at(p.rank, p.address) : nullptr;
  }
  return p.rank == heaps_.rank ? reinterpret_cast<std::byte*>(p.address) : nullptr;
}

}  // namespace sinew::region
