// SPDX-License-Identifier: BSD-3-Clause
#include "io/shared_position.hpp"

#include <algorithm>
#include <new>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/core/retry.hpp"
#include "sinew/io/agreement.hpp"

namespace sinew::io {

shared_position::shared_position(boot::memory_mapping memory)
    : memory_(std::move(memory)), where_(reinterpret_cast<number*>(memory_.base())) {
  SINEW_EXPECT(where_ != nullptr);
}

shared_position::~shared_position() {
  if (engine_ != nullptr && where_ != nullptr) {
    engine_->runtime().endpoint().withdraw(there_.key);  // the ranks have agreed to close the file
  }
}

std::unique_ptr<shared_position> shared_position::over_nodes(coll::participant at) {
  std::unique_ptr<shared_position> made(new shared_position(at.engine));
  if (at.comm.rank() == 0) {
    made->where_ = &made->own_;
    made->there_ = {reinterpret_cast<std::uint64_t>(made->where_),
                    at.engine.runtime().endpoint().expose(made->where_, sizeof(number))};
  }
  made->owner_ = at.comm.job_rank(0);
  check_collective(coll::bcast(at, p2p::buffer::of_bytes(&made->there_, sizeof made->there_), 0));
  SINEW_ENSURE(made->there_.address != 0);
  return made;
}

std::int64_t shared_position::fetch_add(std::int64_t by) const {
  SINEW_EXPECT(where_ == nullptr && engine_ != nullptr);
  std::uint64_t before = 0;
  core::runtime& rt = engine_->runtime();
  core::carry_through(rt, [&](fabric::callback done) {
    return rt.endpoint().atomic(owner_, fabric::atomic_op::fetch_add, there_, sizeof(number),
                                static_cast<std::uint64_t>(by), 0, &before, done);
  });
  if (engine_->is_dead(owner_)) {  // what came from there means nothing
    throw failure(error_kind::rank_died, "the rank that keeps the shared file pointer has died");
  }
  return static_cast<std::int64_t>(before);
}

std::unique_ptr<shared_position> shared_position::make(coll::participant at) {
  if (at.comm.size() == 1) {
    return std::unique_ptr<shared_position>(new shared_position);
  }
  const boot::place& here = at.engine.runtime().session().where();
  const auto members = at.comm.members().members();
  // Where some rank is far from this one, every rank has one that is far.
  if (!std::all_of(members.begin(), members.end(), [&](job_rank r) { return here.is_near(r); })) {
    return over_nodes(at);
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

}  // namespace sinew::io
