// SPDX-License-Identifier: BSD-3-Clause
// Words of reports.
#pragma once

#include <string>

#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

inline std::string name_of_rank(comm_rank r) {
  return r == any_source ? "any source" : "rank " + to_string(r);
}
inline std::string name_of_tag(message_tag t) {
  return t == any_tag ? "any tag" : "tag " + to_string(t);
}

}  // namespace sinew::p2p
