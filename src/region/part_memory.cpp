#include "region/part_memory.hpp"

#include <cstdlib>

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

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;

/// What a caller needs to know of memory that is too small.
struct shortage {
  const char* where;
  std::size_t used;
  std::size_t largest;  ///< free block
  const char* setting;
};

std::string no_memory(std::size_t bytes, job_rank rank, const shortage& s) {
  return "no room for " + std::to_string(bytes) + " bytes in rank " + to_string(rank) + "'s " +
         s.where + " (" + std::to_string(s.used) + " in use, the largest free block has " +
         std::to_string(s.largest) + ") set " + s.setting + "=" +
         std::to_string((s.used + bytes + (1 << 20) - 1) >> 20) + "M or more";
}

}  // namespace

part_memory::part_memory(rma::engine& memory, bool threaded) : rma_(memory), threaded_(threaded) {
  // The same on all ranks, since all have made the same symmetric allocations so far.
  pool_bytes_ = symmetric_bytes() > 0 ? static_cast<std::size_t>(symmetric_bytes())
                                      : rma_.memory().largest_free(rma::part::symmetric) / 4;
  pool_bytes_ = pool_bytes_ / page * page;
  if (pool_bytes_ == 0) {
    return;
  }
  pool_at_ = rma_.memory().allocate(rma::part::symmetric, pool_bytes_, page);
  SINEW_ASSERT(pool_at_ % page == 0);
  if (rma_.rank() == 0) {
    const rma::heap_sizes sizes{pool_bytes_, 0};
    pool_.emplace(rma::heap_shape(1, sizes), sizes, rma_.at({0, pool_at_}) - pool_begin());
  }
}

part_memory::~part_memory() {
  give_back_kept();
  for (const auto& [address, bytes] : private_blocks_) {
    std::free(reinterpret_cast<void*>(address));
  }
}

part_memory::result part_memory::take(memory_kind kind, std::size_t bytes) {
  SINEW_EXPECT(bytes != 0);
  if (kind == memory_kind::symmetric) {
    return take_symmetric(bytes);
  }
  if (kind == memory_kind::heap) {
    return take_private(bytes);
  }
  const std::uint64_t offset = take_shared(bytes);
  SINEW_ASSERT(offset < std::uint64_t{1} << rma::offset_bits);
  if (offset != 0) {
    return {offset, {}};
  }
  return {0, no_memory(bytes, rma_.rank(),
                       {"shared memory", rma_.memory().used(rma::part::local),
                        rma_.memory().largest_free(rma::part::local), "SINEW_RMA_LOCAL_HEAP"})};
}

part_memory::result part_memory::take_private(std::size_t bytes) {
  const base::guard held(lock_, threaded_);
  const auto limit = static_cast<std::size_t>(heap_limit());
  const bool fits = limit == 0 || (bytes <= limit && private_bytes_ <= limit - bytes);
  void* block = fits ? std::aligned_alloc(line, (bytes + line - 1) / line * line) : nullptr;
  if (block == nullptr) {
    return {0, no_memory(bytes, rma_.rank(),
                         {fits ? "private memory: the system has no more" : "private memory",
                          private_bytes_, limit > private_bytes_ ? limit - private_bytes_ : 0,
                          "SINEW_REGION_HEAP"})};
  }
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  SINEW_ASSERT(!private_blocks_.contains(address));
  private_blocks_[address] = bytes;
  private_bytes_ += bytes;
  return {address, {}};
}

part_memory::result part_memory::take_symmetric(std::size_t bytes) {
  SINEW_EXPECT(rma_.rank() == 0);
  const bool any = pool_.has_value();
  const std::uint64_t found = any ? pool_->try_allocate(rma::part::symmetric, bytes) : 0;
  if (found != 0) {
    SINEW_ENSURE(found >= pool_begin() && found - pool_begin() + bytes <= pool_bytes_);
    return {found - pool_begin() + pool_at_, {}};
  }
  return {0, no_memory(
                 bytes, rma_.rank(),
                 {"symmetric memory for instances", any ? pool_->used(rma::part::symmetric) : 0,
                  any ? pool_->largest_free(rma::part::symmetric) : 0, "SINEW_REGION_SYMMETRIC"})};
}

bool part_memory::has_limit(memory_kind kind) {
  return kind != memory_kind::heap || heap_limit() != 0;
}

std::size_t part_memory::free_bytes(memory_kind kind) const {
  if (kind == memory_kind::symmetric) {
    return pool_.has_value() ? pool_->largest_free(rma::part::symmetric) : 0;
  }
  const base::guard held(lock_, threaded_);
  if (kind == memory_kind::heap) {
    const auto limit = static_cast<std::size_t>(heap_limit());
    return limit > private_bytes_ ? limit - private_bytes_ : 0;
  }
  return rma_.memory().largest_free(rma::part::local) + kept_.bytes();
}

void part_memory::give_back(memory_kind kind, std::uint64_t address) {
  SINEW_EXPECT(address != 0);
  if (kind == memory_kind::symmetric) {
    SINEW_EXPECT(address >= pool_at_ && address < pool_at_ + pool_bytes_);
    pool_.value().release(address - pool_at_ + pool_begin());
    return;
  }
  if (kind != memory_kind::heap) {
    give_back_shared(address);
    return;
  }
  const base::guard held(lock_, threaded_);
  const auto block = private_blocks_.find(address);
  SINEW_ASSERT(block != private_blocks_.end() && private_bytes_ >= block->second);
  private_bytes_ -= block->second;
  private_blocks_.erase(block);
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
