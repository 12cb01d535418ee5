// SPDX-License-Identifier: BSD-3-Clause
// The algorithm of the concurrent table; Steps is how it meets other threads (see real_steps).
//
// A bucket is a line at a fixed address. Line i at level l stores exactly the keys whose hash h has
// h mod 2^l = i. Level 0 is a line not yet born (a fresh page): its keys are with an ancestor,
// which is found by dropping upper bits of i. A key is in a line once; equal keys share its entry,
// whose value becomes a queue when there are several. Since partners never wait for each other, an
// entry has one side only.
//
// Growth raises the level, nothing else. Whoever next comes to a line below that level splits it:
// line i at level l becomes i and i + 2^l at level l + 1. No operation does more than its own
// line's splits, nothing is moved in memory but entries, no pointer to a line ever dies.
//
// Why it is linearizable. All of a line but its control word, its chain and its queues included, is
// touched only under its held bit; the bit is taken by a compare-and-swap from the very word that
// was looked at, which says born, free, and level l. That level alone decides whether the line is
// the home of h, so the check stays true while the bit is held; any way of having computed i (from
// a stale level) will do. One key has one home at any moment: homes change only by splitting and
// merging, which hold the lines concerned (a child about to be born is reachable only through its
// parent: nobody ever writes to an unborn line). So operations on one key are ordered by the held
// bit of its home at the moment, and each takes effect while it holds it. Operations on different
// keys touch disjoint entries; each has its one moment inside its call, so any set of keys is
// linearizable together (locality).
//
// Order. Equal keys are in one queue, appended at its end and taken from its beginning.
//
// Deadlock. An operation holds one line. A split holds a parent and gives birth to a child; a merge
// holds parent, then child; nobody holds a child and waits for its parent. A stripe of the stock is
// taken inside a line and nothing inside a stripe.
//
// Alone. Most tables are used by one thread. The first one that comes is the sole user: its insert
// takes no held bit, by no locked instruction, but says that it is inside. The second one to come
// opens the table to everybody, and waits until the sole user is out; only then does it look at a
// line. The sole user sets `inside_` and then looks at `user_`, who comes later sets `user_` and
// then looks at `inside_`: one of them sees the other (Dekker). The sole user's store and load are
// ordered by the other's membarrier. So while it is inside alone nobody else is in any operation,
// which is more than a held bit gives. What is not decided within a line it does like everybody.
//
// Shrinking (trim) lowers the level first and then visits each line that stays, holding it and so
// making it current. Under that lock it finds the child born or not; a splitter reads it under
// the same lock, so after the visit it can only see the lowered value (or a value raised again,
// which resizing_ excludes until trim ends). Hence after the visits the upper lines are unborn and
// stay so, and their pages may be forgotten. A visitor with a stale level who looks at such a line
// sees zero before and after, goes to the ancestor, and writes nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "match/table_cells.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/membarrier.hpp"
#include "sinew/match/table.hpp"

namespace sinew::match {

/// Where a key belongs. Two secret words, odd, spread it, so that nobody outside can choose keys
/// that collide; the two products after that make of regular keys what random ones would be.
///
/// Tags 8, 16, ... 56 apart follow each other, line by line: lines that were not cached come by
/// the processor's own prefetching then. Nearer tags are far apart: they are often those of
/// threads, whose lines should not be prefetched by one another. Longer runs would spread less
/// evenly.
struct table_hash {
  std::uint64_t of_envelope;
  std::uint64_t of_context;

  [[nodiscard]] std::uint64_t operator()(std::uint64_t envelope,
                                         std::uint32_t context) const noexcept {
    constexpr std::uint64_t along = 7 << 3;
    std::uint64_t x = (envelope & ~along) * of_envelope + context * of_context;
    x = (x ^ (x >> 32)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 29)) * 0x94D049BB133111EBu;
    return __builtin_bswap64(x) + (envelope & along) / 8;
  }
};

template <class Steps>
class table_core {
 public:
  using outcome = table::outcome;

  /// `asymmetric`: membarrier may be used.
  table_core(const table_options& options, table_hash hash, bool asymmetric)
      : hash_(hash),
        shape_(shape_at(level_for(options.first_lines))),
        user_(asymmetric ? nobody : everybody),
        first_level_(level_for(options.first_lines)),
        last_level_(std::max(first_level_, level_for(options.most_lines))),
        lines_(std::size_t{1} << last_level_),
        stock_(options.most_cells) {
    SINEW_EXPECT(first_level_ >= 1 && last_level_ <= level_bits >> level_shift);
    // Where a huge page's worth of lines is sure to be used: at once, or after growing so far.
    constexpr std::size_t per_huge_page = (std::size_t{2} << 20) / sizeof(cell);
    lines_.use_huge_pages(lines() >= per_huge_page ? 0 : per_huge_page);
    for (std::size_t i = 0; i < lines(); ++i) {
      lines_[i].control.store(first_level_ << level_shift, std::memory_order_relaxed);
    }
  }

  /// (Keys by reference: 12 bytes by value would be written in three pieces and read in two, which
  /// a processor cannot forward: 10 ns.) The two usual cases, a new key and a partner that waits
  /// alone, are decided here within the one line, in one piece of code without a call, whose few
  /// values stay in registers; the rest goes to insert_slowly.
  [[nodiscard]] outcome insert(const table_key& key, table_side side, void* value) noexcept {
    const parts k = parts_of(key);
    const std::uint64_t fresh = word_of(value) | static_cast<std::uint64_t>(side);
    const std::uint64_t shape = look_at_shape();
    cell& line = line_of(k.hash, shape);
    const bool alone = enter_alone();
    const std::uint32_t seen = look(line);
    if (!is_free(seen, shape) || (!alone && !try_hold(line, seen))) [[unlikely]] {
      if (alone) {
        leave_alone();
      }
      return insert_slowly(k.envelope, k.context, fresh, nullptr, 0);
    }
    Steps::step();
#pragma GCC unroll 3
    for (unsigned i = 0; i < 3; ++i) {
      if (!is_entry(line, i, k)) {
        continue;
      }
      const std::uint64_t stored = line.word[3 + i];
      if (((stored ^ fresh) & (side_bit | queue_bit)) != side_bit) [[unlikely]] {
        return insert_slowly_in(k, fresh, line, seen, alone);
      }
      Steps::step();
      line.word[3 + i] = 0;
      leave(line, seen, alone);
      return {value_of(stored), status::ok()};
    }
    if (chain_of(seen) == 0) [[likely]] {
#pragma GCC unroll 3
      for (unsigned i = 0; i < 3; ++i) {
        if (line.word[3 + i] != 0) {
          continue;
        }
        Steps::step();
        store_in(line, i, k, fresh);
        leave(line, seen, alone);
        return {nullptr, status::pending()};
      }
    }
    return insert_slowly_in(k, fresh, line, seen, alone);
  }

  [[nodiscard]] void* take(const table_key& key, table_side side) noexcept {
    const parts k = parts_of(key);
    home h = hold(k.hash);
    const place at = find(h, k);
    void* found = nullptr;
    if (at.where != nullptr && side_of(value_at(at)) == side) {
      found = remove_first(value_at(at), k.hash);
      if (value_at(at) == 0 && at.where != h.line) {
        unchain_empty(h, k.hash);
      }
    }
    release(h);
    return found;
  }

  [[nodiscard]] void* peek(const table_key& key, table_side side) noexcept {
    const parts k = parts_of(key);
    home h = hold(k.hash);
    const place at = find(h, k);
    void* found = nullptr;
    if (at.where != nullptr && side_of(value_at(at)) == side) {
      found = first_of(value_at(at));
    }
    release(h);
    return found;
  }

  [[nodiscard]] bool erase(const table_key& key, table_side side, const void* value) noexcept {
    const parts k = parts_of(key);
    home h = hold(k.hash);
    const place at = find(h, k);
    bool found = false;
    if (at.where != nullptr && side_of(value_at(at)) == side) {
      found = remove_this(value_at(at), word_of(value), k.hash);
      if (value_at(at) == 0 && at.where != h.line) {
        unchain_empty(h, k.hash);
      }
    }
    release(h);
    return found;
  }

  bool trim() noexcept {
    join();
    if (!try_resize()) {
      return false;
    }
    const std::uint32_t before = level();
    std::size_t keys = 0;
    each_entry([&keys](const cell&, unsigned) { ++keys; });
    const std::uint32_t goal = std::max(first_level_, level_for(keys));
    bool ok = true;
    while (ok && level() > goal) {
      ok = merge_level();
    }
    const std::uint32_t after = level();
    lines_.forget(std::size_t{1} << after, std::size_t{1} << before);
    stock_.forget_if_unused();
    end_resize();
    return ok;
  }

  /// visit(key, side, value) for everything stored, duplicates in order.
  template <class Visit>
  void each(Visit&& visit) {
    join();
    each_entry([&](const cell& c, unsigned i) {
      const std::uint64_t stored = c.word[3 + i];
      const table_key key{context_id{c.small[i]},
                          comm_rank{static_cast<std::int32_t>(c.word[i] >> 32)},
                          message_tag{static_cast<std::int32_t>(c.word[i])}};
      each_value(stored, [&](std::uint64_t word) { visit(key, side_of(stored), value_of(word)); });
    });
  }

  [[nodiscard]] std::size_t lines() const noexcept { return std::size_t{1} << level(); }
  [[nodiscard]] std::size_t cells() const noexcept { return stock_.touched(); }

 private:
  // The control word: bit 0 held, bits 1..5 level, the rest the chain.
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t level_shift = 1;
  static constexpr std::uint32_t level_bits = 31u << level_shift;
  static constexpr std::uint32_t chain_shift = 6;
  // The lower bits of a value: its side, and whether it is a queue (its upper bits: the last cell).
  static constexpr std::uint64_t side_bit = 1;
  static constexpr std::uint64_t queue_bit = 2;

  static_assert(((held | level_bits) >> chain_shift) == 0 && (held & level_bits) == 0);
  static_assert(chain_shift + 26 == 32, "a cell's index has 26 bits (table_options)");

  struct parts {
    std::uint64_t envelope;
    std::uint64_t hash;
    std::uint32_t context;
  };
  /// A line that is held. `control` is what it will be when released.
  struct home {
    cell* line;
    std::uint32_t control;
    bool crowds = false;  ///< it has just begun a chain
  };
  /// Where a key is stored: entry `slot` of `where`, null if nowhere. `free` is then a cell of this
  /// home with a free entry, null if there is none.
  struct place {
    cell* where;
    unsigned slot;
    cell* free;
  };

  [[nodiscard]] static std::uint32_t level_for(std::size_t count) noexcept {
    return std::max<std::uint32_t>(1,
                                   static_cast<std::uint32_t>(std::bit_width(count - (count > 0))));
  }
  [[nodiscard]] static std::uint64_t low_bits(std::uint64_t h, std::uint32_t level) noexcept {
    return h & ((std::uint64_t{1} << level) - 1);
  }
  [[nodiscard]] static std::uint32_t level_of(std::uint32_t control) noexcept {
    return (control & level_bits) >> level_shift;
  }
  [[nodiscard]] static std::uint32_t chain_of(std::uint32_t control) noexcept {
    return control >> chain_shift;
  }
  [[nodiscard]] static std::uint32_t next_of(const cell& c) noexcept {
    return chain_of(c.control.load(std::memory_order_relaxed));  // under the home's held bit
  }
  static void set_next(cell& c, std::uint32_t next) noexcept {
    c.control.store(next << chain_shift, std::memory_order_relaxed);  // likewise
  }
  [[nodiscard]] static std::uint64_t word_of(const void* value) noexcept {
    const auto word = reinterpret_cast<std::uintptr_t>(value);
    SINEW_EXPECT(word != 0 && word % 4 == 0);
    return word;
  }
  [[nodiscard]] static void* value_of(std::uint64_t word) noexcept {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(word & ~std::uint64_t{3}));
  }
  [[nodiscard]] static table_side side_of(std::uint64_t word) noexcept {
    return static_cast<table_side>(word & side_bit);
  }
  [[nodiscard]] static std::uint64_t& value_at(const place& at) noexcept {
    return at.where->word[3 + at.slot];
  }
  [[nodiscard]] parts parts_of(const table_key& key) const noexcept {
    const std::uint64_t envelope = std::uint64_t{static_cast<std::uint32_t>(key.source.value())}
                                       << 32 |
                                   static_cast<std::uint32_t>(key.tag.value());
    return {envelope, hash_(envelope, key.context.value()), key.context.value()};
  }

  // ---- users ----------------------------------------------------------------------------------

  // user_: one of these, or the address of the sole user's mark.
  static constexpr std::uintptr_t nobody = 0;
  static constexpr std::uintptr_t everybody = 1;
  static constexpr std::uintptr_t opening = 2;

  /// Tells threads apart. (One that begins when another has ended may get its mark: that is no
  /// second user.)
  [[nodiscard]] static std::uintptr_t this_thread() noexcept {
    static thread_local constinit long mark [[gnu::tls_model("initial-exec")]] = 0;
    return reinterpret_cast<std::uintptr_t>(&mark);
  }

  /// Acquire: whoever finds that the table is everybody's sees what the sole user did before.
  [[nodiscard]] std::uintptr_t user() const noexcept {
    Steps::step();
    return user_.load(std::memory_order_acquire);
  }

  /// What every operation begins with. True if the caller is alone, until leave_alone().
  [[nodiscard]] bool enter_alone() noexcept {
    const std::uintptr_t now = user();
    if (now == everybody) {
      return false;
    }
    if (now != this_thread() && !become_user()) [[unlikely]] {
      return false;
    }
    Steps::step();
    inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the rest is the other's membarrier
    if (user() == this_thread()) [[likely]] {
      return true;
    }
    leave_alone();
    join();
    return false;
  }
  /// Release: what was done inside is visible to who ends the sole use.
  void leave_alone() noexcept {
    Steps::step();
    inside_.store(false, std::memory_order_release);
  }
  /// The same for those operations that take held bits whoever uses the table.
  void join() noexcept {
    const std::uintptr_t now = user();
    if (now != everybody && now != this_thread()) {
      (void)become_user();
    }
  }

  /// True if the caller is the sole user now; else the table is everybody's.
  [[gnu::noinline]] bool become_user() noexcept {
    std::uintptr_t now = nobody;
    Steps::step();
    if (user_.compare_exchange_strong(now, this_thread(), std::memory_order_relaxed)) {
      return true;
    }
    for (unsigned attempt = 0; now != everybody; ++attempt, now = user()) {
      Steps::step();
      if (now != opening && user_.compare_exchange_strong(now, opening)) {
        end_sole_use();
      } else {
        Steps::wait(attempt);
      }
    }
    return false;
  }
  void end_sole_use() noexcept {
    base::membarrier(base::within::process);
    for (unsigned attempt = 0; Steps::step(), inside_.load(std::memory_order_acquire); ++attempt) {
      Steps::wait(attempt);
    }
    Steps::step();
    user_.store(everybody, std::memory_order_release);
  }

  // ---- homes ----------------------------------------------------------------------------------

  /// Relaxed wherever it is read: a stale level leads to a line that says itself whether it is the
  /// home. The one place that needs more, split's, reads it under a line's held bit (see trim).
  [[nodiscard]] std::uint64_t look_at_shape() const noexcept {
    Steps::step();
    return shape_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t level() const noexcept {
    return level_of(static_cast<std::uint32_t>(look_at_shape()));
  }
  void set_level(std::uint32_t level) noexcept {
    shape_.store(shape_at(level), std::memory_order_relaxed);
  }
  [[nodiscard]] static std::uint64_t shape_at(std::uint32_t level) noexcept {
    return low_bits(~std::uint64_t{0}, level) * sizeof(cell) | level << level_shift;
  }
  [[nodiscard]] cell& line_of(std::uint64_t hash, std::uint64_t shape) const noexcept {
    return lines_.at_offset(hash * sizeof(cell) & (shape & ~std::uint64_t{held | level_bits}));
  }
  [[nodiscard]] static std::uint32_t look(const cell& line) noexcept {
    Steps::step();
    return line.control.load(std::memory_order_relaxed);
  }
  /// Acquire: what the last holder wrote is visible to the next.
  [[nodiscard]] static bool try_hold(cell& line, std::uint32_t seen) noexcept {
    Steps::step();
    return line.control.compare_exchange_strong(seen, seen | held, std::memory_order_acquire,
                                                std::memory_order_relaxed);
  }
  /// A plain store: nobody writes to the control word of a line that is held.
  static void release(const home& h) noexcept {
    SINEW_EXPECT((h.control & held) == 0);
    Steps::step();
    h.line->control.store(h.control, std::memory_order_release);
  }

  void leave(cell& line, std::uint32_t control, bool alone) noexcept {
    if (alone) {
      leave_alone();
    } else {
      release({&line, control});
    }
  }

  [[nodiscard]] home hold(std::uint64_t hash) noexcept {
    join();
    const std::uint64_t shape = look_at_shape();
    cell& line = line_of(hash, shape);
    const std::uint32_t seen = look(line);
    if (is_free(seen, shape) && try_hold(line, seen)) [[likely]] {
      return {&line, seen};
    }
    return hold_slowly(hash);
  }
  /// Born, free, and at the table's level, so that there is nothing to split.
  [[nodiscard]] static bool is_free(std::uint32_t seen, std::uint64_t shape) noexcept {
    return ((seen ^ shape) & (held | level_bits)) == 0;
  }

  [[gnu::noinline]] home hold_slowly(std::uint64_t hash) noexcept {
    for (unsigned attempt = 0;; ++attempt) {
      std::uint32_t l = level();
      std::uint64_t i = low_bits(hash, l);
      std::uint32_t seen = look(lines_[i]);
      while (level_of(seen) == 0) {  // ends: lines below 2^first_level_ are always born
        SINEW_ASSERT(l > first_level_);
        i = low_bits(hash, --l);
        seen = look(lines_[i]);
      }
      const bool right = low_bits(hash, level_of(seen)) == i;  // else a child was born meanwhile
      if (right && (seen & held) == 0 && try_hold(lines_[i], seen)) {
        home h{&lines_[i], seen};
        while (level_of(h.control) < level()) {
          h = split(h, i, hash);
        }
        SINEW_ENSURE(low_bits(hash, level_of(h.control)) == i);  // the home of `hash`
        return h;
      }
      Steps::wait(attempt);
    }
  }

  // ---- entries of one home, which is held -----------------------------------------------------

  /// Branches, not masks: they are mostly predicted, and nothing after them waits for the line
  /// (measured: 10 ns with branches, 16 without).
  [[nodiscard]] static bool is_entry(const cell& c, unsigned i, const parts& k) noexcept {
    return c.word[i] == k.envelope && c.small[i] == k.context && c.word[3 + i] != 0;
  }

  [[nodiscard]] place find(const home& h, const parts& k) const noexcept {
    cell* free = nullptr;
    cell* c = h.line;
    for (std::uint32_t next = chain_of(h.control);; next = next_of(*c)) {
      Steps::step();
      for (unsigned i = 0; i < 3; ++i) {
        if (is_entry(*c, i, k)) {
          return {c, i, nullptr};
        }
        if (c->word[3 + i] == 0 && free == nullptr) {
          free = c;
        }
      }
      if (next == 0) {
        return {nullptr, 0, free};
      }
      c = &stock_[next];
    }
  }

  static void store_in(cell& c, unsigned slot, const parts& k, std::uint64_t value) noexcept {
    SINEW_EXPECT(slot < 3 && c.word[3 + slot] == 0 && value != 0);
    c.word[slot] = k.envelope;
    c.small[slot] = k.context;
    c.word[3 + slot] = value;
  }
  /// Into the first free entry; there is one.
  static void store_in(cell& c, const parts& k, std::uint64_t value) noexcept {
    unsigned i = 0;
    while (c.word[3 + i] != 0) {
      ++i;
      SINEW_ASSERT(i < 3);
    }
    store_in(c, i, k, value);
  }

  [[nodiscard]] outcome insert_slowly_in(const parts& k, std::uint64_t fresh, cell& line,
                                         std::uint32_t seen, bool alone) noexcept {
    if (alone) {
      leave_alone();
    }
    return insert_slowly(k.envelope, k.context, fresh, alone ? nullptr : &line, seen);
  }

  /// `line`: of this key, held, and `seen` what its control word was; or null.
  [[nodiscard, gnu::noinline]] outcome insert_slowly(std::uint64_t envelope, std::uint32_t context,
                                                     std::uint64_t fresh, cell* line,
                                                     std::uint32_t seen) noexcept {
    const parts k{envelope, hash_(envelope, context), context};
    home h = line != nullptr ? home{line, seen} : hold_slowly(k.hash);
    const place at = find(h, k);
    outcome result{nullptr, status::pending()};
    if (at.where == nullptr) {
      if (!add(h, at.free, k, fresh)) {
        result.what = status::again(retry_reason::no_memory);
      }
    } else if (std::uint64_t& stored = value_at(at); ((stored ^ fresh) & side_bit) == 0) {
      if (!append(stored, fresh, k.hash)) {
        result.what = status::again(retry_reason::no_memory);
      }
    } else {
      result = {remove_first(stored, k.hash), status::ok()};
      if (stored == 0 && at.where != h.line) {
        unchain_empty(h, k.hash);
      }
    }
    const bool crowd = h.crowds;
    release(h);
    if (crowd) {
      grow();
    }
    return result;
  }

  [[nodiscard]] static bool empty(const cell& c) noexcept {
    return (c.word[3] | c.word[4] | c.word[5]) == 0;
  }

  /// Puts a spill cell in front of the chain.
  cell& chain(home& h, std::uint32_t spill) noexcept {
    SINEW_EXPECT(spill != 0 && spill != chain_of(h.control));
    cell& c = stock_[spill];
    c.word[3] = c.word[4] = c.word[5] = 0;
    set_next(c, chain_of(h.control));
    h.control = (h.control & level_bits) | spill << chain_shift;
    return c;
  }

  [[nodiscard]] bool add(home& h, cell* free, const parts& k, std::uint64_t value) noexcept {
    if (free == nullptr) [[unlikely]] {
      const std::uint32_t spill = stock_.take(k.hash);
      if (spill == 0) {
        return false;
      }
      h.crowds = chain_of(h.control) == 0;
      // Relaxed: a statistic that only triggers growth.
      if (h.crowds) {
        crowded_.fetch_add(1, std::memory_order_relaxed);
      }
      free = &chain(h, spill);
    }
    store_in(*free, k, value);
    return true;
  }

  /// Gives back the spill cell that has just become empty.
  [[gnu::noinline]] void unchain_empty(home& h, std::uint64_t hash) noexcept {
    cell* before = nullptr;
    std::uint32_t at = chain_of(h.control);
    while (at != 0 && !empty(stock_[at])) {
      before = &stock_[at];
      at = next_of(*before);
    }
    if (at == 0) {
      return;
    }
    const std::uint32_t next = next_of(stock_[at]);
    if (before != nullptr) {
      set_next(*before, next);
    } else {
      h.control = (h.control & level_bits) | next << chain_shift;
      if (next == 0) {
        crowded_.fetch_sub(1, std::memory_order_relaxed);
      }
    }
    stock_.put(hash, at);
  }

  // ---- the values of one entry ----------------------------------------------------------------
  // A value alone is its own word. Several are a ring of cells, named by the last one, whose next
  // is the first; a hole (0) is a value that was erased. The first value of the first cell is never
  // a hole, and no cell is without values.

  [[nodiscard]] cell& last_of(std::uint64_t stored) const noexcept {
    SINEW_EXPECT((stored & queue_bit) != 0);
    return stock_[static_cast<std::uint32_t>(stored >> 2)];
  }
  [[nodiscard]] static std::uint64_t ring(std::uint32_t last, std::uint64_t side) noexcept {
    return std::uint64_t{last} << 2 | queue_bit | side;
  }

  [[gnu::noinline]] bool append(std::uint64_t& stored, std::uint64_t fresh,
                                std::uint64_t hash) noexcept {
    SINEW_EXPECT(stored != 0 && ((stored ^ fresh) & side_bit) == 0);
    if ((stored & queue_bit) != 0) {
      cell& last = last_of(stored);
      SINEW_ASSERT(last.small[1] <= 6);
      if (last.small[1] < 6) {
        last.word[last.small[1]++] = fresh;
        return true;
      }
    }
    const std::uint32_t made = stock_.take(hash);
    if (made == 0) {
      return false;
    }
    cell& c = stock_[made];
    c.small[0] = c.small[1] = 0;
    if ((stored & queue_bit) != 0) {
      cell& last = last_of(stored);
      set_next(c, next_of(last));
      set_next(last, made);
    } else {
      set_next(c, made);
      c.word[c.small[1]++] = stored;
    }
    c.word[c.small[1]++] = fresh;
    stored = ring(made, fresh & side_bit);
    return true;
  }

  [[nodiscard]] void* first_of(std::uint64_t stored) const noexcept {
    SINEW_EXPECT(stored != 0);
    if ((stored & queue_bit) == 0) {
      return value_of(stored);
    }
    const cell& first = stock_[next_of(last_of(stored))];
    SINEW_ASSERT(first.small[0] < first.small[1] && first.word[first.small[0]] != 0);
    return value_of(first.word[first.small[0]]);
  }

  [[nodiscard]] void* remove_first(std::uint64_t& stored, std::uint64_t hash) noexcept {
    void* const found = first_of(stored);
    if ((stored & queue_bit) == 0) [[likely]] {
      stored = 0;
    } else {
      cell& first = stock_[next_of(last_of(stored))];
      first.word[first.small[0]] = 0;
      drop_holes(stored, hash);
    }
    SINEW_ENSURE(found != nullptr);
    return found;
  }

  /// Restores "the first is no hole"; gives back cells without values, the last of which empties
  /// the entry.
  [[gnu::noinline]] void drop_holes(std::uint64_t& stored, std::uint64_t hash) noexcept {
    for (;;) {
      cell& last = last_of(stored);
      const std::uint32_t first = next_of(last);
      cell& c = stock_[first];
      while (c.small[0] < c.small[1] && c.word[c.small[0]] == 0) {
        ++c.small[0];
      }
      if (c.small[0] < c.small[1]) {
        return;
      }
      const bool only = &c == &last;
      if (!only) {
        set_next(last, next_of(c));
      }
      stock_.put(hash, first);
      if (only) {
        stored = 0;
        return;
      }
    }
  }

  [[nodiscard]] bool remove_this(std::uint64_t& stored, std::uint64_t value,
                                 std::uint64_t hash) noexcept {
    if ((stored & queue_bit) == 0) {
      if (value_of(stored) != value_of(value)) {
        return false;
      }
      stored = 0;
      return true;
    }
    for (std::uint32_t at = next_of(last_of(stored));; at = next_of(stock_[at])) {
      cell& c = stock_[at];
      for (std::uint32_t i = c.small[0]; i < c.small[1]; ++i) {
        if (c.word[i] != 0 && value_of(c.word[i]) == value_of(value)) {
          c.word[i] = 0;
          drop_holes(stored, hash);
          return true;
        }
      }
      if (&c == &last_of(stored)) {
        return false;
      }
    }
  }

  template <class Visit>
  void each_value(std::uint64_t stored, Visit&& visit) const {
    if ((stored & queue_bit) == 0) {
      return visit(stored);
    }
    for (std::uint32_t at = next_of(last_of(stored));; at = next_of(stock_[at])) {
      const cell& c = stock_[at];
      for (std::uint32_t i = c.small[0]; i < c.small[1]; ++i) {
        if (c.word[i] != 0) {
          visit(c.word[i]);
        }
      }
      if (&c == &last_of(stored)) {
        return;
      }
    }
  }

  // ---- changes of size ------------------------------------------------------------------------

  /// Moves entries between homes that are both held. Spill cells come from `spare`, a list of cells
  /// whose entries have been moved: those are always enough (see split and merge_level).
  struct mover {
    table_core& t;
    std::uint32_t spare = 0;

    void put(home& to, const parts& k, std::uint64_t value) noexcept {
      cell* room = to.line;
      if (!has_room(*room) && chain_of(to.control) != 0) {
        room = &t.stock_[chain_of(to.control)];
      }
      if (!has_room(*room)) {
        const std::uint32_t spill = spare;
        SINEW_ASSERT(spill != 0);
        spare = next_of(t.stock_[spill]);
        room = &t.chain(to, spill);
      }
      store_in(*room, k, value);
    }
    [[nodiscard]] static bool has_room(const cell& c) noexcept {
      return c.word[3] == 0 || c.word[4] == 0 || c.word[5] == 0;
    }
    /// Takes all entries out of `c`, handing each to give(parts, value).
    template <class Give>
    void empty_out(cell& c, bool to_spare, Give&& give) noexcept {
      parts k[3];
      std::uint64_t value[3];
      for (unsigned i = 0; i < 3; ++i) {
        k[i] = {c.word[i], t.hash_(c.word[i], c.small[i]), c.small[i]};
        value[i] = c.word[3 + i];
        c.word[3 + i] = 0;
      }
      if (to_spare) {
        set_next(c, spare);
        spare = static_cast<std::uint32_t>(&c - &t.stock_[0]);
      }
      for (unsigned i = 0; i < 3; ++i) {
        if (value[i] != 0) {
          give(k[i], value[i]);
        }
      }
    }
    /// The same for a whole home; leaves it without chain.
    template <class Give>
    void empty_out(home& from, Give&& give) noexcept {
      std::uint32_t at = chain_of(from.control);
      from.control &= level_bits;
      empty_out(*from.line, false, give);
      while (at != 0) {
        cell& c = t.stock_[at];
        at = next_of(c);
        empty_out(c, true, give);
      }
    }
    void give_back(std::uint64_t hash) noexcept {
      while (spare != 0) {
        const std::uint32_t c = spare;
        spare = next_of(t.stock_[c]);
        SINEW_ASSERT(empty(t.stock_[c]));
        t.stock_.put(hash, c);
      }
    }
  };

  /// One step: line i, held, and its child, about to be born. Returns the one that is the home of
  /// `hash`, held; the other is released.
  /// Enough cells: of n entries, 3 in the line and the rest in k chained cells, the parts a + b = n
  /// need at most ceil((a-3)/3) + ceil((b-3)/3) <= k chained cells, at every moment of the move.
  [[nodiscard]] home split(home h, std::uint64_t& i, std::uint64_t hash) noexcept {
    const std::uint32_t l = level_of(h.control);
    SINEW_EXPECT(l >= first_level_ && l < last_level_ && i < std::uint64_t{1} << l);
    const std::uint64_t bit = std::uint64_t{1} << l;
    const bool chained = chain_of(h.control) != 0;
    home child{&lines_[i + bit], (l + 1) << level_shift};
    mover moves{*this};
    home old = h;
    h.control = (l + 1) << level_shift;
    moves.empty_out(old, [&](const parts& k, std::uint64_t value) {
      moves.put((k.hash & bit) != 0 ? child : h, k, value);
    });
    moves.give_back(hash);
    count_chains(int{chain_of(h.control) != 0} + int{chain_of(child.control) != 0} - int{chained});
    if ((hash & bit) == 0) {
      release(child);
      return h;
    }
    // Born held. Release, although the next holder acquires from a later store: whoever looks at it
    // before that only waits.
    Steps::step();
    child.line->control.store(child.control | held, std::memory_order_release);
    release(h);
    i += bit;
    return child;
  }

  void count_chains(int more) noexcept {
    if (more != 0) {
      crowded_.fetch_add(static_cast<std::uint32_t>(more), std::memory_order_relaxed);
    }
  }

  /// Lowers the level by one. False, with the level as it was, if no cell could be had.
  /// Enough cells: a child's own line may add up to 3 entries, for which one cell is taken before.
  [[nodiscard]] bool merge_level() noexcept {
    const std::uint32_t high = level();
    SINEW_EXPECT(high > first_level_);
    const std::uint64_t half = std::uint64_t{1} << (high - 1);
    set_level(high - 1);
    for (std::uint64_t i = 0; i < half; ++i) {
      home h = hold_slowly(i);
      if (level_of(h.control) == high) {
        mover moves{*this, stock_.take(i)};
        if (moves.spare == 0) {
          set_level(high);
          release(h);
          return false;
        }
        set_next(stock_[moves.spare], 0);
        merge_child(h, moves, half);
        moves.give_back(i);
      }
      release(h);
    }
    return true;
  }

  void merge_child(home& h, mover& moves, std::uint64_t half) noexcept {
    cell& line = *(h.line + half);
    std::uint32_t seen = look(line);
    for (unsigned attempt = 0; (seen & held) != 0 || !try_hold(line, seen); ++attempt) {
      Steps::wait(attempt);
      seen = look(line);
    }
    SINEW_ASSERT(level_of(seen) == level_of(h.control));
    home child{&line, seen};
    const int chains = int{chain_of(seen) != 0} + int{chain_of(h.control) != 0};
    moves.empty_out(child, [&](const parts& k, std::uint64_t value) { moves.put(h, k, value); });
    h.control -= 1u << level_shift;
    count_chains(int{chain_of(h.control) != 0} - chains);
    child.control = 0;  // unborn again
    release(child);
  }

  /// When one line in 16 spills, at about 1.4 keys a line.
  [[gnu::noinline]] void grow() noexcept {
    const auto due = [this] {
      const std::uint32_t l = level();
      return l < last_level_ &&
             crowded_.load(std::memory_order_relaxed) > std::uint32_t{1} << l >> 4;
    };
    if (!due() || !try_resize()) {
      return;
    }
    if (due()) {
      Steps::step();
      set_level(level() + 1);
    }
    end_resize();
  }
  [[nodiscard]] bool try_resize() noexcept {
    Steps::step();
    return !resizing_.exchange(true, std::memory_order_acquire);
  }
  void end_resize() noexcept {
    Steps::step();
    resizing_.store(false, std::memory_order_release);
  }

  /// visit(cell, entry) for every stored key, each under its line's held bit.
  template <class Visit>
  void each_entry(Visit&& visit) {
    for (std::uint64_t i = 0; i < lines(); ++i) {
      std::uint32_t seen = look(lines_[i]);
      for (unsigned attempt = 0; level_of(seen) != 0; ++attempt, seen = look(lines_[i])) {
        if ((seen & held) == 0 && try_hold(lines_[i], seen)) {
          break;
        }
        Steps::wait(attempt);
      }
      if (level_of(seen) == 0) {
        continue;
      }
      const home h{&lines_[i], seen};
      const cell* c = h.line;
      for (std::uint32_t next = chain_of(seen);; next = next_of(*c)) {
        for (unsigned e = 0; e < 3; ++e) {
          if (c->word[3 + e] != 0) {
            visit(*c, e);
          }
        }
        if (next == 0) {
          break;
        }
        c = &stock_[next];
      }
      release(h);
    }
  }

  // What every operation reads, and seldom changes.
  table_hash hash_;
  /// The level as in a control word, and above it the mask of a line's offset at that level: what
  /// an operation needs, read at once. Changed by whoever holds resizing_.
  std::atomic<std::uint64_t> shape_;
  /// Whose the table is: nobody's, one thread's, opening, everybody's, in this order.
  std::atomic<std::uintptr_t> user_;
  std::uint32_t first_level_;
  std::uint32_t last_level_;
  cell_range lines_;
  cell_stock<Steps> stock_;
  /// Lines with a chain. On a line of its own, since full tables change it now and then.
  alignas(64) std::atomic<std::uint32_t> crowded_{0};
  std::atomic<bool> resizing_{false};
  std::atomic<bool> inside_{false};  ///< the sole user is; see "Alone" above
};

}  // namespace sinew::match
