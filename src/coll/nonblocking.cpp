// SPDX-License-Identifier: BSD-3-Clause
// Plans carried out as schedules.
#include "sinew/coll/nonblocking.hpp"

#include <utility>

#include "coll/agreement.hpp"
#include "coll/algorithms.hpp"
#include "coll/plan.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coll {
namespace {

class execution final : public schedule {
 public:
  execution(p2p::engine& engine, communicator_ref over, message_tag tag, plan_ref what,
            std::shared_ptr<ongoing> result)
      : schedule(engine, std::move(over), tag),
        plan_(std::move(what)),
        result_(std::move(result)) {}

 private:
  next go_on() override {
    const std::vector<step>& steps = plan_->steps();
    while (at_ < steps.size()) {
      const step& s = steps[at_];
      if (s.what == step::kind::wait && pending()) {
        ++at_;
        return next::wait;
      }
      carry_out(s);
      ++at_;
    }
    if (pending()) {
      return next::wait;
    }
    SINEW_ASSERT(!result_->over.done());
    result_->outcome = outcome() == fault::none && engine().has_dead(comm())
                           ? fault::peer_failed
                           : outcome();  // as collective_messages::outcome()
    result_->over.complete();
    return next::over;
  }

  void carry_out(const step& s) {
    switch (s.what) {
      case step::kind::send:
        send(s.from, s.peer);
        break;
      case step::kind::receive:
        receive(s.into, s.peer);
        break;
      case step::kind::copy:
        note(coll::copy(s.from, s.into));
        break;
      case step::kind::combine:
        plan_->operation().apply(s.from.base, s.into.base, s.into.count, *s.into.type);
        break;
      case step::kind::work:
        note(plan_->do_work(s));
        break;
      case step::kind::wait:
        break;
    }
  }

  void failed() noexcept override {
    result_->problem = std::current_exception();
    result_->over.complete();
  }

  plan_ref plan_;
  std::shared_ptr<ongoing> result_;
  std::size_t at_ = 0;
};

}  // namespace

plan_ref plan_of(position at, const call& c) {
  auto p = std::make_shared<plan>();
  make(*p, at, c);
  return p;
}

message_tag nonblocking_tag(core::communicator& comm) noexcept {
  return message_tag{static_cast<int>(call_tags + comm.nonblocking_count++ % call_tags)};
}

message_tag persistent_tag(core::communicator& comm) noexcept {
  return message_tag{static_cast<int>(2 * call_tags + comm.persistent_count++ % call_tags)};
}

std::shared_ptr<ongoing> start(p2p::engine& engine, communicator_ref over, plan_ref what,
                               message_tag tag) {
  SINEW_EXPECT(what != nullptr && over != nullptr);
  auto result = std::make_shared<ongoing>();
  schedules& running = state_of(engine.runtime()).running;
  running.start(std::make_shared<execution>(engine, std::move(over), tag, std::move(what), result));
  return result;
}

}  // namespace sinew::coll
