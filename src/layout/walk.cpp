// SPDX-License-Identifier: BSD-3-Clause
// Reading a tree in packing order: runs, leaves, and the number of elements in so many bytes.

#include <algorithm>

#include "layout/node.hpp"
#include "sinew/base/check.hpp"

namespace sinew::layout {
namespace {

/// Hands adjacent runs of one kind on as one.
template <class Emit>
class joiner {
 public:
  explicit joiner(Emit emit) : emit_(emit) {}
  ~joiner() { flush(); }
  joiner(const joiner&) = delete;
  joiner& operator=(const joiner&) = delete;

  void add(std::ptrdiff_t offset, std::size_t bytes, element kind) {
    SINEW_EXPECT(bytes != 0);
    if (bytes_ != 0 && kind == kind_ && offset == end_) {
      bytes_ += bytes;
    } else {
      flush();
      offset_ = offset;
      bytes_ = bytes;
      kind_ = kind;
    }
    end_ = offset_ + static_cast<std::ptrdiff_t>(span_of(kind_, bytes_));
  }

 private:
  void flush() {
    if (bytes_ != 0) {
      emit_(offset_, bytes_, kind_);
    }
  }

  Emit emit_;
  std::ptrdiff_t offset_ = 0;
  std::ptrdiff_t end_ = 0;
  std::size_t bytes_ = 0;
  element kind_ = element::none;
};

/// `uniform`: the kind of all runs, where the tree itself knows none.
template <class Sink>
void walk(const node& n, std::ptrdiff_t at, element uniform, Sink& sink) {
  switch (n.form) {
    case node::shape::runs:
      for (std::size_t i = 0; i + 1 < n.runs.size(); ++i) {
        sink.add(at + n.runs[i].offset, n.runs[i + 1].start - n.runs[i].start,
                 n.kind == element::none ? uniform : n.kind);
      }
      return;
    case node::shape::loop:
      for (std::size_t i = 0; i < n.count; ++i, at += n.stride) {
        walk(*n.child, at, uniform, sink);
      }
      return;
    case node::shape::sequence:
      for (const node::part& p : n.parts) {
        walk(*p.child, at + p.offset, uniform, sink);
      }
      return;
  }
}

template <class Emit>
void walk_all(const datatype& t, const node* tree, std::size_t count, element uniform, Emit emit) {
  if (tree == nullptr || count == 0) {
    return;
  }
  joiner<Emit> sink(emit);
  const std::size_t span = span_of(tree->kind, t.size());
  if (t.dense() && tree->single_run() && static_cast<std::ptrdiff_t>(span) == t.extent()) {
    // One run whatever the count: do not visit each instance.
    sink.add(0, t.size() * count, tree->kind == element::none ? uniform : tree->kind);
    return;
  }
  std::ptrdiff_t at = 0;
  for (std::size_t i = 0; i < count; ++i, at += t.extent()) {
    walk(*tree, at, uniform, sink);
  }
}

/// Basic elements in the first `bytes` of a tree of leaves.
[[nodiscard]] std::size_t basics_before(const node* n, std::size_t bytes, std::size_t& left_over) {
  std::size_t found = 0;
  for (;;) {
    SINEW_ASSERT(bytes <= n->bytes);
    switch (n->form) {
      case node::shape::runs: {
        const std::size_t whole = bytes / size_of(n->kind);
        left_over = bytes % size_of(n->kind);
        if (!is_pair(n->kind)) {
          return found + whole;
        }
        const std::size_t value = size_of(n->kind) - index_bytes(n->kind);
        const bool cut_after_value = left_over >= value;
        if (cut_after_value) {
          left_over -= value;
        }
        return found + 2 * whole + (cut_after_value ? 1 : 0);
      }
      case node::shape::loop:
        found += bytes / n->child->bytes * n->child->basics;
        bytes %= n->child->bytes;
        n = n->child.get();
        break;
      case node::shape::sequence: {
        const node::part* p = n->parts.data();
        for (; bytes >= p->start + p->child->bytes && p != &n->parts.back(); ++p) {
          found += p->child->basics;
        }
        bytes -= p->start;
        n = p->child.get();
        break;
      }
    }
  }
}

}  // namespace

void visit_runs(const datatype& t, std::size_t count, run_visitor visit, void* context) {
  walk_all(
      t, reader::runs(t), count, element::none,
      [&](std::ptrdiff_t offset, std::size_t bytes, element) { visit(context, offset, bytes); });
}

void visit_leaves(const datatype& t, std::size_t count, leaf_visitor visit, void* context) {
  const node* const leaves = reader::leaves(t);
  walk_all(t, leaves != nullptr ? leaves : reader::runs(t), count, t.base(),
           [&](std::ptrdiff_t offset, std::size_t bytes, element kind) {
             visit(context, offset, bytes / size_of(kind), kind);
           });
}

std::size_t elements_in(const datatype& t, std::size_t bytes, std::size_t* left_over) noexcept {
  std::size_t left = bytes;
  std::size_t found = 0;
  if (t.size() != 0) {
    const node* const leaves = reader::leaves(t);
    if (leaves == nullptr) {
      found = bytes / size_of(t.base()) * (is_pair(t.base()) ? 2 : 1);
      left = bytes % size_of(t.base());
      const std::size_t value = size_of(t.base()) - index_bytes(t.base());
      if (is_pair(t.base()) && left >= value) {
        left -= value;
        ++found;
      }
    } else {
      found = bytes / t.size() * leaves->basics + basics_before(leaves, bytes % t.size(), left);
    }
  }
  SINEW_ENSURE(left <= bytes);
  if (left_over != nullptr) {
    *left_over = left;
  }
  return found;
}

}  // namespace sinew::layout
