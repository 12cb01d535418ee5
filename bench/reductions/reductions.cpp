// SPDX-License-Identifier: BSD-3-Clause
// Histograms: each task adds one to random buckets of an instance that is striped over all ranks.
// The seed's five ways and the adaptive one. A rank runs one task, or as many as the original did
// on a node, one after the other on its one processor: each has an instance of its own, and two
// merges are under way at once. A round is timed from a common start until every rank's merges have
// come, with making, filling and copying back of whatever it takes, as the original counts; that
// the target is zero before is not timed.
//
// dense: 256K buckets, 4M reductions a task; sparse: 4M buckets, 64K a task. `single` and
// `read-write` do at most 256K a task, over hosts `single` 16K and `read-write` 256.
//
// Words: case=dense|sparse ranks=R,... tasks=T,... method=M budget_ms=N; all where one is not
// given. With over=hosts ranks are those that a launcher has started, and there is one case. With
// "floor": the generator of indices alone, as many tasks at once.
#include "histogram.hpp"
//
#include <deque>

#include "../common/ranks.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/region/reductions.hpp"

namespace {

namespace event = sinew::event;
namespace region = sinew::region;
namespace rma = sinew::rma;
using add = region::sum<std::uint32_t>;
using histogram::experiment;
using histogram::generator;
using histogram::plan;

constexpr rma::heap_sizes heaps{std::size_t{1} << 20, std::size_t{256} << 20};

/// One rank's tasks and all they need.
struct task {
  const micro::rank_place& at;
  region::system& regions;
  event::reservations& locks;
  event::reservation lock;
  region::instance target;
  region::field<std::uint32_t> count;
  experiment what;
  std::uint64_t reductions;       ///< of each
  std::vector<rma::place> parts;  ///< where the target's begin
  std::uint64_t many = 1;
  std::uint64_t now = 0;  ///< which of them runs, over all rounds

  [[nodiscard]] generator indices() const {
    return {now * 1000003 + static_cast<std::uint64_t>(at.rank) * 7919, what.buckets};
  }
  void wait(event::event e) const {
    if (at.events.wait(e) != event::state::triggered) {
      micro::wrong("a merge failed");
    }
  }
  template <class Instance>
  void all_into(Instance& some) const {
    generator next = indices();
    for (std::uint64_t i = 0; i < reductions; ++i) {
      some.reduce(next(), 1);
    }
  }
};

/// Each method runs one task and returns the event of its end, which may be to come; what it merges
/// lives in `keep` until then.
template <class Instance>
event::event by(task& t, std::shared_ptr<void>& keep) {
  const auto some = std::make_shared<Instance>(t.regions, t.target, t.count);
  t.all_into(*some);
  keep = some;
  if constexpr (requires { some->flush(); }) {
    return some->flush();
  } else {
    return some->merge();
  }
}
event::event localised(task& t, std::shared_ptr<void>& /*keep*/) {
  const event::event held = t.locks.acquire(t.lock);
  region::schema what(t.what.buckets);
  const auto here = what.add<std::uint32_t>("count");
  const region::made m = t.regions.create(what, region::memory::shared(sinew::job_rank{t.at.rank}));
  t.wait(t.regions.copy(region::at(t.target, t.count), region::at(m.what, here),
                        t.at.events.merge(held, m.ready)));
  std::uint32_t* const values = t.regions.look(m.what, here).data();
  generator next = t.indices();
  for (std::uint64_t i = 0; i < t.reductions; ++i) {
    add::apply(values[next()], 1);
  }
  const event::event back = t.regions.copy(region::at(m.what, here), region::at(t.target, t.count));
  t.locks.release(t.lock, back);
  return t.regions.destroy(m.what, back);
}
event::event read_write(task& t, std::shared_ptr<void>& /*keep*/) {
  t.wait(t.locks.acquire(t.lock));
  const region::part_finder find(
      t.regions.target_of(region::entry_of<add>(), t.target, t.count.number));
  rma::engine& memory = t.regions.memory();
  generator next = t.indices();
  for (std::uint64_t i = 0; i < t.reductions; ++i) {
    const std::uint64_t element = next();
    const std::uint32_t part = find.part(element);
    const rma::place there{t.parts[part].rank,
                           t.parts[part].offset + find.within(element) * sizeof(std::uint32_t)};
    std::uint32_t value = 0;
    memory.get(&value, there, sizeof value);
    ++value;
    memory.put(there, &value, sizeof value);
  }
  memory.flush_all();
  t.locks.release(t.lock);
  return {};
}
event::event generator_alone(task& t, std::shared_ptr<void>& /*keep*/) {
  std::uint64_t all = 0;
  generator next = t.indices();
  for (std::uint64_t i = 0; i < t.reductions; ++i) {
    all += next();
    asm volatile("" : "+r"(all));  // one at a time, as reductions take them
  }
  micro::use(all);
  return {};
}

struct method {
  const char* name;
  event::event (*run)(task&, std::shared_ptr<void>&);
  std::uint64_t most;             ///< reductions of a task
  std::uint64_t most_over_hosts;  ///< each waits for the network
};
constexpr std::uint64_t all = ~std::uint64_t{0};
constexpr method methods[] = {{"fold", by<region::fold<add>>, all, all},
                              {"list", by<region::list<add>>, all, all},
                              {"adaptive", by<region::adaptive<add>>, all, all},
                              {"localised", localised, all, all},
                              {"single", by<region::single<add>>, 1 << 18, 1 << 14},
                              {"read-write", read_write, 1 << 18, 1 << 8}};

/// Words of the meeting, behind the handles.
constexpr std::size_t target_word = 0, lock_word = 1, more_word = 2, first_part = 1024,
                      first_sum = 2048;

/// Rank 0 looks whether nothing is missing, when all have counted what they own.
void check(const task& t) {
  std::uint64_t own = 0;
  for (std::uint32_t p = 0; p < t.regions.parts_of(t.target); ++p) {
    if (t.regions.owner_of(t.target, p).value() == t.at.rank) {
      for (const std::uint32_t n : t.regions.look_at_part(t.target, t.count, p).span()) {
        own += n;
      }
    }
  }
  t.at.meet[first_sum + std::size_t(t.at.rank)] = own;
  t.at.meet.share(first_sum + std::size_t(t.at.rank));
  t.at.meet();
  std::uint64_t sum = 0;
  for (int r = 0; r < t.at.size; ++r) {
    sum += t.at.meet[first_sum + std::size_t(r)];
  }
  if (t.at.rank == 0 && sum != t.reductions * t.many * static_cast<std::uint64_t>(t.at.size)) {
    micro::wrong("contributions are missing");
  }
}

/// Seconds of one round, on rank 0.
double one_round(task& t, const method& how, bool floor) {
  if (t.at.rank == 0) {
    t.wait(t.regions.fill(region::at(t.target, t.count), std::uint32_t{0}));
  }
  t.at.meet();
  const double begin = micro::now_ns();
  {
    // Of each task what it keeps, and its end; a third one's memory would not fit.
    std::deque<std::pair<std::shared_ptr<void>, event::event>> under_way;
    for (std::uint64_t i = 0; i < t.many; ++i, ++t.now) {
      if (under_way.size() == 2) {
        t.wait(under_way.front().second);
        under_way.pop_front();
      }
      std::shared_ptr<void> kept;
      const event::event end = (floor ? generator_alone : how.run)(t, kept);
      under_way.emplace_back(std::move(kept), end);
    }
    for (const auto& [kept, end] : under_way) {
      t.wait(end);
    }
  }
  t.at.meet();
  const double end = micro::now_ns();
  if (!floor) {
    check(t);
  }
  return (end - begin) * 1e-9;
}

void measure(task& t, const method& how, const plan& p, const micro::rank_source& from) {
  t.reductions = std::min(t.what.reductions, from.launched() ? how.most_over_hosts : how.most);
  (void)one_round(t, how, p.floor);  // memory is there afterwards
  const double line_ns = t.at.meet.line_trip();
  std::vector<double> rates;
  std::uint64_t& more = t.at.meet[more_word];
  const double end = micro::now_ns() + p.budget_ms * 1e6;
  const double count = static_cast<double>(t.reductions * t.many) * t.at.size;
  const std::size_t least = t.many > 1 ? 1 : 3;  // more tasks are steadier, and take longer
  do {
    rates.push_back(count / one_round(t, how, p.floor) / 1e6);
    t.at.meet();
    if (t.at.rank == 0) {
      more = micro::now_ns() < end || rates.size() < least ? 1 : 0;
      t.at.meet.share(more_word);
    }
    t.at.meet();
  } while (more == 1);
  if (t.at.rank == 0) {
    micro::report_row(t.what.name, "rate", "Mred/s",
                      std::string("method=") + how.name + ",ranks=" + std::to_string(t.at.size) +
                          ",tasks=" + std::to_string(t.many) + from.tail(),
                      micro::median(rates), line_ns);
  }
}

/// Everybody learns where the parts of the target begin: they are of its creator's choosing.
std::vector<rma::place> find_parts(const task& t) {
  const std::uint32_t count = t.regions.parts_of(t.target);
  for (std::uint32_t p = 0; p < count; ++p) {
    if (t.regions.owner_of(t.target, p).value() == t.at.rank) {
      t.at.meet[first_part + p] =
          t.regions.memory().offset_of(t.regions.look_at_part(t.target, t.count, p).data());
      t.at.meet.share(first_part + p);
    }
  }
  t.at.meet();
  std::vector<rma::place> parts;
  for (std::uint32_t p = 0; p < count; ++p) {
    parts.push_back({t.regions.owner_of(t.target, p), t.at.meet[first_part + p]});
  }
  return parts;
}

/// What one rank does.
void measure(const micro::rank_place& at, rma::engine& memory, const experiment& what,
             const plan& p, const micro::rank_source& from) {
  region::system regions(memory, at.events);
  event::reservations locks(at.events);
  regions.add<add>();
  at.meet();
  region::schema buckets(what.buckets);
  const auto count = buckets.add<std::uint32_t>("count");
  if (at.rank == 0) {
    const region::made m = regions.create(buckets, region::memory::global());
    (void)at.events.wait(m.ready);
    at.meet[target_word] = m.what.bits();
    at.meet[lock_word] = locks.create().bits();
    at.meet.share(target_word, 2);
  }
  at.meet();
  task t{at,
         regions,
         locks,
         event::reservation::from_bits(at.meet[lock_word]),
         region::instance::from_bits(at.meet[target_word]),
         count,
         what,
         what.reductions,
         {}};
  t.parts = find_parts(t);
  for (const int many : p.tasks) {
    t.many = static_cast<std::uint64_t>(many);
    for (const method& how : methods) {
      if (p.has(std::string(how.name))) {
        measure(t, how, p, from);
      }
    }
  }
  at.meet();  // nobody's memory goes while others read there
}

bool measure(micro::rank_source& from, const experiment& what, int ranks, const plan& p) {
  if (from.launched()) {
    return from.run(ranks, {}, [&](const micro::rank_place& at) {
      const auto memory = rma::engine::open(at.runtime);
      measure(at, *memory, what, p, from);
    });
  }
  const rma::heap_shape shape(ranks, heaps);
  const micro::shared_memory heaps_of_all(shape.bytes * static_cast<std::size_t>(ranks));
  return from.run(ranks, {}, [&](const micro::rank_place& at) {
    rma::heap_memory where{{}, heaps};
    for (int r = 0; r < ranks; ++r) {
      where.parts.push_back(heaps_of_all.as<std::byte>() +
                            static_cast<std::size_t>(r) * shape.bytes);
    }
    rma::engine memory(at.runtime, where);
    measure(at, memory, what, p, from);
  });
}

}  // namespace

int main(int argc, char** argv) {
  micro::rank_source from(argc, argv);
  plan p = histogram::read_plan(argc, argv);
  if (from.launched() && p.only_case.empty()) {
    p.only_case = histogram::experiments[0].name;
  }
  for (const experiment& what : histogram::experiments) {
    for (const int r : from.numbers({1, 2, 4, 8, 16})) {
      if (p.has(what) && !measure(from, what, r, p)) {
        return 3;
      }
    }
  }
  return 0;
}
