// How a daemon proves that it is of this job, and the launcher that it is its launcher: a secret,
// which the daemon has read from its input, is the key of a message authentication code over random
// numbers of both. The secret itself never goes over the network.
//
//   launcher -> daemon's input   sinew-daemon BUILD SECRET NODE PORT ADDRESS...\n
//   launcher -> connection       its challenge
//   daemon   -> connection       its own challenge, its node, its proof
//   launcher -> connection       its proof
//
// A daemon that reaches none of the addresses stays with its input and output, which the agent
// carries: it then writes one line there, also with a proof.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/boot/descriptor.hpp"

namespace sinew::tool {

struct secret_key {
  std::array<std::uint64_t, 2> words{};
};

/// From the kernel's random numbers. Throws.
[[nodiscard]] secret_key make_secret();
[[nodiscard]] std::uint64_t random_number();

/// SipHash-2-4 (Aumasson and Bernstein, 2012).
[[nodiscard]] std::uint64_t siphash(const secret_key& key, std::string_view bytes) noexcept;

/// Which build this is; launcher and daemons must be of the same.
[[nodiscard]] std::string build_name();

/// What a daemon reads first.
struct greeting {
  std::string build;
  secret_key secret;
  int node = 0;
  int port = 0;  ///< 0: stay with input and output
  std::vector<std::string> addresses;
};
[[nodiscard]] std::string greeting_line(const greeting& what);
/// Nothing if it is not of that form.
[[nodiscard]] std::optional<greeting> parse_greeting(std::string_view line);
/// The line of a daemon that stays with its output.
[[nodiscard]] std::string stay_line(const secret_key& secret, int node);

/// A daemon's answer on a connection.
struct daemon_proof {
  std::uint64_t challenge = 0;
  std::uint64_t node = 0;
  std::uint64_t proof = 0;
};
[[nodiscard]] daemon_proof prove_daemon(const secret_key& secret, std::uint64_t launchers,
                                        std::uint64_t own, int node) noexcept;
/// Compares in constant time.
[[nodiscard]] bool is_daemon(const secret_key& secret, std::uint64_t launchers,
                             const daemon_proof& given) noexcept;
[[nodiscard]] std::uint64_t prove_launcher(const secret_key& secret, std::uint64_t launchers,
                                           std::uint64_t daemons) noexcept;

/// A listening socket on all interfaces, and its port; none if there can be none.
struct listener {
  boot::descriptor socket;
  int port = 0;
};
[[nodiscard]] listener listen_for_daemons();
/// The numeric addresses of this machine by which others may reach it.
[[nodiscard]] std::vector<std::string> own_addresses();
/// What both sides set on a connection: small frames at once, lost ones again soon.
void tune_connection(int socket) noexcept;

/// The daemon's side: tries the addresses, each for at most a second. None if no launcher is there.
[[nodiscard]] boot::descriptor call_launcher(const greeting& by);

}  // namespace sinew::tool
