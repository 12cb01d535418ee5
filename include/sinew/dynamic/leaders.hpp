// SPDX-License-Identifier: BSD-3-Clause
// How the leaders of two groups find each other: by a port, or by a socket that they have.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sinew/coll/intercommunicators.hpp"
#include "sinew/dynamic/failure.hpp"
#include "sinew/dynamic/port.hpp"

namespace sinew::dynamic {

/// How the leaders of two groups talk until there is a communicator of both: as long as this lives.
/// `job`: all ranks of this rank's job (coll::job).
class leaders_way {
 public:
  explicit leaders_way(coll::participant job) noexcept : job_(job) {}
  /// `first`: whose group comes first, where both groups are not of one job.
  [[nodiscard]] coll::leaders_link to(const core::resident& other, message_tag tag, bool first);
  [[nodiscard]] p2p::engine& engine() const noexcept { return job_.engine; }

 private:
  coll::participant job_;
  std::optional<coll::meeting> meeting_;
};

/// Throws failure, of this kind, where the network reaches this job alone.
void expect_other_jobs(core::runtime& rt, error_kind otherwise);
/// Opens a port of this rank; its name is what others connect to. Throws sinew::error.
[[nodiscard]] std::string open_port_of(core::runtime& rt);
/// The port of this name, if this rank has it open. Throws failure.
[[nodiscard]] std::shared_ptr<open_port> own_port(core::runtime& rt, const std::string& name);
/// Who waits in it is told. Throws failure.
void close_port(core::runtime& rt, const std::string& name);

/// At a port of this rank: the next one who connects. Nothing once the port is closed, or when
/// `until` says so.
[[nodiscard]] std::optional<coll::leaders_link> await_caller(open_port& port, const patience& until,
                                                             leaders_way& way);

/// To the port of this name; `deadline_ns` by now_ns(), 0 is none. Throws failure.
[[nodiscard]] coll::leaders_link connect_to(const std::string& name, std::int64_t deadline_ns,
                                            leaders_way& way);

/// To who has the other end of a socket, without a limit; nothing if no connection can be had.
/// Throws failure if the socket cannot be used.
[[nodiscard]] std::optional<coll::leaders_link> join(boot::descriptor socket, leaders_way& way);

}  // namespace sinew::dynamic
