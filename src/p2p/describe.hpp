// SPDX-License-Identifier: BSD-3-Clause
// Words of reports.
#pragma once

#include <string>

#include "p2p/channels.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

inline std::string name_of_rank(comm_rank r) {
  return r == any_source ? "any source" : "rank " + to_string(r);
}
inline std::string name_of_tag(message_tag t) {
  return t == any_tag ? "any tag" : "tag " + to_string(t);
}

/// Of its communicator: "MPI_COMM_WORLD", "communicator 3".
inline std::string name_of(const channel& in) {
  return in.comm != nullptr && !in.comm->name.empty()
             ? in.comm->name
             : "communicator " + std::to_string(in.context % channel_table::first_partitioned / 2);
}

}  // namespace sinew::p2p
