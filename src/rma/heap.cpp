// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/rma/heap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>

#include "rma/words.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/rma/arena.hpp"
#include "sinew/rma/place.hpp"

namespace sinew::rma {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

setting<std::int64_t> heap_bytes("rma", "heap", 0, "bytes",
                                 "what each rank reserves for symmetric objects such as coarrays "
                                 "(0: half of the node's memory over its ranks)",
                                 {.least = mib, .most = most_setting_bytes, .or_zero = true});
setting<std::int64_t> local_heap_bytes("rma", "local_heap", 0, "bytes",
                                       "what each rank reserves for objects of its own that others "
                                       "reach (0: as for SINEW_RMA_HEAP)",
                                       {.least = mib, .most = most_setting_bytes, .or_zero = true});

constexpr std::size_t page = 4096;
/// From here on a released block's pages go back; below, touching them again would cost more.
constexpr std::uint64_t give_back_from = 8 * mib;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

/// What all processes here may use together: the machine's memory, or the control group's limit.
std::size_t memory_of_node() {
  const auto pages = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
  std::size_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::size_t limit = 0;
    if (std::ifstream(file) >> limit && limit != 0) {
      bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

std::string rounded_up_mebibytes(std::size_t n) { return std::to_string((n + mib - 1) / mib); }

}  // namespace

heap_sizes default_heap_sizes(int local_ranks, nodes of_job) {
  SINEW_EXPECT(local_ranks >= 1);
  std::size_t memory = memory_of_node();
  if (of_job == nodes::several) {
    memory -= memory % std::max(mib, std::bit_floor(memory) / 16);
  }
  const auto share = [&](std::int64_t wanted) {
    const std::size_t bytes = wanted > 0 ? static_cast<std::size_t>(wanted)
                                         : memory / 2 / static_cast<std::size_t>(local_ranks);
    return std::max(mib, round_up(bytes, mib));
  };
  return {share(heap_bytes()), share(local_heap_bytes())};
}

heap_shape::heap_shape(int ranks, heap_sizes sizes) {
  SINEW_CHECK(ranks >= 1 && ranks <= most_ranks,
              "a heap for " + std::to_string(ranks) + " ranks cannot be laid out",
              "the limit is " + std::to_string(most_ranks), "");
  pairs_at = page;
  barrier_at = round_up(pairs_at + sizeof(pair_line) * static_cast<std::size_t>(ranks), page);
  symmetric_at = round_up(barrier_at + barrier_bytes(ranks), page);
  local_at = round_up(symmetric_at + sizes.symmetric, page);
  bytes = round_up(local_at + sizes.local, page);
  SINEW_ENSURE(pairs_at >= sizeof(control_lines) && barrier_at > pairs_at &&
               symmetric_at > barrier_at && local_at >= symmetric_at && bytes >= local_at);
  SINEW_CHECK(bytes < std::size_t{1} << offset_bits,
              "a heap of " + rounded_up_mebibytes(bytes) + " MiB is too large",
              "the limit is 16 TiB a rank", "lower SINEW_RMA_HEAP or SINEW_RMA_LOCAL_HEAP");
}

heap::heap(const heap_shape& shape, heap_sizes sizes, std::byte* mine)
    : mine_(mine),
      symmetric_(std::make_unique<arena>(shape.symmetric_at,
                                         sizes.symmetric / arena::grain * arena::grain)),
      local_(std::make_unique<arena>(shape.local_at, sizes.local / arena::grain * arena::grain)) {
  SINEW_EXPECT(shape.symmetric_at + sizes.symmetric <= shape.local_at);
  SINEW_EXPECT(shape.local_at + sizes.local <= shape.bytes);
}

heap::~heap() = default;

arena& heap::blocks(part where) const noexcept {
  return where == part::symmetric ? *symmetric_ : *local_;
}

arena& heap::arena_of(std::uint64_t offset) const noexcept {
  return symmetric_->covers(offset) ? *symmetric_ : *local_;
}

std::uint64_t heap::try_allocate(part where, std::size_t bytes, std::size_t alignment) {
  return blocks(where).allocate(bytes, alignment);
}

std::uint64_t heap::allocate(part where, std::size_t bytes, std::size_t alignment) {
  const std::uint64_t got = try_allocate(where, bytes, alignment);
  if (got == 0) {
    const arena& from = blocks(where);
    const char* name = where == part::symmetric ? "SINEW_RMA_HEAP" : "SINEW_RMA_LOCAL_HEAP";
    // Its longest free piece is at its end, and becomes longer with the setting.
    const std::size_t enough =
        from.bytes() - from.largest_free() + bytes + std::max(alignment, arena::page);
    throw error("no room for an object of " + std::to_string(bytes) + " bytes",
                "of this rank's " + rounded_up_mebibytes(from.bytes()) + " MiB " +
                    rounded_up_mebibytes(from.used()) +
                    " are in use, and the largest free piece has " +
                    std::to_string(from.largest_free()) + " bytes",
                std::string("set ") + name + "=" + rounded_up_mebibytes(enough) +
                    "M or more, if the node has the memory");
  }
  return got;
}

std::uint64_t heap::try_allocate_high(part where, std::size_t bytes, std::size_t alignment) {
  return blocks(where).allocate_high(bytes, alignment);
}

void heap::release(std::uint64_t offset) {
  arena& from = arena_of(offset);
  const std::uint64_t bytes = from.bytes_of(offset);
  SINEW_CHECK(bytes != 0, "cannot release offset " + std::to_string(offset),
              "no object begins there; it was released twice, or never allocated", "");
  give_back_pages(offset, bytes);  // before it can be allocated anew
  from.release(offset);
}

void heap::give_back_pages(std::uint64_t offset, std::size_t bytes) {
  if (bytes >= give_back_from) {
    // Where the system cannot do it the pages stay, which is no error.
    const std::uint64_t begin = round_up(offset, page);
    const std::uint64_t end = (offset + bytes) / page * page;
    (void)::madvise(mine_ + begin, end - begin, MADV_REMOVE);
  }
}

std::size_t heap::bytes_of(std::uint64_t offset) const { return arena_of(offset).bytes_of(offset); }
std::size_t heap::used(part where) const { return blocks(where).used(); }
std::size_t heap::bytes(part where) const { return blocks(where).bytes(); }
std::size_t heap::largest_free(part where) const { return blocks(where).largest_free(); }

}  // namespace sinew::rma
