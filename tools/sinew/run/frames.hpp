// SPDX-License-Identifier: BSD-3-Clause
// What the launcher and the daemons of a job say to each other: frames of a kind, a rank and bytes.
// Both are of the same build, which their greeting makes sure of (greeting.hpp). Pure functions;
// input is not trusted: every size is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/run/rank_holder.hpp"

namespace sinew::tool {

enum class frame_kind : std::uint8_t {
  beat,  ///< of either side, once a second
  // To a daemon.
  set_up,         ///< the job, as in host_orders
  go,             ///< start the ranks; how long until waiting ranks report, or 0
  answer,         ///< PMI-1 to a rank
  signal,         ///< its number, to every rank but those whose numbers follow
  input,          ///< to a rank's input; empty: its end
  output_taken,   ///< so many bytes of output have been written; the node in place of a rank
  output_closed,  ///< nobody reads stream 1 or 2 any more
  ask_clock,      ///< what is the time there? The node in place of a rank
  ask,            ///< where does this rank stand, or every_rank? As in wanted_of_rank
  dead,           ///< with --survive: this rank has died, and the others go on
  voted,          ///< with --survive: a vote of this rank, as in cast_vote
  finish,         ///< every rank has ended: send what is left and end
  // From a daemon.
  // Of hosts: in place of a rank stands their node.
  ready,         ///< everything is prepared
  refused,       ///< exit code and why
  lost,          ///< a host below the daemon that says so: exit code and why
  remark,        ///< a sentence for the user
  started,       ///< a rank's pid
  not_started,   ///< exit code and why
  said,          ///< PMI-1 from a rank
  output,        ///< of a rank's stream 1
  error_output,  ///< of a rank's stream 2
  ended,         ///< ranks that have ended, each as in rank_exit
  input_taken,   ///< so many bytes have gone to the rank
  input_closed,  ///< the rank reads no more
  clock,         ///< of a host: its now_ns()
  other_mpi,     ///< the path of another MPI's library, which a rank has loaded
  stands,        ///< where a rank stands, as in rank_stacks
  idle,          ///< 1: a rank has done nothing for another --silence; 0: it does again
};
inline constexpr auto last_frame_kind = frame_kind::idle;

/// What daemons send, and what of it concerns the rank that the frame names.
[[nodiscard]] bool is_of_daemon(frame_kind kind) noexcept;
[[nodiscard]] bool is_of_rank(frame_kind kind) noexcept;

struct frame {
  frame_kind kind = frame_kind::beat;
  int rank = 0;
  std::string bytes;
};

/// A longer frame is malformed. The largest is a job's environment.
inline constexpr std::size_t frame_limit = std::size_t{64} << 20;

/// As it goes over the line.
[[nodiscard]] std::string frame_bytes(frame_kind kind, int rank, std::string_view bytes);

/// A stream of bytes cut into frames. Grade: cold.
class frame_buffer {
 public:
  void append(std::string_view bytes);
  /// The next whole frame.
  [[nodiscard]] std::optional<frame> next();
  /// What came is no frame; nothing more is given.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  std::string pending_;
  std::size_t taken_ = 0;
  bool broken_ = false;
};

/// Numbers and texts behind each other.
class packer {
 public:
  packer& number(std::int64_t value);
  packer& text(std::string_view value);
  packer& texts(const std::vector<std::string>& values);
  packer& numbers(const std::vector<int>& values);
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// And back. Behind the end, and after the first fault, everything is zero or empty.
class unpacker {
 public:
  explicit unpacker(std::string_view bytes) noexcept : rest_(bytes) {}
  [[nodiscard]] std::int64_t number();
  [[nodiscard]] std::string text();
  [[nodiscard]] std::vector<std::string> texts();
  [[nodiscard]] std::vector<int> numbers();
  /// A number of things that take at least `bytes_each` bytes of what is left; else 0, and a fault.
  [[nodiscard]] std::size_t count(std::size_t bytes_each);
  /// All has been read, and nothing was missing.
  [[nodiscard]] bool whole() const noexcept { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

[[nodiscard]] std::string pack(const cast_vote& vote);
/// Nothing if it is none.
[[nodiscard]] std::optional<cast_vote> unpack_vote(std::string_view bytes);

}  // namespace sinew::tool
