// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/steering.hpp"

#include <climits>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "p2p/operation.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/raw_write.hpp"

namespace sinew::p2p {
namespace {

/// Of a rank: what follows is left to chance, and not told.
constexpr int most_numbers = 1000;
/// A probe that polls for a sender whose message does not come, while others' lie there.
constexpr int most_vain_looks = 1000;

class steered_engine final : public match::engine {
 public:
  steered_engine(steering& by, std::unique_ptr<match::engine> inner)
      : by_(by), inner_(std::move(inner)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return inner_->name(); }

  [[nodiscard]] match::message* post(match::receive& r) override {
    const std::uint64_t order = ++posts_;
    int number = 0;
    if (r.wanted.source == match::any_source) {
      number = by_.take_number();
      begin(number, r.wanted.tag, order);
      r.wanted.source = by_.forced(number);
    }
    match::message* const met = inner_->post(r);
    if (met == nullptr) {
      posted_[&r] = {order, number};
    } else if (number != 0) {
      by_.tell("met", number, met->sent.source);
    }
    mark(r, met == nullptr && number != 0);
    return met;
  }

  [[nodiscard]] match::receive* arrive(match::message& m) override {
    match::receive* const met = inner_->arrive(m);
    std::uint64_t order = UINT64_MAX;
    if (met != nullptr) {
      const auto found = posted_.find(met);
      SINEW_ASSERT(found != posted_.end());
      order = found->second.order;
      if (found->second.number != 0) {
        by_.tell("met", found->second.number, m.sent.source);
      }
      posted_.erase(found);
      mark(*met, false);
    }
    // What an earlier receive takes no later one could have met.
    for (choice& each : choices_) {
      if (each.order <= order) {
        offer(each, m.sent);
      }
    }
    return met;
  }

  [[nodiscard]] match::message* peek(const match::envelope& wanted) override {
    return search(wanted, &match::engine::peek);
  }
  [[nodiscard]] match::message* take(const match::envelope& wanted) override {
    return search(wanted, &match::engine::take);
  }
  bool cancel(match::receive& r) override {
    const bool removed = inner_->cancel(r);
    if (removed) {
      posted_.erase(&r);
      mark(r, false);
    }
    return removed;
  }
  void withdraw(match::message& m) noexcept override { inner_->withdraw(m); }
  [[nodiscard]] std::size_t posted() const noexcept override { return inner_->posted(); }
  [[nodiscard]] std::size_t unexpected() const noexcept override { return inner_->unexpected(); }
  [[nodiscard]] const match::search_counts& counts() const noexcept override {
    return inner_->counts();
  }
  void each_receive(void (*visit)(void*, const match::receive&), void* context) const override {
    inner_->each_receive(visit, context);
  }
  void each_message(void (*visit)(void*, const match::message&), void* context) const override {
    inner_->each_message(visit, context);
  }

 private:
  /// What a receive or probe from any source could have met.
  struct choice {
    int number;
    message_tag tag;
    std::uint64_t order;  ///< of the receive among all that were posted
    std::set<comm_rank> offered;
  };
  struct posted_receive {
    std::uint64_t order;
    int number;  ///< 0: not from any source
  };

  /// The death of any rank that might be its source is told to who waits for it.
  static void mark(match::receive& r, bool steered) noexcept {
    static_cast<operation&>(r).steered = steered;
  }
  void offer(choice& to, const match::envelope& sent) const {
    if (match::envelope{match::any_source, to.tag}.takes(sent) &&
        to.offered.insert(sent.source).second) {
      by_.tell("can", to.number, sent.source);
    }
  }
  void begin(int number, message_tag tag, std::uint64_t order) {
    if (number > most_numbers) {
      return;
    }
    struct offering {
      const steered_engine* of;
      choice* to;
    } all{this, &choices_.emplace_back(choice{number, tag, order, {}})};
    inner_->each_message(
        [](void* o, const match::message& m) {
          auto& [of, to] = *static_cast<offering*>(o);
          of->offer(*to, m.sent);
        },
        &all);
  }

  match::message* search(const match::envelope& wanted,
                         match::message* (match::engine::*look)(const match::envelope&)) {
    if (wanted.source != match::any_source) {
      return (inner_.get()->*look)(wanted);
    }
    const int number = by_.next_number();
    const match::envelope chosen{by_.forced(number), wanted.tag};
    if (inner_->peek(chosen) == nullptr) {
      const bool in_vain = chosen != wanted && inner_->peek(wanted) != nullptr;
      vain_looks_ = in_vain ? vain_looks_ + 1 : 0;
      if (vain_looks_ == most_vain_looks) {
        by_.give_up(number);
      }
      return nullptr;
    }
    vain_looks_ = 0;
    begin(by_.take_number(), wanted.tag, posts_ + 1);
    match::message* const met = (inner_.get()->*look)(chosen);
    by_.tell("met", number, met->sent.source);
    return met;
  }

  steering& by_;
  std::unique_ptr<match::engine> inner_;
  std::uint64_t posts_ = 0;
  int vain_looks_ = 0;
  std::vector<choice> choices_;
  std::unordered_map<const match::receive*, posted_receive> posted_;
};

}  // namespace

source_match parse_match(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::size_t equal = text.find('=', colon == std::string_view::npos ? text.size() : colon);
  source_match result;
  const bool whole = equal != std::string_view::npos;
  const auto part = [&](std::size_t from, std::size_t to, int least, int& value) {
    const auto number = base::parse_integer(text.substr(from, to - from));
    value = static_cast<int>(number.value_or(0));
    return number.has_value() && *number >= least && *number <= INT_MAX;
  };
  int rank = 0;
  int sender = 0;
  SINEW_CHECK(whole && part(0, colon, 0, rank) && part(colon + 1, equal, 1, result.number) &&
                  part(equal + 1, text.size(), 0, sender),
              "the match \"" + std::string(text) + "\" cannot be read",
              "it is not RANK:NUMBER=SENDER",
              "write 0:2=1 if the second receive from any source on rank 0 is to meet rank 1");
  result.rank = job_rank{rank};
  result.sender = comm_rank{sender};
  return result;
}

std::string to_text(const source_match& match) {
  return to_string(match.rank) + ":" + std::to_string(match.number) + "=" + to_string(match.sender);
}

std::string to_text(const std::vector<source_match>& matches) {
  std::string text;
  for (const source_match& each : matches) {
    text += (text.empty() ? "" : ",") + to_text(each);
  }
  return text;
}

std::unique_ptr<steering> steering::of(core::runtime& rt) {
  const char* const forced = std::getenv(forced_matches_variable);
  if (forced == nullptr || rt.threaded()) {
    return nullptr;
  }
  std::unique_ptr<steering> made(new steering(rt.rank()));
  for (const std::string& each : base::split(forced, ',')) {
    if (!each.empty()) {
      if (const source_match m = parse_match(each); m.rank == rt.rank()) {
        made->forced_[m.number] = m.sender;
      }
    }
  }
  if (const char* const file = std::getenv(met_matches_variable)) {
    made->file_ = static_cast<int>(base::parse_integer(file).value_or(-1));
  }
  return made;
}

std::unique_ptr<match::engine> steering::steer(std::unique_ptr<match::engine> inner) {
  return std::make_unique<steered_engine>(*this, std::move(inner));
}

comm_rank steering::forced(int number) const noexcept {
  const auto found = forced_.find(number);
  return found != forced_.end() ? found->second : match::any_source;
}

void steering::tell(const char* what, int number, comm_rank sender) const {
  if (file_ >= 0 && number <= most_numbers) {
    base::raw_write(file_, std::string(what) + " " + to_text({self_, number, sender}) + "\n");
  }
}

}  // namespace sinew::p2p
