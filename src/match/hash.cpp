// SPDX-License-Identifier: BSD-3-Clause
// The default engine. Up to `short_limit` entries, or any number that all carry one envelope, are a
// plain list, which nothing beats. Beyond that the list holds only the youngest, of which there are
// as few or as uniform; older ones are filed in a table that leads from an envelope to the queue of
// the entries that carry exactly it, so the cost depends neither on how many are stored nor on
// their tags. An entry's line of the table is fetched when it joins the list and is near when the
// entry is filed. All of the table is older than all of the list: a search looks into the list only
// if the table has nothing for it, and files what it has to pass over, so that no entry is passed
// over twice.
//
// Wildcards. A receive belongs to one of four classes: exact, any source, any tag, both. Its
// envelope, wildcards included, is its key, so an arriving message has at most one queue to look
// at in each class, and the lowest sequence number among the heads is the earliest receive. Only
// classes that have receives are looked into.
// A message is filed under its exact key. The first search with a wildcard of one class files all
// of them by that class too, in a table of its own and in another lane of links, and from then on
// each new one; so every search, wildcard or not, is one look-up. Long without wildcards, it stops
// that. That first search sorts the n messages that are filed, by age: n log n steps, once.

#include <algorithm>
#include <array>
#include <vector>

#include "match/engines.hpp"
#include "match/fifo.hpp"
#include "match/key_table.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::match {
namespace {

constexpr std::size_t short_limit = 8;
/// Messages stored since the last wildcard search after which the empty store drops its indexes.
constexpr std::uint64_t wildcard_memory = 1024;

// Classes, by their wildcards.
constexpr std::size_t exact = 0;
constexpr std::size_t source_wild = 1;
constexpr std::size_t tag_wild = 2;
constexpr std::size_t both_wild = source_wild | tag_wild;
constexpr std::size_t classes = 4;

[[nodiscard]] constexpr std::size_t class_of(const envelope& wanted) noexcept {
  return (wanted.source == any_source ? source_wild : 0) + (wanted.tag == any_tag ? tag_wild : 0);
}
static_assert(class_of({any_source, any_tag}) == both_wild && both_wild + 1 == classes);

/// The key under which a receive of class `c` that takes `sent` is stored.
[[nodiscard]] constexpr key key_in_class(const envelope& sent, std::size_t c) noexcept {
  return key_of({(c & source_wild) != 0 ? any_source : sent.source,
                 (c & tag_wild) != 0 ? any_tag : sent.tag});
}

template <class Entry>
void check_address(const Entry& e) {
  SINEW_CHECK((reinterpret_cast<std::uintptr_t>(&e) >> 48) == 0,
              "the matching engine \"hash\" cannot store an entry above 2^48",
              "its table keeps 48 bits of an address", "set SINEW_MATCH_ENGINE=list");
}

/// The list of the youngest, beside a table that has older ones: short, or all carry one envelope.
template <class Entry>
struct young_list {
  Entry* head = nullptr;
  std::size_t size = 0;
  bool uniform = false;

  /// `its`: the member that is an entry's envelope. `file_oldest` makes room.
  template <class Table, class File>
  void add(Entry& e, envelope Entry::* its, const Table& table, File file_oldest) noexcept {
    if (head == nullptr || !uniform || e.*its != head->*its) {
      table.prefetch(key_of(e.*its));
      if (size >= short_limit) {
        file_oldest();
      }
      uniform = head == nullptr;
    }
    append(head, e, exact);
    ++size;
  }
  void remove(Entry& e) noexcept {
    SINEW_EXPECT(size != 0);
    unlink(head, e, exact);
    --size;
    SINEW_ENSURE((size == 0) == (head == nullptr));
  }
  /// Whether a stored entry is here and not in the table.
  [[nodiscard]] bool has(const Entry& e) const noexcept {
    return head != nullptr && e.link.sequence >= head->link.sequence;
  }
};

/// Nothing is stored: a search all the same.
template <class Entry>
[[nodiscard]] inline Entry* none(search_counts& counts) noexcept {
  ++counts.searches;
  return nullptr;
}

template <class Entry>
[[nodiscard]] std::vector<Entry*> by_age(std::vector<Entry*> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry* a, const Entry* b) { return a->link.sequence < b->link.sequence; });
  return entries;
}

class receive_store {
 public:
  explicit receive_store(const hash_key& secret) : table_(secret) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void add(receive& r, std::uint64_t& most) {
    if (size_ != 0 && (!uniform_ || r.wanted != small_->wanted)) [[unlikely]] {
      return add_other(r, most);
    }
    uniform_ = true;
    append(small_, r, exact);
    added(r, most);
  }

  /// match(), where the first of a list is what fits; else null, and nothing has been done.
  [[nodiscard]] receive* match_first(const envelope& sent, search_counts& counts) noexcept {
    receive* const first = small_;
    SINEW_ASSERT(first == nullptr || !hashed_);
    if (first == nullptr || !first->wanted.takes(sent)) {
      return nullptr;
    }
    count_search(counts, 1);
    remove_small(*first);
    return first;
  }

  /// The earliest that takes a message with this envelope, removed; or null.
  [[nodiscard]] receive* match(const envelope& sent, search_counts& counts) noexcept {
    if (receive* const first = match_first(sent, counts); first != nullptr) {
      return first;
    }
    if (small_ != nullptr) {
      return match_small(sent, counts);
    }
    return size_ == 0 ? none<receive>(counts) : match_hashed(sent, counts);
  }

  void remove(receive& r) noexcept {
    SINEW_EXPECT(r.link.sequence != 0 && r.link.sequence <= clock_);
    if (!hashed_) {
      remove_small(r);
    } else if (young_.has(r)) {
      remove_young(r);
    } else {
      std::uint64_t examined = 0;
      remove_filed(*table_.find(key_of(r.wanted), examined), r);
    }
  }

  [[nodiscard]] std::vector<receive*> in_order() const {
    std::vector<receive*> all;
    const auto add_queue = [&](receive* head) {
      find_in(head, exact, [&](receive& r) { return all.push_back(&r), false; });
    };
    add_queue(small_);
    add_queue(young_.head);
    table_.each(add_queue);
    return by_age(std::move(all));
  }

 private:
  struct own_key {
    key operator()(const receive& r) const noexcept { return key_of(r.wanted); }
  };
  using table = key_table<receive, own_key>;

  // The less usual is kept out of line, so that the code above stays short.

  void added(receive& r, std::uint64_t& most) noexcept {
    r.link.sequence = ++clock_;
    count_stored(most, ++size_);
    SINEW_ENSURE(hashed_ == (filed_ != 0) && size_ >= filed_ + young_.size);
  }

  [[gnu::noinline]] void add_other(receive& r, std::uint64_t& most) {
    if (!hashed_ && size_ < short_limit) {
      uniform_ = false;
      append(small_, r, exact);
    } else {
      add_long(r);
    }
    added(r, most);
  }

  void add_long(receive& r) {
    check_address(r);
    table_.reserve(short_limit + 1);
    if (!hashed_) {
      young_ = {std::exchange(small_, nullptr), size_, std::exchange(uniform_, false)};
      hashed_ = true;
    }
    young_.add(r, &receive::wanted, table_, [this] { file_oldest(); });
  }

  /// The first of the list does not fit.
  [[nodiscard, gnu::noinline]] receive* match_small(const envelope& sent,
                                                    search_counts& counts) noexcept {
    receive* const first = small_;
    std::uint64_t examined = 1;
    receive* r = uniform_ ? first : next_of(*first, exact);
    for (; r != first; r = next_of(*r, exact)) {
      ++examined;
      if (r->wanted.takes(sent)) {
        remove_small(*r);
        break;
      }
    }
    count_search(counts, examined);
    return r != first ? r : nullptr;
  }

  [[nodiscard, gnu::noinline]] receive* match_hashed(const envelope& sent,
                                                     search_counts& counts) noexcept {
    SINEW_EXPECT(hashed_ && filed_ != 0);
    std::uint64_t examined = 0;
    receive* const found = find_hashed(sent, examined);
    count_search(counts, examined);
    SINEW_ENSURE(found == nullptr || (found->wanted.takes(sent) && found->link.sequence == 0));
    return found;
  }

  /// Removed already.
  [[nodiscard]] receive* find_hashed(const envelope& sent, std::uint64_t& examined) noexcept {
    table::slot* best = in_class_[exact] != 0 ? table_.find(key_of(sent), examined) : nullptr;
    for (std::size_t c = exact + 1; c < classes && in_class_[exact] != filed_; ++c) {
      if (in_class_[c] == 0) {
        continue;
      }
      table::slot* const s = table_.find(key_in_class(sent, c), examined);
      if (s == nullptr) {
        continue;
      }
      if (best == nullptr || head(*s).link.sequence < head(*best).link.sequence) {
        best = s;
      }
    }
    if (best != nullptr) {
      receive& found = head(*best);
      remove_filed(*best, found);
      return &found;
    }
    while (young_.head != nullptr) {
      ++examined;
      receive& oldest = *young_.head;
      if (oldest.wanted.takes(sent)) {
        remove_young(oldest);
        return &oldest;
      }
      file_oldest();
    }
    return nullptr;
  }

  [[nodiscard]] static receive& head(table::slot s) noexcept { return *table::head(s); }

  /// Of the list; if it is uniform, all of it.
  void file_oldest() noexcept {
    SINEW_EXPECT(young_.head != nullptr && young_.size != 0);
    receive& r = *young_.head;
    const std::size_t count = young_.uniform ? young_.size : 1;
    if (young_.uniform) {
      young_ = {};
    } else {
      young_.remove(r);
      next_of(r, exact) = previous_of(r, exact) = &r;
    }
    receive* queue = table_.head_or_put(key_of(r.wanted), r);
    append_queue(queue, r, exact);
    in_class_[class_of(r.wanted)] += count;
    filed_ += count;
  }

  void remove_filed(table::slot& s, receive& r) noexcept {
    SINEW_EXPECT(filed_ != 0 && in_class_[class_of(r.wanted)] != 0);
    receive* queue = &head(s);
    SINEW_ASSERT(queue->wanted == r.wanted);
    unlink(queue, r, exact);
    if (queue == nullptr) {
      table_.erase(s);
    } else {
      table::set_head(s, *queue);
    }
    --in_class_[class_of(r.wanted)];
    r.link.sequence = 0;
    --size_;
    if (--filed_ == 0) {  // what is left is a plain list again
      SINEW_ASSERT(table_.used() == 0);
      small_ = young_.head;
      uniform_ = young_.uniform;
      young_ = {};
      hashed_ = false;
    }
  }

  void remove_young(receive& r) noexcept {
    young_.remove(r);
    r.link.sequence = 0;
    --size_;
  }

  void remove_small(receive& r) noexcept {
    SINEW_EXPECT(!hashed_ && size_ != 0);
    unlink(small_, r, exact);
    r.link.sequence = 0;
    --size_;
  }

  receive* small_ = nullptr;  ///< all entries while not hashed_
  bool uniform_ = false;      ///< all want the same as the first of the list; false while hashed_
  bool hashed_ = false;       ///< something is filed
  std::size_t size_ = 0;
  std::uint64_t clock_ = 0;
  std::size_t filed_ = 0;
  young_list<receive> young_;                    ///< the others, while hashed_
  std::array<std::size_t, classes> in_class_{};  ///< of those filed
  table table_;
};

class message_store {
 public:
  explicit message_store(const hash_key& secret)
      : tables_{table(secret, {exact}), table(secret, {source_wild}), table(secret, {tag_wild})} {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void add(message& m) {
    if (size_ == 0 || (uniform_ && m.sent == small_->sent)) [[likely]] {
      uniform_ = true;
      append(small_, m, exact);
    } else if (!hashed_ && size_ < short_limit) {
      uniform_ = false;
      append(small_, m, exact);
    } else {
      add_other(m);
    }
    m.link.sequence = ++clock_;
    ++size_;
  }

  /// The earliest that `wanted` takes, left in place; or null.
  [[nodiscard]] message* find(const envelope& wanted, search_counts& counts) {
    message* const first = small_;
    if (first == nullptr) {
      return size_ == 0 ? none<message>(counts) : find_hashed(wanted, counts);
    }
    if (!wanted.takes(first->sent)) {
      return find_small(wanted, counts);
    }
    count_search(counts, 1);
    return first;
  }

  void remove(message& m) noexcept {
    SINEW_EXPECT(m.link.sequence != 0 && m.link.sequence <= clock_ && size_ != 0);
    if (!hashed_) {
      unlink(small_, m, exact);
    } else if (young_.has(m)) {
      young_.remove(m);
    } else {
      unfile(m);
    }
    m.link.sequence = 0;
    --size_;
  }

  [[nodiscard]] std::vector<message*> in_order() const {
    std::vector<message*> all;
    const auto add_queue = [&](message* head) {
      find_in(head, exact, [&](message& m) { return all.push_back(&m), false; });
    };
    add_queue(small_);
    add_queue(young_.head);
    tables_[exact].each(add_queue);
    return by_age(std::move(all));
  }

 private:
  struct key_in {
    std::size_t of_class;
    key operator()(const message& m) const noexcept { return key_in_class(m.sent, of_class); }
  };
  using table = key_table<message, key_in>;

  [[gnu::noinline]] void add_other(message& m) {
    check_address(m);
    for_each_table([](table& t) { t.reserve(short_limit + 1); });
    if (!hashed_) {
      young_ = {std::exchange(small_, nullptr), size_, std::exchange(uniform_, false)};
      hashed_ = true;
    }
    young_.add(m, &message::sent, tables_[exact], [this] { file_oldest(); });
  }

  /// The first of the list does not fit.
  [[nodiscard, gnu::noinline]] message* find_small(const envelope& wanted,
                                                   search_counts& counts) noexcept {
    message* const first = small_;
    std::uint64_t examined = 1;
    message* m = uniform_ ? first : next_of(*first, exact);
    while (m != first && (++examined, !wanted.takes(m->sent))) {
      m = next_of(*m, exact);
    }
    count_search(counts, examined);
    return m != first ? m : nullptr;
  }

  [[nodiscard, gnu::noinline]] message* find_hashed(const envelope& wanted, search_counts& counts) {
    SINEW_EXPECT(hashed_ && filed_ != 0);
    std::uint64_t examined = 0;
    message* const found = find_filed(wanted, examined);
    count_search(counts, examined);
    SINEW_ENSURE(found == nullptr || (wanted.takes(found->sent) && found->link.sequence != 0));
    return found;
  }

  [[nodiscard]] message* find_filed(const envelope& wanted, std::uint64_t& examined) {
    const std::size_t c = class_of(wanted);
    if (c != exact) {
      if (!indexed_[c]) {
        index(c);
      }
      last_wildcard_ = clock_;
    }
    message* found = nullptr;
    if (c == both_wild) {
      found = all_;
      if (found != nullptr) {
        ++examined;
      }
    } else if (const auto* const s = tables_[c].find(key_of(wanted), examined); s != nullptr) {
      found = table::head(*s);
    }
    while (found == nullptr && young_.head != nullptr) {
      ++examined;
      if (wanted.takes(young_.head->sent)) {
        found = young_.head;
      } else {
        file_oldest();
      }
    }
    return found;
  }

  /// Calls fn(table) for each that is in use.
  template <class Fn>
  void for_each_table(Fn&& fn) {
    for (std::size_t c = 0; c < tables_.size(); ++c) {
      if (indexed_[c]) {
        fn(tables_[c]);
      }
    }
  }

  /// Of the list; if it is uniform, all of it.
  void file_oldest() noexcept {
    SINEW_EXPECT(young_.head != nullptr);
    const bool whole = young_.uniform;
    message* const first = young_.head;
    message* const end = whole ? first : next_of(*first, exact);
    message* m = first;
    do {
      message* const next = next_of(*m, exact);
      young_.remove(*m);
      file(*m);
      m = next;
    } while (young_.head != nullptr && m != end);
  }

  void file(message& m) noexcept {
    for (std::size_t c = 0; c < classes; ++c) {
      if (indexed_[c]) {
        file_in(m, c);
      }
    }
    ++filed_;
  }

  void file_in(message& m, std::size_t c) noexcept {
    if (c == both_wild) {
      append(all_, m, c);
    } else {
      message* queue = tables_[c].head_or_put(key_in_class(m.sent, c), m);
      append(queue, m, c);
    }
  }

  [[gnu::noinline]] void unfile(message& m) noexcept {
    SINEW_EXPECT(filed_ != 0 && indexed_[exact]);
    for (std::size_t c = 0; c < tables_.size(); ++c) {
      if (!indexed_[c]) {
        continue;
      }
      std::uint64_t examined = 0;
      auto* const there = tables_[c].find(key_in_class(m.sent, c), examined);
      SINEW_ASSERT(there != nullptr);  // what is filed is filed in each class
      auto& s = *there;
      message* queue = table::head(s);
      unlink(queue, m, c);
      if (queue == nullptr) {
        tables_[c].erase(s);
      } else {
        table::set_head(s, *queue);
      }
    }
    if (indexed_[both_wild]) {
      unlink(all_, m, both_wild);
    }
    if (--filed_ == 0) {
      become_small();
    }
  }

  /// Nothing is filed any more: what is left is a plain list again.
  void become_small() noexcept {
    SINEW_EXPECT(filed_ == 0 && tables_[exact].used() == 0);
    small_ = young_.head;
    uniform_ = young_.uniform;
    young_ = {};
    hashed_ = false;
    if (clock_ - last_wildcard_ > wildcard_memory) {
      indexed_ = {true};
    }
  }

  /// Files what is filed in class `c` too, by age.
  [[gnu::noinline]] void index(std::size_t c) {
    SINEW_EXPECT(c != exact && c < classes && !indexed_[c]);
    if (c != both_wild) {
      tables_[c].reserve(tables_[exact].used() + short_limit + 1);
    }
    message* chain = nullptr;
    tables_[exact].each([&](message* head) {
      find_in(head, exact, [&](message& m) {
        next_of(m, c) = std::exchange(chain, &m);
        return false;
      });
    });
    for (chain = sorted_by_age(chain, c); chain != nullptr;) {
      message& oldest = *std::exchange(chain, next_of(*chain, c));
      file_in(oldest, c);
    }
    indexed_[c] = true;
  }

  message* small_ = nullptr;  ///< all entries while not hashed_
  bool uniform_ = false;  ///< all carry the envelope of the first of the list; false while hashed_
  bool hashed_ = false;   ///< something is filed
  std::size_t size_ = 0;
  std::uint64_t clock_ = 0;
  std::size_t filed_ = 0;
  young_list<message> young_;                ///< the others, while hashed_
  std::array<bool, classes> indexed_{true};  ///< what is filed, is filed in these classes
  std::uint64_t last_wildcard_ = 0;          ///< clock_ then
  std::array<table, 3> tables_;              ///< of classes that keep a part of the envelope
  message* all_ = nullptr;                   ///< the queue of class both_wild
};

class hash_engine final : public engine {
 public:
  explicit hash_engine(const hash_key& secret) : receives_(secret), messages_(secret) {}

  std::string_view name() const noexcept override { return "hash"; }

  message* post(receive& r) override {
    SINEW_EXPECT(r.wanted.source >= any_source);
    if (messages_.size() != 0) [[unlikely]] {
      return post_behind_messages(r);
    }
    ++counts_.searches;
    receives_.add(r, counts_.most_posted);
    return nullptr;
  }

  receive* arrive(message& m) override {
    SINEW_EXPECT(m.sent.source >= 0 && m.sent.tag != any_tag);
    receive* const r = receives_.match_first(m.sent, counts_);
    if (r == nullptr) [[unlikely]] {
      return arrive_other(m);
    }
    m.link.sequence = 0;
    return r;
  }

  message* peek(const envelope& wanted) override { return messages_.find(wanted, counts_); }

  message* take(const envelope& wanted) override {
    message* const m = peek(wanted);
    if (m != nullptr) {
      messages_.remove(*m);
    }
    return m;
  }

  bool cancel(receive& r) override {
    if (r.link.sequence == 0) {
      return false;
    }
    receives_.remove(r);
    return true;
  }

  void withdraw(message& m) noexcept override { messages_.remove(m); }

  std::size_t posted() const noexcept override { return receives_.size(); }
  std::size_t unexpected() const noexcept override { return messages_.size(); }
  const search_counts& counts() const noexcept override { return counts_; }

  void each_receive(void (*visit)(void*, const receive&), void* context) const override {
    for (const receive* r : receives_.in_order()) {
      visit(context, *r);
    }
  }

  void each_message(void (*visit)(void*, const message&), void* context) const override {
    for (const message* m : messages_.in_order()) {
      visit(context, *m);
    }
  }

 private:
  // Out of line, and the last thing that post() and arrive() do: those two need no frame.

  [[gnu::noinline]] message* post_behind_messages(receive& r) {
    if (message* const m = take(r.wanted); m != nullptr) {
      r.link.sequence = 0;
      return m;
    }
    receives_.add(r, counts_.most_posted);
    return nullptr;
  }

  [[gnu::noinline]] receive* arrive_other(message& m) {
    receive* const r = receives_.match(m.sent, counts_);
    if (r != nullptr) {
      m.link.sequence = 0;
    } else {
      messages_.add(m);
      count_stored(counts_.most_unexpected, messages_.size());
    }
    return r;
  }

  receive_store receives_;
  message_store messages_;
  search_counts counts_;
};

static_assert(sizeof(hash_engine) < 512);
static_assert(sizeof(message) <= 128 && sizeof(receive) <= 128);

}  // namespace

std::unique_ptr<engine> make_hash() { return make_hash(process_hash_key()); }

std::unique_ptr<engine> make_hash(const hash_key& secret) {
  return std::make_unique<hash_engine>(secret);
}

}  // namespace sinew::match
