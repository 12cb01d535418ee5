// The fabric contract on inproc and on shm: ranks as threads over one mapping, and as processes.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <numeric>

#include "contract/fabric_contract.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::fabric::contract {
namespace {

constexpr std::size_t heap_bytes = 64 << 10;

/// Zero-filled memory that forked children share.
class shared_mapping {
 public:
  explicit shared_mapping(std::size_t bytes) : bytes_(bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      throw std::runtime_error("mmap failed");
    }
    at_ = static_cast<std::byte*>(at);
  }
  ~shared_mapping() { munmap(at_, bytes_); }
  shared_mapping(const shared_mapping&) = delete;
  shared_mapping& operator=(const shared_mapping&) = delete;
  [[nodiscard]] std::byte* at() const { return at_; }

 private:
  std::size_t bytes_;
  std::byte* at_;
};

struct shm_world {
  explicit shm_world(int n)
      : ranks(n),
        per_rank(shm_bytes_per_rank(n) + heap_bytes),
        board(sizeof(common)),
        memory(per_rank * static_cast<std::size_t>(n)) {
    new (board.at()) common{};
  }
  [[nodiscard]] common& all() const { return *reinterpret_cast<common*>(board.at()); }
  [[nodiscard]] std::unique_ptr<endpoint> open(int rank, bool threads, bool crowded = false) const {
    std::vector<int> locals(static_cast<std::size_t>(ranks));
    std::iota(locals.begin(), locals.end(), 0);
    return open_shm({memory.at(), per_rank, rank, rank, locals, crowded}, threads);
  }
  [[nodiscard]] std::byte* heap(int rank) const {
    return memory.at() + per_rank * static_cast<std::size_t>(rank + 1) - heap_bytes;
  }

  int ranks;
  std::size_t per_rank;
  shared_mapping board;
  shared_mapping memory;
};

std::string guarded(common& all, const body& work, member& m) {
  try {
    work(m);
    return "";
  } catch (const std::exception& e) {
    all.failed.store(1);
    return "rank " + std::to_string(m.rank()) + ": " + e.what();
  }
}

/// Runs one thread per rank over endpoints that already exist.
std::string run_threads(common& all, const std::vector<endpoint*>& endpoints,
                        const std::function<std::byte*(int)>& heap, const body& work) {
  std::mutex lock;
  std::string problem;
  std::vector<std::thread> threads;
  for (endpoint* e : endpoints) {
    threads.emplace_back([&, e] {
      member m{*e, all, heap(e->rank()), heap_bytes};
      const std::string mine = guarded(all, work, m);
      const std::lock_guard guard(lock);
      if (problem.empty() || problem.find("another rank failed") != std::string::npos) {
        problem = mine.empty() ? problem : mine;
      }
    });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  return problem;
}

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

std::string run_forked(int ranks, bool threads, const body& work, bool crowded) {
  const shm_world world(ranks);
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int r = 0; r < ranks; ++r) {
    const pid_t child = fork();
    if (child == 0) {
      const auto fabric = world.open(r, threads, crowded);
      member m{*fabric, world.all(), world.heap(r), heap_bytes};
      const std::string problem = guarded(world.all(), work, m);
      if (!problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
      }
      std::fflush(nullptr);
      _exit(problem.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  std::string problem;
  for (const pid_t child : children) {
    int code = 0;
    waitpid(child, &code, 0);
    if (code != 0) {
      world.all().failed.store(1);
      problem = "a rank failed (wait status " + std::to_string(code) + ", see above)";
    }
  }
  return problem;
}

std::string run_shm_processes(int ranks, bool threads, const body& work) {
  return run_forked(ranks, threads, work, false);
}

/// As with more ranks than processors: they never stream, but copy by the kernel.
std::string run_shm_crowded(int ranks, bool threads, const body& work) {
  return run_forked(ranks, threads, work, true);
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
        backend{"shm_processes_few_packets", false,
                with("SINEW_FABRIC_PACKETS", "5", run_shm_processes)}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinew::fabric::contract
