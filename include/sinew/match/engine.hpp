// SPDX-License-Identifier: BSD-3-Clause
// The matching contract: pairs arriving messages with posted receives by MPI's rules
// (MPI-5.0 section 3.5): messages from one source are matched in the order they arrived, receives
// that could match the same message in the order they were posted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "sinew/base/ids.hpp"

namespace sinew::match {

inline constexpr comm_rank any_source = -1;
inline constexpr message_tag any_tag = -2;

/// Who sent it and with which tag, inside one communicator (one engine serves one).
struct envelope {
  comm_rank source;
  message_tag tag;

  /// Whether a receive with this (perhaps wildcard) envelope takes `message`.
  [[nodiscard]] constexpr bool takes(const envelope& message) const noexcept {
    return (source == message.source || source == any_source) &&
           (tag == message.tag || tag == any_tag);
  }
  constexpr bool operator==(const envelope&) const noexcept = default;
};

[[nodiscard]] constexpr bool has_wildcard(const envelope& wanted) noexcept {
  return wanted.source == any_source || wanted.tag == any_tag;
}

static_assert(sizeof(envelope) == 8, "engines make it a key of 64 bits");
static_assert(envelope{any_source, any_tag}.takes({3, 4}) && envelope{3, any_tag}.takes({3, 4}) &&
              !envelope{3, any_tag}.takes({4, 4}) && !envelope{any_source, 5}.takes({3, 4}));
static_assert(has_wildcard({3, any_tag}) && has_wildcard({any_source, 4}) && !has_wildcard({3, 4}));

/// Memory for an engine's links inside each entry, so that engines never allocate per entry.
/// An engine may use it as it likes while the entry is stored. `sequence` is 0 exactly when an
/// entry that was once handed to an engine is not stored; the rest means nothing outside.
template <std::size_t Pointers>
struct links {
  std::uint64_t sequence;
  void* pointer[Pointers];
};

/// A posted receive; base of the caller's own request. Stored by address: it must not move or
/// die between post() and the moment it is returned or cancelled. Its links need no initial value.
struct receive {
  envelope wanted;
  links<4> link;
};

/// A message that has arrived; base of the caller's own record. Same rule of address. It can be
/// linked in four ways at once: by envelope, by source, by tag, and with all others.
struct message {
  envelope sent;
  links<8> link;
  std::uint64_t arrival = 0;  ///< its number among all stored, where several threads match
};
static_assert(std::is_trivially_destructible_v<receive> &&
                  std::is_trivially_destructible_v<message>,
              "engines only forget entries");

/// What matching has cost so far. Entries examined are candidates whose envelope was compared; the
/// longest is of one search. The last two: how many were stored at the fullest moment.
struct search_counts {
  std::uint64_t searches = 0;
  std::uint64_t examined = 0;
  std::uint64_t longest = 0;
  std::uint64_t most_posted = 0;
  std::uint64_t most_unexpected = 0;

  /// Of another time or another communicator: the most is that of the fuller one.
  search_counts& operator+=(const search_counts& more) noexcept {
    const auto most = [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; };
    searches += more.searches;
    examined += more.examined;
    longest = most(longest, more.longest);
    most_posted = most(most_posted, more.most_posted);
    most_unexpected = most(most_unexpected, more.most_unexpected);
    return *this;
  }
};

/// Calls on one engine are serialised by the caller. No call suspends or, once warm, allocates
/// (an engine may grow its table when the number stored reaches a new maximum; if that fails it
/// throws std::bad_alloc with nothing changed). A message's own envelope has no wildcard in it:
/// source >= 0, tag != any_tag. Grade: hot.
class engine {
 public:
  virtual ~engine() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// Returns the earliest stored message that `r` takes, removed from the engine; or stores `r`
  /// and returns null.
  [[nodiscard]] virtual message* post(receive& r) = 0;

  /// Returns the earliest posted receive that takes `m`, removed; or stores `m` and returns null.
  [[nodiscard]] virtual receive* arrive(message& m) = 0;

  /// The earliest stored message that `wanted` takes, left where it is (probe). Null if none.
  [[nodiscard]] virtual message* peek(const envelope& wanted) = 0;

  /// The same, removed (matched probe).
  [[nodiscard]] virtual message* take(const envelope& wanted) = 0;

  /// Removes a posted receive. False if it is no longer stored (already matched). `r` must have
  /// been handed to post() of this engine before. Warm.
  virtual bool cancel(receive& r) = 0;

  /// Removes a message that is stored. Warm.
  virtual void withdraw(message& m) noexcept = 0;

  [[nodiscard]] virtual std::size_t posted() const noexcept = 0;
  [[nodiscard]] virtual std::size_t unexpected() const noexcept = 0;
  [[nodiscard]] virtual const search_counts& counts() const noexcept = 0;

  /// Visits what is stored, in order of storing, for diagnosis. Cold.
  virtual void each_receive(void (*visit)(void* context, const receive&), void* context) const = 0;
  virtual void each_message(void (*visit)(void* context, const message&), void* context) const = 0;
};

/// The names of the engines, the default first. What a search costs, n being the entries stored on
/// the side that is searched:
///   hash      the default: a table of full envelopes; the same at any n, tags and wildcards
///   list      the plain reference: n
///   bins64    as PSM2: n up to 64 entries, then n / 64; n when CRC-32C sends all to one bin
///   bins1021  as UCX: n / 1021; n when tags are multiples of 1021 apart; wildcards walk a list
///   lookup4d  the rank space decomposed (Zounmevo, Afsahi): what one source has stored
///   vector    16-bit keys compared 64 at a call: n / 64 short steps
[[nodiscard]] std::span<const std::string_view> engine_names() noexcept;

/// One more, the concurrent table (table.hpp), for traffic that promises no wildcards: a receive or
/// search with one is refused (post, peek and take throw sinew::error, with nothing changed).
inline constexpr std::string_view exact_engine = "table";

/// All that make_engine() knows, separated by '|': what a setting that names one accepts.
[[nodiscard]] const char* engine_choices() noexcept;

/// Makes an engine by its name. Throws sinew::error that lists the names. Cold.
[[nodiscard]] std::unique_ptr<engine> make_engine(std::string_view name);

/// Stores in `to`, which has nothing stored, all that `from` has, in the same order. Throws
/// std::bad_alloc, with all of it in `from` still. Cold.
void move_entries(engine& from, engine& to);

/// The same between several: what has envelope `e` goes to to[place(e)]. If it comes from several
/// engines, messages go in the order of `arrival`, receives engine by engine. `to` may hold engines
/// of `from`; the others of it are empty. Cold.
void move_entries(std::span<engine* const> from, std::span<engine* const> to,
                  std::size_t (*place)(const envelope&) noexcept);

}  // namespace sinew::match
