// SPDX-License-Identifier: BSD-3-Clause
// One rank of a launched job: `rma_probe ring` passes data around, `mix` does every other thing
// that ranks can do to each other's heaps, also `shifted`, where these lie at other addresses in
// every other rank; `full` asks for more than there is.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/rma/barrier.hpp"
#include "sinew/rma/engine.hpp"
#include "sinew/rma/lock.hpp"

namespace {

using sinew::rma::engine;
using sinew::rma::outside;
using sinew::rma::part;

bool ring(engine& rma) {
  const sinew::job_rank next{(rma.rank().value() + 1) % rma.size()};
  const auto size = static_cast<std::uint64_t>(rma.size());
  constexpr std::size_t count = 1 << 18;
  const std::uint64_t data = rma.memory().allocate(part::symmetric, count * 8);
  const std::uint64_t token = rma.memory().allocate(part::symmetric, 8);
  const std::uint64_t addresses = rma.memory().allocate(part::symmetric, 8 * size);
  std::vector<std::uint64_t> mine(count, rma.rank().index());
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(mine.data()));
  for (sinew::job_rank r = 0; r.below(rma.size()); ++r) {
    rma.put({r, addresses + 8 * rma.rank().index()}, &address, 8);
  }
  rma.put_notify({next, data}, mine.data(), count * 8, token);
  (void)rma.wait(token, sinew::rma::until::at_least, 1);
  const auto* got = reinterpret_cast<const std::uint64_t*>(rma.at({rma.rank(), data}));
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    good = good && (got[i] + 1) % size == rma.rank().index();
  }
  rma.sync_all();
  for (int k = 0; k < 100; ++k) {
    (void)rma.fetch_add<std::uint64_t>({0, data}, 1);
    rma.sync_all();
  }
  good = good && rma.load<std::uint64_t>({0, data}) == size - 1 + 100 * size;
  // Memory of the next rank that no heap holds.
  std::uint64_t far = 0;
  rma.get(&far, {rma.rank(), addresses + 8 * next.index()}, 8);
  std::vector<std::uint64_t> back(count);
  rma.get(back.data(), outside::of(next, far), count * 8);
  good = good && back.back() == next.index();
  rma.sync_all();
  return good;
}

/// Each rank to and from the one before it and the last one, of which some may be on other nodes.
bool mix(engine& rma) {
  using namespace sinew::rma;
  constexpr std::size_t n = 60;
  const auto size = static_cast<std::uint64_t>(rma.size());
  const auto me = rma.rank().index();
  const sinew::job_rank before{(rma.rank().value() + rma.size() - 1) % rma.size()};
  const sinew::job_rank last{rma.size() - 1};
  const std::uint64_t table = rma.memory().allocate(part::symmetric, n * n * 8);
  const std::uint64_t words = rma.memory().allocate(part::symmetric, 256);
  std::vector<std::uint64_t> data(n * n);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = 1000 * before.index() + i;
  }
  // By columns, and every other element of each back in reverse.
  const axis columns[] = {{n, 8 * n, 8 * n}, {n, 8, 8}};
  rma.put_section({before, table}, data.data(), 8, columns);
  rma.flush(before);
  rma.sync_all();
  const auto* got = reinterpret_cast<const std::uint64_t*>(rma.at({rma.rank(), table}));
  bool good = true;
  for (std::size_t i = 0; i < data.size(); ++i) {
    good = good && got[i] == 1000 * me + i;
  }
  std::vector<std::uint64_t> back(n);
  const axis reversed{n / 2, 16, -16};
  rma.get_section(back.data(), {last, table + 8 * (n - 2)}, 8, {&reversed, 1});
  for (std::size_t i = 0; i < n / 2; ++i) {
    good = good && back[2 * i] == 1000 * last.index() + (n - 2) - 2 * i;
  }
  rma.sync_all();
  // A counter under a lock, a sum, a swap that only one rank makes, events.
  {
    lock_table locks(rma);
    const place lock{last, words};
    for (int k = 0; k < 20; ++k) {
      good = locks.acquire(lock) == lock_table::answer::done && good;
      std::uint64_t count = 0;
      rma.get(&count, {last, words + 8}, 8);
      ++count;
      rma.put({last, words + 8}, &count, 8);
      rma.fence();
      good = locks.release(lock) == lock_table::answer::done && good;
    }
    const double one = 1;
    rma.accumulate({last, words + 16}, &one, 1, element::f64, combine::sum);
    const bool won = rma.compare_swap<std::uint64_t>({last, words + 24}, 0, me + 1) == 0;
    rma.add<std::uint32_t>({last, words + 32}, won ? 1 : 0);
    rma.post({before, words + 40});
    rma.take(words + 40);
    rma.flush_all();
    rma.sync_all();
  }
  double sum = 0;
  rma.get(&sum, {last, words + 16}, 8);
  return good && rma.load<std::uint64_t>({last, words + 8}) == 20 * size &&
         std::uint64_t(sum) == size && rma.load<std::uint32_t>({last, words + 32}) == 1;
}

/// Address space that this process cannot have its heap in, of a length that no other's is.
void take_addresses(std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i) {
    (void)::mmap(nullptr, (i + 1) << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                 0);
  }
}

/// Of the ranks' heaps no two begin at one address.
bool bases_differ(engine& rma) {
  const std::uint64_t bases = rma.memory().allocate(part::symmetric, 8 * 64);
  const auto own = reinterpret_cast<std::uintptr_t>(rma.at({rma.rank(), bases}));
  for (sinew::job_rank r = 0; r.below(rma.size()); ++r) {
    rma.put({r, bases + 8 * rma.rank().index()}, &own, sizeof own);
  }
  rma.flush_all();
  rma.sync_all();
  const auto* all = reinterpret_cast<const std::uintptr_t*>(own);
  return std::count(all, all + rma.size(), own) == 1;
}

int run(std::string_view what, std::size_t rank) {
  (void)sinew::settings::load_environment();
  if (what == "shifted") {
    take_addresses(rank);
  }
  auto runtime = sinew::core::runtime::open(sinew::boot::connect(), sinew::core::threading::one);
  int code = 0;
  {
    const auto rma = engine::open(*runtime);
    if (what == "full") {
      for (int k = 0; k < 2; ++k) {
        (void)rma->memory().allocate(part::symmetric, 2 << 20);
      }
    } else {
      code = (what == "ring" ? ring(*rma) : mix(*rma)) ? 0 : 1;
      if (what == "shifted" && !bases_differ(*rma)) {
        code = 2;
      }
      rma->sync_all();  // who asks another rank has been answered
    }
  }
  runtime->session().finalize();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const char* rank = std::getenv("PMI_RANK");
    return run(argc > 1 ? argv[1] : "ring", rank != nullptr ? std::strtoul(rank, nullptr, 10) : 0);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rma_probe: %s\n", failure.what());
    return 9;
  }
}
