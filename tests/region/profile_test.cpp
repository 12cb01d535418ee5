// SPDX-License-Identifier: BSD-3-Clause
// Responses of copies, fills and reductions: when and by which way they were done.
#include "sinew/event/profile.hpp"

#include <array>
#include <vector>

#include "fixture.hpp"

namespace sinew::region {
namespace {

using sinew::event::moved_by;
using sinew::event::performed;
using sinew::event::profile;
using sinew::event::profiled;
using sinew::event::profiler;

class profile_test : public region_test {};

profile next_of(const member& m, profiler& seen) {
  std::array<profile, 2> got;
  m.good(seen.filled(), "a response");
  require(seen.pop(got) == 1, "one response");
  return got[0];
}

void expect_response(const profile& p, performed kind, std::uint64_t tag) {
  require(p.kind == kind && p.tag == tag && !p.poisoned, "what was asked for");
  require(p.ready_ns > 0 && p.started_ns >= p.ready_ns && p.ended_ns >= p.started_ns, "its times");
}

TEST_P(profile_test, copies_say_when_and_how) {
  run(2, [](member& m) {
    profiler seen(m.events);
    schema what(std::uint64_t{1000});
    const auto numbers = what.add<int>("numbers");
    const made mine = m.regions.create(what, memory::heap(job_rank{m.rank}));
    const made common = m.regions.create(what, memory::shared(job_rank{m.rank}));
    m.good(m.events.merge(mine.ready, common.ready), "instances");
    m.meet();
    const instance far = m.share(1, mine.what);
    const auto done = [&](event e, performed kind, std::uint64_t tag) {
      m.good(e, "it");
      const profile p = next_of(m, seen);
      require(p.what == e, "its event");
      expect_response(p, kind, tag);
      return p;
    };
    const auto begin = [&](std::uint64_t tag, auto call) {
      const profiled these(seen, tag);
      return call();
    };
    const user_event ready = m.events.create();
    const event filled =
        begin(1, [&] { return m.regions.fill(at(mine.what, numbers), 5 + m.rank, ready); });
    m.events.trigger(ready);
    require(done(filled, performed::fill, 1).way == moved_by::mapped, "a fill of one's own");
    const event near =
        begin(2, [&] { return m.regions.copy(at(mine.what, numbers), at(common.what, numbers)); });
    require(done(near, performed::copy, 2).way == moved_by::mapped, "a copy of one's own");
    m.meet();
    if (m.rank == 0) {
      const event across =
          begin(3, [&] { return m.regions.copy(at(far, numbers), at(common.what, numbers)); });
      const profile p = done(across, performed::copy, 3);
      require(p.way != moved_by::not_moved, "a copy from another rank has a way");
      require(m.regions.look<int>(common.what, numbers)[999] == 6, "what it has copied");
    }
    m.meet();
    const event never = begin(4, [&] {
      return m.regions.copy(at(mine.what, numbers), at(common.what, numbers), m.poison());
    });
    m.bad(never, "after a poisoned event");
    const profile p = next_of(m, seen);
    require(p.poisoned && p.started_ns == 0 && p.way == moved_by::not_moved, "it never started");
    m.good(m.regions.fill(at(mine.what, numbers), 9), "nobody asks about this one");
    std::array<profile, 1> none;
    require(seen.pop(none) == 0, "no response that was not asked for");
    m.meet();
  });
}

INSTANTIATE_TEST_SUITE_P(, profile_test, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
