// SPDX-License-Identifier: BSD-3-Clause
// Numbers that name something: ranks, tags, contexts. Each kind is a type of its own, so that none
// can be handed over in the place of another.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew {

/// An integer type all of whose values `Value` has.
template <class Number, class Value>
concept fits_in = std::integral<Number> && std::is_signed_v<Number> <= std::is_signed_v<Value> &&
                  std::numeric_limits<Number>::digits <= std::numeric_limits<Value>::digits;

/// A number of one kind. A constant is converted without a word (`send(data, 0)`); a computed
/// number has to say what it is (`job_rank{i}`), and comes back by value() or index(). Costs what
/// the number costs; in memory it is the number, uninitialized where that would be. Any context,
/// never suspends. Hot.
template <class Kind, std::integral Value = std::int32_t>
class id {
 public:
  id() = default;
  template <std::integral Constant>
  consteval id(Constant number) : value_(static_cast<Value>(number)) {
    if (!std::in_range<Value>(number)) {
      throw "this constant does not fit";  // ends the compilation
    }
  }
  template <fits_in<Value> Number>
  constexpr explicit id(Number number) noexcept : value_(number) {}
  /// Of an element of a container. Undefined if the number does not fit.
  [[nodiscard]] static constexpr id of_index(std::size_t i) noexcept {
    SINEW_EXPECT(std::in_range<Value>(i));
    return id(static_cast<Value>(i));
  }

  [[nodiscard]] constexpr Value value() const noexcept { return value_; }
  /// For containers that have one element for each; not of a negative number.
  [[nodiscard]] constexpr std::size_t index() const noexcept {
    SINEW_EXPECT(std::in_range<std::size_t>(value_));
    return static_cast<std::size_t>(value_);
  }
  /// Whether it is one of the `count` that are numbered from 0.
  [[nodiscard]] constexpr bool below(Value count) const noexcept {
    return value_ >= 0 && value_ < count;
  }

  constexpr id& operator++() noexcept {
    ++value_;
    return *this;
  }
  friend constexpr bool operator==(id, id) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(id, id) noexcept = default;
  [[nodiscard]] friend std::string to_string(id number) { return std::to_string(number.value_); }
  /// For streams, those of tests above all.
  template <class Char>
  friend std::basic_ostream<Char>& operator<<(std::basic_ostream<Char>& out, id number) {
    return out << number.value_;
  }

 private:
  Value value_;
};

/// A rank of the job, from 0. What the fabric and one-sided communication take.
using job_rank = id<struct job_rank_kind>;
/// A rank of a communicator or group, from 0.
using comm_rank = id<struct comm_rank_kind>;
/// A rank of the job by its number on its node, from 0.
using local_rank = id<struct local_rank_kind>;
/// A message's tag.
using message_tag = id<struct message_tag_kind>;
/// What tells a communicator's messages from all others.
using context_id = id<struct context_id_kind, std::uint32_t>;

/// Nobody, where a rank may be missing.
inline constexpr job_rank no_job_rank = -1;

static_assert(std::is_trivially_copyable_v<job_rank> && sizeof(job_rank) == 4 &&
                  std::is_trivially_default_constructible_v<job_rank>,
              "headers of messages and shared memory hold them");
static_assert(!std::is_convertible_v<job_rank, comm_rank> && !std::is_convertible_v<job_rank, int>,
              "kinds do not mix");

}  // namespace sinew

template <class Kind, class Value>
struct std::hash<sinew::id<Kind, Value>> {
  std::size_t operator()(sinew::id<Kind, Value> number) const noexcept {
    return std::hash<Value>{}(number.value());
  }
};
