// SPDX-License-Identifier: BSD-3-Clause
// The concurrent table as an engine, for traffic that promises no wildcards: one look-up per call,
// nothing else. Here it runs under the caller's serialisation like any other engine.

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "match/engines.hpp"
#include "match/fifo.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/match/table.hpp"

namespace sinew::match {
namespace {

/// A communicator's share of address space: 4 MiB of lines, 16 MiB for spilled keys and duplicates.
/// Beyond 2^16 keys, chains get longer.
constexpr table_options size_of_one{
    .first_lines = 64, .most_lines = std::size_t{1} << 16, .most_cells = std::size_t{1} << 18};

[[nodiscard]] table_key key_of_exact(const envelope& e) {
  SINEW_CHECK(!has_wildcard(e),
              "a receive or probe from any source or with any tag cannot be matched",
              "the matching engine in use, \"table\", finds exact envelopes only",
              "set SINEW_MATCH_ENGINE=hash, or name the source and the tag");
  return {0, e.source, e.tag};
}

class table_engine final : public engine {
 public:
  std::string_view name() const noexcept override { return exact_engine; }

  message* post(receive& r) override {
    auto* const m =
        static_cast<message*>(insert(r.wanted, table_side::receive, r, posted_, unexpected_));
    count_stored(counts_.most_posted, posted_);
    return m;
  }

  receive* arrive(message& m) override {
    auto* const r =
        static_cast<receive*>(insert(m.sent, table_side::send, m, unexpected_, posted_));
    count_stored(counts_.most_unexpected, unexpected_);
    return r;
  }

  message* peek(const envelope& wanted) override {
    return found(table_.peek(key_of_exact(wanted), table_side::send));
  }

  message* take(const envelope& wanted) override {
    message* const m = found(table_.take(key_of_exact(wanted), table_side::send));
    if (m != nullptr) {
      SINEW_ASSERT(m->link.sequence != 0 && unexpected_ != 0);
      m->link.sequence = 0;
      --unexpected_;
    }
    return m;
  }

  bool cancel(receive& r) override {
    if (r.link.sequence == 0) {
      return false;
    }
    const bool removed = table_.erase(key_of_exact(r.wanted), table_side::receive, &r);
    SINEW_ASSERT(removed);
    r.link.sequence = 0;
    --posted_;
    return removed;
  }

  void withdraw(message& m) noexcept override {
    const bool removed = table_.erase({0, m.sent.source, m.sent.tag}, table_side::send, &m);
    SINEW_ASSERT(removed);
    (void)removed;
    m.link.sequence = 0;
    --unexpected_;
  }

  std::size_t posted() const noexcept override { return posted_; }
  std::size_t unexpected() const noexcept override { return unexpected_; }
  const search_counts& counts() const noexcept override { return counts_; }

  void each_receive(void (*visit)(void*, const receive&), void* context) const override {
    for (const receive* r : in_order<receive>(table_side::receive)) {
      visit(context, *r);
    }
  }
  void each_message(void (*visit)(void*, const message&), void* context) const override {
    for (const message* m : in_order<message>(table_side::send)) {
      visit(context, *m);
    }
  }

 private:
  /// Null if `e` is stored now. `same` and `other`: how many are, of its side and of the other.
  template <class Entry>
  [[nodiscard]] void* insert(const envelope& by, table_side side, Entry& e, std::size_t& same,
                             std::size_t& other) {
    const table::outcome o = table_.insert(key_of_exact(by), side, &e);
    if (o.what.retry()) {
      throw std::bad_alloc();
    }
    count_search(counts_, o.partner != nullptr ? 1 : 0);
    if (o.partner == nullptr) {
      e.link.sequence = ++clock_;
      ++same;
      return nullptr;
    }
    SINEW_ASSERT(other != 0);  // the partner was one of them
    e.link.sequence = 0;
    if (side == table_side::send) {
      static_cast<receive*>(o.partner)->link.sequence = 0;
    } else {
      static_cast<message*>(o.partner)->link.sequence = 0;
    }
    --other;
    return o.partner;
  }

  [[nodiscard]] message* found(void* value) noexcept {
    count_search(counts_, value != nullptr ? 1 : 0);
    return static_cast<message*>(value);
  }

  template <class Entry>
  [[nodiscard]] std::vector<const Entry*> in_order(table_side side) const {
    struct listing {
      table_side side;
      std::vector<const Entry*> all;
    } to{side, {}};
    table_.each(
        [](void* l, const table_key&, table_side of, void* value) {
          auto& [wanted, all] = *static_cast<listing*>(l);
          if (of == wanted) {
            all.push_back(static_cast<const Entry*>(value));
          }
        },
        &to);
    std::sort(to.all.begin(), to.all.end(),
              [](const Entry* a, const Entry* b) { return a->link.sequence < b->link.sequence; });
    return std::move(to.all);
  }

  table table_{size_of_one};
  std::uint64_t clock_ = 0;
  std::size_t posted_ = 0;
  std::size_t unexpected_ = 0;
  search_counts counts_;
};

}  // namespace

std::unique_ptr<engine> make_exact() { return std::make_unique<table_engine>(); }

}  // namespace sinew::match
