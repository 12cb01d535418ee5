// SPDX-License-Identifier: BSD-3-Clause
// What is asked of a spawn, and where its ranks go.
#include "sinew/dynamic/spawn.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include "sinew/boot/launcher_wire.hpp"
#include "sinew/dynamic/spawned_job.hpp"
#include "support/job.hpp"

namespace sinew::dynamic {
namespace {

using test::member;

void alone(const std::function<void(member&)>& body, int ranks = 1) {
  test::run_job(ranks, test::backend::inproc, core::threading::one, body);
}

/// An environment variable for as long as this lives.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

error_kind refusal(const std::string& soft) {
  try {
    (void)soft_counts(soft, 10);
  } catch (const failure& f) {
    return f.kind;
  }
  return error_kind::none;
}

TEST(soft, lists_and_ranges_give_the_numbers_that_will_do) {
  EXPECT_EQ(soft_counts("4", 10), (std::vector<int>{4}));
  EXPECT_EQ(soft_counts("1,8,3", 10), (std::vector<int>{8, 3, 1}));
  EXPECT_EQ(soft_counts("2:5", 10), (std::vector<int>{5, 4, 3, 2}));
  EXPECT_EQ(soft_counts("0:20:4", 10), (std::vector<int>{8, 4}));
  EXPECT_EQ(soft_counts("9:1:-4,2", 10), (std::vector<int>{9, 5, 2, 1}));
}

TEST(soft, what_allows_nothing_or_means_nothing_is_refused) {
  EXPECT_EQ(refusal("11:20"), error_kind::spawn);
  EXPECT_EQ(refusal("0"), error_kind::spawn);
  EXPECT_EQ(refusal("five"), error_kind::info_value);
  EXPECT_EQ(refusal("1:2:3:4"), error_kind::info_value);
  EXPECT_EQ(refusal("1:5:0"), error_kind::info_value);
  EXPECT_EQ(refusal("1:99999999999"), error_kind::info_value);
}

TEST(spawned_jobs, go_where_there_is_room) {
  const variable named(boot::launcher_wire::allocation, "one:2,two:1,[fe80::1]:3");
  ::unsetenv("SLURM_JOB_NODELIST");
  alone([](member& m) {
    EXPECT_FALSE(launcher_spawns(m.runtime));
    EXPECT_EQ(hosts_for(m.runtime, 1), "one:1");
    EXPECT_EQ(hosts_for(m.runtime, 3), "one:2,two:1");
    EXPECT_EQ(hosts_for(m.runtime, 6), "one:2,two:1,[fe80::1]:3");
    EXPECT_EQ(universe_size(m.runtime), 6);
  });
}

TEST(spawned_jobs, find_their_parent_once) {
  const variable given(boot::launcher_wire::parent, "a port");
  EXPECT_EQ(take_port_of_parent(), "a port");
  EXPECT_EQ(take_port_of_parent(), "");
}

TEST(spawned_jobs, a_rank_that_nobody_has_spawned_has_no_parent) {
  alone([](member& m) {
    const coll::communicator_ref all = coll::job(m.engine);
    EXPECT_EQ(parent({m.engine, *all}, {m.engine, m.comm}, 0), nullptr);
    await_spawned_jobs(m.runtime);  // there are none
  });
}

TEST(spawned_jobs, what_the_root_finds_wrong_all_ranks_are_told) {
  alone(
      [](member& m) {
        const coll::communicator_ref all = coll::job(m.engine);
        const auto start = [&](const spawning::commands& what) {
          return spawning({m.engine, *all}, {m.engine, m.comm}, 1, what);
        };
        const spawning refused = start([]() -> std::vector<command> {
          throw failure(error_kind::caller, "the command is null", 12);
        });
        ASSERT_TRUE(refused.problem().has_value());
        EXPECT_EQ(refused.problem()->kind, error_kind::caller);
        EXPECT_EQ(refused.problem()->code, 12);
        EXPECT_STREQ(refused.problem()->what(), "the command is null.");
        const spawning no_hint = start([] {
          return std::vector<command>{{{"program"}, 2, {}}, {{"other"}, 3, {{"env", "novalue"}}}};
        });
        ASSERT_TRUE(no_hint.problem().has_value());
        EXPECT_EQ(no_hint.problem()->kind, error_kind::info_value);
        EXPECT_EQ(no_hint.wanted(), (std::vector<int>{2, 3}));
        EXPECT_TRUE(no_hint.started().empty());
      },
      3);
}

}  // namespace
}  // namespace sinew::dynamic
