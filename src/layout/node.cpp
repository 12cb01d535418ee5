// SPDX-License-Identifier: BSD-3-Clause
#include "layout/node.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::layout {
namespace {

constexpr unsigned depth_limit = 64;
/// Lists up to this long are copied into the list they become part of; longer ones stay a child.
constexpr std::size_t inline_limit = 16;
/// A regular list of at least this many runs becomes a loop.
constexpr std::size_t loop_from = 4;

[[nodiscard]] std::size_t basics_in(element kind, std::size_t bytes) noexcept {
  SINEW_EXPECT(kind == element::none || bytes % size_of(kind) == 0);
  return kind == element::none ? 0 : bytes / size_of(kind) * (is_pair(kind) ? 2 : 1);
}

[[nodiscard]] unsigned deeper_than(unsigned depth) {
  SINEW_CHECK(depth < depth_limit, "a datatype is nested too deeply",
              "it has more than " + std::to_string(depth_limit) + " irregular levels",
              "build it from fewer nested constructors");
  return depth + 1;
}

[[nodiscard]] node_ref make_loop(const node_ref& child, std::size_t count, std::ptrdiff_t stride) {
  SINEW_EXPECT(child != nullptr && child->bytes != 0 && count > 1);
  auto loop = std::make_shared<node>();
  loop->form = node::shape::loop;
  loop->depth = deeper_than(child->depth);
  loop->bytes = child->bytes * count;
  loop->basics = child->basics * count;
  loop->count = count;
  loop->stride = stride;
  loop->child = child;
  SINEW_ENSURE(loop->bytes / count == child->bytes);  // it has not overflowed
  return loop;
}

/// From runs without their end mark.
[[nodiscard]] node_ref make_runs(element kind, std::vector<node::run> runs, std::size_t bytes) {
  SINEW_EXPECT(!runs.empty() && runs[0].start == 0 && runs.back().start < bytes);
  const std::size_t n = runs.size();
  runs.push_back({0, bytes});
  // Pieces are found by bisection: no run is empty.
  SINEW_ASSERT(std::adjacent_find(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
                 return a.start >= b.start;
               }) == runs.end());
  const std::size_t first = runs[1].start;
  bool uniform = true;
  for (std::size_t i = 1; i < n && uniform; ++i) {
    uniform = runs[i + 1].start - runs[i].start == first;
  }
  if (uniform && n >= loop_from) {
    const std::ptrdiff_t stride = runs[1].offset - runs[0].offset;
    bool regular = true;
    for (std::size_t i = 2; i < n && regular; ++i) {
      regular = runs[i].offset - runs[i - 1].offset == stride;
    }
    if (regular) {
      return make_loop(make_run(kind, runs[0].offset, first), n, stride);
    }
  }
  runs.shrink_to_fit();
  auto list = std::make_shared<node>();
  list->kind = kind;
  list->bytes = bytes;
  list->basics = basics_in(kind, bytes);
  list->runs = std::move(runs);
  list->uniform = uniform ? first : 0;
  return list;
}

}  // namespace

bool is_pair(element e) noexcept { return e >= element::pair_f32_i32; }
std::size_t index_bytes(element e) noexcept { return e == element::pair_f64_f64 ? 8 : 4; }

std::size_t span_of(element kind, std::size_t bytes) noexcept {
  SINEW_EXPECT(kind == element::none || bytes % size_of(kind) == 0);
  return kind == element::none ? bytes : bytes / size_of(kind) * extent_of(kind);
}

node_ref make_run(element kind, std::ptrdiff_t offset, std::size_t bytes) {
  SINEW_EXPECT(bytes != 0);
  auto run = std::make_shared<node>();
  run->kind = kind;
  run->bytes = bytes;
  run->basics = basics_in(kind, bytes);
  run->runs = {{offset, 0}, {0, bytes}};
  run->uniform = bytes;
  return run;
}

node_ref repeat(const node_ref& child, std::size_t count, std::ptrdiff_t stride) {
  if (child == nullptr || count == 0) {
    return nullptr;
  }
  if (count == 1) {
    return child;
  }
  if (child->single_run()) {
    const auto span = static_cast<std::ptrdiff_t>(span_of(child->kind, child->bytes));
    if (span == stride) {
      return make_run(child->kind, child->runs[0].offset, child->bytes * count);
    }
  }
  std::ptrdiff_t reach = 0;
  if (child->form == node::shape::loop &&
      !__builtin_mul_overflow(child->count, child->stride, &reach) && reach == stride) {
    return make_loop(child->child, child->count * count, child->stride);
  }
  return make_loop(child, count, stride);
}

node_ref with_kind(const node_ref& plain, element kind) {
  if (plain == nullptr) {
    return nullptr;
  }
  SINEW_EXPECT(size_of(kind) == extent_of(kind) && plain->kind == element::none);
  auto copy = std::make_shared<node>(*plain);
  copy->kind = kind;
  copy->basics = basics_in(kind, copy->bytes);
  if (copy->child != nullptr) {
    copy->child = with_kind(copy->child, kind);
  }
  for (node::part& p : copy->parts) {
    p.child = with_kind(p.child, kind);
  }
  return copy;
}

void sequence_builder::add(std::ptrdiff_t offset, const node_ref& child) {
  if (child == nullptr) {
    return;
  }
  if (child->form == node::shape::runs && child->runs.size() <= inline_limit + 1) {
    for (std::size_t i = 0; i + 1 < child->runs.size(); ++i) {
      const node::run& r = child->runs[i];
      add_run(child->kind, offset + r.offset, child->runs[i + 1].start - r.start);
    }
    return;
  }
  if (child->form == node::shape::sequence && child->parts.size() <= inline_limit) {
    for (const node::part& p : child->parts) {
      add(offset + p.offset, p.child);
    }
    return;
  }
  flush();
  parts_.push_back({offset, parts_bytes_, child});
  parts_bytes_ += child->bytes;
}

void sequence_builder::add_run(element kind, std::ptrdiff_t offset, std::size_t bytes) {
  if (bytes == 0) {
    return;
  }
  if (kind != pending_kind_) {
    flush();
  }
  pending_kind_ = kind;
  if (!pending_.empty()) {
    const node::run& last = pending_.back();
    const std::size_t span = span_of(kind, pending_bytes_ - last.start);
    if (last.offset + static_cast<std::ptrdiff_t>(span) == offset) {
      pending_bytes_ += bytes;
      return;
    }
  }
  pending_.push_back({offset, pending_bytes_});
  pending_bytes_ += bytes;
}

void sequence_builder::flush() {
  if (pending_.empty()) {
    return;
  }
  node_ref runs = make_runs(pending_kind_, std::exchange(pending_, {}), pending_bytes_);
  parts_.push_back({0, parts_bytes_, std::move(runs)});
  parts_bytes_ += std::exchange(pending_bytes_, 0);
}

node_ref sequence_builder::finish() {
  flush();
  SINEW_ASSERT(pending_.empty() && parts_.empty() == (parts_bytes_ == 0));
  if (parts_.empty()) {
    return nullptr;
  }
  if (parts_.size() == 1 && parts_[0].offset == 0) {
    return parts_[0].child;
  }
  auto sequence = std::make_shared<node>();
  sequence->form = node::shape::sequence;
  unsigned deepest = 0;
  for (const node::part& p : parts_) {
    deepest = std::max(deepest, p.child->depth);
    sequence->basics += p.child->basics;
  }
  sequence->depth = deeper_than(deepest);
  sequence->bytes = parts_bytes_;
  sequence->parts = std::move(parts_);
  return sequence;
}

}  // namespace sinew::layout
