// SPDX-License-Identifier: BSD-3-Clause
// The C binding of instances and what moves their data.
#include <bit>
#include <span>
#include <string>

#include "abi/job/binding.hpp"
#include "abi/job/operators.hpp"
#include "sinew/base/check.hpp"

namespace sinew::job_binding {
namespace {

using region::instance;

template <class T>
region::field_info typed(const char* name) {
  return {region::short_name(name), region::short_name(region::type_name<T>()),
          region::hash_of(region::type_name<T>()), sizeof(T), alignof(T)};
}

region::field_info of_bytes(const char* name, size_t bytes) {
  SINEW_CHECK(bytes != 0 && bytes <= UINT32_MAX, "a field cannot be made",
              "it has " + std::to_string(bytes) + " bytes", "1 to 4294967295 are possible");
  const std::string type = std::to_string(bytes) + " bytes";
  const auto alignment = std::uint32_t{1} << std::min(std::countr_zero(bytes), 4);
  return {region::short_name(name), region::short_name(type), region::hash_of(type),
          static_cast<std::uint32_t>(bytes), alignment};
}

region::field_info field_of(const sinew_field& f) {
  const char* const name = f.name == nullptr ? "" : f.name;
  switch (f.type) {
    case SINEW_BYTES:
      return of_bytes(name, f.bytes);
    case SINEW_INT32:
      return typed<std::int32_t>(name);
    case SINEW_INT64:
      return typed<std::int64_t>(name);
    case SINEW_FLOAT:
      return typed<float>(name);
    case SINEW_DOUBLE:
      return typed<double>(name);
  }
  SINEW_CHECK(false, "a field cannot be made", "its type is none of enum sinew_type", "");
  return {};
}

region::schema schema_of(const sinew_schema& s) {
  SINEW_CHECK(s.axes >= 1 && s.axes <= region::most_axes, "a schema cannot be made",
              "it has " + std::to_string(s.axes) + " axes", "1 to 3 are possible");
  const auto shape = s.axes == 1   ? region::shape{s.extents[0]}
                     : s.axes == 2 ? region::shape{s.extents[0], s.extents[1]}
                                   : region::shape{s.extents[0], s.extents[1], s.extents[2]};
  region::schema made(shape);
  for (size_t f = 0; f < s.field_count; ++f) {
    made.add(field_of(s.fields[f]));
  }
  return made;
}

region::memory memory_of(sinew_memory kind, int rank) {
  switch (kind) {
    case SINEW_HEAP:
      return region::memory::heap(job_rank{rank});
    case SINEW_SHARED:
      return region::memory::shared(job_rank{rank});
    case SINEW_GLOBAL:
      return region::memory::global();
    case SINEW_SYMMETRIC:
      break;
  }
  return region::memory::symmetric();
}

std::uint16_t number_of(unsigned field) noexcept {
  return static_cast<std::uint16_t>(std::min(field, 0xffffu));  // which no schema has
}

region::section section_of(const sinew_slice* where, std::size_t axes) {
  region::section all;
  if (where != nullptr) {
    all.axes = axes;
    for (std::size_t a = 0; a < axes; ++a) {
      all.axis[a] = {where[a].start, where[a].count, where[a].step == 0 ? 1 : where[a].step};
    }
  }
  return all;
}

region::side side_of(const region::system& all, const sinew_side& s) {
  const auto what = instance::from_bits(s.what);
  region::side made{what, number_of(s.field), 0, {}};
  made.index = instance::from_bits(s.index);
  made.index_field = number_of(s.index_field);
  if (s.where != nullptr) {
    const instance sliced = s.index == 0 ? what : made.index;
    (s.index == 0 ? made.where : made.index_where) =
        section_of(s.where, all.shape_of(sliced).axes());
  }
  return made;
}

}  // namespace
}  // namespace sinew::job_binding

using namespace sinew::job_binding;

extern "C" {

int sinew_instance_create(const struct sinew_schema* what, enum sinew_memory memory, int rank,
                          sinew_event after, sinew_instance* made, sinew_event* ready) {
  if (what == nullptr || made == nullptr || memory < SINEW_HEAP || memory > SINEW_SYMMETRIC) {
    return fail(SINEW_INVALID, "no schema, no place for the handle, or no such memory");
  }
  return with_job([&](auto& job) {
    const auto i =
        job.regions().create(schema_of(*what), memory_of(memory, rank), {}, event_of(after));
    *made = i.what.bits();
    return give(i.ready.bits(), ready);
  });
}

int sinew_instance_attach(const struct sinew_schema* what, void* memory, size_t bytes,
                          sinew_instance* made) {
  if (what == nullptr || made == nullptr) {
    return fail(SINEW_INVALID, "no schema, or no place for the handle");
  }
  return with_job([&](auto& job) {
    auto* const begin = static_cast<std::byte*>(memory);
    return give(job.regions().attach(schema_of(*what), {begin, bytes}).bits(), made);
  });
}

int sinew_instance_destroy(sinew_instance what, sinew_event after, sinew_event* gone) {
  return with_job([&](auto& job) {
    const auto i = sinew::region::instance::from_bits(what);
    return give(job.regions().destroy(i, event_of(after)).bits(), gone);
  });
}

int sinew_instance_view(sinew_instance what, unsigned field, struct sinew_view* seen) {
  if (seen == nullptr) {
    return fail(SINEW_INVALID, "there is no place for the view");
  }
  return with_job([&](auto& job) {
    const auto i = sinew::region::instance::from_bits(what);
    sinew_view v = {};
    v.axes = static_cast<unsigned>(job.regions().shape_of(i).axes());
    v.first = job.regions().locate(i, number_of(field), 0, 0, v.axes, v.extents, v.strides);
    *seen = v;
    return int{SINEW_OK};
  });
}

int sinew_copy(const struct sinew_side* from, const struct sinew_side* to, sinew_event after,
               sinew_event* done) {
  if (from == nullptr || to == nullptr) {
    return fail(SINEW_INVALID, "a copy needs two sides");
  }
  return with_job([&](auto& job) {
    auto& all = job.regions();
    return give(all.copy(side_of(all, *from), side_of(all, *to), event_of(after)).bits(), done);
  });
}

int sinew_fill(const struct sinew_side* to, const void* value, size_t bytes, sinew_event after,
               sinew_event* done) {
  if (to == nullptr || value == nullptr || bytes == 0 || bytes > 256) {
    return fail(SINEW_INVALID, "a fill needs a side and a value of 1 to 256 bytes");
  }
  return with_job([&](auto& job) {
    auto& all = job.regions();
    return give(all.fill_bytes(side_of(all, *to), value, bytes, 0, event_of(after)).bits(), done);
  });
}

int sinew_reduce(enum sinew_reduction op, enum sinew_type type, const struct sinew_side* from,
                 const struct sinew_side* to, sinew_event after, sinew_event* done) {
  if (from == nullptr || to == nullptr) {
    return fail(SINEW_INVALID, "a reduction needs two sides");
  }
  return with_job([&](auto& job) {
    auto& all = job.regions();
    sinew::event::event end;
    const bool known = with_operator(op, type, [&]<class Op>(Op) {
      end = all.template reduce<Op>(side_of(all, *from), side_of(all, *to), event_of(after));
    });
    return known ? give(end.bits(), done)
                 : fail(SINEW_INVALID, "no such reduction of values of that type");
  });
}

}  // extern "C"
