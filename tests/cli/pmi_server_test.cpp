// SPDX-License-Identifier: BSD-3-Clause
// The launcher's side of PMI-1, without sockets.
#include "sinew/run/pmi_server.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sinew/boot/launcher_wire.hpp"

namespace sinew::tool {
namespace {

class server : public ::testing::Test {
 protected:
  std::string ask(int rank, const std::string& line) {
    sent_[static_cast<std::size_t>(rank)].clear();
    server_.receive(rank, line + "\n");
    return sent_[static_cast<std::size_t>(rank)];
  }

  std::vector<std::string> sent_ = std::vector<std::string>(2);
  int aborted_by_ = -1;
  int code_ = 0;
  std::string why_;
  int nonsense_by_ = -1;
  pmi_server server_{"job",
                     {0, 1},
                     {[this](int rank, const std::string& bytes) {
                        sent_[static_cast<std::size_t>(rank)] += bytes;
                      },
                      [this](int rank, int code, const std::string& why) {
                        aborted_by_ = rank;
                        code_ = code;
                        why_ = why;
                      },
                      [this](int rank, const std::string&) { nonsense_by_ = rank; }}};
};

TEST_F(server, answers_the_usual_opening) {
  EXPECT_EQ(ask(0, "cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_TRUE(server_.initialised(0));
  EXPECT_FALSE(server_.initialised(1));
  EXPECT_EQ(ask(1, "cmd=get_appnum"), "cmd=appnum appnum=1 rc=0\n");
  EXPECT_EQ(ask(0, "cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=job rc=0\n");
  EXPECT_EQ(ask(0, "cmd=get_universe_size"), "cmd=universe_size size=2 rc=0\n");
  EXPECT_EQ(ask(0, "cmd=get kvsname=job key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n");
  EXPECT_EQ(ask(0, "cmd=finalize"), "cmd=finalize_ack rc=0\n");
  EXPECT_TRUE(server_.finalized(0));
}

TEST_F(server, tells_who_departs_when_all_have_left) {
  EXPECT_EQ(ask(0, "cmd=sinew_hello"), "");
  EXPECT_EQ(ask(1, "cmd=sinew_hello"), "");
  EXPECT_EQ(ask(0, "cmd=sinew_depart"), "");
  EXPECT_EQ(ask(1, "cmd=sinew_depart"), "cmd=sinew_all_left\n");
  EXPECT_EQ(sent_[0], "cmd=sinew_all_left\n");
}

TEST_F(server, knows_the_nodes_of_ranks) {
  pmi_server over_hosts("job", {0, 0},
                        {[this](int, const std::string& bytes) { why_ = bytes; },
                         [](int, int, const std::string&) {}, [](int, const std::string&) {}},
                        {0, 1});
  over_hosts.receive(0, "cmd=get kvsname=job key=PMI_process_mapping\n");
  EXPECT_EQ(why_, "cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n");
}

TEST_F(server, keeps_keys) {
  EXPECT_EQ(ask(0, "cmd=put kvsname=job key=a value=b=c"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=a"), "cmd=get_result rc=0 msg=success value=b=c\n");
  EXPECT_EQ(ask(1, "cmd=get kvsname=job key=b"),
            "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  EXPECT_NE(ask(0, "cmd=put kvsname=job key=a").find("rc=-1"), std::string::npos);
  EXPECT_NE(ask(0, "cmd=put key=a value=" + std::string(5000, 'x')).find("rc=-1"),
            std::string::npos);
  EXPECT_NE(ask(0, "cmd=get").find("rc=-1"), std::string::npos);
}

TEST_F(server, keeps_names) {
  const auto well = [](const std::string& answer) {
    return answer.find(" rc=0 info=ok") != std::string::npos;
  };
  EXPECT_FALSE(well(ask(0, "cmd=lookup_name service=a")));
  EXPECT_EQ(ask(0, "cmd=publish_name service=a port=here"), "cmd=publish_result rc=0 info=ok\n");
  EXPECT_EQ(ask(1, "cmd=lookup_name service=a"), "cmd=lookup_result rc=0 info=ok port=here\n");
  EXPECT_FALSE(well(ask(1, "cmd=publish_name service=a port=there")));
  EXPECT_EQ(ask(1, "cmd=unpublish_name service=a"), "cmd=unpublish_result rc=0 info=ok\n");
  EXPECT_FALSE(well(ask(0, "cmd=unpublish_name service=a")));
  EXPECT_FALSE(well(ask(0, "cmd=lookup_name service=a")));
  EXPECT_FALSE(well(ask(0, "cmd=publish_name service=a")));
  EXPECT_FALSE(well(ask(0, "cmd=lookup_name")));
}

TEST_F(server, barrier_waits_for_all) {
  EXPECT_EQ(ask(0, "cmd=barrier_in"), "");
  EXPECT_EQ(ask(1, "cmd=barrier_in"), "cmd=barrier_out rc=0\n");
  EXPECT_EQ(sent_[0], "cmd=barrier_out rc=0\n");
  EXPECT_EQ(ask(1, "cmd=barrier_in"), "");
  EXPECT_EQ(server_.missed_in_barrier(), -1);
  server_.leave(0);
  EXPECT_EQ(server_.missed_in_barrier(), 0);
}

TEST_F(server, barrier_goes_on_without_who_has_died) {
  EXPECT_EQ(ask(0, "cmd=barrier_in"), "");
  server_.leave(1);
  EXPECT_EQ(server_.missed_in_barrier(), 1);
  sent_[0].clear();
  server_.excuse(1);
  EXPECT_EQ(server_.missed_in_barrier(), -1);
  EXPECT_EQ(sent_[0], "cmd=barrier_out rc=0\n");
  EXPECT_EQ(ask(0, "cmd=barrier_in"), "cmd=barrier_out rc=0\n");
}

TEST_F(server, who_dies_in_a_barrier_leaves_it) {
  EXPECT_EQ(ask(1, "cmd=barrier_in"), "");
  server_.leave(1);
  server_.excuse(1);
  EXPECT_EQ(ask(0, "cmd=barrier_in"), "cmd=barrier_out rc=0\n");
  EXPECT_EQ(sent_[1], "");
}

TEST(votes, are_told_to_the_launcher) {
  std::vector<cast_vote> told;
  int refused = 0;
  pmi_server s("job", {0, 0},
               {.send = [](int, const std::string&) {},
                .abort = [](int, int, const std::string&) {},
                .nonsense = [&](int, const std::string&) { ++refused; },
                .voted =
                    [&](int rank, const cast_vote& v) {
                      EXPECT_EQ(rank, 0);
                      told.push_back(v);
                    }});
  s.receive(0, "cmd=sinew_vote slot=3 key=9 turn=2 flag=-2\n");
  s.receive(0, "cmd=sinew_vote slot=3 key=9 turn=2\n");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].ballot.slot, 3U);
  EXPECT_EQ(told[0].ballot.key, 9U);
  EXPECT_EQ(told[0].ballot.turn, 2U);
  EXPECT_EQ(told[0].flag, ~std::uint32_t{1});
  EXPECT_FALSE(told[0].left);
  EXPECT_TRUE(told[1].left);
  EXPECT_EQ(refused, 0);
  s.receive(0, "cmd=sinew_vote slot=1024 key=9 turn=2 flag=1\n");
  EXPECT_EQ(refused, 1);
}

TEST(waits, are_told_to_the_launcher) {
  std::vector<std::pair<int, boot::wait_report>> told;
  int nonsense_by = -1;
  pmi_server::callbacks calls{[](int, const std::string&) {}, [](int, int, const std::string&) {},
                              [&nonsense_by](int rank, const std::string&) { nonsense_by = rank; }};
  calls.waits = [&told](int rank, const boot::wait_report& what) { told.emplace_back(rank, what); };
  pmi_server from("job", {0, 0}, std::move(calls));
  from.receive(1, "cmd=sinew_waits turn=2 kind=receive ranks=0 tag=7\n");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, 1);
  EXPECT_EQ(told[0].second.turn, 2);
  EXPECT_EQ(told[0].second.what.ranks, std::vector<int>{0});
  from.receive(0, "cmd=sinew_waits turn=2 kind=dance\n");
  EXPECT_EQ(nonsense_by, 0);
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(server, abort_carries_a_reason) {
  std::string line = "cmd=abort exitcode=7 ";
  line.append(boot::launcher_wire::abort_reason).append("=").append(boot::pmi_escape("two words"));
  ask(1, line);
  EXPECT_EQ(aborted_by_, 1);
  EXPECT_EQ(code_, 7);
  EXPECT_EQ(why_, "two words");
}

TEST_F(server, refuses_spawn_and_goes_on) {
  EXPECT_EQ(ask(0, "mcmd=spawn\nnprocs=1\nexecname=a\nargcnt=0\nendcmd"),
            "cmd=spawn_result rc=-1 msg=spawn_is_not_supported\n");
  EXPECT_NE(ask(0, "cmd=lookup_name service=x").find("rc=-1"), std::string::npos);
  EXPECT_EQ(ask(0, "cmd=get_appnum"), "cmd=appnum appnum=0 rc=0\n");
}

TEST_F(server, nonsense_is_reported_once_and_then_ignored) {
  for (const char* line : {"hello", "cmd=make_coffee", ""}) {
    pmi_server fresh(
        "job", {0},
        {[](int, const std::string&) { FAIL(); }, [](int, int, const std::string&) { FAIL(); },
         [this](int rank, const std::string&) { nonsense_by_ = rank; }});
    nonsense_by_ = -1;
    fresh.receive(0, std::string(line) + "\ncmd=get_appnum\n");
    EXPECT_EQ(nonsense_by_, 0) << line;
    nonsense_by_ = -1;
    fresh.receive(0, "cmd=get_appnum\n");
    EXPECT_EQ(nonsense_by_, -1);
  }
}

}  // namespace
}  // namespace sinew::tool
