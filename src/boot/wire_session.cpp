// SPDX-License-Identifier: BSD-3-Clause
#include "boot/wire_session.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"

namespace sinew::boot {

namespace {

// What does not fit one value of the launcher's travels in pieces: the key's own value is then
// `pieces_mark` and their number. pmi_escape() begins with another letter.
constexpr char pieces_mark = 'p';
constexpr std::size_t most_pieces = 4096;

std::string piece_key(const std::string& key, std::size_t number) {
  return key + "." + std::to_string(number);
}

}  // namespace

void wire_session::take_place(spawn_places where) {
  SINEW_EXPECT(place_.nodes == 1);
  if (!where.fellows.empty()) {
    SINEW_EXPECT(where.fellows.size() == static_cast<std::size_t>(place_.size));
    place_.rank = where.fellows[place_.rank.index()];
    place_.local_rank = local_rank{place_.rank.value()};
    place_.local_ranks = where.fellows;
  }
  place_.spawning = std::move(where);
  SINEW_ENSURE(place_.rank.below(place_.reach()));
}

void wire_session::put(const std::string& key, const std::string& value) {
  check_key(key);
  const std::string word = pmi_escape(value);
  if (word.size() < value_limit_) {
    return channel_.put(space_, key, word);
  }
  const std::size_t piece = value_limit_ - 1;
  const std::size_t pieces = (word.size() + piece - 1) / piece;
  SINEW_CHECK(pieces <= most_pieces, "the value of " + key + " is too long",
              std::to_string(word.size()) + " bytes", "split it over several keys");
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::string name = piece_key(key, i);
    check_key(name);
    channel_.put(space_, name, word.substr(i * piece, piece));
  }
  channel_.put(space_, key, pieces_mark + std::to_string(pieces));
}

std::optional<std::string> wire_session::get(const std::string& key) {
  check_key(key);
  const auto word = channel_.get(space_, key);
  if (!word || !word->starts_with(pieces_mark)) {
    return word ? pmi_unescape(*word) : std::nullopt;
  }
  const int pieces = parse_number(word->substr(1)).value_or(-1);
  SINEW_CHECK(pieces > 0 && static_cast<std::size_t>(pieces) <= most_pieces,
              "the value of " + key + " cannot be read", "it says that it has " + *word, "");
  std::string whole;
  for (int i = 0; i < pieces; ++i) {
    const auto part = channel_.get(space_, piece_key(key, static_cast<std::size_t>(i)));
    SINEW_CHECK(part.has_value(), "the value of " + key + " cannot be read",
                "its piece " + std::to_string(i) + " is missing", "call fence() before get()");
    whole += *part;
  }
  return pmi_unescape(whole);
}

bool wire_session::publish(const std::string& name, const std::string& value) {
  return channel_.publish(pmi_escape(name), pmi_escape(value));
}

std::optional<std::string> wire_session::lookup(const std::string& name) {
  const auto word = channel_.lookup(pmi_escape(name));
  return word ? pmi_unescape(*word) : std::nullopt;
}

bool wire_session::unpublish(const std::string& name) {
  return channel_.unpublish(pmi_escape(name));
}

void wire_session::depart() noexcept {
  node_session::depart();
  if (place_.nodes > 1 && place_.launcher == "sinew") {
    try {
      channel_.say(std::string("cmd=") + launcher_wire::depart);
    } catch (const std::exception&) {
      // The launcher has gone, and others_have_left() stays false.
    }
  }
}

void wire_session::tell_remark(const std::string& text) {
  if (place_.launcher == "sinew") {
    channel_.say(std::string("cmd=") + launcher_wire::remark + " text=" + pmi_escape(text));
  } else {
    session::tell_remark(text);
  }
}

bool wire_session::report_loss(job_rank lost, const std::string& why) noexcept {
  if (place_.launcher != "sinew") {
    return false;
  }
  try {
    channel_.say(std::string("cmd=") + launcher_wire::lost + " rank=" + to_string(lost) +
                 " why=" + pmi_escape(why));
    return true;
  } catch (const std::exception&) {
    return false;  // the launcher has gone
  }
}

// Ranks of other nodes are seen by the launcher alone; other launchers do not tell.
bool wire_session::others_have_left() noexcept {
  if (place_.nodes == 1) {
    return node_session::others_have_left();
  }
  try {
    const auto word = channel_.heard();
    all_left_ = all_left_ || (word && word->command() == launcher_wire::all_left);
  } catch (const std::exception&) {
    return false;  // the launcher has gone
  }
  return all_left_;
}

void wire_session::finalize() {
  finalized_ = true;
  attendance_.leave();
  say_goodbye();
}

void wire_session::abort(int code, std::string_view why) {
  if (place_.launcher != "sinew" && !why.empty()) {
    // Only our own launcher prints the reason.
    tell_abort(code, why);
  }
  try {
    std::string line = "cmd=abort exitcode=" + std::to_string(code);
    if (!why.empty()) {
      line += std::string(" ") + launcher_wire::abort_reason + "=" + pmi_escape(why);
    }
    channel_.say(line);
  } catch (const std::exception&) {
    // The launcher is gone; this rank's exit code says the rest.
  }
  leave(code);
}

descriptor adopt(int number, const char* variable_name) {
  SINEW_CHECK(::fcntl(number, F_SETFD, FD_CLOEXEC) == 0,
              std::string(variable_name) + "=" + std::to_string(number) + " is not open",
              "this process was started by a rank rather than by the launcher, or something in "
              "between closed its files",
              "start it with the launcher itself, or without its variables: env -u PMI_FD "
              "-u PMI_RANK -u PMI_SIZE -u SINEW_BOOT_JOB PROGRAM");
  return descriptor(number);
}

}  // namespace sinew::boot
