// SPDX-License-Identifier: BSD-3-Clause
// Packing and unpacking. Any piece [from, to) of the packed bytes is found by descending the tree:
// whole children in the middle are copied by tight loops, only the first and last child of a level
// are entered again.

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "layout/node.hpp"
#include "sinew/base/check.hpp"

namespace sinew::layout {
namespace {

enum class direction { pack, unpack };

template <std::size_t Bytes>
using constant = std::integral_constant<std::size_t, Bytes>;

/// Moves bytes between the typed memory and the packed side, which advances.
template <direction Way>
class mover {
 public:
  explicit mover(std::byte* packed) noexcept : packed_(packed) {}

  /// Where the packed side has got to.
  [[nodiscard]] const std::byte* packed() const noexcept { return packed_; }

  /// All of `n` with its origin at `memory`.
  void whole(const node& n, std::byte* memory) noexcept {
    switch (n.form) {
      case node::shape::runs:
        return runs(n, memory);
      case node::shape::loop:
        return loop(*n.child, n.count, n.stride, memory);
      case node::shape::sequence:
        for (const node::part& p : n.parts) {
          whole(*p.child, memory + p.offset);
        }
        return;
    }
  }

  /// `count` whole children, `stride` apart.
  void loop(const node& child, std::size_t count, std::ptrdiff_t stride,
            std::byte* memory) noexcept {
    if (child.single_run()) {
      return strided(child.bytes, count, stride, memory + child.runs[0].offset);
    }
    for (std::size_t i = 0; i < count; ++i, memory += stride) {
      whole(child, memory);
    }
  }

  /// Packed bytes [from, to) of `n`; from < to <= n.bytes.
  void piece(const node& n, std::byte* memory, std::size_t from, std::size_t to) noexcept {
    SINEW_EXPECT(from < to && to <= n.bytes);
    if (from == 0 && to == n.bytes) {
      return whole(n, memory);
    }
    switch (n.form) {
      case node::shape::runs:
        return piece_of_runs(n, memory, from, to);
      case node::shape::loop:
        return piece_of_loop(*n.child, n.stride, memory, from, to);
      case node::shape::sequence:
        return piece_of_sequence(n, memory, from, to);
    }
  }

  void piece_of_loop(const node& child, std::ptrdiff_t stride, std::byte* memory, std::size_t from,
                     std::size_t to) noexcept {
    SINEW_EXPECT(from < to && child.bytes != 0);
    std::size_t i = from / child.bytes;
    const std::size_t last = to / child.bytes;
    const auto at = [&](std::size_t k) { return memory + static_cast<std::ptrdiff_t>(k) * stride; };
    if (const std::size_t begun = from % child.bytes; begun != 0) {
      const std::size_t end = std::min(child.bytes, to - i * child.bytes);
      piece(child, at(i), begun, end);
      if (i == last) {
        return;
      }
      ++i;
    }
    if (i < last) {
      loop(child, last - i, stride, at(i));
    }
    if (const std::size_t rest = to % child.bytes; rest != 0) {
      piece(child, at(last), 0, rest);
    }
  }

 private:
  /// `bytes` may be a constant, known to the compiler. The packed place is passed by value: a
  /// store through it could otherwise change packed_ for all the compiler knows.
  template <class Bytes>
  static void move_at(std::byte* packed, std::byte* memory, Bytes bytes) noexcept {
    if constexpr (Way == direction::pack) {
      std::memcpy(packed, memory, bytes);
    } else {
      std::memcpy(memory, packed, bytes);
    }
  }

  void move(std::byte* memory, std::size_t bytes) noexcept {
    move_at(packed_, memory, bytes);
    packed_ += bytes;
  }

  /// Calls fn with a block size: constant for the usual ones, so that no call is made per block.
  template <class Fn>
  static void by_size(std::size_t bytes, Fn&& fn) noexcept {
    switch (bytes) {
      case 1:
        return fn(constant<1>{});
      case 2:
        return fn(constant<2>{});
      case 4:
        return fn(constant<4>{});
      case 8:
        return fn(constant<8>{});
      case 12:
        return fn(constant<12>{});
      case 16:
        return fn(constant<16>{});
      case 24:
        return fn(constant<24>{});
      case 32:
        return fn(constant<32>{});
      default:
        return fn(bytes);
    }
  }

  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as in a vector datatype
  void strided(std::size_t bytes, std::size_t count, std::ptrdiff_t stride,
               std::byte* memory) noexcept {
    by_size(bytes, [&](auto block) {
      std::byte* p = packed_;
      std::byte* m = memory;
      for (std::size_t i = count; i != 0; --i, m += stride, p += block) {
        move_at(p, m, block);
      }
      packed_ = p;
    });
  }

  void runs(const node& n, std::byte* memory) noexcept {
    const std::size_t count = n.runs.size() - 1;
    if (count == 1) {
      return move(memory + n.runs[0].offset, n.bytes);
    }
    whole_runs(n, 0, count, memory);
  }

  /// Runs [from, to) of `n`, all whole.
  void whole_runs(const node& n, std::size_t from, std::size_t to, std::byte* memory) noexcept {
    SINEW_EXPECT(from < to && to < n.runs.size());
    const node::run* const list = n.runs.data();
    std::byte* const packed = packed_;
    const std::size_t begin = list[from].start;
    if (n.uniform != 0) {
      by_size(n.uniform, [&](auto block) {
        std::byte* p = packed;
        for (std::size_t i = from; i < to; ++i, p += block) {
          move_at(p, memory + list[i].offset, block);
        }
      });
    } else {
      for (std::size_t i = from; i < to; ++i) {
        move_some(packed + (list[i].start - begin), memory + list[i].offset,
                  list[i + 1].start - list[i].start);
      }
    }
    packed_ = packed + (list[to].start - begin);
  }

  /// Lengths that vary from run to run: short ones without a call.
  static void move_some(std::byte* packed, std::byte* memory, std::size_t bytes) noexcept {
    if (bytes == 8) {
      return move_at(packed, memory, constant<8>{});
    }
    if (bytes == 4) {
      return move_at(packed, memory, constant<4>{});
    }
    if (bytes > 8 && bytes <= 16) {  // two overlapping halves
      move_at(packed, memory, constant<8>{});
      return move_at(packed + bytes - 8, memory + bytes - 8, constant<8>{});
    }
    move_at(packed, memory, bytes);
  }

  void piece_of_runs(const node& n, std::byte* memory, std::size_t from, std::size_t to) noexcept {
    std::size_t i = holding(n.runs, from);
    const auto part_of_run = [&] {
      const node::run& r = n.runs[i];
      const std::size_t end = std::min(to, n.runs[i + 1].start);
      move(memory + r.offset + static_cast<std::ptrdiff_t>(from - r.start), end - from);
      from = end;
      ++i;
    };
    if (from != n.runs[i].start) {
      part_of_run();
    }
    if (from == to) {
      return;
    }
    const std::size_t last = to == n.bytes ? n.runs.size() - 1 : holding(n.runs, to);
    if (i < last) {
      whole_runs(n, std::exchange(i, last), last, memory);
    }
    from = n.runs[last].start;
    if (from < to) {
      part_of_run();
    }
  }

  void piece_of_sequence(const node& n, std::byte* memory, std::size_t from,
                         std::size_t to) noexcept {
    for (std::size_t i = holding(n.parts, from); from < to; ++i) {
      const node::part& p = n.parts[i];
      const std::size_t end = std::min(to, p.start + p.child->bytes);
      piece(*p.child, memory + p.offset, from - p.start, end - p.start);
      from = end;
    }
  }

  /// The index of the last entry that starts at or before `from`.
  template <class List>
  [[nodiscard]] static std::size_t holding(const List& list, std::size_t from) noexcept {
    SINEW_EXPECT(!list.empty() && list.front().start <= from);
    const auto after = std::upper_bound(
        list.begin(), list.end(), from,
        [](std::size_t packed, const auto& entry) { return packed < entry.start; });
    return static_cast<std::size_t>(after - list.begin()) - 1;
  }

  std::byte* packed_;
};

/// The part of [offset, offset + bytes) that exists.
[[nodiscard]] std::size_t available(const datatype& t, std::size_t count, std::size_t offset,
                                    std::size_t bytes) noexcept {
  std::size_t total = 0;
  if (__builtin_mul_overflow(t.size(), count, &total)) {
    total = SIZE_MAX;
  }
  return offset >= total ? 0 : std::min(bytes, total - offset);
}

template <direction Way>
std::size_t transfer(const datatype& t, std::size_t count, std::byte* memory, std::size_t offset,
                     std::byte* packed, std::size_t bytes) noexcept {
  bytes = available(t, count, offset, bytes);
  if (bytes == 0) {
    return 0;
  }
  if (t.dense()) {
    if constexpr (Way == direction::pack) {
      std::memcpy(packed, memory + offset, bytes);
    } else {
      std::memcpy(memory + offset, packed, bytes);
    }
    return bytes;
  }
  mover<Way> moved(packed);
  moved.piece_of_loop(*reader::runs(t), t.extent(), memory, offset, offset + bytes);
  SINEW_ENSURE(moved.packed() == packed + bytes);
  return bytes;
}

}  // namespace

std::size_t pack(const datatype& t, std::size_t count, const void* base, std::size_t offset,
                 std::span<std::byte> out) noexcept {
  // Packing only reads the typed side; the mover is one template for both ways.
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(base));
  return transfer<direction::pack>(t, count, memory, offset, out.data(), out.size());
}

std::size_t unpack(const datatype& t, std::size_t count, void* base, std::size_t offset,
                   std::span<const std::byte> in) noexcept {
  auto* const packed = const_cast<std::byte*>(in.data());
  return transfer<direction::unpack>(t, count, static_cast<std::byte*>(base), offset, packed,
                                     in.size());
}

void copy(const datatype& from_type, std::size_t from_count, const void* from,
          const datatype& to_type, std::size_t to_count, void* to) {
  const std::size_t total = std::min(available(from_type, from_count, 0, SIZE_MAX),
                                     available(to_type, to_count, 0, SIZE_MAX));
  if (total == 0) {
    return;
  }
  if (to_type.dense()) {
    pack(from_type, from_count, from, 0, {static_cast<std::byte*>(to), total});
    return;
  }
  if (from_type.dense()) {
    unpack(to_type, to_count, to, 0, {static_cast<const std::byte*>(from), total});
    return;
  }
  constexpr std::size_t most = std::size_t{64} << 10;
  const std::size_t room = std::min(total, most);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(room);
  for (std::size_t done = 0; done < total;) {
    const std::size_t now = std::min(room, total - done);
    pack(from_type, from_count, from, done, {buffer.get(), now});
    unpack(to_type, to_count, to, done, {buffer.get(), now});
    done += now;
  }
}

}  // namespace sinew::layout
