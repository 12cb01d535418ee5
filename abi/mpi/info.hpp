// SPDX-License-Identifier: BSD-3-Clause
// Info objects: ordered sets of (key, value).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "abi/mpi/handles.hpp"

namespace sinew::mpi {

struct info_object : object {
  static constexpr kind tag = kind::info;
  info_object() : object(tag) {}
  /// The value of a key, or "".
  [[nodiscard]] std::string value(const std::string& key) const {
    for (const auto& [k, v] : entries) {
      if (k == key) {
        return v;
      }
    }
    return {};
  }
  std::vector<std::pair<std::string, std::string>> entries;
};

[[nodiscard]] info_object& info_of(MPI_Info handle);  ///< throws MPI_ERR_INFO
/// Its entries; none of MPI_INFO_NULL. Throws MPI_ERR_INFO.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> hints_of(MPI_Info handle);
[[nodiscard]] info_object* copy_of(const info_object& from);

}  // namespace sinew::mpi
