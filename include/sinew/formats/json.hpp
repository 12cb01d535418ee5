// SPDX-License-Identifier: BSD-3-Clause
// The JSON that networks, plans and measurements are kept in: values with the lines where they
// began, which messages name. Cold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::formats {

/// One value; arrays and objects own their parts. Numbers are doubles: exact up to 2^53.
struct json_value {
  enum class kind : unsigned char { null, boolean, number, text, array, object };
  kind what = kind::null;
  bool truth = false;
  double number = 0;
  std::string text;
  std::vector<json_value> items;   ///< of an array; of an object, beside `names`
  std::vector<std::string> names;  ///< of an object
  std::size_t line = 1;            ///< where it began

  /// The member of that name, or nullptr.
  [[nodiscard]] const json_value* find(std::string_view name) const noexcept;
};

/// Throws sinew::error "where:line is malformed (why)". At most 32 arrays and objects lie within
/// each other.
[[nodiscard]] json_value parse_json(std::string_view text, const std::string& where);

/// With the quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);

/// Members that must be there and be whole numbers in [0, most]; throw with line and reason.
[[nodiscard]] std::uint64_t json_whole(const json_value& value, const std::string& where,
                                       const char* what, double most);
[[nodiscard]] const json_value& json_member(const json_value& value, const std::string& where,
                                            const char* name, json_value::kind what);

}  // namespace sinew::formats
