// SPDX-License-Identifier: BSD-3-Clause
#include "region/checks.hpp"

#include <algorithm>

#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

constexpr const char* no_reduction = "a reduction cannot be made";
constexpr const char* no_instance = "an instance cannot be made";

}  // namespace

std::string quoted(const short_name& name) {
  return std::string("'").append(name.view()).append("'");
}

const field_place& field_of(const known& k, std::uint16_t number, const char* what) {
  SINEW_CHECK(number < k.where.fields.size(), what,
              "the instance has no field number " + std::to_string(number), "");
  return k.where.fields[number];
}

checked_side check_side(const instance_table& table, const side& s, const char* what,
                        const char* which) {
  checked_side c;
  c.what = table.find(s.what);
  const field_place& f = field_of(*c.what, s.field, what);
  SINEW_CHECK(s.type_id == 0 || s.type_id == f.info.type_id, what,
              "field " + quoted(f.info.name) + " of the " + which + " has type " +
                  std::string(f.info.type.view()) + ", and another was given",
              "use the field that schema::add returned");
  c.wire.what = s.what.bits();
  c.wire.field = s.field;
  c.wire.index = s.index.bits();
  c.wire.index_field = s.index_field;
  const std::string outside = std::string(what) + ": the " + which;
  if (s.index.exists()) {
    const known_ptr list = table.find(s.index);
    const field_place& numbers = field_of(*list, s.index_field, what);
    SINEW_CHECK(numbers.info.type_id == hash_of(type_name<std::int64_t>()), what,
                "indices are std::int64_t, and field " + quoted(numbers.info.name) + " has type " +
                    std::string(numbers.info.type.view()),
                "");
    c.wire.index_where = resolve(list->where.elements, s.index_where, outside.c_str());
    c.elements = elements_of(c.wire.index_where);
  } else {
    c.wire.where = resolve(c.what->where.elements, s.where, outside.c_str());
    c.elements = elements_of(c.wire.where);
  }
  return c;
}

checked_sides check_sides(const instance_table& table, const side& from, const side& to,
                          const char* what) {
  checked_sides c{check_side(table, from, what, "source"), check_side(table, to, what, "target")};
  SINEW_CHECK(c.from.elements == c.to.elements, what,
              "its source has " + std::to_string(c.from.elements) + " elements and its target " +
                  std::to_string(c.to.elements),
              "");
  return c;
}

transfer transfer_of(action what, const checked_sides& sides) {
  SINEW_EXPECT(sides.from.elements == sides.to.elements);
  SINEW_EXPECT(sides.from.wire.what != 0 && sides.to.wire.what != 0);
  transfer t;
  t.what = what;
  t.from = sides.from.wire;
  t.to = sides.to.wire;
  t.elements = sides.from.elements;
  t.bytes = sides.from.field().bytes;
  SINEW_ENSURE(t.bytes != 0 && t.post == 0);
  return t;
}

void check_types(const field_info& source, const field_info& target) {
  SINEW_CHECK(source.type_id == target.type_id, "a copy cannot be made",
              "field " + quoted(source.name) + " has type " + std::string(source.type.view()) +
                  " and field " + quoted(target.name) + " " + std::string(target.type.view()),
              "");
  SINEW_ENSURE(source.bytes == target.bytes);
}

void check_contributions(const operator_entry& op, const field_info& source) {
  SINEW_CHECK(source.type_id == op.rhs_type, no_reduction,
              "operator " + std::string(op.name.view()) + " takes contributions of type " +
                  std::string(op.rhs_name.view()) + ", and field " + quoted(source.name) +
                  " has type " + std::string(source.type.view()),
              "");
  SINEW_ENSURE(source.bytes == op.rhs_bytes);
}

system::target checked_target(const operator_entry& op, const known& k, std::uint16_t field) {
  SINEW_CHECK(field < k.where.fields.size(), no_reduction,
              "the target has no field number " + std::to_string(field), "");
  const field_info& f = k.where.fields[field].info;
  SINEW_CHECK(f.type_id == op.lhs_type, no_reduction,
              "operator " + std::string(op.name.view()) + " reduces values of type " +
                  std::string(op.lhs_name.view()) + ", and field " + quoted(f.name) + " has type " +
                  std::string(f.type.view()),
              "");
  SINEW_ASSERT(f.bytes == op.lhs_bytes);
  const auto& n = k.where.elements.padded();
  const auto& stride = k.where.fields[field].at.stride;
  const bool in_steps =
      k.where.parts > 1 ||
      ((n[1] == 1 || stride[1] == static_cast<std::int64_t>(n[2]) * stride[2]) &&
       (n[0] == 1 || stride[0] == static_cast<std::int64_t>(n[1] * n[2]) * stride[2]));
  return {k.id, field, k.where.parts, k.where.shift, k.where.elements.elements(), in_steps};
}

layout check_attached(const schema& what, std::span<const std::byte> memory,
                      const layout_options& how) {
  SINEW_CHECK(!what.fields().empty(), no_instance, "its schema has no fields", "");
  layout l = layout::of(what, how);
  SINEW_CHECK(memory.data() != nullptr && memory.size() >= l.part_bytes, no_instance,
              "it takes " + std::to_string(l.part_bytes) + " bytes, and there are " +
                  std::to_string(memory.data() == nullptr ? 0 : memory.size()),
              "give it more memory, or another layout");
  const auto base = reinterpret_cast<std::uintptr_t>(memory.data());
  for (const field_place& f : l.fields) {
    SINEW_CHECK((base + f.at.offset) % f.info.alignment == 0, no_instance,
                "field " + quoted(f.info.name) + " is not aligned to " +
                    std::to_string(f.info.alignment) + " bytes",
                "let its first element begin at such an address");
  }
  return l;
}

new_instance check_new(const schema& what, memory where, const layout_options& how,
                       const instance_table& table) {
  const int ranks = table.heaps().size();
  const bool striped = where.kind == memory_kind::global && ranks > 1;
  SINEW_CHECK(where.rank.below(ranks), no_instance, "there is no rank " + to_string(where.rank),
              "");
  SINEW_CHECK(!what.fields().empty(), no_instance, "its schema has no fields", "");
  if (where.kind == memory_kind::global) {
    layout::check_striping(how);  // with one rank too: a program does not change with their number
  }
  SINEW_CHECK(where.kind != memory_kind::symmetric || table.can_name_images(), no_instance,
              "images of " + std::to_string(ranks) + " ranks and " + std::to_string(table.slots()) +
                  " instances a rank have no names",
              "set SINEW_REGION_INSTANCES lower, the same on all ranks");
  new_instance made;
  made.where = layout::of(what, how, striped ? static_cast<std::uint32_t>(ranks) : 1);
  const bool of_one = where.kind == memory_kind::heap || where.kind == memory_kind::shared;
  made.owners.assign(made.where.parts, of_one ? where.rank : 0);
  for (std::uint32_t p = 0; striped && p < made.where.parts; ++p) {
    made.owners[p] = job_rank{static_cast<int>(p)};
  }
  SINEW_ENSURE(made.owners.size() == made.where.parts);
  SINEW_ENSURE(std::all_of(made.owners.begin(), made.owners.end(),
                           [ranks](job_rank r) { return r.below(ranks); }));
  return made;
}

}  // namespace sinew::region
