// SPDX-License-Identifier: BSD-3-Clause
// Random programs of all ranks at once (random_program.hpp): each rank orders copies, fills,
// reductions in all ways, additions under locks, makes and destroys instances, after events that
// other ranks' operations will trigger or poison. Ranks wait for handles, hardly ever for events,
// and are slow at random.
#include <cstdlib>

#include "fixture.hpp"
#include "random_program.hpp"
#include "sinew/event/reservation.hpp"
#include "support/pause_at_random.hpp"

namespace sinew::region {
namespace {

using namespace random_program;

constexpr std::size_t most_operations = 1000;
constexpr std::size_t lock_count = 3;

/// What the ranks tell each other: handles, plus one, once they are known.
struct board {
  std::atomic<std::uint64_t> ends[most_operations];
  std::atomic<std::uint64_t> gates[most_operations];
  std::atomic<std::uint64_t> instances[most_operations];
  std::atomic<std::uint64_t> locks[lock_count];
  std::atomic<std::uint64_t> indices;
};

class performer {
 public:
  performer(member& m, board& b, const program& p, sinew::event::reservations& all_locks,
            std::uint64_t seed)
      : m_(m),
        b_(b),
        p_(p),
        locks_(all_locks),
        random_(seed + 31 * static_cast<std::uint64_t>(m.rank)) {
    schema two(shape{1, 1});
    fields_[0] = two.add<std::int64_t>("a");
    fields_[1] = two.add<std::int64_t>("b");
  }

  void perform() {
    for (std::size_t i = 0; i < p_.all.size(); ++i) {
      const operation& o = p_.all[i];
      if (o.issuer == m_.rank) {
        test::pause_at_random(random_, m_.all.rma.runtime());
        issue(i);
      }
      if (o.gated_by == m_.rank) {
        test::pause_at_random(random_, m_.all.rma.runtime());
        const user_event gate{event::from_bits(known(b_.gates[i]))};
        o.gate_fails ? m_.events.poison(gate) : m_.events.trigger(gate);
      }
    }
    for (const auto& [i, copy] : reads_) {
      check(i, copy);
    }
    for (std::size_t i = 0; i < p_.all.size(); ++i) {
      const auto fate = ended(event::from_bits(known(b_.ends[i])));
      require((fate == sinew::event::state::poisoned) == p_.all[i].fails,
              text(i) + (p_.all[i].fails ? " has not failed" : " has failed"));
    }
  }

 private:
  static std::string text(std::size_t i) { return "operation " + std::to_string(i); }

  std::uint64_t known(const std::atomic<std::uint64_t>& word) {
    m_.all.until([&] { return word.load(std::memory_order_acquire) != 0; });
    return word.load(std::memory_order_relaxed) - 1;
  }
  /// Not by wait(): if another rank fails, so does this one.
  sinew::event::state ended(event e) {
    m_.all.until([&] { return m_.events.has_triggered(e); });
    return m_.events.look(e);
  }
  instance that(std::size_t i) {
    const auto what = instance::from_bits(known(b_.instances[i]));
    const bool images = p_.instances[i].where.kind == memory_kind::symmetric;
    return images ? m_.regions.image(what, job_rank{p_.instances[i].image}) : what;
  }

  event before(std::size_t i) {
    const operation& o = p_.all[i];
    std::vector<event> strictly;
    std::vector<event> anyhow;
    for (const int a : o.after) {
      const event e = event::from_bits(known(b_.ends[a]));
      (o.spared.count(a) != 0 ? anyhow : strictly).push_back(e);
    }
    if (o.gated_by >= 0) {
      const user_event gate = m_.events.create();
      b_.gates[i].store(gate.bits() + 1, std::memory_order_release);
      strictly.push_back(gate);
    }
    strictly.push_back(m_.events.settled(anyhow));
    return m_.events.merge(strictly);
  }

  void issue(std::size_t i) {
    const operation& o = p_.all[i];
    const event end = start(i, o, before(i));
    b_.ends[i].store(end.bits() + 1, std::memory_order_release);
  }

  event start(std::size_t i, const operation& o, event first) {
    const field<std::int64_t> f = fields_[o.from_field];
    const field<std::int64_t> g = fields_[o.to_field];
    switch (o.what) {
      case action::make:
        return make(o.to, first);
      case action::destroy:
        return m_.regions.destroy(that(o.to), first);
      case action::fill:
        return m_.regions.fill(at(that(o.to), g, o.target.where()), o.value, first);
      case action::copy:
        return m_.regions.copy(at(that(o.from), f, o.source.where()),
                               at(that(o.to), g, o.target.where()), first);
      case action::gather:
        return m_.regions.copy(at(that(o.from), f).by(list(), fields_[0], named(o.target)),
                               at(that(o.to), g, o.target.where()), first);
      case action::scatter:
        return m_.regions.copy(at(that(o.from), f, o.source.where()),
                               at(that(o.to), g).by(list(), fields_[0], named(o.source)), first);
      case action::reduce:
        return m_.regions.reduce<addition>(at(that(o.from), f, o.source.where()),
                                           at(that(o.to), g, o.target.where()), first,
                                           o.atomic ? sharing::atomic : sharing::exclusive);
      case action::list: {
        region::list<addition> some(m_.regions, that(o.to), g);
        return all_into(some, o).merge(first);
      }
      case action::fold: {
        region::fold<addition> some(m_.regions, that(o.to), g);
        return all_into(some, o).merge(first);
      }
      case action::adaptive: {
        region::adaptive<addition> some(m_.regions, that(o.to), g, {o.atomic ? 0.0 : 0.25});
        return all_into(some, o).merge(first);
      }
      case action::single: {
        if (ended(first) == sinew::event::state::poisoned) {
          return first;
        }
        region::single<addition> some(m_.regions, that(o.to), g);
        return all_into(some, o).flush();
      }
      case action::locked:
        return under_lock(o, first);
      case action::read:
        return read(i, o, first);
    }
    return {};
  }

  instance list() { return instance::from_bits(known(b_.indices)); }
  static section named(const rectangle& as_many) { return {{0, as_many.column.count, 1}}; }
  template <class Instance>
  static Instance& all_into(Instance& some, const operation& o) {
    for (const auto& [e, by] : o.contributions) {
      some.reduce(e, by);
    }
    return some;
  }

  event make(std::size_t i, event first) {
    const modelled& x = p_.instances[i];
    schema two(shape{x.rows, x.columns});
    (void)two.add<std::int64_t>("a");
    (void)two.add<std::int64_t>("b");
    const made m = m_.regions.create(two, x.where, x.how, first);
    b_.instances[i].store(m.what.bits() + 1, std::memory_order_release);
    return m.ready;
  }

  /// Copied here, changed, and copied back, while this rank holds the instance's lock.
  event under_lock(const operation& o, event first) {
    const auto lock = sinew::event::reservation::from_bits(known(b_.locks[o.to % lock_count]));
    schema two(shape{o.target.row.count, o.target.column.count});
    const auto f = two.add<std::int64_t>("value");
    const auto by = two.add<std::int64_t>("by");
    const made here =
        m_.regions.create(two, random_.with_probability(0.5) ? memory::heap(job_rank{m_.rank})
                                                             : memory::shared(job_rank{m_.rank}));
    const event held = locks_.acquire(lock, {}, first);
    const side there = at(that(o.to), fields_[o.to_field], o.target.where());
    const event filled = m_.regions.fill(at(here.what, by), o.value, here.ready);
    const event in = m_.regions.copy(there, at(here.what, f), m_.events.merge(held, here.ready));
    const event changed = m_.regions.reduce<addition>(at(here.what, by), at(here.what, f),
                                                      m_.events.merge(in, filled));
    const event end = m_.regions.copy(at(here.what, f), there, changed);
    const event nothing_left = m_.events.settled(std::array<event, 2>{end, filled});
    locks_.release(lock, nothing_left);
    (void)m_.regions.destroy(here.what, nothing_left);
    return end;
  }

  event read(std::size_t i, const operation& o, event first) {
    schema one(shape{o.source.row.count, o.source.column.count});
    const auto f = one.add<std::int64_t>("copy");
    const made here = m_.regions.create(one, memory::heap(job_rank{m_.rank}));
    reads_.emplace_back(i, here.what);
    return m_.regions.copy(at(that(o.from), fields_[o.from_field], o.source.where()),
                           at(here.what, f), m_.events.merge(first, here.ready));
  }
  void check(std::size_t i, instance copy) {
    const operation& o = p_.all[i];
    const auto fate = ended(event::from_bits(known(b_.ends[i])));
    if (fate != sinew::event::state::poisoned) {
      const auto* got = reinterpret_cast<const std::int64_t*>(m_.regions.bytes_of(copy));
      for (std::size_t n = 0; n < o.expected.size(); ++n) {
        require(got[n] == o.expected[n],
                text(i) + " reads " + std::to_string(got[n]) + " as value " + std::to_string(n) +
                    " of instance " + std::to_string(o.from) + " in memory kind " +
                    std::to_string(static_cast<int>(p_.instances[o.from].where.kind)) + ", not " +
                    std::to_string(o.expected[n]));
      }
    }
    (void)m_.regions.destroy(copy);
  }

  member& m_;
  board& b_;
  const program& p_;
  sinew::event::reservations& locks_;
  random_generator random_;
  field<std::int64_t> fields_[2];
  std::vector<std::pair<std::size_t, instance>> reads_;
};

class RandomOrders : public region_test {
 protected:
  static void one(int ranks, std::uint64_t seed, int operations) {
    const program p = author(seed, ranks).write(operations);
    ASSERT_LT(p.all.size(), most_operations);
    const test::shared_memory memory_of_board(sizeof(board));
    auto& b = memory_of_board.as<board>();
    run(ranks, [&](member& m) {
      m.regions.add<addition>();
      sinew::event::reservations locks(m.events);
      m.meet();
      if (m.rank == 0) {
        for (auto& l : b.locks) {
          l.store(locks.create().bits() + 1);
        }
        schema what(listed);
        const auto f = what.add<std::int64_t>("indices");
        const made list = m.regions.create(what, memory::shared(0));
        m.good(list.ready, "create");
        std::copy(p.indices.begin(), p.indices.end(), m.regions.look(list.what, f).data());
        b.indices.store(list.what.bits() + 1);
      }
      m.meet();
      performer(m, b, p, locks, seed).perform();
      m.all.settle();
      require(locks.misuses() == 0, "a lock was misused");
    });
  }
};

// More rounds of other seeds: SINEW_TEST_ROUNDS, and SINEW_TEST_SEED for the first.
TEST_P(RandomOrders, AgreeWithTheModel) {
  const char* const asked = std::getenv("SINEW_TEST_ROUNDS");
  const int rounds = asked != nullptr ? std::atoi(asked) : 1;
  const std::uint64_t first = asked != nullptr ? seed() : 1;
  for (int round = 0; round < rounds; ++round) {
    for (const int ranks : {4, 16}) {
      if (slow_build && ranks > 4) {
        continue;
      }
      const std::uint64_t now = first + static_cast<std::uint64_t>(round);
      SCOPED_TRACE("seed " + std::to_string(now) + ", ranks " + std::to_string(ranks));
      one(ranks, now, slow_build ? 60 : 200 + 100 * (round % 6));
      if (HasFailure()) {
        return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, RandomOrders, rma::every_way,
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace sinew::region
