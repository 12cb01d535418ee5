// SPDX-License-Identifier: BSD-3-Clause
// XML as far as networks are kept in it: tags with attributes, and text between them. Cold.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sinew::formats {

/// A tag that opens or closes; <a/> does both, one after the other. Valid while it is told of.
struct xml_tag {
  std::string_view name;
  bool opens = true;
  std::size_t line = 1;
  std::string_view text;  ///< behind the tag before, without blanks around it
  const char* const* attributes = nullptr;

  /// The attribute's value; nothing if the tag has none of that name.
  [[nodiscard]] std::optional<std::string> find(std::string_view attribute) const;
};

/// Calls `take` with each tag of a document. Throws what `take` throws, and sinew::error
/// "where:line is malformed (why)" where the text is no XML.
void for_each_tag(std::string_view text, const std::string& where,
                  const std::function<void(const xml_tag&)>& take);

/// For texts and for attributes' values, of XML and HTML. What XML cannot hold becomes '?'.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace sinew::formats
