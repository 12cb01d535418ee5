// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/check.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "sinew/base/error.hpp"
#include "sinew/base/raw_write.hpp"

namespace sinew::detail {

void assertion_failed(const char* kind, const char* condition, const char* file, int line) {
  std::string text = "sinew: ";
  text += kind;
  text += ", and it is false: ";
  text += condition;
  text += "\n  at ";
  text += file;
  text += ":" + std::to_string(line) + "\n";
  base::raw_write(2, text);
  std::abort();
}

void check_failed(std::string what, std::string why, std::string hint) {
  throw error(std::move(what), std::move(why), std::move(hint));
}

}  // namespace sinew::detail
