// SPDX-License-Identifier: BSD-3-Clause
// The fabric contract on all back-ends of the table: ranks as threads, and as processes.
#include <memory>

#include "contract/fabric_contract.hpp"
#include "fabric/smallest.hpp"
#include "fabric/worlds.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fabric/disturbed.hpp"

namespace sinew::fabric::contract {
namespace {

/// What a rank opens, or that disturbed by a seed.
using wrapper = std::unique_ptr<endpoint> (*)(std::unique_ptr<endpoint>);
std::unique_ptr<endpoint> plain(std::unique_ptr<endpoint> opened) { return opened; }
std::unique_ptr<endpoint> disturbed(std::unique_ptr<endpoint> opened) {
  return disturb(std::move(opened), {.seed = seed()});
}

using runner = std::function<std::string(int ranks, bool threads, const body& work)>;

std::string run_all(common& all, const std::vector<std::unique_ptr<endpoint>>& owned,
                    const std::function<std::byte*(int)>& heap, const body& work) {
  std::vector<endpoint*> endpoints;
  for (const auto& each : owned) {
    endpoints.push_back(each.get());
  }
  return run_threads(all, endpoints, heap, work);
}

runner in_process(open_in_process open, wrapper wrap) {
  return [=](int ranks, bool threads, const body& work) {
    const auto all = std::make_unique<common>();
    std::vector<std::unique_ptr<endpoint>> owned;
    for (auto& each : open(ranks, threads)) {
      owned.push_back(wrap(std::move(each)));
    }
    return run_all(*all, owned, [](int) { return nullptr; }, work);
  };
}

runner node_threads(const open_on_node& by) {
  return [=](int ranks, bool threads, const body& work) {
    const node_world world(ranks, by);
    std::vector<std::unique_ptr<endpoint>> owned;
    for (int r = 0; r < ranks; ++r) {
      owned.push_back(world.open(r, threads));
    }
    return run_all(world.all(), owned, [&](int r) { return world.heap(r); }, work);
  };
}

/// `crowded`: as with more ranks than processors.
runner node_processes(const open_on_node& by, wrapper wrap = plain, bool crowded = false) {
  return [=](int ranks, bool threads, const body& work) {
    const node_world world(ranks, by);
    return run_forked(world, [&](int r) { return wrap(world.open(r, threads, crowded)); }, work);
  };
}

runner network_processes(open_network by, wrapper wrap = plain, bool between_nodes_only = true) {
  return [=](int ranks, bool threads, const body& work) {
    const network_world world(ranks, by);
    return run_forked(
        world, [&](int r) { return wrap(world.open(r, threads, between_nodes_only)); }, work);
  };
}

/// All ranks in one process, which is not this one.
runner network_threads(open_network by) {
  return [=](int ranks, bool threads, const body& work) {
    const network_world world(ranks, by);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      std::vector<std::unique_ptr<endpoint>> owned(static_cast<std::size_t>(ranks));
      std::vector<std::thread> openers;
      for (int r = 0; r < ranks; ++r) {
        openers.emplace_back(
            [&, r] { owned[static_cast<std::size_t>(r)] = world.open(r, threads, true); });
      }
      for (std::thread& each : openers) {
        each.join();
      }
      const std::string problem = run_all(world.all(), owned, &network_world::heap, work);
      std::fprintf(stderr, "%s%s", problem.c_str(), problem.empty() ? "" : "\n");
      std::fflush(nullptr);
      _exit(problem.empty() ? 0 : 1);
    }
    int code = 0;
    waitpid(child, &code, 0);
    return std::string(code == 0 ? "" : "the ranks failed (see above)");
  };
}

runner joint_processes(open_network by, wrapper wrap = plain) {
  return [=](int ranks, bool threads, const body& work) {
    const joint_world world(ranks, by);
    return run_forked(world, [&](int r) { return wrap(world.open(r, threads)); }, work);
  };
}

/// The ways to run the ranks of a back-end, by what it reaches.
struct ways_of {
  std::string name;

  [[nodiscard]] std::vector<way_to_run> operator()(open_in_process by) const {
    return {{name, true, in_process(by, plain)},
            {name + "_disturbed", true, in_process(by, disturbed)}};
  }
  [[nodiscard]] std::vector<way_to_run> operator()(const open_on_node& by) const {
    return {{name + "_threads", false, node_threads(by)},
            {name + "_threads_locked", true, node_threads(by)},
            {name + "_processes", false, node_processes(by)},
            {name + "_processes_locked", true, node_processes(by)},
            {name + "_processes_crowded", false, node_processes(by, plain, true)},
            {name + "_processes_crowded_locked", true, node_processes(by, plain, true)},
            {name + "_processes_disturbed", true, node_processes(by, disturbed)}};
  }
  [[nodiscard]] std::vector<way_to_run> operator()(open_network by) const {
    return {{name, false, network_processes(by)},
            {name + "_locked", true, network_processes(by)},
            {name + "_threads", false, network_threads(by)},
            {name + "_joint", false, joint_processes(by)},
            {name + "_joint_locked", true, joint_processes(by)},
            {name + "_joint_disturbed", true, joint_processes(by, disturbed)}};
  }
};

/// Of every row of the table that can be used here.
std::vector<way_to_run> all_ways() {
  std::vector<way_to_run> all;
  for (const back_end& each : back_ends()) {
    if (each.usable()) {
      for (way_to_run& way : std::visit(ways_of{each.name}, each.open)) {
        all.push_back(std::move(way));
      }
    }
  }
  return all;
}

setting_base& setting_named(const std::string& name) {
  for (setting_base* s : settings::all()) {
    if (s->name() == name) {
      return *s;
    }
  }
  throw std::runtime_error("no setting " + name);
}

/// Runs with a setting changed.
runner with(const char* name, const char* value, const runner& run) {
  return [=](int ranks, bool threads, const body& work) {
    setting_base& s = setting_named(name);
    s.parse(value);
    std::string problem = run(ranks, threads, work);
    s.parse(s.default_text());
    return problem;
  };
}

/// Without a handler there, whatever the back-end.
void send_to_nobody(endpoint& from, endpoint& to) {
  ASSERT_TRUE(from.send_short(1, 3, {}, nullptr, 0).done());
  while (true) {
    (void)to.progress(16);
  }
}

#if defined(SINEW_WITH_UCX)
// A rank that dies is noticed by those who wait for it, who end with a sentence.
TEST(fabric, a_peer_that_dies_ends_the_job_with_a_sentence) {
  const network_world world(2);
  std::fflush(nullptr);
  const pid_t victim = fork();
  if (victim == 0) {
    const auto net = world.open(1, false);
    while (true) {
      (void)net->progress(1);
    }
  }
  EXPECT_EXIT(
      {
        const auto net = world.open(0, false);
        ASSERT_TRUE(net->send_short(1, 3, {}, nullptr, 0).done());
        for (int i = 0; i < 100; ++i) {
          (void)net->progress(1);
        }
        kill(victim, SIGKILL);
        while (true) {
          if (net->progress(1) == 0) {
            net->sleep(10'000'000);
          }
        }
      },
      ::testing::ExitedWithCode(1), "rank 0 has lost its connection to rank 1 \\(.*\\): that rank");
  waitpid(victim, nullptr, 0);
}

TEST(fabric, what_a_rank_sends_before_it_leaves_arrives) {
  const network_world world(2);
  const std::string problem = run_forked(
      world, [&](int r) { return world.open(r, false); },
      [](member& m) {
        receiver r(1);
        m.fabric.set_handler(1, &receiver::take, &r);
        m.barrier();
        constexpr std::uint64_t count = 50;
        std::vector<std::byte> room(8000);
        for (std::uint64_t k = 0; m.rank() == 0 && k < count; ++k) {
          send_somehow(m.fabric, 1, 0, k, room.size(), 2, room, [&] { m.idle(); });
        }
        if (m.rank() == 0) {
          m.fabric.leave();
          m.all.word[0].store(1);
        } else {
          m.until([&] { return r.total == count && m.all.word[0].load() != 0; });
          r.check();
        }
      });
  EXPECT_EQ(problem, "");
}
#endif

TEST(fabric, a_message_that_nobody_takes_ends_the_process_with_a_sentence) {
  EXPECT_DEATH(
      {
        const auto all = open_inproc(2, false);
        send_to_nobody(*all[0], *all[1]);
      },
      "rank 0 has sent a message before this rank has made what takes it");
  EXPECT_DEATH(
      {
        const node_world world(2);
        const auto from = world.open(0, false);
        const auto to = world.open(1, false);
        send_to_nobody(*from, *to);
      },
      "rank 0 has sent a message before this rank has made what takes it");
}

#if defined(SINEW_WITH_UCX)
/// UCX reads its settings when it is loaded, which is in the ranks: this process never loads it.
class environment {
 public:
  explicit environment(const char* text) {
    std::string all = text;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = std::min(all.find(' ', at), all.size());
      const std::size_t equals = all.find('=', at);
      names_.push_back(all.substr(at, equals - at));
      setenv(names_.back().c_str(), all.substr(equals + 1, end - equals - 1).c_str(), 1);
      at = end + 1;
    }
  }
  ~environment() {
    for (const std::string& name : names_) {
      unsetenv(name.c_str());
    }
  }

 private:
  std::vector<std::string> names_;
};

/// Runs with variables of UCX set.
runner where(const char* variables, const runner& run) {
  return [=](int ranks, bool threads, const body& work) {
    const environment set(variables);
    return run(ranks, threads, work);
  };
}

INSTANTIATE_TEST_SUITE_P(
    more_of_ucx, fabric_contract,
    ::testing::Values(way_to_run{"two_rails", false,
                                 where("UCX_TLS=tcp UCX_MAX_EAGER_RAILS=2",
                                       network_processes(usual_network()))},
                      way_to_run{"shared_memory", true,
                                 where("UCX_TLS=posix,self UCX_MM_ERROR_HANDLING=y",
                                       network_processes(usual_network(), plain, false))}),
    [](const auto& each) { return each.param.name; });

TEST(transports, of_each_way_of_a_joint_endpoint) {
  const auto all = joint_processes(usual_network());
  const std::string problem = all(4, false, [](member& m) {
    int arrived = 0;
    m.fabric.set_handler(
        1,
        [](void* count, const arrival&) noexcept {
          ++*static_cast<int*>(count);
          return status::ok();
        },
        &arrived);
    m.barrier();
    const job_rank far{m.rank() ^ 1}, near{m.rank() ^ 2};  // nodes are of odd and even ranks
    require(transports_to(m.fabric, far).empty(), "transports before the first message");
    while (!m.fabric.send_short(far, 1, {{1, 2}}, nullptr, 0).done()) {
      m.idle();
    }
    m.until([&] { return arrived == 1; });
    m.barrier();
    require(transports_to(m.fabric, far).starts_with("tcp/"), transports_to(m.fabric, far));
    require(transports_to(m.fabric, near) == "shm", transports_to(m.fabric, near));
  });
  EXPECT_EQ(problem, "");
}
#endif

INSTANTIATE_TEST_SUITE_P(back_ends, fabric_contract, ::testing::ValuesIn(all_ways()),
                         [](const auto& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(by_messages, fabric_contract,
                         ::testing::ValuesIn(ways_of{"smallest"}(open_smallest)),
                         [](const auto& each) { return each.param.name; });

constexpr open_on_node shm{shm_bytes_per_rank, open_shm};

INSTANTIATE_TEST_SUITE_P(
    more_of_shm, fabric_contract,
    ::testing::Values(
        way_to_run{"threads_no_cma", true, with("SINEW_FABRIC_CMA", "off", node_threads(shm))},
        way_to_run{"processes_no_cma", false, with("SINEW_FABRIC_CMA", "off", node_processes(shm))},
        way_to_run{"processes_few_packets", false,
                   with("SINEW_FABRIC_PACKETS", "5", node_processes(shm))}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::fabric::contract
