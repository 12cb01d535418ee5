// SPDX-License-Identifier: BSD-3-Clause
// The constructors: bounds, sizes and the trees of a new datatype from those of its parts.

#include "sinew/layout/datatype.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "layout/node.hpp"
#include "sinew/base/check.hpp"

namespace sinew::layout {
namespace {

[[noreturn]] void too_large() {
  detail::check_failed("a datatype is too large", "its size or extent does not fit 64 bits",
                       "use smaller counts, strides or displacements");
}

template <class A, class B>
[[nodiscard]] std::ptrdiff_t times(A a, B b) {
  std::ptrdiff_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    too_large();
  }
  return result;
}

[[nodiscard]] std::ptrdiff_t plus(std::ptrdiff_t a, std::ptrdiff_t b) {
  std::ptrdiff_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    too_large();
  }
  return result;
}

[[nodiscard]] std::ptrdiff_t minus(std::ptrdiff_t a, std::ptrdiff_t b) {
  std::ptrdiff_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) {
    too_large();
  }
  return result;
}

/// The least lower and the greatest upper end of a set of intervals (an upper may be below its
/// lower: a resized type's extent can be negative).
struct interval {
  bool any = false;
  std::ptrdiff_t lower = 0;
  std::ptrdiff_t upper = 0;

  void include(std::ptrdiff_t low, std::ptrdiff_t high) noexcept {
    lower = any ? std::min(lower, low) : low;
    upper = any ? std::max(upper, high) : high;
    any = true;
  }
};

enum class padding { none, to_alignment };

}  // namespace

datatype::~datatype() = default;

/// Where the new datatype's fields come from: copies of old types are placed one group at a time,
/// then finish() makes the bounds.
struct builder {
  datatype* made = new datatype;
  datatype_ref owner{made};
  interval data;     ///< bytes of elements
  interval parts;    ///< the same with the padding of the old types
  interval markers;  ///< bounds set by resized()
  std::optional<element> base;

  /// `count` copies of `old`, `step` apart, the first at `offset`. Only numbers; no tree.
  void place(const datatype& old, std::ptrdiff_t offset, std::size_t count, std::ptrdiff_t step) {
    if (count == 0 || (old.size_ == 0 && !old.sticky_)) {
      return;
    }
    const std::ptrdiff_t last = plus(offset, times(count - 1, step));
    const std::ptrdiff_t low = std::min(offset, last);
    const std::ptrdiff_t high = std::max(offset, last);
    interval& bounds = old.sticky_ ? markers : parts;
    bounds.include(plus(low, old.lower_), plus(high, plus(old.lower_, old.extent_)));
    if (old.size_ == 0) {
      return;
    }
    data.include(plus(low, old.true_lower_), plus(high, plus(old.true_lower_, old.true_extent_)));
    made->size_ = static_cast<std::size_t>(
        plus(static_cast<std::ptrdiff_t>(made->size_), times(count, old.size_)));
    made->elements_ += count * old.elements_;
    made->alignment_ = std::max(made->alignment_, old.alignment_);
    base = base.value_or(old.base_) == old.base_ ? old.base_ : element::none;
  }

  /// Whether runs_ and base_ do not say everything about the elements.
  [[nodiscard]] bool needs_leaves() const noexcept {
    return base && (*base == element::none || size_of(*base) != extent_of(*base));
  }

  [[nodiscard]] static const node_ref& runs(const datatype& t) noexcept { return t.runs_; }
  [[nodiscard]] static node_ref leaves(const datatype& t) {
    return t.leaves_ != nullptr ? t.leaves_ : with_kind(t.runs_, t.base_);
  }

  /// make(tree_of) builds a tree from those that tree_of(old type) gives.
  template <class Make>
  void build_trees(Make&& make) {
    made->runs_ = make([](const datatype& t) { return runs(t); });
    if (needs_leaves()) {
      made->leaves_ = make([](const datatype& t) { return leaves(t); });
    }
  }

  [[nodiscard]] datatype_ref finish(padding at_end = padding::none) {
    datatype& t = *made;
    t.base_ = base.value_or(element::none);
    t.true_lower_ = data.lower;
    t.true_extent_ = minus(data.upper, data.lower);
    t.sticky_ = markers.any;
    const interval& bounds = markers.any ? markers : parts;
    t.lower_ = bounds.lower;
    t.extent_ = minus(bounds.upper, bounds.lower);
    if (!markers.any && at_end == padding::to_alignment) {
      const auto alignment = static_cast<std::ptrdiff_t>(t.alignment_);
      t.extent_ = plus(t.extent_, alignment - 1) / alignment * alignment;
    }
    set_dense(t);
    SINEW_ENSURE(tells_size(t.runs_, t));
    SINEW_ENSURE(t.leaves_ == nullptr || tells_size(t.leaves_, t));
    SINEW_ENSURE(t.true_extent_ >= 0);
    return std::move(owner);
  }

  /// Packing relies on it: a tree has as many bytes as its type; there is none where there are
  /// none.
  [[nodiscard]] static bool tells_size(const node_ref& tree, const datatype& t) noexcept {
    return tree == nullptr ? t.size_ == 0 : tree->bytes == t.size_ && t.size_ != 0;
  }

  static void set_dense(datatype& t) noexcept {
    t.dense_ = t.runs_ != nullptr && t.runs_->single_run() && t.runs_->runs[0].offset == 0 &&
               t.extent_ == static_cast<std::ptrdiff_t>(t.size_);
    // Whoever copies dense data copies from the address that it is given.
    SINEW_ENSURE(!t.dense_ || t.true_lower_ == 0);
  }

  [[nodiscard]] static datatype_ref copy_of(const datatype& old) {
    builder b;
    datatype& t = *b.made;
    t.size_ = old.size_;
    t.lower_ = old.lower_;
    t.extent_ = old.extent_;
    t.true_lower_ = old.true_lower_;
    t.true_extent_ = old.true_extent_;
    t.elements_ = old.elements_;
    t.alignment_ = old.alignment_;
    t.dense_ = old.dense_;
    t.sticky_ = old.sticky_;
    t.base_ = old.base_;
    t.runs_ = old.runs_;
    t.leaves_ = old.leaves_;
    return std::move(b.owner);
  }

  [[nodiscard]] static datatype_ref resized_copy(const datatype& old, std::ptrdiff_t lower,
                                                 std::ptrdiff_t extent) {
    (void)plus(lower, extent);
    datatype_ref copy = copy_of(old);
    auto& t = const_cast<datatype&>(*copy);  // not yet seen by anybody
    t.lower_ = lower;
    t.extent_ = extent;
    t.sticky_ = true;
    set_dense(t);
    return copy;
  }

  [[nodiscard]] static datatype_ref predefined(element e) {
    builder b;
    datatype& t = *b.made;
    const std::size_t size = size_of(e);
    const std::size_t extent = extent_of(e);
    // A pair is laid out as a C struct of its value and its index; the index ends the data.
    const bool pair = is_pair(e);
    const std::size_t tail = pair ? index_bytes(e) : 0;
    const std::size_t value = size - tail;
    const std::size_t index = pair ? std::max(value, tail) : 0;
    t.size_ = size;
    t.extent_ = static_cast<std::ptrdiff_t>(extent);
    t.true_extent_ = static_cast<std::ptrdiff_t>(pair ? index + tail : size);
    t.elements_ = 1;
    const bool complex = e == element::c16 || e == element::c32 || e == element::c64 ||
                         e == element::c80 || e == element::c128;
    t.alignment_ = complex ? size / 2
                   : pair  ? std::max<std::size_t>(extent - index, 4)
                           : std::max<std::size_t>(size, 1);
    t.base_ = e;
    if (size == 0) {
      return std::move(b.owner);
    }
    sequence_builder runs;
    runs.add_run(element::none, 0, value);
    if (pair) {
      runs.add_run(element::none, static_cast<std::ptrdiff_t>(index), tail);
    }
    t.runs_ = runs.finish();
    if (size != extent) {
      t.leaves_ = make_run(e, 0, size);
    }
    set_dense(t);
    SINEW_ENSURE(tells_size(t.runs_, t) && t.true_extent_ <= t.extent_);
    return std::move(b.owner);
  }
};

datatype_ref::datatype_ref(const datatype_ref& other) noexcept : type_(other.type_) {
  if (type_ != nullptr) {
    type_->references_.fetch_add(1, std::memory_order_relaxed);
  }
}

datatype_ref& datatype_ref::operator=(datatype_ref other) noexcept {
  std::swap(type_, other.type_);
  return *this;
}

datatype_ref::~datatype_ref() {
  // Acquire, so that what other owners did with the type is over before it dies.
  if (type_ == nullptr) {
    return;
  }
  const auto before = type_->references_.fetch_sub(1, std::memory_order_acq_rel);
  SINEW_ASSERT(before > 0);
  if (before == 1) {
    delete type_;
  }
}

datatype_ref share(const datatype& t) noexcept {
  datatype_ref borrowed(&t);
  datatype_ref owned = borrowed;
  (void)borrowed.release();
  return owned;
}

const datatype& of(element e) noexcept {
  using table = std::array<datatype_ref, static_cast<std::size_t>(element::pair_f80_i32) + 1>;
  static const table& types = *[] {
    auto* made = new table;  // never freed: programs may still communicate while exiting
    for (std::size_t i = 0; i < made->size(); ++i) {
      (*made)[i] = builder::predefined(static_cast<element>(i));
    }
    return made;
  }();
  return *types[static_cast<std::size_t>(e)];
}

datatype_ref contiguous(std::size_t count, const datatype& old) {
  builder b;
  b.place(old, 0, count, old.extent());
  b.build_trees([&](auto tree_of) { return repeat(tree_of(old), count, old.extent()); });
  return b.finish();
}

datatype_ref vector(std::size_t count, std::size_t block_length, std::ptrdiff_t stride,
                    const datatype& old) {
  const datatype_ref block = contiguous(block_length, old);
  builder b;
  b.place(*block, 0, count, stride);
  b.build_trees([&](auto tree_of) { return repeat(tree_of(*block), count, stride); });
  return b.finish();
}

datatype_ref indexed(std::span<const std::size_t> block_lengths,
                     std::span<const std::ptrdiff_t> displacements, const datatype& old) {
  SINEW_CHECK(block_lengths.size() == displacements.size(), "an indexed datatype is malformed",
              "it has not as many block lengths as displacements", "");
  builder b;
  for (std::size_t i = 0; i < block_lengths.size(); ++i) {
    b.place(old, displacements[i], block_lengths[i], old.extent());
  }
  b.build_trees([&](auto tree_of) {
    sequence_builder all;
    const node_ref one = tree_of(old);
    node_ref block;
    std::size_t length = 0;
    for (std::size_t i = 0; i < block_lengths.size(); ++i) {
      if (block_lengths[i] != length) {
        length = block_lengths[i];
        block = repeat(one, length, old.extent());
      }
      all.add(displacements[i], block);
    }
    return all.finish();
  });
  return b.finish();
}

datatype_ref structure(std::span<const std::size_t> block_lengths,
                       std::span<const std::ptrdiff_t> displacements,
                       std::span<const datatype* const> types) {
  SINEW_CHECK(block_lengths.size() == displacements.size() && types.size() == displacements.size(),
              "a struct datatype is malformed",
              "it has not as many block lengths as displacements and types", "");
  builder b;
  for (std::size_t i = 0; i < types.size(); ++i) {
    b.place(*types[i], displacements[i], block_lengths[i], types[i]->extent());
  }
  b.build_trees([&](auto tree_of) {
    sequence_builder all;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const datatype& part = *types[i];
      all.add(displacements[i], repeat(tree_of(part), block_lengths[i], part.extent()));
    }
    return all.finish();
  });
  return b.finish(padding::to_alignment);
}

datatype_ref resized(const datatype& old, std::ptrdiff_t lower, std::ptrdiff_t extent) {
  return builder::resized_copy(old, lower, extent);
}

datatype_ref duplicate(const datatype& old) { return builder::copy_of(old); }

}  // namespace sinew::layout
