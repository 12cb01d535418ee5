// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoallv over planned paths, where the hint sinew_alltoallv_topology names a network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinew/coll/collectives.hpp"
#include "sinew/multipath/transfer.hpp"

namespace sinew::mpi {

/// Of one communicator. Calls are collective over it.
class routed {
 public:
  /// Null if the hint cannot be followed: the communicator is not all ranks of the job in their
  /// order, the network has another number of endpoints, threads may call MPI at the same time
  /// (carriers share one sequence of allocations), or the text names no network. Rank 0 says so
  /// in one line, once for each text. Cold.
  [[nodiscard]] static std::unique_ptr<routed> make(core::communicator& comm,
                                                    const std::string& topology);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Whether it has carried the call out, on all ranks: MPI_Alltoallv over these paths. Plans when
  /// some rank's counts are not those of the call before. False: the usual algorithm must do it
  /// (other collectives, MPI_IN_PLACE, data with gaps, a network in pieces, a message longer than
  /// what its receiver expects). Suspends.
  [[nodiscard]] bool carries(coll::participant at, const coll::call& c);

 private:
  explicit routed(route::topology net) : net_(std::move(net)) {}
  [[nodiscard]] bool plan(coll::participant at);

  std::string text_;
  route::topology net_;
  std::vector<std::uint64_t> send_bytes_;
  std::vector<std::uint64_t> receive_bytes_;
  std::vector<std::size_t> send_at_;
  std::vector<std::size_t> receive_at_;
  std::unique_ptr<multipath::transfer> transfer_;  ///< null: these counts go the usual way
};

}  // namespace sinew::mpi
