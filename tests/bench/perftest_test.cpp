// SPDX-License-Identifier: BSD-3-Clause
#include "../../tools/sinew/bench/perftest.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace tool = sinew::tool;

namespace {

constexpr const char* header =
    "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n";

// Appended: g++ 12 warns of sums of such strings.
std::string after_header(const char* lines, const char* before = "") {
  std::string text = before;
  text.append(header).append(lines);
  return text;
}

tool::perftest_plan plan_of_two() {
  return {.agent = "tools/hosts rsh",
          .server = "h1",
          .client = "h2",
          .port = 13400,
          .server_cpu = {"-c", "1"},
          .client_cpu = {"-c", "0"},
          .settings = {"UCX_TLS=tcp,self"},
          .test = "tag_lat",
          .bytes = 65536,
          .iterations = 200};
}

struct ended {
  int code;
  std::string out;
};

ended run(const std::string& line) {
  FILE* pipe = popen(("(" + line + ") 2>&1").c_str(), "r");
  std::string out(4096, '\0');
  out.resize(std::fread(out.data(), 1, out.size(), pipe));
  return {WEXITSTATUS(pclose(pipe)), out};
}

}  // namespace

TEST(perftest, the_last_line_is_read) {
  const auto r =
      tool::parse_perftest(after_header("10000,12.489,12.695,13.5,0.60,1000.00,78768,78700\n"));
  ASSERT_TRUE(r);
  EXPECT_DOUBLE_EQ(r->latency_ns, 12489);
  EXPECT_DOUBLE_EQ(r->bandwidth_gb, 1.048576);
  EXPECT_DOUBLE_EQ(r->rate_m, 0.0787);
}

TEST(perftest, few_iterations_are_printed_with_a_space_before) {
  const auto r = tool::parse_perftest(
      after_header(" 200,75.630,78.568,78.568,795.49,795.49,12728,12728\n", "a warning of UCX\n"));
  ASSERT_TRUE(r);
  EXPECT_DOUBLE_EQ(r->latency_ns, 75630);
}

TEST(perftest, columns_may_stand_in_another_order) {
  const auto r = tool::parse_perftest(
      "iterations,overall_mr,overall_bw,50.0_percentile_lat\n"
      "10,3000000,1000,2\n");
  ASSERT_TRUE(r);
  EXPECT_DOUBLE_EQ(r->rate_m, 3);
  EXPECT_DOUBLE_EQ(r->latency_ns, 2000);
}

TEST(perftest, anything_else_is_no_result) {
  for (const std::string& text :
       {std::string(), after_header(""), std::string("10,1,1,1,1,1,1,1\n"),
        after_header("10,1,1\n"), after_header("10,x,1,1,1,1,1,1\n"),
        std::string("iterations,overall_mr\n10,1\n")}) {
    EXPECT_FALSE(tool::parse_perftest(text)) << text;
  }
}

TEST(perftest, a_word_for_a_shell) {
  EXPECT_EQ(tool::shell_word("a b$c"), "'a b$c'");
  EXPECT_EQ(tool::shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(tool::shell_word(""), "''");
}

TEST(perftest, the_line_starts_both_sides_with_the_same_network) {
  const std::string line = tool::perftest_line(plan_of_two());
  EXPECT_TRUE(line.starts_with("tools/hosts rsh 'h1' ")) << line;
  EXPECT_NE(line.find("& tools/hosts rsh 'h2' "), std::string::npos) << line;
  std::size_t programs = 0;
  for (std::size_t at = line.find("UCX_TLS=tcp,self"); at != std::string::npos;
       at = line.find("UCX_TLS=tcp,self", at + 1)) {
    ++programs;
  }
  EXPECT_EQ(programs, 2u) << line;
  EXPECT_NE(line.find("-t tag_lat -s 65536 -n 200 -w 20"), std::string::npos) << line;
}

TEST(perftest, a_host_without_the_program_is_named_whichever_it_is) {
  // Stands in for the program on the other host: waits as a server does, fails as a client.
  const std::string stand_in =
      "env() { shift 3; \"$@\"; }; "
      "ucx_perftest() { case $1 in -p) exec sleep 60;; *) return 1;; esac; }; ";
  for (const std::string lacks : {"h1", "h2"}) {
    tool::perftest_plan plan = plan_of_two();
    plan.agent = "f() { case $1 in " + lacks +
                 ") PATH=/nowhere /bin/sh -c \"$2\";; h1) exec sh -c " +
                 tool::shell_word(stand_in) + "\"$2\";; *) sh -c " + tool::shell_word(stand_in) +
                 "\"$2\";; esac; }; f";
    const auto [code, out] = run(tool::perftest_line(plan));
    EXPECT_NE(code, 0) << lacks;
    EXPECT_NE(out.find(std::string("there is no ucx_perftest on ") + lacks), std::string::npos)
        << out;
  }
}

TEST(perftest, hosts_without_the_program_end_the_line_at_once) {
  tool::perftest_plan plan = plan_of_two();
  plan.agent = "f() { PATH=/nowhere /bin/sh -c \"$2\"; }; f";
  // The client's end ends the server's part, which may not have said its name yet.
  const auto [code, out] = run(tool::perftest_line(plan));
  EXPECT_EQ(code, 127);
  EXPECT_NE(out.find("there is no ucx_perftest on h2"), std::string::npos) << out;
}
