// This rank's memory for parts of instances: private, shared, and on rank 0 the symmetric pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "region/kept_blocks.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/region/handle.hpp"
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

  /// An address of this process (heap) or an offset in the rma heap, or 0 and the reason: how much
  /// there is, and which setting gives more. symmetric: on rank 0 only.
  struct result {
    std::uint64_t address = 0;
    std::string why;
  };
  [[nodiscard]] result take(memory_kind kind, std::size_t bytes);
  /// What take() has returned, once.
  void give_back(memory_kind kind, std::uint64_t address);

  /// What take() could give at least, of memory whose size is known; see has_limit().
  [[nodiscard]] std::size_t free_bytes(memory_kind kind) const;
  /// Not what the system gives as long as it has some.
  [[nodiscard]] static bool has_limit(memory_kind kind);

  /// An offset in this rank's heap; 0: no memory.
  [[nodiscard]] std::uint64_t take_shared(std::size_t bytes);
  void give_back_shared(std::uint64_t offset);

 private:
  [[nodiscard]] result take_private(std::size_t bytes);
  [[nodiscard]] result take_symmetric(std::size_t bytes);
  void give_back_kept();
  /// The pool's own heap counts offsets from here.
  [[nodiscard]] static std::uint64_t pool_begin() noexcept {
    return rma::heap_shape(1, {}).symmetric_at;
  }

  rma::engine& rma_;
  const bool threaded_;
  /// Symmetric memory for instances: as much on every rank, at `pool_at_`. Rank 0 allocates for
  /// all, so that whoever makes an instance need not ask the others, nor they make one with it.
  std::uint64_t pool_at_ = 0;
  std::size_t pool_bytes_ = 0;
  std::optional<rma::heap> pool_;  ///< rank 0's

  mutable base::lock lock_;  ///< guards all below
  kept_blocks kept_;
  std::unordered_map<std::uint64_t, std::size_t> private_blocks_;  ///< address to bytes
  std::size_t private_bytes_ = 0;                                  ///< of all private_blocks_
};

}  // namespace sinew::region
