// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/match/engine.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "match/engines.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::match {
namespace {

constexpr auto names = [] {
  std::array<std::string_view, std::size(engines)> all;
  std::transform(std::begin(engines), std::end(engines), all.begin(),
                 [](const named_engine& e) { return e.name; });
  return all;
}();

/// The names and the exact engine's, with '|' between and a null at the end. Constant, since
/// settings are made before main() in any order.
constexpr auto choices = [] {
  constexpr std::size_t length = [] {
    std::size_t n = exact_engine.size() + 1;
    for (const std::string_view name : names) {
      n += name.size() + 1;
    }
    return n;
  }();
  std::array<char, length> all{};
  auto* end = all.begin();
  for (const std::string_view name : names) {
    end = std::copy(name.begin(), name.end(), end);
    *end++ = '|';
  }
  std::copy(exact_engine.begin(), exact_engine.end(), end);
  return all;
}();

/// All that some engines have stored, and where it was.
struct contents {
  template <class Entry>
  struct stored {
    Entry* entry;
    engine* in;
  };
  std::vector<stored<receive>> receives;
  std::vector<stored<message>> messages;

  explicit contents(std::span<engine* const> of) {
    std::size_t posted = 0;
    std::size_t unexpected = 0;
    for (const engine* e : of) {
      posted += e->posted();
      unexpected += e->unexpected();
    }
    receives.reserve(posted);
    messages.reserve(unexpected);
    for (engine* e : of) {
      listing to{this, e};
      e->each_receive(
          [](void* l, const receive& r) {
            const auto& [all, in] = *static_cast<listing*>(l);
            all->receives.push_back({const_cast<receive*>(&r), in});
          },
          &to);
      e->each_message(
          [](void* l, const message& m) {
            const auto& [all, in] = *static_cast<listing*>(l);
            all->messages.push_back({const_cast<message*>(&m), in});
          },
          &to);
    }
    if (of.size() > 1) {
      std::sort(messages.begin(), messages.end(),
                [](const auto& a, const auto& b) { return a.entry->arrival < b.entry->arrival; });
    }
  }

  // The earliest with its envelope is the one that is next in this order; and nothing here fits
  // anything else here, or it would have been matched: so whatever is put in is stored.

  void remove_all() const {
    for (const auto& [r, in] : receives) {
      [[maybe_unused]] const bool removed = in->cancel(*r);
      SINEW_ASSERT(removed);
    }
    for (const auto& [m, in] : messages) {
      [[maybe_unused]] const message* const taken = in->take(m->sent);
      SINEW_ASSERT(taken == m);
    }
  }
  void put_back() const {
    for (const auto& [r, in] : receives) {
      [[maybe_unused]] const message* const partner = in->post(*r);
      SINEW_ASSERT(partner == nullptr);
    }
    for (const auto& [m, in] : messages) {
      [[maybe_unused]] const receive* const partner = in->arrive(*m);
      SINEW_ASSERT(partner == nullptr);
    }
  }
  /// Stores all in the engines that to(envelope) says; or throws, with nothing stored there.
  template <class To>
  void put(To&& to) const {
    std::size_t done_receives = 0;
    std::size_t done_messages = 0;
    try {
      for (; done_receives < receives.size(); ++done_receives) {
        receive& r = *receives[done_receives].entry;
        [[maybe_unused]] const message* const partner = to(r.wanted).post(r);
        SINEW_ASSERT(partner == nullptr);
      }
      for (; done_messages < messages.size(); ++done_messages) {
        message& m = *messages[done_messages].entry;
        [[maybe_unused]] const receive* const partner = to(m.sent).arrive(m);
        SINEW_ASSERT(partner == nullptr);
      }
    } catch (...) {
      for (std::size_t i = 0; i < done_receives; ++i) {
        receive& r = *receives[i].entry;
        (void)to(r.wanted).cancel(r);
      }
      for (std::size_t i = 0; i < done_messages; ++i) {
        const envelope& sent = messages[i].entry->sent;
        (void)to(sent).take(sent);
      }
      throw;
    }
  }

 private:
  struct listing {
    contents* all;
    engine* in;
  };
};

}  // namespace

std::span<const std::string_view> engine_names() noexcept { return names; }

const char* engine_choices() noexcept { return choices.data(); }

std::unique_ptr<engine> make_engine(std::string_view name) {
  for (const named_engine& e : engines) {
    if (e.name == name) {
      return e.make();
    }
  }
  if (name == exact_engine) {
    return make_exact();
  }
  std::string known;
  for (const std::string_view n : names) {
    known += (known.empty() ? "" : ", ") + std::string(n);
  }
  throw error("there is no matching engine \"" + std::string(name) + "\"",
              "the name is not one of those built in",
              "use one of: " + known + ", or " + std::string(exact_engine));
}

void move_entries(engine& from, engine& to) {
  engine* const one[] = {&from};
  engine* const other[] = {&to};
  move_entries(one, other, [](const envelope&) noexcept -> std::size_t { return 0; });
}

void move_entries(std::span<engine* const> from, std::span<engine* const> to,
                  std::size_t (*place)(const envelope&) noexcept) {
  SINEW_EXPECT(!from.empty() && !to.empty());
  const contents all(from);
  all.remove_all();
  SINEW_ASSERT(std::all_of(from.begin(), from.end(), [](const engine* e) {
    return e->posted() == 0 && e->unexpected() == 0;
  }));
  try {
    all.put([&](const envelope& e) -> engine& { return *to[place(e)]; });
  } catch (...) {
    all.put_back();  // cannot fail: they had a place there before
    throw;
  }
}

}  // namespace sinew::match
