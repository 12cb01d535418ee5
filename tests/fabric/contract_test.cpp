// The fabric contract on all back-ends: ranks as threads over one mapping, and as processes.
#include <memory>

#include "contract/fabric_contract.hpp"
#include "fabric/worlds.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/fabric/disturbed.hpp"

namespace sinew::fabric::contract {
namespace {

std::string run_inproc(int ranks, bool threads, const body& work) {
  auto all = std::make_unique<common>();
  const auto owned = open_inproc(ranks, threads);
  std::vector<endpoint*> endpoints;
  for (const auto& e : owned) {
    endpoints.push_back(e.get());
  }
  return run_threads(*all, endpoints, [](int) { return nullptr; }, work);
}

std::string run_shm_threads(int ranks, bool threads, const body& work) {
  const shm_world world(ranks);
  std::vector<std::unique_ptr<endpoint>> owned;
  std::vector<endpoint*> endpoints;
  for (int r = 0; r < ranks; ++r) {
    owned.push_back(world.open(r, threads));
    endpoints.push_back(owned.back().get());
  }
  return run_threads(world.all(), endpoints, [&](int r) { return world.heap(r); }, work);
}

std::string run_shm_forked(int ranks, bool threads, const body& work, bool crowded) {
  const shm_world world(ranks);
  return run_forked(world, [&](int r) { return world.open(r, threads, crowded); }, work);
}

std::string run_shm_processes(int ranks, bool threads, const body& work) {
  return run_shm_forked(ranks, threads, work, false);
}

/// As with more ranks than processors: they never stream, but copy by the kernel.
std::string run_shm_crowded(int ranks, bool threads, const body& work) {
  return run_shm_forked(ranks, threads, work, true);
}

disturbance by_seed() { return {.seed = seed()}; }

std::string run_shm_disturbed(int ranks, bool threads, const body& work) {
  const shm_world world(ranks);
  return run_forked(world, [&](int r) { return disturb(world.open(r, threads), by_seed()); }, work);
}

std::string run_inproc_disturbed(int ranks, bool threads, const body& work) {
  auto all = std::make_unique<common>();
  std::vector<std::unique_ptr<endpoint>> owned;
  std::vector<endpoint*> endpoints;
  for (auto& e : open_inproc(ranks, threads)) {
    owned.push_back(disturb(std::move(e), by_seed()));
    endpoints.push_back(owned.back().get());
  }
  return run_threads(*all, endpoints, [](int) { return nullptr; }, work);
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
auto with(const char* name, const char* value,
          std::string (*run)(int ranks, bool threads, const body& work)) {
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
        const shm_world world(2);
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

std::string run_ucx(int ranks, bool threads, const body& work) {
  const network_world world(ranks);
  return run_forked(world, [&](int r) { return world.open(r, threads); }, work);
}

/// All ranks in one process, which is not this one.
std::string run_ucx_threads(int ranks, bool threads, const body& work) {
  const network_world world(ranks);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<std::unique_ptr<network_endpoint>> owned(static_cast<std::size_t>(ranks));
    std::vector<std::thread> openers;
    for (int r = 0; r < ranks; ++r) {
      openers.emplace_back([&, r] { owned[static_cast<std::size_t>(r)] = world.open(r, threads); });
    }
    std::vector<endpoint*> endpoints;
    for (int r = 0; r < ranks; ++r) {
      openers[static_cast<std::size_t>(r)].join();
      endpoints.push_back(owned[static_cast<std::size_t>(r)].get());
    }
    const std::string problem = run_threads(world.all(), endpoints, &network_world::heap, work);
    std::fprintf(stderr, "%s%s", problem.c_str(), problem.empty() ? "" : "\n");
    std::fflush(nullptr);
    _exit(problem.empty() ? 0 : 1);
  }
  int code = 0;
  waitpid(child, &code, 0);
  return code == 0 ? "" : "the ranks failed (see above)";
}

std::string run_joint(int ranks, bool threads, const body& work) {
  const joint_world world(ranks);
  return run_forked(world, [&](int r) { return world.open(r, threads); }, work);
}

std::string run_joint_disturbed(int ranks, bool threads, const body& work) {
  const joint_world world(ranks);
  return run_forked(world, [&](int r) { return disturb(world.open(r, threads), by_seed()); }, work);
}

/// Runs with variables of UCX set.
auto where(const char* variables, std::string (*run)(int ranks, bool threads, const body& work)) {
  return [=](int ranks, bool threads, const body& work) {
    const environment set(variables);
    return run(ranks, threads, work);
  };
}

INSTANTIATE_TEST_SUITE_P(
    ucx, fabric_contract,
    ::testing::Values(backend{"tcp", false, where("UCX_TLS=tcp", run_ucx)},
                      backend{"tcp_locked", true, where("UCX_TLS=tcp", run_ucx)},
                      backend{"tcp_threads", false, where("UCX_TLS=tcp", run_ucx_threads)},
                      backend{"tcp_two_rails", false,
                              where("UCX_TLS=tcp UCX_MAX_EAGER_RAILS=2", run_ucx)},
                      backend{"shared_memory", true,
                              where("UCX_TLS=posix,self UCX_MM_ERROR_HANDLING=y", run_ucx)},
                      backend{"joint", false, where("UCX_TLS=tcp", run_joint)},
                      backend{"joint_locked", true, where("UCX_TLS=tcp", run_joint)},
                      backend{"joint_disturbed", true, where("UCX_TLS=tcp", run_joint_disturbed)}),
    [](const auto& each) { return each.param.name; });

TEST(transports, of_each_way_of_a_joint_endpoint) {
  const auto all = where("UCX_TLS=tcp", run_joint);
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

INSTANTIATE_TEST_SUITE_P(
    back_ends, fabric_contract,
    ::testing::Values(
        backend{"inproc", true, run_inproc}, backend{"shm_threads", false, run_shm_threads},
        backend{"shm_threads_locked", true, run_shm_threads},
        backend{"shm_threads_no_cma", true, with("SINEW_FABRIC_CMA", "off", run_shm_threads)},
        backend{"shm_processes", false, run_shm_processes},
        backend{"shm_processes_locked", true, run_shm_processes},
        backend{"shm_processes_crowded", false, run_shm_crowded},
        backend{"shm_processes_crowded_locked", true, run_shm_crowded},
        backend{"shm_processes_no_cma", false, with("SINEW_FABRIC_CMA", "off", run_shm_processes)},
        backend{"inproc_disturbed", true, run_inproc_disturbed},
        backend{"shm_processes_disturbed", true, run_shm_disturbed},
        backend{"shm_processes_few_packets", false,
                with("SINEW_FABRIC_PACKETS", "5", run_shm_processes)}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::fabric::contract
