// SPDX-License-Identifier: BSD-3-Clause
// What sinew.h has beyond threads' basics: each function's promises and codes.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "sinew.h"

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint64_t long_enough = 20'000 * ms;

/// A scheduler for the length of a test.
class c_objects : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const sinew_start_options how{GetParam(), 1};
    ASSERT_EQ(sinew_start(&how), SINEW_OK) << sinew_last_error();
  }
  void TearDown() override { ASSERT_EQ(sinew_stop(), SINEW_OK) << sinew_last_error(); }

  static sinew_fiber* make(void (*entry)(void*), void* argument, int worker = 0) {
    sinew_fiber* made = nullptr;
    const sinew_fiber_options how{"subject", 0, worker, 0};
    EXPECT_EQ(sinew_fiber_create(&made, entry, argument, &how), SINEW_OK) << sinew_last_error();
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(workers, c_objects, testing::Values(1, 2));

TEST_P(c_objects, semaphores) {
  sinew_semaphore s;
  sinew_semaphore_init(&s, 1);
  EXPECT_EQ(sinew_semaphore_trywait(&s), SINEW_OK);
  EXPECT_EQ(sinew_semaphore_trywait(&s), SINEW_BUSY);
  EXPECT_EQ(sinew_semaphore_wait_for(&s, ms), SINEW_TIMED_OUT);
  sinew_fiber* f = make(
      [](void* to) {
        EXPECT_EQ(sinew_semaphore_wait(static_cast<sinew_semaphore*>(to)), SINEW_OK);
      },
      &s, GetParam());
  EXPECT_EQ(sinew_fiber_join_for(f, ms), SINEW_TIMED_OUT);
  EXPECT_EQ(sinew_semaphore_post(&s, 2), SINEW_OK);
  EXPECT_EQ(sinew_fiber_join_for(f, long_enough), SINEW_OK);
  EXPECT_EQ(sinew_semaphore_post(&s, UINT32_MAX), SINEW_INVALID);
  EXPECT_EQ(sinew_semaphore_wait(&s), SINEW_OK);
  sinew_semaphore_destroy(&s);
}

TEST_P(c_objects, read_write_locks) {
  static sinew_rwlock still = SINEW_RWLOCK_INITIALIZER;
  sinew_rwlock l;
  sinew_rwlock_init(&l);
  for (sinew_rwlock* each : {&still, &l}) {
    sinew_rwlock_read(each);
    EXPECT_EQ(sinew_rwlock_tryread(each), SINEW_OK);
    EXPECT_EQ(sinew_rwlock_trywrite(each), SINEW_BUSY);
    EXPECT_EQ(sinew_rwlock_write_for(each, ms), SINEW_TIMED_OUT);
    sinew_rwlock_unread(each);
    sinew_rwlock_unread(each);
    sinew_rwlock_write(each);
    EXPECT_EQ(sinew_rwlock_tryread(each), SINEW_BUSY);
    EXPECT_EQ(sinew_rwlock_read_for(each, ms), SINEW_TIMED_OUT);
    sinew_rwlock_unwrite(each);
    EXPECT_EQ(sinew_rwlock_write_for(each, ms), SINEW_OK);
    sinew_rwlock_unwrite(each);
    EXPECT_EQ(sinew_rwlock_read_for(each, ms), SINEW_OK);
    sinew_rwlock_unread(each);
    EXPECT_EQ(sinew_rwlock_trywrite(each), SINEW_OK);
    sinew_rwlock_unwrite(each);
  }
  sinew_rwlock_destroy(&l);
}

TEST_P(c_objects, once_and_futures) {
  static sinew_once o = SINEW_ONCE_INITIALIZER;
  static std::atomic<int> calls{0};
  static int step = 1;
  o = SINEW_ONCE_INITIALIZER;
  calls = 0;
  sinew_future f;
  sinew_future_init(&f);
  void* value = nullptr;
  EXPECT_EQ(sinew_future_get(&f, &value, ms), SINEW_TIMED_OUT);
  const auto body = [](void* to) {
    sinew_once_call(
        &o,
        [](void* add) {
          calls += *static_cast<int*>(add);
          sinew_fiber_sleep(ms);
        },
        &step);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(sinew_future_get(static_cast<sinew_future*>(to), nullptr, SINEW_FOREVER), SINEW_OK);
  };
  sinew_fiber* one = make(body, &f, 1);
  sinew_fiber* other = make(body, &f, GetParam());
  EXPECT_EQ(sinew_fiber_join_for(one, 2 * ms), SINEW_TIMED_OUT);
  EXPECT_EQ(sinew_future_set(&f, &f), SINEW_OK);
  EXPECT_EQ(sinew_future_set(&f, nullptr), SINEW_BUSY);
  sinew_fiber_join(one);
  sinew_fiber_join(other);
  EXPECT_EQ(sinew_future_get(&f, &value, 0), SINEW_OK);
  EXPECT_EQ(value, &f);
  sinew_future_destroy(&f);
}

TEST_P(c_objects, channels) {
  sinew_channel* c = nullptr;
  sinew_channel* d = nullptr;
  EXPECT_EQ(sinew_channel_create(&c, 0, 1), SINEW_INVALID);
  ASSERT_EQ(sinew_channel_create(&c, sizeof(int), 1), SINEW_OK);
  ASSERT_EQ(sinew_channel_create(&d, sizeof(int), SINEW_UNBOUNDED), SINEW_OK);
  int value = 5;
  EXPECT_EQ(sinew_channel_receive(c, &value, 0), SINEW_TIMED_OUT);
  EXPECT_EQ(sinew_channel_send(c, &value, 0), SINEW_OK);
  EXPECT_EQ(sinew_channel_send(c, &value, ms), SINEW_TIMED_OUT);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(sinew_channel_send(d, &i, SINEW_FOREVER), SINEW_OK);
  }
  EXPECT_EQ(sinew_channel_size(d), 1000U);
  int from_c = 0;
  int from_d = -1;
  const sinew_choice both[] = {{c, 0, &from_c}, {d, 0, &from_d}};
  size_t which = 9;
  int seen[2] = {0, 0};
  for (int i = 0; i < 1001; ++i) {
    ASSERT_EQ(sinew_channel_select(both, 2, &which, SINEW_FOREVER), SINEW_OK);
    ++seen[which];
  }
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(from_c, 5);
  EXPECT_EQ(from_d, 999);
  EXPECT_EQ(sinew_channel_select(both, 2, &which, ms), SINEW_TIMED_OUT);
  EXPECT_EQ(sinew_channel_select(both, 0, &which, ms), SINEW_INVALID);
  EXPECT_EQ(sinew_channel_select(both, 65, &which, ms), SINEW_INVALID);
  EXPECT_EQ(sinew_channel_close(d), SINEW_OK);
  EXPECT_EQ(sinew_channel_close(d), SINEW_CLOSED);
  EXPECT_EQ(sinew_channel_send(d, &value, 0), SINEW_CLOSED);
  EXPECT_EQ(sinew_channel_receive(d, &value, SINEW_FOREVER), SINEW_CLOSED);
  EXPECT_EQ(sinew_channel_select(both, 2, &which, SINEW_FOREVER), SINEW_CLOSED);
  EXPECT_EQ(which, 1U);
  sinew_channel_destroy(c);
  sinew_channel_destroy(d);
}

TEST_P(c_objects, cancelling_ends_waits) {
  struct shared {
    sinew_semaphore semaphore;
    sinew_future future;
    sinew_channel* channel;
    int file;
    sinew_fiber* joined;
  } s{};
  sinew_semaphore_init(&s.semaphore, 0);
  sinew_future_init(&s.future);
  int files[2];
  ASSERT_EQ(pipe(files), 0);
  s.file = files[0];
  ASSERT_EQ(sinew_channel_create(&s.channel, 4, 0), SINEW_OK);
  s.joined = make(
      [](void* to) {
        EXPECT_EQ(sinew_semaphore_wait(static_cast<sinew_semaphore*>(to)), SINEW_OK);
      },
      &s.semaphore);
  EXPECT_EQ(sinew_fiber_cancelled(), 0);
  sinew_fiber* f = make(
      [](void* to) {
        auto& with = *static_cast<shared*>(to);
        char bytes[4];
        EXPECT_EQ(sinew_fiber_sleep_for(long_enough), SINEW_CANCELLED);
        EXPECT_EQ(sinew_fiber_cancelled(), 1);
        EXPECT_EQ(sinew_future_get(&with.future, nullptr, SINEW_FOREVER), SINEW_CANCELLED);
        EXPECT_EQ(sinew_channel_receive(with.channel, bytes, SINEW_FOREVER), SINEW_CANCELLED);
        EXPECT_EQ(sinew_semaphore_wait_for(&with.semaphore, long_enough), SINEW_CANCELLED);
        EXPECT_EQ(sinew_fiber_join_for(with.joined, long_enough), SINEW_CANCELLED);
        EXPECT_EQ(sinew_read(with.file, bytes, 1, SINEW_FOREVER), -1);
        EXPECT_EQ(errno, ECANCELED);
        pollfd one{with.file, POLLIN, 0};
        EXPECT_EQ(sinew_poll(&one, 1, SINEW_FOREVER), -1);
        EXPECT_EQ(errno, ECANCELED);
      },
      &s, GetParam());
  EXPECT_EQ(sinew_fiber_sleep_for(ms), SINEW_OK);
  EXPECT_EQ(sinew_fiber_cancel(nullptr), SINEW_INVALID);
  EXPECT_EQ(sinew_fiber_cancel(f), SINEW_OK);
  EXPECT_EQ(sinew_fiber_join(f), SINEW_OK);
  EXPECT_EQ(sinew_semaphore_post(&s.semaphore, 1), SINEW_OK);
  EXPECT_EQ(sinew_fiber_join(s.joined), SINEW_OK);
  sinew_channel_destroy(s.channel);
  close(files[0]);
  close(files[1]);
}

TEST_P(c_objects, descriptors) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::array<char, 32> folder{"/tmp/sinew-test-XXXXXX"};
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = std::string(folder.data()) + "/socket";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 4), 0);
  EXPECT_EQ(sinew_accept(listener, nullptr, nullptr, ms), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  sinew_fiber* f = make(
      [](void* to) {
        const int file = socket(AF_UNIX, SOCK_STREAM, 0);
        EXPECT_EQ(
            sinew_connect(file, static_cast<const sockaddr*>(to), sizeof(sockaddr_un), long_enough),
            0);
        EXPECT_EQ(sinew_write(file, "hello", 5, long_enough), 5);
        close(file);
      },
      &address, GetParam());
  const int file = sinew_accept(listener, nullptr, nullptr, long_enough);
  ASSERT_GE(file, 0);
  pollfd one{file, POLLIN, 0};
  EXPECT_EQ(sinew_poll(&one, 1, long_enough), 1);
  char bytes[8];
  EXPECT_EQ(sinew_read(file, bytes, sizeof bytes, long_enough), 5);
  EXPECT_EQ(sinew_read(file, bytes, sizeof bytes, long_enough), 0);
  sinew_fiber_join(f);
  EXPECT_EQ(sinew_read(-1, bytes, 1, 0), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(sinew_connect(-1, nullptr, 0, ms), -1);
  close(file);
  close(listener);
  unlink(path.c_str());
  rmdir(folder.data());
}

TEST(stopping, says_who_is_still_there_but_does_not_list_thousands) {
  const sinew_start_options how{2, 1};
  ASSERT_EQ(sinew_start(&how), SINEW_OK);
  const sinew_fiber_options detached{"laggard", 0, 2, 1};
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(sinew_fiber_create(
                  nullptr, [](void*) { sinew_fiber_sleep(2'500 * ms); }, nullptr, &detached),
              SINEW_OK);
  }
  testing::internal::CaptureStderr();
  EXPECT_EQ(sinew_stop(), SINEW_OK);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("sinew_stop() waits for these fibers"), std::string::npos) << said;
  EXPECT_NE(said.find("\"laggard\": sleep"), std::string::npos) << said;
  EXPECT_NE(said.find("and 8 more"), std::string::npos) << said;
}

}  // namespace
