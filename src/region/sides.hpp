// SPDX-License-Identifier: BSD-3-Clause
// A side of a transfer bound to memory: which elements, in which order, and where they lie as this
// rank sees them. Reads instances of indices; moves nothing and sends nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "region/instance_table.hpp"
#include "region/messages.hpp"
#include "region/walker.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::region {

/// A problem found while working: ends the operation, whose event is poisoned.
struct fault {
  std::string text;
};

/// Some of a side's elements, counted in its order.
struct window {
  std::uint64_t first = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();  ///< or as many as there are
};

/// `at` refers to `what` and to `list`, which therefore stay where they are: it may be moved, since
/// a vector's elements and what a pointer points to stay.
struct bound_side {
  known_ptr what;
  std::vector<std::int64_t> list;  ///< numbers of the elements, if it goes by indices
  std::unique_ptr<walker> at;
};

/// Throws fault if an instance is not ready, if indices cannot be read here or lie outside of the
/// instance, and sinew::error if it has been destroyed.
[[nodiscard]] bound_side bind(const instance_table& table, const side_wire& s,
                              const window& which = {});

/// Whether an element is among these more than once.
[[nodiscard]] bool any_twice(std::vector<std::int64_t> list);

/// Addresses of the elements of a side, one after another.
class address_list {
 public:
  /// Of an instance: as mapped here, or as its owner `far()` has them.
  address_list(const instance_table& table, const bound_side& s);
  /// Of elements packed in memory here.
  address_list(std::byte* packed, std::size_t bytes) noexcept : here_(packed), bytes_(bytes) {}

  /// Of the next `to.size()` elements.
  void next(std::span<std::uint64_t> to) noexcept;
  /// The rank whose private memory it is; every_rank: addresses are those of this process.
  [[nodiscard]] job_rank far() const noexcept { return far_; }

 private:
  walker* at_ = nullptr;              ///< null: `here_`
  std::vector<std::uint64_t> bases_;  ///< of each part
  job_rank far_ = every_rank;
  std::byte* here_ = nullptr;
  std::size_t bytes_ = 0;
};

/// In the owner's memory.
[[nodiscard]] inline std::uint64_t address_in(const known& k, const run& r) noexcept {
  SINEW_EXPECT(k.kind == memory_kind::heap && k.place(r.part).address != 0);
  return k.place(r.part).address + static_cast<std::uint64_t>(r.offset);
}

}  // namespace sinew::region
