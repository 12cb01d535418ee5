// SPDX-License-Identifier: BSD-3-Clause
// How a daemon proves that it is of this job, and the launcher that it is its launcher: a secret,
// which the daemon has read from its input, is the key of a code over random numbers of both and
// over both ends of the connection. The secret itself never goes over the network. All that follows
// the proofs is sealed (sealing/sealing.hpp) by keys that the same makes.
//
//   launcher -> daemon's input   sinew-daemon BUILD SECRET NODE PORT ADDRESS...\n
//   launcher -> connection       its challenge
//   daemon   -> connection       its own challenge, its node, the ends that it sees, its proof
//   launcher -> connection       its proof
//
// Who stands between and passes the proofs on has no key: it can end the connection, and no more.
// Whose ends differ on the two sides is not connected either: a relay, or a translation of
// addresses. A daemon that reaches none of the addresses stays with its input and output, which the
// agent carries, as well as it guards the secret: it then writes one line there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/sealing/sealing.hpp"

namespace sinew::tool {

/// Which build this is; launcher and daemons must be of the same.
[[nodiscard]] std::string build_name();

/// What a daemon reads first.
struct greeting {
  std::string build;
  secret_bytes secret;
  int node = 0;
  int port = 0;  ///< 0: stay with input and output
  std::vector<std::string> addresses;
};
[[nodiscard]] std::string greeting_line(const greeting& what);
/// Nothing if it is not of that form.
[[nodiscard]] std::optional<greeting> parse_greeting(std::string_view line);
/// The line of a daemon that stays with its output: told from what a login prints.
[[nodiscard]] std::string stay_line(int node);

/// IPv6, into which IPv4 is mapped.
struct socket_end {
  std::array<unsigned char, 16> address{};
  std::uint16_t port = 0;
  bool operator==(const socket_end&) const = default;
};
[[nodiscard]] std::string text(const socket_end& end);

struct connection_ends {
  socket_end launcher;
  socket_end daemon;
  bool operator==(const connection_ends&) const = default;
};
/// As this process sees them; nothing if the connection has ended.
[[nodiscard]] std::optional<socket_end> near_end(int socket);
[[nodiscard]] std::optional<socket_end> far_end(int socket);

/// What a daemon says on a connection.
struct daemon_claim {
  secret_bytes challenge;
  std::uint32_t node = 0;
  connection_ends ends;
};
/// And as it goes over the line.
struct daemon_proof {
  daemon_claim claim;
  secret_bytes proof;
};
[[nodiscard]] daemon_proof prove_daemon(const secret_bytes& secret, const secret_bytes& challenge,
                                        const daemon_claim& claim);
[[nodiscard]] bool is_daemon(const secret_bytes& secret, const secret_bytes& challenge,
                             const daemon_proof& given);
[[nodiscard]] secret_bytes prove_launcher(const secret_bytes& secret, const secret_bytes& challenge,
                                          const daemon_claim& claim);

/// Of the two directions of a connection.
struct connection_keys {
  secret_bytes to_daemon;
  secret_bytes to_launcher;
};
[[nodiscard]] connection_keys keys_of(const secret_bytes& secret, const secret_bytes& challenge,
                                      const daemon_claim& claim);

/// Between a launcher and a daemon, after the greeting. `out` is empty where `in` is a socket;
/// without keys the agent carries it.
struct daemon_line {
  boot::descriptor in;
  boot::descriptor out = {};
  std::optional<connection_keys> keys = std::nullopt;
};

/// What both sides set on a connection: small frames at once, lost ones again soon.
void tune_connection(int socket) noexcept;

/// The daemon's side: tries the addresses, each for at most a second. None if no launcher is there.
[[nodiscard]] std::optional<daemon_line> call_launcher(const greeting& by);

}  // namespace sinew::tool
