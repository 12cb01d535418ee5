#include "xml_text.hpp"

#include <algorithm>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/parse.hpp"
#include "text_file.hpp"

namespace sinew::route {
namespace {

constexpr std::string_view xml_blanks = " \t\r\n";
constexpr std::size_t most_depth = 64;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(xml_blanks);
  return begin == text.npos ? std::string_view()
                            : text.substr(begin, text.find_last_not_of(xml_blanks) + 1 - begin);
}

constexpr std::pair<std::string_view, char> entities[] = {
    {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

// "#65" or "#x41" below 128.
std::optional<char> character_of(std::string_view name) {
  for (const auto& [known, letter] : entities) {
    if (name == known) {
      return letter;
    }
  }
  if (name.size() < 2 || name[0] != '#') {
    return std::nullopt;
  }
  const bool hex = name[1] == 'x';
  const std::string_view digits = name.substr(hex ? 2 : 1);
  int code = 0;
  for (const char c : digits) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(c >= 'A' ? c | 32 : c);
    if (digit == std::string_view::npos || digit >= (hex ? 16u : 10u) || code > 127) {
      return std::nullopt;
    }
    code = code * (hex ? 16 : 10) + static_cast<int>(digit);
  }
  return digits.empty() || code == 0 || code > 127 ? std::nullopt
                                                   : std::optional(static_cast<char>(code));
}

}  // namespace

std::string xml_reader::plain(std::string_view raw) const {
  std::string out;
  while (!raw.empty()) {
    const std::size_t mark = raw.find('&');
    out += raw.substr(0, mark);
    if (mark == raw.npos) {
      break;
    }
    const std::size_t end = raw.find(';', mark);
    const auto letter =
        end == raw.npos ? std::nullopt : character_of(raw.substr(mark + 1, end - mark - 1));
    if (!letter) {
      bad_line(where_, line_, "an & begins &amp; &lt; &gt; &quot; &apos; or &#N; below 128");
    }
    out += *letter;
    raw.remove_prefix(end + 1);
  }
  return out;
}

void xml_reader::skip_to(std::size_t at) {
  SINEW_EXPECT(at >= at_ && at <= text_.size());
  line_ +=
      static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                          text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  at_ = at;
}

// Comments, <? ?> and <! >; the latter may have tags of its own in brackets.
bool xml_reader::skip_other() {
  const std::string_view rest = text_.substr(at_);
  std::size_t end = 0;
  if (rest.starts_with("<!--")) {
    end = rest.find("-->", 4);
    end = end == rest.npos ? end : end + 3;
  } else if (rest.starts_with("<?")) {
    end = rest.find("?>", 2);
    end = end == rest.npos ? end : end + 2;
  } else if (rest.starts_with("<!")) {
    const std::size_t close = rest.find('>');
    const std::size_t bracket = rest.find('[');
    end = bracket < close ? rest.find("]>") : close;
    end = end == rest.npos ? end : end + (bracket < close ? 2 : 1);
  } else {
    return false;
  }
  if (end == rest.npos) {
    bad_line(where_, line_,
             "what begins with \"" + std::string(rest.substr(0, 4)) + "\" does not end");
  }
  skip_to(at_ + end);
  return true;
}

void xml_reader::take_tag() {
  // Its '>' is the first outside of quotes.
  std::size_t end = at_ + 1;
  char quote = 0;
  while (end < text_.size() && (quote != 0 || text_[end] != '>')) {
    const char c = text_[end];
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    ++end;
  }
  if (end == text_.size()) {
    bad_line(where_, line_, "a tag does not end");
  }
  std::string_view tag = text_.substr(at_ + 1, end - at_ - 1);
  const bool leaves = tag.starts_with('/');
  const bool both = !leaves && tag.ends_with('/');
  tag.remove_prefix(leaves ? 1 : 0);
  tag.remove_suffix(both ? 1 : 0);
  const std::size_t stop = std::min(tag.find_first_of(xml_blanks), tag.size());
  name_ = tag.substr(0, stop);
  attributes_ = tag.substr(stop);
  opens_ = !leaves;
  closes_ = leaves || both;
  if (name_.empty()) {
    bad_line(where_, line_, "a tag without a name");
  }
  if (leaves) {
    if (open_.empty() || open_.back() != name_) {
      bad_line(where_, line_,
               "</" + std::string(name_) + "> closes no <" + std::string(name_) + ">" +
                   (open_.empty() ? "" : ", but <" + std::string(open_.back()) + "> is open"));
    }
    open_.pop_back();
  } else if (!both) {
    if (open_.size() == most_depth) {
      bad_line(where_, line_, "more than 64 tags within each other");
    }
    open_.push_back(name_);
  }
  at_ = end + 1;  // line_ stays where the tag began; its own lines are counted by next()
}

bool xml_reader::next() {
  if (opens_ || closes_) {
    // Lines of the tag itself.
    line_ += static_cast<std::size_t>(std::count(attributes_.begin(), attributes_.end(), '\n'));
  }
  const std::size_t begin = at_;
  while (true) {
    const std::size_t mark = text_.find('<', at_);
    if (mark == text_.npos) {
      skip_to(text_.size());
      if (!open_.empty()) {
        bad_line(where_, line_, "<" + std::string(open_.back()) + "> is not closed");
      }
      opens_ = closes_ = false;
      return false;
    }
    skip_to(mark);
    if (!skip_other()) {
      between_ = text_.substr(begin, mark - begin);
      take_tag();
      return true;
    }
  }
}

std::optional<std::string> xml_reader::find(std::string_view attribute) const {
  std::string_view rest = attributes_;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(xml_blanks), rest.size()));
    if (rest.empty()) {
      return std::nullopt;
    }
    const std::size_t equal = rest.find('=');
    const std::string_view key = trimmed(rest.substr(0, equal));
    rest.remove_prefix(equal == rest.npos ? rest.size() : equal + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(xml_blanks), rest.size()));
    if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) {
      bad_line(where_, line_, "an attribute is name=\"value\"");
    }
    const std::size_t close = rest.find(rest[0], 1);
    if (close == rest.npos) {
      bad_line(where_, line_, "an attribute's value does not end");
    }
    if (key == attribute) {
      return plain(rest.substr(1, close - 1));
    }
    rest.remove_prefix(close + 1);
  }
}

std::string xml_reader::text_before() const {
  if (between_.find('<') != between_.npos) {
    bad_line(where_, line_, "a comment within a value");
  }
  return plain(trimmed(between_));
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto* found = std::find_if(std::begin(entities), std::end(entities),
                                     [c](const auto& e) { return e.second == c; });
    out += found == std::end(entities) ? std::string(1, c) : '&' + std::string(found->first) + ';';
  }
  return out;
}

}  // namespace sinew::route
