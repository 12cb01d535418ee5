// SPDX-License-Identifier: BSD-3-Clause
// The hints of a file (MPI-5.0 section 14.2.8, and those that ROMIO has made usual).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sinew::io {

/// Keys and values, as programs give and get them.
using hint_list = std::vector<std::pair<std::string, std::string>>;

struct hints {
  enum class choice : std::int32_t { automatic, enable, disable };

  // By these ranks plan together what they do: rank 0's hold for all.
  struct common {
    choice cb_read = choice::automatic;  ///< collective accesses go through aggregating ranks
    choice cb_write = choice::automatic;
    std::int64_t cb_buffer_size = std::int64_t{4} << 20;  ///< of each aggregating rank
    std::int64_t cb_nodes = 0;                            ///< aggregating ranks; 0: we choose
    std::int64_t striping_unit = 0;  ///< to which their parts of the file are aligned; 0: unknown
    std::int64_t striping_factor = 0;
  } shared;

  // Each rank's own.
  choice ds_read = choice::automatic;  ///< data sieving: strided reads include the holes
  choice ds_write = choice::disable;   ///< strided writes by read, change, write, with locks
  std::int64_t ind_rd_buffer_size = std::int64_t{4} << 20;
  std::int64_t ind_wr_buffer_size = std::int64_t{512} << 10;
  unsigned permissions = 0666;

  /// Applies the hints that are supported and valid; all others are ignored.
  void take(const hint_list& from);
  /// What holds now; `ranks`: of the file.
  [[nodiscard]] hint_list in_force(int ranks) const;
  /// How many ranks aggregate.
  [[nodiscard]] int aggregators(int ranks) const noexcept;
};

}  // namespace sinew::io
