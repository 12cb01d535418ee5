// Partitioned communication (MPI-5.0 chapter 4) behind its requests.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "abi/mpi/request.hpp"

namespace sinew::mpi {

/// One side: what persists from start to start. The other one is found by a message of its own, the
/// terms, that each MPI_Psend_init sends and each MPI_Precv_init receives: matched by source and
/// tag in the order of those calls, as the standard has it. It says how many partitions there are,
/// how long, and by which tags they come: each of the sender's is one message, sent when it is
/// marked ready, whatever the receiver's partitions are.
class partitioned_operation {
 public:
  struct arguments {
    comm_object& comm;
    p2p::buffer each;  ///< the first partition; the others follow it
    int partitions;
    int peer;
    int tag;
  };
  partitioned_operation(const arguments& with, bool sends)
      : with_(with), sends_(sends), keeps_(layout::share(*with.each.type)) {}
  virtual ~partitioned_operation() = default;
  partitioned_operation(const partitioned_operation&) = delete;
  partitioned_operation& operator=(const partitioned_operation&) = delete;

  /// Tells the other side of the call, or listens to what it tells. Once, before anything else.
  /// Throws std::bad_alloc, with nothing done.
  virtual void introduce() = 0;
  /// Throws failure, with nothing started.
  virtual void start() = 0;
  /// Sends a partition, which exists. Throws failure if that has been done since the last start.
  /// Any thread. Hot.
  virtual void ready(std::size_t /*partition*/) {}
  /// Of a receive that is active. Any thread. Hot.
  [[nodiscard]] virtual bool arrived(std::size_t /*partition*/) const noexcept { return false; }
  [[nodiscard]] bool sends() const noexcept { return sends_; }
  [[nodiscard]] int partitions() const noexcept { return with_.partitions; }
  /// Done when all partitions of the present start have been sent, or have arrived.
  [[nodiscard]] core::completion& over() noexcept { return over_; }
  /// Fills the status; the error class, and what it means. Only when it is over.
  int conclude(MPI_Status* status, std::string* sentence) const;
  /// The same without the error.
  virtual void fill(MPI_Status* status) const noexcept = 0;

 protected:
  [[nodiscard]] void* place_of(std::size_t instance) const noexcept;
  /// A start. Whoever starts its messages says how many by expect(), and has ended by end_one(), as
  /// each of them.
  void begin() noexcept;
  void expect(std::size_t messages) noexcept {
    left_.fetch_add(messages, std::memory_order_relaxed);
  }
  /// Whoever ends the last one must not use the object afterwards.
  void end_one() noexcept { end_some(1); }
  void end_some(std::size_t messages) noexcept;
  void note(p2p::fault f) noexcept;
  /// What a fault means; cold.
  [[nodiscard]] virtual std::string about(p2p::fault f) const = 0;

  const arguments with_;

 private:
  const bool sends_;
  layout::datatype_ref keeps_;  ///< the user may free the type
  core::completion over_;
  /// Each end is a release, and the last one an acquire: it completes the operation on behalf of
  /// all.
  std::atomic<std::size_t> left_{0};
  /// The first one of a start. Relaxed: `left_` publishes it.
  std::atomic<p2p::fault> fault_{p2p::fault::none};
};

/// Throw std::bad_alloc. Cold.
[[nodiscard]] std::shared_ptr<partitioned_operation> new_partitioned_send(
    const partitioned_operation::arguments& with);
[[nodiscard]] std::shared_ptr<partitioned_operation> new_partitioned_receive(
    const partitioned_operation::arguments& with);

}  // namespace sinew::mpi
