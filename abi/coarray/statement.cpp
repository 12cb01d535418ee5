// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/statement.hpp"

#include <unistd.h>

#include <string>
#include <vector>

#include "abi/coarray/team.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/raw_write.hpp"

namespace sinew::coarray {
namespace {

constexpr std::size_t most_named = 16;

/// "image 2", "images 2, 3 and 5".
std::string named(const std::vector<int>& images) {
  std::string text = images.size() == 1 ? "image " : "images ";
  for (std::size_t i = 0; i < images.size() && i < most_named; ++i) {
    const char* const between = i == 0 ? "" : i + 1 == images.size() ? " and " : ", ";
    text += between + std::to_string(images[i]);
  }
  return images.size() > most_named
             ? text + " and " + std::to_string(images.size() - most_named) + " more"
             : text;
}

std::string named(job_rank rank) { return named(std::vector<int>{this_job.now->image_of(rank)}); }

std::string have_not_come(const pending& p) {
  SINEW_EXPECT(p.in != nullptr);
  std::vector<int> missing;
  for (int m = 0; m < p.in->size(); ++m) {
    if (p.in->near(m) && !p.in->is_here(m, p.number)) {
      missing.push_back(m + 1);
    }
  }
  const char* const where = p.in->over_nodes() ? " of this node" : "";
  if (missing.empty()) {
    return std::string("all images") + where + " have come to it";
  }
  return named(missing) + where + (missing.size() == 1 ? " has" : " have") + " not come to it" +
         (p.in->parent() == nullptr ? "" : " (of team " + std::to_string(p.in->number()) + ")");
}

std::string held_by(const pending& p) {
  SINEW_EXPECT(this_job.locks != nullptr && p.at.offset != 0);
  const job_rank holder = this_job.locks->holder(p.at);
  const char* const unknown = this_job.engine->maps_all()
                                  ? "an image that is just changing"
                                  : "an image that cannot be seen from this node";
  return "element " + std::to_string(p.number + 1) + " of the variable on " + named(p.at.rank) +
         " is locked by " +
         (holder < 0                ? unknown
          : holder == this_job.rank ? "this image"
          : this_job.gone(holder)   ? named(holder) + ", which has stopped or failed"
                                    : named(holder));
}

std::string still_running() {
  std::vector<int> running;
  for (job_rank r = 0; r.below(this_job.size); ++r) {
    if (!this_job.gone(r)) {
      running.push_back(r.value() + 1);
    }
  }
  return named(running) + (running.size() == 1 ? " runs" : " run") + " on";
}

std::string what_for(const pending& p) {
  switch (p.what) {
    case pending::sort::barrier:
      return have_not_come(p);
    case pending::sort::pair:
      return named(p.rank) + " has not come to one with this image";
    case pending::sort::posts:
      return std::to_string(this_job.engine->load<std::uint64_t>(p.at)) + " posts are there, " +
             std::to_string(p.number) + " are wanted";
    case pending::sort::lock:
      return held_by(p);
    case pending::sort::departures:
      return still_running();
    case pending::sort::remote_request:
      return named(p.rank) + " is to reach its component when it next waits or synchronises";
  }
  return "";
}

}  // namespace

void report_statement(void*) {
  const statement* const doing = this_job.doing;
  if (doing == nullptr && this_job.waiting == nullptr && this_job.looks_by == nullptr) {
    return;
  }
  std::string text = "sinew: image " + std::to_string(this_job.now->me() + 1) + " of " +
                     std::to_string(this_job.now->size()) + ": ";
  if (doing != nullptr) {
    text += std::string("in ") + doing->name();
    if (doing->image() != 0) {
      text += ", image " + std::to_string(doing->image());
    }
  } else if (this_job.waiting != nullptr) {
    text += "at its end";
  } else {
    text += std::string("looks again and again by ") + this_job.looks_by;
  }
  if (this_job.waiting != nullptr) {
    text += ": " + what_for(*this_job.waiting);
  }
  base::raw_write(STDERR_FILENO, text + ".\n");
}

}  // namespace sinew::coarray
