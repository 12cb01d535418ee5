// SPDX-License-Identifier: BSD-3-Clause
// The plain reference: one list of receives, one of messages, both searched from the oldest on.
// Its cost grows with the depth of the queues; its order is right by construction.

#include "match/engines.hpp"
#include "match/fifo.hpp"
#include "sinew/base/check.hpp"

namespace sinew::match {
namespace {

class list_engine final : public engine {
 public:
  std::string_view name() const noexcept override { return "list"; }

  message* post(receive& r) override {
    message* const m = take(r.wanted);
    if (m != nullptr) {
      r.link.sequence = 0;
      return m;
    }
    r.link.sequence = 1;
    append(receives_, r, 0);
    count_stored(counts_.most_posted, ++posted_);
    return nullptr;
  }

  receive* arrive(message& m) override {
    SINEW_EXPECT(m.sent.source >= 0 && m.sent.tag != any_tag);
    std::uint64_t examined = 0;
    receive* const found = find_in(receives_, 0, [&](const receive& r) {
      ++examined;
      return r.wanted.takes(m.sent);
    });
    count_search(counts_, examined);
    if (found != nullptr) {
      remove(*found);
      m.link.sequence = 0;
      return found;
    }
    m.link.sequence = 1;
    append(messages_, m, 0);
    count_stored(counts_.most_unexpected, ++unexpected_);
    return nullptr;
  }

  message* peek(const envelope& wanted) override {
    std::uint64_t examined = 0;
    message* const found = find_in(messages_, 0, [&](const message& m) {
      ++examined;
      return wanted.takes(m.sent);
    });
    count_search(counts_, examined);
    return found;
  }

  message* take(const envelope& wanted) override {
    message* const found = peek(wanted);
    if (found != nullptr) {
      unlink(messages_, *found, 0);
      found->link.sequence = 0;
      --unexpected_;
    }
    return found;
  }

  bool cancel(receive& r) override {
    if (r.link.sequence == 0) {
      return false;
    }
    remove(r);
    return true;
  }

  void withdraw(message& m) noexcept override {
    unlink(messages_, m, 0);
    m.link.sequence = 0;
    --unexpected_;
  }

  std::size_t posted() const noexcept override { return posted_; }
  std::size_t unexpected() const noexcept override { return unexpected_; }
  const search_counts& counts() const noexcept override { return counts_; }

  void each_receive(void (*visit)(void*, const receive&), void* context) const override {
    find_in(receives_, 0, [&](const receive& r) { return visit(context, r), false; });
  }

  void each_message(void (*visit)(void*, const message&), void* context) const override {
    find_in(messages_, 0, [&](const message& m) { return visit(context, m), false; });
  }

 private:
  void remove(receive& r) noexcept {
    unlink(receives_, r, 0);
    r.link.sequence = 0;
    --posted_;
  }

  receive* receives_ = nullptr;
  message* messages_ = nullptr;
  std::size_t posted_ = 0;
  std::size_t unexpected_ = 0;
  search_counts counts_;
};

}  // namespace

std::unique_ptr<engine> make_list() { return std::make_unique<list_engine>(); }

}  // namespace sinew::match
