// Which events never trigger, and who waits for them. A rank whose wait has lasted for
// SINEW_CORE_HANG_TIMEOUT prints what it knows, and asks the owners of the events that it waits for
// to explain these, who do the same: so the chain ends at the rank that has not done its part.
#include <algorithm>
#include <string>

#include "event/body.hpp"
#include "sinew/base/log.hpp"

namespace sinew::event {
namespace {

constexpr int most_listed = 32;
constexpr int deepest = 8;

bool holds(const chunk& c, std::uint32_t item) {
  const std::uint32_t* const items = c.items;
  return std::find(items, items + c.count, item) != items + c.count;
}

}  // namespace

std::string system::body::describe(event e) {
  std::string text = "event " + std::to_string(e.index()) + "." + std::to_string(e.generation()) +
                     " of rank " + std::to_string(e.owner());
  const auto named = names.find(e);
  if (named != names.end()) {
    text.append(" \"").append(named->second).append("\"");
  }
  return text;
}

/// What slot i waits for, one line each, indented; events of other ranks are gathered.
void system::body::explain(std::uint32_t i, int depth, std::string& text,
                           std::vector<event>& elsewhere) {
  const std::string line = '\n' + std::string(static_cast<std::size_t>(2 + 2 * depth), ' ');
  const slot& s = at(i);
  if ((s.link & alias) != 0) {
    return;  // told by whoever lists it
  }
  if ((s.link & armed) == 0) {
    text += line + describe(handle_of(i)) + ": nobody has triggered it";
    return;
  }
  text += line + describe(handle_of(i)) + ": waits for " + std::to_string(s.remaining) +
          (s.remaining == 1 ? " event" : " events");
  int listed = 0;
  for (std::uint32_t input = 1; input <= used && depth < deepest && listed < most_listed; ++input) {
    bool feeds = at(input).first == i;
    for (std::uint32_t c = at(input).more; c != 0 && !feeds; c = chunks[c].next) {
      feeds = holds(chunks[c], i);
    }
    if (feeds && (at(input).link & alias) == 0) {
      explain(input, depth + 1, text, elsewhere);
      ++listed;
    }
  }
}

std::string system::body::report(bool ask_others) {
  std::string text = "rank " + std::to_string(self.rank_) + ": " + std::to_string(in_use) +
                     " events have not triggered";
  std::vector<event> elsewhere;
  int listed = 0;
  for (std::uint32_t i = 1; i <= used && listed < most_listed; ++i) {
    const slot& s = at(i);
    const bool waited_for = s.waiters != nullptr || s.first != 0 || s.ranks != 0;
    if ((s.link & alias) == 0 && waited_for && (s.link & (armed | failed)) == 0 &&
        s.generation.load(std::memory_order_relaxed) <= last_generation) {
      explain(i, 0, text, elsewhere);
      text += s.ranks == 0 ? "; waited for here" : "; waited for by other ranks";
      ++listed;
    } else if ((s.link & alias) == 0 && s.waiters != nullptr) {
      explain(i, 0, text, elsewhere);
      ++listed;
    }
  }
  for (std::size_t owner = 0; owner < peers.size(); ++owner) {
    for (std::size_t page = 0; page < peers[owner].pages.size(); ++page) {
      const proxy* const all = peers[owner].pages[page].get();
      for (std::uint32_t n = 0; all != nullptr && n < proxies_per_page; ++n) {
        for (std::uint32_t i = all[n].alias; i != 0; i = at(i).ranks) {
          elsewhere.emplace_back(static_cast<int>(owner),
                                 static_cast<std::uint32_t>(page) * proxies_per_page + n,
                                 at(i).remaining);
        }
      }
    }
  }
  for (std::size_t n = 0; n < elsewhere.size() && n < most_listed; ++n) {
    text += "\n  " + describe(elsewhere[n]) + ": awaited here, its owner has not told";
    if (ask_others) {
      out.send(elsewhere[n].owner(), topic::hang, 0, elsewhere[n].bits(), nullptr, 0);
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
      "rank " + std::to_string(b.self.rank_) + ", asked by rank " + std::to_string(m.source) + ":";
  const found f = b.find(e);
  std::vector<event> elsewhere;
  if (f.known == state::pending) {
    b.explain(f.slot, 0, text, elsewhere);
  } else {
    text += b.describe(e);
    text += ": has triggered";
  }
  log_line(log_level::error, text);
}

void system::body::print_report(void* context) {
  auto& b = *static_cast<body*>(context);
  const section s(b);
  bool told = b.in_use != 0;
  for (const auto& [lines, of] : b.reporters) {
    told = told || !lines(of, false).empty();
  }
  if (told) {
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
