// SPDX-License-Identifier: BSD-3-Clause
// Realm's reductions, by the method of reductions.cpp, in one process: the ways that it still has.
// fold is an instance of its own and a copy with the operator; localised and read-write are under a
// reservation. Its rows are those with ranks=1.
#include "../common/realm.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "histogram.hpp"

namespace {

using histogram::experiment;
using histogram::generator;

constexpr Realm::ReductionOpID sum_id = 1;
constexpr Realm::FieldID count_field = 0;

struct sum {
  using LHS = std::uint32_t;
  using RHS = std::uint32_t;
  static const RHS identity;
  template <bool Exclusive>
  static void apply(LHS& lhs, RHS rhs) {
    add<Exclusive>(lhs, rhs);
  }
  template <bool Exclusive>
  static void fold(RHS& rhs, RHS more) {
    add<Exclusive>(rhs, more);
  }

 private:
  template <bool Exclusive>
  static void add(std::uint32_t& to, std::uint32_t what) {
    if (Exclusive) {
      to += what;
    } else {
      std::atomic_ref<std::uint32_t>(to).fetch_add(what);
    }
  }
};
const sum::RHS sum::identity = 0;

/// As many counters as there are buckets.
class counters {
 public:
  counters(Realm::Memory where, std::uint64_t buckets)
      : space_(Realm::Rect<1>(Realm::Point<1>(0), Realm::Point<1>(static_cast<int>(buckets) - 1))) {
    std::map<Realm::FieldID, std::size_t> fields;
    fields[count_field] = sizeof(std::uint32_t);
    Realm::RegionInstance::create_instance(what_, where, space_, fields, 0,
                                           Realm::ProfilingRequestSet())
        .external_wait();
  }
  [[nodiscard]] std::uint32_t* values() const {
    return Realm::AffineAccessor<std::uint32_t, 1>(what_, count_field).ptr(Realm::Point<1>(0));
  }
  void clear() const {
    std::vector<Realm::CopySrcDstField> from(1);
    from[0].set_fill<std::uint32_t>(sum::identity);
    space_.copy(from, {field()}, Realm::ProfilingRequestSet()).external_wait();
  }
  [[nodiscard]] Realm::Event copy_to(const counters& to) const {
    return space_.copy({field()}, {to.field()}, Realm::ProfilingRequestSet());
  }
  [[nodiscard]] Realm::Event reduce_to(const counters& to) const {
    return space_.copy({field()}, {to.field().set_redop(sum_id, false)},
                       Realm::ProfilingRequestSet());
  }
  void destroy(Realm::Event after = Realm::Event::NO_EVENT) const { what_.destroy(after); }

 private:
  [[nodiscard]] Realm::CopySrcDstField field() const {
    return Realm::CopySrcDstField().set_field(what_, count_field, sizeof(std::uint32_t));
  }
  Realm::IndexSpace<1> space_;
  Realm::RegionInstance what_;
};

struct task {
  Realm::Memory where;
  const experiment& what;
  const counters& target;
  Realm::Reservation lock;
  std::uint64_t reductions;
  std::uint64_t now = 0;

  void count_into(std::uint32_t* values) const {
    generator next(now * 1000003, what.buckets);
    for (std::uint64_t i = 0; i < reductions; ++i) {
      sum::fold<true>(values[next()], 1);
    }
  }
};

Realm::Event fold(const task& t) {
  const counters own(t.where, t.what.buckets);
  own.clear();
  t.count_into(own.values());
  const Realm::Event end = own.reduce_to(t.target);
  own.destroy(end);
  return end;
}

Realm::Event localised(const task& t) {
  t.lock.acquire().external_wait();
  const counters own(t.where, t.what.buckets);
  t.target.copy_to(own).external_wait();
  t.count_into(own.values());
  const Realm::Event end = own.copy_to(t.target);
  t.lock.release(end);
  own.destroy(end);
  return end;
}

Realm::Event read_write(const task& t) {
  t.lock.acquire().external_wait();
  t.count_into(t.target.values());
  t.lock.release();
  return Realm::Event::NO_EVENT;
}

struct method {
  const char* name;
  Realm::Event (*run)(const task&);
  std::uint64_t most;
};
constexpr method methods[] = {{"fold", fold, ~std::uint64_t{0}},
                              {"localised", localised, ~std::uint64_t{0}},
                              {"read-write", read_write, 1 << 18}};

/// Two merges may be under way, as in reductions.cpp.
micro::realm_times one_round(task& t, const method& how, int many) {
  t.target.clear();
  micro::realm_times took;
  const double begin = micro::now_ns();
  Realm::Event before = Realm::Event::NO_EVENT;
  for (int i = 0; i < many; ++i, ++t.now) {
    const Realm::Event end = how.run(t);
    before.external_wait();
    before = end;
  }
  before.external_wait();
  took.run_ns = micro::now_ns() - begin;
  const std::uint32_t* const values = t.target.values();
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < t.what.buckets; ++i) {
    all += values[i];
  }
  if (all != t.reductions * static_cast<std::uint64_t>(many)) {
    micro::wrong("contributions are missing");
  }
  return took;
}

void measure(const experiment& what, const histogram::plan& p) {
  const Realm::Memory where = Realm::Machine::MemoryQuery(Realm::Machine::get_machine())
                                  .only_kind(Realm::Memory::SYSTEM_MEM)
                                  .first();
  const counters target(where, what.buckets);
  task t{where, what, target, Realm::Reservation::create_reservation(), 0};
  for (const int many : p.tasks) {
    for (const method& how : methods) {
      if (!p.has(std::string(how.name))) {
        continue;
      }
      t.reductions = std::min(what.reductions, how.most);
      const auto took = micro::realm_rounds(
          p.budget_ms, [&] { return one_round(t, how, many); }, many > 1 ? 1 : 3);
      micro::report_row(
          what.name, "rate", "Mred/s",
          std::string("method=") + how.name + ",ranks=1,tasks=" + std::to_string(many),
          static_cast<double>(t.reductions) * many / took.run_ns * 1e3);
    }
  }
  t.lock.destroy_reservation();
  target.destroy();
}

}  // namespace

int main(int argc, char** argv) {
  const histogram::plan p = histogram::read_plan(argc, argv);
  return micro::over_realm(argc, argv, [&](Realm::Runtime& runtime) {
    runtime.register_reduction<sum>(sum_id);
    for (const experiment& what : histogram::experiments) {
      if (p.has(what)) {
        measure(what, p);
      }
    }
  });
}
