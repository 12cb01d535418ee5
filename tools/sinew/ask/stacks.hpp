// SPDX-License-Identifier: BSD-3-Clause
// Where the threads of a process are: their calls, with functions and lines of the source.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/ask/rank_numbers.hpp"

namespace sinew::tool {

/// Empty, and 0, where something is not known.
struct stack_frame {
  std::string function;
  std::string module;  ///< the file of the library or program
  std::string file;    ///< the source
  int line = 0;
  bool interpreted = false;  ///< of a program in Python
  bool is_exact = false;     ///< as in seen_frame
};
using stack = std::vector<stack_frame>;  ///< innermost call first
/// More is left out.
inline constexpr std::size_t most_frames = 200;
inline constexpr std::size_t most_threads = 200;

/// What was found of a rank's process: where it stands, or what it does in numbers.
struct rank_stacks {
  std::string why_not;         ///< nothing was, for this reason
  std::vector<stack> threads;  ///< the first is the main one
  std::optional<rank_numbers> numbers = {};

  [[nodiscard]] std::string pack() const;
  /// Of what pack() has made; bytes of another form give a reason.
  [[nodiscard]] static rank_stacks unpack(std::string_view bytes);
};

/// Stops the process, a child of ours, for some milliseconds. Never fails: see why_not. Cold.
[[nodiscard]] rank_stacks read_stacks(pid_t process);

/// The outermost call of MPI or another binding; nothing: it is in none.
[[nodiscard]] std::optional<std::size_t> outermost_call(const stack& calls);
/// It is in one, which has not called the program back.
[[nodiscard]] bool waits_in_call(const stack& calls);
/// The innermost call of those that a signal has interrupted whose handler is ours.
[[nodiscard]] std::optional<std::size_t> interrupted_call(const stack& calls);
/// "solve (solver.f90:210)", "MPI_Recv".
[[nodiscard]] std::string frame_text(const stack_frame& frame);

/// Where a thread stands, for people: which call of the library it is in, and who has made it.
struct place {
  std::string call;      ///< "MPI_Recv"; empty: it is in none
  std::string function;  ///< of the program; may be empty
  std::string where;     ///< "solver.f90:210", or the file of a program without such data

  [[nodiscard]] bool operator==(const place&) const = default;
  /// "MPI_Recv, in solve (solver.f90:210)"; what the call waits for comes behind it.
  [[nodiscard]] std::string text(const std::string& waits_for = "") const;
};
[[nodiscard]] place place_of(const stack& calls);
/// Of a rank: its main thread's; another one's, if that alone is in a call.
[[nodiscard]] place place_of(const rank_stacks& rank);

}  // namespace sinew::tool
