// XML as far as networks are kept in it: tags with attributes, text between them, no namespaces.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::route {

/// Goes from tag to tag, beyond comments, declarations and instructions. Throws "where:line is
/// malformed (why)" where tags do not close each other, an entity is unknown, or more than 64 tags
/// lie within each other.
class xml_reader {
 public:
  xml_reader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  /// False at the end of the text, which is an error while tags are open.
  bool next();

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] bool opens() const noexcept { return opens_; }
  /// A tag without content, <a/>, both opens and closes.
  [[nodiscard]] bool closes() const noexcept { return closes_; }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// Tags that are open behind this one.
  [[nodiscard]] std::size_t depth() const noexcept { return open_.size(); }
  /// The attribute's value, entities replaced; nothing if the tag has none of that name.
  [[nodiscard]] std::optional<std::string> find(std::string_view attribute) const;
  /// What stands between the tag before and this one, entities replaced, without blanks around it.
  [[nodiscard]] std::string text_before() const;

 private:
  void skip_to(std::size_t at);
  bool skip_other();
  void take_tag();
  [[nodiscard]] std::string plain(std::string_view raw) const;

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::string_view name_, attributes_, between_;
  bool opens_ = false;
  bool closes_ = false;
  std::vector<std::string_view> open_;
};

/// & < > " ' as entities.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace sinew::route
