// SPDX-License-Identifier: BSD-3-Clause
// Expat reads, and calls for each tag and piece of text.
#include "sinew/formats/xml.hpp"

#include <expat.h>

#include <climits>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/formats/text.hpp"

namespace sinew::formats {
namespace {

class document {
 public:
  document(const std::string& where, const std::function<void(const xml_tag&)>& take)
      : where_(where), take_(take), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
    if (parser_ == nullptr) {
      throw std::bad_alloc();
    }
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const char* name, const char** attributes) {
          static_cast<document*>(self)->tell(name, attributes);
        },
        [](void* self, const char* name) { static_cast<document*>(self)->tell(name, nullptr); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const char* text, int length) {
      static_cast<document*>(self)->text_.append(text, static_cast<std::size_t>(length));
    });
  }

  void read(std::string_view text) {
    SINEW_EXPECT(text.size() <= INT_MAX);
    const auto done =
        XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
    if (thrown_ != nullptr) {
      std::rethrow_exception(thrown_);
    }
    if (done != XML_STATUS_OK) {
      bad_line(where_, line(), reason(XML_GetErrorCode(parser_.get())));
    }
  }

 private:
  // Expat is C: nothing may be thrown through it.
  void tell(const char* name, const char* const* attributes) {
    if (thrown_ != nullptr) {
      return;
    }
    try {
      const bool opens = attributes != nullptr;
      if (opens) {
        open_.emplace_back(name, line());
      } else {
        open_.pop_back();
      }
      take_({name, opens, line(), trimmed(text_), attributes});
      text_.clear();
    } catch (...) {
      thrown_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }

  [[nodiscard]] std::size_t line() const { return XML_GetCurrentLineNumber(parser_.get()); }

  [[nodiscard]] std::string reason(XML_Error code) const {
    const std::string open = open_.empty() ? ""
                                           : "<" + open_.back().first + "> of line " +
                                                 std::to_string(open_.back().second);
    switch (code) {
      case XML_ERROR_TAG_MISMATCH:
        return "a tag closes no " + open;
      case XML_ERROR_NO_ELEMENTS:
        return open.empty() ? "it has no tag" : open + " is not closed";
      case XML_ERROR_UNCLOSED_TOKEN:
        return "what begins here does not end";
      case XML_ERROR_UNDEFINED_ENTITY:
        return "an & begins &amp; &lt; &gt; &quot; &apos; or &#N;";
      case XML_ERROR_INVALID_TOKEN:
        return "not well-formed: an attribute is name=\"value\", and & and < are &amp; and &lt;";
      default:
        return XML_ErrorString(code);
    }
  }

  const std::string& where_;
  const std::function<void(const xml_tag&)>& take_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::vector<std::pair<std::string, std::size_t>> open_;  // names and lines
  std::string text_;
  std::exception_ptr thrown_;
};

}  // namespace

std::optional<std::string> xml_tag::find(std::string_view attribute) const {
  for (const char* const* at = attributes; at != nullptr && *at != nullptr; at += 2) {
    if (attribute == at[0]) {
      return at[1];
    }
  }
  return std::nullopt;
}

void for_each_tag(std::string_view text, const std::string& where,
                  const std::function<void(const xml_tag&)>& take) {
  document(where, take).read(text);
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':  // an attribute's value would have a blank instead
        out += "&#" + std::to_string(c) + ';';
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return out;
}

}  // namespace sinew::formats
