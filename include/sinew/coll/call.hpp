// SPDX-License-Identifier: BSD-3-Clause
// A collective call of one rank: what it gives and what it gets, described once for the blocking,
// the nonblocking and the persistent form, and for every algorithm that may carry it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sinew/base/check.hpp"
#include "sinew/coll/op.hpp"
#include "sinew/core/communicator.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::node {
class team;
}

namespace sinew::coll {

using p2p::buffer;
using p2p::fault;

/// The send argument that says "my data is already in the receive buffer" (MPI_IN_PLACE).
inline const void* const in_place = reinterpret_cast<const void*>(std::uintptr_t{1});

/// A buffer per rank: counts and displacements in units of the type's extent (the v-variants).
struct parts {
  const void* base;
  const std::ptrdiff_t* counts;
  const std::ptrdiff_t* displacements;
  const layout::datatype* type;
};
/// The w-variants: displacements in bytes, a type per rank.
struct parts_w {
  const void* base;
  const std::ptrdiff_t* counts;
  const std::ptrdiff_t* displacements;
  const layout::datatype* const* types;
};

/// `count` instances from instance `first` on.
[[nodiscard]] inline buffer part(const void* base, std::ptrdiff_t first, std::size_t count,
                                 const layout::datatype& type) noexcept {
  SINEW_EXPECT(base != in_place);  // whoever takes it has replaced it
  return {static_cast<std::byte*>(const_cast<void*>(base)) + first * type.extent(), count, &type};
}

/// A block for each rank, in one of MPI's three forms; or one vector: each(). It refers to the
/// caller's counts, displacements and types, and has the addresses only of the data.
class blocks {
 public:
  enum class form : std::uint8_t { alike, parts, parts_w };

  blocks() noexcept = default;
  /// Block r is the r-th of that many instances.
  blocks(const buffer& each) noexcept  // NOLINT(google-explicit-constructor): an argument of a call
      : base_(each.base), count_(each.count), type_(each.type) {}
  blocks(const parts& p) noexcept  // NOLINT(google-explicit-constructor)
      : base_(p.base),
        counts_(p.counts),
        type_(p.type),
        displacements_(p.displacements),
        form_(form::parts) {}
  blocks(const parts_w& p) noexcept  // NOLINT(google-explicit-constructor)
      : base_(p.base),
        counts_(p.counts),
        types_(p.types),
        displacements_(p.displacements),
        form_(form::parts_w) {}

  [[nodiscard]] buffer operator()(int r) const noexcept {
    if (form_ == form::alike) [[likely]] {
      return part(base_, static_cast<std::ptrdiff_t>(count_) * r, count_, *type_);
    }
    if (form_ == form::parts) {
      return part(base_, displacements_[r], count(r), *type_);
    }
    auto* const bytes = static_cast<std::byte*>(const_cast<void*>(base_));
    return {bytes + displacements_[r], count(r), types_[r]};
  }
  [[nodiscard]] enum form form() const noexcept { return form_; }
  [[nodiscard]] bool alike() const noexcept { return form_ == form::alike; }
  [[nodiscard]] bool in_place() const noexcept { return base_ == coll::in_place; }
  [[nodiscard]] const void* base() const noexcept { return base_; }
  /// One block, or the vector.
  [[nodiscard]] buffer each() const noexcept {
    SINEW_EXPECT(alike());
    return {const_cast<void*>(base_), count_, type_};
  }
  [[nodiscard]] coll::parts as_parts() const noexcept {
    SINEW_EXPECT(form_ == form::parts);
    return {base_, counts_, displacements_, type_};
  }
  /// Instances of block r.
  [[nodiscard]] std::size_t count(int r) const noexcept {
    SINEW_EXPECT(alike() || counts_[r] >= 0);
    return alike() ? count_ : static_cast<std::size_t>(counts_[r]);
  }
  /// Of all blocks; there is none of parts_w.
  [[nodiscard]] const layout::datatype& type() const noexcept {
    SINEW_EXPECT(form_ != form::parts_w);
    return *type_;
  }

 private:
  const void* base_ = nullptr;
  union {  // by the form: of each block, or by rank
    std::size_t count_ = 0;
    const std::ptrdiff_t* counts_;
  };
  union {
    const layout::datatype* type_ = nullptr;
    const layout::datatype* const* types_;
  };
  const std::ptrdiff_t* displacements_ = nullptr;
  enum form form_ = form::alike;
};

/// A rank's neighbours, in the order of its buffers' blocks; negative: none there (MPI_PROC_NULL).
struct neighbours {
  std::span<const int> sources;
  std::span<const int> destinations;
  /// Blocks of a Cartesian topology lie in pairs, one for each direction of a dimension: what is
  /// sent up arrives from below, also where both neighbours are one rank.
  bool cartesian = false;
};

enum class collective : std::uint8_t {
  barrier,
  bcast,           ///< its data: `recv`, of each()
  reduce,          ///< `send` has a base only, as in the next four; `recv`: a vector
  allreduce,       ///< the same
  scan,            ///< the same
  exscan,          ///< the same
  reduce_scatter,  ///< `recv`: the count of each rank's block; its base is that of this rank's
  gather,
  scatter,
  allgather,
  alltoall,
  neighbour_allgather,
  neighbour_alltoall
};
inline constexpr int collectives = 13;

using op_ref = std::shared_ptr<const op>;

/// Arguments are trusted; bindings check them. What only the root looks at may be empty elsewhere.
struct call {
  collective what = collective::barrier;
  blocks send{};
  blocks recv{};
  comm_rank root = -1;
  op_ref o{};
  const neighbours* topology = nullptr;  ///< of the last two
  const char* part_of = nullptr;         ///< the function that makes it, if it has another name
};

/// Where a call is made: the engine that moves the messages, and the communicator.
struct participant {
  p2p::engine& engine;
  core::communicator& comm;
};

/// Carries the call out. Called by one thread per communicator at a time; suspends the caller.
/// Returns the first fault met; a fault (a message longer than its buffer) does not keep a rank
/// from sending what the others wait for. Throws std::bad_alloc if there is no memory for
/// temporaries. Warm; over a node's memory hot.
fault run(participant at, const call& c);

/// The name of the MPI function whose arguments these are, or that it is a part of, for reports.
[[nodiscard]] const char* name_of(const call& c) noexcept;

}  // namespace sinew::coll
