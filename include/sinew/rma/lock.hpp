// SPDX-License-Identifier: BSD-3-Clause
// Locks that any rank can take, first come, first served; with `sinew run --survive` by who asks
// first when they come free, but also after their holder has died.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/losses.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::rma {

/// The locks that this rank holds or waits for. A lock is an aligned 8-byte word of any heap, zero
/// at first. A rank that waits does so on a line of its own heap, and is woken by the rank before
/// it; so the wait costs nobody anything. Any thread; a lock belongs to the rank, not the thread.
class lock_table {
 public:
  explicit lock_table(engine& e);
  ~lock_table();  ///< releases nothing
  lock_table(const lock_table&) = delete;
  lock_table& operator=(const lock_table&) = delete;

  enum class answer : std::uint8_t {
    done,
    mine_already,  ///< acquire: this rank holds it
    taken,  ///< try_acquire: another rank holds it; release: it is not this rank's to release
    free,   ///< release: nobody holds it
    from_the_dead,  ///< as done, and whoever held it has died without releasing it
    lost,           ///< the rank of the lock has died
  };

  /// Suspends until it is this rank's turn. Hot.
  [[nodiscard]] answer acquire(place lock);
  /// Takes it if nobody holds it or waits for it. Hot.
  [[nodiscard]] answer try_acquire(place lock);
  /// May suspend shortly: for the rank that is just queueing up. Hot.
  [[nodiscard]] answer release(place lock);
  /// Who holds it, or no_job_rank: nobody, or that cannot be seen without asking another node; for
  /// reports, since it may have changed meanwhile. Cold.
  [[nodiscard]] job_rank holder(place lock) const;

 private:
  struct entry {
    std::uint64_t lock;  ///< packed
    std::uint64_t node;  ///< offset
    bool granted;
  };
  [[nodiscard]] answer try_by_name(place lock);
  [[nodiscard]] answer acquire_by_name(place lock, bool once);
  [[nodiscard]] answer release_by_name(place lock);
  [[nodiscard]] std::uint64_t enter(place lock);
  void leave(std::uint64_t node);
  void mark_granted(std::uint64_t node);

  engine& engine_;
  const core::losses& losses_;
  base::lock guard_;
  std::vector<entry> held_;           ///< guarded by guard_, as is
  std::vector<std::uint64_t> nodes_;  ///< free ones
  std::vector<std::uint64_t> blocks_;
};

}  // namespace sinew::rma
