// SPDX-License-Identifier: BSD-3-Clause
// After PSM2 (psm_mq): up to 64 entries a plain list; from the 65th on three tables of 64 bins, by
// source and tag, by tag alone, by source alone, and the list for what has neither. The bin is
// CRC-32C modulo 64.
//
// A receive stands in the one queue of its class (exact, any source, any tag, both); an arriving
// message looks into one bin of each table and the list, and the lowest sequence number wins. A
// message stands in all four, so that a receive of any class looks into one queue only.
// The cost grows with depth / 64, and with depth where the bins collide.

#include <array>

#include "match/crc32c.hpp"
#include "match/engines.hpp"
#include "match/stored_engine.hpp"
#include "sinew/base/check.hpp"

namespace sinew::match {
namespace {

constexpr std::size_t bins = 64;
constexpr std::size_t linear_limit = 64;
constexpr std::size_t tables = 3;
constexpr std::size_t list_class = tables;  ///< the class, and the lane, of the list

/// 0: exact; 1: any source; 2: any tag; 3: both.
[[nodiscard]] constexpr std::size_t bins64_class(const envelope& wanted) noexcept {
  return (wanted.source == any_source ? 1u : 0u) + (wanted.tag == any_tag ? 2u : 0u);
}

/// The bin of an envelope in the table of a class: what the class leaves open does not count.
[[nodiscard]] constexpr std::size_t bin_of(const envelope& e, std::size_t table) noexcept {
  const std::uint64_t source = table == 1 ? 0 : static_cast<std::uint32_t>(e.source.value());
  const std::uint64_t tag = table == 2 ? 0 : static_cast<std::uint32_t>(e.tag.value());
  return crc32c(0, source << 32 | tag) % bins;
}
static_assert(bins64_class({any_source, any_tag}) == list_class && bins64_class({0, 0}) < tables);
static_assert(bin_of({7, 3}, 1) == bin_of({9, 3}, 1) && bin_of({7, 3}, 2) == bin_of({7, 4}, 2));

class bins64_receives {
 public:
  void add(receive& r) noexcept {
    if (size_ == linear_limit && !hashed_) {
      spill();
    }
    append(queue_of(r), r, 0);
    ++size_;
  }

  receive* find(const envelope& sent, std::uint64_t& examined) const noexcept {
    const auto takes = [&](const receive& r) { return fits(r, sent); };
    receive* found = first_in(list_, 0, examined, takes);
    if (!hashed_) {
      return found;
    }
    for (std::size_t t = 0; t < tables; ++t) {
      found = earlier(found, first_in(table_[t][bin_of(sent, t)], 0, examined, takes));
    }
    return found;
  }

  void remove(receive& r) noexcept {
    SINEW_EXPECT(size_ != 0);
    unlink(queue_of(r), r, 0);
    if (--size_ == 0) {
      hashed_ = false;
    }
  }

  template <class Fn>
  void each(Fn&& fn) const {
    const auto visit = [&](receive& r) { return fn(&r), false; };
    find_in(list_, 0, visit);
    for (const auto& table : table_) {
      for (receive* head : table) {
        find_in(head, 0, visit);
      }
    }
  }

 private:
  [[nodiscard]] receive*& queue_of(const receive& r) noexcept {
    const std::size_t c = bins64_class(r.wanted);
    return !hashed_ || c == list_class ? list_ : table_[c][bin_of(r.wanted, c)];
  }

  void spill() noexcept {
    receive* all = list_;
    list_ = nullptr;
    hashed_ = true;
    while (all != nullptr) {
      receive& r = *all;
      unlink(all, r, 0);
      append(queue_of(r), r, 0);
    }
  }

  receive* list_ = nullptr;  ///< all of them, or while hashed_ those with both wildcards
  bool hashed_ = false;      ///< ends when the store becomes empty
  std::size_t size_ = 0;
  std::array<std::array<receive*, bins>, tables> table_{};
};

class bins64_messages {
 public:
  void add(message& m) noexcept {
    if (size_ == linear_limit && !hashed_) {
      spill();
    }
    append(list_, m, list_class);
    if (hashed_) {
      file(m);
    }
    ++size_;
  }

  message* find(const envelope& wanted, std::uint64_t& examined) const noexcept {
    const auto taken = [&](const message& m) { return fits(m, wanted); };
    const std::size_t c = bins64_class(wanted);
    if (!hashed_ || c == list_class) {
      return first_in(list_, list_class, examined, taken);
    }
    return first_in(table_[c][bin_of(wanted, c)], c, examined, taken);
  }

  void remove(message& m) noexcept {
    SINEW_EXPECT(size_ != 0 && list_ != nullptr);
    unlink(list_, m, list_class);
    if (hashed_) {
      for (std::size_t t = 0; t < tables; ++t) {
        unlink(table_[t][bin_of(m.sent, t)], m, t);
      }
    }
    if (--size_ == 0) {
      hashed_ = false;
    }
  }

  template <class Fn>
  void each(Fn&& fn) const {
    find_in(list_, list_class, [&](message& m) { return fn(&m), false; });
  }

 private:
  void file(message& m) noexcept {
    for (std::size_t t = 0; t < tables; ++t) {
      append(table_[t][bin_of(m.sent, t)], m, t);
    }
  }

  void spill() noexcept {
    hashed_ = true;
    find_in(list_, list_class, [&](message& m) { return file(m), false; });
  }

  message* list_ = nullptr;  ///< all of them
  bool hashed_ = false;      ///< all are in the tables too; ends when the store becomes empty
  std::size_t size_ = 0;
  std::array<std::array<message*, bins>, tables> table_{};
};

}  // namespace

std::unique_ptr<engine> make_bins64() {
  return std::make_unique<stored_engine<bins64_receives, bins64_messages>>("bins64");
}

}  // namespace sinew::match
