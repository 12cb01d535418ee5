// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/reference_walk.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "abi/coarray/images.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::coarray {
namespace {

/// A byte of the other image: in the coarray itself, or behind a pointer.
class position {
 public:
  position(const token& t, job_rank rank) : rank_(rank), offset_(t.at(rank).offset) {}

  void advance(std::ptrdiff_t bytes) noexcept {
    (offset_ != 0 ? offset_ : address_) += static_cast<std::uint64_t>(bytes);
  }
  void go_to(void* address) noexcept {
    SINEW_EXPECT(address != nullptr);
    offset_ = 0;
    address_ = reinterpret_cast<std::uintptr_t>(address);
  }
  /// Throws sinew::error: what comes from an image that has died leads nowhere.
  void read(void* to, std::size_t bytes) const {
    if (offset_ != 0) {
      this_job.engine->get(to, rma::place{rank_, offset_}, bytes);
    } else {
      this_job.engine->get(to, rma::outside::of(rank_, address_), bytes);
    }
    if (has_died(rank_)) [[unlikely]] {
      throw error("image " + std::to_string(this_job.now->image_of(rank_)) + " has failed",
                  "one of its components was to be read");
    }
  }
  void store(far_side& s) const noexcept {
    s.image_rank = rank_;
    s.offset = offset_;
    s.address = address_;
  }

 private:
  job_rank rank_;
  std::uint64_t offset_;
  std::uint64_t address_ = 0;
};

int dimensions_of(const reference& r) noexcept {
  int n = 0;
  while (n < most_dimensions && r.array.mode[n] != subscript::none) {
    ++n;
  }
  return n;
}

struct selection {
  index first;
  index last;
  index step;
};

/// Of one dimension of an array with these bounds; not of a vector subscript.
selection select(const reference& r, int d, const dimension& bounds) noexcept {
  SINEW_EXPECT(d < dimensions_of(r) && r.array.mode[d] != subscript::vector);
  const auto& given = r.array.dim[d].range;
  const index step = given.stride != 0 ? given.stride : 1;
  switch (r.array.mode[d]) {
    case subscript::single:
      return {given.start, given.start, 1};
    case subscript::full:
      return {bounds.lower, bounds.upper, step};
    case subscript::open_end:
      return {given.start, bounds.upper, step};
    case subscript::open_start:
      return {bounds.lower, given.end, step};
    default:
      return {given.start, given.end, step};
  }
}

index last_of(const selection& part, std::size_t count) noexcept {
  SINEW_EXPECT(count >= 1);
  return part.first + static_cast<index>(count - 1) * part.step;
}

void step_into(position& at, far_side& s, const reference& r, const descriptor& array) {
  const int n = dimensions_of(r);
  for (int d = 0; d < n; ++d) {
    const dimension& bounds = array.dim[d];
    const std::ptrdiff_t stride = bounds.stride * array.step();
    if (r.array.mode[d] == subscript::vector) {
      const auto& v = r.array.dim[d].vector;
      s.add_list(v.values, v.kind, v.count, bounds.lower, stride);
      const side_axis& axis = s.axes[static_cast<std::size_t>(s.rank) - 1];
      for (std::size_t i = 0; i < axis.count; ++i) {
        const index each = axis.list[i] + bounds.lower;
        check_subscripts(each, each, bounds.lower, bounds.upper, d + 1);
      }
      continue;
    }
    const selection part = select(r, d, bounds);
    const std::size_t count = count_of(part.first, part.last, part.step);
    if (count != 0) {
      check_subscripts(part.first, last_of(part, count), bounds.lower, bounds.upper, d + 1);
    }
    at.advance((part.first - bounds.lower) * stride);
    if (r.array.mode[d] != subscript::single) {
      s.add(count, part.step * stride);
    }
  }
}

/// Of an array whose shape the compiler knows it passes elements from the first one. `room`: from
/// there to the end of what holds the array.
void step_into_static(position& at, far_side& s, const reference& r, std::size_t room) {
  const int n = dimensions_of(r);
  const auto stride = static_cast<std::ptrdiff_t>(r.item_bytes);
  const int outer = s.rank;
  std::ptrdiff_t begin = 0;
  for (int d = 0; d < n; ++d) {
    if (r.array.mode[d] == subscript::vector) {
      const auto& v = r.array.dim[d].vector;
      s.add_list(v.values, v.kind, v.count, 0, stride);
      continue;
    }
    const selection part = select(r, d, {1, 0, r.array.dim[d].range.end});
    begin += part.first * stride;
    if (r.array.mode[d] != subscript::single) {
      s.add(count_of(part.first, part.last, part.step), part.step * stride);
    }
  }
  at.advance(begin);
  if (s.elements() != 0) {
    const side::span reached = s.extent(outer);
    check_inside({begin + reached.low, begin + reached.high}, r.item_bytes, room);
  }
}

constexpr std::size_t header_bytes = offsetof(descriptor, dim);

/// One step; false if a component on the way is not allocated.
class walker {
 public:
  walker(const token& t, job_rank rank) : at_(t, rank), array_(t.shape), room_(t.bytes) {}

  [[nodiscard]] bool step(const reference& r, far_side& s) {
    switch (r.type) {
      case reference_type::component:
        return component(r);
      case reference_type::array:
        if (array_ == nullptr) {
          throw error("an array of unknown shape", "the compiler did not register it as one");
        }
        step_into(at_, s, r, *array_);
        break;
      case reference_type::static_array:
        step_into_static(at_, s, r, room_);
        break;
    }
    array_ = nullptr;
    room_ = r.item_bytes;
    return true;
  }
  [[nodiscard]] const position& at() const noexcept { return at_; }

 private:
  bool component(const reference& r) {
    at_.advance(r.component.offset);
    array_ = nullptr;
    if (r.component.token_offset == 0) {
      room_ -= std::min(room_, static_cast<std::size_t>(r.component.offset));
      return true;
    }
    room_ = r.item_bytes;
    void* there = nullptr;
    if (r.next != nullptr && r.next->type == reference_type::array) {
      at_.read(&fetched_,
               header_bytes + sizeof(dimension) * static_cast<std::size_t>(dimensions_of(*r.next)));
      there = fetched_.base;
      array_ = &fetched_;
    } else {
      at_.read(&there, sizeof(there));
    }
    if (there == nullptr) {
      return false;
    }
    at_.go_to(there);
    return true;
  }

  position at_;
  const descriptor* array_;
  std::size_t room_;  ///< bytes from here to the end of the element or object that holds this
  descriptor fetched_;
};

}  // namespace

far_side walk(const token& t, job_rank rank, const reference* refs, type what, int kind) {
  far_side s;
  walker w(t, rank);
  std::size_t bytes = t.bytes;
  for (const reference* r = refs; r != nullptr; r = r->next) {
    if (!w.step(*r, s)) {
      throw error(
          "a component is not allocated on image " + std::to_string(this_job.now->image_of(rank)),
          "or the pointer is not associated");
    }
    bytes = r->item_bytes;
  }
  w.at().store(s);
  SINEW_ASSERT(s.rank <= most_dimensions && s.image_rank == rank);
  s.what = {what, kind, bytes};
  return s;
}

bool is_present(const token& t, job_rank rank, const reference* refs) {
  far_side s;
  walker w(t, rank);
  for (const reference* r = refs; r != nullptr; r = r->next) {
    if (!w.step(*r, s)) {
      return false;
    }
  }
  return true;
}

void make_room(descriptor& d, const far_side& shape) {
  bool fits = d.base != nullptr;
  for (int i = 0; i < d.rank() && i < shape.rank; ++i) {
    fits = fits && static_cast<std::size_t>(d.dim[i].extent()) ==
                       shape.axes[static_cast<std::size_t>(i)].count;
  }
  if (fits) {
    return;
  }
  std::size_t n = 1;
  std::size_t offset = 0;
  for (int i = 0; i < d.rank() && i < shape.rank; ++i) {
    const std::size_t count = shape.axes[static_cast<std::size_t>(i)].count;
    d.dim[i] = {static_cast<index>(n), 1, static_cast<index>(count)};
    offset -= n;
    n *= count;
  }
  if (d.element.bytes == 0) {
    d.element.bytes = shape.what.bytes;
  }
  d.offset = offset;
  d.span = static_cast<index>(d.element.bytes);
  // Fortran frees it, so it comes from where Fortran's own memory comes from.
  void* got = std::realloc(d.base, n * d.element.bytes == 0 ? 1 : n * d.element.bytes);
  if (got == nullptr) {
    throw std::bad_alloc();
  }
  d.base = got;
}

}  // namespace sinew::coarray
