// SPDX-License-Identifier: BSD-3-Clause
// Moves the bytes of transfers that this rank does: through what is mapped, else through the
// kernel, else in messages. Follows plan.hpp; below it are the table of instances, the kernel and
// streams, above it operations.hpp, which learns how a transfer ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "region/operator_table.hpp"
#include "region/peer_memory.hpp"
#include "region/plan.hpp"
#include "region/problems.hpp"
#include "region/sides.hpp"
#include "region/streams.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::region {

enum class outcome : std::uint8_t {
  done,
  failed,
  refused,    ///< a rank that sees the source must send it by messages, and `post` is needed
  passed_on,  ///< by messages; `post` tells how it ended
};

/// Any thread, if `threaded`.
class mover {
 public:
  struct parts {
    instance_table& table;
    const operator_table& operators;
    streams& sent;
    problems& trouble;
    base::lock& merging;  ///< held while a reduction is applied here, if there are threads
  };
  mover(const parts& p, fabric::endpoint& endpoint, bool threaded) noexcept
      : table_(p.table),
        operators_(p.operators),
        streams_(p.sent),
        problems_(p.trouble),
        merging_(p.merging),
        peers_(endpoint),
        threaded_(threaded) {}

  /// Does it. If it is given up, the reason is in the problems.
  [[nodiscard]] outcome carry_out(const transfer& t);
  [[nodiscard]] bool kernel_copies() const noexcept { return peers_.works(); }
  /// Whose private memory the sides are. Throws sinew::error if an instance has been destroyed.
  [[nodiscard]] owners owners_of(const transfer& t) const;

 private:
  [[nodiscard]] outcome try_to(const transfer& t);
  void copy(const transfer& t);
  void copy_by_runs(const bound_side& from, const bound_side& to, std::size_t bytes);
  void copy_staged(const transfer& t);
  void copy_scattered(address_list& from, address_list& to, std::uint64_t elements,
                      std::size_t bytes);
  void gather(job_rank peer, std::span<const element_move> moves, std::size_t bytes);
  void scatter(job_rank peer, std::span<const element_move> moves, std::size_t bytes);
  void fill(const transfer& t);
  void reduce(const transfer& t);
  void fetch(const known& from, const run& r, std::span<std::byte> to, std::size_t bytes);
  /// A batch of pieces that the kernel copies.
  [[nodiscard]] auto pieces() {
    return piece_batch(
        [this](job_rank peer, fabric::direction way, std::span<const fabric::piece> list) {
          peers_.copy(peer, way, list);
        });
  }

  instance_table& table_;
  const operator_table& operators_;
  streams& streams_;
  problems& problems_;
  base::lock& merging_;
  peer_memory peers_;
  const bool threaded_;
};

}  // namespace sinew::region
