// SPDX-License-Identifier: BSD-3-Clause
// What a rank tells its launcher of a wait that lasts, and when it can say that it does nothing.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "sinew/boot/wait_report.hpp"
#include "sinew/core/retry.hpp"
#include "sinew/core/runtime.hpp"

namespace sinew::core {
namespace {

/// A launcher that asks as often as it is to, and does something when it has been told so often.
class asking_session final : public boot::session {
 public:
  [[nodiscard]] const boot::place& where() const override { return place_; }
  void put(const std::string&, const std::string&) override {}
  [[nodiscard]] std::optional<std::string> get(const std::string&) override { return {}; }
  void fence() override {}
  [[nodiscard]] std::byte* map_node_memory(std::size_t) override { return nullptr; }
  [[nodiscard]] std::byte* map_node_heap(std::size_t) override { return nullptr; }
  [[noreturn]] void abort(int code, std::string_view) override { std::exit(code); }
  void finalize() override {}

  [[nodiscard]] bool asks_for_waits() const noexcept override { return true; }
  [[nodiscard]] int take_question() noexcept override {
    return static_cast<int>(told.size()) < reports ? static_cast<int>(told.size()) : 0;
  }
  void tell_wait(const boot::wait_report& report) noexcept override {
    told.push_back(report);
    if (static_cast<int>(told.size()) == reports) {
      then();
    }
  }

  int reports = 0;
  std::function<void()> then;
  std::vector<boot::wait_report> told;

 private:
  boot::place place_;
};

/// In a process without the threads and fibers of other tests, of which nobody knows what they do.
template <class Body>
void alone(const Body& body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        body();
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

class wait_teller : public testing::TestWithParam<threading> {
 protected:
  wait_teller() {
    auto made = std::make_unique<asking_session>();
    launcher_ = made.get();
    rt_ = runtime::over(std::move(made),
                        std::move(fabric::open_inproc(1, GetParam() == threading::many)[0]),
                        GetParam());
  }
  /// Waits until it has told so often.
  std::vector<boot::wait_report> reports_of_a_wait(int reports) {
    completion c;
    launcher_->reports = reports;
    launcher_->then = [&c] { c.complete(); };
    rt_->wait(c);
    return std::exchange(launcher_->told, {});
  }

  asking_session* launcher_ = nullptr;
  std::unique_ptr<runtime> rt_;
};

TEST_P(wait_teller, tells_once_by_itself_and_then_when_it_is_asked) {
  alone([&] {
    const auto told = reports_of_a_wait(3);
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[0].turn, 0);
    EXPECT_EQ(told[1].turn, 1);
    EXPECT_EQ(told[2].turn, 2);
    EXPECT_GE(told[0].waited_ms, 200);
    EXPECT_NE(told[0].state, "");
    EXPECT_EQ(told[0].state, told[1].state);
    EXPECT_EQ(told[0].state, told[2].state);
  });
}

TEST_P(wait_teller, another_wait_is_another_state) {
  alone([&] {
    const auto first = reports_of_a_wait(2);
    launcher_->told.resize(1);  // asked at once
    const auto second = reports_of_a_wait(2);
    EXPECT_NE(first.back().state, second.back().state);
  });
}

TEST_P(wait_teller, a_condition_is_waited_for_like_an_operation) {
  alone([&] {
    bool ready = false;
    launcher_->reports = 2;
    launcher_->then = [&ready] { ready = true; };
    const void* asked_of = nullptr;
    rt_->set_diagnosis(nullptr, &asked_of, [](void* to, const void* waited, boot::awaited& what) {
      *static_cast<const void**>(to) = waited;
      what.tag = 7;
      return true;
    });
    rt_->wait_until([](void* r) { return *static_cast<bool*>(r); }, &ready);
    EXPECT_EQ(asked_of, &ready);
    EXPECT_NE(launcher_->told.back().state, "");
    EXPECT_EQ(launcher_->told.back().what.tag, 7);
    rt_->set_diagnosis(nullptr, nullptr);
  });
}

TEST_P(wait_teller, it_is_not_certain_where_something_else_may_end_the_wait) {
  const awaits_outside other(*rt_);
  EXPECT_EQ(reports_of_a_wait(1).front().state, "");
}

TEST_P(wait_teller, it_is_not_certain_where_another_thread_goes_on) {
  completion end;
  std::thread other([&end] {
    while (!end.done()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(reports_of_a_wait(1).front().state, "");
  end.complete();
  other.join();
}

TEST(wait_teller_of_threads, all_that_wait_count) {
#ifdef SINEW_TSAN
  GTEST_SKIP() << "ThreadSanitizer has a thread of its own, which may act at any time";
#endif
  alone([&] {
    auto made = std::make_unique<asking_session>();
    asking_session& launcher = *made;
    const auto rt =
        runtime::over(std::move(made), std::move(fabric::open_inproc(1, true)[0]), threading::many);
    std::array<completion, 3> all;
    launcher.reports = 3;
    launcher.then = [&all] {
      for (completion& each : all) {
        each.complete();
      }
    };
    std::thread second([&] { rt->wait(all[1]); });
    std::thread third([&] { rt->wait(all[2]); });
    rt->wait(all[0]);
    second.join();
    third.join();
    ASSERT_EQ(launcher.told.size(), 3u);
    EXPECT_NE(launcher.told.back().state, "");
    EXPECT_EQ(launcher.told[1].state, launcher.told[2].state);
  });
}

TEST(wait_teller_of_tries, a_loop_of_tries_is_a_wait) {
  alone([&] {
    auto made = std::make_unique<asking_session>();
    asking_session& launcher = *made;
    const auto rt =
        runtime::over(std::move(made), std::move(fabric::open_inproc(1, false)[0]), threading::one);
    bool over = false;
    launcher.reports = 3;
    launcher.then = [&over] { over = true; };
    retry_loop tries(*rt);
    while (!over) {
      tries.again();
    }
    EXPECT_NE(launcher.told[1].state, "");
    EXPECT_EQ(launcher.told[1].state, launcher.told[2].state);
  });
}

/// As the pool of OpenMP between two parallel regions.
TEST_P(wait_teller, threads_that_sleep_until_they_are_woken_do_not_count) {
#ifdef SINEW_TSAN
  GTEST_SKIP() << "ThreadSanitizer has a thread of its own, which may act at any time";
#endif
  alone([&] {
    std::mutex lock;
    std::condition_variable work;
    bool over = false;
    std::thread pool([&] {
      std::unique_lock held(lock);
      work.wait(held, [&over] { return over; });
    });
    EXPECT_NE(reports_of_a_wait(2).back().state, "");
    {
      const std::lock_guard held(lock);
      over = true;
    }
    work.notify_all();
    pool.join();
  });
}

INSTANTIATE_TEST_SUITE_P(threads, wait_teller, testing::Values(threading::one, threading::many));

}  // namespace
}  // namespace sinew::core
