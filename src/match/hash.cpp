// The default engine. Up to `small_limit` entries, or any number that all carry one envelope, are a
// plain list, which nothing beats; beyond that, a table leads from an envelope to the queue of the
// entries that carry exactly it, so the cost depends neither on how many are stored nor on their
// tags.
//
// Wildcards. A receive belongs to one of four classes: exact, any source, any tag, both. Its
// envelope, wildcards included, is its key, so an arriving message has at most one queue to look
// at in each class, and the lowest sequence number among the heads is the earliest receive. Only
// classes that have receives are looked into.
// A message is queued under its exact key. The first search with a wildcard queues all stored ones
// under their other three keys too (same table, other lanes of links), and from then on each new
// one; so every search, wildcard or not, is one look-up. Long without wildcards, it stops that.

#include <algorithm>
#include <array>
#include <vector>

#include "match/engines.hpp"
#include "match/fifo.hpp"
#include "match/key_table.hpp"

namespace sinew::match {
namespace {

constexpr std::size_t small_limit = 8;
constexpr std::size_t classes = 4;
/// Messages stored since the last wildcard search after which the empty store drops its indexes.
constexpr std::uint64_t wildcard_memory = 1024;

[[nodiscard]] constexpr std::size_t class_of(const envelope& wanted) noexcept {
  return (wanted.source == any_source ? 1u : 0u) + (wanted.tag == any_tag ? 2u : 0u);
}

/// The key under which a receive of class `c` that takes `sent` is stored.
[[nodiscard]] constexpr key key_in_class(const envelope& sent, std::size_t c) noexcept {
  return key_of({(c & 1) != 0 ? any_source : sent.source, (c & 2) != 0 ? any_tag : sent.tag});
}

template <class Entry>
void sort_by_age(std::vector<Entry*>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry* a, const Entry* b) { return a->link.sequence < b->link.sequence; });
}

class receive_store {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void add(receive& r) {
    if (size_ == 0 || (uniform_ && r.wanted == small_->wanted)) [[likely]] {
      uniform_ = true;
      append(small_, r, 0);
    } else {
      add_other(r);
    }
    r.link.sequence = ++clock_;
    ++size_;
  }

  /// The earliest that takes a message with this envelope, removed; or null.
  [[nodiscard]] receive* match(const envelope& sent, search_counts& counts) noexcept {
    receive* const first = small_;
    if (first == nullptr || !first->wanted.takes(sent)) return match_other(sent, counts);
    count_search(counts, 1);
    remove_small(*first);
    return first;
  }

  void remove(receive& r) noexcept {
    if (hashed_) {
      std::uint64_t examined = 0;
      remove_from(*table_.find(key_of(r.wanted), examined), r);
    } else {
      remove_small(r);
    }
  }

  [[nodiscard]] std::vector<receive*> in_order() const {
    std::vector<receive*> all;
    const auto add_queue = [&](key, receive* head) {
      find_in(head, 0, [&](receive& r) { return all.push_back(&r), false; });
    };
    add_queue(0, small_);
    table_.each(add_queue);
    sort_by_age(all);
    return all;
  }

 private:
  using slot = key_table<receive>::slot;

  // The less usual is kept out of line, so that the code above stays short.

  [[gnu::noinline]] void add_other(receive& r) {
    if (!hashed_ && size_ < small_limit) {
      uniform_ = false;
      append(small_, r, 0);
      return;
    }
    if (!hashed_) spill();
    table_.reserve(1);
    file(r);
  }

  /// The first of the list does not fit, or there is no list.
  [[nodiscard, gnu::noinline]] receive* match_other(const envelope& sent,
                                                    search_counts& counts) noexcept {
    if (hashed_) return match_hashed(sent, counts);
    std::uint64_t examined = 0;
    const auto takes = [&](const receive& r) {
      ++examined;
      return r.wanted.takes(sent);
    };
    receive* const found = uniform_ ? nullptr : find_in(small_, 0, takes);
    count_search(counts, examined);
    if (found != nullptr) remove_small(*found);
    return found;
  }

  [[nodiscard]] receive* match_hashed(const envelope& sent, search_counts& counts) noexcept {
    std::uint64_t examined = 0;
    slot* best = nullptr;
    for (std::size_t c = 0; c < classes; ++c) {
      if (in_class_[c] == 0) continue;
      slot* const s = table_.find(key_in_class(sent, c), examined);
      if (s == nullptr) continue;
      if (best == nullptr || s->head->link.sequence < best->head->link.sequence) best = s;
    }
    count_search(counts, examined);
    if (best == nullptr) return nullptr;
    receive* const found = best->head;
    remove_from(*best, *found);
    return found;
  }

  void file(receive& r) noexcept {
    append(table_.find_or_add(key_of(r.wanted)).head, r, 0);
    ++in_class_[class_of(r.wanted)];
  }

  void remove_from(slot& s, receive& r) noexcept {
    unlink(s.head, r, 0);
    if (s.head == nullptr) table_.erase(s);
    --in_class_[class_of(r.wanted)];
    r.link.sequence = 0;
    if (--size_ == 0) hashed_ = false;
  }

  void remove_small(receive& r) noexcept {
    unlink(small_, r, 0);
    r.link.sequence = 0;
    --size_;
  }

  void spill() {
    table_.reserve(small_limit + 1);
    if (uniform_) {
      table_.find_or_add(key_of(small_->wanted)).head = small_;
      in_class_[class_of(small_->wanted)] += size_;
      small_ = nullptr;
    }
    while (small_ != nullptr) {
      receive& r = *small_;
      unlink(small_, r, 0);
      file(r);
    }
    uniform_ = false;
    hashed_ = true;
  }

  receive* small_ = nullptr;  ///< all entries while not hashed_
  bool uniform_ = false;      ///< all want the same as the first of the list
  bool hashed_ = false;       ///< ends when the store becomes empty
  std::size_t size_ = 0;
  std::uint64_t clock_ = 0;
  std::array<std::size_t, classes> in_class_{};  ///< counted while hashed_
  key_table<receive> table_;
};

class message_store {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void add(message& m) {
    if (size_ == 0 || (uniform_ && m.sent == small_->sent)) [[likely]] {
      uniform_ = true;
      append(small_, m, 0);
    } else {
      add_other(m);
    }
    m.link.sequence = ++clock_;
    ++size_;
  }

  /// The earliest that `wanted` takes, left in place; or null.
  [[nodiscard]] message* find(const envelope& wanted, search_counts& counts) {
    message* const first = small_;
    if (first == nullptr || !wanted.takes(first->sent)) return find_other(wanted, counts);
    count_search(counts, 1);
    return first;
  }

  void remove(message& m) noexcept {
    if (hashed_) {
      unfile(m);
    } else {
      unlink(small_, m, 0);
    }
    m.link.sequence = 0;
    --size_;
  }

  [[nodiscard]] std::vector<message*> in_order() const {
    std::vector<message*> all;
    collect(all);
    return all;
  }

 private:
  [[nodiscard]] static constexpr bool is_wild(key k) noexcept {
    return static_cast<std::int32_t>(k >> 32) == any_source ||
           static_cast<std::int32_t>(k & 0xFFFFFFFFu) == any_tag;
  }

  void collect(std::vector<message*>& all) const {
    all.clear();
    const auto add_queue = [&](key k, message* head) {
      if (is_wild(k)) return;
      find_in(head, 0, [&](message& m) { return all.push_back(&m), false; });
    };
    add_queue(0, small_);
    table_.each(add_queue);
    sort_by_age(all);
  }

  [[gnu::noinline]] void add_other(message& m) {
    if (!hashed_ && size_ < small_limit) {
      uniform_ = false;
      append(small_, m, 0);
      return;
    }
    if (!hashed_) spill();
    table_.reserve(indexed_ ? classes : 1);
    file(m, 0);
    if (indexed_) file_wild(m);
  }

  [[gnu::noinline]] void unfile(message& m) noexcept {
    const std::size_t lanes = indexed_ ? classes : 1;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      std::uint64_t examined = 0;
      auto& s = *table_.find(key_in_class(m.sent, lane), examined);
      unlink(s.head, m, lane);
      if (s.head == nullptr) table_.erase(s);
    }
    if (size_ > 1) return;
    hashed_ = false;  // this was the last
    if (clock_ - last_wildcard_ > wildcard_memory) indexed_ = false;
  }

  /// The first of the list does not fit, or there is no list.
  [[nodiscard, gnu::noinline]] message* find_other(const envelope& wanted, search_counts& counts) {
    if (hashed_) return find_hashed(wanted, counts);
    std::uint64_t examined = 0;
    const auto taken = [&](const message& m) {
      ++examined;
      return wanted.takes(m.sent);
    };
    message* const found = uniform_ ? nullptr : find_in(small_, 0, taken);
    count_search(counts, examined);
    return found;
  }

  [[nodiscard]] message* find_hashed(const envelope& wanted, search_counts& counts) {
    if (class_of(wanted) != 0) {
      if (!indexed_) index_all();
      last_wildcard_ = clock_;
    }
    std::uint64_t examined = 0;
    const auto* const s = table_.find(key_of(wanted), examined);
    count_search(counts, examined);
    return s == nullptr ? nullptr : s->head;
  }

  void file(message& m, std::size_t lane) noexcept {
    append(table_.find_or_add(key_in_class(m.sent, lane)).head, m, lane);
  }

  void file_wild(message& m) noexcept {
    for (std::size_t lane = 1; lane < classes; ++lane) file(m, lane);
  }

  void index_all() {
    collect(scratch_);
    table_.reserve((classes - 1) * scratch_.size());
    for (message* m : scratch_) file_wild(*m);
    indexed_ = true;
  }

  void spill() {
    table_.reserve(classes * (small_limit + 1));
    if (uniform_) {
      if (indexed_) find_in(small_, 0, [this](message& m) { return file_wild(m), false; });
      table_.find_or_add(key_of(small_->sent)).head = small_;
      small_ = nullptr;
    }
    while (small_ != nullptr) {
      message& m = *small_;
      unlink(small_, m, 0);
      file(m, 0);
      if (indexed_) file_wild(m);
    }
    uniform_ = false;
    hashed_ = true;
  }

  message* small_ = nullptr;  ///< all entries while not hashed_
  bool uniform_ = false;      ///< all carry the envelope of the first of the list
  bool hashed_ = false;       ///< ends when the store becomes empty
  bool indexed_ = false;      ///< while hashed_, every message is in four queues, not in one
  std::size_t size_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t last_wildcard_ = 0;  ///< clock_ then
  key_table<message> table_;
  std::vector<message*>
      scratch_;  ///< of index_all, kept so that it allocates only at a new maximum
};

class hash_engine final : public engine {
 public:
  std::string_view name() const noexcept override { return "hash"; }

  message* post(receive& r) override {
    if (messages_.size() == 0) [[likely]] {
      ++counts_.searches;
    } else if (message* const m = take(r.wanted); m != nullptr) {
      r.link.sequence = 0;
      return m;
    }
    receives_.add(r);
    count_stored(counts_.most_posted, receives_.size());
    return nullptr;
  }

  receive* arrive(message& m) override {
    SINEW_EXPECT(m.sent.source >= 0 && m.sent.tag != any_tag);
    receive* const r = receives_.match(m.sent, counts_);
    if (r != nullptr) {
      m.link.sequence = 0;
    } else {
      messages_.add(m);
      count_stored(counts_.most_unexpected, messages_.size());
    }
    return r;
  }

  message* peek(const envelope& wanted) override { return messages_.find(wanted, counts_); }

  message* take(const envelope& wanted) override {
    message* const m = peek(wanted);
    if (m != nullptr) messages_.remove(*m);
    return m;
  }

  bool cancel(receive& r) override {
    if (r.link.sequence == 0) return false;
    receives_.remove(r);
    return true;
  }

  std::size_t posted() const noexcept override { return receives_.size(); }
  std::size_t unexpected() const noexcept override { return messages_.size(); }
  const search_counts& counts() const noexcept override { return counts_; }

  void each_receive(void (*visit)(void*, const receive&), void* context) const override {
    for (const receive* r : receives_.in_order()) visit(context, *r);
  }

  void each_message(void (*visit)(void*, const message&), void* context) const override {
    for (const message* m : messages_.in_order()) visit(context, *m);
  }

 private:
  receive_store receives_;
  message_store messages_;
  search_counts counts_;
};

static_assert(sizeof(hash_engine) < 512);
static_assert(sizeof(message) <= 128 && sizeof(receive) <= 128);

}  // namespace

std::unique_ptr<engine> make_hash() { return std::make_unique<hash_engine>(); }

}  // namespace sinew::match
