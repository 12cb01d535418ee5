// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the module share: every way to run a job, patterns, random sizes.
#pragma once

#include <cstring>
#include <ostream>
#include <vector>

#include "gtest/gtest.h"
#include "sinew/base/random.hpp"
#include "sinew/base/settings.hpp"
#include "support/rma_job.hpp"

namespace sinew::rma {

using core::threading;
using test::backend;
using test::ranks_as;
using test::require;
using test::rma_member;
using test::slow_build;

struct way_to_run {
  const char* name;
  backend over;
  threading threads;
  ranks_as kind;
  bool cma;
  int nodes = 1;  ///< blocks of ranks, each with the heaps of its own block alone
  bool disturbed = false;

  [[nodiscard]] bool over_nodes() const { return nodes > 1; }
};

inline std::ostream& operator<<(std::ostream& out, const way_to_run& w) { return out << w.name; }

inline std::uint64_t seed() {
  static const std::uint64_t value = seed_from_environment();
  return value;
}

class rma_test : public ::testing::TestWithParam<way_to_run> {
 protected:
  static void run(int ranks, const test::rma_body& body, heap_sizes sizes = {8 << 20, 8 << 20}) {
    const way_to_run& w = GetParam();
    setting_base* cma = settings::find("SINEW_FABRIC_CMA");
    cma->parse(w.cma ? "auto" : "off");
    (void)seed();  // printed once, by the parent of all ranks
    test::rma_job job(ranks, {w.over, w.threads, w.kind, sizes, w.nodes, w.disturbed ? seed() : 0});
    EXPECT_EQ(job.run(body), "");
    cma->parse(cma->default_text());
  }
};

inline const auto every_way = ::testing::Values(
    way_to_run{"inproc", backend::inproc, threading::one, ranks_as::threads, true},
    way_to_run{"inproc_threads", backend::inproc, threading::many, ranks_as::threads, true},
    way_to_run{"shm", backend::shm, threading::one, ranks_as::threads, true},
    way_to_run{"shm_threads", backend::shm, threading::many, ranks_as::threads, true},
    way_to_run{"processes", backend::shm, threading::one, ranks_as::processes, true},
    way_to_run{"processes_no_cma", backend::shm, threading::one, ranks_as::processes, false},
    way_to_run{"nodes_inproc", backend::inproc, threading::one, ranks_as::threads, true, 2},
    way_to_run{"nodes_threads", backend::inproc, threading::many, ranks_as::threads, true, 2},
    way_to_run{"nodes_processes", backend::shm, threading::one, ranks_as::processes, true, 2},
    way_to_run{"nodes_disturbed", backend::shm, threading::many, ranks_as::threads, true, 3, true});

inline std::byte pattern(std::uint64_t salt, std::size_t i) {
  return static_cast<std::byte>((salt * 0x9e3779b97f4a7c15u ^ i * 0x2545f4914f6cdd1du) >> 23);
}
/// memcmp that may be given null with nothing to compare.
inline bool same(const std::byte* a, const std::byte* b, std::size_t n) {
  return n == 0 || std::memcmp(a, b, n) == 0;
}
inline std::vector<std::byte> patterned(std::size_t n, std::uint64_t salt) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    bytes[i] = pattern(salt, i);
  }
  return bytes;
}

inline std::uint64_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

/// The same random numbers on all ranks, others on each.
inline random_generator common_random() { return random_generator(seed()); }
inline random_generator own_random(const rma_member& m) {
  return random_generator(seed() + 1000 + static_cast<std::uint64_t>(m.rank));
}

}  // namespace sinew::rma
