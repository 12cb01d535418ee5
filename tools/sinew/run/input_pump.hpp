// SPDX-License-Identifier: BSD-3-Clause
// The launcher's input copied to ranks that cannot have it themselves.
#pragma once

#include <string>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/event_loop.hpp"

namespace sinew::tool {

/// Reads descriptor 0 and writes everything to every target; goes at the pace of the slowest and
/// forgets those that stop reading. Needed for a terminal (ranks are background groups, which may
/// not read it) and for more than one reader.
class input_pump {
 public:
  explicit input_pump(event_loop& loop) : loop_(loop) {}

  /// The read end of a new pipe, for one rank. Before start(). Throws.
  [[nodiscard]] boot::descriptor open();
  void start();

 private:
  struct target {
    boot::descriptor pipe;
    std::size_t written = 0;
    bool watched = false;
  };

  void read_more();
  void write_to(target& to);
  void drop(target& to);
  void advance();

  event_loop& loop_;
  std::vector<target> targets_;
  std::string chunk_;
  bool watched_ = false;  // descriptor 0
  bool direct_ = false;   // descriptor 0 is a regular file
};

}  // namespace sinew::tool
