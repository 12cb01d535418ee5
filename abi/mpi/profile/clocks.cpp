// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/profile/clocks.hpp"

#include <algorithm>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::mpi::profile {
namespace {

constexpr int rounds = 20;

/// The first rank of each host; none where all are on one host, were spawned, or have one virtual
/// time.
std::vector<job_rank> first_ranks() {
  const boot::place& here = process.runtime->session().where();
  const core::communicator& world = *process.comms[1]->comm;
  std::vector<job_rank> firsts;
  if (here.nodes == 1 || process.runtime->endpoint().bounds().sleeps_at_once ||
      static_cast<int>(here.node_of.size()) != world.size() || world.job_rank(0) != 0) {
    return firsts;
  }
  firsts.assign(static_cast<std::size_t>(here.nodes), no_job_rank);
  for (std::size_t r = here.node_of.size(); r-- != 0;) {
    firsts[static_cast<std::size_t>(here.node_of[r])] = job_rank::of_index(r);
  }
  return firsts;
}

/// One number goes there, or comes; between the programs' messages and the collectives'.
void send_number(int to, std::int64_t number) {
  const core::communicator& world = *process.comms[1]->comm;
  (void)process.engine->send(world, p2p::collectives_of(world),
                             p2p::buffer::of_bytes(&number, sizeof number), comm_rank{to},
                             p2p::max_tag);
}
std::int64_t receive_number(int from) {
  const core::communicator& world = *process.comms[1]->comm;
  std::int64_t number = 0;
  (void)process.engine->recv(world, p2p::collectives_of(world),
                             p2p::buffer::of_bytes(&number, sizeof number), comm_rank{from},
                             p2p::max_tag);
  return number;
}

}  // namespace

std::int64_t clock_pair::by_first(std::int64_t at_ns) const noexcept {
  const auto& [begin, end] = looks;
  if (end.at_ns <= begin.at_ns) {
    return at_ns + begin.behind_ns;
  }
  const double part =
      static_cast<double>(at_ns - begin.at_ns) / static_cast<double>(end.at_ns - begin.at_ns);
  return at_ns + begin.behind_ns +
         static_cast<std::int64_t>(part * static_cast<double>(end.behind_ns - begin.behind_ns));
}

std::int64_t clock_pair::error_ns() const noexcept {
  return std::max(looks[0].error_ns, looks[1].error_ns);
}

clock_look look_at_clock() {
  const std::vector<job_rank> firsts = first_ranks();
  const job_rank own = process.runtime->rank();
  clock_look best{now_ns(), 0, 0};
  for (const job_rank each : firsts) {
    if (each == 0 || each == no_job_rank) {
      continue;
    }
    for (int i = 0; own == 0 && i < rounds; ++i) {
      (void)receive_number(each.value());
      send_number(each.value(), now_ns());
    }
    for (int i = 0; own == each && i < rounds; ++i) {
      const std::int64_t before = now_ns();
      send_number(0, before);
      const std::int64_t theirs = receive_number(0);
      const std::int64_t after = now_ns();
      const std::int64_t error = (after - before + 1) / 2;
      if (i == 0 || error < best.error_ns) {
        best = {after, theirs - (before + error), error};
      }
    }
  }
  return best;
}

}  // namespace sinew::mpi::profile
