// SPDX-License-Identifier: BSD-3-Clause
// The tables of some ranks over memory of this process: no ranks, no messages.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "region/instance_table.hpp"

namespace sinew::region {

class plain_heaps {
 public:
  static constexpr std::size_t heap_bytes = 1 << 16;
  static constexpr std::uint64_t slots_at = 64;

  explicit plain_heaps(int ranks, std::uint32_t slots = 8) : slots_(slots) {
    for (int r = 0; r < ranks; ++r) {
      memory_.emplace_back(heap_bytes / sizeof(std::uint64_t), 0);
      next_.push_back(slots_at + 8 * std::uint64_t{slots});
    }
    for (int r = 0; r < ranks; ++r) {
      shared_heaps all;
      all.rank = job_rank{r};
      for (auto& m : memory_) {
        all.begins.push_back(reinterpret_cast<std::byte*>(m.data()));
      }
      tables_.push_back(std::make_unique<instance_table>(all, slots_at, slots_, true));
    }
  }
  [[nodiscard]] instance_table& of(int rank) { return *tables_[static_cast<std::size_t>(rank)]; }
  /// An offset in that rank's heap that nothing else has.
  [[nodiscard]] std::uint64_t take(int rank, std::size_t bytes) {
    std::uint64_t& next = next_[static_cast<std::size_t>(rank)];
    const std::uint64_t at = (next + 63) / 64 * 64;
    next = at + bytes;
    return next <= heap_bytes ? at : 0;
  }
  [[nodiscard]] std::optional<instance> enter(int rank, const layout& l, memory_kind kind,
                                              const std::vector<job_rank>& owners) {
    return of(rank).enter(take(rank, record::bytes(l.fields.size(), l.parts)), l, kind, owners);
  }
  /// Entered by `rank`, with memory for all its parts in the owners' heaps, and ready.
  [[nodiscard]] instance make(int rank, const layout& l, const std::vector<job_rank>& owners) {
    const instance i = enter(rank, l, memory_kind::shared, owners).value();
    record& r = *of(rank).find(i)->there;
    for (std::uint32_t p = 0; p < l.parts; ++p) {
      r.places()[p].address = take(owners[p].value(), l.part_bytes);
    }
    r.state.store(record_state::ready, std::memory_order_release);
    return i;
  }

 private:
  std::uint32_t slots_;
  std::vector<std::vector<std::uint64_t>> memory_;
  std::vector<std::uint64_t> next_;
  std::vector<std::unique_ptr<instance_table>> tables_;
};

/// `elements` of one field of T.
template <class T>
layout layout_of(shape elements, std::uint32_t parts = 1, const layout_options& how = {}) {
  schema what(elements);
  (void)what.add<T>("f");
  return layout::of(what, how, parts);
}

}  // namespace sinew::region
