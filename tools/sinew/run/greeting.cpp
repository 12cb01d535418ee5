#include "sinew/run/greeting.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::tool {
namespace {

constexpr std::string_view first_word = "sinew-daemon";

void sip_round(std::array<std::uint64_t, 4>& v) noexcept {
  v[0] += v[1];
  v[1] = std::rotl(v[1], 13) ^ v[0];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[3];
  v[3] = std::rotl(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = std::rotl(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = std::rotl(v[1], 17) ^ v[2];
  v[2] = std::rotl(v[2], 32);
}

// A proof is over who proves and all that both sides have said.
std::uint64_t proof_of(const secret_key& secret, std::string_view who, std::uint64_t first,
                       std::uint64_t second, std::uint64_t node) noexcept {
  std::array<char, 64> bytes{};
  SINEW_EXPECT(who.size() <= 32);
  std::memcpy(bytes.data(), who.data(), who.size());
  std::memcpy(bytes.data() + 32, &first, sizeof first);
  std::memcpy(bytes.data() + 40, &second, sizeof second);
  std::memcpy(bytes.data() + 48, &node, sizeof node);
  return siphash(secret, {bytes.data(), bytes.size()});
}

std::string hex(std::uint64_t value) {
  std::array<char, 16> text;
  text.fill('0');
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + 16, value, 16).ptr;
  const auto count = static_cast<std::size_t>(end - digits.data());
  std::memcpy(text.data() + 16 - count, digits.data(), count);
  return {text.data(), text.size()};
}

std::optional<std::uint64_t> from_hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return text.size() == 16 && failure == std::errc{} && end == text.data() + 16
             ? std::optional(value)
             : std::nullopt;
}

}  // namespace

std::uint64_t random_number() {
  std::uint64_t value = 0;
  ssize_t got = 0;
  do {
    got = ::getrandom(&value, sizeof value, 0);
  } while (got < 0 && errno == EINTR);
  SINEW_CHECK(got == sizeof value, "no random numbers can be had", std::strerror(errno), "");
  return value;
}

secret_key make_secret() { return {{random_number(), random_number()}}; }

std::uint64_t siphash(const secret_key& key, std::string_view bytes) noexcept {
  std::array<std::uint64_t, 4> v = {
      key.words[0] ^ 0x736f6d6570736575U, key.words[1] ^ 0x646f72616e646f6dU,
      key.words[0] ^ 0x6c7967656e657261U, key.words[1] ^ 0x7465646279746573U};
  const auto take = [&v](std::uint64_t word) {
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
  };
  const std::uint64_t size = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    take(word);
  }
  std::uint64_t last = size << 56;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    last |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  take(last);
  v[2] ^= 0xff;
  for (int i = 0; i < 4; ++i) {
    sip_round(v);
  }
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

std::string build_name() {
  std::string name = SINEW_VERSION;
  name += '+';
  return name += build_id;
}

std::string greeting_line(const greeting& what) {
  SINEW_EXPECT(what.build.find(' ') == std::string::npos);
  std::string line = std::string(first_word) + " " + what.build + " " + hex(what.secret.words[0]) +
                     hex(what.secret.words[1]) + " " + std::to_string(what.node) + " " +
                     std::to_string(what.port);
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
  if (!(words >> head >> result.build >> secret >> node >> port) || head != first_word ||
      secret.size() != 32) {
    return std::nullopt;
  }
  const auto first = from_hex(std::string_view(secret).substr(0, 16));
  const auto second = from_hex(std::string_view(secret).substr(16));
  const auto which = boot::parse_number(node);
  const auto where = boot::parse_number(port);
  if (!first || !second || !which || *which < 0 || !where || *where < 0 || *where > 65'535) {
    return std::nullopt;
  }
  result.secret = {{*first, *second}};
  result.node = *which;
  result.port = *where;
  for (std::string address; words >> address;) {
    result.addresses.push_back(address);
  }
  return result;
}

std::string stay_line(const secret_key& secret, int node) {
  return "sinew-daemon-stays " +
         hex(proof_of(secret, "output", 0, 0, static_cast<std::uint64_t>(node)));
}

daemon_proof prove_daemon(const secret_key& secret, std::uint64_t launchers, std::uint64_t own,
                          int node) noexcept {
  SINEW_EXPECT(node >= 0);
  const auto number = static_cast<std::uint64_t>(node);
  return {own, number, proof_of(secret, "daemon", launchers, own, number)};
}

bool is_daemon(const secret_key& secret, std::uint64_t launchers,
               const daemon_proof& given) noexcept {
  // One comparison of whole words takes the same time wherever they differ.
  return (given.proof ^ proof_of(secret, "daemon", launchers, given.challenge, given.node)) == 0;
}

std::uint64_t prove_launcher(const secret_key& secret, std::uint64_t launchers,
                             std::uint64_t daemons) noexcept {
  return proof_of(secret, "launcher", launchers, daemons, 0);
}

}  // namespace sinew::tool
