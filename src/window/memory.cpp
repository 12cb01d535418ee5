// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/window/memory.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::window {
namespace {

constexpr std::uint64_t page_bytes = 4096;

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

/// Whether all ranks say so.
bool all_agree(coll::participant at, bool good) {
  std::int32_t worst = good ? 1 : 0;
  const coll::op least{.kind = coll::op_kind::min};
  const p2p::buffer word{&worst, 1, &layout::of(layout::element::i32)};
  return coll::allreduce(at, coll::in_place, word, least) == p2p::fault::none && worst == 1;
}

/// The window's ranks that share this one's node, in ascending order.
std::vector<int> ranks_here(coll::participant at) {
  const boot::place& here = at.engine.runtime().session().where();
  std::vector<int> ranks;
  for (int r = 0; r < at.comm.size(); ++r) {
    if (here.is_near(at.comm.job_rank(comm_rank{r}))) {
      ranks.push_back(r);
    }
  }
  SINEW_ENSURE(std::binary_search(ranks.begin(), ranks.end(), at.comm.rank().value()));
  return ranks;
}

/// What a rank of another node has to know.
struct extent {
  std::uint64_t base, bytes, unit, name;
};
static_assert(std::is_trivially_copyable_v<extent>);  // it travels as bytes

std::vector<extent> exchange(coll::participant at, const extent& own) {
  std::vector<extent> all(static_cast<std::size_t>(at.comm.size()));
  (void)coll::allgather(at, p2p::buffer::of_bytes(&own, sizeof own),
                        p2p::buffer::of_bytes(all.data(), sizeof own));
  SINEW_ENSURE(all[at.comm.rank().index()].bytes == own.bytes);
  return all;
}

/// What all ranks do together. Each step ends with an agreement, so that none waits for one that
/// has failed: all throw then.
class steps {
 public:
  explicit steps(coll::participant at) : at_(at) {}
  template <class Step>
  void run(Step&& step) {
    std::string problem;
    try {
      step();
    } catch (const std::exception& e) {
      problem = e.what();
    }
    if (!all_agree(at_, problem.empty())) {
      throw error{"the memory of a window cannot be made",
                  problem.empty() ? "another rank has none" : problem,
                  "make it smaller, or give the job more shared memory"};
    }
  }

 private:
  coll::participant at_;
};

/// Memory that the ranks `near` of this node share.
boot::memory_mapping map_together(coll::participant at, const std::vector<int>& near,
                                  std::uint64_t bytes) {
  const int rank = at.comm.rank().value();
  steps all(at);
  boot::descriptor memory;
  boot::memory_mapping shared;
  all.run([&] {
    if (rank == near.front()) {
      memory = boot::make_shared_memory("window");
      shared = boot::memory_mapping::of(memory.get(), bytes);
    }
  });
  all.run([&] {
    // Unique among all windows of the node while its ranks are in here.
    const std::string name = at.engine.runtime().session().where().job + "-window-" +
                             to_string(at.comm.job_rank(comm_rank{near.front()})) + "-" +
                             to_string(at.comm.context());
    const auto place = std::lower_bound(near.begin(), near.end(), rank) - near.begin();
    memory = boot::share_descriptor(name, local_rank{static_cast<int>(place)},
                                    static_cast<int>(near.size()), std::move(memory));
    if (place != 0) {
      shared = boot::memory_mapping::of(memory.get(), bytes);
    }
  });
  SINEW_ENSURE(shared.base() != nullptr);
  return shared;
}

}  // namespace

// Pieces may be neighbours: memory that lies in both is attached, too.
bool record::has_attached(std::uint64_t from, std::uint64_t to) const noexcept {
  SINEW_EXPECT(from <= to);
  for (;;) {
    std::uint64_t covered = 0;  // up to there, from `from` on
    for (const attached_memory& a : attached) {
      // Acquire: with the release in MPI_Win_attach.
      const std::uint64_t end = a.end.load(std::memory_order_acquire);
      if (end != 0 && from >= a.begin.load(std::memory_order_relaxed) && from <= end) {
        covered = std::max(covered, end);
      }
    }
    if (covered != 0 && to <= covered) {
      return true;
    }
    if (covered <= from) {
      return unlisted.load(std::memory_order_acquire) != 0;
    }
    from = covered;
  }
}

memory::memory(coll::participant at, boot::memory_mapping shared)
    : endpoint_(at.engine.runtime().endpoint()),
      comm_(at.comm),
      losses_(core::losses::of(at.engine.runtime())),
      own_(at.comm.rank().value()),
      excluder_(static_cast<std::uint32_t>(at.engine.runtime().rank().value()) + 1),
      shared_(std::move(shared)) {}

memory::~memory() {
  if (engine_ != nullptr) {
    leave(own().name);
  }
}

std::unique_ptr<memory> memory::make(coll::participant at, placement how, const part& mine) {
  const auto ranks = static_cast<std::size_t>(at.comm.size());
  const std::vector<int> near = ranks_here(at);
  SINEW_EXPECT(near.size() == ranks || how != placement::contiguous);
  extent own{reinterpret_cast<std::uintptr_t>(mine.base), mine.bytes,
             static_cast<std::uint64_t>(mine.unit), 0};
  const std::vector<extent> all = exchange(at, own);
  const std::uint64_t records = rounded(ranks * sizeof(record), page_bytes);
  std::vector<std::uint64_t> offsets(ranks);
  std::uint64_t end = records;
  for (std::size_t i = 0; how != placement::own && i < near.size(); ++i) {
    const auto r = static_cast<std::size_t>(near[i]);
    offsets[r] = end;
    end += how == placement::contiguous ? all[r].bytes : rounded(all[r].bytes, page_bytes);
  }
  end = rounded(end, page_bytes);
  SINEW_ASSERT(end >= records && records >= ranks * sizeof(record));

  std::unique_ptr<memory> made(new memory(at, map_together(at, near, end)));
  const std::size_t rank = at.comm.rank().index();
  auto* r = new (&made->of(at.comm.rank().value())) record{};
  r->base = how == placement::own
                ? own.base
                : reinterpret_cast<std::uintptr_t>(made->shared_.base()) + offsets[rank];
  r->bytes = mine.bytes;
  r->unit = mine.unit;
  r->offset = offsets[rank];
  if (near.size() != ranks) {
    made->reach_others(at, near);
  }
  (void)coll::barrier(at);
  return made;
}

void memory::reach_others(coll::participant at, const std::vector<int>& near) {
  record& mine = own();
  steps(at).run([&] {
    engine_ = &rma::engine::of(at.engine.runtime());
    mine.name = enter(*this);
  });
  const std::vector<extent> all =
      exchange(at, {mine.base, mine.bytes, static_cast<std::uint64_t>(mine.unit), mine.name});
  for (int rank = 0; own_ == near.front() && rank < at.comm.size(); ++rank) {
    if (needs_flush(rank)) {
      const extent& e = all[static_cast<std::size_t>(rank)];
      auto* r = new (&of(rank)) record{};
      r->base = e.base;
      r->bytes = e.bytes;
      r->unit = static_cast<std::int64_t>(e.unit);
      r->name = e.name;
    }
  }
}

bool memory::elsewhere(int rank, std::uint64_t address, const p2p::buffer& packed,
                       const p2p::buffer& there, fabric::direction way, moment when) const {
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
  const job_rank peer = job(rank);
  if (needs_flush(rank)) {
    if (way == fabric::direction::out) {
      engine_->put_pieces(peer, pieces);
    } else if (when == moment::later) {
      engine_->get_pieces_later(peer, pieces);
    } else {
      engine_->get_pieces(peer, pieces);
    }
    return true;
  }
  const fabric::copied how =
      pieces.empty() ? fabric::copied::done : endpoint_.copy_now(peer, way, pieces);
  if (how == fabric::copied::gone || (how == fabric::copied::refused && losses_.is_dead(peer))) {
    return false;
  }
  SINEW_CHECK(how == fabric::copied::done, "another rank's window cannot be reached",
              "the system forbids copies between processes (process_vm_readv), and the memory is "
              "the program's own",
              "let MPI_Win_allocate make the window's memory, or allow ptrace between the ranks");
  return true;
}

bool memory::write(int rank, place at, const p2p::buffer& from, const p2p::buffer& there) const {
  SINEW_EXPECT(from.type != nullptr && there.type != nullptr);
  if (at.here != nullptr || from.bytes() == 0) [[likely]] {
    layout::copy(*from.type, from.count, from.base, *there.type, there.count, at.here);
    return true;
  }
  if (from.type->dense()) {
    return elsewhere(rank, at.there, from, there, fabric::direction::out);
  }
  std::vector<std::byte> packed(from.bytes());
  layout::pack(*from.type, from.count, from.base, 0, packed);
  return elsewhere(rank, at.there, p2p::buffer::of_bytes(packed.data(), packed.size()), there,
                   fabric::direction::out);
}

bool memory::read(int rank, place at, const p2p::buffer& into, const p2p::buffer& there) const {
  SINEW_EXPECT(into.type != nullptr && there.type != nullptr);
  if (at.here != nullptr || into.bytes() == 0) [[likely]] {
    layout::copy(*there.type, there.count, at.here, *into.type, into.count, into.base);
    return true;
  }
  if (into.type->dense()) {
    return elsewhere(rank, at.there, into, there, fabric::direction::in);
  }
  std::vector<std::byte> packed(std::min(into.bytes(), there.bytes()));
  const bool done = elsewhere(rank, at.there, p2p::buffer::of_bytes(packed.data(), packed.size()),
                              there, fabric::direction::in);
  layout::unpack(*into.type, into.count, into.base, 0, packed);
  return done;
}

bool memory::read_later(int rank, place at, const p2p::buffer& into,
                        const p2p::buffer& there) const {
  return at.here == nullptr && into.bytes() != 0 && into.type->dense()
             ? elsewhere(rank, at.there, into, there, fabric::direction::in, moment::later)
             : read(rank, at, into, there);
}

bool memory::attach(std::uint64_t begin, std::uint64_t bytes) {
  SINEW_EXPECT(bytes != 0);
  const std::uint64_t end = begin + bytes;
  const std::lock_guard held(pieces_lock_);
  const auto above = pieces_.upper_bound(begin);
  if ((above != pieces_.end() && above->first < end) ||
      (above != pieces_.begin() && std::prev(above)->second.end > begin)) {
    return false;
  }
  record& mine = own();
  auto* const listed =
      std::find_if(std::begin(mine.attached), std::end(mine.attached),
                   [](const auto& a) { return a.end.load(std::memory_order_relaxed) == 0; });
  const bool has_room = listed != std::end(mine.attached);
  pieces_.emplace_hint(above, begin, piece{end, has_room ? listed : nullptr});
  if (has_room) {
    listed->begin.store(begin, std::memory_order_relaxed);
    listed->end.store(end, std::memory_order_release);
  } else {
    mine.unlisted.fetch_add(1, std::memory_order_release);
  }
  return true;
}

bool memory::detach(std::uint64_t begin) {
  const std::lock_guard held(pieces_lock_);
  const auto at = pieces_.find(begin);
  if (at == pieces_.end()) {
    return false;
  }
  if (at->second.listed != nullptr) {
    at->second.listed->end.store(0, std::memory_order_release);
  } else {
    own().unlisted.fetch_sub(1, std::memory_order_release);
  }
  pieces_.erase(at);
  return true;
}

}  // namespace sinew::window
