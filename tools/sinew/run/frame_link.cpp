// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/frame_link.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/system_limits.hpp"

namespace sinew::tool {

frame_link::frame_link(event_loop& loop, daemon_line line, side self, events calls)
    : loop_(loop), in_(std::move(line.in)), out_(std::move(line.out)), calls_(std::move(calls)) {
  if (line.keys) {
    const bool daemon = self == side::daemon;
    sealer_.emplace(daemon ? line.keys->to_launcher : line.keys->to_daemon);
    unsealer_.emplace(daemon ? line.keys->to_daemon : line.keys->to_launcher);
  }
  SINEW_EXPECT(static_cast<bool>(in_));
  if (!out_) {
    // The loop watches a descriptor for one direction only.
    out_ = boot::descriptor(::fcntl(in_.get(), F_DUPFD_CLOEXEC, 3));
    SINEW_CHECK(static_cast<bool>(out_), "no file is left for a connection",
                base::system_reason(errno), base::system_advice(errno));
  }
  for (const int each : {in_.get(), out_.get()}) {
    ::fcntl(each, F_SETFL, ::fcntl(each, F_GETFL) | O_NONBLOCK);
  }
  forgive_silence();
  loop_.watch_input(in_.get(), [this] { read(); });
}

void frame_link::forgive_silence() noexcept { heard_ns_ = now_ns(); }

void frame_link::send(frame_kind kind, int rank, std::string_view bytes) {
  if (!open()) {
    return;
  }
  const std::string plain = frame_bytes(kind, rank, bytes);
  queue_ += sealer_ ? sealer_->seal(plain) : plain;
  if (!watched_) {
    write();
  }
}

void frame_link::write() {
  SINEW_EXPECT(sent_ <= queue_.size());
  while (out_ && sent_ < queue_.size()) {
    const ssize_t count = ::write(out_.get(), queue_.data() + sent_, queue_.size() - sent_);
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      watched_ = watched_ || loop_.watch_output(out_.get(), [this] { write(); });
      return;
    } else if (errno != EINTR) {
      break;  // the other side has gone: reading says so, after what it still has sent
    }
  }
  queue_.clear();
  sent_ = 0;
  if (watched_) {
    loop_.forget(out_.get());
    watched_ = false;
  }
}

void frame_link::read() {
  std::array<char, 65'536> bytes;
  const ssize_t got = ::read(in_.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (got <= 0) {
    return end({true, got == 0 ? "the connection was closed" : std::strerror(errno)});
  }
  const std::string_view came(bytes.data(), static_cast<std::size_t>(got));
  std::string opened;
  if (unsealer_ && !unsealer_->open(came, opened)) {
    return end(
        {false, "what came was altered, repeated, left out or moved on the way by somebody"});
  }
  const std::string_view plain = unsealer_ ? std::string_view(opened) : came;
  if (!plain.empty()) {  // a piece that is not whole may be anybody's
    forgive_silence();
  }
  input_.append(plain);
  while (const auto next = input_.next()) {
    calls_.got(*next);
    if (!open()) {
      return;
    }
  }
  if (input_.broken()) {
    end({false, "what came is not of this launcher's making"});
  }
}

void frame_link::end(const link_loss& how) {
  close();
  calls_.lost(how);
}

void frame_link::close() noexcept {
  if (in_) {
    loop_.forget(in_.get());
    in_.reset();
  }
  if (out_) {
    loop_.forget(out_.get());
    out_.reset();
  }
  watched_ = false;
}

}  // namespace sinew::tool
