// What the module's messages carry: descriptions of work as plain data, which mean the same on
// every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "region/walker.hpp"
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

struct transfer {
  side_wire from;
  side_wire to;
  std::uint64_t elements = 0;
  std::uint64_t op = 0;
  std::uint64_t post = 0;   ///< event to trigger; 0: none yet
  std::uint32_t part = 0;   ///< reduce: of the target
  std::uint32_t bytes = 0;  ///< of an element of the source
  action what = action::copy;
  sharing how = sharing::exclusive;
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

/// Elements of a transfer, which follow packed.
struct delivery {
  transfer of;
  std::uint64_t first;  ///< element of the transfer
  std::uint64_t count;
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

static_assert(std::is_trivially_copyable_v<transfer> && std::is_trivially_copyable_v<delivery> &&
                  std::is_trivially_copyable_v<allocation> &&
                  std::is_trivially_copyable_v<log_place>,
              "messages are copied as bytes");
static_assert(sizeof(log_place) % 8 == 0, "entries follow it in a message");
static_assert(sizeof(delivery) % 8 == 0, "elements follow it in a message");

}  // namespace sinew::region
