// SPDX-License-Identifier: BSD-3-Clause
// Runs two engines side by side on the same steps and compares every answer. What fails is shrunk:
// steps are left out, then numbers made small, as long as the two still disagree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sinew/match/engine.hpp"

namespace sinew::match::test {

struct step {
  enum what : std::uint8_t { post, arrive, peek, take, cancel };
  what kind;
  envelope e;        ///< not of cancel
  std::uint32_t id;  ///< the place of its entry; of cancel: the post that is meant
};

using maker = std::function<std::unique_ptr<engine>()>;

/// One sequence applied to two fresh engines.
class side_by_side {
 public:
  static constexpr std::uint32_t most_steps = 25000;

  side_by_side(const maker& reference, const maker& subject);
  /// False if the engines' answers or sizes differ.
  [[nodiscard]] bool apply(const step& s);
  /// Whether they hold the same entries in the same order.
  [[nodiscard]] bool same_contents() const;

  [[nodiscard]] std::size_t posted() const { return engines_[0]->posted(); }
  [[nodiscard]] std::size_t unexpected() const { return engines_[0]->unexpected(); }
  /// Ids of the posts that are stored, in no order.
  [[nodiscard]] const std::vector<std::uint32_t>& live() const { return live_; }

 private:
  [[nodiscard]] std::int64_t answer(int side, const step& s);
  void gone(std::uint32_t id);

  std::unique_ptr<engine> engines_[2];
  std::vector<std::uint32_t> live_;
  std::vector<std::uint32_t> where_;  ///< of an id in live_, plus 1; 0: never posted
};

/// What traffic looks like: numbers to draw from, how often wildcards, how deep.
struct traffic {
  std::string name;
  std::vector<comm_rank> sources;
  std::vector<message_tag> tags;
  int wildcard_percent;  ///< of receives and probes, for source and for tag each
  std::size_t depth;     ///< what is stored swings between 0 and about this
  bool exact = false;    ///< no wildcard at all, not even to empty an engine
};

/// Draws steps; all it does follows from the seed and the sizes it is told.
class generator {
 public:
  generator(const traffic& kind, std::uint64_t seed) : kind_(kind), random_(seed) {}
  [[nodiscard]] step next(const side_by_side& now, std::uint32_t id);

 private:
  [[nodiscard]] std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  [[nodiscard]] bool percent(int p) { return below(100) < static_cast<std::size_t>(p); }
  [[nodiscard]] envelope sent();
  [[nodiscard]] envelope wanted();

  const traffic& kind_;
  std::mt19937_64 random_;
  std::size_t goal_ = 0;
  bool grow_receives_ = true;
  bool wild_period_ = true;
  bool draining_ = false;
};

namespace detail {

/// The entries of both sides, one place per step. Never cleared: an engine must not mind what the
/// links held before.
struct arena {
  std::vector<receive> receives;
  std::vector<message> messages;
  arena() : receives(side_by_side::most_steps), messages(side_by_side::most_steps) {
    for (receive& r : receives) {
      std::memset(&r.link, 0xA5, sizeof r.link);
    }
    for (message& m : messages) {
      std::memset(&m.link, 0xA5, sizeof m.link);
    }
  }
};

inline arena& entries(int side) {
  static arena both[2];
  return both[side];
}

template <class Entry>
std::int64_t place(const std::vector<Entry>& in, const Entry* e) {
  return e == nullptr ? -1 : e - in.data();
}

}  // namespace detail

inline side_by_side::side_by_side(const maker& reference, const maker& subject)
    : engines_{reference(), subject()}, where_(most_steps) {}

inline std::int64_t side_by_side::answer(int side, const step& s) {
  engine& e = *engines_[side];
  detail::arena& in = detail::entries(side);
  switch (s.kind) {
    case step::post:
      in.receives[s.id].wanted = s.e;
      return detail::place(in.messages, e.post(in.receives[s.id]));
    case step::arrive:
      in.messages[s.id].sent = s.e;
      return detail::place(in.receives, e.arrive(in.messages[s.id]));
    case step::peek:
      return detail::place(in.messages, e.peek(s.e));
    case step::take:
      return detail::place(in.messages, e.take(s.e));
    case step::cancel:
      return e.cancel(in.receives[s.id]) ? 1 : 0;
  }
  return -2;
}

inline void side_by_side::gone(std::uint32_t id) {
  const std::uint32_t at = where_[id] - 1;
  where_[live_.back()] = at + 1;
  live_[at] = live_.back();
  live_.pop_back();
}

inline bool side_by_side::apply(const step& s) {
  if (s.kind == step::cancel && where_[s.id] == 0) {
    return true;  // its post has been left out
  }
  const std::int64_t expected = answer(0, s);
  if (answer(1, s) != expected) {
    return false;
  }
  if (s.kind == step::post && expected < 0) {
    live_.push_back(s.id);
    where_[s.id] = static_cast<std::uint32_t>(live_.size());
  } else if (s.kind == step::arrive && expected >= 0) {
    gone(static_cast<std::uint32_t>(expected));
  } else if (s.kind == step::cancel && expected == 1) {
    gone(s.id);
  }
  return engines_[0]->posted() == engines_[1]->posted() &&
         engines_[0]->unexpected() == engines_[1]->unexpected();
}

inline bool side_by_side::same_contents() const {
  struct listing {
    detail::arena& in;
    std::vector<std::int64_t> seen;
  };
  std::vector<std::int64_t> seen[2];
  for (int side : {0, 1}) {
    listing all{detail::entries(side), {}};
    engines_[side]->each_receive(
        [](void* to, const receive& r) {
          auto& l = *static_cast<listing*>(to);
          l.seen.push_back(detail::place(l.in.receives, &r));
        },
        &all);
    all.seen.push_back(-1);
    engines_[side]->each_message(
        [](void* to, const message& m) {
          auto& l = *static_cast<listing*>(to);
          l.seen.push_back(detail::place(l.in.messages, &m));
        },
        &all);
    seen[side] = std::move(all.seen);
  }
  return seen[0] == seen[1];
}

inline envelope generator::sent() {
  return {kind_.sources[below(kind_.sources.size())], kind_.tags[below(kind_.tags.size())]};
}

inline envelope generator::wanted() {
  envelope e = sent();
  if (wild_period_ && percent(kind_.wildcard_percent)) {
    e.source = any_source;
  }
  if (wild_period_ && percent(kind_.wildcard_percent)) {
    e.tag = any_tag;
  }
  return e;
}

// Swings: towards a random number stored, on the receive or the message side, now and then empty.
inline step generator::next(const side_by_side& now, std::uint32_t id) {
  const auto cancel_one = [&] {
    return step{step::cancel, {}, now.live()[below(now.live().size())]};
  };
  if (draining_) {
    if (now.unexpected() != 0) {
      return {step::take, kind_.exact ? sent() : envelope{any_source, any_tag}, id};
    }
    if (now.posted() != 0) {
      return cancel_one();
    }
    draining_ = false;
  }
  if (below(400) == 0) {
    goal_ = below(3) == 0 ? 0 : below(kind_.depth + 1);
    grow_receives_ = below(2) == 0;
    wild_period_ = below(4) != 0;
  }
  const bool up = (grow_receives_ ? now.posted() : now.unexpected()) < goal_;
  draining_ = goal_ == 0 && below(100) == 0;
  const bool receive_side = percent(grow_receives_ == up ? 70 : 30);
  const std::size_t what = below(100);
  if (what < 5) {
    return {step::peek, wanted(), id};
  }
  if (what < 10 && (grow_receives_ || !up)) {
    return {step::take, wanted(), id};
  }
  if (what < 14 && (!grow_receives_ || !up) && now.posted() != 0) {
    return cancel_one();
  }
  // Of any earlier step: if it was a post, it has perhaps been matched or cancelled long ago.
  if (what < 15 && id != 0) {
    return {step::cancel, {}, static_cast<std::uint32_t>(below(id))};
  }
  return receive_side ? step{step::post, wanted(), id} : step{step::arrive, sent(), id};
}

/// Runs sequences until so many steps are done or the engines disagree; returns the steps up to the
/// disagreement, or none.
[[nodiscard]] inline std::vector<step> find_difference(const maker& reference, const maker& subject,
                                                       const traffic& kind, std::uint64_t seed,
                                                       std::size_t steps) {
  constexpr std::uint32_t look_inside = 501;
  std::mt19937_64 seeds(seed);
  for (std::size_t done = 0; done < steps;) {
    side_by_side both(reference, subject);
    generator draw(kind, seeds());
    std::vector<step> taken;
    for (std::uint32_t id = 0; id < side_by_side::most_steps && done < steps; ++id, ++done) {
      taken.push_back(draw.next(both, id));
      if (!both.apply(taken.back())) {
        return taken;
      }
      if (id % look_inside == 0 && !both.same_contents()) {
        return taken;
      }
    }
  }
  return {};
}

namespace detail {

inline bool differs(const maker& reference, const maker& subject, const std::vector<step>& steps) {
  side_by_side both(reference, subject);
  for (const step& s : steps) {
    if (!both.apply(s)) {
      return true;
    }
  }
  return !both.same_contents();
}

/// Leaves out runs of steps, long ones first, until not a single one can go.
template <class Differs>
void leave_out(std::vector<step>& steps, const Differs& still) {
  for (std::size_t run = std::max<std::size_t>(steps.size() / 2, 1);;) {
    bool any = false;
    for (std::size_t at = 0; at < steps.size();) {
      std::vector<step> fewer(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(at));
      const std::size_t after = std::min(at + run, steps.size());
      fewer.insert(fewer.end(), steps.begin() + static_cast<std::ptrdiff_t>(after), steps.end());
      if (still(fewer)) {
        steps = std::move(fewer);
        any = true;
      } else {
        at += run;
      }
    }
    if (run == 1 && !any) {
      return;
    }
    run = std::max<std::size_t>(run / 2, 1);
  }
}

/// Leaves out two at a time: a message and the receive it met can go only together.
template <class Differs>
void leave_out_pairs(std::vector<step>& steps, const Differs& still) {
  constexpr std::size_t affordable = 100;
  for (std::size_t b = 1; b < steps.size() && steps.size() <= affordable; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      std::vector<step> fewer = steps;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(b));
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(a));
      if (!still(fewer)) {
        continue;
      }
      steps = std::move(fewer);
      b = 0;
      break;
    }
  }
}

/// Makes all uses of one number 0 or 1, where that is enough.
template <class Number, class Differs>
void small_numbers(std::vector<step>& steps, Number envelope::* part, const Differs& still) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Number old = steps[i].e.*part;
    for (Number small = 0; small < Number(2) && old > small; ++small) {
      std::vector<step> simpler = steps;
      for (step& s : simpler) {
        if (s.e.*part == old) {
          s.e.*part = small;
        }
      }
      if (!still(simpler)) {
        continue;
      }
      steps = std::move(simpler);
      break;
    }
  }
}

}  // namespace detail

/// Fewer and simpler steps on which they still disagree.
[[nodiscard]] inline std::vector<step> shrink(const maker& reference, const maker& subject,
                                              std::vector<step> failing) {
  const auto still = [&](const std::vector<step>& s) {
    return detail::differs(reference, subject, s);
  };
  if (!still(failing)) {
    return failing;  // it does not repeat: show all of it
  }
  detail::leave_out(failing, still);
  detail::small_numbers(failing, &envelope::source, still);
  detail::small_numbers(failing, &envelope::tag, still);
  detail::leave_out(failing, still);
  detail::leave_out_pairs(failing, still);
  return failing;
}

inline std::string to_text(const std::vector<step>& steps) {
  static constexpr const char* names[] = {"post", "arrive", "peek", "take", "cancel"};
  const auto number = [](auto n, decltype(n) any) {
    return n == any ? std::string("any") : to_string(n);
  };
  std::string text;
  for (const step& s : steps) {
    text += '#' + std::to_string(s.id) + ' ' + names[s.kind];
    if (s.kind != step::cancel) {
      text += " source " + number(s.e.source, any_source) + " tag " + number(s.e.tag, any_tag);
    }
    text += '\n';
  }
  return text;
}

}  // namespace sinew::match::test
