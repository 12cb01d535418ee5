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

void wire_session::put(const std::string& key, const std::string& value) {
  check_key(key);
  const std::string word = pmi_escape(value);
  SINEW_CHECK(word.size() < value_limit_, "the value of " + key + " is too long",
              std::to_string(word.size()) + " bytes; this launcher carries " +
                  std::to_string(value_limit_ - 1),
              "split it over several keys");
  channel_.put(space_, key, word);
}

std::optional<std::string> wire_session::get(const std::string& key) {
  check_key(key);
  const auto word = channel_.get(space_, key);
  return word ? pmi_unescape(*word) : std::nullopt;
}

std::byte* wire_session::map_node_memory(std::size_t bytes_per_rank) {
  SINEW_CHECK(memory_.base() == nullptr, "the node's memory is mapped already",
              "map_node_memory is called once per session", "");
  node_ = node_descriptor();
  const std::size_t end =
      attendance::begin_behind(bytes_per_rank * static_cast<std::size_t>(place_.local_size));
  memory_ = memory_mapping::of(node_.get(), end + attendance::bytes_for(place_.local_size));
  attendance_ = attendance(memory_.base() + end, place_.local_rank, place_.local_size);
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

void wire_session::finalize() {
  finalized_ = true;
  attendance_.leave();
  say_goodbye();
}

void wire_session::abort(int code, std::string_view why) {
  if (place_.launcher != "sinew" && !why.empty()) {
    // Only our own launcher prints the reason.
    std::fprintf(stderr, "sinew: rank %d of %d aborted the job with code %d: %.*s\n", place_.rank,
                 place_.size, code, static_cast<int>(why.size()), why.data());
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
