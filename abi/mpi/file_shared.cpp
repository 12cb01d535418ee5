#include "abi/mpi/file_shared.hpp"

#include <new>

#include "abi/mpi/file.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::mpi {

shared_position::shared_position(boot::memory_mapping memory)
    : memory_(std::move(memory)), where_(reinterpret_cast<number*>(memory_.base())) {
  SINEW_EXPECT(where_ != nullptr);
}

std::unique_ptr<shared_position> shared_position::make(coll::participant at) {
  if (at.comm.size() == 1) {
    return std::unique_ptr<shared_position>(new shared_position);
  }
  constexpr std::size_t page = 4096;
  boot::descriptor memory;
  boot::memory_mapping shared;
  std::string problem;
  const int rank = at.comm.rank().value();
  // Each step ends with an agreement, so that no rank waits for one that has failed.
  const auto attempt = [&](auto&& step) {
    try {
      if (problem.empty()) {
        step();
      }
    } catch (const std::exception& e) {
      problem = e.what();
    }
    if (largest_of(at, problem.empty() ? 0 : 1) != 0) {
      throw error{"the shared file pointer cannot be made",
                  problem.empty() ? "another rank has no memory" : problem,
                  "give the job more shared memory"};
    }
  };
  attempt([&] {
    if (rank == 0) {
      memory = boot::make_shared_memory("file");
      shared = boot::memory_mapping::of(memory.get(), page);
      new (shared.base()) number(0);
    }
  });
  attempt([&] {
    // Unique among all files of the node while its ranks are in here.
    const std::string name = at.engine.runtime().session().where().job + "-file-" +
                             to_string(at.comm.job_rank(0)) + "-" + to_string(at.comm.context());
    memory = boot::share_descriptor(name, local_rank{rank}, at.comm.size(), std::move(memory));
    if (rank != 0) {
      shared = boot::memory_mapping::of(memory.get(), page);
    }
  });
  return std::unique_ptr<shared_position>(new shared_position(std::move(shared)));
}

}  // namespace sinew::mpi
