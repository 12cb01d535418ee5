// SPDX-License-Identifier: BSD-3-Clause
// What every rank may know of an instance: a record in the shared heap of the rank that made it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/region/handle.hpp"
#include "sinew/region/layout.hpp"

namespace sinew::region {

/// Where a part of an instance is. heap: an address in its owner's memory, else an offset in its
/// owner's part of the rma heap, of every rank's if symmetric (then `rank` is rank 0, which
/// allocates for all). 0: not allocated yet.
struct part_place {
  job_rank rank;
  std::uint64_t address;
};

enum class record_state : std::uint32_t { making, ready, failed };

inline constexpr std::size_t record_reason_bytes = 256;

/// The record is followed by its fields' places and its parts' places. Ranks of other nodes have a
/// copy, which changes no more (directory.hpp). Everything but `state`,
/// `why` and the parts' addresses is written before anybody has the handle. Those are written
/// before `state` leaves `making`, which is a release, and never change afterwards.
struct record {
  /// making -> ready or failed, once; stored with release by the creator, loaded with acquire.
  std::atomic<record_state> state;
  memory_kind kind;
  bool attached;  ///< its memory is the program's: only its creator, who owns it, looks here
  shape elements;
  std::uint32_t parts;
  std::uint32_t shift;
  std::uint32_t fields;
  std::uint64_t part_bytes;
  /// Set by the first owner that fails: only that owner writes `why`. Relaxed, since `why` is read
  /// after `state` has changed, and the message to the creator orders it before that.
  std::atomic<bool> why_is_taken;
  char why[record_reason_bytes];

  [[nodiscard]] field_place* field_list() noexcept {
    return reinterpret_cast<field_place*>(this + 1);
  }
  [[nodiscard]] part_place* places() noexcept {
    return reinterpret_cast<part_place*>(field_list() + fields);
  }
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t fields, std::size_t parts) noexcept {
    return sizeof(record) + fields * sizeof(field_place) + parts * sizeof(part_place);
  }
};

static_assert(std::atomic<record_state>::is_always_lock_free, "other processes read it");
static_assert(std::atomic<bool>::is_always_lock_free, "other processes change it");
static_assert(sizeof(record) % alignof(field_place) == 0, "field_list() follows the record");
static_assert(sizeof(field_place) % alignof(part_place) == 0, "places() follow the fields");
static_assert(std::is_trivially_destructible_v<record>, "its memory is only given back");

/// An instance as this rank has looked it up: a copy of what never changes, and the record.
struct known {
  instance id;
  layout where;
  memory_kind kind = memory_kind::heap;
  /// This rank can touch all its parts.
  bool seen = false;
  record* there = nullptr;
  std::shared_ptr<std::byte[]> kept;  ///< `there` is a copy in it, of another node's record

  [[nodiscard]] part_place place(std::uint32_t part) const noexcept {
    SINEW_EXPECT(part < where.parts);
    const part_place& p = there->places()[part];
    return kind == memory_kind::symmetric ? part_place{id.creator(), p.address} : p;
  }
  /// The owner of a private instance, or every_rank: every rank sees it.
  [[nodiscard]] job_rank private_to() const noexcept;
  [[nodiscard]] bool ready() const noexcept {
    return there->state.load(std::memory_order_acquire) == record_state::ready;
  }
};
using known_ptr = std::shared_ptr<const known>;

/// Stands for the owner of memory that all ranks have mapped.
inline constexpr job_rank every_rank = -1;

inline job_rank known::private_to() const noexcept {
  return kind == memory_kind::heap ? place(0).rank : every_rank;
}

}  // namespace sinew::region
