// SPDX-License-Identifier: BSD-3-Clause
// How a call fails that connects ranks or starts them.
#pragma once

#include <cstdint>
#include <string>

#include "sinew/base/error.hpp"

namespace sinew::dynamic {

/// What a binding has a code for.
enum class error_kind : std::int32_t {
  none,
  caller,  ///< of the binding: it has a code of its own
  argument,
  groups_overlap,
  info_value,
  port,
  spawn
};

/// Its text is a whole sentence.
struct failure : error {
  failure(error_kind what, const std::string& sentence, std::int32_t callers_code = 0)
      : error(sentence, {}), kind(what), code(callers_code) {}
  error_kind kind;
  std::int32_t code;  ///< of error_kind::caller
};

}  // namespace sinew::dynamic
