// SPDX-License-Identifier: BSD-3-Clause
// Waiting for descriptors: nothing is missed, nobody is woken for others, closing and deadlines.
#include "sinew/fiber/descriptor.hpp"

#include <fcntl.h>
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
#include <thread>
#include <vector>

#include "sinew/base/clock.hpp"
#include "sinew/base/spin.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/io.hpp"
#include "sinew/fiber/scheduler.hpp"
#include "support/fibers.hpp"

namespace sinew::fiber {
namespace {

std::uint64_t deadline_in_ms(std::uint64_t ms) {
  return static_cast<std::uint64_t>(now_ns()) + ms * 1'000'000;
}

/// Both ends of a stream.
struct ends {
  explicit ends(bool socket) {
    EXPECT_EQ(socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, at.data()) : ::pipe(at.data()), 0);
  }
  ~ends() {
    ::close(at[0]);
    ::close(at[1]);
  }
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
  std::array<int, 2> at{};
};

class descriptors : public ::testing::TestWithParam<int> {
 protected:
  scheduler scheduler_{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, descriptors, ::testing::Values(1, 2, 3),
                         [](const auto& i) { return "workers" + std::to_string(i.param); });

TEST_P(descriptors, every_byte_arrives_in_its_fiber) {
  constexpr int pairs = 50;
  constexpr int rounds = 100;
  std::vector<std::unique_ptr<ends>> all;
  for (int i = 0; i < pairs; ++i) {
    all.push_back(std::make_unique<ends>(i % 2 == 0));
  }
  std::atomic<int> good{0};
  test::crew crew;
  for (int i = 0; i < pairs; ++i) {
    crew.add(
        [&, i] {
          for (int round = 0; round < rounds; ++round) {
            unsigned char got = 0;
            const io_result r = read(all[i]->at[0], &got, 1, deadline_in_ms(20'000));
            good += r.value == 1 && got == round % 251 ? 1 : 0;
          }
        },
        {.worker = i});
    crew.add(
        [&, i] {
          for (int round = 0; round < rounds; ++round) {
            const auto byte = static_cast<unsigned char>(round % 251);
            EXPECT_EQ(write(all[i]->at[1], &byte, 1).value, 1);
            if ((round + i) % 3 == 0) {
              sleep_for(10'000);
            } else {
              yield();
            }
          }
        },
        {.worker = i + 1});
  }
  crew.join();
  EXPECT_EQ(good.load(), pairs * rounds);
}

/// After a while without events one worker waits for them and the others sleep for good. When that
/// one has work to do, another one must take its place, or the fiber that computes never ends.
TEST_P(descriptors, who_computes_leaves_the_events_to_another_worker) {
  if (GetParam() == 1) {
    GTEST_SKIP() << "there is no other worker";
  }
  for (int round = 0; round < 12; ++round) {
    const ends begin(false);
    const ends end(false);
    std::atomic<bool> over{false};
    test::crew crew;
    crew.add(
        [&] {
          char byte = 0;
          EXPECT_EQ(read(begin.at[0], &byte, 1, deadline_in_ms(20'000)).value, 1);
          EXPECT_EQ(::write(end.at[1], &byte, 1), 1);
          const std::uint64_t limit = deadline_in_ms(20'000);
          while (!over.load() && deadline_in_ms(0) < limit) {
            cpu_relax();
          }
          EXPECT_TRUE(over.load());
        },
        {.worker = round % 2});
    crew.add(
        [&] {
          char byte = 0;
          EXPECT_EQ(read(end.at[0], &byte, 1, deadline_in_ms(20'000)).value, 1);
          over.store(true);
        },
        {.worker = (round + 1) % 2});
    std::thread outside([&] {
      ::usleep(40'000);  // until all sleep
      EXPECT_EQ(::write(begin.at[1], "x", 1), 1);
    });
    crew.join();
    outside.join();
  }
}

TEST_P(descriptors, writes_wait_for_room) {
  for (const bool socket : {false, true}) {
    const ends pair(socket);
    std::vector<char> sent(1 << 20);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] = static_cast<char>(i * 7 % 253);
    }
    std::vector<char> received;
    test::crew crew;
    crew.add([&] {
      const io_result all = write(pair.at[1], sent.data(), sent.size());
      EXPECT_EQ(all.value, static_cast<std::int64_t>(sent.size()));
    });
    crew.add(
        [&] {
          std::array<char, 5000> some{};
          while (received.size() < sent.size()) {
            const io_result got = read(pair.at[0], some.data(), some.size());
            ASSERT_GT(got.value, 0) << got.error;
            received.insert(received.end(), some.begin(), some.begin() + got.value);
          }
        },
        {.worker = 1});
    crew.join();
    EXPECT_EQ(received, sent);
  }
}

TEST_P(descriptors, waits_end_by_deadline_and_by_cancel) {
  const ends pair(true);
  char byte = 0;
  EXPECT_EQ(read(pair.at[0], &byte, 1, deadline_in_ms(2)).error, ETIMEDOUT);
  pollfd one{pair.at[0], POLLIN, 0};
  EXPECT_EQ(poll(&one, 1, deadline_in_ms(2)).value, 0);
  std::atomic<int> error{0};
  fiber* f = nullptr;
  struct given {
    int from;
    std::atomic<int>* error;
  } all{pair.at[0], &error};
  ASSERT_TRUE(spawn(
                  [](void* to) {
                    auto& g = *static_cast<given*>(to);
                    char b = 0;
                    *g.error = read(g.from, &b, 1).error;
                    EXPECT_TRUE(is_cancelled());
                    EXPECT_EQ(sleep_until(deadline_in_ms(10'000)), waited::cancelled);
                  },
                  &all, &f, {.worker = GetParam() - 1})
                  .done());
  sleep_for(2'000'000);
  EXPECT_TRUE(cancel(*f));
  join(*f);
  EXPECT_EQ(error.load(), ECANCELED);
  EXPECT_EQ(write(pair.at[1], "x", 1).value, 1);  // and nobody is in line any more
  EXPECT_EQ(read(pair.at[0], &byte, 1, deadline_in_ms(10'000)).value, 1);
}

TEST_P(descriptors, one_of_many_ends_a_poll) {
  std::vector<std::unique_ptr<ends>> all;
  std::vector<pollfd> files;
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<ends>(false));
    files.push_back({all.back()->at[0], POLLIN, 0});
  }
  for (int i = 0; i < 20; i += 3) {
    test::crew crew;
    crew.add([&] {
      EXPECT_EQ(poll(files.data(), files.size(), deadline_in_ms(20'000)).value, 1);
      EXPECT_EQ(files[static_cast<std::size_t>(i)].revents, POLLIN);
    });
    crew.add(
        [&] {
          sleep_for(500'000);
          EXPECT_EQ(write(all[static_cast<std::size_t>(i)]->at[1], "x", 1).value, 1);
        },
        {.worker = 1});
    crew.join();
    char byte = 0;
    EXPECT_EQ(read(all[static_cast<std::size_t>(i)]->at[0], &byte, 1).value, 1);
  }
}

TEST_P(descriptors, a_number_may_name_another_file) {
  for (int i = 0; i < 20; ++i) {
    const ends pair(i % 2 == 0);
    test::crew crew;
    crew.add([&] {
      char byte = 0;
      EXPECT_EQ(read(pair.at[0], &byte, 1, deadline_in_ms(20'000)).value, 1);
    });
    crew.add([&] {
      sleep_for(200'000);
      EXPECT_EQ(write(pair.at[1], "x", 1).value, 1);
    });
    crew.join();
  }
}

TEST_P(descriptors, connect_and_accept) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::array<char, 32> folder{"/tmp/sinew-test-XXXXXX"};
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = std::string(folder.data()) + "/socket";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, at, sizeof address), 0);
  ASSERT_EQ(::listen(listener, 2), 0);
  test::crew crew;
  constexpr int clients = 8;
  for (int i = 0; i < clients; ++i) {
    crew.add(
        [&] {
          const int file = ::socket(AF_UNIX, SOCK_STREAM, 0);
          EXPECT_TRUE(connect(file, at, sizeof address, deadline_in_ms(20'000)).ok());
          EXPECT_EQ(::fcntl(file, F_GETFL) & O_NONBLOCK, 0);
          char byte = 0;
          EXPECT_EQ(read(file, &byte, 1, deadline_in_ms(20'000)).value, 1);
          ::close(file);
        },
        {.worker = i});
  }
  crew.add([&] {
    for (int i = 0; i < clients; ++i) {
      const io_result file = accept(listener, nullptr, nullptr, deadline_in_ms(20'000));
      ASSERT_TRUE(file.ok());
      EXPECT_EQ(write(static_cast<int>(file.value), "x", 1).value, 1);
      ::close(static_cast<int>(file.value));
    }
  });
  crew.join();
  EXPECT_EQ(accept(listener, nullptr, nullptr, deadline_in_ms(1)).error, ETIMEDOUT);
  ::close(listener);
  ::unlink(path.c_str());
  ::rmdir(folder.data());
}

TEST_P(descriptors, files_and_numbers_that_cannot_be_waited_for) {
  char byte = 0;
  EXPECT_EQ(read(-1, &byte, 1).error, EBADF);
  EXPECT_EQ(write(-1, &byte, 1).error, EBADF);
  const int zero = ::open("/dev/zero", O_RDWR);
  EXPECT_EQ(read(zero, &byte, 1).value, 1);
  EXPECT_EQ(write(zero, &byte, 1).value, 1);
  ::close(zero);
  const int self_file = ::open("/proc/self/exe", O_RDONLY);
  EXPECT_EQ(read(self_file, &byte, 1).value, 1);
  watched w{self_file, readiness::in, events_of(self_file)};
  EXPECT_EQ(wait_for_descriptors(&w, 1, {}), descriptor_wait_end::impossible);
  ::close(self_file);
}

}  // namespace
}  // namespace sinew::fiber
