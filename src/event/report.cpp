// SPDX-License-Identifier: BSD-3-Clause
// Which events never trigger, and what waits for them. A rank whose wait has lasted for
// SINEW_CORE_HANG_TIMEOUT prints what it knows, and asks the owners of the events that it waits for
// to print what these wait for; and so on, up to the rank that has not triggered its own.
#include <algorithm>
#include <string>

#include "event/body.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/log.hpp"

namespace sinew::event {
namespace {

constexpr int most_listed = 32;
constexpr int deepest = 8;

}  // namespace

std::string system::body::describe(event e) const {
  std::string text = "event " + std::to_string(e.index()) + "." + std::to_string(e.generation()) +
                     " of rank " + to_string(e.owner());
  const auto named = names.find(e);
  if (named != names.end()) {
    text.append(" \"").append(named->second).append("\"");
  }
  return text;
}

/// What slot i, no alias, waits for, one line each, indented. Aliases are listed by their events.
void system::body::explain(std::uint32_t i, int depth, std::string& text) const {
  SINEW_EXPECT(i != 0 && depth <= deepest);
  const std::string line = '\n' + std::string(static_cast<std::size_t>(2 + 2 * depth), ' ');
  const graph::description s = events.describe(i);
  if (s.alias) {
    return;
  }
  if (s.awaits_program) {
    text += line + describe(s.handle) + ": nobody has triggered it";
    return;
  }
  text += line + describe(s.handle) + ": waits for " + std::to_string(s.inputs) +
          (s.inputs == 1 ? " event" : " events");
  int listed = 0;
  for (std::uint32_t input = 1; input <= events.used() && depth < deepest && listed < most_listed;
       ++input) {
    if (events.feeds(input, i) && !events.describe(input).alias) {
      explain(input, depth + 1, text);
      ++listed;
    }
  }
}

std::string system::body::report(bool ask_others) {
  std::string text = "rank " + to_string(self.rank_) + ": " + std::to_string(events.pending()) +
                     " events have not triggered";
  int listed = 0;
  for (std::uint32_t i = 1; i <= events.used() && listed < most_listed; ++i) {
    const graph::description s = events.describe(i);
    if (s.alias) {
      continue;
    }
    const bool waited_for = s.has_waiters || s.has_dependents || s.has_subscribers;
    if (s.pending && s.awaits_program && waited_for) {
      explain(i, 0, text);
      text += s.has_subscribers ? "; waited for by other ranks" : "; waited for here";
      ++listed;
    } else if (s.has_waiters) {
      explain(i, 0, text);
      ++listed;
    }
  }
  std::vector<event> elsewhere;
  peers.each_awaited([&](event e) { elsewhere.push_back(e); });
  for (std::size_t n = 0; n < elsewhere.size() && n < most_listed; ++n) {
    text += "\n  " + describe(elsewhere[n]) + ": awaited here, its owner has not answered";
    if (ask_others) {
      messages.send(elsewhere[n].owner(), topic::hang, 0, elsewhere[n].bits(), nullptr, 0);
    }
  }
  if (elsewhere.size() > most_listed) {
    text += "\n  and " + std::to_string(elsewhere.size() - most_listed) + " more of other ranks";
  }
  for (const auto& [lines, context] : reporters) {
    text += lines(context, ask_others);
  }
  return text;
}

void system::body::on_hang_message(void* context, const message& m) {
  auto& b = *static_cast<body*>(context);
  const section s(b);
  const event e = event::from_bits(m.word);
  std::string text =
      "rank " + to_string(b.self.rank_) + ", asked by rank " + to_string(m.source) + ":";
  const graph::place f = b.find(e);
  if (f.known == state::pending) {
    b.explain(f.slot, 0, text);
  } else {
    text += b.describe(e);
    text += ": has triggered";
  }
  log_line(log_level::error, text);
}

void system::body::print_report(void* context) {
  auto& b = *static_cast<body*>(context);
  const section s(b);
  bool any = b.events.pending() != 0;
  for (const auto& [lines, of] : b.reporters) {
    any = any || !lines(of, false).empty();
  }
  if (any) {
    log_line(log_level::error, b.report(true));
  }
}

void system::name(event e, std::string_view word) {
  const section s(*body_);
  if (e.exists() && (e.owner() != rank_ || body_->find(e).known == state::pending)) {
    body_->names[e] = word;
  }
}

std::string system::report() {
  const section s(*body_);
  return body_->report(false);
}

void system::add_report(std::string (*lines)(void*, bool), void* context) {
  std::erase_if(body_->reporters, [context](const auto& r) { return r.second == context; });
  if (lines != nullptr) {
    body_->reporters.emplace_back(lines, context);
  }
}

}  // namespace sinew::event
