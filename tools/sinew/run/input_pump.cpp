// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/input_pump.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/run/pipe.hpp"

namespace sinew::tool {

boot::descriptor input_pump::open() {
  auto [input, output] = make_pipe("no pipe for a rank's input");
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  targets_.push_back({std::move(output)});
  return std::move(input);
}

void input_pump::start() { advance(); }

void input_pump::read_more() {
  chunk_.resize(65'536);
  const ssize_t got = ::read(STDIN_FILENO, chunk_.data(), chunk_.size());
  chunk_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (watched_) {
    loop_.forget(STDIN_FILENO);
    watched_ = false;
  }
  if (got <= 0) {
    for (target& each : targets_) {
      drop(each);
    }
    return;
  }
  for (target& each : targets_) {
    each.written = 0;
    write_to(each);
  }
}

void input_pump::write_to(target& to) {
  while (to.pipe && to.written < chunk_.size()) {
    const ssize_t count =
        ::write(to.pipe.get(), chunk_.data() + to.written, chunk_.size() - to.written);
    if (count > 0) {
      to.written += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EAGAIN) {
      if (!to.watched) {
        to.watched = loop_.watch_output(to.pipe.get(), [this, &to] {
          write_to(to);
          advance();
        });
      }
      return;
    } else if (count < 0 && errno != EINTR) {
      drop(to);
    }
  }
  if (to.watched) {
    loop_.forget(to.pipe.get());
    to.watched = false;
  }
}

void input_pump::drop(target& to) {
  if (to.pipe) {
    loop_.forget(to.pipe.get());
    to.watched = false;
    to.pipe.reset();
  }
}

void input_pump::advance() {
  const auto open = [](const target& each) { return static_cast<bool>(each.pipe); };
  while (std::any_of(targets_.begin(), targets_.end(), open) && !watched_) {
    const bool busy = std::any_of(targets_.begin(), targets_.end(), [this](const target& each) {
      return each.pipe && each.written < chunk_.size();
    });
    if (busy) {
      return;
    }
    if (!direct_) {
      watched_ = loop_.watch_input(STDIN_FILENO, [this] {
        read_more();
        advance();
      });
      direct_ = !watched_;
    } else {
      read_more();
    }
  }
}

}  // namespace sinew::tool
