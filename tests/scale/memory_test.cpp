// SPDX-License-Identifier: BSD-3-Clause
// A pretended job of 100,000 ranks, of which one or two are here: what the others cost, and that
// those who are here can talk. docs/internals/scale.md has the same figures.
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "sinew/coll/communicators.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew {
namespace {

constexpr int many_ranks = 100'000;
constexpr int ranks_per_node = 100;
/// The page's sum. The issue of it all asks for at most 64.
constexpr double bytes_per_rank = 26;

#if defined(SINEW_TSAN) || defined(SINEW_ASAN)
constexpr bool counts_memory = false;  // they replace malloc, and do not say how much is in use
#else
constexpr bool counts_memory = true;
#endif

/// The launcher's table. Which addresses have been asked for is counted.
struct table {
  std::map<std::string, std::string> values;
  std::map<std::string, int> asked;
};

/// A rank that is alone of its node here; nobody else of the job exists, but other sessions over
/// the same table.
class far_session final : public boot::session {
 public:
  far_session(table& shared, int rank, int size) : shared_(shared) {
    place_.rank = job_rank{rank};
    place_.size = size;
    place_.local_ranks = {place_.rank};
    place_.local_cpus = 1;
    place_.node = rank / ranks_per_node;
    place_.nodes = (size + ranks_per_node - 1) / ranks_per_node;
    place_.node_of.resize(static_cast<std::size_t>(size));
    for (int r = 0; r < size; ++r) {
      place_.node_of[static_cast<std::size_t>(r)] = r / ranks_per_node;
    }
  }
  ~far_session() override {
    if (memory_ != nullptr) {
      munmap(memory_, bytes_);
    }
  }
  [[nodiscard]] const boot::place& where() const override { return place_; }
  void put(const std::string& key, const std::string& value) override {
    const bool of_node = key.starts_with(of_nodes);
    shared_.values[of_node ? "net-job" : key] = value;  // all nodes are alike, and so is the job
  }
  [[nodiscard]] std::optional<std::string> get(const std::string& key) override {
    ++shared_.asked[key];
    const auto at = shared_.values.find(key.starts_with(of_nodes) ? "net-job" : key);
    return at == shared_.values.end() ? std::nullopt : std::optional(at->second);
  }
  void fence() override {}
  [[nodiscard]] std::byte* map_node_memory(std::size_t bytes) override {
    bytes_ = bytes;
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory_ = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
  }
  [[nodiscard]] std::byte* map_node_heap(std::size_t /*bytes*/) override { return nullptr; }
  [[noreturn]] void abort(int /*code*/, std::string_view /*why*/) override { std::abort(); }
  void finalize() override {}

 private:
  static constexpr std::string_view of_nodes = "net-node-";

  table& shared_;
  boot::place place_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A rank with what MPI_Init makes for it.
struct opened_rank {
  opened_rank(table& shared, int rank, int size)
      : runtime(core::runtime::open(std::make_unique<far_session>(shared, rank, size),
                                    core::threading::one)),
        engine(*runtime),
        world(coll::world(engine)),
        library(coll::job(engine)) {}

  std::unique_ptr<core::runtime> runtime;
  p2p::engine engine;
  coll::communicator_ref world;
  coll::communicator_ref library;
};

std::size_t bytes_in_use() {
  const auto now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// What rank 1 of a job keeps, of its place in the job too.
double bytes_of(int size) {
  table shared;
  const std::size_t before = bytes_in_use();
  const opened_rank one(shared, 1, size);
  EXPECT_EQ(one.world->size(), size);
  EXPECT_EQ(shared.asked.size(), 1U) << "only what rank 0 says of the job";
  return static_cast<double>(bytes_in_use()) - static_cast<double>(before);
}

TEST(scale, a_rank_that_is_never_talked_to_costs_few_bytes) {
  if (!counts_memory) {
    GTEST_SKIP() << "the sanitizer does not count memory";
  }
  constexpr int few_ranks = 2'000;
  (void)bytes_of(few_ranks);  // what stays for the whole process: of UCX, and the list of ranks
  const double few = bytes_of(few_ranks);
  const double many = bytes_of(many_ranks);
  const double each = (many - few) / (many_ranks - few_ranks);
  RecordProperty("bytes_per_rank", std::to_string(each));
  std::printf("a job of %d ranks: %.1f MB, of %d: %.1f MB, so %.2f B for each rank\n", few_ranks,
              few / 1e6, many_ranks, many / 1e6, each);
  EXPECT_LE(each, bytes_per_rank);
  EXPECT_LT(many, 64.0 * many_ranks);
}

void drive(opened_rank& one, opened_rank& other, p2p::request* r) {
  while (r != nullptr && !one.engine.test(*r)) {
    (void)other.runtime->poll();
  }
  if (r != nullptr) {
    one.engine.release(r);
  }
}

TEST(scale, two_of_100000_ranks_find_each_other) {
  table shared;
  const int last = many_ranks - 1;
  opened_rank here(shared, 0, many_ranks);
  opened_rank there(shared, last, many_ranks);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20}) {
    std::vector<std::byte> from(bytes, std::byte{7});
    std::vector<std::byte> into(bytes);
    p2p::request* const receiving =
        there.engine.irecv(*there.world, p2p::messages_of(*there.world),
                           p2p::buffer::of_bytes(into.data(), bytes), 0, 1);
    p2p::request* const sending =
        here.engine.isend(*here.world, p2p::messages_of(*here.world),
                          p2p::buffer::of_bytes(from.data(), bytes), last, 1);
    drive(there, here, receiving);
    drive(here, there, sending);
    EXPECT_EQ(from, into);
  }
  EXPECT_EQ(shared.asked["net-" + std::to_string(last)], 1);
  EXPECT_LE(shared.asked["net-0"], 1);
  EXPECT_EQ(shared.asked.size(), 2 + 1 + many_ranks / ranks_per_node)
      << "besides, rank 0 has asked once for each node, and each for what it says";
}

void talk_to_nobody() {
  table shared;
  opened_rank here(shared, 0, many_ranks);
  const std::byte data{};
  (void)here.engine.send(*here.world, p2p::messages_of(*here.world),
                         p2p::buffer::of_bytes(&data, 1), 7, 1);
  for (;;) {
    (void)here.runtime->poll();
  }
}

TEST(scale, a_rank_that_has_no_address_is_named_and_the_job_ends) {
  EXPECT_EXIT(talk_to_nobody(), ::testing::ExitedWithCode(1),
              "rank 7 has published nothing about its network.*lost its connection to rank 7");
}

}  // namespace
}  // namespace sinew
