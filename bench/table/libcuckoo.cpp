// SPDX-License-Identifier: BSD-3-Clause
// libcuckoo's cuckoohash_map, sized for the run. Steady: uprase_fn, one search that inserts or
// erases. Seed: upsert and then erase, two searches, in a table of the default size, as the
// original experiment did it.
#include <cstdint>
#include <libcuckoo/cuckoohash_map.hh>

#include "table_bench.hpp"

namespace {

using map_type = libcuckoo::cuckoohash_map<std::uint64_t, void*>;

struct steady {
  explicit steady(int /*threads*/) : map(1 << 16) {}
  bool put(std::uint64_t key, void* value) {
    return map.uprase_fn(key, [](void*&) { return false; }, value);
  }
  void* hit(std::uint64_t key, void* value) {
    void* found = nullptr;
    const auto take = [&found](void*& there) {
      found = there;
      return true;
    };
    return map.uprase_fn(key, take, value) ? nullptr : found;
  }
  map_type map;
};

struct seed {
  explicit seed(int /*threads*/) {}
  bool put(std::uint64_t key, void* value) {
    return map.upsert(key, [](void*&) {}, value);
  }
  void* hit(std::uint64_t key, void* value) {
    void* found = nullptr;
    const auto look = [&found](void*& there) { found = there; };
    if (map.upsert(key, look, value)) {
      return nullptr;
    }
    map.erase(key);
    return found;
  }
  map_type map;
};

}  // namespace

int main(int argc, char** argv) { return micro::table_main<steady, seed>(argc, argv); }
