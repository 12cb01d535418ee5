#include "abi/mpi/window_memory.hpp"

#include <sched.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::mpi {
namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

/// Whether all ranks say so.
bool all_agree(coll::participant at, bool good) {
  std::int32_t worst = good ? 1 : 0;
  const coll::op least{.kind = coll::op_kind::min};
  const p2p::buffer word{&worst, 1, &layout::of(layout::element::i32)};
  return coll::allreduce(at, coll::in_place, word, least) == p2p::fault::none && worst == 1;
}

/// The same answer on all ranks: each of them sees a member elsewhere, or none does.
void check_one_node(coll::participant at) {
  const boot::place& here = at.engine.runtime().session().where();
  for (const job_rank member : at.comm.members().members()) {
    SINEW_CHECK(here.is_near(member), "a window cannot span several nodes",
                "its ranks must share a node, and rank " + to_string(member) +
                    " of the job is on another one",
                "make windows in the parts of MPI_Comm_split_type(MPI_COMM_TYPE_SHARED)");
  }
}

}  // namespace

std::unique_ptr<window_memory> window_memory::make(coll::participant at, placement how,
                                                   const part& mine) {
  const auto ranks = static_cast<std::size_t>(at.comm.size());
  check_one_node(at);
  struct extent {
    std::uint64_t base, bytes, unit;
  };
  static_assert(std::is_trivially_copyable_v<extent>);  // it travels as bytes
  std::vector<extent> all(ranks);
  const extent own{reinterpret_cast<std::uintptr_t>(mine.base), mine.bytes,
                   static_cast<std::uint64_t>(mine.unit)};
  (void)coll::allgather(at, p2p::buffer::of_bytes(&own, sizeof own),
                        p2p::buffer::of_bytes(all.data(), sizeof own));
  SINEW_ASSERT(all[at.comm.rank().index()].bytes == mine.bytes);
  const std::uint64_t records = rounded(ranks * sizeof(window_record), page);
  std::vector<std::uint64_t> offsets(ranks);
  std::uint64_t end = records;
  for (std::size_t r = 0; how != placement::own && r < ranks; ++r) {
    offsets[r] = end;
    end += how == placement::contiguous ? all[r].bytes : rounded(all[r].bytes, page);
  }
  end = rounded(end, page);
  SINEW_ASSERT(end >= records && records >= ranks * sizeof(window_record));

  // Each step ends with an agreement, so that no rank waits for one that has failed.
  boot::descriptor memory;
  boot::memory_mapping shared;
  std::string problem;
  const int rank = at.comm.rank().value();
  const auto attempt = [&](auto&& step) {
    try {
      if (problem.empty()) {
        step();
      }
    } catch (const std::exception& e) {
      problem = e.what();
    }
    if (!all_agree(at, problem.empty())) {
      throw error{"the memory of a window cannot be made",
                  problem.empty() ? "another rank has none" : problem,
                  "make it smaller, or give the job more shared memory"};
    }
  };
  attempt([&] {
    if (rank == 0) {
      memory = boot::make_shared_memory("window");
      shared = boot::memory_mapping::of(memory.get(), end);
    }
  });
  attempt([&] {
    // Unique among all windows of the node while its ranks are in here.
    const std::string name = at.engine.runtime().session().where().job + "-window-" +
                             to_string(at.comm.job_rank(0)) + "-" + to_string(at.comm.context());
    memory = boot::share_descriptor(name, local_rank{rank}, at.comm.size(), std::move(memory));
    if (rank != 0) {
      shared = boot::memory_mapping::of(memory.get(), end);
    }
  });

  SINEW_ASSERT(shared.base() != nullptr);
  std::unique_ptr<window_memory> made(new window_memory(at, std::move(shared)));
  auto* r = new (&made->of(rank)) window_record{};
  r->base = all[static_cast<std::size_t>(rank)].base;
  r->bytes = mine.bytes;
  r->unit = mine.unit;
  r->offset = offsets[static_cast<std::size_t>(rank)];
  (void)coll::barrier(at);
  return made;
}

template <class Move>
void window_memory::by_kernel(int rank, std::uint64_t address, const p2p::buffer& packed,
                              const p2p::buffer& there, Move way) const {
  std::vector<fabric::piece> pieces;
  auto* local = static_cast<std::byte*>(packed.base);
  std::size_t left = packed.bytes();
  layout::for_each_run(*there.type, there.count, [&](std::ptrdiff_t offset, std::size_t n) {
    SINEW_ASSERT(n != 0);
    n = std::min(n, left);
    if (n != 0) {
      pieces.push_back({local, address + static_cast<std::uint64_t>(offset), n});
    }
    local += n;
    left -= n;
  });
  SINEW_CHECK(pieces.empty() || endpoint_.copy_now(comm_.job_rank(comm_rank{rank}), way, pieces),
              "another rank's window cannot be reached",
              "the system forbids copies between processes (process_vm_readv), and the memory is "
              "the program's own",
              "let MPI_Win_allocate make the window's memory, or allow ptrace between the ranks");
}

void window_memory::write(int rank, window_place at, const p2p::buffer& from,
                          const p2p::buffer& there) const {
  SINEW_EXPECT(from.type != nullptr && there.type != nullptr);
  if (at.here != nullptr || from.bytes() == 0) [[likely]] {
    layout::copy(*from.type, from.count, from.base, *there.type, there.count, at.here);
    return;
  }
  if (from.type->dense()) {
    by_kernel(rank, at.there, from, there, fabric::direction::out);
    return;
  }
  std::vector<std::byte> packed(from.bytes());
  layout::pack(*from.type, from.count, from.base, 0, packed);
  by_kernel(rank, at.there, p2p::buffer::of_bytes(packed.data(), packed.size()), there,
            fabric::direction::out);
}

void window_memory::read(int rank, window_place at, const p2p::buffer& into,
                         const p2p::buffer& there) const {
  SINEW_EXPECT(into.type != nullptr && there.type != nullptr);
  if (at.here != nullptr || into.bytes() == 0) [[likely]] {
    layout::copy(*there.type, there.count, at.here, *into.type, into.count, into.base);
    return;
  }
  if (into.type->dense()) {
    by_kernel(rank, at.there, into, there, fabric::direction::in);
    return;
  }
  std::vector<std::byte> packed(std::min(into.bytes(), there.bytes()));
  by_kernel(rank, at.there, p2p::buffer::of_bytes(packed.data(), packed.size()), there,
            fabric::direction::in);
  layout::unpack(*into.type, into.count, into.base, 0, packed);
}

accumulating::accumulating(window_record& r) noexcept : word_(r.accumulating) {
  constexpr int patience = 200;
  for (int i = 0; word_.exchange(1, std::memory_order_acquire) != 0; ++i) {
    if (i < patience) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      // Wait: another rank combines elements, and waits for nothing meanwhile.
      ::sched_yield();
    }
  }
}

}  // namespace sinew::mpi
