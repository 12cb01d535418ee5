// SPDX-License-Identifier: BSD-3-Clause
// After Zounmevo and Afsahi (FGCS 30, 2014): the rank space is decomposed in four dimensions, so a
// search goes straight to the queue of one source in four steps and skips all others; memory is
// allocated only where ranks have been heard of. Here each dimension is a byte of the rank.
// Receives from any source stand in a queue of their own, merged by sequence number; messages also
// stand in a list of all, which receives from any source walk.
// The cost grows with what one source has stored, whatever the tags; it is no help when all the
// traffic comes from one rank.

#include <array>
#include <memory>

#include "match/engines.hpp"
#include "match/stored_engine.hpp"
#include "sinew/base/check.hpp"

namespace sinew::match {
namespace {

constexpr std::size_t width = 256;

[[nodiscard]] constexpr std::size_t coordinate(std::uint32_t source, int dimension) noexcept {
  return source >> (8 * dimension) & (width - 1);
}

static_assert(coordinate(0x04030201u, 0) == 1 && coordinate(0x04030201u, 3) == 4);

/// What one hyperplane of the rank space holds: planes of one dimension less.
template <class Entry, int Dimension>
struct plane {
  std::array<std::unique_ptr<plane<Entry, Dimension - 1>>, width> of;

  [[nodiscard]] Entry* at(std::uint32_t source) const noexcept {
    const auto& next = of[coordinate(source, Dimension)];
    return next == nullptr ? nullptr : next->at(source);
  }
  /// Makes what is missing on the way; throws std::bad_alloc.
  [[nodiscard]] Entry*& make(std::uint32_t source) {
    auto& next = of[coordinate(source, Dimension)];
    if (next == nullptr) {
      next = std::make_unique<plane<Entry, Dimension - 1>>();
    }
    return next->make(source);
  }
  /// Of a source that make() has been called for.
  [[nodiscard]] Entry*& known(std::uint32_t source) noexcept {
    SINEW_EXPECT(of[coordinate(source, Dimension)] != nullptr);
    return of[coordinate(source, Dimension)]->known(source);
  }
  template <class Fn>
  void each(Fn&& fn) const {
    for (const auto& next : of) {
      if (next != nullptr) {
        next->each(fn);
      }
    }
  }
};

/// A line of sources: the heads of their queues.
template <class Entry>
struct plane<Entry, 0> {
  std::array<Entry*, width> head{};

  [[nodiscard]] Entry* at(std::uint32_t source) const noexcept {
    return head[coordinate(source, 0)];
  }
  [[nodiscard]] Entry*& make(std::uint32_t source) noexcept { return known(source); }
  [[nodiscard]] Entry*& known(std::uint32_t source) noexcept { return head[coordinate(source, 0)]; }
  template <class Fn>
  void each(Fn&& fn) const {
    for (Entry* h : head) {
      fn(h);
    }
  }
};

[[nodiscard]] constexpr std::uint32_t rank_of(const envelope& e) noexcept {
  return static_cast<std::uint32_t>(e.source.value());
}

class lookup4d_receives {
 public:
  lookup4d_receives() { (void)by_source_.make(0); }  // small jobs never allocate again

  void add(receive& r) {
    append(r.wanted.source == any_source ? any_source_ : by_source_.make(rank_of(r.wanted)), r, 0);
  }
  void remove(receive& r) noexcept {
    unlink(r.wanted.source == any_source ? any_source_ : by_source_.known(rank_of(r.wanted)), r, 0);
  }

  receive* find(const envelope& sent, std::uint64_t& examined) const noexcept {
    const auto takes = [&](const receive& r) { return fits(r, sent); };
    return earlier(first_in(by_source_.at(rank_of(sent)), 0, examined, takes),
                   first_in(any_source_, 0, examined, takes));
  }

  template <class Fn>
  void each(Fn&& fn) const {
    const auto visit = [&](receive& r) { return fn(&r), false; };
    find_in(any_source_, 0, visit);
    by_source_.each([&](receive* head) { find_in(head, 0, visit); });
  }

 private:
  receive* any_source_ = nullptr;
  plane<receive, 3> by_source_;
};

class lookup4d_messages {
 public:
  lookup4d_messages() { (void)by_source_.make(0); }

  void add(message& m) {
    append(by_source_.make(rank_of(m.sent)), m, of_source);
    append(all_, m, among_all);
  }
  void remove(message& m) noexcept {
    unlink(by_source_.known(rank_of(m.sent)), m, of_source);
    unlink(all_, m, among_all);
  }

  message* find(const envelope& wanted, std::uint64_t& examined) const noexcept {
    const auto taken = [&](const message& m) { return fits(m, wanted); };
    if (wanted.source == any_source) {
      return first_in(all_, among_all, examined, taken);
    }
    return first_in(by_source_.at(rank_of(wanted)), of_source, examined, taken);
  }

  template <class Fn>
  void each(Fn&& fn) const {
    find_in(all_, among_all, [&](message& m) { return fn(&m), false; });
  }

 private:
  static constexpr std::size_t of_source = 0;
  static constexpr std::size_t among_all = 1;

  message* all_ = nullptr;
  plane<message, 3> by_source_;
};

}  // namespace

std::unique_ptr<engine> make_lookup4d() {
  return std::make_unique<stored_engine<lookup4d_receives, lookup4d_messages>>("lookup4d");
}

}  // namespace sinew::match
