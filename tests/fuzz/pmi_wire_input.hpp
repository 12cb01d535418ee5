// SPDX-License-Identifier: BSD-3-Clause
// What both the fuzzer and the seeded test do with a piece of input.
#pragma once

#include <string>
#include <string_view>

#include "sinew/boot/pmi_wire.hpp"

namespace sinew::fuzz {

/// False if a property does not hold; crashes and sanitizers tell the rest.
inline bool pmi_wire_input(std::string_view bytes) {
  boot::pmi_line_buffer whole;
  boot::pmi_line_buffer pieces;
  const bool fits = whole.append(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    (void)pieces.append(bytes.substr(at, 7));
  }
  while (fits) {
    const auto line = whole.next();
    if (line != pieces.next()) {
      return false;  // where the stream is cut must not matter
    }
    if (!line) {
      break;
    }
    if (const auto message = boot::pmi_message::parse(*line)) {
      if (message->command().empty() || line->size() > boot::pmi_line_limit) {
        return false;
      }
      (void)message->number("rc");
    }
  }
  if (boot::pmi_unescape(boot::pmi_escape(bytes)) != std::string(bytes)) {
    return false;
  }
  (void)boot::pmi_unescape(bytes);
  const auto nodes = boot::parse_process_mapping(bytes, 64);
  return nodes.empty() || nodes.size() == 64;
}

}  // namespace sinew::fuzz
