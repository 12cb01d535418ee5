// SPDX-License-Identifier: BSD-3-Clause
// What travels between ranks of different nodes: active messages of the module. Those of a pair are
// handled in their order, and so what they ask for is done in that order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sinew/fabric/fabric.hpp"

namespace sinew::rma::wire {

enum class kind : std::uint8_t {
  wake,      ///< nothing else: look at what is waited for. All zero
  hello,     ///< `where`: 1 if it is to be answered. Payload: `greeting`
  put,       ///< payload: bytes for `where`
  get,       ///< payload: how many bytes (8) of what is at `where`
  put_runs,  ///< payload: a `run` and its elements, and so on
  get_runs,  ///< payload: runs, whose elements are sent one behind the other
  change,    ///< of the word at `where`. Payload: `operands`; a: atomic_op, b: its width
  combine,   ///< payload: elements for accumulate; a: combine, b: element
  flush,     ///< answered when all before it has been handled
  answer,    ///< payload: what `request` wants
  service,   ///< payload: the service's own; a: service, `where`: bytes of the answer
};
inline constexpr std::uint8_t kinds = 11;

/// What `where` is.
enum class space : std::uint8_t { heap, address };

/// In the 16 bytes of the fabric's header.
struct head {
  kind what = kind::wake;
  space in = space::heap;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint32_t request = 0;  ///< of the asking rank; 0: no answer is wanted
  std::uint64_t where = 0;
};
static_assert(sizeof(head) == sizeof(fabric::header) && std::is_trivially_copyable_v<head>);
static_assert(std::has_unique_object_representations_v<head>);

[[nodiscard]] inline fabric::header packed(const head& h) noexcept {
  return std::bit_cast<fabric::header>(h);
}
[[nodiscard]] inline head unpacked(const fabric::header& h) noexcept {
  return std::bit_cast<head>(h);
}

/// Whether it may be held back until its sender asks whether it is done, or tells of it.
[[nodiscard]] inline bool may_wait(const head& h) noexcept {
  return h.request == 0 &&
         (h.what == kind::put || h.what == kind::put_runs || h.what == kind::combine);
}

/// What a rank says of its heap.
struct greeting {
  std::uint64_t base;  ///< its address there
  fabric::remote_key key;
  std::uint64_t symmetric;  ///< heap_sizes
  std::uint64_t local;
};
static_assert(std::is_trivially_copyable_v<greeting>);

/// `count` elements, `stride` bytes from one to the next.
struct run {
  std::uint64_t where;
  std::int64_t stride;
  std::uint32_t bytes;  ///< of an element
  std::uint32_t count;
};
static_assert(sizeof(run) == 24 && std::has_unique_object_representations_v<run>);

struct operands {
  std::uint64_t operand;
  std::uint64_t compare;
};

}  // namespace sinew::rma::wire
