// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "sinew/core/job.hpp"
#include "sinew/multipath/transfer.hpp"

int main() {
  using namespace sinew;
  {
    auto memory = rma::engine::open(core::join_job(core::threading::one));
    const std::vector<std::uint64_t> bytes{sizeof(int)};
    multipath::transfer transfer(*memory, route::parse_topology("1"), bytes);
    const std::vector<std::size_t> at{0};
    const int sent = 7;
    int got = 0;
    if (transfer.alltoallv(&sent, at, &got, at).ok() && got == sent) {
      std::puts("the message is there");
    }
  }
  core::leave_job();
}
