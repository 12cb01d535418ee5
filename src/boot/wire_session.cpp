#include "boot/wire_session.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unordered_map>

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

void wire_session::settle(std::vector<int> node_of) {
  SINEW_EXPECT(node_of.size() == static_cast<std::size_t>(place_.size));
  std::unordered_map<int, int> ours;
  place_.local_ranks.clear();
  for (int& node : node_of) {
    node = ours.emplace(node, static_cast<int>(ours.size())).first->second;
  }
  place_.nodes = static_cast<int>(ours.size());
  place_.node = node_of[place_.rank.index()];
  for (job_rank rank = 0; rank.below(place_.size); ++rank) {
    if (node_of[rank.index()] == place_.node) {
      place_.local_rank =
          rank == place_.rank ? local_rank::of_index(place_.local_ranks.size()) : place_.local_rank;
      place_.local_ranks.push_back(rank);
    }
  }
  place_.local_size = static_cast<int>(place_.local_ranks.size());
  place_.node_of = place_.nodes > 1 ? std::move(node_of) : std::vector<int>();
  SINEW_ENSURE(place_.local_rank.below(place_.local_size));
}

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

std::byte* wire_session::map_node_memory(std::size_t bytes_per_rank) {
  SINEW_CHECK(memory_.base() == nullptr, "the node's memory is mapped already",
              "map_node_memory is called once per session", "");
  node_ = node_descriptor();
  const int ranks = place_.spawning.count != 0 ? place_.spawning.count : place_.local_size;
  const std::size_t end =
      attendance::begin_behind(bytes_per_rank * static_cast<std::size_t>(ranks));
  memory_ = memory_mapping::of(node_.get(), end + attendance::bytes_for(ranks));
  std::vector<local_rank> members = attendance::all(place_.local_size);
  for (std::size_t i = 0; place_.spawned() && i < members.size(); ++i) {
    members[i] = local_rank{place_.local_ranks[i].value()};
  }
  attendance_ = attendance(memory_.base() + end, place_.local_rank, std::move(members));
  return memory_.base();
}

std::byte* wire_session::map_node_heap(std::size_t bytes_per_rank) {
  SINEW_CHECK(heap_.base() == nullptr && (memory_.base() != nullptr || place_.local_size == 1),
              "the node's heap cannot be mapped now",
              "map_node_heap is called once per session, after map_node_memory", "");
  heap_ = place_.local_size == 1
              ? memory_mapping::anonymous(bytes_per_rank)
              : memory_mapping::heap_of(
                    node_.get(), bytes_per_rank * static_cast<std::size_t>(place_.local_size));
  node_.reset();
  return heap_.base();
}

std::vector<job_rank> wire_session::absent() const {
  std::vector<job_rank> result;
  for (const local_rank each : attendance_.absent()) {
    result.push_back(place_.spawned() ? job_rank{each.value()} : place_.local_ranks[each.index()]);
  }
  return result;
}

void wire_session::depart() noexcept {
  attendance_.leave();
  if (place_.nodes > 1 && place_.launcher == "sinew") {
    try {
      channel_.say(std::string("cmd=") + launcher_wire::depart);
    } catch (const std::exception&) {
      // The launcher has gone, and others_have_left() stays false.
    }
  }
}

// Ranks of other nodes are seen by the launcher alone; other launchers do not tell.
bool wire_session::others_have_left() noexcept {
  if (place_.nodes == 1) {
    return place_.size == 1 || attendance_.others_have_left();
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
    std::fprintf(stderr, "sinew: rank %d of %d aborted the job with code %d: %.*s\n",
                 place_.rank.value(), place_.size, code, static_cast<int>(why.size()), why.data());
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

void leave(int code) noexcept {
  if (::ftrylockfile(stdout) == 0) {
    ::fflush_unlocked(stdout);
    ::funlockfile(stdout);
  }
  ::_exit((code & 0xff) == 0 && code != 0 ? 1 : code);
}

}  // namespace sinew::boot
