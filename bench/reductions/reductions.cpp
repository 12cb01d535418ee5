// Histograms: each task adds one to random buckets of an instance that is striped over all ranks.
// The seed's five ways and the adaptive one. A rank runs one task, or as many as the original did
// on a node, one after the other on its one processor: each has an instance of its own, and two
// merges are under way at once. A round is timed from a common start until every rank's merges have
// come, with making, filling and copying back of whatever it takes, as the original counts; that
// the target is zero before is not timed.
//
// dense: 256K buckets, 4M reductions a task; sparse: 4M buckets, 64K a task. `single` and
// `read-write` do at most 256K a task.
//
// Words: case=dense|sparse ranks=R,... tasks=T,... method=M budget_ms=N; all where one is not
// given. With "floor": the generator of indices alone, as many tasks at once.
#include "../common/micro.hpp"
//
#include <deque>

#include "../common/event_ranks.hpp"
#include "sinew/event/reservation.hpp"
#include "sinew/region/reductions.hpp"

namespace {

namespace event = sinew::event;
namespace region = sinew::region;
namespace rma = sinew::rma;
using add = region::sum<std::uint32_t>;

struct experiment {
  const char* name;
  std::uint64_t buckets;
  std::uint64_t reductions;
};
constexpr experiment experiments[] = {{"dense", 1 << 18, 1 << 22}, {"sparse", 1 << 22, 1 << 16}};
constexpr std::uint64_t most_single = 1 << 18;
constexpr rma::heap_sizes heaps{std::size_t{1} << 20, std::size_t{256} << 20};

/// wyrand's step (Wang Yi): one addition from one number to the next, so that several are under
/// way.
class generator {
 public:
  generator(std::uint64_t seed, std::uint64_t below) : state_(seed), below_(below) {}
  std::uint64_t operator()() {
    state_ += 0xa0761d6478bd642fu;
    const __uint128_t product = static_cast<__uint128_t>(state_) * (state_ ^ 0xe7037ed1a0b428dbu);
    const auto mixed =
        static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
    return (mixed >> 32) * below_ >> 32;
  }

 private:
  std::uint64_t state_;
  std::uint64_t below_;
};

/// One rank's tasks and all they need.
struct task {
  micro::rank_place& at;
  region::system& regions;
  event::reservations& locks;
  event::reservation lock;
  region::instance target;
  region::field<std::uint32_t> count;
  experiment what;
  std::uint64_t reductions;  ///< of each
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
  std::vector<std::uint32_t*> parts;
  for (std::uint32_t p = 0; p < t.regions.parts_of(t.target); ++p) {
    parts.push_back(t.regions.look_at_part(t.target, t.count, p).data());
  }
  generator next = t.indices();
  for (std::uint64_t i = 0; i < t.reductions; ++i) {
    const std::uint64_t element = next();
    // What a get and a put of four bytes are where memory is mapped.
    const std::atomic_ref<std::uint32_t> there(parts[find.part(element)][find.within(element)]);
    there.store(there.load(std::memory_order_acquire) + 1, std::memory_order_release);
  }
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
  bool slow;
};
constexpr method methods[] = {
    {"fold", by<region::fold<add>>, false},         {"list", by<region::list<add>>, false},
    {"adaptive", by<region::adaptive<add>>, false}, {"localised", localised, false},
    {"single", by<region::single<add>>, true},      {"read-write", read_write, true}};

/// Rank 0 looks whether nothing is missing.
void check(task& t) {
  std::uint64_t all = 0;
  for (std::uint32_t p = 0; p < t.regions.parts_of(t.target); ++p) {
    for (const std::uint32_t n : t.regions.look_at_part(t.target, t.count, p).span()) {
      all += n;
    }
  }
  if (all != t.reductions * t.many * static_cast<std::uint64_t>(t.at.size)) {
    micro::wrong("contributions are missing");
  }
}

struct plan {
  double budget_ms;
  bool floor;
  std::string only;
  std::vector<int> tasks;
};

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
  if (t.at.rank == 0 && !floor) {
    check(t);
  }
  return (end - begin) * 1e-9;
}

void measure(task& t, const method& how, const plan& p) {
  t.reductions = how.slow ? std::min(t.what.reductions, most_single) : t.what.reductions;
  (void)one_round(t, how, p.floor);  // memory is there afterwards
  std::vector<double> rates;
  auto& more = t.at.board.words[60000];
  const double end = micro::now_ns() + p.budget_ms * 1e6;
  const double count = static_cast<double>(t.reductions * t.many) * t.at.size;
  const std::size_t least = t.many > 1 ? 1 : 3;  // more tasks are steadier, and take longer
  t.at.meet();
  if (t.at.rank == 0) {
    more = 1;
  }
  t.at.meet();
  while (more == 1) {
    rates.push_back(count / one_round(t, how, p.floor) / 1e6);
    if (t.at.rank == 0) {
      more = micro::now_ns() < end || rates.size() < least ? 1 : 0;
    }
    t.at.meet();
  }
  if (t.at.rank == 0) {
    std::printf("@ %s rate Mred/s method=%s,ranks=%d,tasks=%d %.6g\n", t.what.name, how.name,
                t.at.size, static_cast<int>(t.many), micro::median(rates));
  }
}

bool measure(const experiment& what, int ranks, const plan& p) {
  const rma::heap_shape shape(ranks, heaps);
  const micro::shared_memory heaps_of_all(shape.bytes * static_cast<std::size_t>(ranks));
  const bool good = micro::on_ranks(ranks, {}, [&](micro::rank_place& at) {
    rma::heap_memory where{{}, heaps};
    for (int r = 0; r < ranks; ++r) {
      where.parts.push_back(heaps_of_all.as<std::byte>() +
                            static_cast<std::size_t>(r) * shape.bytes);
    }
    rma::engine memory(at.runtime, where);
    region::system regions(memory, at.events);
    event::reservations locks(at.events);
    regions.add<add>();
    at.meet();
    region::schema buckets(what.buckets);
    const auto count = buckets.add<std::uint32_t>("count");
    if (at.rank == 0) {
      const region::made m = regions.create(buckets, region::memory::global());
      (void)at.events.wait(m.ready);
      at.board.words[0] = m.what.bits();
      at.board.words[1] = locks.create().bits();
    }
    at.meet();
    task t{at,
           regions,
           locks,
           event::reservation::from_bits(at.board.words[1]),
           region::instance::from_bits(at.board.words[0]),
           count,
           what,
           what.reductions};
    for (const int many : p.tasks) {
      t.many = static_cast<std::uint64_t>(many);
      for (const method& how : methods) {
        if (p.only.empty() || p.only == how.name) {
          measure(t, how, p);
        }
      }
    }
    std::fflush(stdout);
  });
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  plan p{200, false, {}, micro::numbers(argc, argv, "tasks", {1, 8})};
  std::string only_case;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = word.substr(word.find('=') + 1);
    if (word == "floor") {
      p.floor = true;
    } else if (word.starts_with("budget_ms=")) {
      p.budget_ms = std::atof(value.c_str());
    } else if (word.starts_with("case=")) {
      only_case = value;
    } else if (word.starts_with("method=")) {
      p.only = value;
    }
  }
  if (p.floor) {
    p.budget_ms = std::min(p.budget_ms, 20.0);
  }
  for (const experiment& what : experiments) {
    for (const int r : micro::numbers(argc, argv, "ranks", {1, 2, 4, 8, 16})) {
      if ((only_case.empty() || only_case == what.name) && !measure(what, r, p)) {
        return 3;
      }
    }
  }
  return 0;
}
