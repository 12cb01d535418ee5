// SPDX-License-Identifier: BSD-3-Clause
// How a call on a file fails.
#pragma once

#include <cstdint>
#include <string>

#include "sinew/base/error.hpp"

namespace sinew::io {

/// What a binding has a code for.
enum class error_kind : std::int32_t {
  none,
  argument,
  access,  ///< not permitted by the system, or by how the file was opened
  bad_file_name,
  buffer,
  conversion,
  exists,
  in_use,
  no_memory,
  no_such_file,
  no_space,
  not_same,  ///< the ranks have given different arguments
  other,     ///< of the system
  pending,
  quota,
  rank_died,
  read_only,
  too_much,
  type,
  unsupported
};

/// Thrown by every call on a file. Its text is a whole sentence.
struct failure : error {
  failure(error_kind what, const std::string& sentence) : error(sentence, {}), kind(what) {}
  error_kind kind;
};

/// Throws: "cannot <doing> "path": what the system says", by the system's number of an error.
[[noreturn, gnu::cold]] void fail_by_system(int error, const char* doing, const std::string& path);

}  // namespace sinew::io
