#include "sinew/report/pdf.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::tool {
namespace {

// Widths of Helvetica's characters from ' ' to '~' in thousandths of its size, as its metrics say.
constexpr std::array<short, 95> widths = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

constexpr double font_size = 12;
constexpr double around = 0.5523;  // control points of a quarter of a circle

using attributes = std::map<std::string, std::string, std::less<>>;

std::string number(double value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.2f", value);
  std::string out(text.data(), static_cast<std::size_t>(length));
  out.erase(out.find_last_not_of('0') + 1);
  return out.back() == '.' ? out.substr(0, out.size() - 1) : out;
}

std::string numbers(std::initializer_list<double> values) {
  std::string out;
  for (const double v : values) {
    out += number(v) + ' ';
  }
  return out;
}

/// All numbers of a text, whatever stands between them: "M1.5 2l4-7" has four.
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> found;
  const std::string all(text);
  for (const char* at = all.c_str(); *at != 0;) {
    char* end = nullptr;
    const bool begins = std::isdigit(static_cast<unsigned char>(*at)) != 0 || *at == '-';
    const double value = begins ? std::strtod(at, &end) : 0;
    if (begins && end != at) {
      found.push_back(value);
    }
    at = begins && end != at ? end : at + 1;
  }
  return found;
}

// XML's text to Latin-1, which is the font's encoding; what that lacks is '?'.
std::string plain(std::string_view text) {
  static const std::vector<std::pair<std::string_view, char>> names = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
  std::string out;
  while (!text.empty()) {
    const auto name = std::find_if(names.begin(), names.end(),
                                   [text](const auto& n) { return text.starts_with(n.first); });
    const auto first = static_cast<unsigned char>(text.front());
    if (name != names.end()) {
      out += name->second;
      text.remove_prefix(name->first.size());
    } else if (first < 0x80) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      const bool latin = (first == 0xc2 || first == 0xc3) && text.size() > 1;
      out += latin ? static_cast<char>((first & 3) << 6 | (text[1] & 0x3f)) : '?';
      text.remove_prefix(1);
      while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80) {
        text.remove_prefix(1);
      }
    }
  }
  return out;
}

// "(...)" as PDF writes text.
std::string pdf_string(std::string_view text) {
  std::string out = "(";
  for (const char c : text) {
    if (c == '(' || c == ')' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out + ')';
}

double width_of(std::string_view text) {
  double all = 0;
  for (const char c : text) {
    all += c >= ' ' && c <= '~' ? widths[static_cast<std::size_t>(c - ' ')] : 556;
  }
  return all * font_size / 1000;
}

/// What one picture's elements become: the content of a page whose y axis goes down.
class page_writer {
 public:
  [[nodiscard]] std::string content() const { return out_; }
  [[nodiscard]] const std::map<std::string, std::string>& states() const { return states_; }

  void element(const std::string& name, const attributes& of) {
    if (name == "rect") {
      paint(box(of) + "re ", of);
    } else if (name == "line") {
      paint(numbers({get(of, "x1"), get(of, "y1")}) + "m " +
                numbers({get(of, "x2"), get(of, "y2")}) + "l ",
            of);
    } else if (name == "circle") {
      paint(circle(get(of, "cx"), get(of, "cy"), get(of, "r")), of);
    } else if (name == "polyline" || name == "polygon") {
      paint(points(of.at("points"), name == "polygon"), of);
    } else if (name == "path") {
      paint(path(of.at("d")), of);
    } else {
      SINEW_CHECK(false, "cannot draw this picture as PDF",
                  "it has an element <" + name + ">, which is not known here",
                  "teach it to tools/sinew/report/pdf.cpp");
    }
  }

  void text(const attributes& of, const std::string& what) {
    const auto anchor = of.find("text-anchor");
    double x = get(of, "x");
    if (anchor != of.end() && anchor->second != "start") {
      x -= width_of(what) * (anchor->second == "middle" ? 0.5 : 1);
    }
    out_ += "0 g BT /F1 " + number(font_size) + " Tf 1 0 0 -1 " + numbers({x, get(of, "y")}) +
            "Tm " + pdf_string(what) + " Tj ET\n";
  }

  void begin_group(const attributes& of, const attributes& clip) {
    out_ += "q ";
    if (of.contains("clip-path")) {
      out_ += box(clip) + "re W n\n";
    }
    if (const auto turned = of.find("transform"); turned != of.end()) {
      const auto v = numbers_in(turned->second);
      SINEW_CHECK(turned->second.starts_with("rotate(-90 ") && v.size() == 3,
                  "cannot draw this picture as PDF", turned->second + " is not known here", "");
      out_ += "0 -1 1 0 " + numbers({v[1] - v[2], v[2] + v[1]}) + "cm\n";
    }
  }
  void end_group() { out_ += "Q\n"; }

 private:
  static double get(const attributes& of, std::string_view name) {
    const auto found = of.find(name);
    return found == of.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
  }

  static std::string colour(const std::string& text) {
    if (text == "white" || text.size() != 7) {
      return text == "white" ? "1 1 1 " : "0 0 0 ";
    }
    const auto part = [&text](std::size_t at) {
      return static_cast<double>(std::strtoul(text.substr(at, 2).c_str(), nullptr, 16)) / 255;
    };
    return numbers({part(1), part(3), part(5)});
  }

  static std::string box(const attributes& of) {
    return numbers({get(of, "x"), get(of, "y"), get(of, "width"), get(of, "height")});
  }

  // Opacities are states of their own on the page.
  void paint(const std::string& path, const attributes& of) {
    const auto word = [&of](std::string_view name, const char* other) {
      const auto found = of.find(name);
      return found == of.end() ? std::string(other) : found->second;
    };
    const std::string fill = word("fill", "none");
    const std::string stroke = word("stroke", "none");
    const std::string dash = word("stroke-dasharray", "none");
    if (path.empty() || (fill == "none" && stroke == "none")) {
      return;
    }
    out_ += "q ";
    if (of.contains("fill-opacity") || of.contains("stroke-opacity")) {
      const std::string state =
          "/ca " + word("fill-opacity", "1") + " /CA " + word("stroke-opacity", "1");
      const std::string fresh = "G" + std::to_string(states_.size());
      out_ += '/' + states_.try_emplace(state, fresh).first->second + " gs ";
    }
    if (stroke != "none") {
      out_ += colour(stroke) + "RG " + word("stroke-width", "1") + " w ";
      out_ += dash == "none" ? "" : "[" + dash + "] 0 d ";
    }
    if (fill != "none") {
      out_ += colour(fill) + "rg ";
    }
    out_ += path + (fill == "none" ? "S" : stroke == "none" ? "f" : "B") + " Q\n";
  }

  static std::string circle(double x, double y, double r) {
    const double c = r * around;
    return numbers({x + r, y}) + "m " + numbers({x + r, y + c, x + c, y + r, x, y + r}) + "c " +
           numbers({x - c, y + r, x - r, y + c, x - r, y}) + "c " +
           numbers({x - r, y - c, x - c, y - r, x, y - r}) + "c " +
           numbers({x + c, y - r, x + r, y - c, x + r, y}) + "c h ";
  }

  static std::string points(const std::string& text, bool closed) {
    const auto v = numbers_in(text);
    std::string out;
    for (std::size_t i = 0; i + 1 < v.size(); i += 2) {
      out += numbers({v[i], v[i + 1]}) + (i == 0 ? "m " : "l ");
    }
    return out.empty() || !closed ? out : out + "h ";
  }

  // M absolute, l and h relative, z: what markers are made of.
  static std::string path(const std::string& text) {
    std::string out;
    double x = 0, y = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of("Mlhz", at + 1), text.size());
      const auto v = numbers_in(std::string_view(text).substr(at + 1, end - at - 1));
      const char command = text[at];
      const std::size_t wanted = command == 'z' ? 0 : command == 'h' ? 1 : 2;
      SINEW_CHECK(v.size() == wanted && std::string_view("Mlhz").find(command) != std::string::npos,
                  "cannot draw this picture as PDF", "the path " + text + " is not known here", "");
      if (command == 'z') {
        out += "h ";
      } else {
        x = command == 'M' ? v[0] : x + v[0];
        y = command == 'M' ? v[1] : command == 'l' ? y + v[1] : y;
        out += numbers({x, y}) + (command == 'M' ? "m " : "l ");
      }
      at = end;
    }
    return out;
  }

  std::string out_ = "\n";
  std::map<std::string, std::string> states_;  // opacities -> their name on the page
};

/// One tag of the picture, and the text that follows it.
struct tag {
  std::string name;  // "/g" ends
  attributes of;
  std::string text;
};

std::vector<tag> tags_of(std::string_view svg) {
  std::vector<tag> all;
  while (true) {
    const std::size_t begin = svg.find('<');
    const std::size_t end = svg.find('>', begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) {
      return all;
    }
    std::string_view inside = svg.substr(begin + 1, end - begin - 1);
    tag t;
    t.name = inside.substr(0, inside.find_first_of(" /", 1));
    while (true) {
      const std::size_t equals = inside.find("=\"");
      if (equals == std::string_view::npos) {
        break;
      }
      const std::size_t close = inside.find('"', equals + 2);
      const std::size_t name = inside.rfind(' ', equals) + 1;
      t.of.emplace(inside.substr(name, equals - name),
                   inside.substr(equals + 2, close - equals - 2));
      inside.remove_prefix(std::min(close, inside.size() - 1) + 1);
    }
    svg.remove_prefix(end + 1);
    t.text = plain(svg.substr(0, svg.find('<')));
    all.push_back(std::move(t));
  }
}

/// Objects one after another, and where each begins.
class document {
 public:
  void add(const std::string& object) {
    begins_.push_back(text_.size());
    text_ += std::to_string(begins_.size()) + " 0 obj\n" + object + "\nendobj\n";
  }
  [[nodiscard]] std::string finish(const std::string& trailer) const {
    std::string out =
        text_ + "xref\n0 " + std::to_string(begins_.size() + 1) + "\n0000000000 65535 f \n";
    for (const std::size_t begin : begins_) {
      const std::string digits = std::to_string(begin);
      out += std::string(10 - digits.size(), '0') + digits + " 00000 n \n";
    }
    return out + "trailer\n<< /Size " + std::to_string(begins_.size() + 1) + ' ' + trailer +
           " >>\nstartxref\n" + std::to_string(text_.size()) + "\n%%EOF\n";
  }

 private:
  std::string text_ = "%PDF-1.4\n";
  std::vector<std::size_t> begins_;
};

}  // namespace

std::string pdf_of(std::string_view svg) {
  page_writer page;
  std::string title, description;
  double wide = 0, high = 0;
  attributes clip;
  bool in_clip = false;
  for (const tag& t : tags_of(svg)) {
    if (t.name == "svg") {
      const auto box = numbers_in(t.of.at("viewBox"));
      SINEW_CHECK(box.size() == 4, "cannot draw this picture as PDF", "it has no size", "");
      wide = box[2];
      high = box[3];
    } else if (t.name == "title") {
      title = t.text;
    } else if (t.name == "desc") {
      description = t.text;
    } else if (t.name == "clipPath" || t.name == "/clipPath") {
      in_clip = t.name == "clipPath";
    } else if (in_clip) {
      clip = t.of;
    } else if (t.name == "g") {
      page.begin_group(t.of, clip);
    } else if (t.name == "/g") {
      page.end_group();
    } else if (t.name == "text") {
      page.text(t.of, t.text);
    } else if (t.name.front() != '/') {
      page.element(t.name, t.of);
    }
  }
  const std::string content = "1 0 0 -1 0 " + number(high) + " cm" + page.content();
  std::string states;
  for (const auto& [state, name] : page.states()) {
    states.append("/").append(name).append(" << ").append(state).append(" >> ");
  }
  document out;
  out.add(
      "<< /Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> "
      ">>");
  out.add("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  out.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 " + numbers({wide, high}) +
          "] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /ExtGState << " + states +
          ">> >> >>");
  out.add("<< /Length " + std::to_string(content.size()) + " >>\nstream\n" + content +
          "\nendstream");
  out.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  out.add("<< /Title " + pdf_string(title) + " /Subject " + pdf_string(description) + " >>");
  return out.finish("/Root 1 0 R /Info 6 0 R");
}

}  // namespace sinew::tool
