// SPDX-License-Identifier: BSD-3-Clause
// Programs of all ranks at once, drawn from a seed, and what each of their reads must see.
// Operations that touch the same elements follow each other by events, unless they commute.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "sinew/base/random.hpp"
#include "sinew/region/reductions.hpp"

namespace sinew::region::random_program {

using values = std::vector<std::int64_t>;
using addition = sum<std::int64_t>;

enum class action : std::uint8_t {
  make,
  destroy,
  fill,
  copy,
  gather,
  scatter,
  reduce,
  list,
  fold,
  adaptive,
  single,
  locked,
  read
};

/// Equal steps along both axes.
struct rectangle {
  slice row;
  slice column;
  [[nodiscard]] section where() const { return {row, column}; }
};

struct operation {
  action what{};
  int issuer = 0;
  int gated_by = -1;  ///< this rank triggers an event that it waits for as well
  bool gate_fails = false;
  bool fails = false;   ///< so its event is poisoned, and nothing is done
  std::set<int> after;  ///< operations; those in `spared` by settled()
  std::set<int> spared;
  std::size_t from = 0;  ///< instances
  std::size_t to = 0;
  int from_field = 0;
  int to_field = 0;
  rectangle source;
  rectangle target;
  std::int64_t value = 0;
  bool atomic = false;
  std::vector<std::pair<std::uint64_t, std::int64_t>> contributions;
  values expected;  ///< of a read
};

/// How operations on one element go together: those of one kind commute, but for writes.
enum class touch : std::uint8_t { write, read, add, locked };

struct element {
  std::int64_t value = 0;
  touch how = touch::write;
  std::vector<int> now;     ///< commute with each other
  std::vector<int> before;  ///< what all of them come after
};

struct modelled {
  memory where;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  int image = 0;  ///< of symmetric memory: whose
  layout_options how;
  std::vector<element> fields[2];
  bool alive = true;
  std::set<int> failures;  ///< operations on it: they leave no trace in its elements
};

inline constexpr std::uint64_t listed = 64;  ///< indices: a permutation of so many

struct program {
  std::vector<operation> all;
  std::vector<modelled> instances;
  values indices;
};

class author {
 public:
  author(std::uint64_t seed, int ranks) : random_(seed), ranks_(ranks) {}

  program write(int operations) {
    for (std::uint64_t i = 0; i < listed; ++i) {
      p_.indices.push_back(static_cast<std::int64_t>(i));
    }
    for (std::uint64_t i = listed; i-- > 1;) {
      std::swap(p_.indices[i], p_.indices[random_.below(i + 1)]);
    }
    for (int i = 0; i < 4; ++i) {
      make();
    }
    while (p_.all.size() < static_cast<std::size_t>(operations)) {
      step();
    }
    for (std::size_t i = 0; i < p_.instances.size(); ++i) {
      if (!p_.instances[i].alive) {
        continue;
      }
      for (int f = 0; f < 2; ++f) {
        read(i, f, whole(i));
      }
      destroy(i);
    }
    return std::move(p_);
  }

 private:
  int rank() { return static_cast<int>(random_.below(static_cast<std::uint64_t>(ranks_))); }
  std::size_t any() {
    for (;;) {
      const std::size_t i = random_.below(p_.instances.size());
      if (p_.instances[i].alive) {
        return i;
      }
    }
  }
  int field() { return static_cast<int>(random_.below(2)); }

  slice along(std::uint64_t extent, std::uint64_t count) {
    const auto n = static_cast<std::int64_t>(extent);
    const auto most = count > 1 ? (n - 1) / (static_cast<std::int64_t>(count) - 1) : 1;
    const std::int64_t step =
        random_.with_probability(0.6) ? 1 : random_.between(1, std::min<std::int64_t>(most, 3));
    const std::int64_t length = (static_cast<std::int64_t>(count) - 1) * step;
    const std::int64_t first = random_.between(0, n - 1 - length);
    return random_.with_probability(0.8) ? slice{first, count, step}
                                         : slice{first + length, count, -step};
  }
  rectangle draw(std::size_t i, std::uint64_t rows, std::uint64_t columns) {
    return {along(p_.instances[i].rows, rows), along(p_.instances[i].columns, columns)};
  }
  rectangle whole(std::size_t i) {
    return {{0, p_.instances[i].rows, 1}, {0, p_.instances[i].columns, 1}};
  }
  static std::vector<std::size_t> numbers(const modelled& m, const rectangle& r) {
    std::vector<std::size_t> all;
    for (std::uint64_t i = 0; i < r.row.count; ++i) {
      const std::int64_t row = r.row.start + static_cast<std::int64_t>(i) * r.row.step;
      for (std::uint64_t j = 0; j < r.column.count; ++j) {
        const std::int64_t column = r.column.start + static_cast<std::int64_t>(j) * r.column.step;
        all.push_back(
            static_cast<std::size_t>(row * static_cast<std::int64_t>(m.columns) + column));
      }
    }
    return all;
  }

  /// Decides what it comes after and whether it fails, then what it does to the elements.
  struct touched {
    std::size_t what;
    int field;
    std::vector<std::size_t> elements;
    touch how;
  };
  bool enter(operation o, const std::vector<touched>& all) {
    const int me = static_cast<int>(p_.all.size());
    o.issuer = rank();
    const int other = rank();
    // Who hands over single reductions waits for what comes before.
    if (random_.with_probability(0.3) && (o.what != action::single || other != o.issuer)) {
      o.gated_by = other;
      o.gate_fails =
          random_.with_probability(0.15) && o.what != action::make && o.what != action::destroy;
      o.fails = o.gate_fails;
    }
    int cause = -1;
    if (!failed_.empty() && random_.with_probability(0.2)) {
      const int bad = failed_[random_.below(failed_.size())];
      o.after.insert(bad);
      if (random_.with_probability(0.2) && o.what != action::make && o.what != action::destroy) {
        cause = bad;
        o.fails = true;
      }
    }
    for (const touched& t : all) {
      if (o.what == action::destroy) {
        const auto& bad = p_.instances[t.what].failures;
        o.after.insert(bad.begin(), bad.end());
      }
      if (o.fails) {
        p_.instances[t.what].failures.insert(me);
      }
      for (const std::size_t at : t.elements) {
        element& e = p_.instances[t.what].fields[t.field][at];
        const bool joins = t.how == e.how && t.how != touch::write && !e.now.empty();
        const std::vector<int>& before = joins ? e.before : e.now;
        o.after.insert(before.begin(), before.end());
        if (o.fails) {
          continue;  // touches nothing, and may end before those it comes after
        }
        if (!joins) {
          e.before = std::move(e.now);
          e.now.clear();
          e.how = t.how;
        }
        if (e.now.empty() || e.now.back() != me) {
          e.now.push_back(me);
        }
      }
    }
    o.after.erase(me);
    for (const int a : o.after) {
      const bool failed = p_.all[static_cast<std::size_t>(a)].fails;
      if (a != cause && (random_.with_probability(0.3) || (failed && !o.fails))) {
        o.spared.insert(a);
      }
    }
    if (o.fails) {
      failed_.push_back(me);
    }
    p_.all.push_back(std::move(o));
    return !p_.all.back().fails;
  }
  std::vector<std::size_t> everything(std::size_t i) { return numbers(p_.instances[i], whole(i)); }

  void make() {
    modelled m;
    m.rows = static_cast<std::uint64_t>(random_.between(8, 40));
    m.columns =
        static_cast<std::uint64_t>(random_.between(8, random_.with_probability(0.2) ? 300 : 60));
    switch (random_.below(4)) {
      case 0:
        m.where = memory::heap(job_rank{rank()});
        break;
      case 1:
        m.where = memory::shared(job_rank{rank()});
        break;
      case 2:
        m.where = memory::global();
        break;
      default:
        m.where = memory::symmetric();
    }
    m.image = rank();
    m.how.how = random_.with_probability(0.5) ? order::by_field : order::by_element;
    if (random_.with_probability(0.3)) {
      m.how.stripe = std::uint64_t{1} << random_.between(0, 6);
    }
    for (auto& f : m.fields) {
      f.resize(m.rows * m.columns);
    }
    const std::size_t i = p_.instances.size();
    p_.instances.push_back(std::move(m));
    operation o;
    o.what = action::make;
    o.to = i;
    enter(o, {{i, 0, everything(i), touch::write}, {i, 1, everything(i), touch::write}});
    for (int f = 0; f < 2; ++f) {
      while (!fill(i, f, whole(i))) {
      }
    }
  }
  void destroy(std::size_t i) {
    operation o;
    o.what = action::destroy;
    o.to = i;
    enter(o, {{i, 0, everything(i), touch::write}, {i, 1, everything(i), touch::write}});
    p_.instances[i].alive = false;
  }
  bool fill(std::size_t i, int f, const rectangle& r) {
    operation o;
    o.what = action::fill;
    o.to = i;
    o.to_field = f;
    o.target = r;
    o.value = random_.between(-1000, 1000);
    const auto which = numbers(p_.instances[i], r);
    if (!enter(o, {{i, f, which, touch::write}})) {
      return false;
    }
    for (const std::size_t n : which) {
      p_.instances[i].fields[f][n].value = o.value;
    }
    return true;
  }
  void read(std::size_t i, int f, const rectangle& r) {
    operation o;
    o.what = action::read;
    o.from = i;
    o.from_field = f;
    o.source = r;
    const auto which = numbers(p_.instances[i], r);
    for (const std::size_t n : which) {
      o.expected.push_back(p_.instances[i].fields[f][n].value);
    }
    enter(std::move(o), {{i, f, which, touch::read}});
  }

  void move(action what) {
    operation o;
    o.what = what;
    o.from = any();
    o.to = any();
    o.from_field = field();
    o.to_field = field();
    o.atomic = random_.with_probability(0.3);
    if (what == action::reduce && o.from == o.to) {
      o.to_field = 1 - o.from_field;
    }
    modelled& x = p_.instances[o.from];
    modelled& y = p_.instances[o.to];
    const auto rows = 1 + random_.below(std::min(x.rows, y.rows));
    const auto columns = 1 + random_.below(std::min(x.columns, y.columns));
    o.source = draw(o.from, rows, columns);
    o.target = draw(o.to, rows, columns);
    auto source = numbers(x, o.source);
    auto target = numbers(y, o.target);
    if (what == action::gather || what == action::scatter) {
      const auto count =
          1 + random_.below(std::min<std::uint64_t>(listed, std::min(x.columns, y.columns)));
      const std::size_t plain = what == action::gather ? o.to : o.from;
      rectangle& line = what == action::gather ? o.target : o.source;
      line = draw(plain, 1, count);
      auto& row = what == action::gather ? target : source;
      auto& named = what == action::gather ? source : target;
      row = numbers(p_.instances[plain], line);
      named.clear();
      for (std::uint64_t i = 0; i < count; ++i) {
        named.push_back(static_cast<std::size_t>(p_.indices[i]));
      }
    }
    const touch how = what == action::reduce ? touch::add : touch::write;
    const std::size_t from = o.from;
    const std::size_t to = o.to;
    const int f = o.from_field;
    const int g = o.to_field;
    if (!enter(std::move(o), {{from, f, source, touch::read}, {to, g, target, how}})) {
      return;
    }
    values seen;
    for (const std::size_t n : source) {
      seen.push_back(x.fields[f][n].value);
    }
    for (std::size_t n = 0; n < target.size(); ++n) {
      std::int64_t& there = y.fields[g][target[n]].value;
      there = how == touch::add ? there + seen[n] : seen[n];
    }
  }

  void contribute(action what) {
    operation o;
    o.what = what;
    o.to = any();
    o.to_field = field();
    auto& there = p_.instances[o.to].fields[o.to_field];
    std::set<std::size_t> which;
    const auto count = random_.with_probability(0.1) ? 3000 : 1 + random_.below(200);
    for (std::uint64_t i = 0; i < count; ++i) {
      o.contributions.emplace_back(random_.below(there.size()), random_.between(-9, 9));
      which.insert(o.contributions.back().first);
    }
    o.atomic = random_.with_probability(0.5);
    const auto given = o.contributions;
    const std::size_t to = o.to;
    const int f = o.to_field;
    if (enter(std::move(o), {{to, f, {which.begin(), which.end()}, touch::add}})) {
      for (const auto& [e, by] : given) {
        there[e].value += by;
      }
    }
  }

  void locked() {
    operation o;
    o.what = action::locked;
    o.to = any();
    o.to_field = field();
    modelled& y = p_.instances[o.to];
    o.target = draw(o.to, 1 + random_.below(y.rows), 1 + random_.below(y.columns));
    o.value = random_.between(1, 9);
    const auto which = numbers(y, o.target);
    const std::int64_t by = o.value;
    const int f = o.to_field;
    const std::size_t to = o.to;
    if (enter(std::move(o), {{to, f, which, touch::locked}})) {
      for (const std::size_t n : which) {
        y.fields[f][n].value += by;
      }
    }
  }

  void step() {
    static constexpr action ways[] = {action::list, action::fold, action::adaptive, action::single};
    const auto choice = random_.below(100);
    const std::size_t i = any();
    if (choice < 5) {
      make();
    } else if (choice < 9) {
      std::size_t alive = 0;
      for (const modelled& m : p_.instances) {
        alive += m.alive ? 1 : 0;
      }
      alive > 3 ? destroy(i) : make();
    } else if (choice < 17) {
      const modelled& m = p_.instances[i];
      fill(i, field(), draw(i, 1 + random_.below(m.rows), 1 + random_.below(m.columns)));
    } else if (choice < 35) {
      move(action::copy);
    } else if (choice < 43) {
      move(random_.with_probability(0.5) ? action::gather : action::scatter);
    } else if (choice < 60) {
      move(action::reduce);
    } else if (choice < 78) {
      contribute(ways[random_.below(4)]);
    } else if (choice < 86) {
      locked();
    } else {
      const modelled& m = p_.instances[i];
      read(i, field(), draw(i, 1 + random_.below(m.rows), 1 + random_.below(m.columns)));
    }
  }

  random_generator random_;
  int ranks_;
  program p_;
  std::vector<int> failed_;
};

}  // namespace sinew::region::random_program
