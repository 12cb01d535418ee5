// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/run_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< of what was told

boot::descriptor open_file(const std::string& file, int more) {
  boot::descriptor open(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | more, 0666));
  SINEW_CHECK(open, "the report " + file + " cannot be written", base::system_reason(errno),
              "name a file in a folder that you may write to with --report");
  return open;
}

bool is_junit(const std::string& file) { return file.ends_with(".xml"); }

/// As a value of an attribute or between tags.
std::string xml_text(const std::string& text) {
  std::string made;
  for (const char c : text) {
    switch (c) {
      case '&':
        made += "&amp;";
        break;
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      case '"':
        made += "&quot;";
        break;
      default:
        made += c;
    }
  }
  return made;
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", seconds);
  return text.data();
}

}  // namespace

run_report::run_report(std::string file) : file_(std::move(file)), began_ns_(now_ns()) {
  if (!file_.empty()) {
    (void)open_file(file_, 0);
  }
}

void run_report::tell(const std::string& lines) {
  if (!file_.empty() && told_.size() + lines.size() <= most_bytes) {
    told_ += lines;
  }
}

void run_report::fail(int rank, const std::string& text) {
  failures_.push_back({rank, as_sentence(terminal_text(text))});
}

double run_report::seconds() const {
  return static_cast<double>(now_ns() - began_ns_) / static_cast<double>(second_ns);
}

void run_report::write(const std::string& command, const std::vector<std::string>& ranks,
                       int code) const {
  if (file_.empty()) {
    return;
  }
  const boot::descriptor to = open_file(file_, is_junit(file_) ? O_TRUNC : O_APPEND);
  base::raw_write(to.get(),
                  is_junit(file_) ? junit(command, ranks, code) : markdown(command, code));
}

std::string run_report::junit(const std::string& command, const std::vector<std::string>& ranks,
                              int code) const {
  const std::string time = seconds_text(seconds());
  const std::string name = xml_text(terminal_text(command));
  std::vector<const failure*> of_ranks(ranks.size());
  const failure* of_job = nullptr;
  int failed = 0;
  for (const failure& each : failures_) {
    const bool has_rank = each.rank >= 0 && each.rank < static_cast<int>(ranks.size());
    const failure*& of = has_rank ? of_ranks[static_cast<std::size_t>(each.rank)] : of_job;
    failed += of == nullptr ? 1 : 0;
    of = of != nullptr ? of : &each;
  }
  const failure unnamed{-1, "The job ended with code " + std::to_string(code) + "."};
  if (code != 0 && failed == 0) {
    of_job = &unnamed;
    ++failed;
  }
  std::string cases;
  const auto add = [&](const std::string& what, const failure* of) {
    cases += R"(    <testcase classname=")" + name + R"(" name=")" + xml_text(what) +
             R"(" time=")" + time + "\"";
    cases += of == nullptr ? "/>\n"
                           : ">\n      <failure message=\"" + xml_text(of->text) + "\">" +
                                 xml_text(of->text) + "</failure>\n    </testcase>\n";
  };
  add("the job", of_job);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    add(ranks[rank], of_ranks[rank]);
  }
  const std::string head = R"( name=")" + name + R"(" tests=")" + std::to_string(ranks.size() + 1) +
                           R"(" failures=")" + std::to_string(failed) + R"(" time=")" + time +
                           "\">\n";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + head + "  <testsuite" + head +
         cases + (told_.empty() ? "" : "    <system-err>" + xml_text(told_) + "</system-err>\n") +
         "  </testsuite>\n</testsuites>\n";
}

std::string run_report::markdown(const std::string& command, int code) const {
  const std::string how =
      code == 0 ? "has ended well" : "has failed with code " + std::to_string(code);
  std::string text = "### `" + terminal_text(command) + "` " + how + "\n\nIt took " +
                     seconds_text(seconds()) + " s.\n\n";
  for (const failure& each : failures_) {
    text += "- " + each.text + "\n";
  }
  text += failures_.empty() ? "" : "\n";
  return text + (told_.empty() ? "" : "```\n" + told_ + "```\n\n");
}

}  // namespace sinew::tool
