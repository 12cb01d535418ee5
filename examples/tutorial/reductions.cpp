// SPDX-License-Identifier: BSD-3-Clause
// All ranks add to one instance at the same time: the owner of each part applies contributions one
// after another, so nobody locks anything. Then the same with an operator of the program's own.
#include <cstdio>

#include "sinew/region/job.hpp"

using namespace sinew::region;

/// Keeps the smallest number that is not zero.
struct smallest {
  using lhs = std::int64_t;
  using rhs = std::int64_t;
  static constexpr rhs identity = 0;
  static void apply(lhs& value, const rhs& by) noexcept {
    value = by != 0 && (value == 0 || by < value) ? by : value;
  }
  static void fold(rhs& value, const rhs& by) noexcept { apply(value, by); }
};

int main() {
  sinew::job job({.workers = 1});
  auto& regions = job.regions();
  regions.add<sum<std::int64_t>>();  // on every rank that owns what is reduced
  regions.add<smallest>();
  schema what(100);
  const auto f = what.add<std::int64_t>("value");
  const auto g = what.add<std::int64_t>("smallest");
  instance total;
  if (job.rank() == 0) {
    const made one = regions.create(what, memory::shared(0));
    const event zero = regions.fill(at(one.what, f), std::int64_t{0}, one.ready);
    (void)job.events().wait(regions.fill(at(one.what, g), std::int64_t{0}, zero));
    total = one.what;
  }
  total = instance::from_bits(job.gather(total.bits())[0]);

  const made mine = regions.create(what, memory::heap(job.rank()));
  const event filled =
      regions.fill(at(mine.what, f), std::int64_t{job.rank().value() + 5}, mine.ready);
  const event added = regions.reduce<sum<std::int64_t>>(at(mine.what, f), at(total, f), filled);
  const event kept = regions.reduce<smallest>(at(mine.what, f), at(total, g), filled);
  (void)job.events().wait(job.events().merge(added, kept));
  job.meet();
  bool good = true;
  if (job.rank() == 0) {
    const int n = job.size();
    const auto sums = regions.look<std::int64_t>(total, f);
    std::printf("sum %d, smallest %d\n", static_cast<int>(sums[99]),
                static_cast<int>(regions.look<std::int64_t>(total, g)[99]));
    good = sums[99] == 5 * n + n * (n - 1) / 2 && regions.look<std::int64_t>(total, g)[0] == 5;
  }
  job.meet();
  regions.destroy(mine.what);
  return good ? 0 : 1;
}
