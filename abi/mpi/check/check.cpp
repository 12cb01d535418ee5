// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/check.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "abi/mpi/check/buffers.hpp"
#include "abi/mpi/check/open_handles.hpp"
#include "abi/mpi/check/windows.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/error_table.hpp"
#include "abi/mpi/gather_texts.hpp"
#include "abi/mpi/settings.hpp"
#include "abi/mpi/window.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/base/source_lines.hpp"
#include "sinew/coll/collectives.hpp"
#include "sinew/formats/json.hpp"

namespace sinew::mpi::check {
namespace {

constexpr std::array<std::string_view, 5> names = {"collectives", "kinds", "buffers", "windows",
                                                   "leaks"};

/// By `what`. The setting is read when MPI is first used.
struct choice {
  std::array<bool, names.size()> of{};
  bool any = false;

  choice() {
    std::string_view rest = check_setting();
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view each = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
      for (std::size_t i = 0; i < names.size(); ++i) {
        of[i] = of[i] || each == "1" || each == "yes" || each == names[i];
        any = any || of[i];
      }
    }
  }
};
const choice& chosen() noexcept {
  static const choice it;
  return it;
}

}  // namespace

bool wanted() noexcept { return chosen().any; }
bool wanted(what it) noexcept { return chosen().of[static_cast<std::size_t>(it)]; }

void end(const watch::call& call) {
  if (wanted(what::leaks)) {
    count_handles(call);
  }
  if (wanted(what::windows)) {
    follow_order(call);
  }
  if (wanted(what::buffers)) {
    settle_buffers(call);
  }
}

void forget(const watch::call& call) noexcept {
  try {
    end(call);
  } catch (...) {  // the call's own error is told
  }
}

std::string text_of(const char* call, const void* site) {
  return std::string(call) + ", in " + base::text_of(base::source_of(site), site);
}

void report(const std::string& ranks, int code, const std::string& sentence) {
  const std::string& file = report_setting();
  if (file.empty()) {
    return;
  }
  const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (to < 0) {
    base::raw_write(2, "sinew: SINEW_MPI_CHECK_REPORT: " + file +
                           " cannot be written: " + std::strerror(errno) + ".\n");
    return;
  }
  base::raw_write(to, "{\"ranks\":" + formats::json_quoted(ranks) +
                          ",\"class\":" + formats::json_quoted(class_name(code)) +
                          ",\"finding\":" + formats::json_quoted(sentence) + "}\n");
  ::close(to);
}

void found(const watch::call& call, int code, const std::string& sentence) {
  const auto* const w = resolve<window_object>(call.given.win);
  report(std::to_string(process.runtime->rank().value()), code,
         std::string(call.name) + ": " + sentence);
  throw failure{code, sentence, w != nullptr ? w->comm : nullptr};
}

namespace {

/// The same finding of several ranks is one line.
std::string merged(const std::vector<std::string>& of_ranks) {
  std::vector<std::string> order;
  std::map<std::string, std::map<int, int>> ranks;  // and how often
  for (std::size_t r = 0; r < of_ranks.size(); ++r) {
    for (const std::string& line : base::split(of_ranks[r], '\n')) {
      if (!line.empty() && ranks[line][static_cast<int>(r)]++ == 0 && ranks[line].size() == 1) {
        order.push_back(line);
      }
    }
  }
  std::string text;
  for (const std::string& line : order) {
    std::vector<int> who;
    int most = 0;
    for (const auto& [rank, times] : ranks[line]) {
      who.push_back(rank);
      most = std::max(most, times);
    }
    const std::string numbers = base::ranges_text(who);
    const std::string what = line + (most > 1 ? " (" + std::to_string(most) + " times)" : "");
    text += (who.size() > 1 ? "\n  ranks " : "\n  rank ") + numbers + ": " + what;
    report(numbers, MPI_ERR_OTHER, "MPI_Finalize: " + what);
  }
  return text;
}

/// A message that nobody has received.
std::string text_of(const p2p::unread& m) {
  return "a message has not been received: from rank " + to_string(m.sent.source) + ", tag " +
         to_string(m.sent.tag) + ", " + std::to_string(m.bytes) + " bytes, of " +
         (m.comm != nullptr && !m.comm->name.empty() ? m.comm->name : "a communicator");
}

}  // namespace

void finish() {
  if (!wanted(what::leaks)) {
    return;
  }
  std::string mine;
  const auto tell = [&mine](const std::string& line) { mine += line + "\n"; };
  tell_open_handles(tell);
  for (const p2p::unread& each : process.engine->unread_messages()) {
    tell(text_of(each));
  }
  const std::string all = merged(gather_texts(participant_of(*process.comms[1]), mine));
  if (all.empty()) {
    return;
  }
  base::raw_write(2, "sinew: SINEW_MPI_CHECK has found at MPI_Finalize:" + all + "\n");
  if (check_fails_setting()) {
    process.runtime->session().abort(1, "SINEW_MPI_CHECK has found what is told above");
  }
}

}  // namespace sinew::mpi::check
