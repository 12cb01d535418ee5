#include "sinew/run/frame_link.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"

namespace sinew::tool {

frame_link::frame_link(event_loop& loop, boot::descriptor in, boot::descriptor out, events calls)
    : loop_(loop), in_(std::move(in)), out_(std::move(out)), calls_(std::move(calls)) {
  SINEW_EXPECT(static_cast<bool>(in_));
  if (!out_) {
    // The loop watches a descriptor for one direction only.
    out_ = boot::descriptor(::fcntl(in_.get(), F_DUPFD_CLOEXEC, 3));
    SINEW_CHECK(static_cast<bool>(out_), "no file is left for a connection", std::strerror(errno),
                "raise the limit on open files (ulimit -n)");
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
  queue_ += frame_bytes(kind, rank, bytes);
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
    return end(got == 0 ? "the connection was closed" : std::strerror(errno));
  }
  forgive_silence();
  input_.append({bytes.data(), static_cast<std::size_t>(got)});
  while (const auto next = input_.next()) {
    calls_.got(*next);
    if (!open()) {
      return;
    }
  }
  if (input_.broken()) {
    end("what came is not of this launcher's making");
  }
}

void frame_link::end(const std::string& why) {
  close();
  calls_.lost(why);
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
