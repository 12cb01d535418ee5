// SPDX-License-Identifier: BSD-3-Clause
// Sessions inside one test program: alone, and the pieces that several ranks share (as threads).
#include "sinew/boot/session.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "sinew/base/error.hpp"
#include "sinew/boot/crash_report.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "support/ids.hpp"

namespace sinew::boot {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

class without_launcher : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"SINEW_BOOT_JOB", "PMI_FD", "PMI_PORT", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
          "SLURM_PROCID", "PALS_RANKID", "FLUX_TASK_RANK"}) {
      ::unsetenv(name);
    }
  }
};

using alone = without_launcher;

TEST_F(alone, is_a_job_of_one) {
  const auto line = connect();
  EXPECT_EQ(line->where().rank, 0);
  EXPECT_EQ(line->where().size, 1);
  EXPECT_EQ(line->where().local_ranks, std::vector<job_rank>{0});
  EXPECT_EQ(line->where().launcher, "alone");
  line->put("key", "a value\n");
  line->fence();
  EXPECT_EQ(line->get("key"), "a value\n");
  EXPECT_EQ(line->get("other"), std::nullopt);
  std::byte* memory = line->map_node_memory(64 * mib);
  EXPECT_EQ(memory[0], std::byte{0});
  EXPECT_EQ(memory[64 * mib - 1], std::byte{0});
  EXPECT_THROW((void)line->map_node_memory(mib), error);
  EXPECT_THROW(line->put("two words", ""), error);
  line->finalize();
}

TEST_F(alone, keeps_names) {
  const auto line = connect();
  EXPECT_EQ(line->lookup("a b"), std::nullopt);
  EXPECT_TRUE(line->publish("a b", "c"));
  EXPECT_FALSE(line->publish("a b", "d"));
  EXPECT_EQ(line->lookup("a b"), "c");
  EXPECT_TRUE(line->unpublish("a b"));
  EXPECT_FALSE(line->unpublish("a b"));
}

TEST_F(alone, abort_ends_with_the_code) {
  EXPECT_EXIT(connect()->abort(7, "bad input"), ::testing::ExitedWithCode(7), "bad input");
  EXPECT_EXIT(connect()->abort(512, ""), ::testing::ExitedWithCode(1), "");
}

TEST(shared_memory, is_one_for_all_who_map_it) {
  for (const memory_kind kind : {memory_kind::best, memory_kind::named_object}) {
    const descriptor shared = make_shared_memory("test", kind);
    const memory_mapping first = memory_mapping::of(shared.get(), mib);
    const memory_mapping second = memory_mapping::of(shared.get(), mib);
    EXPECT_EQ(second.base()[mib - 1], std::byte{0});
    first.base()[mib - 1] = std::byte{9};
    EXPECT_EQ(second.base()[mib - 1], std::byte{9});
    EXPECT_THROW((void)memory_mapping::of(shared.get(), 2 * mib), error);
    EXPECT_NE(::fcntl(shared.get(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST(shared_memory, of_a_memfd_is_touched_lazily) {
  const descriptor shared = make_shared_memory("test");
  const memory_mapping memory = memory_mapping::of(shared.get(), 256 * mib);
  struct stat now{};
  ASSERT_EQ(::fstat(shared.get(), &now), 0);
  EXPECT_EQ(now.st_blocks, 0);
}

TEST(shared_memory, of_a_memfd_is_never_cut_off) {
  const descriptor shared = make_shared_memory("test");
  const memory_mapping all = memory_mapping::of(shared.get(), 1 << 20);
  EXPECT_NE(::ftruncate(shared.get(), 0), 0) << "any rank could end all others by SIGBUS";
  EXPECT_NE(::ftruncate(shared.get(), 4096), 0);
  const memory_mapping heap = memory_mapping::heap_of(shared.get(), 1 << 20);
  all.base()[(1 << 20) - 1] = heap.base()[0];
}

TEST(shared_memory, has_a_sparse_heap_that_leaves_the_first_part_alone) {
  const descriptor shared = make_shared_memory("test");
  const memory_mapping memory = memory_mapping::of(shared.get(), mib);
  const std::size_t large = std::size_t{1} << 36;
  const memory_mapping heap = memory_mapping::heap_of(shared.get(), large);
  memory.base()[mib - 1] = std::byte{1};
  heap.base()[0] = std::byte{2};
  heap.base()[large - 1] = std::byte{3};
  // A rank that comes late to either part finds what is there.
  const memory_mapping late = memory_mapping::of(shared.get(), mib);
  const memory_mapping late_heap = memory_mapping::heap_of(shared.get(), large);
  EXPECT_EQ(late.base()[mib - 1], std::byte{1});
  EXPECT_EQ(late_heap.base()[0], std::byte{2});
  EXPECT_EQ(late_heap.base()[large - 1], std::byte{3});
  EXPECT_THROW((void)memory_mapping::heap_of(shared.get(), 2 * large), error);
}

TEST_F(alone, has_a_heap_too) {
  const auto line = connect();
  std::byte* heap = line->map_node_heap(64 * mib);
  EXPECT_EQ(heap[64 * mib - 1], std::byte{0});
  EXPECT_THROW((void)line->map_node_heap(mib), error);
}

TEST(shared_memory, a_full_dev_shm_is_a_clear_error) {
  const descriptor shared = make_shared_memory("test", memory_kind::named_object);
  try {
    (void)memory_mapping::of(shared.get(), std::size_t{1} << 46);
    FAIL() << "64 TiB of /dev/shm?";
  } catch (const error& failure) {
    EXPECT_NE(std::strstr(failure.what(), "67108864 MiB"), nullptr) << failure.what();
  }
  try {
    const descriptor another = make_shared_memory("test", memory_kind::named_object);
    (void)memory_mapping::heap_of(another.get(), std::size_t{1} << 46);
    FAIL() << "64 TiB of /dev/shm?";
  } catch (const error& failure) {
    EXPECT_NE(std::strstr(failure.what(), "memfd_create"), nullptr) << failure.what();
    EXPECT_NE(std::strstr(failure.what(), "set SINEW_RMA_HEAP"), nullptr) << failure.what();
    EXPECT_NE(std::strstr(failure.what(), "enlarge /dev/shm"), nullptr) << failure.what();
  }
}

TEST(shared_memory, a_closed_descriptor_is_a_clear_error) {
  EXPECT_THROW((void)memory_mapping::of(987, mib), error);
  EXPECT_THROW((void)memory_mapping::of(987, 0), error);
}

TEST(share_descriptor, reaches_every_rank_whoever_comes_first) {
  const std::string name = "test-" + std::to_string(::getpid());
  for (const int size : {1, 2, 20}) {
    std::vector<std::thread> ranks;
    std::atomic<int> good{0};
    for (int rank = size - 1; rank >= 0; --rank) {
      ranks.emplace_back([&, rank] {
        descriptor mine;
        if (rank == 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          mine = make_shared_memory("test");
          (void)!::pwrite(mine.get(), "x", 1, 0);
        }
        const descriptor shared = share_descriptor(name, local_rank{rank}, size, std::move(mine));
        char byte = 0;
        good += ::pread(shared.get(), &byte, 1, 0) == 1 && byte == 'x' ? 1 : 0;
      });
    }
    for (std::thread& each : ranks) {
      each.join();
    }
    EXPECT_EQ(good, size);
  }
}

TEST(share_descriptor, a_taken_name_is_a_clear_error) {
  EXPECT_THROW((void)share_descriptor(std::string(200, 'x'), 0, 1, descriptor()), error);
}

#if !defined(SINEW_ASAN) && !defined(SINEW_TSAN)
TEST(crash_report, names_rank_and_signal_and_keeps_the_signal) {
  place where;
  where.rank = 3;
  where.size = 8;
  EXPECT_EXIT(
      {
        install_crash_report(where);
        ::raise(SIGFPE);
      },
      ::testing::KilledBySignal(SIGFPE), "rank 3 of 8 crashed on .* SIGFPE.*backtrace");
  EXPECT_EXIT(
      {
        install_crash_report(where);
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "SIGABRT");
}

int overflow(volatile int* depth) {  // NOLINT(misc-no-recursion)
  volatile int room[1024];
  room[0] = *depth + 1;
  return *depth < 0 ? 0 : overflow(room) + room[0];
}

TEST(crash_report, has_a_stack_of_its_own) {
  EXPECT_EXIT(
      {
        install_crash_report(place{});
        volatile int depth = 0;
        ::_exit(overflow(&depth) & 1);
      },
      ::testing::KilledBySignal(SIGSEGV), "rank 0 of 1 crashed.*it ran over its stack");
}

[[gnu::noinline]] int enter_large_frame() {
  volatile int room[16U << 20U];  // twice what a main thread usually has
  room[0] = 1;
  return room[0];
}

TEST(crash_report, knows_a_frame_that_is_larger_than_the_stack) {
  EXPECT_EXIT(
      {
        install_crash_report(place{});
        ::_exit(enter_large_frame());
      },
      ::testing::KilledBySignal(SIGSEGV), "rank 0 of 1 crashed.*it ran over its stack");
}
#endif

TEST(crash_report, leaves_the_programs_own_handler_alone) {
  EXPECT_EXIT(
      {
        ::signal(SIGFPE, [](int) { ::_exit(5); });
        install_crash_report(place{});
        ::raise(SIGFPE);
      },
      ::testing::ExitedWithCode(5), "^$");
}

}  // namespace
}  // namespace sinew::boot
