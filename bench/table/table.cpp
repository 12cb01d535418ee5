// SPDX-License-Identifier: BSD-3-Clause
// Sinew's table; or, with the word "floor", the driver alone: keys are read and nothing is done.
#include "sinew/match/table.hpp"

#include "table_bench.hpp"

namespace {

using sinew::match::table_side;

struct ours {
  explicit ours(int /*threads*/) : table({.first_lines = 1 << 16}) {}
  static sinew::match::table_key of(std::uint64_t key) {
    return {0, sinew::comm_rank{static_cast<std::int32_t>(key >> 32)},
            sinew::message_tag{static_cast<std::int32_t>(key)}};
  }
  bool put(std::uint64_t key, void* value) {
    return table.insert(of(key), table_side::receive, value).what.posted();
  }
  void* hit(std::uint64_t key, void* value) {
    return table.insert(of(key), table_side::send, value).partner;
  }
  sinew::match::table table;
};

struct nothing {
  explicit nothing(int /*threads*/) {}
  static bool put(std::uint64_t key, void* /*value*/) {
    micro::use(key);
    return true;
  }
  static void* hit(std::uint64_t key, void* value) {
    micro::use(key);
    return value;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (micro::read_options(argc, argv).floor) {
    return micro::table_main<nothing>(argc, argv);
  }
  return micro::table_main<ours>(argc, argv);
}
