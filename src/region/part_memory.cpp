// SPDX-License-Identifier: BSD-3-Clause
#include "region/part_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sinew/base/check.hpp"
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

setting<std::int64_t> symmetric_bytes(
    "region", "SYMMETRIC", 0, "bytes",
    "what each rank sets aside of SINEW_RMA_HEAP for symmetric instances (0: a quarter of what is "
    "free); the same on all ranks",
    {.least = 4096, .most = most_setting_bytes, .or_zero = true});

constexpr std::size_t page = rma::arena::page;
constexpr std::size_t grain = rma::arena::grain;
}  // namespace

part_memory::part_memory(rma::engine& memory, bool threaded) : rma_(memory), threaded_(threaded) {
  if (heap_limit() != 0) {
    account_.emplace(grain, static_cast<std::uint64_t>(heap_limit()) / grain * grain);
  }
  // The same on all ranks, since all have made the same symmetric allocations so far.
  const std::size_t limit = symmetric_bytes() > 0
                                ? static_cast<std::size_t>(symmetric_bytes())
                                : rma_.memory().largest_free(rma::part::symmetric) / 4;
  const std::size_t bytes = limit / page * page;
  if (bytes == 0) {
    return;
  }
  const std::uint64_t begin = rma_.memory().allocate(rma::part::symmetric, bytes, page);
  SINEW_ASSERT(begin % page == 0);
  if (rma_.rank() == 0) {
    pool_.emplace(begin, bytes);
  }
}

part_memory::~part_memory() {
  give_back_kept();
  for (const std::uint64_t address : private_blocks_) {
    std::free(reinterpret_cast<void*>(address));
  }
}

rma::arena* part_memory::arena_of(memory_kind kind) noexcept {
  switch (kind) {
    case memory_kind::heap:
      return account_ ? &*account_ : nullptr;
    case memory_kind::symmetric:
      return pool_ ? &*pool_ : nullptr;
    default:
      return &rma_.memory().blocks(rma::part::local);
  }
}

std::uint64_t part_memory::take_block(memory_kind kind, std::size_t bytes) {
  SINEW_EXPECT(bytes != 0);
  return kind == memory_kind::shared ? take_shared(bytes) : arena_of(kind)->allocate(bytes, grain);
}

void part_memory::give_back_block(memory_kind kind, std::uint64_t offset, bool others_wait) {
  SINEW_EXPECT(offset != 0);
  if (kind == memory_kind::shared) {
    others_wait ? rma_.memory().release(offset) : give_back_shared(offset);
    return;
  }
  if (kind == memory_kind::symmetric) {
    rma_.memory().give_back_pages(offset, pool_->bytes_of(offset));
  }
  arena_of(kind)->release(offset);
}

part_memory::result part_memory::address_of(memory_kind kind, std::uint64_t offset,
                                            std::size_t bytes) {
  SINEW_EXPECT(bytes != 0);
  if (kind != memory_kind::heap) {
    SINEW_ASSERT(offset != 0 && offset < std::uint64_t{1} << rma::offset_bits);
    return {offset, {}};
  }
  void* const block = std::aligned_alloc(grain, rma::arena::rounded(bytes));
  if (block == nullptr) {
    return {0, "no room for " + std::to_string(bytes) + " bytes in rank " + to_string(rma_.rank()) +
                   "'s private memory: the system has no more"};
  }
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const base::guard held(lock_, threaded_);
  private_blocks_.insert(address);
  return {address, {}};
}

part_memory::result part_memory::no_room(memory_kind kind, std::size_t bytes) {
  const rma::arena* const from = arena_of(kind);
  const std::size_t all = from != nullptr ? from->bytes() : 0;
  const std::size_t used = from != nullptr ? from->used() : 0;
  // Private memory is not in one piece.
  const std::size_t largest = kind == memory_kind::heap ? all - used
                              : from != nullptr         ? from->largest_free()
                                                        : 0;
  const auto [name, setting] =
      kind == memory_kind::heap ? std::pair("private memory", "SINEW_REGION_HEAP")
      : kind == memory_kind::symmetric
          ? std::pair("symmetric memory for instances", "SINEW_REGION_SYMMETRIC")
          : std::pair("shared memory", "SINEW_RMA_LOCAL_HEAP");
  // What is added to a heap lengthens its largest piece.
  constexpr std::size_t mib = 1 << 20;
  const std::size_t enough = (all - largest + bytes + page + mib - 1) / mib;
  return {0, "no room for " + std::to_string(bytes) + " bytes in rank " + to_string(rma_.rank()) +
                 "'s " + name + " (" + std::to_string(used) + " of " + std::to_string(all) +
                 " are in use or promised, the largest free block has " + std::to_string(largest) +
                 ") set " + setting + "=" + std::to_string(enough) + "M or more"};
}

void part_memory::free_address(memory_kind kind, std::uint64_t address) {
  SINEW_EXPECT(address != 0);
  if (kind != memory_kind::heap) {
    return;
  }
  const base::guard held(lock_, threaded_);
  [[maybe_unused]] const std::size_t erased = private_blocks_.erase(address);
  SINEW_ASSERT(erased == 1);
  std::free(reinterpret_cast<void*>(address));
}

std::uint64_t part_memory::take_shared(std::size_t bytes) {
  {
    const base::guard held(lock_, threaded_);
    const memory_block b = kept_.take(bytes);
    if (b.offset != 0) {
      return b.offset;
    }
  }
  const std::uint64_t fresh = rma_.memory().try_allocate(rma::part::local, bytes);
  if (fresh != 0) {
    return fresh;
  }
  give_back_kept();
  return rma_.memory().try_allocate(rma::part::local, bytes);
}

std::uint64_t part_memory::take_lasting(std::size_t bytes) {
  const std::uint64_t found = rma_.memory().try_allocate_high(rma::part::local, bytes);
  if (found != 0) {
    return found;
  }
  give_back_kept();
  return rma_.memory().try_allocate_high(rma::part::local, bytes);
}

void part_memory::give_back_shared(std::uint64_t offset) {
  const std::size_t bytes = rma_.memory().bytes_of(offset);
  SINEW_EXPECT(bytes != 0);  // a block begins there
  {
    const base::guard held(lock_, threaded_);
    if (kept_.keep({offset, bytes}, static_cast<std::size_t>(keep_limit()))) {
      return;
    }
  }
  rma_.memory().release(offset);
}

void part_memory::give_back_kept() {
  std::vector<memory_block> all;
  {
    const base::guard held(lock_, threaded_);
    all = kept_.drain();
    SINEW_ASSERT(kept_.bytes() == 0);
  }
  for (const memory_block& b : all) {
    rma_.memory().release(b.offset);
  }
}

}  // namespace sinew::region
