// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/simulate/coverage.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace sinew::tool {

bool trial::may_kill() const { return std::any_of(faults.begin(), faults.end(), sim::may_kill); }

std::string trial::text() const {
  return "seed " + std::to_string(seed) + (matches.empty() ? "" : ", match " + to_text(matches));
}

std::string trial::options() const {
  std::string text = "--seed " + std::to_string(seed);
  for (const sim::fault& each : faults) {
    text += " --fault " + to_text(each);
  }
  return text + (matches.empty() ? "" : " --match " + to_text(matches));
}

void write_facts(int file, const run_facts& facts) {
  std::string text = "run " + std::to_string(facts.virtual_ns) + " " + std::to_string(facts.ranks) +
                     " " + (facts.stuck ? "1" : "0") + (facts.cut_off ? " 1" : " 0") + "\n";
  for (const auto& [one, other] : facts.links) {
    text += "link " + std::to_string(one) + " " + std::to_string(other) + "\n";
  }
  (void)!::write(file, text.data(), text.size());
}

run_facts facts_in(const std::string& text) {
  run_facts result;
  std::istringstream lines(text);
  std::string what;
  while (lines >> what) {
    std::string match;
    if (what == "run") {
      lines >> result.virtual_ns >> result.ranks >> result.stuck >> result.cut_off;
    } else if (what == "link") {
      auto& [one, other] = result.links.emplace_back();
      lines >> one >> other;
    } else if (lines >> match) {
      what == "met" ? void(result.met.insert(p2p::parse_match(match)))
                    : result.could_be_met.push_back(p2p::parse_match(match));
    }
  }
  return result;
}

bool lacks_a_match(const trial& of, const run_facts& facts) {
  return std::any_of(of.matches.begin(), of.matches.end(),
                     [&](const p2p::source_match& each) { return !facts.met.contains(each); });
}

void wildcard_coverage::add(const trial& of, const run_facts& facts) {
  if (known_.empty()) {
    first_met_ = facts.met.size();
  }
  if (!of.matches.empty() && !facts.met.contains(of.matches.back())) {
    impossible_.insert(of.matches.back());
  }
  met_.insert(facts.met.begin(), facts.met.end());
  known_.insert(facts.met.begin(), facts.met.end());
  for (const p2p::source_match& each : facts.could_be_met) {
    if (!known_.insert(each).second) {
      continue;
    }
    trial next = of;
    // What its rank chooses later may not be there any more.
    std::erase_if(next.matches, [&](const p2p::source_match& m) {
      return m.rank == each.rank && m.number >= each.number;
    });
    next.matches.push_back(each);
    left_.push_back(std::move(next));
  }
}

std::optional<trial> wildcard_coverage::next() {
  while (!left_.empty()) {
    trial first = std::move(left_.front());
    left_.pop_front();
    if (!met_.contains(first.matches.back())) {
      return first;
    }
  }
  return std::nullopt;
}

std::string wildcard_coverage::text() const {
  const auto in_vain = static_cast<std::size_t>(
      std::count_if(impossible_.begin(), impossible_.end(),
                    [this](const p2p::source_match& each) { return !met_.contains(each); }));
  if (known_.empty()) {
    return "";
  }
  const std::size_t possible = known_.size() - in_vain;
  return "wildcard receives: " + std::to_string(met_.size()) + " of " + std::to_string(possible) +
         " matches seen" +
         (in_vain != 0 ? ", " + std::to_string(in_vain) + " more " +
                             (in_vain == 1 ? "has" : "have") + " turned out impossible"
                       : "") +
         (met_.size() < possible ? "; --runs was too few for the rest" : "") + "\n";
}

}  // namespace sinew::tool
