// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/asked_job.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "sinew/ask/rank_page.hpp"
#include "sinew/ask/roll_call.hpp"
#include "sinew/ask/stacks.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/run/hosts.hpp"

namespace sinew::tool {
namespace {

constexpr std::int64_t patience_for_answers_ns = 300'000'000;
constexpr std::int64_t pause_ns = 10'000'000;

/// What was typed to start it.
std::string command_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
  std::string typed{std::istreambuf_iterator<char>(file), {}};
  std::replace(typed.begin(), typed.end(), '\0', ' ');
  constexpr std::size_t most = 100;
  return typed.size() <= most ? typed : typed.substr(0, most) + "...";
}

bool is_of_this_user(const std::string& folder) {
  struct stat of{};
  return ::stat(folder.c_str(), &of) == 0 && (of.st_uid == ::getuid() || ::getuid() == 0);
}

/// By what the ranks of a job have in common.
std::vector<other_job> other_jobs() {
  namespace fs = std::filesystem;
  std::map<std::string, other_job> found;
  std::error_code failed;
  for (fs::directory_iterator at("/proc", failed), end; !failed && at != end;
       at.increment(failed)) {
    const auto process = base::parse_integer(at->path().filename().string());
    if (!process || !is_of_this_user(at->path().string())) {
      continue;
    }
    const auto pid = static_cast<pid_t>(*process);
    const auto page = rank_page::of(pid);
    if (!page || page->launcher() == "sinew") {
      continue;
    }
    const bool alone = page->launcher() == "alone";
    other_job& of = found[page->launcher() + " " + (alone ? std::to_string(pid) : page->job())];
    of.launcher = page->launcher();
    of.size = (*page)->size;
    of.ranks[(*page)->rank] = pid;
  }
  std::vector<other_job> all;
  for (auto& [name, job] : found) {
    all.push_back(std::move(job));
  }
  return all;
}

/// Who waits for long says for what, and all others nothing.
void ask_for_waits(const other_job& job, roll& found) {
  std::map<int, rank_page> asked;
  std::map<int, int> questions;
  for (const auto& [rank, process] : job.ranks) {
    if (auto page = rank_page::of(process)) {
      questions[rank] = (*page)->question.fetch_add(1, std::memory_order_relaxed) + 1;
      asked.emplace(rank, std::move(*page));
    }
  }
  for (const std::int64_t until = now_ns() + patience_for_answers_ns;
       !asked.empty() && now_ns() < until;) {
    std::erase_if(asked, [&](const auto& each) {
      const auto answer = each.second.answer_to(questions[each.first]);
      found[each.first].wait = answer ? answer : found[each.first].wait;
      return answer.has_value();
    });
    sleep_ns(asked.empty() ? 0 : pause_ns);
  }
}

roll stands_of(const other_job& job) {
  roll found;
  for (const auto& [rank, process] : job.ranks) {
    static_cast<rank_stacks&>(found[rank]) = read_stacks(process);
  }
  ask_for_waits(job, found);
  return found;
}

std::optional<asked_job> job_of(pid_t named, const std::vector<other_job>& others) {
  const auto has_rank = [named](const other_job& job) {
    return std::any_of(job.ranks.begin(), job.ranks.end(),
                       [named](const auto& rank) { return rank.second == named; });
  };
  const auto at = std::find_if(others.begin(), others.end(), has_rank);
  return at != others.end() ? std::optional(asked_job(*at)) : std::nullopt;
}

}  // namespace

asked_job::asked_job(other_job job) : number_(job.ranks.begin()->second), other_(std::move(job)) {}

std::string asked_job::title() const {
  const int here = static_cast<int>(other_.ranks.size());
  std::string by;
  if (here != 0 && other_.launcher != "alone") {
    by = " (by " + other_.launcher +
         (here == other_.size ? ""
                              : "; " + std::to_string(here) + " of " + std::to_string(other_.size) +
                                    " ranks are on this machine") +
         ")";
  }
  return "job " + std::to_string(number_) + by + ": " + command_of(number_);
}

std::string asked_job::answer(question what) const {
  if (other_.ranks.empty()) {
    return ask_job(number_, what);
  }
  return answer_text(stands_of(other_), what);
}

std::vector<numbered_rank> asked_job::numbers() const {
  std::vector<numbered_rank> all;
  if (other_.ranks.empty()) {
    for (const std::string& line : base::split(ask_job(number_, question::numbers), '\n')) {
      if (auto rank = numbered_rank::of_line(line)) {
        all.push_back(std::move(*rank));
      }
    }
    return all;
  }
  for (const auto& [rank, process] : other_.ranks) {
    rank_numbers now = read_numbers(process);
    if (now.memory_bytes != 0) {  // it lives
      all.push_back({rank, own_host_name(), process, std::move(now)});
    }
  }
  SINEW_CHECK(!all.empty(), "the job " + std::to_string(number_) + " cannot be asked",
              "it has ended", "");
  return all;
}

std::vector<asked_job> jobs_to_ask(const std::vector<pid_t>& named) {
  std::vector<asked_job> jobs;
  const std::vector<pid_t> ours = running_jobs();
  const bool all_are_ours = std::all_of(named.begin(), named.end(), [&ours](pid_t each) {
    return std::find(ours.begin(), ours.end(), each) != ours.end();
  });
  const auto others = named.empty() || !all_are_ours ? other_jobs() : std::vector<other_job>();
  for (const pid_t each : named) {
    jobs.push_back(job_of(each, others).value_or(asked_job(each)));
  }
  if (named.empty()) {
    std::transform(ours.begin(), ours.end(), std::back_inserter(jobs),
                   [](pid_t each) { return asked_job(each); });
    std::transform(others.begin(), others.end(), std::back_inserter(jobs),
                   [](const other_job& each) { return asked_job(each); });
  }
  SINEW_CHECK(!jobs.empty(), "no job can be asked", "no job of yours runs on this machine",
              "ask where it was started");
  return jobs;
}

asked_job the_job(const std::vector<pid_t>& named, const std::string& command) {
  const std::vector<asked_job> jobs = jobs_to_ask(named);
  std::string names;
  for (const asked_job& each : jobs) {
    names += (names.empty() ? "" : ", ") + std::to_string(each.number());
  }
  SINEW_CHECK(jobs.size() == 1, command + " takes one job", "there are several: " + names,
              "name one of them");
  return jobs.front();
}

}  // namespace sinew::tool
