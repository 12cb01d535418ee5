// One rank of a launched job: `rma_probe ring` passes data around, `rma_probe full` asks for more
// than there is.
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/rma/barrier.hpp"
#include "sinew/rma/engine.hpp"

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

int run(std::string_view what) {
  (void)sinew::settings::load_environment();
  auto runtime = sinew::core::runtime::open(sinew::boot::connect(), sinew::core::threading::one);
  int code = 0;
  {
    const auto rma = engine::open(*runtime);
    if (what == "full") {
      for (int k = 0; k < 2; ++k) {
        (void)rma->memory().allocate(part::symmetric, 2 << 20);
      }
    } else {
      code = ring(*rma) ? 0 : 1;
    }
  }
  runtime->session().finalize();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "ring");
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rma_probe: %s\n", failure.what());
    return 9;
  }
}
