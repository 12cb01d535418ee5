#include "sinew/rma/engine.hpp"

#include <algorithm>
#include <string>

#include "rma/outside.hpp"
#include "rma/words.hpp"
#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/membarrier.hpp"
#include "sinew/base/process_object.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/rma/barrier.hpp"

namespace sinew::rma {

namespace {

int most_of_a_node(const boot::place& at) {
  std::vector<int> counts(static_cast<std::size_t>(at.nodes), 0);
  for (const int node : at.node_of) {
    ++counts.at(static_cast<std::size_t>(node));
  }
  return std::max(at.local_size, *std::max_element(counts.begin(), counts.end()));
}

}  // namespace

std::unique_ptr<engine> engine::open(core::runtime& runtime) {
  std::unique_ptr<engine> made = open_node(runtime);
  made->need_all();
  return made;
}

std::unique_ptr<engine> engine::open_node(core::runtime& runtime) {
  boot::session& session = runtime.session();
  const boot::place& at = session.where();
  SINEW_CHECK(!at.spawned(), "the heaps of this job cannot be mapped",
              "ranks that another rank has spawned share none", "start them by `sinew run` itself");
  heap_memory where;
  where.sizes = default_heap_sizes(most_of_a_node(at));
  const heap_shape shape(at.size, where.sizes);
  std::byte* base = session.map_node_heap(shape.bytes);
  SINEW_CHECK(base != nullptr, "the heaps of this job cannot be mapped",
              "its ranks share no memory", "");
  where.parts.resize(static_cast<std::size_t>(at.size), nullptr);
  for (std::size_t local = 0; local < at.local_ranks.size(); ++local) {
    where.parts[at.local_ranks[local].index()] = base + local * shape.bytes;
  }
  return std::make_unique<engine>(runtime, where);
}

engine& engine::of_process(core::runtime& runtime) {
  return *static_cast<engine*>(process_object::join(
      "rma::engine", build_id,
      [](void* r) -> void* { return open_node(*static_cast<core::runtime*>(r)).release(); },
      &runtime));
}

engine::engine(core::runtime& runtime, const heap_memory& where)
    : runtime_(runtime),
      rank_(runtime.rank()),
      size_(runtime.size()),
      shape_(size_, where.sizes),
      parts_(std::make_unique<std::byte*[]>(static_cast<std::size_t>(size_))),
      heap_(shape_, where.sizes, where.parts.at(rank_.index())),
      owed_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(size_))),
      awaited_(std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(size_))),
      mails_(std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(size_))) {
  SINEW_CHECK(where.parts.size() == static_cast<std::size_t>(size_) &&
                  where.parts[rank_.index()] != nullptr,
              "the heaps of this job cannot be reached", "this rank's own is not mapped", "");
  std::copy(where.parts.begin(), where.parts.end(), parts_.get());
  runtime_.endpoint().set_handler(
      core::handlers::rma,
      [](void* self, const fabric::arrival&) noexcept {
        static_cast<engine*>(self)->look_for_waiters();
        return status::ok();
      },
      this);
  pays_fence_ = !runtime_.crowded() && base::join_membarrier(base::within::machine);
  if (pays_fence_) {
    armed(rank_).fetch_or(needs_no_fence, std::memory_order_seq_cst);
  }
  all_.reset(new barrier(*this, barrier::all_ranks{}, shape_.barrier_at));
  auto& mine = *reinterpret_cast<control_lines*>(parts_[rank_.index()]);
  mine.base.store(reinterpret_cast<std::uintptr_t>(&mine), std::memory_order_release);
}

engine::~engine() {
  const core::without_helper still(runtime_);
  // A message may still be under way to a wait that has ended without it.
  runtime_.endpoint().set_handler(
      core::handlers::rma, [](void*, const fabric::arrival&) noexcept { return status::ok(); },
      nullptr);
}

std::uint64_t engine::offset_of(const void* address) const noexcept {
  const auto offset =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - parts_[rank_.index()]);
  SINEW_ENSURE(offset >= shape_.bytes || at({rank_, offset}) == address);
  return offset < shape_.bytes ? offset : 0;
}

std::byte* engine::reach(outside where, std::size_t bytes) const noexcept {
  SINEW_EXPECT(where.rank.below(size_));
  if (where.rank == rank_) {
    return reinterpret_cast<std::byte*>(where.address);
  }
  std::byte* part = parts_[where.rank.index()];
  if (part == nullptr) {
    return nullptr;
  }
  const std::uint64_t base =
      reinterpret_cast<const control_lines*>(part)->base.load(std::memory_order_acquire);
  const std::uint64_t offset = where.address - base;
  return base != 0 && offset < shape_.bytes && bytes <= shape_.bytes - offset ? part + offset
                                                                              : nullptr;
}

void engine::need_all() const {
  SINEW_CHECK(std::find(parts_.get(), parts_.get() + size_, nullptr) == parts_.get() + size_,
              "the heaps of this job cannot be reached",
              "not every rank's memory is mapped here; the ranks must share a node", "");
}

void engine::take(std::uint64_t offset, std::uint64_t count) {
  const std::atomic_ref<std::uint64_t> word = word_at<std::uint64_t>({rank_, offset});
  // Several threads may take: one that finds too few left waits again.
  std::uint64_t there = wait_for(word, until::at_least, count);
  SINEW_ASSERT(holds(there, until::at_least, count));
  while (!word.compare_exchange_weak(there, there - count, std::memory_order_seq_cst)) {
    if (!holds(there, until::at_least, count)) {
      there = wait_for(word, until::at_least, count);
    }
  }
}

void engine::signal(job_rank r) {
  SINEW_EXPECT(r.below(size_));
  (void)fetch_add<std::uint64_t>({r, pair_offset(shape_, rank_) + offsetof(pair_line, signals)}, 1);
}

void engine::await(job_rank r) {
  SINEW_EXPECT(r.below(size_));
  const std::uint64_t number = ++awaited_[r.index()];
  (void)wait(pair_offset(shape_, r) + offsetof(pair_line, signals), until::at_least, number);
}

void engine::sync_with(std::span<const job_rank> ranks) {
  for (const job_rank r : ranks) {
    if (r != rank_) {
      signal(r);
    }
  }
  for (const job_rank r : ranks) {
    if (r != rank_) {
      await(r);
    }
  }
}

void engine::sync_all() { all_->wait(); }

}  // namespace sinew::rma
