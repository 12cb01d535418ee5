// SPDX-License-Identifier: BSD-3-Clause
// The names that ranks of a job publish for each other (PMI-1's publish_name and its like; behind
// MPI_Publish_name and open ports).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "sinew/boot/pmi_wire.hpp"

namespace sinew::tool {

class name_service {
 public:
  /// The line that answers `message`, one of publish_name, lookup_name and unpublish_name.
  [[nodiscard]] std::string answer(const boot::pmi_message& message);

 private:
  static constexpr std::size_t limit = std::size_t{16} << 20;  ///< all names and values together

  std::map<std::string, std::string, std::less<>> values_;
  std::size_t bytes_ = 0;
};

}  // namespace sinew::tool
