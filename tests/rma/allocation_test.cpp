// Hot operations allocate nothing.
#include "rma/fixture.hpp"
#include "sinew/rma/lock.hpp"
#include "support/allocations.hpp"

namespace sinew::rma {
namespace {

class rma_allocations : public rma_test {};

TEST_P(rma_allocations, hot_operations_make_none) {
  run(2, [](rma_member& m) {
    const std::uint64_t box = m.rma.memory().allocate(part::symmetric, 8192);
    lock_table locks(m.rma);
    std::vector<std::byte> data(4096);
    const auto work = [&] {
      const place there{m.next(), box + 1024};
      const axis other{100, 8, 16};
      for (int k = 0; k < 100; ++k) {
        m.rma.put(there, data.data(), 8);
        m.rma.put(there, data.data(), 2000);
        m.rma.get(data.data(), there, 2000);
        m.rma.put_section(there, data.data(), 8, {&other, 1});
        m.rma.fetch_add<std::uint64_t>({m.next(), box}, 1);
        m.rma.accumulate(there, data.data(), 10, element::i64, combine::sum);
        m.rma.fence();
        m.rma.flush(m.next());
        m.rma.sync_all();
        m.rma.signal(m.next());
        m.rma.await(m.next());
        m.rma.post({m.next(), box + 8});
        m.rma.take(box + 8);
        (void)locks.acquire({0, box + 64});
        (void)locks.release({0, box + 64});
      }
    };
    work();
    const long before = test::allocations;
    work();
    const long made = test::allocations - before;
    require(made == 0, std::to_string(made) + " allocations in hot operations");
  });
}

INSTANTIATE_TEST_SUITE_P(ways, rma_allocations, every_way,
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::rma
