// SPDX-License-Identifier: BSD-3-Clause
// Sinew's packet pool, as threads use it (no worker's index); or, with the word "floor", the driver
// alone.
#include "pool_bench.hpp"
#include "sinew/core/packet_pool.hpp"

namespace {

struct ours {
  explicit ours(int /*threads*/)
      : packets({.packets = micro::pool_packets, .packet_bytes = 4096}) {}
  struct user {
    user(ours& p, int /*me*/) : packets(p.packets) {}
    void* get() {
      return micro::insist([this] { return packets.get().packet; });
    }
    void put(void* packet) { packets.put(packet); }
    sinew::core::packet_pool& packets;
  };
  sinew::core::packet_pool packets;
};

struct nothing {
  explicit nothing(int /*threads*/) {}
  struct user {
    user(nothing& /*p*/, int /*me*/) {}
    static void* get() { return micro::some_packet(0); }
    static void put(void* packet) { micro::use(packet); }
  };
};

}  // namespace

int main(int argc, char** argv) {
  if (micro::read_options(argc, argv).floor) {
    return micro::pool_main<nothing>(argc, argv);
  }
  return micro::pool_main<ours>(argc, argv);
}
