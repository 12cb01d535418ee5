// SPDX-License-Identifier: BSD-3-Clause
// A message's header is its sender's word: what it names is looked up only if it can be.
#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "sinew/core/handlers.hpp"
#include "support/job.hpp"

namespace sinew::p2p {
namespace {

using test::backend;

/// In the order of p2p's active messages (state.hpp).
enum : fabric::handler_id {
  eager = core::handlers::p2p,
  eager_sync,
  offer,
  matched_message,
  throttle,
  push,
  piece
};

class corrupt_messages : public ::testing::TestWithParam<core::threading> {
 protected:
  corrupt_messages() : made_(2, backend::shm, GetParam() == core::threading::many) {
    for (int r = 0; r < 2; ++r) {
      runtimes_[r] = core::runtime::over(std::make_unique<test::fake_session>(r, 2), made_.take(r),
                                         GetParam());
      engines_[r] = std::make_unique<engine>(*runtimes_[r]);
    }
  }
  void expect_end(fabric::handler_id id, fabric::header head, std::size_t bytes,
                  const std::string& said) {
    const std::byte data[40]{};
    ASSERT_TRUE(runtimes_[0]->endpoint().send_short(1, id, head, data, bytes).done());
    EXPECT_EXIT(
        {
          while (runtimes_[1]->poll() == 0) {
          }
          std::_Exit(7);
        },
        ::testing::ExitedWithCode(1), "what rank 0 has written into shared memory.*" + said);
  }

  test::endpoints made_;
  std::unique_ptr<core::runtime> runtimes_[2];
  std::unique_ptr<engine> engines_[2];
};

TEST_P(corrupt_messages, a_communicator_that_cannot_be) {
  expect_end(eager, {{std::uint64_t{1} << 31, 0}}, 8, "a communicator or a rank");
}
// The upper half says of which kinds the data are.
TEST_P(corrupt_messages, a_communicator_that_cannot_be_below_kinds) {
  expect_end(offer, {{(std::uint64_t{1} << 40) + (std::uint64_t{1} << 31), 0}}, 40,
             "a communicator or a rank");
}
TEST_P(corrupt_messages, a_sender_that_cannot_be) {
  expect_end(eager, {{2, 0xffffffff}}, 8, "a communicator or a rank");
}
TEST_P(corrupt_messages, a_synchronous_message_without_its_sender) {
  expect_end(eager_sync, {{0, 0}}, 7, "does not name its sender");
}
TEST_P(corrupt_messages, an_offer_that_is_too_short) {
  expect_end(offer, {{0, 0}}, 8, "offer of a long message");
}
TEST_P(corrupt_messages, an_announcement_that_is_too_short) {
  expect_end(push, {{0, 0}}, 8, "announcement of a long message");
}
TEST_P(corrupt_messages, a_piece_of_no_message) {
  expect_end(piece, {{4096, 0}}, 40, "a piece belongs to no message");
}

INSTANTIATE_TEST_SUITE_P(all, corrupt_messages,
                         ::testing::Values(core::threading::one, core::threading::many),
                         [](const auto& param) {
                           return param.param == core::threading::one ? "one" : "many";
                         });

}  // namespace
}  // namespace sinew::p2p
