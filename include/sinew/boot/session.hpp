// SPDX-License-Identifier: BSD-3-Clause
// How a rank learns who it is and finds the others: our launcher, PMI-1 (MPICH's Hydra), Open
// MPI's environment on one node, or nobody (a job of one).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/ids.hpp"

namespace sinew::boot {

class survival;
struct spawn_answer;
struct spawn_request;
struct tenancy;
struct wait_report;

/// Of a job that may start more ranks: see spawn.hpp. A rank's number in the job is its place.
struct spawn_places {
  int count = 0;        ///< for all ranks, of the start and later; 0: none can be started
  int started = 0;      ///< 0 to started - 1 are the ranks of the start
  std::string contact;  ///< of a spawned rank: its spawner's; empty for those of the start
  std::vector<job_rank> fellows = {};       ///< of a spawned rank: all of its spawn, by rank there
  std::vector<std::uint32_t> tenants = {};  ///< of these
};

/// Where this rank stands in its job. Local means: on this node. For a spawned rank the job's size,
/// its local ranks and node are those of the ranks that were spawned together.
struct place {
  job_rank rank = 0;
  int size = 1;
  sinew::local_rank local_rank = 0;
  int local_size = 1;
  int local_cpus = 0;  ///< processors that the ranks of this node share; 0: not told
  std::vector<job_rank> local_ranks = {0};  ///< of this node, ascending
  int node = 0;                             ///< this rank's, counted from 0
  int nodes = 1;                            ///< hosts that the job runs on
  std::vector<int> node_of = {};            ///< by rank; empty where there is only one node
  std::vector<std::string> hosts = {};      ///< names by node, for messages; empty where not told
  std::string job = "alone";                ///< unique among the jobs that share this node
  std::string launcher = "alone";           ///< "sinew", "pmi1", "openmpi", "alone"
  int application = 0;  ///< which of the programs that were started together this rank runs
  spawn_places spawning = {};

  [[nodiscard]] bool spawned() const noexcept { return !spawning.fellows.empty(); }
  /// Ranks that this one may ever have to do with: 0 to reach() - 1.
  [[nodiscard]] int reach() const noexcept { return spawning.count != 0 ? spawning.count : size; }
  /// The ranks that were started together, by their rank there.
  [[nodiscard]] std::vector<job_rank> members() const;
  /// On this node: any thread.
  [[nodiscard]] bool is_near(job_rank other) const noexcept;
  /// The least rank on this node, which names it.
  [[nodiscard]] job_rank node_leader() const noexcept {
    return spawning.count != 0 ? job_rank{0} : local_ranks.front();
  }
  /// For messages: so many ranks there are, this one among them.
  [[nodiscard]] int known_size() const noexcept {
    return spawned() ? std::max(spawning.started, spawning.fellows.back().value() + 1) : size;
  }
};

/// One rank's line to its launcher. Used by one thread, at start and end only, but for what says
/// otherwise. Grade: cold. Every call may block; every failure throws sinew::error.
class session {
 public:
  virtual ~session() = default;

  [[nodiscard]] virtual const place& where() const = 0;

  /// Key-value exchange over all nodes: values put before a fence are seen by every rank after
  /// it. A key is one word of at most 63 bytes (50 where the value is longer than the launcher's
  /// limit of about 1,000 bytes and travels in pieces), a value any bytes. get(): any thread, at
  /// any time, but that it waits while a fence lasts.
  virtual void put(const std::string& key, const std::string& value) = 0;
  [[nodiscard]] virtual std::optional<std::string> get(const std::string& key) = 0;
  virtual void fence() = 0;

  /// Names that any rank of the job may look up from when one has published them until one takes
  /// them back: false if the name is there already, or is not there. Any bytes. Only the launchers
  /// that have such a service can do it; the others' sessions throw.
  [[nodiscard]] virtual bool publish(const std::string& name, const std::string& value);
  [[nodiscard]] virtual std::optional<std::string> lookup(const std::string& name);
  [[nodiscard]] virtual bool unpublish(const std::string& name);

  /// Shared memory of `bytes` per local rank, zero-filled, as one mapping of the whole node:
  /// memory of local rank r begins at base + r * bytes. Collective over the node; once per
  /// session. From the launcher's memfd, or a shm object unlinked as soon as all have mapped it.
  [[nodiscard]] virtual std::byte* map_node_memory(std::size_t bytes_per_rank) = 0;

  /// More of it, for what may be large: zero-filled, its pages exist once they are touched. The
  /// local ranks ask for the same size, each when it likes after map_node_memory (which a
  /// rank alone on its node need not have called), waiting for nobody; once per session. Laid out
  /// as above.
  [[nodiscard]] virtual std::byte* map_node_heap(std::size_t bytes_per_rank) = 0;

  /// Ends the whole job with `code`; `why` is printed by the launcher. Any thread.
  [[noreturn]] virtual void abort(int code, std::string_view why) = 0;

  /// The last call, but for resume(): after it the launcher no longer treats this rank's exit as a
  /// failure.
  virtual void finalize() = 0;
  /// After finalize(): it does again, until the next finalize(). Not every launcher can be told.
  virtual void resume() {}
  [[nodiscard]] bool finalized() const noexcept { return finalized_; }

  /// Local ranks that have not mapped the node's memory yet: their programs
  /// have not called MPI_Init, or never will. Any thread.
  [[nodiscard]] virtual std::vector<job_rank> absent() const { return {}; }
  /// This rank will take part in nothing any more, although it does not finalize.
  virtual void depart() noexcept {}
  /// Every other rank has finalized or departed; false if that cannot be known. After depart(), by
  /// the same thread.
  [[nodiscard]] virtual bool others_have_left() noexcept { return where().size == 1; }

  /// This rank's connection to another one has broken: true if the launcher finds out whether that
  /// rank has died, and ends the job with the reason. An empty `why`: it has answered after all.
  /// Any thread.
  [[nodiscard]] virtual bool report_loss(job_rank /*lost*/, const std::string& /*why*/) noexcept {
    return false;
  }

  /// A warning about what is likely the same in all ranks. `sinew run` prints each text once a job,
  /// under other launchers rank 0 alone does. Once a text in this process. Cold.
  void remark(const std::string& text);

  /// Whether anybody may want to know what ranks wait for, the newest question that nobody has
  /// taken yet (0: none), and the answer: of our launcher, or of others by the rank's pulse. By one
  /// thread at a time; any thread. Warm.
  [[nodiscard]] virtual bool asks_for_waits() const noexcept;
  [[nodiscard]] virtual int take_question() noexcept;
  virtual void tell_wait(const wait_report& report) noexcept;

  /// Starts more ranks, and returns when their processes are there. Throws where no launcher can do
  /// it; the answer says it if these ranks cannot be.
  [[nodiscard]] virtual spawn_answer spawn(const spawn_request& request);
  /// Before finalize(): this rank still has to do with ranks that it was not started with, which
  /// may read its memory when it has ended. So no other rank may have its place.
  virtual void stay_connected() {}

  /// Of a job that goes on when ranks die; null for all others.
  [[nodiscard]] virtual survival* survivors() noexcept { return nullptr; }

  /// remark(), of a text that is new here.
  virtual void tell_remark(const std::string& text);

 protected:
  bool finalized_ = false;

 private:
  std::mutex remarking_;
  std::set<std::string> remarks_;  ///< under it
};

/// Chooses the way in from the environment. Throws if the environment contradicts itself.
[[nodiscard]] std::unique_ptr<session> connect();

}  // namespace sinew::boot
