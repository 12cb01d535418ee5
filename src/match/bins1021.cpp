// SPDX-License-Identifier: BSD-3-Clause
// After UCX (ucp/tag): 1021 bins chosen by (low half mod 1021) xor (high half mod 1021) of the
// 64-bit key, here source << 32 | tag. Receives with any wildcard share one queue; while it is not
// empty, an arriving message merges it with its bin by sequence number. A message stands in its bin
// and in a list of all, which receives with wildcards walk.
// The cost grows with depth / 1021; with depth where keys collide (tags a multiple of 1021 apart),
// behind wildcard receives, and for wildcard receives among many messages.

#include <array>
#include <bit>

#include "match/engines.hpp"
#include "match/stored_engine.hpp"

namespace sinew::match {
namespace {

constexpr std::uint32_t modulus = 1021;
constexpr std::size_t slots = 1024;  ///< what xor can make of two numbers below the modulus

[[nodiscard]] constexpr std::size_t bin_of(const envelope& e) noexcept {
  return static_cast<std::uint32_t>(e.tag.value()) % modulus ^
         static_cast<std::uint32_t>(e.source.value()) % modulus;
}

static_assert(std::bit_ceil(modulus) == slots, "xor of two numbers below the modulus is a slot");
static_assert(bin_of({5, 1021 + 3}) == bin_of({5, 3}) && bin_of({-1, -1}) < slots);

[[nodiscard]] constexpr bool is_wild(const envelope& e) noexcept {
  return e.source == any_source || e.tag == any_tag;
}

class bins1021_receives {
 public:
  void add(receive& r) noexcept { append(queue_of(r.wanted), r, 0); }
  void remove(receive& r) noexcept { unlink(queue_of(r.wanted), r, 0); }

  receive* find(const envelope& sent, std::uint64_t& examined) const noexcept {
    const auto takes = [&](const receive& r) { return fits(r, sent); };
    receive* const exact = first_in(bins_[bin_of(sent)], 0, examined, takes);
    if (wild_ == nullptr) {
      return exact;
    }
    // The first that takes it, unless the exact one turns out to be older.
    receive* const wild = find_in(wild_, 0, [&](const receive& r) {
      ++examined;
      return takes(r) || (exact != nullptr && exact->link.sequence < r.link.sequence);
    });
    return wild != nullptr && takes(*wild) ? earlier(exact, wild) : exact;
  }

  template <class Fn>
  void each(Fn&& fn) const {
    const auto visit = [&](receive& r) { return fn(&r), false; };
    find_in(wild_, 0, visit);
    for (receive* head : bins_) {
      find_in(head, 0, visit);
    }
  }

 private:
  [[nodiscard]] receive*& queue_of(const envelope& wanted) noexcept {
    return is_wild(wanted) ? wild_ : bins_[bin_of(wanted)];
  }

  receive* wild_ = nullptr;
  std::array<receive*, slots> bins_{};
};

class bins1021_messages {
 public:
  void add(message& m) noexcept {
    append(bins_[bin_of(m.sent)], m, own_bin);
    append(all_, m, among_all);
  }
  void remove(message& m) noexcept {
    unlink(bins_[bin_of(m.sent)], m, own_bin);
    unlink(all_, m, among_all);
  }

  message* find(const envelope& wanted, std::uint64_t& examined) const noexcept {
    const auto taken = [&](const message& m) { return fits(m, wanted); };
    if (is_wild(wanted)) {
      return first_in(all_, among_all, examined, taken);
    }
    return first_in(bins_[bin_of(wanted)], own_bin, examined, taken);
  }

  template <class Fn>
  void each(Fn&& fn) const {
    find_in(all_, among_all, [&](message& m) { return fn(&m), false; });
  }

 private:
  static constexpr std::size_t own_bin = 0;
  static constexpr std::size_t among_all = 1;

  message* all_ = nullptr;
  std::array<message*, slots> bins_{};
};

}  // namespace

std::unique_ptr<engine> make_bins1021() {
  return std::make_unique<stored_engine<bins1021_receives, bins1021_messages>>("bins1021");
}

}  // namespace sinew::match
