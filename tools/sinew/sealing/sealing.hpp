// SPDX-License-Identifier: BSD-3-Clause
// Keys, and bytes that go over a network which others read and change. Grade: cold.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace sinew::tool {

/// 32 bytes that nobody can guess: a key, a challenge, or a code that only who has the key can
/// make.
struct secret_bytes {
  std::array<unsigned char, 32> bytes{};
};

/// From the kernel's random numbers. Throws.
[[nodiscard]] secret_bytes random_secret();
[[nodiscard]] secret_bytes keyed_hash(const secret_bytes& key, std::string_view text);
/// Takes the same time wherever they differ.
[[nodiscard]] bool is_same(const secret_bytes& one, const secret_bytes& other) noexcept;

/// The sending end of one direction of a connection. `key` is used for nothing else.
class sealer {
 public:
  explicit sealer(const secret_bytes& key);
  ~sealer();
  sealer(const sealer&) = delete;
  sealer& operator=(const sealer&) = delete;

  /// What is to be sent in the place of `bytes`, behind all that was sealed before.
  [[nodiscard]] std::string seal(std::string_view bytes);

 private:
  struct stream;
  std::unique_ptr<stream> stream_;
  std::string header_;  // goes before the first piece
};

/// The receiving end.
class unsealer {
 public:
  explicit unsealer(const secret_bytes& key);
  ~unsealer();
  unsealer(const unsealer&) = delete;
  unsealer& operator=(const unsealer&) = delete;

  /// Takes what came and appends what it holds to `bytes`, piece by whole piece. False, from then
  /// on for ever: it is not what the other end has sealed, in its order.
  [[nodiscard]] bool open(std::string_view came, std::string& bytes);

 private:
  enum class expected { header, length, piece };
  [[nodiscard]] bool take(std::string_view part, std::string& bytes);

  struct stream;
  std::unique_ptr<stream> stream_;
  std::string pending_;
  expected next_ = expected::header;
  std::size_t wanted_;  // bytes of what is expected
  bool broken_ = false;
};

}  // namespace sinew::tool
