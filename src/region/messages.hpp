// SPDX-License-Identifier: BSD-3-Clause
// What the module's messages carry: descriptions of work as plain data, which mean the same on
// every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "region/record.hpp"
#include "region/walker.hpp"
#include "sinew/event/profile.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/region/handle.hpp"
#include "sinew/region/operators.hpp"

namespace sinew::region {

/// One side of a transfer, checked: its section is resolved.
struct side_wire {
  std::uint64_t what = 0;   ///< instance
  std::uint64_t index = 0;  ///< instance of indices, or 0: `where` counts
  box where{};
  box index_where{};
  std::uint16_t field = 0;
  std::uint16_t index_field = 0;

  [[nodiscard]] instance of() const noexcept { return instance::from_bits(what); }
};

enum class action : std::uint8_t { copy, fill, reduce };

inline constexpr std::size_t most_fill_bytes = 256;

inline constexpr std::uint32_t every_part = 0xffffffff;

struct transfer {
  side_wire from;
  side_wire to;
  std::uint64_t elements = 0;
  std::uint64_t op = 0;
  std::uint64_t post = 0;           ///< event to trigger; 0: none yet
  std::uint32_t part = every_part;  ///< reduce: the only one of the target, or all
  std::uint32_t bytes = 0;          ///< of an element of the source
  action what = action::copy;
  sharing how = sharing::exclusive;
  /// Its sides lie on several nodes: who does it leaves out what lies in parts of the source (of a
  /// fill: of the target) that it does not see, since another rank does that.
  bool spread = false;
  sinew::event::profile_request profile;
  std::byte value[most_fill_bytes] = {};
};

/// An owner is asked for memory for one part.
struct allocation {
  std::uint64_t id;         ///< the instance, as its creator knows it
  std::uint64_t record_at;  ///< offset in the creator's heap
  std::uint64_t bytes;
  std::uint32_t part;
  memory_kind kind;
};

/// A part, as its creator names it to its owner.
struct part_name {
  std::uint64_t id;  ///< the instance
  std::uint32_t part;
  memory_kind kind;
};

/// An owner of another node has memory for a part, or says why not.
struct allocated_part {
  std::uint64_t id;  ///< the instance, as its creator knows it
  std::uint64_t address;
  std::uint32_t part;
  char why[record_reason_bytes];
};

/// Elements of a transfer for memory of the rank that gets it: runs follow, each a parcel_run and
/// its elements, padded to 8 bytes.
struct parcel {
  std::uint64_t stream;  ///< the sender's number for who wants an answer; 0: nobody does
  std::uint64_t post;    ///< event to trigger; 0: none
  std::uint64_t op;
  std::uint32_t runs;
  action what;
  memory_kind kind;  ///< heap: addresses are the owner's, else offsets in its rma heap
  sharing how;
};
struct parcel_run {
  std::uint64_t address;
  std::int64_t step;
  std::uint32_t count;
  std::uint32_t bytes;  ///< of an element
};

/// Bytes of a copy that their owner-to-be fetches from the sender's memory.
struct fetch_piece {
  std::uint64_t stream;   ///< the sender's number, for the answer
  std::uint64_t address;  ///< as in parcel_run
  std::uint64_t bytes;
  std::uint64_t source;  ///< an address of the sender's, under `key`
  fabric::remote_key key;
  memory_kind kind;
};

/// A rank of another node is told of an instance: bytes of its record follow. `total` 0: there is
/// none of this name.
struct record_piece {
  std::uint64_t id;
  std::uint64_t total;
  std::uint64_t first;
};

/// Contributions to one part of a target.
struct log_place {
  std::uint64_t what;  ///< the target
  std::uint64_t op;
  std::uint64_t done;    ///< event to trigger; 0: none
  std::uint64_t offset;  ///< in the sender's heap; a batch carries its entries instead
  std::uint64_t count;
  std::uint32_t part;
  std::uint16_t field;

  [[nodiscard]] instance target() const noexcept { return instance::from_bits(what); }
};

static_assert(std::is_trivially_copyable_v<transfer> && std::is_trivially_copyable_v<parcel> &&
                  std::is_trivially_copyable_v<parcel_run> &&
                  std::is_trivially_copyable_v<fetch_piece> &&
                  std::is_trivially_copyable_v<allocated_part> &&
                  std::is_trivially_copyable_v<record_piece> &&
                  std::is_trivially_copyable_v<allocation> &&
                  std::is_trivially_copyable_v<part_name> &&
                  std::is_trivially_copyable_v<log_place>,
              "messages are copied as bytes");
static_assert(sizeof(log_place) % 8 == 0, "entries follow it in a message");
static_assert(sizeof(parcel) % 8 == 0 && sizeof(parcel_run) % 8 == 0,
              "elements follow them in a message");

}  // namespace sinew::region
