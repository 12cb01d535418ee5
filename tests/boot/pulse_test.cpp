// SPDX-License-Identifier: BSD-3-Clause
// What a process tells of itself, as another one reads it.
#include "sinew/boot/pulse.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/pmi_wire.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::boot {
namespace {

/// The page of this process, as another one would find it.
pulse* page_seen_from_outside() {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(each, gone).string().find("sinew-pulse") ==
        std::string::npos) {
      continue;
    }
    const descriptor open(::open(each.path().c_str(), O_RDWR | O_CLOEXEC));
    void* const at =
        ::mmap(nullptr, pulse_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, open.get(), 0);
    return at != MAP_FAILED ? static_cast<pulse*>(at) : nullptr;
  }
  return nullptr;
}

class Pulse : public testing::Test {
 protected:
  void SetUp() override {
    own_pulse.open = true;
    place where;
    where.rank = 3;
    where.size = 4;
    where.job = std::string(100, 'j');
    where.launcher = "pmi1";
    share_pulse(where);
    ASSERT_TRUE(pulse_is_shared());
    seen_ = page_seen_from_outside();
    ASSERT_NE(seen_, nullptr);
  }
  void TearDown() override {
    if (seen_ != nullptr) {
      ::munmap(seen_, pulse_bytes);
    }
  }
  pulse* seen_ = nullptr;
};

TEST_F(Pulse, OthersReadAndWriteTheProcesssOwnMemory) {
  EXPECT_EQ(seen_->form, pulse_form);
  EXPECT_TRUE(seen_->open.load()) << "what was there before";
  EXPECT_EQ(std::string(seen_->job.data()), std::string(seen_->job.size() - 1, 'j'));
  seen_->open = false;
  EXPECT_FALSE(own_pulse.open.load());
  own_pulse.calls.fetch_add(5);
  EXPECT_GE(seen_->calls.load(), 5U);
}

TEST_F(Pulse, AChildHasAnEmptyOneOfItsOwn) {
  const std::uint64_t calls = own_pulse.calls.load();
  const pid_t child = ::fork();
  if (child == 0) {
    own_pulse.calls.fetch_add(1000);
    std::_Exit(own_pulse.open.load() || pulse_is_shared() || own_pulse.form != 0 ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(seen_->calls.load(), calls);
  EXPECT_TRUE(pulse_is_shared());
}

/// Nobody but readers of the page asks its rank.
class rank_that_nobody_started final : public session {
 public:
  const place& where() const override { return where_; }
  void put(const std::string&, const std::string&) override {}
  std::optional<std::string> get(const std::string&) override { return std::nullopt; }
  void fence() override {}
  std::byte* map_node_memory(std::size_t) override { return nullptr; }
  std::byte* map_node_heap(std::size_t) override { return nullptr; }
  void abort(int, std::string_view) override { std::abort(); }
  void finalize() override {}

 private:
  place where_;
};

TEST_F(Pulse, AQuestionIsAnsweredOnce) {
  rank_that_nobody_started rank;
  EXPECT_TRUE(rank.asks_for_waits());
  EXPECT_EQ(rank.take_question(), 0);
  const int asked = seen_->question.fetch_add(1) + 1;
  EXPECT_EQ(rank.take_question(), asked);
  wait_report report;
  report.waited_ms = 1234;
  report.what.what = awaited::kind::receive;
  report.what.tag = 7;
  rank.tell_wait(report);  // of its own accord
  EXPECT_NE(seen_->answered.load(), asked);
  report.turn = asked;
  rank.tell_wait(report);
  EXPECT_EQ(rank.take_question(), 0);
  ASSERT_EQ(seen_->answered.load(), asked);
  const auto line = pmi_message::parse(seen_->answer.data());
  ASSERT_TRUE(line.has_value());
  const auto read = parse_wait_report(*line);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->waited_ms, 1234);
  EXPECT_EQ(read->what.tag, 7);
}

}  // namespace
}  // namespace sinew::boot
