// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/greeting.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>
#include <type_traits>

#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::tool {
namespace {

constexpr std::string_view first_word = "sinew-daemon";
constexpr std::string_view hex_digits = "0123456789abcdef";

/// All that both sides have said, and what the code over it is for: a proof of one of them, or a
/// key.
struct transcript {
  std::array<char, 16> purpose{};
  secret_bytes challenge;
  daemon_claim claim;
};
static_assert(std::has_unique_object_representations_v<transcript>);
static_assert(std::has_unique_object_representations_v<daemon_proof>);

secret_bytes code_of(const secret_bytes& secret, std::string_view purpose,
                     const secret_bytes& challenge, const daemon_claim& claim) {
  transcript all{{}, challenge, claim};
  SINEW_EXPECT(purpose.size() <= all.purpose.size());
  std::copy(purpose.begin(), purpose.end(), all.purpose.begin());
  return keyed_hash(secret, {reinterpret_cast<const char*>(&all), sizeof all});
}

std::string hex(const secret_bytes& secret) {
  std::string text;
  for (const unsigned char each : secret.bytes) {
    text += hex_digits[each / 16];
    text += hex_digits[each % 16];
  }
  return text;
}

std::optional<secret_bytes> from_hex(std::string_view text) {
  secret_bytes secret;
  if (text.size() != 2 * secret.bytes.size() ||
      text.find_first_not_of(hex_digits) != std::string_view::npos) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < secret.bytes.size(); ++i) {
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, secret.bytes[i], 16);
  }
  return secret;
}

}  // namespace

std::string build_name() {
  std::string name = SINEW_VERSION;
  name += '+';
  return name += build_id;
}

std::string greeting_line(const greeting& what) {
  SINEW_EXPECT(what.build.find(' ') == std::string::npos);
  std::string line = std::string(first_word) + " " + what.build + " " + hex(what.secret) + " " +
                     std::to_string(what.node) + " " + std::to_string(what.port);
  for (const std::string& each : what.addresses) {
    line += " " + each;
  }
  return line + "\n";
}

std::optional<greeting> parse_greeting(std::string_view line) {
  std::istringstream words{std::string(line)};
  greeting result;
  std::string head;
  std::string secret;
  std::string node;
  std::string port;
  if (!(words >> head >> result.build >> secret >> node >> port) || head != first_word) {
    return std::nullopt;
  }
  const auto key = from_hex(secret);
  const auto which = boot::parse_number(node);
  const auto where = boot::parse_number(port);
  if (!key || !which || *which < 0 || !where || *where < 0 || *where > 65'535) {
    return std::nullopt;
  }
  result.secret = *key;
  result.node = *which;
  result.port = *where;
  for (std::string address; words >> address;) {
    result.addresses.push_back(address);
  }
  return result;
}

std::string stay_line(int node) { return "sinew-daemon-stays " + std::to_string(node); }

daemon_proof prove_daemon(const secret_bytes& secret, const secret_bytes& challenge,
                          const daemon_claim& claim) {
  return {claim, code_of(secret, "daemon", challenge, claim)};
}

bool is_daemon(const secret_bytes& secret, const secret_bytes& challenge,
               const daemon_proof& given) {
  return is_same(given.proof, code_of(secret, "daemon", challenge, given.claim));
}

secret_bytes prove_launcher(const secret_bytes& secret, const secret_bytes& challenge,
                            const daemon_claim& claim) {
  return code_of(secret, "launcher", challenge, claim);
}

connection_keys keys_of(const secret_bytes& secret, const secret_bytes& challenge,
                        const daemon_claim& claim) {
  return {code_of(secret, "to daemon", challenge, claim),
          code_of(secret, "to launcher", challenge, claim)};
}

}  // namespace sinew::tool
