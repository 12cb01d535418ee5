// SPDX-License-Identifier: BSD-3-Clause
// What both the fuzzer and the seeded test do with bytes between a launcher and a daemon.
#pragma once

#include <string>
#include <string_view>

#include "sinew/run/frames.hpp"
#include "sinew/run/greeting.hpp"
#include "sinew/run/host_orders.hpp"
#include "sinew/run/host_tree.hpp"

namespace sinew::fuzz {

/// False if orders that are taken for sound could lead astray whoever follows them.
inline bool host_orders_input(std::string_view bytes) {
  const auto orders = tool::unpack_orders(bytes);
  if (!orders) {
    return true;
  }
  const int nodes = static_cast<int>(orders->hosts.names.size());
  for (const int node : orders->hosts.node_of) {
    if (node < 0 || node >= nodes) {
      return false;
    }
  }
  for (const int count : orders->ranks) {
    if (count < 0) {
      return false;
    }
  }
  for (const int child : tool::children_of(orders->parents, orders->node)) {
    if (child < 0 || child >= nodes) {
      return false;
    }
  }
  const auto again = tool::unpack_orders(tool::pack(*orders));
  return again && again->words == orders->words && again->parents == orders->parents &&
         again->hosts.node_of == orders->hosts.node_of;
}

/// False if a property does not hold; crashes and sanitizers tell the rest.
inline bool host_wire_input(std::string_view bytes) {
  tool::frame_buffer whole;
  tool::frame_buffer pieces;
  whole.append(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    pieces.append(bytes.substr(at, 7));
  }
  std::string again;
  while (const auto got = whole.next()) {
    const auto same = pieces.next();  // where the stream is cut must not matter
    if (!same || same->kind != got->kind || same->rank != got->rank || same->bytes != got->bytes ||
        got->rank < 0 || got->kind > tool::last_frame_kind || !host_orders_input(got->bytes)) {
      return false;
    }
    again += tool::frame_bytes(got->kind, got->rank, got->bytes);
    tool::unpacker fields(got->bytes);
    (void)tool::unpack_vote(got->bytes);
    (void)fields.number();
    (void)fields.texts();
    (void)fields.numbers();
    (void)fields.whole();
  }
  if (pieces.next() || bytes.substr(0, again.size()) != again) {
    return false;
  }
  if (const auto line = tool::parse_greeting(bytes)) {
    const auto back = tool::parse_greeting(tool::greeting_line(*line));
    return back && back->node == line->node && tool::is_same(back->secret, line->secret);
  }
  return host_orders_input(bytes);
}

}  // namespace sinew::fuzz
