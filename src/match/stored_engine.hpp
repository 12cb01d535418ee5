// SPDX-License-Identifier: BSD-3-Clause
// What most engines share: all but how a side keeps and finds its entries. An engine is then two
// stores, one of receives and one of messages, each with
//   void add(Entry&)                 stores it as the youngest; may throw std::bad_alloc, unchanged
//   Entry* find(envelope, examined)  noexcept: the earliest that fits, left in place, or null
//   void remove(Entry&)              noexcept: takes out one that is stored
//   void each(fn) const              calls fn(Entry*) for each, in any order
// Sequence numbers are given here, after add(): they order entries of different queues by age.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "match/fifo.hpp"
#include "sinew/base/check.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::match {

/// Of two entries, either perhaps null, the one stored first.
template <class Entry>
[[nodiscard]] inline Entry* earlier(Entry* a, Entry* b) noexcept {
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? b : a;
  }
  return a->link.sequence < b->link.sequence ? a : b;
}

/// The first in one queue that `fits`.
template <class Entry, class Fits>
[[nodiscard]] inline Entry* first_in(Entry* head, std::size_t lane, std::uint64_t& examined,
                                     Fits&& fits) noexcept {
  return find_in(head, lane, [&](const Entry& e) {
    ++examined;
    return fits(e);
  });
}

/// Whether a stored entry and the envelope that a search brings belong together.
[[nodiscard]] constexpr bool fits(const receive& stored, const envelope& sent) noexcept {
  return stored.wanted.takes(sent);
}
[[nodiscard]] constexpr bool fits(const message& stored, const envelope& wanted) noexcept {
  return wanted.takes(stored.sent);
}

template <class Receives, class Messages>
class stored_engine final : public engine {
 public:
  explicit stored_engine(std::string_view name) : name_(name) {}

  std::string_view name() const noexcept override { return name_; }

  message* post(receive& r) override {
    SINEW_EXPECT(r.wanted.source >= any_source);
    message* const m = take(r.wanted);
    if (m != nullptr) {
      r.link.sequence = 0;
      return m;
    }
    store(receives_, r, posted_, counts_.most_posted);
    return nullptr;
  }

  receive* arrive(message& m) override {
    SINEW_EXPECT(m.sent.source >= 0 && m.sent.tag != any_tag);
    receive* const r = search(receives_, m.sent);
    if (r != nullptr) {
      drop(receives_, *r, posted_);
      m.link.sequence = 0;
      return r;
    }
    store(messages_, m, unexpected_, counts_.most_unexpected);
    return nullptr;
  }

  message* peek(const envelope& wanted) override { return search(messages_, wanted); }

  message* take(const envelope& wanted) override {
    message* const m = search(messages_, wanted);
    if (m != nullptr) {
      drop(messages_, *m, unexpected_);
    }
    return m;
  }

  bool cancel(receive& r) override {
    if (r.link.sequence == 0) {
      return false;
    }
    drop(receives_, r, posted_);
    return true;
  }

  void withdraw(message& m) noexcept override { drop(messages_, m, unexpected_); }

  std::size_t posted() const noexcept override { return posted_; }
  std::size_t unexpected() const noexcept override { return unexpected_; }
  const search_counts& counts() const noexcept override { return counts_; }

  void each_receive(void (*visit)(void*, const receive&), void* context) const override {
    for (const receive* r : in_order<receive>(receives_)) {
      visit(context, *r);
    }
  }
  void each_message(void (*visit)(void*, const message&), void* context) const override {
    for (const message* m : in_order<message>(messages_)) {
      visit(context, *m);
    }
  }

 private:
  template <class Store, class Entry>
  void store(Store& in, Entry& e, std::size_t& size, std::uint64_t& most) {
    in.add(e);
    e.link.sequence = ++clock_;
    count_stored(most, ++size);
    SINEW_ENSURE(e.link.sequence != 0 && most >= size);
  }

  template <class Store, class Entry>
  void drop(Store& from, Entry& e, std::size_t& size) noexcept {
    SINEW_EXPECT(e.link.sequence != 0 && e.link.sequence <= clock_ && size != 0);
    from.remove(e);
    e.link.sequence = 0;
    --size;
  }

  template <class Store>
  [[nodiscard]] auto* search(Store& in, const envelope& e) noexcept {
    std::uint64_t examined = 0;
    auto* const found = in.find(e, examined);
    count_search(counts_, examined);
    SINEW_ENSURE(found == nullptr || (fits(*found, e) && found->link.sequence != 0));
    return found;
  }

  template <class Entry, class Store>
  [[nodiscard]] static std::vector<const Entry*> in_order(const Store& of) {
    std::vector<const Entry*> all;
    of.each([&](const Entry* e) { all.push_back(e); });
    std::sort(all.begin(), all.end(),
              [](const Entry* a, const Entry* b) { return a->link.sequence < b->link.sequence; });
    return all;
  }

  std::string_view name_;
  std::uint64_t clock_ = 0;
  std::size_t posted_ = 0;
  std::size_t unexpected_ = 0;
  search_counts counts_;
  Receives receives_;
  Messages messages_;
};

}  // namespace sinew::match
