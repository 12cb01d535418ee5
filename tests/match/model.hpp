// SPDX-License-Identifier: BSD-3-Clause
// An engine that is right by inspection: everything posted and everything arrived in two vectors,
// scanned from the front. And the same with a flaw, to show that the tests would see it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "sinew/match/engine.hpp"

namespace sinew::match::test {

enum class flaw {
  none,
  youngest_first,         ///< of several receives the youngest gets the message
  exact_before_wildcard,  ///< an exact receive wins over an older one with a wildcard
  cancel_forgets,         ///< a cancelled receive is still matched
  late,                   ///< from the 41st receive stored on, the second oldest wins
  probe_takes,            ///< a probe from any source removes what it finds
  unordered_messages,     ///< from the 5th message stored on, the youngest goes first
};

class model final : public engine {
 public:
  explicit model(flaw f = flaw::none) : flaw_(f) {}

  std::string_view name() const noexcept override { return "model"; }

  message* post(receive& r) override {
    if (message* const m = take(r.wanted)) {
      return m;
    }
    receives_.push_back(&r);
    return nullptr;
  }

  receive* arrive(message& m) override {
    std::vector<receive*> candidates;
    for (receive* r : receives_) {
      if (r->wanted.takes(m.sent)) {
        candidates.push_back(r);
      }
    }
    if (candidates.empty()) {
      messages_.push_back(&m);
      return nullptr;
    }
    receive* const found = chosen(candidates);
    drop(receives_, found);
    return found;
  }

  message* peek(const envelope& wanted) override {
    message* const found = first(wanted);
    if (flaw_ == flaw::probe_takes && found != nullptr && wanted.source == any_source) {
      drop(messages_, found);
    }
    return found;
  }

  message* take(const envelope& wanted) override {
    message* const found = first(wanted);
    if (found != nullptr) {
      drop(messages_, found);
    }
    return found;
  }

  bool cancel(receive& r) override {
    const bool stored = std::find(receives_.begin(), receives_.end(), &r) != receives_.end();
    if (stored && flaw_ != flaw::cancel_forgets) {
      drop(receives_, &r);
    }
    return stored;
  }

  void withdraw(message& m) noexcept override { drop(messages_, &m); }

  std::size_t posted() const noexcept override { return receives_.size(); }
  std::size_t unexpected() const noexcept override { return messages_.size(); }
  const search_counts& counts() const noexcept override { return counts_; }

  void each_receive(void (*visit)(void*, const receive&), void* context) const override {
    for (const receive* r : receives_) {
      visit(context, *r);
    }
  }
  void each_message(void (*visit)(void*, const message&), void* context) const override {
    for (const message* m : messages_) {
      visit(context, *m);
    }
  }

 private:
  [[nodiscard]] receive* chosen(const std::vector<receive*>& candidates) const {
    if (flaw_ == flaw::youngest_first) {
      return candidates.back();
    }
    if (flaw_ == flaw::late && receives_.size() > 40 && candidates.size() > 1) {
      return candidates[1];
    }
    if (flaw_ == flaw::exact_before_wildcard) {
      for (receive* r : candidates) {
        if (r->wanted.source != any_source && r->wanted.tag != any_tag) {
          return r;
        }
      }
    }
    return candidates.front();
  }

  [[nodiscard]] message* first(const envelope& wanted) const {
    const auto fits = [&](const message* m) { return wanted.takes(m->sent); };
    if (flaw_ == flaw::unordered_messages && messages_.size() > 4) {
      const auto at = std::find_if(messages_.rbegin(), messages_.rend(), fits);
      return at == messages_.rend() ? nullptr : *at;
    }
    const auto at = std::find_if(messages_.begin(), messages_.end(), fits);
    return at == messages_.end() ? nullptr : *at;
  }

  template <class Entry>
  static void drop(std::vector<Entry*>& from, Entry* what) {
    from.erase(std::find(from.begin(), from.end(), what));
  }

  flaw flaw_;
  std::vector<receive*> receives_;
  std::vector<message*> messages_;
  search_counts counts_;
};

}  // namespace sinew::match::test
