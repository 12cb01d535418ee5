// SPDX-License-Identifier: BSD-3-Clause
// The standard's own representation of data (MPI-5.0 section 14.5.2): highest byte first, and sizes
// that do not depend on the machine.
#pragma once

#include <cstddef>
#include <optional>

#include "sinew/layout/datatype.hpp"

namespace sinew::layout {

/// Bytes of one instance of `t` in external32; nothing on overflow.
[[nodiscard]] std::optional<std::size_t> external_size(const datatype& t);

/// How many packed bytes the whole elements have that lie in the first `external` bytes of one
/// instance.
[[nodiscard]] std::size_t native_bytes_in(const datatype& t, std::size_t external);

/// Packed bytes of `count` whole instances: as layout::pack gives them, to and from external32.
void to_external(const datatype& t, std::size_t count, const std::byte* packed,
                 std::byte* external);
void from_external(const datatype& t, std::size_t count, const std::byte* external,
                   std::byte* packed);

}  // namespace sinew::layout
