// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sealing/sealing.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::tool {
namespace {

constexpr std::size_t seal_bytes = crypto_secretstream_xchacha20poly1305_ABYTES;
constexpr std::size_t header_bytes = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
/// Long enough that lengths and seals cost nothing, short enough that whole ones come over a slow
/// line while nobody loses patience.
constexpr std::size_t longest_piece = std::size_t{16} << 10;

static_assert(crypto_secretstream_xchacha20poly1305_KEYBYTES == sizeof(secret_bytes));
static_assert(crypto_generichash_KEYBYTES_MAX >= sizeof(secret_bytes));

void prepare_library() {
  SINEW_CHECK(sodium_init() >= 0, "nothing can be sealed for the network",
              "libsodium finds no source of random numbers", "mount /dev");
}

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

secret_bytes random_secret() {
  prepare_library();
  secret_bytes made;
  randombytes_buf(made.bytes.data(), made.bytes.size());
  return made;
}

secret_bytes keyed_hash(const secret_bytes& key, std::string_view text) {
  prepare_library();
  secret_bytes code;
  crypto_generichash(code.bytes.data(), code.bytes.size(), bytes_of(text), text.size(),
                     key.bytes.data(), key.bytes.size());
  return code;
}

bool is_same(const secret_bytes& one, const secret_bytes& other) noexcept {
  return sodium_memcmp(one.bytes.data(), other.bytes.data(), one.bytes.size()) == 0;
}

struct sealer::stream {
  crypto_secretstream_xchacha20poly1305_state state;

  void push(std::string_view bytes, std::string& to) {
    const std::size_t before = to.size();
    to.resize(before + bytes.size() + seal_bytes);
    crypto_secretstream_xchacha20poly1305_push(&state, bytes_of(to) + before, nullptr,
                                               bytes_of(bytes), bytes.size(), nullptr, 0, 0);
  }
};

sealer::sealer(const secret_bytes& key)
    : stream_(std::make_unique<stream>()), header_(header_bytes, '\0') {
  prepare_library();
  crypto_secretstream_xchacha20poly1305_init_push(&stream_->state, bytes_of(header_),
                                                  key.bytes.data());
}

sealer::~sealer() { sodium_memzero(&stream_->state, sizeof stream_->state); }

std::string sealer::seal(std::string_view bytes) {
  std::string sealed = std::move(header_);
  header_.clear();
  while (!bytes.empty()) {
    const auto length = static_cast<std::uint32_t>(std::min(bytes.size(), longest_piece));
    stream_->push({reinterpret_cast<const char*>(&length), sizeof length}, sealed);
    stream_->push(bytes.substr(0, length), sealed);
    bytes.remove_prefix(length);
  }
  return sealed;
}

struct unsealer::stream {
  crypto_secretstream_xchacha20poly1305_state state;
  secret_bytes key;  // until the header has come

  [[nodiscard]] bool pull(std::string_view sealed, void* bytes) {
    unsigned char tag = 0;
    return crypto_secretstream_xchacha20poly1305_pull(&state, static_cast<unsigned char*>(bytes),
                                                      nullptr, &tag, bytes_of(sealed),
                                                      sealed.size(), nullptr, 0) == 0;
  }
};

unsealer::unsealer(const secret_bytes& key)
    : stream_(std::make_unique<stream>()), wanted_(header_bytes) {
  prepare_library();
  stream_->key = key;
}

unsealer::~unsealer() { sodium_memzero(stream_.get(), sizeof *stream_); }

bool unsealer::open(std::string_view came, std::string& bytes) {
  pending_.append(came);
  std::size_t taken = 0;
  while (!broken_ && pending_.size() - taken >= wanted_) {
    const std::string_view part = std::string_view(pending_).substr(taken, wanted_);
    taken += wanted_;
    broken_ = !take(part, bytes);
  }
  pending_.erase(0, taken);
  return !broken_;
}

bool unsealer::take(std::string_view part, std::string& bytes) {
  const bool is_header = next_ == expected::header;
  if (is_header || next_ == expected::piece) {
    next_ = expected::length;
    wanted_ = sizeof(std::uint32_t) + seal_bytes;
    if (is_header) {
      return crypto_secretstream_xchacha20poly1305_init_pull(&stream_->state, bytes_of(part),
                                                             stream_->key.bytes.data()) == 0;
    }
    const std::size_t before = bytes.size();
    bytes.resize(before + part.size() - seal_bytes);
    return stream_->pull(part, bytes.data() + before);
  }
  std::uint32_t length = 0;
  if (!stream_->pull(part, &length) || length == 0 || length > longest_piece) {
    return false;
  }
  next_ = expected::piece;
  wanted_ = length + seal_bytes;
  return true;
}

}  // namespace sinew::tool
