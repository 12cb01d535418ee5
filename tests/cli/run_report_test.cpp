// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/run_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "sinew/base/error.hpp"

namespace sinew::tool {
namespace {

class RunReport : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("run_report." + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string text(const char* name) const {
    std::ifstream from(folder_ / name);
    return {std::istreambuf_iterator<char>(from), {}};
  }
  std::filesystem::path folder_;
};

TEST_F(RunReport, ACIReadsWhichRankHasFailedAndWhy) {
  run_report report(file("a.xml"));
  report.tell("sinew run: rank 1 crashed & <left>\n");
  report.fail(1, "rank 1 of 2 crashed with \"SIGSEGV\" & <more>");
  report.write("./a \x1b[0m", {"rank 0 on h", "rank 1 on h"}, 139);
  const std::string made = text("a.xml");
  EXPECT_NE(made.find(R"(tests="3" failures="1")"), std::string::npos) << made;
  EXPECT_NE(made.find(R"(name="rank 0 on h")"), std::string::npos);
  EXPECT_NE(made.find("crashed with &quot;SIGSEGV&quot; &amp; &lt;more&gt;"), std::string::npos);
  EXPECT_NE(made.find("<system-err>sinew run: rank 1 crashed &amp; &lt;left&gt;"),
            std::string::npos);
  EXPECT_EQ(made.find('\x1b'), std::string::npos) << "what XML does not allow";
}

TEST_F(RunReport, AJobThatEndsWellHasNoFailure) {
  const run_report report(file("a.xml"));
  report.write("./a", {"rank 0 on h"}, 0);
  EXPECT_NE(text("a.xml").find(R"(tests="2" failures="0")"), std::string::npos);
  EXPECT_EQ(text("a.xml").find("<failure"), std::string::npos);
}

TEST_F(RunReport, ACodeAloneIsAFailureOfTheJob) {
  const run_report report(file("a.xml"));
  report.write("./a", {"rank 0 on h"}, 124);
  EXPECT_NE(text("a.xml").find("The job ended with code 124."), std::string::npos);
}

TEST_F(RunReport, MarkdownGoesBehindWhatIsThere) {
  std::ofstream(file("summary")) << "before\n";
  run_report report(file("summary"));
  report.fail(-1, "deadlock: rank 0 waits for rank 1");
  report.tell("sinew run: deadlock\n");
  report.write("./a", {}, 124);
  const std::string made = text("summary");
  EXPECT_EQ(made.find("before\n### `./a` has failed with code 124"), 0U) << made;
  EXPECT_NE(made.find("- deadlock: rank 0 waits for rank 1.\n\n```\nsinew run: deadlock\n```\n"),
            std::string::npos)
      << made;
}

TEST_F(RunReport, AFileThatCannotBeWrittenIsToldBeforeTheJobBegins) {
  EXPECT_THROW(run_report(file("none/a.xml")), error);
}

TEST_F(RunReport, WithoutAFileNothingIsWritten) {
  run_report report("");
  report.tell("x");
  report.fail(0, "y");
  report.write("./a", {"rank 0"}, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace sinew::tool
