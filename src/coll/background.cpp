#include "coll/background.hpp"

#include <algorithm>
#include <utility>

#include "coll/agreement.hpp"
#include "coll/collective_messages.hpp"
#include "coll/over_node.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"

namespace sinew::coll {
namespace {

constexpr int looks_at_first = 200;

/// Bytes of one rank's block.
std::size_t block_bytes(const even_call& c, int me) noexcept {
  using kind = even_call::kind;
  const bool at_root = c.root.value() == me;
  switch (c.what) {
    case kind::barrier:
      return 0;
    case kind::gather:
      return at_root ? c.recv.bytes() : c.send.bytes();
    case kind::scatter:
      return at_root ? c.send.bytes() : c.recv.bytes();
    default:
      return c.recv.bytes();
  }
}

bool has_block_for_each(even_call::kind what) noexcept {
  return what == even_call::kind::alltoall || what == even_call::kind::scatter;
}

void pack(const buffer& from, std::byte* at) noexcept {
  if (from.bytes() == 0) {
    return;
  }
  if (from.type->dense()) {
    copy_bytes(at, from.base, from.bytes());
  } else {
    layout::pack(*from.type, from.count, from.base, 0, {at, from.bytes()});
  }
}

fault unpack(const std::byte* from, std::size_t bytes, const buffer& into) noexcept {
  const std::size_t fits = std::min(bytes, into.bytes());
  if (fits != 0 && into.type->dense()) {
    copy_bytes(into.base, from, fits);
  } else if (fits != 0) {
    layout::unpack(*into.type, into.count, into.base, 0, {from, fits});
  }
  return bytes > into.bytes() ? fault::truncated : fault::none;
}

}  // namespace

std::size_t node_operation::posted_bytes(const even_call& c, int me, int members) noexcept {
  const std::size_t block = block_bytes(c, me);
  return has_block_for_each(c.what) ? block * static_cast<std::size_t>(members) : block;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): what, how much of it, where
void node_operation::begin(const even_call& c, std::size_t bytes,
                           node::operations& slots) noexcept {
  call_ = c;
  slots_ = &slots;
  number_ = slots.next();
  bytes_ = bytes;
  posted_ = false;
  next_ = 0;
  waits_for_ = -1;
  result.outcome = fault::none;
}

void node_operation::keep(communicator_ref over) {
  comm_ = std::move(over);
  for (auto [type, kept] :
       {std::pair{call_.send.type, &send_type_}, {call_.recv.type, &recv_type_}}) {
    if (type != nullptr) {
      *kept = layout::share(*type);
    }
  }
}

bool node_operation::posts() const noexcept {
  const bool at_root = call_.root.value() == slots_->of().rank();
  switch (call_.what) {
    case kind::bcast:
    case kind::scatter:
      return at_root;
    case kind::reduce:
    case kind::gather:
      return !at_root;
    default:
      return true;
  }
}

bool node_operation::reads(int m) const noexcept {
  const int root = call_.root.value();
  switch (call_.what) {
    case kind::bcast:
    case kind::scatter:
      return m == root;
    case kind::reduce:
    case kind::gather:
      return root == slots_->of().rank();
    default:
      return true;
  }
}

void node_operation::write(std::byte* at) const noexcept {
  const int n = slots_->of().size();
  switch (call_.what) {
    case kind::barrier:
      break;
    case kind::bcast:
      pack(call_.recv, at);
      break;
    case kind::reduce:
    case kind::allreduce:
      pack({call_.send.base == in_place ? call_.recv.base : call_.send.base, call_.recv.count,
            call_.recv.type},
           at);
      break;
    case kind::gather:
      pack(call_.send, at);
      break;
    case kind::allgather:
      pack(call_.send.base == in_place ? block(call_.recv, slots_->of().rank()) : call_.send, at);
      break;
    case kind::scatter:
    case kind::alltoall: {
      const buffer& one = call_.send.base == in_place ? call_.recv : call_.send;
      pack({one.base, one.count * static_cast<std::size_t>(n), one.type}, at);
      break;
    }
  }
}

bool node_operation::go_on(std::vector<job_rank>& asleep) {
  const node::team& team = slots_->of();
  const int me = team.rank();
  if (!posted_) {
    if (!slots_->is_free(number_)) {
      return false;
    }
    if (posts() || call_.what == kind::reduce) {
      write(slots_->place(number_, bytes_));  // a reduction's root reads its own there
    }
    if (posts()) {
      const bool to_root = call_.what == kind::reduce || call_.what == kind::gather;
      slots_->publish(number_, bytes_, to_root ? call_.root.value() : -1, asleep);
    }
    posted_ = true;
  }
  for (; next_ < team.size(); ++next_) {
    if (next_ != me && reads(next_) && slots_->from(number_, next_) == nullptr) {
      waits_for_ = next_;
      return false;
    }
  }
  read_all();
  slots_->end(number_, asleep);
  return true;
}

void node_operation::read_all() {
  const node::team& team = slots_->of();
  const int me = team.rank();
  if (call_.what == kind::allreduce || (call_.what == kind::reduce && reads(me))) {
    combine();
    return;
  }
  if (call_.what == kind::barrier) {
    return;
  }
  for (int m = 0; m < team.size(); ++m) {
    if (m == me || !reads(m)) {
      continue;
    }
    const node::line& l = *slots_->from(number_, m);
    const std::byte* from = slots_->data_of(number_, m, l);
    std::size_t bytes = l.bytes();
    if (has_block_for_each(call_.what)) {
      bytes /= static_cast<std::size_t>(team.size());
      from += bytes * static_cast<std::size_t>(me);
    }
    const bool for_each =
        call_.what == kind::gather || call_.what == kind::allgather || call_.what == kind::alltoall;
    note(unpack(from, bytes, for_each ? block(call_.recv, m) : call_.recv));
  }
  // What this rank gives itself.
  const bool at_root = call_.root.value() == me;
  if (call_.what == kind::alltoall && call_.send.base != in_place) {
    note(copy(block(call_.send, me), block(call_.recv, me)));
  } else if (call_.what == kind::scatter && at_root && call_.recv.base != in_place) {
    note(copy(block(call_.send, me), call_.recv));
  } else if ((call_.what == kind::allgather || (call_.what == kind::gather && at_root)) &&
             call_.send.base != in_place) {
    note(copy(call_.send, block(call_.recv, me)));
  }
}

/// The highest rank's is copied, the others come from the left.
void node_operation::combine() {
  const node::team& team = slots_->of();
  const buffer& into = call_.recv;
  for (int m = team.size(); m-- > 0;) {
    const std::byte* operand = nullptr;
    if (m == team.rank()) {
      operand = slots_->place(number_, bytes_);
    } else {
      const node::line& l = *slots_->from(number_, m);
      if (l.bytes() != bytes_) {
        note(fault::truncated);
        return;
      }
      operand = slots_->data_of(number_, m, l);
    }
    if (m == team.size() - 1) {
      copy_bytes(into.base, operand, bytes_);
    } else if (bytes_ != 0) {
      call_.o->apply(operand, into.base, into.count, *into.type);
    }
  }
}

background::background(core::runtime& runtime)
    : runtime_(runtime),
      // In the program's calls: it may call operations that the program has made.
      chore_(runtime.add_chore(
          [](void* self) { return static_cast<background*>(self)->advance(); }, this,
          core::chore_place::in_calls,
          [](void* self, bool begins) { return static_cast<background*>(self)->sleep(begins); })) {}

/// Ranks that call at the same time need not make it an operation of the background, which takes as
/// long as the answers. Where they do not come the calls soon look no longer.
bool background::ends_at_once(node_operation& o) {
  if (!asleep_.empty()) {
    return false;
  }
  bool over = o.go_on(asleep_);
  if (over || o.waits_for() < 0 || !running_.empty() || runtime_.crowded()) {
    return over;
  }
  for (int look = 0; look < looks_in_call_ && !over && asleep_.empty(); ++look) {
    over = o.go_on(asleep_);
  }
  looks_in_call_ = over ? std::min(2 * looks_in_call_, most_looks_in_call)
                        : std::max(looks_in_call_ / 2, least_looks_in_call);
  return over;
}

begun background::begin(const communicator_ref& over, const even_call& call, std::size_t bytes,
                        node::operations& slots) {
  const core::guard held(lock_, runtime_.threaded());
  memory_ = &slots.of().memory();
  if (spare_ == nullptr) {
    spare_ = std::make_shared<node_operation>();
  }
  if (running_.size() == running_.capacity()) {
    running_.reserve(2 * running_.size() + 16);
  }
  // An operation tells all others twice: that it is posted, and that it has ended.
  const std::size_t most_asleep = 2 * slots.of().others().size();
  if (asleep_.capacity() < most_asleep) {
    asleep_.reserve(most_asleep);
  }
  spare_->begin(call, bytes, slots);
  if (ends_at_once(*spare_)) {
    spare_->drop_operator();
    if (!asleep_.empty()) [[unlikely]] {
      runtime_.want_chore(chore_, true);
    }
    if (spare_->result.outcome == fault::none) [[likely]] {
      return {true, nullptr};
    }
    const std::shared_ptr<node_operation> made = std::exchange(spare_, nullptr);
    made->result.over.complete();
    return {true, {made, &made->result}};
  }
  const std::shared_ptr<node_operation>& made = running_.emplace_back(std::move(spare_));
  spare_ = nullptr;
  made->keep(over);
  made->result.looked_for = true;
  const begun answer{true, {made, &made->result}};
  // Another thread that is about to sleep has looked at all words before it was told of this one.
  runtime_.want_chore(chore_, true);
  if (asleep_.empty()) {
    (void)advance(running_.size() - 1);
  }
  return answer;
}

/// True if it is over, and its place is another's.
bool background::advance(std::size_t i) {
  node_operation& o = *running_[i];
  std::atomic<comm_rank>& awaited = o.comm()->collective.awaited;
  const int before = o.waits_for();
  if (!o.go_on(asleep_)) {
    if (o.waits_for() != before) {
      awaited.store(comm_rank{o.waits_for()}, std::memory_order_relaxed);
    }
    return false;
  }
  if (before >= 0) {
    awaited.store(-1, std::memory_order_relaxed);
  }
  const std::shared_ptr<node_operation> over = std::move(running_[i]);
  running_[i] = std::move(running_.back());
  running_.pop_back();
  over->result.over.complete();
  return true;
}

bool background::wake_those_asleep() {
  while (!asleep_.empty()) {
    if (!memory_->send_alert(asleep_.back())) {
      return false;
    }
    asleep_.pop_back();
  }
  return true;
}

int background::advance() {
  const core::guard held(lock_, runtime_.threaded());
  int steps = 0;
  if (!wake_those_asleep()) {
    return steps;  // one that goes on might have no room to list more
  }
  for (std::size_t i = 0; i < running_.size() && asleep_.empty();) {
    if (advance(i)) {
      ++steps;
    } else {
      ++i;
    }
  }
  if (running_.empty() && asleep_.empty()) {
    runtime_.want_chore(chore_, false);
  }
  return steps;
}

void background::look_for(const ongoing& o) {
  for (int look = 0; look < looks_at_first && !o.over.done() && !runtime_.crowded(); ++look) {
    (void)advance();
  }
}

bool background::sleep(bool begins) {
  rma::engine* memory = nullptr;
  {
    const core::guard held(lock_, runtime_.threaded());
    memory = memory_;
  }
  SINEW_ASSERT(memory != nullptr);  // the chore is wanted from the first operation on
  if (!begins) {
    if (std::exchange(listens_, false)) {
      memory->stop_listening();
    }
    return true;
  }
  memory->listen();
  listens_ = true;
  return advance() == 0;
}

begun begin(p2p::engine& engine, const communicator_ref& over, const even_call& call) {
  SINEW_EXPECT(over != nullptr);
  const participant at{engine, *over};
  node::operations* const slots = operations_of(at);
  if (slots == nullptr) {
    return {};
  }
  const node::team& team = slots->of();
  const bool combines =
      call.what == even_call::kind::reduce || call.what == even_call::kind::allreduce;
  const std::size_t bytes = node_operation::posted_bytes(call, team.rank(), team.size());
  if (bytes > node::operations::room || (combines && !reduces(team.size(), *call.recv.type))) {
    return {};
  }
  return state_of(engine.runtime()).in_background.begin(over, call, bytes, *slots);
}

void wait(p2p::engine& engine, ongoing& o) {
  if (o.looked_for) {
    state_of(engine.runtime()).in_background.look_for(o);
  }
  engine.runtime().wait(o.over);
}

plan_ref plan_of(position at, const even_call& call) {
  using kind = even_call::kind;
  switch (call.what) {
    case kind::barrier:
      break;
    case kind::bcast:
      return plan_bcast(at, call.recv, call.root);
    case kind::reduce:
      return plan_reduce(at, call.send.base, call.recv, call.o, call.root);
    case kind::allreduce:
      return plan_allreduce(at, call.send.base, call.recv, call.o);
    case kind::gather:
      return plan_gather(at, call.send, call.recv, call.root);
    case kind::scatter:
      return plan_scatter(at, call.send, call.recv, call.root);
    case kind::allgather:
      return plan_allgather(at, call.send, call.recv);
    case kind::alltoall:
      return plan_alltoall(at, call.send, call.recv);
  }
  return plan_barrier(at);
}

}  // namespace sinew::coll
