// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks stand: for who types ^\ at the job, and for `sinew status`.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "sinew/ask/job_socket.hpp"
#include "sinew/ask/wait_words.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/boot/crash_report.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/run/job.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

constexpr int hang_code = 124;  // as where the time is up

/// For all ranks, or for those of a program.
bool checks_calls(const run_options& options) {
  const auto is_on = [](const char* value) {
    return value != nullptr && base::parse_bool(value).value_or(false);
  };
  constexpr const char* name = "SINEW_MPI_CHECK";
  return is_on(std::getenv(name)) ||
         std::any_of(options.applications.begin(), options.applications.end(),
                     [&](const application& each) {
                       return std::any_of(each.environment.begin(), each.environment.end(),
                                          [&](const auto& variable) {
                                            return variable.first == name &&
                                                   is_on(variable.second.c_str());
                                          });
                     });
}

}  // namespace

std::vector<int> job::running_ranks() const {
  std::vector<int> running;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].alive) {
      running.push_back(static_cast<int>(rank));
    }
  }
  return running;
}

void job::ask(inquiry::answer then) {
  const std::vector<int> whom = running_ranks();
  if (inquiry_.begin({whom.begin(), whom.end()}, std::move(then))) {
    inquiry_.expect_waits(waits_.ask_again());
    holder_->ask(every_rank, wanted_of_rank::stacks);
    inquiry_.check(now_ns());  // nobody runs
  }
}

void job::ask_for_numbers(inquiry::answer then) {
  const std::vector<int> whom = running_ranks();
  if (counting_.begin({whom.begin(), whom.end()}, std::move(then))) {
    holder_->ask(every_rank, wanted_of_rank::numbers);
    counting_.check(now_ns());
  }
}

void job::ask_for_wait(int rank, int turn) {
  holder_->answer(rank, std::string("cmd=") + boot::launcher_wire::waits_asked +
                            " turn=" + std::to_string(turn) + "\n");
}

void job::on_wait(int rank, const boot::wait_report& report) {
  inquiry_.take(rank, report);
  const bool may_be_dead = worlds_.size() == 1 && unsettled_ == 0 && goes_on();
  if (waits_.take(rank, report, may_be_dead ? running_ranks() : std::vector<int>())) {
    on_deadlock();
  }
}

void job::on_deadlock() {
  silence_told_ = true;
  ask([this](roll found) {
    for (auto& [rank, stands] : found) {
      const boot::wait_report* const last = waits_.last_of(rank);
      stands.wait = last != nullptr ? std::optional(*last) : std::nullopt;
    }
    const std::string what = deadlock_text(found);
    if (!goes_on()) {
      return;
    }
    const bool ends = options_.deadlock_ends.value_or(checks_calls(options_));
    ends ? fail(hang_code, -1, what) : say(what + "; the job goes on (--on-deadlock)");
  });
}

void job::tell_lines(const std::string& what, const std::string& lines) {
  output_.hurry();
  const std::string text = "sinew run: " + what + ":\n" + terminal_text(lines);
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  report_.tell(text);
}

void job::tell_places(const roll& found) { tell_lines("where the ranks stand", roll_call(found)); }

void job::tell_where_all_stand(telling when) {
  ask([this, when](const roll& found) {
    if (when == telling::always ||
        (when == telling::places ? any_is_known(found) : all_are_in_calls(found))) {
      tell_places(found);
    }
  });
}

void job::on_crash(int rank) {
  crashing_.insert(rank);
  holder_->ask(rank, wanted_of_rank::stacks);
}

void job::on_stacks(int rank, rank_stacks found) {
  if (found.numbers) {
    return counting_.take(rank, std::move(found));
  }
  if (crashing_.erase(rank) != 0) {
    const std::string calls = crash_text(found);
    if (!calls.empty()) {
      tell_lines("the calls of " + name_of(rank) + " as it crashed, innermost first", calls);
    }
    holder_->answer(rank,
                    std::string(calls.empty() ? boot::crash_is_not_told : boot::crash_is_told));
  }
  inquiry_.take(rank, std::move(found));
}

void job::forget_rank(int rank) {
  crashing_.erase(rank);
  inquiry_.leave(rank);
  counting_.leave(rank);
  idle_.erase(rank);
  waits_.leave(rank);
}

// That nobody computes is no proof: ranks may sleep, or read. They are asked.
void job::on_idle(int rank, bool idle) {
  idle ? (void)idle_.insert(rank) : (void)idle_.erase(rank);
  if (static_cast<int>(idle_.size()) == alive_ && !silence_told_ && goes_on()) {
    idle_.clear();  // what comes of it is told once; else they are asked after another such time
    ask([this](const roll& found) { judge_silence(found); });
  }
}

void job::judge_silence(const roll& found) {
  if (!all_wait_for_each_other(found) || worlds_.size() != 1 || !goes_on()) {
    return;
  }
  silence_told_ = true;
  const std::string what = "all ranks wait, and none has done anything for " +
                           std::to_string(std::lround(options_.silence_s)) + " s (--silence)";
  tell_places(found);
  options_.silence_ends ? fail(hang_code, -1, what) : say(what + "; the job goes on");
}

// Without such a socket the job runs all the same.
void job::serve_askers() {
  askers_ = job_socket();
  if (askers_) {
    loop_.watch_input(askers_.get(), [this] {
      boot::descriptor connection = take_asker(askers_.get());
      if (connection) {
        const int number = connection.get();
        connections_[number] = std::move(connection);
        loop_.watch_input(number, [this, number] { answer_asker(number); });
      }
    });
  }
}

std::string job::numbers_text(const roll& found) const {
  std::string text;
  for (const auto& [rank, of] : found) {
    if (of.numbers) {
      text += numbered_rank{rank, host_of(rank), state_of(rank).pid, *of.numbers}.line() + "\n";
    }
  }
  return text;
}

// A question is one line.
void job::answer_asker(int connection) {
  std::array<char, 64> line{};
  const ssize_t count = ::recv(connection, line.data(), line.size() - 1, MSG_DONTWAIT);
  loop_.forget(connection);
  boot::descriptor asker = std::move(connections_[connection]);
  connections_.erase(connection);
  if (count <= 0) {
    return;
  }
  const auto wanted = question_of({line.data(), static_cast<std::size_t>(count)});
  const auto to = std::make_shared<boot::descriptor>(std::move(asker));
  if (wanted == question::numbers) {
    return ask_for_numbers(
        [this, to](const roll& found) { send_answer(to->get(), numbers_text(found)); });
  }
  ask([wanted, to](const roll& found) { send_answer(to->get(), answer_text(found, wanted)); });
}

}  // namespace sinew::tool
