// SPDX-License-Identifier: BSD-3-Clause
// This rank's memory for parts of instances: private, shared, and on rank 0 the symmetric pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "region/kept_blocks.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/region/handle.hpp"
#include "sinew/rma/arena.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::region {

/// Any thread, if the runtime is threaded. Cold.
class part_memory {
 public:
  /// Makes a symmetric allocation: every rank makes one in the same order.
  part_memory(rma::engine& memory, bool threaded);
  ~part_memory();
  part_memory(const part_memory&) = delete;
  part_memory& operator=(const part_memory&) = delete;

  /// Whose blocks parts of this kind get. That of private memory, which lies elsewhere, only counts
  /// it. Null: it has no limit (private memory), or rank 0 has the arena (symmetric memory).
  [[nodiscard]] rma::arena* arena_of(memory_kind kind) noexcept;
  /// A block of an arena: its offset there, or 0.
  [[nodiscard]] std::uint64_t take_block(memory_kind kind, std::size_t bytes);
  /// It is to be found in the arena if others wait; else some are kept.
  void give_back_block(memory_kind kind, std::uint64_t offset, bool others_wait);

  /// An address of this process (heap) or an offset in the rma heap, or 0 and the reason.
  struct result {
    std::uint64_t address = 0;
    std::string why;
  };
  /// For a block at that offset; private memory comes from the system.
  [[nodiscard]] result address_of(memory_kind kind, std::uint64_t offset, std::size_t bytes);
  /// Why there is no block: how much there is, and which setting gives more.
  [[nodiscard]] result no_room(memory_kind kind, std::size_t bytes);
  /// What address_of() has returned, once; the block is given back apart from it.
  void free_address(memory_kind kind, std::uint64_t address);

  /// An offset in this rank's heap; 0: no memory.
  [[nodiscard]] std::uint64_t take_shared(std::size_t bytes);
  void give_back_shared(std::uint64_t offset);
  /// For small things that stay long: at the end of the heap, where they split nothing that an
  /// instance may need.
  [[nodiscard]] std::uint64_t take_lasting(std::size_t bytes);

 private:
  void give_back_kept();

  rma::engine& rma_;
  const bool threaded_;
  /// Symmetric memory for instances: as much on every rank, at one offset. Rank 0 allocates for
  /// all, so that whoever makes an instance need not ask the others, nor they make one with it.
  std::optional<rma::arena> pool_;     ///< rank 0's
  std::optional<rma::arena> account_;  ///< of private memory, if it has a limit

  mutable base::lock lock_;  ///< guards all below
  kept_blocks kept_;
  std::unordered_set<std::uint64_t> private_blocks_;
};

}  // namespace sinew::region
