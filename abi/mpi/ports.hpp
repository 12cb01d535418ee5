// How the leaders of two groups find each other by a port.
#pragma once

#include <cstdint>
#include <optional>

#include "abi/mpi/port_socket.hpp"
#include "sinew/coll/intercommunicators.hpp"

namespace sinew::mpi {

/// How the leaders of two groups talk until there is a communicator of both: as long as this lives.
class leaders_way {
 public:
  /// `first`: whose group comes first, where both groups are not of one job.
  [[nodiscard]] coll::leaders_link to(const core::resident& other, message_tag tag, bool first);

 private:
  std::optional<coll::meeting> meeting_;
};

/// At a port of this rank: the next one who connects. Nothing once the port is closed, or when
/// `until` says so.
[[nodiscard]] std::optional<coll::leaders_link> await_caller(open_port& port, const patience& until,
                                                             leaders_way& way);

/// To the port of this name; `deadline_ns` by now_ns(), 0 is none. Throws MPI_ERR_PORT.
[[nodiscard]] coll::leaders_link connect_to(const char* port_name, std::int64_t deadline_ns,
                                            leaders_way& way);

}  // namespace sinew::mpi
