// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/routed.hpp"

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "abi/mpi/session.hpp"
#include "abi/mpi/world.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"

namespace sinew::mpi {
namespace {

/// The least of what all ranks say.
int agree(coll::participant at, int mine) {
  std::int32_t least = mine;
  const coll::op minimum{coll::op_kind::min};
  (void)coll::allreduce(at, coll::in_place, {&least, 1, &layout::of(layout::element::i32)},
                        minimum);
  SINEW_ENSURE(least <= mine);
  return least;
}

/// Bytes and places of a side; false if its data is not one run for each rank.
bool flatten(const coll::parts& side, std::size_t ranks, std::vector<std::uint64_t>& bytes,
             std::vector<std::size_t>& at) {
  if (side.type == nullptr || !side.type->dense()) {
    return false;
  }
  bytes.resize(ranks);
  at.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (side.displacements[r] < 0) {
      return false;
    }
    bytes[r] = static_cast<std::uint64_t>(side.counts[r]) * side.type->size();
    at[r] = static_cast<std::size_t>(side.displacements[r]) * side.type->size();
  }
  return true;
}

/// A hint may always be ignored, but not in silence: one line, from one rank, for each text. The
/// second thread to come here waits; hints are set rarely.
void say_ignored(const core::communicator& comm, const std::string& topology,
                 const std::string& why, const std::string& hint) {
  static std::mutex one_at_a_time;
  static std::set<std::string> said;
  if (comm.rank() != 0) {
    return;
  }
  const std::lock_guard<std::mutex> held(one_at_a_time);
  if (!said.insert(topology + '\n' + why).second) {
    return;
  }
  SINEW_LOG(warn, "MPI_Alltoallv goes the usual way: the hint sinew_alltoallv_topology=\"" +
                      topology + "\" is ignored (" + why + ")" + (hint.empty() ? "" : "; " + hint));
}

enum : int { usual_way = 0, counts_are_new = 1, counts_are_known = 2 };

}  // namespace

std::unique_ptr<routed> routed::make(core::communicator& comm, const std::string& topology) {
  // A helper thread makes the runtime one for threads, too; of it the executor need not know.
  if (level_of_library() == MPI_THREAD_MULTIPLE || process.thread_level == MPI_THREAD_MULTIPLE) {
    say_ignored(comm, topology, "threads may call MPI at the same time",
                "ask for MPI_THREAD_SERIALIZED or less");
    return nullptr;
  }
  bool whole_job = comm.size() == process.runtime->size();
  for (int r = 0; whole_job && r < comm.size(); ++r) {
    whole_job = comm.job_rank(comm_rank{r}).value() == r;
  }
  if (!whole_job) {
    say_ignored(comm, topology, "the communicator is not all ranks of the job in their order",
                "give it to MPI_COMM_WORLD or a duplicate");
    return nullptr;
  }
  try {
    std::unique_ptr<routed> made(new routed(route::parse_topology(topology)));
    made->text_ = topology;
    const auto ends = static_cast<int>(made->net_.endpoints());
    if (comm.size() % ends == 0) {
      return made;
    }
    say_ignored(comm, topology,
                "it has " + std::to_string(ends) + " endpoints, which do not divide the " +
                    std::to_string(comm.size()) + " ranks",
                "name a network with as many endpoints as nodes");
  } catch (const error& e) {
    const std::string why = e.why().empty() ? "" : ": " + e.why();
    say_ignored(comm, topology, e.problem() + why, e.hint());
  }
  return nullptr;
}

bool routed::carries(coll::participant at, const coll::call& c) {
  if (c.what != coll::collective::alltoall || c.recv.form() != coll::blocks::form::parts) {
    return false;
  }
  const coll::parts send = c.send.as_parts();
  const coll::parts receive = c.recv.as_parts();
  const auto ranks = static_cast<std::size_t>(at.comm.size());
  std::vector<std::uint64_t> out;
  std::vector<std::uint64_t> in;
  int state = usual_way;
  if (send.base != coll::in_place && flatten(send, ranks, out, send_at_) &&
      flatten(receive, ranks, in, receive_at_)) {
    state = out == send_bytes_ && in == receive_bytes_ ? counts_are_known : counts_are_new;
  }
  state = agree(at, state);
  SINEW_ASSERT(state >= usual_way && state <= counts_are_known);
  if (state == usual_way) {
    return false;
  }
  if (state == counts_are_new) {
    send_bytes_ = std::move(out);
    receive_bytes_ = std::move(in);
    if (!plan(at)) {
      return false;
    }
  }
  if (transfer_ == nullptr) {
    return false;
  }
  const bool done =
      transfer_->alltoallv(send.base, send_at_, const_cast<void*>(receive.base), receive_at_).ok();
  // What is still under way to other nodes would hold up this rank's next atomic, which may come
  // when their ranks have passed MPI_Finalize's barrier and answer no more.
  rma::engine::of_process(*process.runtime).settle();
  return done;
}

bool routed::plan(coll::participant at) {
  SINEW_EXPECT(send_bytes_.size() == static_cast<std::size_t>(at.comm.size()));
  SINEW_EXPECT(receive_bytes_.size() == send_bytes_.size());
  transfer_.reset();
  bool fits = true;
  try {
    multipath::transfer_options o;
    o.ranks_per_node = static_cast<std::uint32_t>(at.comm.size()) / net_.endpoints();
    transfer_ = std::make_unique<multipath::transfer>(rma::engine::of_process(*process.runtime),
                                                      net_, send_bytes_, o);
    for (int r = 0; r < at.comm.size(); ++r) {
      fits =
          fits && transfer_->bytes_from(job_rank{r}) == receive_bytes_[static_cast<std::size_t>(r)];
    }
  } catch (const error&) {
    fits = false;
  }
  // Wrong counts are reported by the general algorithm, by MPI's rules.
  if (agree(at, fits ? 1 : 0) == 0) {
    transfer_.reset();
  }
  return transfer_ != nullptr;
}

}  // namespace sinew::mpi
