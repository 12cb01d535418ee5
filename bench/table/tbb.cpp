// SPDX-License-Identifier: BSD-3-Clause
// oneTBB's concurrent_hash_map. An insertion that finds the key there holds its accessor, through
// which it is erased: one search, as the original experiment did it.
#include <tbb/concurrent_hash_map.h>
#include <tbb/version.h>

#include <cstdint>
#include <cstdio>

#include "table_bench.hpp"

namespace {

struct table {
  explicit table(int /*threads*/) : map(1 << 16) {}
  bool put(std::uint64_t key, void* value) { return map.insert({key, value}); }
  void* hit(std::uint64_t key, void* value) {
    map_type::accessor there;
    if (map.insert(there, {key, value})) {
      return nullptr;
    }
    void* const found = there->second;
    map.erase(there);
    return found;
  }
  using map_type = tbb::concurrent_hash_map<std::uint64_t, void*>;
  map_type map;
};

}  // namespace

int main(int argc, char** argv) {
  std::printf("@version %s\n", TBB_VERSION_STRING);
  return micro::table_main<table>(argc, argv);
}
