// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/trace.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/trace_file.hpp"

namespace {

using namespace sinew;

/// Runs `body` in a process of its own, since a trace is opened once; true if it ended well.
template <class Body>
bool in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct place {
  place() {
    char name[] = "/tmp/sinew-trace-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~place() {
    ::unlink((path() + ".5").c_str());
    ::rmdir(folder.c_str());
  }
  [[nodiscard]] std::string path() const { return folder + "/t"; }
  std::string folder;
};

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(trace, is_off_until_it_is_started_with_a_file) {
  EXPECT_TRUE(in_child([] {
    trace::start(0);  // SINEW_BASE_TRACE is empty
    trace::mark(trace::kind::event, "nothing");
    return !trace::on() && trace::begin() == 0;
  }));
}

TEST(trace, keeps_what_was_recorded_even_by_a_process_that_ends_at_once) {
  const place at;
  ASSERT_TRUE(in_child([&] {
    settings::find("SINEW_BASE_TRACE")->parse(at.path());
    settings::find("SINEW_BASE_TRACE_RECORDS")->parse("3");
    trace::start(5);
    trace::start(5);  // again: nothing
    const std::int64_t begin = trace::begin();
    trace::span(trace::kind::lock, "a name that is longer than 26", begin, 7, 8);
    std::thread([] { trace::mark(trace::kind::put, "m", 9, 10); }).join();
    trace::slice(trace::kind::task, "", begin);
    trace::mark(trace::kind::put, "no room");
    trace::span(trace::kind::put, "not begun", 0);
    return trace::on();
  }));
  const std::vector<char> bytes = bytes_of(at.path() + ".5");
  ASSERT_EQ(bytes.size(), sizeof(trace::file_head) + 3 * sizeof(trace::file_record));
  const auto& head = *reinterpret_cast<const trace::file_head*>(bytes.data());
  EXPECT_EQ(head.mark, trace::file_mark);
  EXPECT_EQ(head.rank, 5);
  EXPECT_EQ(head.room, 3u);
  EXPECT_EQ(head.used.load(), 4u);
  trace::file_record r[3];
  std::memcpy(static_cast<void*>(r), bytes.data() + sizeof(trace::file_head), sizeof r);
  EXPECT_EQ(std::string(r[0].name, sizeof r[0].name), "a name that is longer than");
  EXPECT_EQ(r[0].shape, 'b');
  EXPECT_EQ(r[0].id, 7u);
  EXPECT_EQ(r[0].value, 8u);
  EXPECT_GE(r[0].end_ns, r[0].begin_ns);
  EXPECT_EQ(r[1].shape, 'i');
  EXPECT_NE(r[1].thread, r[0].thread);
  EXPECT_EQ(r[2].shape, 'X');
}

TEST(trace, waits_are_called_what_their_thread_does_or_are_not_kept) {
  const place at;
  ASSERT_TRUE(in_child([&] {
    settings::find("SINEW_BASE_TRACE")->parse(at.path());
    settings::find("SINEW_BASE_TRACE_RECORDS")->parse("2");
    {
      const trace::wait off;
    }
    trace::start(5);
    {
      const trace::wait nobody_says;
    }
    trace::name_waits([] { return "in vain"; });
    {
      const trace::wait named;
    }
    return true;
  }));
  const std::vector<char> bytes = bytes_of(at.path() + ".5");
  ASSERT_EQ(bytes.size(), sizeof(trace::file_head) + 2 * sizeof(trace::file_record));
  EXPECT_EQ(reinterpret_cast<const trace::file_head*>(bytes.data())->used.load(), 1u);
  trace::file_record r;
  std::memcpy(static_cast<void*>(&r), bytes.data() + sizeof(trace::file_head), sizeof r);
  EXPECT_EQ(std::string(r.name), "in vain");
  EXPECT_EQ(r.shape, 'b');
  EXPECT_EQ(r.what, static_cast<std::uint8_t>(trace::kind::sync));
}

TEST(trace, a_file_that_cannot_be_made_is_an_error_that_names_it) {
  EXPECT_TRUE(in_child([] {
    settings::find("SINEW_BASE_TRACE")->parse("/no such folder/t");
    try {
      trace::start(1);
    } catch (const sinew::error& e) {
      return std::strstr(e.what(), "/no such folder/t.1") != nullptr && !trace::on();
    }
    return false;
  }));
}

}  // namespace
