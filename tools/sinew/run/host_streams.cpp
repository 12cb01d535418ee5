// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a host read and write, as a daemon carries it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/run/host_daemon.hpp"
#include "sinew/run/pipe.hpp"

namespace sinew::tool {
namespace {

// So much output may be under way to the launcher; when half of it has been written there, the
// ranks are read again.
constexpr std::int64_t output_window = 1 << 20;
/// What a pipe can hold, unless root has made it larger.
constexpr std::size_t most_in_pipe = std::size_t{1} << 20;
constexpr std::size_t bytes_a_read = 65'536;
constexpr std::int64_t drain_patience_ns = 100'000'000;
constexpr std::int64_t last_words_ns = 2 * second_ns;

pipe_ends pipe_of(int rank) {
  return make_pipe("no pipe for the streams of rank " + std::to_string(rank));
}

}  // namespace

boot::descriptor host_daemon::open_output(int rank, int stream) {
  SINEW_EXPECT(stream == 1 || stream == 2);
  auto [ours, theirs] = pipe_of(rank);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  auto from = std::make_unique<source>();
  from->rank = rank;
  from->stream = stream;
  from->pipe = std::move(ours);
  from->watched =
      loop_.watch_input(from->pipe.get(), [this, each = from.get()] { (void)read_from(*each); });
  sources_.push_back(std::move(from));
  return std::move(theirs);
}

boot::descriptor host_daemon::open_input(int rank) {
  auto [theirs, ours] = pipe_of(rank);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  auto to = std::make_unique<target>();
  to->rank = rank;
  to->pipe = std::move(ours);
  targets_.push_back(std::move(to));
  return std::move(theirs);
}

void host_daemon::set_up_streams(int rank, start_plan& start, std::vector<boot::descriptor>& held) {
  const bool reads = options_.input == stdin_target::all ||
                     (options_.input == stdin_target::one_rank && options_.input_rank == rank);
  boot::descriptor input =
      reads ? open_input(rank) : boot::descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  SINEW_CHECK(static_cast<bool>(input), "/dev/null cannot be opened", base::system_reason(errno),
              base::system_advice(errno));
  held.push_back(std::move(input));
  held.push_back(open_output(rank, 1));
  held.push_back(open_output(rank, 2));
  for (std::size_t stream = 0; stream < 3; ++stream) {
    start.streams[stream] = held[held.size() - 3 + stream].get();
  }
}

bool host_daemon::read_from(source& from) {
  std::array<char, bytes_a_read> bytes;
  const ssize_t got = ::read(from.pipe.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
    return errno == EINTR;
  }
  if (got <= 0) {
    loop_.forget(from.pipe.get());
    from.pipe.reset();
    return false;
  }
  unread_ += got;
  link_.send(from.stream == 1 ? frame_kind::output : frame_kind::error_output, from.rank,
             {bytes.data(), static_cast<std::size_t>(got)});
  balance();
  return true;
}

// As much as a pipe can hold, but not for ever what another process still writes.
void host_daemon::read_all(source& from) {
  for (std::size_t bytes = 0; from.pipe && bytes < most_in_pipe && read_from(from);) {
    bytes += bytes_a_read;
  }
}

void host_daemon::read_all_of(int rank) {
  for (const auto& each : sources_) {
    if (each->rank == rank) {
      read_all(*each);
    }
  }
}

void host_daemon::balance() {
  const bool pause = unread_ > output_window;
  const bool resume = unread_ < output_window / 2;
  for (const auto& each : sources_) {
    if (each->pipe && each->watched && pause) {
      loop_.forget(each->pipe.get());
      each->watched = false;
    } else if (each->pipe && !each->watched && resume) {
      each->watched = loop_.watch_input(each->pipe.get(),
                                        [this, from = each.get()] { (void)read_from(*from); });
    }
  }
}

void host_daemon::close_output(int stream) {
  for (const auto& each : sources_) {
    if (each->stream == stream && each->pipe) {
      loop_.forget(each->pipe.get());
      each->pipe.reset();
    }
  }
}

void host_daemon::add_input(int rank, const std::string& bytes) {
  for (const auto& each : targets_) {
    if (each->rank == rank && each->pipe) {
      each->queue += bytes;
      each->end = each->end || bytes.empty();
      write_to(*each);
    }
  }
}

void host_daemon::write_to(target& to) {
  std::int64_t written = 0;
  bool closed = false;
  while (!to.queue.empty() && !closed) {
    const ssize_t count = ::write(to.pipe.get(), to.queue.data(), to.queue.size());
    if (count > 0) {
      to.queue.erase(0, static_cast<std::size_t>(count));
      written += count;
    } else if (errno == EAGAIN) {
      break;
    } else {
      closed = errno != EINTR;
    }
  }
  link_.send(frame_kind::input_taken, to.rank, packer().number(written).bytes());
  const bool wait = !to.queue.empty() && !closed;
  if (to.watched && !wait) {
    loop_.forget(to.pipe.get());
    to.watched = false;
  } else if (!to.watched && wait) {
    to.watched = loop_.watch_output(to.pipe.get(), [this, &to] { write_to(to); });
  }
  if (closed) {
    link_.send(frame_kind::input_closed, to.rank, packer().number(0).bytes());
  }
  if (closed || (to.end && to.queue.empty())) {
    to.pipe.reset();
  }
}

// All ranks have ended: what they wrote last. A process that left its group could hold a pipe open
// for ever, and a launcher that reads no more must not keep us.
void host_daemon::drain() {
  const std::int64_t until = now_ns() + drain_patience_ns;
  const auto open = [](const auto& each) { return static_cast<bool>(each->pipe); };
  for (const auto& each : sources_) {
    read_all(*each);
  }
  while (!exit_code_ && std::any_of(sources_.begin(), sources_.end(), open) && now_ns() < until) {
    loop_.run_once(10);
  }
  const std::int64_t last = now_ns() + last_words_ns;
  const auto below = [this] { return children_ != nullptr && !children_->gone(); };
  while (!exit_code_ && (below() || !link_.idle()) && link_.open() && now_ns() < last) {
    loop_.run_once(10);
  }
}

}  // namespace sinew::tool
