// SPDX-License-Identifier: BSD-3-Clause
#include "coll/agreement.hpp"

#include <algorithm>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/coll/nonblocking.hpp"

namespace sinew::coll {

agreement::agreement(p2p::engine& engine, communicator_ref over, message_tag tag,
                     std::shared_ptr<new_communicator> result)
    : schedule(engine, std::move(over), tag),
      state_(state_of(engine.runtime())),
      key_(comm().context().value(), nonblocking_agreement.value()),
      result_(std::move(result)) {}

agreement::~agreement() { leave(); }

void agreement::start(const std::shared_ptr<agreement>& a) {
  SINEW_EXPECT(!a->entered_ && a->after_ == nullptr);
  shared_state& state = a->state_;
  {
    const base::guard held(state.running.lock, a->engine().runtime().threaded());
    std::shared_ptr<agreement>& last = state.latest[a->comm().context().value()];
    const std::shared_ptr<agreement> before = std::exchange(last, a);
    if (before != nullptr) {
      SINEW_ASSERT(before != a && before->after_ == nullptr);
      before->after_ = a;
      return;
    }
  }
  state.running.start(a);
}

void agreement::begin_round(std::uint64_t said) noexcept {
  said_ = said;
  known_ = {said, ~said};
  distance_ = 1;
}

/// False when everybody's words are known.
bool agreement::exchange_more() {
  const int n = comm().size();
  if (std::exchange(exchanging_, false)) {
    known_.largest = std::max(known_.largest, heard_.largest);
    known_.largest_complement = std::max(known_.largest_complement, heard_.largest_complement);
    distance_ *= 2;
  }
  if (outcome() != p2p::fault::none) {  // the others hear of it, in this round or the next
    known_ = words::failure();
  }
  if (distance_ >= n) {
    return false;
  }
  const int rank = comm().rank().value();
  SINEW_ASSERT(!pending());  // `sent_` and `heard_` are free
  sent_ = known_;
  receive(&heard_, sizeof heard_, (rank - distance_ + n) % n);
  send(&sent_, sizeof sent_, (rank + distance_) % n);
  exchanging_ = true;
  return true;
}

schedule::next agreement::go_on() {
  context_ledger& ledger = state_.ledger;
  if (exchange_more()) {
    return next::wait;
  }
  if (entered_ && known_.is_failure()) {
    throw not_made(outcome() != p2p::fault::none ? outcome() : p2p::fault::peer_failed);
  }
  if (!entered_) {
    ledger.enter(key_);
    entered_ = true;
  } else if (std::exchange(proposed_, false) &&
             ledger.settle(said_, ~known_.largest_complement, known_.largest, from_)) {
    leave();
    try {
      result_->made = make_communicator(engine(), context_id{from_}, comm().members());
    } catch (...) {
      ledger.release(from_);
      throw;
    }
    result_->over.complete();
    return next::over;
  }
  SINEW_ASSERT(entered_ && !proposed_);
  begin_round(ledger.propose(key_, from_, rounds_++));
  proposed_ = true;
  if (exchange_more()) {
    return next::wait;
  }
  // Alone: the answer is there already. If another agreement owns the ledger, this one is asked
  // again when that one leaves it.
  return said_ == context_ledger::refused ? next::later : go_on();
}

void agreement::failed() noexcept {
  leave();
  result_->problem = std::current_exception();
  result_->over.complete();
}

void agreement::leave() noexcept {
  if (std::exchange(proposed_, false)) {
    state_.ledger.abandon(said_);
  }
  if (std::exchange(entered_, false)) {
    state_.ledger.leave(key_);
  }
}

std::shared_ptr<schedule> agreement::successor() noexcept {
  const auto at = state_.latest.find(comm().context().value());
  if (at != state_.latest.end() && at->second.get() == this) {
    state_.latest.erase(at);
  }
  return std::move(after_);
}

std::shared_ptr<new_communicator> start_duplicate(p2p::engine& engine, communicator_ref of) {
  auto result = std::make_shared<new_communicator>();
  auto a = std::make_shared<agreement>(engine, of, nonblocking_tag(*of), result);
  agreement::start(a);
  return result;
}

}  // namespace sinew::coll
