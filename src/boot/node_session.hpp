// SPDX-License-Identifier: BSD-3-Clause
// What all sessions of several ranks have in common: where the ranks are, and the memory of a node.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "boot/attendance.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {

class node_session : public session {
 public:
  [[nodiscard]] const place& where() const final { return place_; }
  [[nodiscard]] std::byte* map_node_memory(std::size_t bytes_per_rank) final;
  [[nodiscard]] std::byte* map_node_heap(std::size_t bytes_per_rank) final;
  [[nodiscard]] std::vector<job_rank> absent() const final;
  void depart() noexcept override { attendance_.leave(); }
  [[nodiscard]] bool others_have_left() noexcept override;

 protected:
  /// The node's descriptor, the same one on all local ranks: by default one that the first of them
  /// makes and gives to the others, under the job's name.
  virtual descriptor node_descriptor();
  /// Fills what place_ says of nodes. `node_of` has an entry for each rank; nodes are counted anew
  /// in the order of their first ranks.
  void settle(std::vector<int> node_of);
  /// For launchers that do not tell the nodes: one for each name that a host has. `host_of` has the
  /// names by rank.
  [[nodiscard]] std::vector<int> nodes_by_name(const std::vector<std::string>& host_of);
  /// The same, from names that the ranks tell each other. Collective.
  [[nodiscard]] std::vector<int> nodes_by_told_name();
  /// Prints why the job is aborted, for launchers that do not.
  void tell_abort(int code, std::string_view why) const;

  place place_;
  attendance attendance_;

 private:
  descriptor node_;
  memory_mapping memory_;
  memory_mapping heap_;
};

/// Writes out what stdio still holds, if nobody is inside it, and ends without atexit handlers:
/// abort may come from any thread, in any state.
[[noreturn]] void leave(int code) noexcept;

}  // namespace sinew::boot
