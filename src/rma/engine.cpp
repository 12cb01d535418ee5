// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/rma/engine.hpp"

#include <algorithm>
#include <string>

#include "rma/far.hpp"
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

constexpr core::runtime_slot<engine> attached_engine(core::slots::node_memory);

int most_of_a_node(const boot::place& at) {
  std::vector<int> counts(static_cast<std::size_t>(at.nodes), 0);
  for (const int node : at.node_of) {
    ++counts.at(static_cast<std::size_t>(node));
  }
  return std::max(at.local_size, *std::max_element(counts.begin(), counts.end()));
}

}  // namespace

std::unique_ptr<engine> engine::open(core::runtime& runtime) {
  boot::session& session = runtime.session();
  const boot::place& at = session.where();
  SINEW_CHECK(!at.spawned(), "the heaps of this job cannot be mapped",
              "ranks that another rank has spawned share none", "start them by `sinew run` itself");
  heap_memory where;
  where.sizes = default_heap_sizes(most_of_a_node(at), at.nodes == 1 ? nodes::one : nodes::several);
  where.node_of = at.node_of;
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
      [](void* r) -> void* { return open(*static_cast<core::runtime*>(r)).release(); }, &runtime));
}

engine& engine::of(core::runtime& runtime) {
  engine* const given = runtime.attached.get(attached_engine);
  return given != nullptr ? *given : of_process(runtime);
}

void engine::attach(core::runtime& runtime, engine& to_use) {
  runtime.attached.set(attached_engine, &to_use);
}

engine::engine(core::runtime& runtime, const heap_memory& where)
    : runtime_(runtime),
      rank_(runtime.rank()),
      size_(runtime.size()),
      shape_(size_, where.sizes),
      parts_(std::make_unique<std::byte*[]>(static_cast<std::size_t>(size_))),
      maps_all_(std::find(where.parts.begin(), where.parts.end(), nullptr) == where.parts.end()),
      node_of_(where.node_of),
      heap_(shape_, where.sizes, where.parts.at(rank_.index())),
      puts_(size_),
      words_(size_),
      awaited_(std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(size_))),
      mails_(std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(size_))) {
  const auto ranks = static_cast<std::size_t>(size_);
  SINEW_CHECK(where.parts.size() == ranks && where.parts[rank_.index()] != nullptr,
              "the heaps of this job cannot be reached", "this rank's own is not mapped", "");
  std::copy(where.parts.begin(), where.parts.end(), parts_.get());
  SINEW_CHECK(maps_all_ || node_of_.size() == ranks, "the heaps of this job cannot be reached",
              "some are on other nodes, and which is not told", "");
  far_ = std::make_unique<far_ranks>(*this, where.sizes);
  pays_fence_ = !runtime_.crowded() && base::join_membarrier(base::within::machine);
  if (pays_fence_) {
    armed(rank_).fetch_or(needs_no_fence, std::memory_order_seq_cst);
  }
  all_.reset(new barrier(*this, barrier::all_ranks{}, shape_.barrier_at));
  runtime_.serve_late(
      core::handlers::rma,
      [](void* self, const fabric::arrival& m) noexcept {
        return static_cast<engine*>(self)->far_->handle(m);
      },
      this);
  auto& mine = *reinterpret_cast<control_lines*>(parts_[rank_.index()]);
  mine.base.store(reinterpret_cast<std::uintptr_t>(&mine), std::memory_order_release);
}

engine::~engine() {
  const core::without_helper still(runtime_);
  // A message may still be under way to a wait that has ended without it.
  runtime_.endpoint().set_handler(
      core::handlers::rma, [](void*, const fabric::arrival&) noexcept { return status::ok(); },
      nullptr);
  far_.reset();
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
  tell_pair({r, pair_offset(shape_, rank_) + offsetof(pair_line, signals)});
}

/// Counts one more; the other rank waits for it.
void engine::tell_pair(place p) {
  if (at_once(p.rank)) {
    (void)fetch_add<std::uint64_t>(p, 1);
  } else {
    tell_later(p, kind_of<std::uint64_t>(atomic_op::add), 1, told::unnoted);
  }
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
