// SPDX-License-Identifier: BSD-3-Clause
// Memory that is not in a heap: through the kernel where it lets us, else by the fabric's messages,
// which its owner serves whenever it makes progress.
#include "rma/outside.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "rma/far.hpp"
#include "rma/walk.hpp"
#include "rma/words.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/core/losses.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::rma {
namespace {

using fabric::direction;

/// A get reads everything from the first byte of the section to the last, if that is no more than
/// so many times what is wanted: one long copy costs less than many short ones.
constexpr std::size_t most_waste = 16;
constexpr std::size_t most_scratch = std::size_t{1} << 20;

/// Hands pieces to `flush` some hundred at a time.
template <class Flush>
class piece_list {
 public:
  explicit piece_list(Flush flush) : flush_(flush) {}
  void add(std::byte* local, std::uint64_t remote, std::size_t bytes) {
    list_[count_++] = {local, remote, bytes};
    if (count_ == list_.size()) {
      finish();
    }
  }
  void finish() {
    if (count_ != 0) {
      flush_(std::span<const fabric::piece>(list_.data(), std::exchange(count_, 0)));
    }
  }

 private:
  Flush flush_;
  std::size_t count_ = 0;
  std::array<fabric::piece, 512> list_;
};

/// Displacements of the section's first and last far bytes.
struct extent {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
};
extent far_extent(const loops& section) {
  extent e;
  for (std::size_t d = 0; d < section.depth; ++d) {
    const axis& a = section.axes[d];
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = 0;
    const auto include = [&](std::ptrdiff_t i, bool first) {
      const std::ptrdiff_t at = i * a.far_stride;
      low = first ? at : std::min(low, at);
      high = first ? at : std::max(high, at);
    };
    if (a.far_index != nullptr) {
      for (std::size_t i = 0; i < a.count; ++i) {
        include(a.far_index[i], i == 0);
      }
    } else {
      include(0, true);
      include(static_cast<std::ptrdiff_t>(a.count) - 1, false);
    }
    e.low += low;
    e.high += high;
  }
  e.high += static_cast<std::ptrdiff_t>(section.element);
  SINEW_ENSURE(e.high > e.low);
  return e;
}

}  // namespace

void engine::get_ahead(void* to, outside from, std::size_t bytes) {
  constexpr std::size_t page_bytes = copied_pages::page_bytes;
  const std::uint64_t at = from.address % page_bytes;
  if (bytes > page_bytes - at || !maps(from.rank) || reach(from, bytes) != nullptr) {
    get(to, from, bytes);
    return;
  }
  base::guard held(copies_lock_, runtime_.threaded());
  if (copies_ == nullptr) {
    copies_ = std::make_unique<copied_pages>();
  }
  const std::uint64_t segment = segment_.load(std::memory_order_relaxed);
  const std::uint64_t begin = from.address - at;
  const std::uint64_t now = ticks();
  copied_pages::page& page = copies_->of(from.rank, begin);
  if (page.segment != segment || page.address != begin || page.rank != from.rank ||
      now - page.ticks > copies_->longest_life) {
    // Where the kernel does not let us the owner would have to copy a page for a word.
    const fabric::piece whole{page.bytes.data(), begin, page_bytes};
    page.segment = 0;
    if (runtime_.endpoint().copy_now(from.rank, direction::in, {&whole, 1}) !=
        fabric::copied::done) {
      held.unlock();  // get() polls, and so may run what gets ahead itself
      get(to, from, bytes);
      return;
    }
    page.segment = segment;
    page.ticks = now;
    page.address = begin;
    page.rank = from.rank;
  }
  SINEW_ASSERT(at + bytes <= page_bytes && page.address + at == from.address);
  std::memcpy(to, page.bytes.data() + at, bytes);
}

bool engine::copies_from(job_rank r) const {
  SINEW_EXPECT(maps(r) && r != rank_);
  const auto& its = *reinterpret_cast<const control_lines*>(parts_[r.index()]);
  const std::uint64_t base = its.base.load(std::memory_order_acquire);
  std::uint64_t seen = 0;
  const fabric::piece one{&seen, base + offsetof(control_lines, base), sizeof seen};
  return runtime_.endpoint().copy_now(r, direction::in, {&one, 1}) == fabric::copied::done &&
         seen == base;
}

void engine::move_pieces(job_rank r, bool in, std::span<const fabric::piece> pieces) {
  SINEW_EXPECT(r.below(size_) && r != rank_ && !pieces.empty());
  fabric::endpoint& net = runtime_.endpoint();
  const fabric::copied now = net.copy_now(r, in ? direction::in : direction::out, pieces);
  if (!in) {
    forget_copies();  // those too that another thread has made meanwhile
  }
  if (now == fabric::copied::gone) {
    return await_death(r);
  }
  if (now == fabric::copied::done) {
    return;
  }
  for (const fabric::piece& p : pieces) {
    core::carry_through(runtime_, [&](fabric::callback done) {
      return in ? net.get(r, p.local, {p.remote, {}}, p.bytes, done)
                : net.put(r, p.local, {p.remote, {}}, p.bytes, done);
    });
  }
  if (!in) {
    puts_.note(r);
  }
}

void engine::await_death(job_rank r) {
  struct {
    const core::losses& all;
    job_rank rank;
  } death{core::losses::of(runtime_), r};
  SINEW_CHECK(death.all.are_survived(), "the memory of rank " + to_string(r) + " cannot be reached",
              "its process has ended", "see what the launcher says of it");
  using awaited = decltype(death);
  // Wait: the launcher is about to tell of it; whoever asks after this call is to know.
  runtime_.wait_until(
      [](void* t) {
        const auto& [all, rank] = *static_cast<awaited*>(t);
        return all.is_dead(rank);
      },
      &death);
}

void engine::flush_puts(job_rank but) {
  if (but != no_job_rank && maps(but)) {
    but = no_job_rank;  // only messages have an order
  }
  flush_far(puts_, but);
  for (job_rank r = 0; puts_.open_but(but, runtime_.threaded()) && r.below(size_); ++r) {
    if (maps(r) && puts_.open(r)) {
      const std::uint32_t number = puts_.sent(r);
      core::carry_through(runtime_, [&](fabric::callback) { return runtime_.endpoint().flush(r); });
      puts_.settle(r, number);
    }
  }
}

void engine::put(outside to, const void* from, std::size_t bytes) {
  if (std::byte* there = reach(to, bytes)) {
    move_out(there, from, bytes);
  } else if (!maps(to.rank)) {
    far_->put(far_ranks::at(to), from, bytes);
    puts_.note(to.rank);
  } else if (bytes != 0) {
    const fabric::piece one{const_cast<void*>(from), to.address, bytes};
    move_pieces(to.rank, false, {&one, 1});
  }
}

void engine::get(void* to, outside from, std::size_t bytes) {
  if (const std::byte* there = reach(from, bytes)) {
    move_in(to, there, bytes);
  } else if (!maps(from.rank)) {
    far_->get(to, far_ranks::at(from), bytes);
  } else if (bytes != 0) {
    const fabric::piece one{to, from.address, bytes};
    move_pieces(from.rank, true, {&one, 1});
  }
}

void engine::put_section(outside to, const void* from, std::size_t element_bytes,
                         std::span<const axis> axes) {
  const loops section(element_bytes, axes);
  if (section.depth == 0) {
    return;
  }
  if (!maps(to.rank)) {
    far_->put_section(far_ranks::at(to), static_cast<std::byte*>(const_cast<void*>(from)), section);
    puts_.note(to.rank);
    return;
  }
  const extent e = far_extent(section);
  const auto first = static_cast<std::uint64_t>(e.low);
  if (std::byte* low = reach(outside::of(to.rank, to.address + first),
                             static_cast<std::size_t>(e.high - e.low))) {
    put_mapped(low - e.low, from, element_bytes, axes);
    return;
  }
  move_each(section, to, const_cast<void*>(from), false);
}

void engine::get_section(void* to, outside from, std::size_t element_bytes,
                         std::span<const axis> axes) {
  const loops section(element_bytes, axes);
  if (section.depth == 0) {
    return;
  }
  if (!maps(from.rank)) {
    far_->get_section(static_cast<std::byte*>(to), far_ranks::at(from), section);
    return;
  }
  const extent e = far_extent(section);
  const auto span = static_cast<std::size_t>(e.high - e.low);
  const outside begin = outside::of(from.rank, from.address + static_cast<std::uint64_t>(e.low));
  if (const std::byte* low = reach(begin, span)) {
    get_mapped(to, low - e.low, element_bytes, axes);
  } else if (span <= most_scratch && span <= most_waste * section.element * section.elements()) {
    const auto scratch = std::make_unique_for_overwrite<std::byte[]>(span);
    const fabric::piece whole{scratch.get(), begin.address, span};
    move_pieces(from.rank, true, {&whole, 1});
    get_mapped(to, scratch.get() - e.low, element_bytes, axes);
  } else {
    move_each(section, from, to, true);
  }
}

void engine::move_each(const loops& section, outside far_side, void* near_side, bool in) {
  piece_list list(
      [&](std::span<const fabric::piece> some) { move_pieces(far_side.rank, in, some); });
  section.each_row([&](std::ptrdiff_t near, std::ptrdiff_t far, const axis& row) {
    each_element(row, near, far, [&](std::ptrdiff_t n, std::ptrdiff_t f) {
      list.add(static_cast<std::byte*>(near_side) + n,
               far_side.address + static_cast<std::uint64_t>(f), section.element);
    });
  });
  list.finish();
}

}  // namespace sinew::rma
