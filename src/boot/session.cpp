// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/session.hpp"

#include <algorithm>
#include <new>

#include "boot/environment.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"
#include "sinew/boot/pulse.hpp"
#include "sinew/boot/spawn.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::boot {
namespace {

[[noreturn]] void no_names(const std::string& launcher) {
  throw error("names cannot be published or looked up",
              "the launcher (" + launcher + ") keeps none", "start the job with `sinew run`");
}

}  // namespace

std::vector<job_rank> place::members() const {
  if (spawned()) {
    return spawning.fellows;
  }
  return all_ranks(size);
}

bool place::is_near(job_rank other) const noexcept {
  return spawning.count != 0 ? other.below(spawning.count)
                             : std::binary_search(local_ranks.begin(), local_ranks.end(), other);
}

void session::remark(const std::string& text) {
  if (!log_enabled(log_level::warn)) {
    return;
  }
  const std::lock_guard held(remarking_);
  if (remarks_.insert(text).second) {
    tell_remark(text);
  }
}

void session::tell_remark(const std::string& text) {
  if (where().rank == 0) {
    log_line(log_level::warn, text);
  }
}

spawn_answer session::spawn(const spawn_request&) {
  const bool ours = where().launcher == "sinew";
  throw error("no further ranks can be started",
              where().launcher == "alone" ? "this process was not started by a launcher"
              : ours ? "SINEW_BOOT_SPAWN is 0, or memory that ranks share is reserved in full here"
                     : "the job's launcher (" + where().launcher + ") is not asked for that",
              ours ? "start the job without SINEW_BOOT_SPAWN=0"
                   : "start the job by `sinew run`, `sinew run -n 1 PROGRAM` for one process");
}

bool session::asks_for_waits() const noexcept { return pulse_is_shared(); }

int session::take_question() noexcept {
  const int asked = own_pulse.question.load(std::memory_order_relaxed);
  return asked != own_pulse.answered.load(std::memory_order_relaxed) ? asked : 0;
}

void session::tell_wait(const wait_report& report) noexcept {
  if (report.turn == 0) {
    return;  // nobody has asked
  }
  try {
    const std::string line = to_line(report);
    if (line.size() < own_pulse.answer.size()) {
      std::copy_n(line.c_str(), line.size() + 1, own_pulse.answer.begin());
      own_pulse.answered.store(report.turn, std::memory_order_release);
    }
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is not told
  }
}

bool session::publish(const std::string&, const std::string&) { no_names(where().launcher); }
std::optional<std::string> session::lookup(const std::string&) { no_names(where().launcher); }
bool session::unpublish(const std::string&) { no_names(where().launcher); }

}  // namespace sinew::boot
