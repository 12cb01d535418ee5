// SPDX-License-Identifier: BSD-3-Clause
// A histogram over all ranks in six ways: each rank counts random numbers into buckets that are
// striped over the ranks, and every way must give the same.
//
//   build/bin/sinew run -n 2 build/examples/histogram
#include <chrono>
#include <cstdio>
#include <vector>

#include "region_job.hpp"
#include "sinew/base/random.hpp"

namespace {

namespace event = sinew::event;
namespace region = sinew::region;
using add = region::sum<std::uint32_t>;

constexpr std::uint64_t buckets = 1 << 16;
constexpr int numbers = 1 << 18;  // of a rank

class histogram {
 public:
  explicit histogram(region_job& job) : job_(job) {
    job.regions.add<add>();
    region::schema what(buckets);
    count_ = what.add<std::uint32_t>("count");
    std::uint64_t handle = 0;
    std::uint64_t lock = 0;
    if (job.rank() == 0) {
      const region::made m = job.regions.create(what, region::memory::global());
      (void)job.events.wait(m.ready);
      handle = m.what.bits();
      lock = job.locks.create().bits();
    }
    target_ = region::instance::from_bits(job.gather(handle)[0]);
    lock_ = event::reservation::from_bits(job.gather(lock)[0]);
    for (int r = 0; r < job.size(); ++r) {
      each_of(sinew::job_rank{r}, [&](std::uint64_t bucket) { ++expected_[bucket]; });
    }
  }

  /// Times one way, and says whether the histogram is right.
  template <class Way>
  bool with(const char* name, Way way) {
    if (job_.rank() == 0) {
      (void)job_.events.wait(job_.regions.fill(region::at(target_, count_), std::uint32_t{0}));
    }
    job_.memory->sync_all();
    const auto begin = std::chrono::steady_clock::now();
    const bool done = job_.events.wait(way()) == event::state::triggered;
    job_.memory->sync_all();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    const bool good = done && is_right();
    job_.memory->sync_all();  // all have looked before it is cleared again
    if (job_.rank() == 0) {
      std::printf("%-12s %8.1f million a second%s\n", name,
                  static_cast<double>(numbers) * job_.size() / time.count(),
                  good ? "" : "   WRONG");
    }
    return good;
  }

  bool all_ways() {
    bool good = with("fold", [&] {
      region::fold<add> some(job_.regions, target_, count_);
      each_of(job_.rank(), [&](std::uint64_t bucket) { some.reduce(bucket, 1); });
      return some.merge();
    });
    good &= with("list", [&] {
      region::list<add> some(job_.regions, target_, count_);
      each_of(job_.rank(), [&](std::uint64_t bucket) { some.reduce(bucket, 1); });
      return some.merge();
    });
    good &= with("adaptive", [&] {
      region::adaptive<add> some(job_.regions, target_, count_);
      each_of(job_.rank(), [&](std::uint64_t bucket) { some.reduce(bucket, 1); });
      return some.merge();
    });
    good &= with("single", [&] {
      region::single<add> some(job_.regions, target_, count_);
      each_of(job_.rank(), [&](std::uint64_t bucket) { some.reduce(bucket, 1); });
      return some.flush();
    });
    good &= with("localised", [&] { return localised(); });
    if (job_.memory->maps_all()) {  // ranks of other nodes cannot touch them
      good &= with("read-write", [&] { return read_and_write(); });
    }
    return good;
  }

 private:
  template <class Each>
  static void each_of(sinew::job_rank rank, Each call) {
    sinew::random_generator random(rank.index() + 1);
    for (int i = 0; i < numbers; ++i) {
      call(random.below(buckets));
    }
  }

  struct copy_here {
    region::instance what;
    region::field<std::uint32_t> counts;
    event::event ready;
  };
  copy_here all_copied(event::event before) {
    region::schema what(buckets);
    const auto counts = what.add<std::uint32_t>("count");
    const auto mine = job_.regions.create(what, region::memory::shared(job_.rank()));
    return {mine.what, counts,
            job_.regions.copy(region::at(target_, count_), region::at(mine.what, counts),
                              job_.events.merge(before, mine.ready))};
  }

  /// Under the lock the whole is copied here, counted into, and copied back; the lock is released
  /// by the event that ends the copy.
  event::event localised() {
    const copy_here mine = all_copied(job_.locks.acquire(lock_));
    (void)job_.events.wait(mine.ready);
    const auto values = job_.regions.look(mine.what, mine.counts);
    each_of(job_.rank(), [&](std::uint64_t bucket) { add::apply(values[bucket], 1); });
    const event::event back =
        job_.regions.copy(region::at(mine.what, mine.counts), region::at(target_, count_));
    job_.locks.release(lock_, back);
    (void)job_.regions.destroy(mine.what, job_.events.settled(back));
    return back;
  }

  /// Under the lock each bucket is read and written where it lies.
  event::event read_and_write() {
    (void)job_.events.wait(job_.locks.acquire(lock_));
    const region::part_finder find(
        job_.regions.target_of(region::entry_of<add>(), target_, count_.number));
    std::vector<region::view<std::uint32_t, 1>> parts;
    for (std::uint32_t p = 0; p < job_.regions.parts_of(target_); ++p) {
      parts.push_back(job_.regions.look_at_part(target_, count_, p));
    }
    each_of(job_.rank(), [&](std::uint64_t bucket) {
      std::uint32_t& value = parts[find.part(bucket)][find.within(bucket)];
      value = value + 1;
    });
    job_.locks.release(lock_);
    return {};
  }

  bool is_right() {
    const copy_here mine = all_copied({});
    (void)job_.events.wait(mine.ready);
    const auto values = job_.regions.look(mine.what, mine.counts);
    bool right = true;
    for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
      right = right && values[bucket] == expected_[bucket];
    }
    (void)job_.regions.destroy(mine.what);
    return right;
  }

  region_job& job_;
  region::field<std::uint32_t> count_;
  region::instance target_;
  event::reservation lock_;
  std::vector<std::uint32_t> expected_ = std::vector<std::uint32_t>(buckets);
};

}  // namespace

int main() {
  region_job job;
  histogram counts(job);
  const bool mine = counts.all_ways();
  bool good = true;
  for (const std::uint64_t one : job.gather(mine ? 1 : 0)) {
    good = good && one != 0;
  }
  if (job.rank() == 0) {
    std::printf("%s\n", good ? "all agree" : "they do not agree");
  }
  return good ? 0 : 1;
}
