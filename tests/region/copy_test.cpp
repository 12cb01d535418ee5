// SPDX-License-Identifier: BSD-3-Clause
// Copies, fills and reductions between instances anywhere, against a model: arrays of one process
// to which the same is done in order.
#include <algorithm>
#include <memory>

#include "fixture.hpp"
#include "sinew/base/random.hpp"

namespace sinew::region {
namespace {

using values = std::vector<std::int64_t>;

/// Two fields of an instance, and what they ought to hold.
struct modelled {
  instance what;
  shape elements;
  memory where;
  field<std::int64_t> a;
  field<std::int32_t> b;
  values in_a;
  values in_b;
};

/// Everybody draws the same numbers, so everybody knows the whole model.
class model {
 public:
  model(member& m, std::uint64_t salt) : m_(m), random_(seed() + salt) {}

  void make(int instances) {
    for (int i = 0; i < instances; ++i) {
      const int creator = random_rank();
      modelled x = describe();
      schema what(x.elements);
      x.a = what.add<std::int64_t>("a");
      x.b = what.add<std::int32_t>("b");
      layout_options how;
      how.how = random_.with_probability(0.5) ? order::by_field : order::by_element;
      if (random_.with_probability(0.3)) {
        how.stripe = std::uint64_t{1} << random_.between(0, 6);
      }
      if (m_.rank == creator) {
        const made done = m_.regions.create(what, x.where, how);
        x.what = done.what;
        m_.good(done.ready, "create");
        for (int r = 0; r < (x.where.kind == memory_kind::symmetric ? m_.size : 1); ++r) {
          const instance each = x.where.kind == memory_kind::symmetric
                                    ? m_.regions.image(x.what, job_rank{r})
                                    : x.what;
          m_.good(m_.regions.fill(at(each, x.a), std::int64_t{0}), "fill");
          m_.good(m_.regions.fill(at(each, x.b), std::int32_t{0}), "fill");
        }
      }
      x.what = image_of(m_.share(creator, x.what), x);
      x.in_a.assign(x.elements.elements(), 0);
      x.in_b.assign(x.elements.elements(), 0);
      all_.push_back(x);
    }
    for (int r = 0; r < 2; ++r) {
      make_indices();
    }
  }

  /// One rank orders some operations one after another by events alone.
  void phase(int operations) {
    const int issuer = random_rank();
    event last;
    for (int i = 0; i < operations; ++i) {
      const double what = random_.unit();
      if (what < 0.45) {
        last = copy_section(issuer, last);
      } else if (what < 0.6) {
        last = copy_within(issuer, last);
      } else if (what < 0.75) {
        last = copy_indexed(issuer, last);
      } else if (what < 0.85) {
        last = fill(issuer, last);
      } else {
        last = reduce(issuer, last);
      }
    }
    if (m_.rank == issuer) {
      m_.good(last, "a chain of operations");
    }
    m_.meet();
  }

  void check() {
    const int reader = random_rank();
    if (m_.rank == reader) {
      for (const modelled& x : all_) {
        check(x, x.a, x.in_a);
        check(x, x.b, x.in_b);
      }
    }
    m_.meet();
  }

  void destroy() {
    const int who = random_rank();
    if (m_.rank == who) {
      for (const modelled& x : all_) {
        m_.good(m_.regions.destroy(x.what), "destroy");
        require_in(refusal([&] { (void)m_.regions.shape_of(x.what); }), "destroyed");
      }
    }
    m_.meet();
  }

 private:
  int random_rank() { return static_cast<int>(random_.between(0, m_.size - 1)); }
  modelled& any() {
    return all_[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(all_.size()) - 1))];
  }

  modelled describe() {
    modelled x;
    const auto draw = [&](std::int64_t most) {
      return static_cast<std::uint64_t>(random_.between(1, most));
    };
    switch (random_.between(1, 3)) {
      case 1:
        x.elements = shape{draw(4000)};
        break;
      case 2:
        x.elements = shape{draw(60), draw(60)};
        break;
      default:
        x.elements = shape{draw(15), draw(15), draw(15)};
    }
    switch (random_.between(0, 3)) {
      case 3:
        x.where = memory::symmetric();
        break;
      case 0:
        x.where = memory::heap(job_rank{random_rank()});
        break;
      case 1:
        x.where = memory::shared(job_rank{random_rank()});
        break;
      default:
        x.where = memory::global();
    }
    return x;
  }

  /// Of a symmetric instance, some rank's image.
  instance image_of(instance what, const modelled& x) {
    return x.where.kind == memory_kind::symmetric ? m_.regions.image(what, job_rank{random_rank()})
                                                  : what;
  }

  /// Some elements along each axis, and their numbers. At most `most` of them.
  section draw(const shape& s, std::uint64_t most, values& numbers) {
    section where;
    where.axes = s.axes();
    std::array<values, most_axes> along;
    along.fill({0});
    for (std::size_t axis = 0; axis < s.axes(); ++axis) {
      const auto n = static_cast<std::int64_t>(s.extent(axis));
      slice& at = where.axis[axis];
      at.step = random_.between(1, 3) * (random_.with_probability(0.25) ? -1 : 1);
      at.start = random_.between(0, n - 1);
      const std::int64_t room =
          at.step > 0 ? (n - 1 - at.start) / at.step + 1 : at.start / -at.step + 1;
      at.count = static_cast<std::uint64_t>(
          random_.between(0, std::min<std::int64_t>(room, static_cast<std::int64_t>(most))));
      most /= std::max<std::uint64_t>(at.count, 1);
      values& list = along[most_axes - s.axes() + axis];
      list.clear();
      for (std::uint64_t i = 0; i < at.count; ++i) {
        list.push_back(at.start + static_cast<std::int64_t>(i) * at.step);
      }
    }
    const auto& n = s.padded();
    for (const std::int64_t i : along[0]) {
      for (const std::int64_t j : along[1]) {
        for (const std::int64_t k : along[2]) {
          numbers.push_back(
              (i * static_cast<std::int64_t>(n[1]) + j) * static_cast<std::int64_t>(n[2]) + k);
        }
      }
    }
    return where;
  }

  /// As many elements of another shape as `count`: in one row.
  section row_of(const shape& s, std::uint64_t count, values& numbers) {
    section where;
    where.axes = s.axes();
    const std::size_t last = s.axes() - 1;
    std::int64_t base = 0;
    for (std::size_t axis = 0; axis < last; ++axis) {
      where.axis[axis] = {random_.between(0, static_cast<std::int64_t>(s.extent(axis)) - 1), 1, 1};
      base = (base + where.axis[axis].start) * static_cast<std::int64_t>(s.extent(axis + 1));
    }
    const auto room = static_cast<std::int64_t>(s.extent(last) - count);
    where.axis[last] = {random_.between(0, room), count, 1};
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers.push_back(base + where.axis[last].start + static_cast<std::int64_t>(i));
    }
    return where;
  }

  static void copied(const values& from, const values& source, values& to, const values& target) {
    values all;
    for (const std::int64_t i : source) {
      all.push_back(from[static_cast<std::size_t>(i)]);
    }
    for (std::size_t i = 0; i < target.size(); ++i) {
      to[static_cast<std::size_t>(target[i])] = all[i];
    }
  }

  event copy_section(int issuer, event after) {
    modelled& x = any();
    modelled& y = any();
    values source;
    values target;
    section from = draw(x.elements, y.elements.extent(y.elements.axes() - 1), source);
    section to = row_of(y.elements, source.size(), target);
    const bool first = random_.with_probability(0.5);
    if (random_.with_probability(0.5) &&
        source.size() <= x.elements.extent(x.elements.axes() - 1)) {
      source.clear();
      target.clear();
      to = draw(y.elements, x.elements.extent(x.elements.axes() - 1), target);
      from = row_of(x.elements, target.size(), source);
    }
    if (first) {
      copied(x.in_a, source, y.in_a, target);
    } else {
      copied(x.in_b, source, y.in_b, target);
    }
    if (m_.rank != issuer) {
      return {};
    }
    return first ? m_.regions.copy(at(x.what, x.a, from), at(y.what, y.a, to), after)
                 : m_.regions.copy(at(x.what, x.b, from), at(y.what, y.b, to), after);
  }

  /// Within a field, so that the two may overlap.
  event copy_within(int issuer, event after) {
    modelled& x = any();
    values source;
    values target;
    const std::uint64_t row = x.elements.extent(x.elements.axes() - 1);
    const auto count =
        static_cast<std::uint64_t>(random_.between(0, static_cast<std::int64_t>(row)));
    const section from = row_of(x.elements, count, source);
    const section to = row_of(x.elements, count, target);
    copied(x.in_a, source, x.in_a, target);
    return m_.rank == issuer ? m_.regions.copy(at(x.what, x.a, from), at(x.what, x.a, to), after)
                             : event{};
  }

  void make_indices() {
    const int creator = random_rank();
    modelled x = describe();
    x.elements = shape{std::uint64_t{64}};
    schema what(x.elements);
    x.a = what.add<std::int64_t>("numbers");
    if (m_.rank == creator) {
      const made done = m_.regions.create(what, x.where);
      x.what = done.what;
      m_.good(done.ready, "create");
    }
    x.what = image_of(m_.share(creator, x.what), x);
    lists_.push_back(x);
  }

  event copy_indexed(int issuer, event after) {
    modelled& list = lists_[static_cast<std::size_t>(random_.between(0, 1))];
    modelled& x = any();
    modelled& y = any();
    const bool gather = random_.with_probability(0.5);
    const modelled& indexed = gather ? x : y;
    const modelled& plain = gather ? y : x;
    const auto count = static_cast<std::uint64_t>(random_.between(
        0, static_cast<std::int64_t>(
               std::min<std::uint64_t>({64, plain.elements.extent(plain.elements.axes() - 1)}))));
    values numbers;
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers.push_back(
          random_.between(0, static_cast<std::int64_t>(indexed.elements.elements()) - 1));
    }
    values row;
    const section where = row_of(plain.elements, count, row);
    copied(x.in_a, gather ? numbers : row, y.in_a, gather ? row : numbers);
    if (m_.rank != issuer) {
      return {};
    }
    after = write(list, numbers, after);
    const section used{{0, count, 1}};
    const side from = at(x.what, x.a, gather ? section{} : where);
    const side to = at(y.what, y.a, gather ? where : section{});
    return gather ? m_.regions.copy(from.by(list.what, list.a, used), to, after)
                  : m_.regions.copy(from, to.by(list.what, list.a, used), after);
  }

  /// Puts these into an instance wherever it lies, through one in shared memory.
  event write(const modelled& list, const values& numbers, event after) {
    if (numbers.empty()) {
      return after;
    }
    schema what(numbers.size());
    const auto f = what.add<std::int64_t>("numbers");
    const made here = m_.regions.create(what, memory::shared(job_rank{m_.rank}));
    std::copy(numbers.begin(), numbers.end(), m_.regions.look(here.what, f).data());
    const event end =
        m_.regions.copy(at(here.what, f), at(list.what, list.a, {{0, numbers.size(), 1}}), after);
    (void)m_.regions.destroy(here.what, m_.events.settled(end));
    return end;
  }

  event fill(int issuer, event after) {
    modelled& x = any();
    values numbers;
    const section where = draw(x.elements, 1000, numbers);
    const std::int64_t value = random_.between(-1000, 1000);
    for (const std::int64_t i : numbers) {
      x.in_a[static_cast<std::size_t>(i)] = value;
    }
    return m_.rank == issuer ? m_.regions.fill(at(x.what, x.a, where), value, after) : event{};
  }

  event reduce(int issuer, event after) {
    modelled& x = any();
    modelled& y = any();
    if (&x == &y) {
      return after;
    }
    values source;
    values target;
    const section from = draw(x.elements, y.elements.extent(y.elements.axes() - 1), source);
    const section to = row_of(y.elements, source.size(), target);
    for (std::size_t i = 0; i < source.size(); ++i) {
      y.in_a[static_cast<std::size_t>(target[i])] += x.in_a[static_cast<std::size_t>(source[i])];
    }
    if (m_.rank != issuer) {
      return {};
    }
    return m_.regions.reduce<sum<std::int64_t>>(at(x.what, x.a, from), at(y.what, y.a, to), after);
  }

  template <class T>
  void check(const modelled& x, field<T> f, const values& expected) {
    schema what(x.elements);
    const auto g = what.add<T>("copy");
    const made here = m_.regions.create(what, memory::heap(job_rank{m_.rank}));
    m_.good(here.ready, "create");
    m_.good(m_.regions.copy(at(x.what, f), at(here.what, g)), "copy back");
    const auto* got = reinterpret_cast<const T*>(m_.regions.bytes_of(here.what));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      require(got[i] == static_cast<T>(expected[i]),
              "element " + std::to_string(i) + " of an instance of " +
                  std::to_string(expected.size()) + " in memory kind " +
                  std::to_string(static_cast<int>(x.where.kind)) + " of rank " +
                  to_string(x.where.rank) + " is " + std::to_string(got[i]) + ", not " +
                  std::to_string(expected[i]));
    }
    m_.good(m_.regions.destroy(here.what), "destroy");
  }

  member& m_;
  random_generator random_;
  std::vector<modelled> all_;
  std::vector<modelled> lists_;
};

class Copies : public region_test {};

TEST_P(Copies, AgreeWithAModel) {
  for (const int ranks : {1, 2, 3, 5, 16}) {
    if (slow_build && ranks > 5) {
      continue;
    }
    run(ranks, [](member& m) {
      m.regions.add<sum<std::int64_t>>();
      model all(m, static_cast<std::uint64_t>(m.size));
      m.meet();
      all.make(6);
      for (int p = 0; p < (slow_build ? 4 : 12); ++p) {
        all.phase(8);
        all.check();
      }
      all.destroy();
    });
    if (HasFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Copies, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
