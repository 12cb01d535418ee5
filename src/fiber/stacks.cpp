// SPDX-License-Identifier: BSD-3-Clause
#include "fiber/stacks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "fiber/hub.hpp"
#include "sinew/base/last_words.hpp"

namespace sinew::fiber {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;
/// Stacks from here on are for ordinary functions, with arrays of ordinary size among their local
/// variables.
constexpr std::size_t ordinary_stack = std::size_t{64} * 1024;
/// Stacks that the kernel might want to back with huge pages: a stack of 8 MiB of which 8 KiB are
/// used would then take 2 MiB.
constexpr std::size_t huge_page = std::size_t{2} << 20U;
/// Slots without guards are made usable so many at a time.
constexpr std::uint32_t commit_slots = 64;
/// Stacks up to here are populated at once: each would fault its page anyway, one by one.
constexpr std::size_t small_stack = 8192;

std::uintptr_t up(std::uintptr_t n) noexcept { return (n + page - 1) / page * page; }
std::uintptr_t down(std::uintptr_t n) noexcept { return n / page * page; }
std::uintptr_t number(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

/// Address space without access below a stack. A function whose local array is larger than what is
/// left of the stack must fault, and not write to another stack: so at least as much as an array of
/// 1 MiB, and as the stack itself up to 8 MiB. Address space is all that it costs. Small stacks
/// have little of it, because page tables are shared by neighbours.
std::size_t guard_of(std::size_t stack_bytes) noexcept {
  constexpr std::size_t least = (std::size_t{1} << 20U) + (std::size_t{64} << 10U);
  constexpr std::size_t most = std::size_t{8} << 20U;
  return stack_bytes < ordinary_stack ? 4 * page : std::clamp(stack_bytes, least, most);
}

/// Distance of slots: an odd number of lines.
std::size_t stride_of(std::size_t stack_bytes, bool guarded) noexcept {
  const std::size_t bytes =
      stack_bytes + sizeof(fiber) + (guarded ? guard_of(stack_bytes) + page : std::size_t{0});
  return ((bytes + line - 1) / line | 1) * line;
}

/// Pages of it come from this node while it has some, whoever touches them first. Where the kernel
/// refuses, whoever does decides.
void prefer_node(void* memory, std::size_t bytes, int node) noexcept {
  constexpr int preferred = 1;  // MPOL_PREFERRED
  constexpr std::size_t bits = 1024;
  std::array<std::uint64_t, bits / 64> nodes{};
  if (static_cast<std::size_t>(node) < bits) {
    nodes[static_cast<std::size_t>(node) / 64] |= std::uint64_t{1} << (node % 64);
    (void)::syscall(SYS_mbind, memory, bytes, preferred, nodes.data(), bits, 0);
  }
}

/// As many as the machine has pages: a stack takes at least one.
std::uint32_t possible_fibers() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const auto wanted = static_cast<std::uint64_t>(pages > 0 ? pages : 0);
  return static_cast<std::uint32_t>(
      std::bit_ceil(std::clamp<std::uint64_t>(wanted, 1U << 20U, 1U << 30U)));
}

}  // namespace

stacks::stacks(std::uint32_t reserved, const guard_counts& guards, std::uint64_t most_bytes)
    : most_(possible_fibers()),
      table_memory_(most_ / slots_per_chunk * sizeof(place)),
      info_memory_(most_ / slots_per_chunk * sizeof(chunk)),
      table_(reinterpret_cast<place*>(table_memory_.at())),
      chunks_info_(reinterpret_cast<chunk*>(info_memory_.at())),
      bytes_left_(most_bytes),
      guards_left_(guards),
      next_(reserved),
      chunks_(reserved) {}

stacks::~stacks() {
  for (std::uint32_t c = 0; c < chunks_.load(std::memory_order_relaxed); ++c) {
    if (chunks_info_[c].memory != nullptr) {
      annotations::unmapping(chunks_info_[c].memory, chunks_info_[c].bytes);
      ::munmap(chunks_info_[c].memory, chunks_info_[c].bytes);
    }
  }
}

std::uint8_t stacks::class_of(std::size_t bytes) noexcept {
  bytes = std::max(bytes, annotations::least_stack);
  std::uint8_t c = 0;
  while (c < stack_classes && bytes_of(c) < bytes) {
    ++c;
  }
  return c;
}

/// Says so once if there is not enough: the kernel would give the memory, and end the process when
/// it is touched.
bool stacks::take_memory(std::size_t bytes) noexcept {
  std::uint64_t left = bytes_left_.load(std::memory_order_relaxed);
  while (left >= bytes) {
    if (bytes_left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) {
      return true;
    }
  }
  if (!told_.exchange(true, std::memory_order_relaxed)) {
    base::last_words text;
    text.add("sinew: there is no memory for more fibers at a time: each takes at least ");
    text.add_number(bytes).add(
        " bytes of stack, of what the machine, the control group or "
        "SINEW_FIBER_MEMORY gives; have fewer, or give more.\n");
    text.write();
  }
  return false;
}

void stacks::tell_of_refusal() noexcept {
  if (!told_.exchange(true, std::memory_order_relaxed)) {
    base::last_words text;
    text.add("sinew: the system has no memory for stacks of more fibers at a time, there are ");
    text.add_number(numbers()).add(
        ": see ulimit -v, vm.max_map_count and vm.overcommit_memory; or have fewer.\n");
    text.write();
  }
}

bool stacks::reserve(cursor& from, std::uint8_t stack_class) noexcept {
  SINEW_EXPECT(stack_class < stack_classes && from.used == from.end);
  const std::lock_guard hold(lock_);
  const std::uint32_t id = from.reserved != nobody ? from.reserved : next_;
  if (id >= most_ / slots_per_chunk) {
    return false;
  }
  const bool guarded = guards_left_.stacks >= slots_per_chunk;
  const bool apart = guarded || guards_left_.chunks > 0;
  const std::size_t stack_bytes = bytes_of(stack_class);
  const std::size_t guard = apart ? guard_of(stack_bytes) : 0;
  const std::size_t stride = stride_of(stack_bytes, guarded);
  // Without access it counts against no limit but that of address space; where that is low, the
  // chunk has fewer slots. Without a guard it is usable from the start: else it would not become
  // one mapping with its neighbour.
  const int access = apart ? PROT_NONE : PROT_READ | PROT_WRITE;
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  std::uint32_t slots = slots_per_chunk;
  for (; slots != 0 && memory == MAP_FAILED; slots /= memory == MAP_FAILED ? 2 : 1) {
    bytes = up(guard + line + slots * stride);
    memory = ::mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (memory == MAP_FAILED) {
    return false;
  }
  if (stack_bytes >= huge_page) {
    (void)::madvise(memory, bytes, MADV_NOHUGEPAGE);  // a kernel without huge pages refuses
  }
  if (from.node >= 0) {
    prefer_node(memory, bytes, from.node);
  }
  guards_left_.stacks -= guarded ? slots : 0;
  guards_left_.chunks -= apart && !guarded ? 1 : 0;
  chunk& c = chunks_info_[id];
  SINEW_ASSERT(c.memory == nullptr);  // no number is given out twice
  c.memory = static_cast<std::byte*>(memory);
  c.bytes = bytes;
  c.guarded = guarded ? 1 : 0;
  c.stack_class = stack_class;
  c.guard_bytes = guard;
  c.node = from.node;
  table_[id] = {c.memory + guard + line + stride - sizeof(fiber), stride};
  SINEW_ASSERT(number(at(table_[id], slots - 1) + 1) <= number(memory) + bytes);
  from = {id, 0, slots, nobody, from.node};
  if (id == next_) {
    ++next_;
    chunks_.store(next_, std::memory_order_release);
  }
  return true;
}

bool stacks::commit(const chunk& c, std::uint32_t slot, std::size_t stride) noexcept {
  const std::uintptr_t base = number(c.memory) + c.guard_bytes + line + slot * stride;
  std::uintptr_t low = up(base) + c.guard_bytes;
  std::uintptr_t high = up(base + stride);
  if (c.guarded == 0) {
    if (slot % commit_slots != 0) {
      return true;
    }
    low = down(base - line);
    high = std::min(up(base + commit_slots * stride), number(c.memory) + c.bytes);
  }
  void* at = reinterpret_cast<void*>(low);
  if (c.guard_bytes != 0 && ::mprotect(at, high - low, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  if (c.guarded == 0 && bytes_of(c.stack_class) <= small_stack) {
    (void)::madvise(at, high - low, MADV_POPULATE_WRITE);  // older kernels refuse: no matter
  }
  return true;
}

/// What a slot takes at least: a page is touched. Small stacks without guards lie so close that
/// they take their size. Large ones have a page table each, and are for threads, whose storage
/// counts, too: 14.7 KiB were measured with --threads-as-fibers, see also stacks_within().
std::size_t stacks::least_use(const chunk& c, std::size_t stride) noexcept {
  const std::size_t stack_bytes = bytes_of(c.stack_class);
  if (c.guarded == 0 && stack_bytes <= small_stack) {
    return stride;
  }
  return stack_bytes < huge_page ? page : 3 * page;
}

fiber* stacks::carve(cursor& from, std::uint8_t stack_class) noexcept {
  if (from.used == from.end && !reserve(from, stack_class)) {
    tell_of_refusal();
    return nullptr;
  }
  chunk& c = chunks_info_[from.chunk];
  SINEW_ASSERT(c.stack_class == stack_class && from.used < from.end);
  const place& p = table_[from.chunk];
  const std::size_t bytes = least_use(c, p.stride);
  if (!take_memory(bytes)) {
    return nullptr;
  }
  if (!commit(c, from.used, p.stride)) {
    bytes_left_.fetch_add(bytes, std::memory_order_relaxed);
    tell_of_refusal();
    return nullptr;
  }
  auto* f = new (at(p, from.used)) fiber;
  const std::uintptr_t base = number(c.memory) + c.guard_bytes + line + from.used * p.stride;
  f->stack_class = stack_class;
  f->slot = from.chunk * slots_per_chunk + from.used;
  f->low = reinterpret_cast<void*>(c.guarded != 0 ? up(base) + c.guard_bytes : base);
  if (c.guarded == 0) {
    std::uint64_t* below = from.used == 0 ? reinterpret_cast<std::uint64_t*>(base) - 1
                                          : &at(p, from.used - 1)->own_canary;
    *below = canary_value;
    f->canary = below;
  }
  SINEW_ENSURE(number(f) - number(f->low) >= bytes_of(stack_class));
  annotations::mapped(f->low, f);
  c.carved.store(++from.used, std::memory_order_release);
  return f;
}

const stacks::chunk* stacks::chunk_of(const void* address) const noexcept {
  const std::uint32_t chunks = chunks_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < chunks; ++i) {
    const chunk& c = chunks_info_[i];
    if (c.carved.load(std::memory_order_acquire) != 0 &&
        number(address) - number(c.memory) < c.bytes) {
      return &c;
    }
  }
  return nullptr;
}

fiber* stacks::containing(const void* address) const noexcept {
  const chunk* c = chunk_of(address);
  if (c == nullptr) {
    return nullptr;
  }
  const place& p = table_[c - chunks_info_];
  const std::uintptr_t first = number(c->memory) + c->guard_bytes + line;
  // The guard below the chunk is the first slot's.
  const std::size_t slot = number(address) < first ? 0 : (number(address) - first) / p.stride;
  return slot < c->carved.load(std::memory_order_acquire) ? at(p, static_cast<std::uint32_t>(slot))
                                                          : nullptr;
}

fiber* stacks::guarding(const void* address) const noexcept {
  fiber* f = containing(address);
  return f != nullptr && address < f->low ? f : nullptr;
}

void stacks::describe(debug_view& to) const noexcept {
  to.table = number(table_);
  to.chunks = number(&chunks_);
  to.carved = number(&chunks_info_[0].carved);
  to.carved_step = sizeof(chunk);
}

bool slot_cache::refill(depot& d) noexcept {
  if (full_ == nullptr && d.batches.load(std::memory_order_relaxed) != nullptr) {
    const std::lock_guard hold(d.lock);
    full_ = d.batches.load(std::memory_order_relaxed);
    if (full_ != nullptr) {
      d.batches.store(full_->next_batch, std::memory_order_relaxed);
    }
  }
  current_ = full_;
  full_ = nullptr;
  count_ = current_ != nullptr ? batch : 0;
  return current_ != nullptr;
}

void slot_cache::flush(depot& d) noexcept {
  SINEW_EXPECT(count_ == batch);
  if (full_ != nullptr) {
    const std::lock_guard hold(d.lock);
    full_->next_batch = d.batches.load(std::memory_order_relaxed);
    d.batches.store(full_, std::memory_order_relaxed);
  }
  full_ = current_;
  current_ = nullptr;
  count_ = 0;
}

}  // namespace sinew::fiber
