// SPDX-License-Identifier: BSD-3-Clause
// What is sealed, and what somebody on the way can do to it.
#include "sinew/sealing/sealing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "sinew/run/greeting.hpp"

namespace sinew::tool {
namespace {

TEST(sealed, bytes_arrive_in_any_pieces) {
  const secret_bytes key = random_secret();
  std::string sent;
  for (const std::size_t size : {1, 2, 100, 65'536, 65'537, 300'000}) {
    sent += std::string(size, static_cast<char>('a' + size % 26));
  }
  sealer out(key);
  std::string sealed = out.seal(sent.substr(0, 5));
  sealed += out.seal(sent.substr(5));
  EXPECT_EQ(sealed.find("aaaaaaaa"), std::string::npos);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, sealed.size()}) {
    unsealer in(key);
    std::string got;
    for (std::size_t at = 0; at < sealed.size(); at += piece) {
      ASSERT_TRUE(in.open(std::string_view(sealed).substr(at, piece), got));
    }
    EXPECT_TRUE(got == sent);
  }
}

/// Three messages as they go over a line, the first with what opens the stream.
std::array<std::string, 3> messages(const secret_bytes& key) {
  sealer out(key);
  return {out.seal("the first"), out.seal("another!!"), out.seal("the third")};
}

/// Whether all that came was opened.
bool opens(const secret_bytes& key, const std::string& came, std::string* got = nullptr) {
  unsealer in(key);
  std::string bytes;
  const bool good = in.open(came, got != nullptr ? *got : bytes);
  EXPECT_EQ(in.open("", bytes), good);  // and so for ever
  return good;
}

TEST(sealed, what_was_altered_repeated_left_out_or_moved_does_not_open) {
  const secret_bytes key = random_secret();
  const auto [first, second, third] = messages(key);
  EXPECT_TRUE(opens(key, first + second + third));
  std::string got;
  EXPECT_FALSE(opens(key, first + second + second, &got));  // repeated
  EXPECT_EQ(got, "the firstanother!!");
  EXPECT_FALSE(opens(key, first + third));           // left out
  EXPECT_FALSE(opens(key, first + third + second));  // moved
  EXPECT_FALSE(opens(key, first + first));           // from the beginning
  EXPECT_FALSE(opens(random_secret(), first + second));
  const std::string whole = first + second + third;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string altered = whole;
    altered[i] = static_cast<char>(altered[i] ^ 0x10);
    EXPECT_FALSE(opens(key, altered)) << i;
  }
  for (std::size_t i = 0; i < first.size(); ++i) {  // a byte fewer, and a byte more
    EXPECT_FALSE(opens(key, std::string(whole).erase(i, 1))) << i;
    EXPECT_FALSE(opens(key, std::string(whole).insert(i, 1, '\0') + std::string(99, 'x'))) << i;
  }
}

TEST(sealed, one_direction_says_nothing_in_the_other) {
  const connection_keys keys = keys_of(random_secret(), random_secret(), {});
  EXPECT_FALSE(opens(keys.to_daemon, messages(keys.to_launcher)[0]));
}

TEST(sealed, another_connection_of_the_same_job_says_nothing_in_this_one) {
  const secret_bytes secret = random_secret();
  daemon_claim claim;
  claim.challenge = random_secret();
  const std::string recorded = messages(keys_of(secret, random_secret(), claim).to_daemon)[0];
  EXPECT_FALSE(opens(keys_of(secret, random_secret(), claim).to_daemon, recorded));
}

}  // namespace
}  // namespace sinew::tool
