// Labelled output: whole lines of many ranks onto two streams.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/run/event_loop.hpp"

namespace sinew::tool {

/// Reads each rank's pipes, puts "[rank] " before each line and writes only whole lines. Never
/// blocks on a slow reader of a pipe or terminal: it stops reading from the ranks instead.
class output_router {
 public:
  output_router(event_loop& loop, int ranks);

  /// The end of a new pipe for the rank to write to; `stream` is 1 or 2. Throws.
  [[nodiscard]] boot::descriptor open(int rank, int stream);
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
  std::array<sink, 2> sinks_;
  std::size_t open_ = 0;
  bool paused_ = false;
};

}  // namespace sinew::tool
