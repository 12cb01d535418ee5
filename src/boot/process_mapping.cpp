// SPDX-License-Identifier: BSD-3-Clause
// PMI's process mapping: which node each rank of a job is on, as blocks of ranks.
// Source: PMI_process_mapping as MPICH's Hydra and Slurm give it.
#include <array>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::boot {
namespace {

/// `count` nodes from `first` on, each with `ranks` consecutive ranks.
struct mapping_block {
  int first;
  int count;
  int ranks;
  bool operator==(const mapping_block&) const = default;
};

std::vector<mapping_block> blocks_of(std::span<const int> node_of) {
  std::vector<mapping_block> blocks;
  for (std::size_t at = 0; at < node_of.size();) {
    std::size_t end = at;
    while (end < node_of.size() && node_of[end] == node_of[at]) {
      ++end;
    }
    const int ranks = static_cast<int>(end - at);
    mapping_block* const last = blocks.empty() ? nullptr : &blocks.back();
    if (last != nullptr && last->ranks == ranks && last->first + last->count == node_of[at]) {
      ++last->count;
    } else {
      blocks.push_back({node_of[at], 1, ranks});
    }
    at = end;
  }
  return blocks;
}

// A reader repeats the blocks until all ranks are placed.
std::size_t period_of(const std::vector<mapping_block>& blocks) {
  std::size_t period = 1;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[i] != blocks[i % period]) {
      period = i + 1;
    }
  }
  return period;
}

}  // namespace

std::string format_process_mapping(std::span<const int> node_of) {
  SINEW_EXPECT(!node_of.empty());
  const std::vector<mapping_block> blocks = blocks_of(node_of);
  const std::size_t period = period_of(blocks);
  SINEW_ASSERT(period <= blocks.size());
  std::string text = "(vector";
  for (std::size_t i = 0; i < period; ++i) {
    text += ",(" + std::to_string(blocks[i].first) + "," + std::to_string(blocks[i].count) + "," +
            std::to_string(blocks[i].ranks) + ")";
  }
  return text + ")";
}

std::vector<int> parse_process_mapping(std::string_view text, int size) {
  constexpr std::string_view head = "(vector";
  if (size <= 0 || !text.starts_with(head) || !text.ends_with(')')) {
    return {};
  }
  text.remove_prefix(head.size());
  text.remove_suffix(1);
  std::vector<std::array<int, 3>> blocks;
  while (!text.empty()) {
    if (!text.starts_with(",(")) {
      return {};
    }
    text.remove_prefix(2);
    std::array<int, 3> block{};
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::size_t end = text.find(i < 2 ? ',' : ')');
      const auto number =
          end == std::string_view::npos ? std::nullopt : parse_number(text.substr(0, end));
      if (!number || *number < (i == 0 ? 0 : 1)) {
        return {};
      }
      block[i] = *number;
      text.remove_prefix(end + 1);
    }
    blocks.push_back(block);
  }
  std::vector<int> nodes;
  nodes.reserve(static_cast<std::size_t>(size));
  const auto wanted = static_cast<std::size_t>(size);
  while (!blocks.empty() && nodes.size() < wanted) {
    for (const auto& [first, count, ranks] : blocks) {
      for (std::int64_t i = 0; i < std::int64_t{count} * ranks && nodes.size() < wanted; ++i) {
        const std::int64_t node = first + i / ranks;
        if (node > INT32_MAX) {
          return {};
        }
        nodes.push_back(static_cast<int>(node));
      }
    }
  }
  return nodes;
}

}  // namespace sinew::boot
