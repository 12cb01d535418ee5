// SPDX-License-Identifier: BSD-3-Clause
// Each way to call the module wrongly that the headers name and edges_test.cpp does not try: a
// sentence says what is wrong, and nothing has happened.
#include "fixture.hpp"

namespace sinew::region {
namespace {

struct wide {
  double most[3];
};
struct widest {
  using lhs = wide;
  using rhs = double;
  static constexpr double identity = 0;
  static void apply(wide& value, const double& by) noexcept { value.most[0] += by; }
};
/// Never made known to a system.
struct unheard_of : sum<int> {};

class Misuse : public region_test {};

TEST_P(Misuse, OfMaking) {
  run(2, [](member& m) {
    schema what(10);
    require_in(refusal([&] { (void)m.regions.create(what, memory::heap(0)); }), "has no fields");
    (void)what.add<int>("f");
    require_in(refusal([&] { (void)m.regions.create(what, memory::shared(2)); }), "no rank 2");
    require_in(refusal([&] { (void)m.regions.create(what, memory::heap(-1)); }), "no rank -1");
    require_in(refusal([&] {
                 (void)m.regions.create(what, memory::global(), {order::as_given, {{0, {4}}}});
               }),
               "strides were given");
    require_in(refusal([&] {
                 (void)m.regions.create(what, memory::symmetric(), {order::as_given, {{0, {2}}}});
               }),
               "over each other");
    require_in(refusal([] { (void)section{{}, {}, {}, {}}; }), "at most 3 axes");
    // Destroyed while its owner still looks for memory.
    const user_event go = m.events.create();
    const made later = m.regions.create(what, memory::heap(job_rank{m.rank}), {}, go);
    require_in(refusal([&] { (void)m.regions.bytes_of(later.what); }), "it is not ready");
    m.bad(m.regions.destroy(later.what), "destroying what is being made");
    require_in(m.regions.last_problem(), "still being made");
    m.events.trigger(go);
    m.good(later.ready, "it is made all the same");
    m.good(m.regions.destroy(later.what), "destroy");
    m.meet();
  });
}

TEST_P(Misuse, OfLooking) {
  run(2, [](member& m) {
    schema what({4, 5});
    const auto f = what.add<int>("f");
    const made whole = m.regions.create(what, memory::shared(job_rank{m.rank}));
    const made parts = m.regions.create(what, memory::global());
    m.good(parts.ready, "create");
    require_in(refusal([&] { (void)m.regions.look<int, 2>(parts.what, f); }), "use look_at_part");
    require_in(refusal([&] { (void)m.regions.look_at_part(parts.what, f, 2); }), "no part 2");
    require_in(refusal([&] { (void)m.regions.look_at_part(whole.what, f, 0); }), "several axes");
    require_in(refusal([&] { (void)m.regions.look<int, 2>(whole.what, field<int>{1}); }),
               "no field number 1");
    require_in(refusal([&] { (void)m.regions.look<float, 2>(whole.what, field<float>{0}); }),
               "has type int");
    require_in(refusal([&] { (void)m.regions.owner_of(parts.what, 2); }), "no part 2");
    require_in(refusal([&] { (void)m.regions.bytes_of(whole.what, 1); }), "no part 1");
    require(m.regions.elements_of(parts.what, 2) == 0, "a part that is not there has elements");
    m.meet();
    m.good(m.regions.destroy(parts.what), "destroy");
    require_in(refusal([&] { (void)m.regions.look_at_part(parts.what, f, 0); }), "destroyed");
    require_in(refusal([&] { (void)m.regions.why(parts.what); }), "destroyed");
    m.meet();
  });
}

// A program that works with several ranks works with one: a striped instance has a part for each.
TEST_P(Misuse, NoneIsLookingAtThePartsOfAStripedInstanceWithSeveralAxes) {
  for (const int ranks : {1, 2, 3}) {
    run(ranks, [](member& m) {
      schema what({4, 5});
      const auto f = what.add<int>("f");
      made all;
      if (m.rank == 0) {
        all = m.regions.create(what, memory::global());
        m.good(all.ready, "create");
        m.good(m.regions.fill(at(all.what, f), 7), "fill");
      }
      const instance striped = m.share(0, all.what);
      const layout_options given{order::as_given, {{0, {20, 4}}}};
      require_in(refusal([&] { (void)m.regions.create(what, memory::global(), given); }),
                 "strides were given");
      require_in(refusal([&] { (void)m.regions.create(what, memory::global(), {.stripe = 3}); }),
                 "power of two");
      std::uint64_t elements = 0;
      for (std::uint32_t p = 0; p < m.regions.parts_of(striped); ++p) {
        if (!m.regions.memory().maps(m.regions.owner_of(striped, p))) {
          require_in(refusal([&] { (void)m.regions.look_at_part(striped, f, p); }),
                     "it lies on the node of rank");
          elements += m.regions.elements_of(striped, p);
          continue;
        }
        const auto part = m.regions.look_at_part(striped, f, p);
        require(part.size() == m.regions.elements_of(striped, p), "a part has another size");
        for (std::uint64_t e = 0; e < part.size(); ++e) {
          require(part[e] == 7, "an element of a part is wrong");
        }
        elements += part.size();
      }
      require(elements == 20, "the parts have " + std::to_string(elements) + " elements");
      m.meet();
    });
  }
}

TEST_P(Misuse, OfMoving) {
  run(1, [](member& m) {
    schema what(10);
    const auto f = what.add<int>("f");
    const auto n = what.add<std::int64_t>("n");
    schema other(11);
    (void)other.add<int>("f");
    (void)other.add<std::int64_t>("n");
    const instance i = m.regions.create(what, memory::shared(0)).what;
    const instance j = m.regions.create(other, memory::shared(0)).what;
    require_in(refusal([&] { (void)m.regions.copy(i, j); }), "not the same fields and shape");
    require_in(refusal([&] { (void)m.regions.copy(at(i, f), at(j, f)); }),
               "10 elements and its target 11");
    require_in(refusal([&] { (void)m.regions.copy(at(i, f).by(j, n), at(i, f)); }),
               "11 elements and its target 10");
    require_in(refusal([&] { (void)m.regions.fill(at(i, f).by(j, n), 1); }), "goes to indices");
    require_in(refusal([&] { (void)m.regions.copy(at(i, f), at(instance{}, f)); }),
               "stands for none");
    require_in(refusal([&] { (void)m.regions.copy(at(i, f), at(instance(9, 0, 0), f)); }),
               "stands for none");
    m.good(m.regions.destroy(j), "destroy");
    require_in(refusal([&] { (void)m.regions.copy(at(i, f).by(j, n), at(i, f)); }), "destroyed");
    // What becomes wrong between the call and the work is found there.
    const instance list = m.regions.create(what, memory::shared(0)).what;
    m.good(m.regions.fill(at(list, n), std::int64_t{1}), "fill");
    const user_event go = m.events.create();
    const event gathered = m.regions.copy(at(i, f).by(list, n), at(i, f), go);
    m.good(m.regions.destroy(list), "destroy");
    m.events.trigger(go);
    m.bad(gathered, "a gather by indices that are gone");
    require_in(m.regions.last_problem(), "destroyed");
  });
}

TEST_P(Misuse, OfReducing) {
  run(1, [](member& m) {
    m.regions.add<sum<int>>();
    m.regions.add<widest>();
    schema what({4, 8});
    const auto f = what.add<int>("f");
    const instance i = m.regions.create(what, memory::shared(0)).what;
    // Rows with room between them.
    const instance apart =
        m.regions.create(what, memory::shared(0), {order::as_given, {{0, {64, 4}}}}).what;
    require_in(refusal([&] { (void)m.regions.reduce<unheard_of>(at(i, f), at(i, f)); }),
               "not known on rank 0");
    require_in(refusal([&] {
                 (void)m.regions.reduce<sum<int>>(at(i, f).by(i, field<std::int64_t>{0}), at(i, f));
               }),
               "names indices");
    require_in(
        refusal([&] { (void)m.regions.reduce<sum<int>>(at(i, f), at(i, f, {{0, 1, 1}, {}})); }),
        "32 elements and its target 8");
    require_in(refusal([&] { list<sum<int>> some(m.regions, apart, f); }), "equal steps");
    require_in(refusal([&] { single<sum<int>> some(m.regions, apart, f); }), "equal steps");
    fold<sum<int>> bears_it(m.regions, apart, f);
    m.good(m.regions.fill(at(apart, f), 1), "fill");
    bears_it.reduce(31, 5);
    m.good(bears_it.merge(), "a fold into rows that lie apart");
    require(m.regions.look<int, 2>(apart, f)(3, 7) == 6, "a contribution is missing");

    schema wides(4);
    const auto w = wides.add<wide>("w");
    const auto d = wides.add<double>("d");
    const instance k = m.regions.create(wides, memory::shared(0)).what;
    require_in(
        refusal([&] { (void)m.regions.reduce<widest>(at(k, d), at(k, w), {}, sharing::atomic); }),
        "cannot be atomic on values of 24 bytes");
    schema large(std::uint64_t{1} << 24);
    const auto g = large.add<int>("g");
    const made huge = m.regions.create(large, memory::heap(0));
    require_in(refusal([&] { fold<sum<int>> none(m.regions, huge.what, g); }),
               "SINEW_RMA_LOCAL_HEAP=");
    m.good(m.regions.destroy(k), "destroy");
    require_in(refusal([&] { list<sum<int>> none(m.regions, k, f); }), "destroyed");
  });
}

INSTANTIATE_TEST_SUITE_P(, Misuse, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
