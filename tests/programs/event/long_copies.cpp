// SPDX-License-Identifier: BSD-3-Clause
// Copies of long rows between memory of all ranks, private and shared, many at a time: between
// nodes the owner of the target fetches them. In front of and behind each row nothing changes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "expect.hpp"
#include "sinew/region/job.hpp"

namespace {

using namespace sinew;
using event::state;
using occurrence = event::event;
namespace r = region;

constexpr std::uint64_t rows = 6;
constexpr std::uint64_t columns = 150'000;  // of 8 bytes: more than what is fetched at once
constexpr std::uint64_t margin = 100;       // of each row

std::uint64_t value_of(std::size_t rank, std::uint64_t row, std::uint64_t column) {
  return rank << 48 | row << 32 | column;
}

struct matrix {
  matrix(job& here, r::schema& what, r::field<std::uint64_t> of, r::memory where)
      : job_(here), values(of), mine(here.regions().create(what, where)) {
    expect(here.events().wait(mine.ready) == state::triggered, "an instance");
    for (const std::uint64_t bits : here.gather(mine.what.bits())) {
      all.push_back(r::instance::from_bits(bits));
    }
  }
  ~matrix() { (void)job_.events().wait(job_.regions().destroy(mine.what)); }
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;

  [[nodiscard]] std::uint64_t* data() const {
    return job_.regions().look<std::uint64_t, 2>(mine.what, values).data();
  }
  [[nodiscard]] r::side rows_of(std::size_t rank) const {
    constexpr auto first = static_cast<std::int64_t>(margin);
    return r::at(all[rank], values, {{0, rows, 1}, {first, columns - 2 * margin, 1}});
  }

 private:
  job& job_;

 public:
  r::field<std::uint64_t> values;
  r::made mine;
  std::vector<r::instance> all;
};

/// Whether the rows hold those of `from`, in margins of -1.
bool holds(const std::uint64_t* data, std::size_t from) {
  bool good = true;
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      const bool inside = j >= margin && j < columns - margin;
      good = good && data[i * columns + j] == (inside ? value_of(from, i, j) : ~std::uint64_t{0});
    }
  }
  return good;
}

void clear(const matrix& m) { std::fill_n(m.data(), rows * columns, ~std::uint64_t{0}); }

void run(job& here) {
  const auto me = here.rank().index();
  const auto size = static_cast<std::size_t>(here.size());
  r::schema what(r::shape{rows, columns});
  const r::field<std::uint64_t> of = what.add<std::uint64_t>("value");
  const matrix source(here, what, of, r::memory::heap(here.rank()));
  const matrix shared(here, what, of, r::memory::shared(here.rank()));
  const matrix heap(here, what, of, r::memory::heap(here.rank()));
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      source.data()[i * columns + j] = value_of(me, i, j);
    }
  }
  const std::size_t right = (me + 1) % size;
  const std::size_t left = (me + size - 1) % size;
  for (const bool gets : {false, true}) {
    clear(shared);
    clear(heap);
    here.meet();
    std::vector<occurrence> ends;
    for (const matrix* to : {&shared, &heap}) {
      ends.push_back(gets ? here.regions().copy(source.rows_of(left), to->rows_of(me))
                          : here.regions().copy(source.rows_of(me), to->rows_of(right)));
    }
    for (const occurrence e : ends) {
      expect(here.events().wait(e) == state::triggered, "a copy");
    }
    here.meet();
    expect(holds(shared.data(), left), "shared memory has the rows of the rank on the left");
    expect(holds(heap.data(), left), "private memory has the rows of the rank on the left");
    here.meet();
  }
}

}  // namespace

int main() {
  try {
    job here;
    here.start();
    run(here);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
