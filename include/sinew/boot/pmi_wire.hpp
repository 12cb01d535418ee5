// SPDX-License-Identifier: BSD-3-Clause
// The text lines of PMI-1: "cmd=put kvsname=k key=a value=b\n". Pure functions, used by the ranks
// and by the launcher. Input comes from other programs and is not trusted: every size is bounded.
// Source: the PMI-1.1 wire as MPICH's Hydra speaks it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew::boot {

/// Bytes in one line without its newline, and fields in it; more is malformed.
inline constexpr std::size_t pmi_line_limit = std::size_t{64} * 1024;
inline constexpr std::size_t pmi_field_limit = 256;

/// One parsed line. The first field is `cmd` (or `mcmd`, the beginning of a multi-line command).
class pmi_message {
 public:
  /// Nothing if the line is malformed: empty, over a limit, a control character, a first field
  /// other than cmd/mcmd, an empty name. A word without '=' continues the value before it (some
  /// programs send sentences). Grade: cold.
  [[nodiscard]] static std::optional<pmi_message> parse(std::string_view line);

  [[nodiscard]] const std::string& command() const noexcept { return fields_.front().second; }
  [[nodiscard]] bool multi_line() const noexcept { return fields_.front().first == "mcmd"; }
  /// The first field of this name. The view lives as long as the message.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
  /// The same as a whole decimal number that fits an int.
  [[nodiscard]] std::optional<int> number(std::string_view name) const noexcept;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

/// A stream of bytes cut into lines. Grade: cold.
class pmi_line_buffer {
 public:
  /// False if an unfinished line exceeds pmi_line_limit: the stream is beyond repair.
  [[nodiscard]] bool append(std::string_view bytes);
  /// The next whole line without its newline.
  [[nodiscard]] std::optional<std::string> next();

 private:
  std::string pending_;
  std::size_t taken_ = 0;  // bytes of pending_ that next() has already given away
};

/// A whole decimal int, or nothing.
[[nodiscard]] std::optional<int> parse_number(std::string_view text) noexcept;

/// Any bytes as one word for a PMI value, never empty; and back. Nothing if not of that form.
[[nodiscard]] std::string pmi_escape(std::string_view bytes);
[[nodiscard]] std::optional<std::string> pmi_unescape(std::string_view word);

/// What another program sent, for people: every byte that is not printable ASCII as \xNN, so that
/// none of it reaches a terminal as a command.
[[nodiscard]] std::string pmi_visible(std::string_view bytes);

/// Node of each rank from PMI's process mapping "(vector,(first,nodes,ranks_per_node),...)", the
/// blocks repeated until `size` ranks are placed; empty if malformed.
[[nodiscard]] std::vector<int> parse_process_mapping(std::string_view text, int size);

/// The inverse: blocks that give every rank its node, repeated where the nodes repeat.
[[nodiscard]] std::string format_process_mapping(std::span<const int> node_of);

}  // namespace sinew::boot
