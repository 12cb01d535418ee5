// SPDX-License-Identifier: BSD-3-Clause
// Which message a receive or probe from any source meets is chance. A simulated run may be told to
// choose, and tells what it could have chosen (sinew explore): so each choice can be tried once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/ids.hpp"

namespace sinew::p2p {

/// The variable that gives a rank the matches that are forced: texts, joined by commas. It turns
/// steering on, in a job without threads.
inline constexpr const char* forced_matches_variable = "SINEW_BOOT_MATCHES";
/// The inherited descriptor of a file to which ranks append what they meet, if there is one: lines
/// "met RANK:NUMBER=SENDER", and "can RANK:NUMBER=SENDER" for what might have been met.
inline constexpr const char* met_matches_variable = "SINEW_BOOT_MATCHES_FD";

/// The `number`-th receive or successful probe from any source on a rank, counted from 1, meets a
/// message of this sender: a rank of its communicator.
struct source_match {
  job_rank rank = 0;
  int number = 1;
  comm_rank sender = 0;

  friend auto operator<=>(const source_match&, const source_match&) = default;
};

/// "0:2=1". Throws sinew::error. Cold.
[[nodiscard]] source_match parse_match(std::string_view text);
[[nodiscard]] std::string to_text(const source_match& match);
[[nodiscard]] std::string to_text(const std::vector<source_match>& matches);

}  // namespace sinew::p2p
