// SPDX-License-Identifier: BSD-3-Clause
// Labelled output: whole lines of many ranks onto two streams.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/event_loop.hpp"

namespace sinew::tool {

/// Reads each rank's pipes, puts "[rank] " before each line and writes only whole lines. Never
/// blocks on a slow reader of a pipe or terminal: it stops reading from the ranks instead.
class output_router {
 public:
  /// `labels`: each line begins with its rank; else bytes go on as they come.
  output_router(event_loop& loop, int ranks, bool labels = true);

  /// The end of a new pipe for the rank to write to; `stream` is 1 or 2. Throws.
  [[nodiscard]] boot::descriptor open(int rank, int stream);
  /// What a rank of another host has written to `stream`.
  void feed(int rank, int stream, std::string_view bytes);
  /// Writes what readers take at once, so that what comes next on the same stream stands behind it.
  void hurry();
  /// More is held than a reader will take soon: nothing should be fed.
  [[nodiscard]] bool full() const noexcept { return paused_; }
  /// The reader of our own stream has gone.
  [[nodiscard]] bool broken(int stream) const {
    return sinks_[static_cast<std::size_t>(stream - 1)].broken;
  }
  /// True when every pipe has ended and everything is written.
  [[nodiscard]] bool done() const;
  /// Takes what is in the pipes, writes lines without an end as they are and closes all pipes: no
  /// more is to be expected.
  void close_sources();

 private:
  struct source {
    boot::descriptor pipe;
    std::string label;
    std::string line;  // begun, not ended
    int stream = 1;
  };
  struct sink {
    int number = 1;
    std::string queue;
    std::size_t written = 0;
    bool watched = false;
    bool direct = false;  // a regular file, always ready
    bool broken = false;  // its reader has gone
  };

  bool read_from(source& from);  // whether to look again
  [[nodiscard]] std::unique_ptr<source> make_source(int rank, int stream) const;
  void take(source& from, std::string_view bytes);
  void end(source& from);
  void write_to(sink& to);
  void flush(sink& to);
  void balance();
  [[nodiscard]] sink& sink_of(const source& from) {
    return sinks_[static_cast<std::size_t>(from.stream - 1)];
  }

  event_loop& loop_;
  std::size_t digits_;
  std::vector<std::unique_ptr<source>> sources_;
  std::vector<std::unique_ptr<source>> fed_;  // by rank and stream, made when first needed
  bool labels_;
  std::array<sink, 2> sinks_;
  std::size_t open_ = 0;
  bool paused_ = false;
};

}  // namespace sinew::tool
