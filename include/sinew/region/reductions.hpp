// SPDX-License-Identifier: BSD-3-Clause
// Ways to reduce many contributions into an instance: the reduction instances of Treichler et al.
// 2014 (Realm), and one that chooses between two of them. Each belongs to one task at a time.
//
//   fold      an array of contributions, combined as they come: for more of them than elements
//   list      a log of contributions: for few among many elements
//   adaptive  a log that becomes a fold when it has grown to a part of the target's size
//   single    every contribution by itself, in messages to the owners; a message holds many
//
// reduce() is hot and inline. merge() (single: flush()) hands everything over to the owners of the
// target's parts and returns the event of their having applied it. After the call a list, an
// adaptive or a single is empty and may be used again at once; a fold once the event has triggered,
// poisoned or not. An element outside of the target is a usage error: a fold does not check for it,
// the others' event is poisoned.
//
// All memory is this rank's shared memory (SINEW_RMA_LOCAL_HEAP); sinew::error if it is exhausted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/region/system.hpp"

namespace sinew::region {

template <folding Op>
class fold {
 public:
  using lhs = typename Op::lhs;
  using rhs = typename Op::rhs;

  fold(system& all, instance target, field<lhs> of)
      : all_(all), target_(target), of_(of), schema_(all.shape_of(target)) {
    all.add<Op>();
    (void)all.target_of(entry_of<Op>(), target, of.number);
    contributions_ = schema_.template add<rhs>("contributions");
    const made m = all.create(schema_, memory::shared(all.rank()));
    what_ = m.what;
    if (const std::string why = all.why(what_); !why.empty()) {
      (void)all.destroy(what_);
      SINEW_CHECK(false, "a fold instance cannot be made", why, "");
    }
    values_ =
        std::span<rhs>(reinterpret_cast<rhs*>(all.bytes_of(what_)), schema_.elements().elements());
    SINEW_ENSURE(reinterpret_cast<std::uintptr_t>(values_.data()) % alignof(rhs) == 0);
    reset();
  }
  ~fold() { (void)all_.destroy(what_, ended_); }
  fold(const fold&) = delete;
  fold& operator=(const fold&) = delete;

  void reduce(std::uint64_t element, const rhs& by) noexcept {
    SINEW_EXPECT(element < values_.size());
    Op::fold(values_[element], by);
  }
  /// By several threads at once.
  void reduce_atomic(std::uint64_t element, const rhs& by) noexcept
    requires fits_a_word<rhs>
  {
    SINEW_EXPECT(element < values_.size());
    atomically(values_[element], [&](rhs& value) { Op::fold(value, by); });
  }
  /// Its event triggers once the instance is empty again.
  [[nodiscard]] event merge(event after = {}) {
    sinew::event::system& events = all_.events();
    auto next = std::make_unique<renewal>(events, values_);
    next->applied = merge_for_good(after);
    if (!ended_.exists()) {
      reset();
      return next->applied;
    }
    // Two events: the caller may cancel the one it gets, and the memory stays in use all the same.
    const user_event for_caller = events.create();
    const user_event empty = next->empty = events.create();
    events.trigger(for_caller, empty);
    const event ended = std::exchange(ended_, events.settled(empty));
    if (events.subscribe(ended, *next) == sinew::event::state::pending) {
      (void)next.release();  // it deletes itself
    } else {
      next->end();
    }
    return for_caller;
  }
  /// The same, of an instance that will only be destroyed: it is not emptied.
  [[nodiscard]] event merge_for_good(event after = {}) {
    return all_.reduce<Op>(at(what_, contributions_), at(target_, of_), after, sharing::exclusive,
                           &ended_);
  }
  [[nodiscard]] std::span<rhs> values() noexcept { return values_; }
  /// Forgets what was not merged. Not between merge() and its event.
  void reset() noexcept { std::fill(values_.begin(), values_.end(), rhs(Op::identity)); }

 private:
  /// Empties the instance after a merge, on the thread that ends that; the fold itself may be
  /// destroyed by then, but not its memory.
  struct renewal : sinew::event::waiter {
    renewal(sinew::event::system& all, std::span<rhs> of) noexcept : events(all), values(of) {
      fire = [](sinew::event::waiter& w) noexcept {
        const std::unique_ptr<renewal> self(static_cast<renewal*>(&w));
        self->end();
      };
    }
    /// All parts have ended, so it is known how the whole has.
    void end() noexcept {
      SINEW_EXPECT(empty.exists() && events.look(applied) != sinew::event::state::pending);
      std::fill(values.begin(), values.end(), rhs(Op::identity));
      const bool failed = events.look(applied) == sinew::event::state::poisoned;
      failed ? events.poison(empty) : events.trigger(empty);
    }

    sinew::event::system& events;
    std::span<rhs> values;
    event applied;
    user_event empty;
  };

  system& all_;
  instance target_;
  field<lhs> of_;
  schema schema_;
  field<rhs> contributions_;
  instance what_;
  std::span<rhs> values_;
  event ended_;  ///< the owners read what was handed over no more, whether they applied it or not
};

/// The memory of logs, one log for each part of the target: what list and adaptive share. Cold.
class logs {
 public:
  logs(system& all, const operator_entry& op, const system::target& to);
  ~logs();
  logs(const logs&) = delete;
  logs& operator=(const logs&) = delete;

  /// The part's log is full, or has not begun: memory for more of it.
  [[nodiscard]] std::span<std::byte> grow(std::uint32_t part);
  /// No more entries for now: so many would still fit into the part's last chunk.
  void end_chunk(std::uint32_t part, std::uint64_t left);
  [[nodiscard]] std::uint64_t logged() const noexcept { return logged_; }  ///< in full chunks
  /// Entries of one chunk, after end_chunk(); 0: there is none of that number.
  [[nodiscard]] std::uint64_t entries_of(std::uint32_t part, std::size_t number,
                                         const std::byte*& first) const;
  [[nodiscard]] event merge(event after);
  void drop();  ///< forgets all entries

 private:
  struct chunk;
  struct store;
  system::target to_;
  system& all_;
  std::uint64_t op_;
  std::uint64_t entry_bytes_;
  std::uint64_t logged_ = 0;
  std::shared_ptr<store> store_;
  std::vector<std::vector<chunk>> chunks_;
};

/// Where in its part an element lies, without a division if the parts are a power of two.
class part_finder {
 public:
  explicit part_finder(const system::target& to) noexcept
      : shift_(to.shift),
        low_((std::uint64_t{1} << to.shift) - 1),
        parts_(to.parts),
        bits_(static_cast<std::uint32_t>(std::countr_zero(to.parts))),
        even_(std::has_single_bit(to.parts)) {
    SINEW_EXPECT(to.parts >= 1 && to.shift < 64);
  }

  [[nodiscard]] std::uint32_t part(std::uint64_t element) const noexcept {
    const std::uint64_t stripe = element >> shift_;
    return static_cast<std::uint32_t>(even_ ? stripe & (parts_ - 1) : stripe % parts_);
  }
  [[nodiscard]] std::uint32_t within(std::uint64_t element) const noexcept {
    const std::uint64_t stripe = element >> shift_;
    const std::uint64_t round = even_ ? stripe >> bits_ : stripe / parts_;
    return static_cast<std::uint32_t>((round << shift_) | (element & low_));
  }
  [[nodiscard]] std::uint64_t element(std::uint32_t part, std::uint64_t within) const noexcept {
    return (((within >> shift_) * parts_ + part) << shift_) | (within & low_);
  }

 private:
  std::uint32_t shift_;
  std::uint64_t low_;
  std::uint32_t parts_;
  std::uint32_t bits_;
  bool even_;
};

template <reduction Op>
class list {
 public:
  using lhs = typename Op::lhs;
  using rhs = typename Op::rhs;
  using entry = logged<rhs>;

  list(system& all, instance target, field<lhs> of)
      : to_(known_target(all, target, of)),
        find_(to_),
        bins_(std::make_unique<bin[]>(to_.parts)),
        logs_(all, entry_of<Op>(), to_) {}

  void reduce(std::uint64_t element, const rhs& by) {
    const std::uint32_t part = find_.part(element);
    bin& b = bins_[part];
    if (b.at == b.end) [[unlikely]] {
      grow(part);
    }
    SINEW_ASSERT(b.at < b.end);
    *b.at++ = {element < to_.elements ? find_.within(element) : nowhere, by};
  }
  [[nodiscard]] event merge(event after = {}) {
    end();
    return logs_.merge(after);
  }

 protected:
  /// No element of a part, which has less than 2^31: its owner counts it as outside.
  static constexpr std::uint32_t nowhere = 0xffffffff;
  struct bin {
    entry* at = nullptr;
    entry* end = nullptr;
  };
  static system::target known_target(system& all, instance target, field<lhs> of) {
    all.add<Op>();
    return all.target_of(entry_of<Op>(), target, of.number);
  }
  [[gnu::noinline]] void grow(std::uint32_t part) {
    const std::span<std::byte> memory = logs_.grow(part);
    SINEW_ASSERT(!memory.empty());  // a chunk has place for one entry at least
    bins_[part].at = reinterpret_cast<entry*>(memory.data());
    bins_[part].end = bins_[part].at + memory.size() / sizeof(entry);
  }
  void end() {
    for (std::uint32_t part = 0; part < to_.parts; ++part) {
      logs_.end_chunk(part, static_cast<std::uint64_t>(bins_[part].end - bins_[part].at));
      bins_[part] = {};
    }
  }

  system::target to_;
  part_finder find_;
  std::unique_ptr<bin[]> bins_;
  logs logs_;
};

struct adaptive_options {
  /// Folds when it has logged this share of as many entries as the target has elements. A log costs
  /// about 5 ns an entry, a fold 1 ns an element once and 2 ns a reduction: they meet near a third.
  double fold_at = 0.25;
};

template <folding Op>
class adaptive : private list<Op> {
  using base = list<Op>;

 public:
  using lhs = typename Op::lhs;
  using rhs = typename Op::rhs;
  using entry = logged<rhs>;

  adaptive(system& all, instance target, field<lhs> of, const adaptive_options& how = {})
      : base(all, target, of),
        all_(all),
        of_(of),
        most_logged_(
            static_cast<std::uint64_t>(static_cast<double>(base::to_.elements) * how.fold_at)) {
    SINEW_EXPECT(how.fold_at >= 0);
  }

  void reduce(std::uint64_t element, const rhs& by) {
    if (values_ != nullptr) [[likely]] {
      SINEW_EXPECT(element < base::to_.elements);
      Op::fold(values_[element], by);
      return;
    }
    log(element, by);
  }
  [[nodiscard]] event merge(event after = {}) {
    if (!folded_) {
      return base::merge(after);
    }
    const event end = folded_->merge_for_good(after);
    folded_.reset();  // its memory is given back after `end`
    values_ = nullptr;
    return end;
  }
  [[nodiscard]] bool has_folded() const noexcept { return folded_.has_value(); }

 private:
  void log(std::uint64_t element, const rhs& by) {
    const std::uint32_t part = base::find_.part(element);
    auto& b = base::bins_[part];
    if (b.at == b.end) [[unlikely]] {
      base::grow(part);
      if (base::logs_.logged() > most_logged_) {
        become_fold();
        return reduce(element, by);
      }
    }
    *b.at++ = {element < base::to_.elements ? base::find_.within(element) : base::nowhere, by};
  }
  void become_fold() {
    folded_.emplace(all_, base::to_.what, of_);
    base::end();
    for (std::uint32_t part = 0; part < base::to_.parts; ++part) {
      const std::byte* first = nullptr;
      std::uint64_t n = 0;
      for (std::size_t c = 0; (n = base::logs_.entries_of(part, c, first)) != 0; ++c) {
        const auto* entries = reinterpret_cast<const entry*>(first);
        for (std::uint64_t i = 0; i < n; ++i) {
          if (entries[i].element != base::nowhere) {
            folded_->reduce(base::find_.element(part, entries[i].element), entries[i].value);
          }
        }
      }
    }
    base::logs_.drop();
    values_ = folded_->values().data();
    SINEW_ENSURE(folded_->values().size() == base::to_.elements && base::logs_.logged() == 0);
  }

  system& all_;
  field<lhs> of_;
  std::uint64_t most_logged_;
  std::optional<fold<Op>> folded_;
  rhs* values_ = nullptr;
};

template <reduction Op>
class single {
 public:
  using lhs = typename Op::lhs;
  using rhs = typename Op::rhs;
  using entry = logged<rhs>;

  single(system& all, instance target, field<lhs> of)
      : all_(all),
        to_((all.add<Op>(), all.target_of(entry_of<Op>(), target, of.number))),
        find_(to_),
        capacity_(all.largest_batch() / sizeof(entry)),
        entries_(std::make_unique_for_overwrite<entry[]>(capacity_ * to_.parts)),
        bins_(to_.parts) {
    SINEW_CHECK(to_.in_steps && to_.elements / to_.parts < (std::uint64_t{1} << 31),
                "single reductions cannot be made",
                "the target's rows do not follow each other in equal steps, or it is too large",
                "");
  }

  /// May suspend: when the owner of the element's part is far behind. Not in handlers and fires.
  void reduce(std::uint64_t element, const rhs& by) {
    const std::uint32_t part = find_.part(element);
    bin& b = bins_[part];
    SINEW_ASSERT(b.count < capacity_);
    entries_[part * capacity_ + b.count] = {
        element < to_.elements ? find_.within(element) : 0xffffffff, by};
    if (++b.count == capacity_) [[unlikely]] {
      send(part);
    }
  }
  /// Sends what is left; when all since the last flush() are applied.
  [[nodiscard]] event flush() {
    std::vector<event> ends;
    for (std::uint32_t part = 0; part < to_.parts; ++part) {
      const user_event done = all_.events().create();
      hand_over(part, done);
      ends.insert(ends.end(), {done, std::exchange(bins_[part].mark, {}),
                               std::exchange(bins_[part].failed, {})});
    }
    return all_.events().merge(ends);
  }

 private:
  /// Every so many batches one gets an event, its mark, and the mark before must have triggered: so
  /// the owner is at most twice as many batches behind.
  static constexpr std::uint32_t batches_a_mark = 16;
  struct bin {
    std::size_t count = 0;
    std::uint32_t batches = 0;
    event mark;
    event failed;  ///< a mark that was poisoned
  };
  void hand_over(std::uint32_t part, event done) {
    bin& b = bins_[part];
    all_.apply_there(to_, hash_of(type_name<Op>()), part, &entries_[part * capacity_], b.count,
                     b.count * sizeof(entry), done);
    b.count = 0;
  }
  [[gnu::noinline]] void send(std::uint32_t part) {
    bin& b = bins_[part];
    if (++b.batches % batches_a_mark != 0) {
      hand_over(part, {});
      return;
    }
    const user_event mark = all_.events().create();
    hand_over(part, mark);
    if (all_.events().wait(b.mark) == sinew::event::state::poisoned) {
      b.failed = b.mark;
    }
    b.mark = mark;
  }

  system& all_;
  system::target to_;
  part_finder find_;
  std::size_t capacity_;
  std::unique_ptr<entry[]> entries_;
  std::vector<bin> bins_;
};

}  // namespace sinew::region
