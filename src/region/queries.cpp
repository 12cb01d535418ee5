// SPDX-License-Identifier: BSD-3-Clause
// The calls that only look: at what an instance is, who owns it, and its elements in memory.
#include <string>

#include "region/body.hpp"
#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

constexpr const char* cannot = "an instance cannot be looked at";

std::byte* reach(const instance_table& table, const known& k, std::uint32_t part) {
  SINEW_CHECK(k.ready(), cannot, "it is not ready", "wait for the event that create() returned");
  SINEW_CHECK(part < k.where.parts, cannot, "it has no part " + std::to_string(part), "");
  std::byte* base = table.reach(k, part);
  SINEW_CHECK(base != nullptr, cannot,
              (k.kind == memory_kind::heap ? "it is private memory of rank "
                                           : "it lies on the node of rank ") +
                  to_string(k.place(part).rank),
              "copy it here, or make it in shared memory");
  return base;
}

}  // namespace

std::string system::why(instance what) const {
  body_->others.meet_ready(what);
  return body_->table.find(what)->there->why;
}
shape system::shape_of(instance what) const {
  body_->others.meet(what);
  return body_->table.find(what)->where.elements;
}
std::uint32_t system::parts_of(instance what) const {
  body_->others.meet(what);
  return body_->table.find(what)->where.parts;
}
std::string system::last_problem() const { return body_->trouble.last(); }

instance system::image(instance what, job_rank rank) const {
  constexpr const char* none = "an image cannot be named";
  body_->others.meet(what);
  SINEW_CHECK(body_->table.find(what)->kind == memory_kind::symmetric, none,
              "the instance does not lie in symmetric memory", "");
  SINEW_CHECK(rank.below(size()), none, "there is no rank " + to_string(rank), "");
  const instance image(rank, what.index(), what.generation());
  SINEW_ENSURE(body_->table.base_of(image) == body_->table.base_of(what));
  return image;
}

job_rank system::owner_of(instance what, std::uint32_t part) const {
  body_->others.meet(what);
  const known_ptr k = body_->table.find(what);
  SINEW_CHECK(part < k->where.parts, "an instance cannot be asked",
              "it has no part " + std::to_string(part), "");
  return k->place(part).rank;
}

std::uint64_t system::elements_of(instance what, std::uint32_t part) const {
  body_->others.meet(what);
  const known_ptr k = body_->table.find(what);
  return part < k->where.parts ? k->where.elements_of(part) : 0;
}

std::byte* system::bytes_of(instance what, std::uint32_t part) const {
  body_->others.meet_ready(what);
  return reach(body_->table, *body_->table.find(what), part);
}

/// `axes` 0: a part as one axis. A striped instance has parts also in a job of one rank, where its
/// rows follow each other without gaps.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a query, in its own order
std::byte* system::locate(instance what, std::uint16_t number, std::uint64_t type,
                          std::uint32_t part, std::size_t axes, std::uint64_t* extents,
                          std::int64_t* strides) const {
  SINEW_EXPECT(axes <= most_axes && extents != nullptr && strides != nullptr);
  body_->others.meet_ready(what);
  const known_ptr k = body_->table.find(what);
  const field_place& f = field_of(*k, number, cannot);
  SINEW_CHECK(type == 0 || f.info.type_id == type, cannot,
              "field " + quoted(f.info.name) + " has type " + std::string(f.info.type.view()), "");
  const shape& s = k->where.elements;
  if (axes == 0) {
    std::byte* const base = reach(body_->table, *k, part);
    SINEW_CHECK(k->kind == memory_kind::global || k->where.parts > 1 || s.axes() == 1, cannot,
                "it has several axes and is not striped", "use look");
    extents[0] = k->where.elements_of(part);
    strides[0] = f.at.stride[most_axes - 1];
    return base + f.at.offset;
  }
  SINEW_CHECK(k->where.parts == 1, cannot, "it lies in parts", "use look_at_part");
  SINEW_CHECK(axes == s.axes(), cannot,
              "it has " + std::to_string(s.axes()) + " axes, not " + std::to_string(axes), "");
  for (std::size_t axis = 0; axis < axes; ++axis) {
    extents[axis] = s.extent(axis);
    strides[axis] = f.at.stride[most_axes - axes + axis];
  }
  SINEW_ENSURE(f.at.offset < k->where.part_bytes || s.elements() == 0);
  return reach(body_->table, *k, part) + f.at.offset;
}

}  // namespace sinew::region
