// SPDX-License-Identifier: BSD-3-Clause
// `sinew profile`, and what `sinew run --profile` does at the end of the job.
#include "sinew/profile/profile_command.hpp"

#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "sinew/base/error.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/commands.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/profile/profile_data.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

struct profile_request {
  std::string file;
  std::string page;
  bool help = false;
};

std::vector<option> options_of(profile_request& request) {
  return {{{"-o", "--output"},
           "PAGE",
           "writes a page (HTML) instead: time by rank, wait states, who has sent to whom, sizes",
           [&request](std::string_view v) { request.page = v; }},
          {{"-h", "--help"}, "", "shows this text", [&request](std::string_view) {
             request.help = true;
           }}};
}

bool is_page(const std::string& name) { return name.ends_with(".html"); }

}  // namespace

std::string profile_file(const std::string& asked) {
  const std::string data = is_page(asked) ? asked.substr(0, asked.size() - 5) + ".json" : asked;
  return std::filesystem::absolute(data).string();
}

void forget_profile(const std::string& asked) {
  std::error_code none_is_fine;
  std::filesystem::remove(profile_file(asked), none_is_fine);
}

std::string show_profile(const std::string& asked) {
  const std::string file = profile_file(asked);
  if (!std::filesystem::exists(file)) {
    return "sinew run: there is no profile: rank 0 writes it in MPI_Finalize, which not all ranks "
           "have called, or " +
           file + " cannot be written or is on another host.\n";
  }
  try {
    const profile_data data = read_profile(file);
    std::string text = "sinew run: profile of " + profile_table(data, file);
    if (is_page(asked)) {
      formats::write_file(asked, page_of_profile(data));
    }
    return text + "sinew run: the profile is in " + file +
           (is_page(asked) ? ", as a page in " + asked : "") + ".\n";
  } catch (const error& failed) {
    return "sinew run: " + as_sentence(failed.what()) + "\n";
  }
}

command_page profile_page() {
  static profile_request unused;
  return {"profile",
          "shows what sinew run --profile has counted: time in MPI by the lines that call it",
          "FILE.json [-o PAGE.html]",
          "FILE is what --profile has written, or under another launcher SINEW_MPI_PROFILE=FILE.\n"
          "The table has the 20 places with the most time: the call, the function and line that\n"
          "calls it, how often, its time in all ranks, what part of the time in MPI and of the\n"
          "run that is, the mean, and the bytes sent.",
          options_of(unused)};
}

int profile_main(int argc, char** argv) {
  profile_request request;
  const std::vector<option> known = options_of(request);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  for (std::size_t at = 0; at < words.size();) {
    at += parse_options(std::span(words).subspan(at), known);
    if (at < words.size()) {
      if (!request.file.empty()) {
        throw usage_failure("profile shows one file: it is given " + request.file + " and " +
                            std::string(words[at]));
      }
      request.file = words[at++];
    }
  }
  if (request.help) {
    std::fputs(help_text(profile_page()).c_str(), stdout);
    return 0;
  }
  if (request.file.empty()) {
    throw usage_failure("profile takes a file that sinew run --profile has written");
  }
  const profile_data data = read_profile(request.file);
  if (!request.page.empty()) {
    formats::write_file(request.page, page_of_profile(data));
    return 0;
  }
  std::fputs(terminal_text("profile of " + profile_table(data, request.file)).c_str(), stdout);
  return 0;
}

}  // namespace sinew::tool
