// SPDX-License-Identifier: BSD-3-Clause
// A plan carried out: an all-to-all whose messages travel in chunks over several paths, forwarded
// by the ranks on the way. Planned once, used as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/rma/engine.hpp"
#include "sinew/route/pattern.hpp"
#include "sinew/route/plan.hpp"
#include "sinew/route/simulate.hpp"
#include "sinew/route/topology.hpp"

namespace sinew::multipath {

struct transfer_options {
  route::plan_options plan;          ///< its costs.chunk is the size of a chunk, in bytes
  std::uint32_t ranks_per_node = 1;  ///< consecutive ranks share a node of the network
  std::uint32_t slots = 4;           ///< chunks of one path that a rank on its way holds
  std::size_t memory = 256 << 20;    ///< most bytes that those take in one rank
  route::queue_rule rule = route::queue_rule::forward_first;
  /// Store and forward at every rank on the way; else only where the path leaves the network's own
  /// route, which then carries the chunk over several links at once.
  bool every_hop = false;
  /// Seconds without any progress after which a call gives up and says for whom it waited. 0:
  /// never, as under a launcher, which ends the job when a rank dies. The same on all ranks.
  double patience_s = 0;
  /// For tests: how long (ns) `bytes` hold the link from this rank to another. Links so limited
  /// carry one chunk at a time; the wait for them is a busy one.
  std::function<std::uint64_t(job_rank to, std::uint64_t bytes)> link_time_ns = {};
};

/// How a call ended.
struct [[nodiscard]] delivery {
  enum class end : std::uint8_t {
    done,       ///< everything sent is out of the buffer, everything to receive is there
    gave_up,    ///< this rank's patience was over
    abandoned,  ///< another rank gave up
  };
  end how = end::done;
  job_rank who = -1;     ///< the rank that gave up
  job_rank silent = -1;  ///< the rank that it missed
  [[nodiscard]] bool ok() const noexcept { return how == end::done; }
  [[nodiscard]] std::string sentence() const;
};

/// One rank's part. All ranks of the job make, use and destroy transfers in the same order; they
/// and the allocations and releases of the symmetric heap count as one sequence. One thread at a
/// time.
class transfer {
 public:
  /// Collective. `send_bytes[r]`: what this rank sends to r in each call. Rank 0 plans for all.
  /// Throws sinew::error, the same on all ranks: another number of ranks than the network has
  /// endpoints, disconnected ends, too much memory (says how much). Cold.
  transfer(rma::engine& e, const route::topology& net, std::span<const std::uint64_t> send_bytes,
           const transfer_options& options = {});
  /// Collective; every rank brings the same plan. Throws if it is one for another network. Cold.
  transfer(rma::engine& e, const route::topology& net, const route::route_plan& plan,
           const transfer_options& options = {});
  /// Collective, unless a call has failed.
  ~transfer();
  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;

  /// What this rank sends to and receives from another in each call.
  [[nodiscard]] std::uint64_t bytes_to(job_rank r) const { return to_[r.index()]; }
  [[nodiscard]] std::uint64_t bytes_from(job_rank r) const { return from_[r.index()]; }

  /// Collective. The message to r begins at send + send_at[r], the one from r goes to
  /// receive + receive_at[r]; messages to receive must not overlap. Receive buffers in this rank's
  /// heap are written by the sender; others cost one copy more. Returns when this rank's part is
  /// done, others may still be at theirs. After a failure every later call fails likewise.
  /// Suspends. Warm: allocates nothing that grows.
  delivery alltoallv(const void* send, std::span<const std::size_t> send_at, void* receive,
                     std::span<const std::size_t> receive_at);

  /// What one call does: chunks this rank puts, and their bytes (its own and those of others).
  [[nodiscard]] std::uint64_t chunks_moved() const noexcept { return chunks_moved_; }
  [[nodiscard]] std::uint64_t bytes_moved() const noexcept { return bytes_moved_; }
  /// Bytes of this rank's heap that hold the chunks of others, and the rank's control words.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return block_bytes_; }
  /// Bytes a chunk has at most: smaller than asked for if memory is short.
  [[nodiscard]] std::uint64_t chunk() const noexcept { return chunk_; }

 private:
  struct relay;
  struct paths;
  struct buffers;

  void settle(const paths& all);
  void lay_out(const paths& all);
  void choose_chunk(const paths& all, std::uint64_t head);
  void begin(const buffers& call);
  bool step(relay& s, const buffers& call);
  [[nodiscard]] bool movable(const relay& s) const;
  [[nodiscard]] bool link_busy(job_rank to) const;
  void put_chunk(relay& s, const std::byte* from, std::uint64_t bytes);
  void take_chunk(relay& s, std::byte* to, std::uint64_t bytes);
  void give_room(relay& s);
  void mark(job_rank rank, std::uint32_t bit);
  void enqueue(std::uint32_t index);
  std::uint32_t next_in_turn();
  void collect();
  [[nodiscard]] bool wait_for_marks();
  [[nodiscard]] bool finished() const noexcept { return open_ == 0; }
  delivery give_up(job_rank silent);
  [[nodiscard]] job_rank silent_rank() const;
  void note_beats();

  rma::engine& engine_;
  transfer_options options_;
  job_rank rank_;
  int size_;
  std::uint64_t chunk_ = 0;
  std::vector<std::uint64_t> to_;
  std::vector<std::uint64_t> from_;
  std::vector<relay> relays_;
  std::uint64_t block_ = 0;  ///< symmetric: control words, then rings
  std::size_t block_bytes_ = 0;
  std::size_t words_ = 0;  ///< of marks
  std::uint64_t rings_at_ = 0;

  std::uint64_t call_ = 0;
  std::size_t open_ = 0;  ///< relays whose part of this call is not done
  std::deque<std::uint32_t> forward_;
  std::deque<std::uint32_t> own_;
  bool own_turn_ = false;
  delivery verdict_;
  std::uint64_t beat_ = 0;
  std::uint64_t progress_ns_ = 0;  ///< when a chunk was last moved here
  std::vector<std::uint64_t> beats_;
  std::vector<std::uint64_t> link_free_ns_;
  std::uint64_t chunks_moved_ = 0;
  std::uint64_t bytes_moved_ = 0;
};

/// What each rank sends to each, from a list of jobs between ranks: row `rank` of the matrix.
[[nodiscard]] std::vector<std::uint64_t> row_of(const route::job_list& jobs, job_rank rank,
                                                int size);

}  // namespace sinew::multipath
