// How a rank learns who it is and finds the others: our launcher, PMI-1 (MPICH's Hydra), Open
// MPI's environment on one node, or nobody (a job of one).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::boot {

/// Where this rank stands in its job. Local means: on this node.
struct place {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  int local_cpus = 0;  ///< processors that the ranks of this node share; 0: not told
  std::vector<int> local_ranks = {0};  ///< global ranks on this node, ascending
  std::string job = "alone";           ///< unique among the jobs that share this node
  std::string launcher = "alone";      ///< "sinew", "pmi1", "openmpi", "alone"
};

/// One rank's line to its launcher. Used by one thread, at start and end only. Grade: cold.
/// Every call may block; every failure throws sinew::error.
class session {
 public:
  virtual ~session() = default;

  [[nodiscard]] virtual const place& where() const = 0;

  /// Key-value exchange: values put before a fence are seen by every rank after it.
  virtual void put(const std::string& key, const std::string& value) = 0;
  [[nodiscard]] virtual std::optional<std::string> get(const std::string& key) = 0;
  virtual void fence() = 0;

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

  /// The last call: after it the launcher no longer treats this rank's exit as a failure.
  virtual void finalize() = 0;
  [[nodiscard]] bool finalized() const noexcept { return finalized_; }

  /// Local ranks, by their local number, that have not mapped the node's memory yet: their programs
  /// have not called MPI_Init, or never will. Any thread.
  [[nodiscard]] virtual std::vector<int> absent() const { return {}; }
  /// This rank will take part in nothing any more, although it does not finalize.
  virtual void depart() noexcept {}
  /// Every other local rank has finalized or departed; false if that cannot be known.
  [[nodiscard]] virtual bool others_have_left() const noexcept { return where().size == 1; }

 protected:
  bool finalized_ = false;
};

/// Chooses the way in from the environment. Throws if the environment contradicts itself.
[[nodiscard]] std::unique_ptr<session> connect();

}  // namespace sinew::boot
