// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/output_router.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/run/pipe.hpp"

namespace sinew::tool {
namespace {

// A writable pipe or terminal takes this much without blocking.
constexpr std::size_t safe_write = 4096;
constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::size_t queue_high = std::size_t{4} << 20;
constexpr std::size_t queue_low = std::size_t{1} << 20;
constexpr std::size_t one_read = 65'536;
/// What a pipe can hold, unless root has made it larger.
constexpr std::size_t most_in_pipe = std::size_t{1} << 20;

}  // namespace

output_router::output_router(event_loop& loop, int ranks, bool labels)
    : loop_(loop),
      digits_(std::to_string(ranks - 1).size()),
      fed_(static_cast<std::size_t>(ranks) * 2),
      labels_(labels) {
  sinks_[0].number = STDOUT_FILENO;
  sinks_[1].number = STDERR_FILENO;
}

boot::descriptor output_router::open(int rank, int stream) {
  auto [input, output] =
      make_pipe("no pipe for the output of rank " + std::to_string(rank), "do without --label");
  ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
  auto from = make_source(rank, stream);
  from->pipe = std::move(input);
  loop_.watch_input(from->pipe.get(), [this, each = from.get()] { read_from(*each); });
  sources_.push_back(std::move(from));
  ++open_;
  return std::move(output);
}

std::unique_ptr<output_router::source> output_router::make_source(int rank, int stream) const {
  auto from = std::make_unique<source>();
  const std::string number = std::to_string(rank);
  from->label = "[" + std::string(digits_ - std::min(digits_, number.size()), ' ') + number + "] ";
  from->stream = stream;
  return from;
}

void output_router::feed(int rank, int stream, std::string_view bytes) {
  auto& from = fed_[static_cast<std::size_t>(rank) * 2 + static_cast<std::size_t>(stream - 1)];
  if (from == nullptr) {
    from = make_source(rank, stream);
  }
  sink& to = sink_of(*from);
  if (labels_) {
    take(*from, bytes);
  } else if (!to.broken) {
    to.queue += bytes;
    write_to(to);
  }
  balance();
}

void output_router::hurry() {
  for (sink& each : sinks_) {
    pollfd asked{each.number, POLLOUT, 0};
    while (!each.queue.empty() && !each.broken && ::poll(&asked, 1, 0) == 1) {
      flush(each);
    }
  }
}

bool output_router::done() const {
  return open_ == 0 && std::all_of(sinks_.begin(), sinks_.end(),
                                   [](const sink& each) { return each.queue.empty(); });
}

void output_router::close_sources() {
  for (const auto& each : sources_) {
    // What ended ranks have left there, but not for ever what another process still writes.
    for (std::size_t bytes = 0; each->pipe && bytes < most_in_pipe && read_from(*each);) {
      bytes += one_read;
    }
    if (each->pipe) {
      end(*each);
    }
  }
  for (const auto& each : fed_) {
    if (each != nullptr) {
      end(*each);
    }
  }
}

bool output_router::read_from(source& from) {
  std::array<char, one_read> bytes;
  const ssize_t got = ::read(from.pipe.get(), bytes.data(), bytes.size());
  const bool again = got > 0 || (got < 0 && errno == EINTR);
  if (got > 0) {
    take(from, {bytes.data(), static_cast<std::size_t>(got)});
  } else if (!again && (got == 0 || errno != EAGAIN)) {
    end(from);
  }
  balance();
  return again;
}

void output_router::take(source& from, std::string_view bytes) {
  sink& to = sink_of(from);
  if (to.broken) {
    return end(from);  // the rank will get SIGPIPE, as without the router
  }
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::size_t count = newline == std::string_view::npos ? bytes.size() : newline + 1;
    from.line.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    if (newline != std::string_view::npos || from.line.size() >= longest_line) {
      to.queue += from.label + from.line + (newline == std::string_view::npos ? "\n" : "");
      from.line.clear();
    }
  }
  write_to(to);
}

void output_router::end(source& from) {
  if (!from.line.empty()) {
    sink& to = sink_of(from);
    to.queue += from.label + from.line + "\n";
    from.line.clear();
    write_to(to);
  }
  if (from.pipe) {
    loop_.forget(from.pipe.get());
    from.pipe.reset();
    --open_;
  }
}

void output_router::write_to(sink& to) {
  if (to.broken) {
    to.queue.clear();
    to.written = 0;
    return;
  }
  if (to.direct) {
    return flush(to);
  }
  if (!to.watched && !to.queue.empty()) {
    to.watched = loop_.watch_output(to.number, [this, &to] {
      flush(to);
      balance();
    });
    if (!to.watched) {
      to.direct = true;
      flush(to);
    }
  }
}

void output_router::flush(sink& to) {
  while (to.written < to.queue.size()) {
    const std::size_t left = to.queue.size() - to.written;
    const ssize_t count = ::write(to.number, to.queue.data() + to.written,
                                  to.direct ? left : std::min(left, safe_write));
    if (count > 0) {
      to.written += static_cast<std::size_t>(count);
    } else if (count < 0 && errno != EINTR && errno != EAGAIN) {
      to.broken = true;
      to.written = to.queue.size();
    }
    if (!to.direct) {
      break;  // the loop asks again whether the next piece fits
    }
  }
  if (to.written < to.queue.size()) {
    return;
  }
  to.queue.clear();
  to.written = 0;
  if (to.watched) {
    loop_.forget(to.number);
    to.watched = false;
  }
}

void output_router::balance() {
  const std::size_t most = std::max(sinks_[0].queue.size() - sinks_[0].written,
                                    sinks_[1].queue.size() - sinks_[1].written);
  if (paused_ ? most > queue_low : most <= queue_high) {
    return;
  }
  paused_ = !paused_;
  for (const auto& each : sources_) {
    if (!each->pipe) {
      continue;
    }
    if (paused_) {
      loop_.forget(each->pipe.get());
    } else {
      loop_.watch_input(each->pipe.get(), [this, from = each.get()] { read_from(*from); });
    }
  }
}

}  // namespace sinew::tool
