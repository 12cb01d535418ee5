// SPDX-License-Identifier: BSD-3-Clause
// What callers ask for, checked against the table of instances and made plain data for messages.
// Pure: throws sinew::error, or returns a description of the work.
#pragma once

#include <cstdint>
#include <string>

#include "region/instance_table.hpp"
#include "region/messages.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/region/system.hpp"

namespace sinew::region {

[[nodiscard]] std::string quoted(const short_name& name);

/// `what` begins the message.
[[nodiscard]] const field_place& field_of(const known& k, std::uint16_t number, const char* what);

/// A side with its instance, field and section found good.
struct checked_side {
  known_ptr what;
  side_wire wire;
  std::uint64_t elements = 0;

  [[nodiscard]] const field_info& field() const { return what->where.fields[wire.field].info; }
};
/// `which`: "source" or "target".
[[nodiscard]] checked_side check_side(const instance_table& table, const side& s, const char* what,
                                      const char* which);

/// Both sides of a transfer, which have as many elements.
struct checked_sides {
  checked_side from;
  checked_side to;
};
[[nodiscard]] checked_sides check_sides(const instance_table& table, const side& from,
                                        const side& to, const char* what);
[[nodiscard]] transfer transfer_of(action what, const checked_sides& sides);

/// They must be of one type to be copied.
void check_types(const field_info& source, const field_info& target);
/// The fields that a reduction reads and writes must have the operator's types.
void check_contributions(const operator_entry& op, const field_info& source);
[[nodiscard]] system::target checked_target(const operator_entry& op, const known& k,
                                            std::uint16_t field);

/// The ranks that own the parts of a new instance, one for each part.
struct new_instance {
  layout where;
  std::vector<job_rank> owners;
};
/// Memory of the program's own for an instance.
[[nodiscard]] layout check_attached(const schema& what, std::span<const std::byte> memory,
                                    const layout_options& how);
[[nodiscard]] new_instance check_new(const schema& what, memory where, const layout_options& how,
                                     const instance_table& table);

}  // namespace sinew::region
