// How a window's ranks reach those of other nodes. Puts and gets are rma's. What excludes others
// (accumulates, compare-and-swap, locks) is a request that the owner carries out while it makes
// progress, with the words of its record by which the ranks of its own node exclude each other: so
// that all origins of a target do.
//
// A pair's requests and puts are done in their order; complete() waits until all are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sinew/base/ids.hpp"
#include "sinew/coll/op.hpp"
#include "sinew/core/communicator.hpp"
#include "sinew/layout/datatype.hpp"
#include "sinew/p2p/engine.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::mpi {

struct window_record;

class window_far {
 public:
  /// Of all ranks, in this process' mapping. Others may ask from now on, once their records of this
  /// rank have its name.
  window_far(rma::engine& e, const core::communicator& comm, window_record* records);
  /// After a barrier behind which no rank asks any more.
  ~window_far();
  window_far(const window_far&) = delete;
  window_far& operator=(const window_far&) = delete;

  [[nodiscard]] std::uint64_t name() const noexcept { return name_; }
  [[nodiscard]] bool has(int rank) const noexcept { return !engine_.maps(job(rank)); }

  // For ranks of other nodes. All suspend. Warm.

  /// Elements of one kind in `there`, whose addresses count from `address`.
  struct elements {
    std::uint64_t address;
    const p2p::buffer& there;
    layout::element kind;
  };
  /// target = from (op) target; what was there goes to `before`, if that is not null. Both have the
  /// elements side by side. Under way when this returns; `before` is filled up to finish_gets().
  void combine(int rank, const elements& target, coll::op_kind op, const std::byte* from,
               std::byte* before) const;
  static constexpr std::size_t longest_word = 16;
  /// `before` becomes what was there, up to finish_gets(); `value` is stored if that is `expected`.
  void compare_swap(int rank, std::uint64_t address, std::size_t bytes, const void* value,
                    const void* expected, void* before) const;
  /// Whether it is had now.
  [[nodiscard]] bool lock(int rank, bool exclusively) const;
  /// Under way when this returns.
  void unlock(int rank, bool exclusively) const;
  /// Whether [from, to) lies in one piece of memory that the owner has attached.
  [[nodiscard]] bool attached(int rank, std::uint64_t from, std::uint64_t to) const;

  void put(int rank, std::span<const fabric::piece> pieces) const {
    engine_.put_pieces(job(rank), pieces);
  }
  void get(int rank, std::span<const fabric::piece> pieces) const {
    engine_.get_pieces(job(rank), pieces);
  }
  /// The same, under way until finish_gets().
  void get_later(int rank, std::span<const fabric::piece> pieces) const {
    engine_.get_pieces_later(job(rank), pieces);
  }
  void finish_gets() const { engine_.finish_gets(); }
  [[nodiscard]] const rma::engine& engine() const noexcept { return engine_; }
  /// Whatever this rank has done to others has been done there, and what it gets is here.
  void complete() const {
    engine_.flush_all();
    engine_.finish_gets();
  }

 private:
  [[nodiscard]] job_rank job(int rank) const noexcept { return comm_.job_rank(comm_rank{rank}); }
  [[nodiscard]] std::uint64_t name_at(int rank) const noexcept;
  void ask(int rank, std::span<const rma::question> all) const {
    engine_.ask(job(rank), rma::service::windows, all);
  }

  rma::engine& engine_;
  const core::communicator& comm_;
  const window_record* records_;
  std::uint64_t name_;
};

}  // namespace sinew::mpi
