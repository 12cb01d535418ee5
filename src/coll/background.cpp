// SPDX-License-Identifier: BSD-3-Clause
#include "coll/background.hpp"

#include <algorithm>
#include <utility>

#include "coll/agreement.hpp"
#include "coll/algorithms.hpp"
#include "coll/over_node.hpp"
#include "coll/tuning.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"

namespace sinew::coll {
namespace {

constexpr int looks_at_first = 200;

/// What one rank reads of others' memory in one operation, which is how long whoever makes progress
/// does nothing else: some 0.1 ms.
constexpr std::size_t most_read_in_place = std::size_t{1} << 20;

/// Bytes of one rank's block.
std::size_t block_bytes(const even_call& c, int me) noexcept {
  using kind = collective;
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

/// Of those that have an implementation here, with blocks that are alike.
bool is_even(const call& c) noexcept {
  using kind = collective;
  switch (c.what) {
    case kind::barrier:
    case kind::bcast:
    case kind::reduce:
    case kind::allreduce:
    case kind::gather:
    case kind::scatter:
    case kind::allgather:
    case kind::alltoall:
      return c.send.alike() && c.recv.alike();
    default:
      return false;
  }
}

buffer block(const buffer& each, int r) noexcept { return blocks(each)(r); }

bool has_block_for_each(collective what) noexcept {
  return what == collective::alltoall || what == collective::scatter;
}

bool has_root(collective what) noexcept {
  using kind = collective;
  return what == kind::bcast || what == kind::scatter || what == kind::reduce ||
         what == kind::gather;
}

void pack(const buffer& from, std::byte* at) noexcept {
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

// Who would read from many others alone has messages from them, since each sends its own then.
bool node_operation::is_read_in_place(const even_call& c, std::size_t bytes,
                                      const node::team& among) noexcept {
  const auto others = static_cast<std::size_t>(among.size()) - 1;
  const std::size_t block = has_block_for_each(c.what) ? bytes / (others + 1) : bytes;
  std::size_t read = block;  // by one rank
  if (c.what == kind::allgather || c.what == kind::alltoall) {
    read *= others;
  } else if (c.what == kind::allreduce && others > 1) {
    return lie_in_place(c.what, bytes, among);
  } else if (c.what != kind::bcast && c.what != kind::scatter && others > 1) {
    return false;
  }
  // By messages a short bcast is as quick: its root goes on once they are sent.
  const bool soon = c.what != kind::bcast && lie_in_place(c.what, bytes, among);
  return read <= most_read_in_place &&
         (soon || block > static_cast<std::size_t>(tuning::node_read()));
}

bool node_operation::lie_in_place(kind what, std::size_t bytes, const node::team& among) noexcept {
  const bool all_give_to_all = what == kind::allgather || what == kind::allreduce;
  return bytes <= node::operations::long_room &&
         (what == kind::bcast || (all_give_to_all && among.size() > 2) || among.crowded());
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): what, how much of it, where
void node_operation::begin(const even_call& c, std::size_t bytes, node::operations& slots) {
  call_ = c;
  slots_ = &slots;
  bytes_ = bytes;
  posted_ = false;
  taken_ = false;
  next_ = 0;
  waits_for_ = -1;
  in_parts_ = call_.what == kind::allreduce && is_long() && slots.of().size() > 2;
  place_ = nullptr;
  result.outcome = fault::none;
  if (is_long()) {
    prepare();
  }
  number_ = slots.next();
  if (wants_place()) {
    turn_ = slots.next_turn();
  }
}

void node_operation::prepare() {
  aside_.reset();  // there may be one if there was no memory for the other, the last time
  incoming_.reset();
  const bool in_its_place = call_.send.base == in_place;
  const bool overwrites = in_its_place && (call_.what == kind::alltoall || combines());
  if ((posts() || combines()) && !wants_place()) {
    const buffer own = given();
    if (overwrites || !own.type->dense()) {
      aside_ = std::make_unique<scratch>(own.bytes());
    }
  }
  if (posts() && has_root(call_.what)) {
    return;  // it reads nothing
  }
  if (in_parts_) {
    return;  // it combines what lies in the node's memory
  }
  // Rank 0's are the left operand: the other's cannot be read to where the result will be.
  if (combines() ? slots_->of().rank() != 0 : !call_.recv.type->dense()) {
    incoming_ = std::make_unique<scratch>(call_.recv.bytes());
  }
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

buffer node_operation::given() const noexcept {
  const bool in_its_place = call_.send.base == in_place;
  const node::team& team = slots_->of();
  switch (call_.what) {
    case kind::bcast:
      return call_.recv;
    case kind::reduce:
    case kind::allreduce:
      return {in_its_place ? call_.recv.base : call_.send.base, call_.recv.count, call_.recv.type};
    case kind::gather:
      return call_.send;
    case kind::allgather:
      return in_its_place ? block(call_.recv, team.rank()) : call_.send;
    case kind::scatter:
    case kind::alltoall: {
      const buffer& one = in_its_place ? call_.recv : call_.send;
      return {one.base, one.count * static_cast<std::size_t>(team.size()), one.type};
    }
    default:
      return {};
  }
}

int node_operation::reader() const noexcept {
  return call_.what == kind::reduce || call_.what == kind::gather ? call_.root.value() : -1;
}

void node_operation::post(std::vector<job_rank>& asleep) {
  if (is_long()) {
    show(asleep);
  } else {
    if (bytes_ != 0 && (posts() || call_.what == kind::reduce)) {
      pack(given(), slots_->place(number_, bytes_));  // a reduction's root reads its own there
    }
    if (posts()) {
      slots_->publish(number_, bytes_, reader(), asleep);
    }
  }
  posted_ = true;
}

/// Its slot is free, and there is a place if it wants one.
bool node_operation::may_post() {
  if (!slots_->is_free(number_)) {
    return false;
  }
  if (wants_place()) {
    place_ = slots_->long_place(turn_, number_, bytes_);
    return place_ != nullptr;
  }
  return true;
}

void node_operation::show(std::vector<job_rank>& asleep) {
  if (posts() || combines()) {
    const buffer own = given();
    shown_ = static_cast<const std::byte*>(own.base);
    if (place_ != nullptr || aside_ != nullptr) {
      std::byte* const at = place_ != nullptr ? place_ : aside_->base();
      pack(own, at);
      shown_ = at;
    }
  }
  if (posts()) {
    slots_->show(number_, {shown_, bytes_, given().type->size()}, reader(), asleep);
  }
  keep_own();  // while the others come
}

/// What this rank gives itself.
void node_operation::keep_own() {
  const int me = slots_->of().rank();
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

bool node_operation::go_on(std::vector<job_rank>& asleep) {
  if (!posted_) {
    if (!may_post()) {
      return false;
    }
    post(asleep);
  }
  if (!taken_) {
    if (!take_all()) {
      return false;
    }
    if (!in_parts_) [[likely]] {
      slots_->end(number_, asleep);
      if (!is_long()) [[likely]] {
        return true;
      }
    } else {
      show_part(asleep);
    }
    taken_ = true;
    next_ = 0;
  }
  if (in_parts_) {
    if (!take_parts()) {
      return false;
    }
    slots_->end(number_, asleep);
  }
  if (posts() && place_ == nullptr && !all_have_read()) {
    return false;
  }
  aside_.reset();
  incoming_.reset();
  return true;
}

/// The others, from the next higher rank on, so that not all read from one.
int node_operation::other(int i) const noexcept {
  const int m = slots_->of().rank() + 1 + i;
  return m < slots_->of().size() ? m : m - slots_->of().size();
}

/// Short data are read at the end.
bool node_operation::take_all() {
  const node::team& team = slots_->of();
  for (; next_ < team.size() - 1; ++next_) {
    const int m = other(next_);
    if (!reads(m)) {
      continue;
    }
    const node::line* const l = slots_->from(number_, m);
    if (l == nullptr) {
      waits_for_ = m;
      return false;
    }
    if (is_long() && !in_parts_) {
      combines() ? combine_with(m, *l) : take(m, *l);
    }
  }
  if (in_parts_) {
    combine_part();
  } else if (!is_long()) {
    read_all();
  }
  return true;
}

bool node_operation::all_have_read() {
  const node::team& team = slots_->of();
  for (; next_ < team.size() - 1; ++next_) {
    const int m = other(next_);
    if ((reader() < 0 || reader() == m) && !slots_->has_ended(number_, m)) {
      waits_for_ = m;
      return false;
    }
  }
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
    if (m != me && reads(m)) {
      take(m, *slots_->from(number_, m));
    }
  }
  keep_own();
}

void node_operation::take(int m, const node::line& l) {
  std::size_t bytes = l.bytes();
  std::size_t offset = 0;
  if (has_block_for_each(call_.what)) {
    bytes /= static_cast<std::size_t>(slots_->of().size());
    offset = bytes * static_cast<std::size_t>(slots_->of().rank());
  }
  const bool for_each =
      call_.what == kind::gather || call_.what == kind::allgather || call_.what == kind::alltoall;
  const buffer into = for_each ? block(call_.recv, m) : call_.recv;
  if (!node::operations::is_shown(l)) [[likely]] {
    note(unpack(slots_->data_of(number_, m, l) + offset, bytes, into));
    return;
  }
  const bool dense = into.type->dense();
  if (bytes > into.bytes() || (!dense && incoming_ == nullptr)) {
    note(fault::truncated);  // else this call, too, would be a long one
    return;
  }
  void* const at = dense ? into.base : incoming_->base();
  if (!slots_->read(m, l, offset, at, bytes)) {
    note(fault::peer_failed);
  } else if (!dense) {
    note(unpack(incoming_->base(), bytes, into));
  }
}

/// Of two ranks.
void node_operation::combine_with(int m, const node::line& l) {
  const buffer& into = call_.recv;
  if (l.bytes() != bytes_) {
    note(fault::truncated);
    return;
  }
  const bool other_is_right = m > slots_->of().rank();
  std::byte* const at = other_is_right ? static_cast<std::byte*>(into.base) : incoming_->base();
  if (!slots_->read(m, l, 0, at, bytes_)) {
    note(fault::peer_failed);
    return;
  }
  if (!other_is_right) {
    copy_bytes(into.base, shown_, bytes_);
  }
  call_.o->apply(other_is_right ? shown_ : at, into.base, into.count, *into.type);
}

std::size_t node_operation::part_at(int m) const noexcept {
  return call_.recv.count * static_cast<std::size_t>(m) /
         static_cast<std::size_t>(slots_->of().size());
}

/// As combine(), the part of this rank. It does not go in parts if the numbers of elements or their
/// lengths differ, which all see: the parts would overlap.
void node_operation::combine_part() {
  const node::team& team = slots_->of();
  const std::size_t each = call_.recv.type->size();
  const std::size_t first = part_at(team.rank());
  const std::size_t count = part_at(team.rank() + 1) - first;
  const auto operand = [&](int m) -> const std::byte* {
    if (m == team.rank()) {
      return shown_ + first * each;
    }
    const node::line& l = *slots_->from(number_, m);
    return node::operations::is_alike(l, {shown_, bytes_, each})
               ? slots_->in_long_place(m, l, first * each, count * each)
               : nullptr;
  };
  for (int m = 0; m < team.size(); ++m) {
    if (operand(m) == nullptr) {
      note(fault::truncated);
      in_parts_ = false;
      return;
    }
  }
  std::byte* const into = static_cast<std::byte*>(call_.recv.base) + first * each;
  copy_bytes(into, operand(team.size() - 1), count * each);
  for (int m = team.size() - 1; count != 0 && m-- > 0;) {
    call_.o->apply(operand(m), into, count, *call_.recv.type);
  }
}

/// The part goes where this rank's own was, which nobody else has read.
void node_operation::show_part(std::vector<job_rank>& asleep) {
  const int me = slots_->of().rank();
  const std::size_t each = call_.recv.type->size();
  const std::size_t at = part_at(me) * each;
  const std::size_t bytes = part_at(me + 1) * each - at;
  copy_bytes(place_ + at, static_cast<const std::byte*>(call_.recv.base) + at, bytes);
  slots_->show_part(number_, {place_ + at, bytes, each}, asleep);
}

bool node_operation::take_parts() {
  const std::size_t each = call_.recv.type->size();
  for (; next_ < slots_->of().size() - 1; ++next_) {
    const int m = other(next_);
    const node::line* const l = slots_->part_from(number_, m);
    if (l == nullptr) {
      waits_for_ = m;
      return false;
    }
    std::byte* const into = static_cast<std::byte*>(call_.recv.base) + part_at(m) * each;
    if (!slots_->read(m, *l, 0, into, l->bytes())) {
      note(fault::peer_failed);
    }
  }
  return true;
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
  if (over || o.is_long() || o.waits_for() < 0 || !running_.empty() || runtime_.crowded()) {
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
  const base::guard held(lock_, runtime_.threaded());
  memory_ = &slots.of().memory();
  if (spare_ == nullptr) {
    spare_ = std::make_shared<node_operation>();
  }
  if (running_.size() == running_.capacity()) {
    running_.reserve(2 * running_.size() + 16);
  }
  // An operation tells all others that it is posted, of a part, and that it has ended.
  const std::size_t most_asleep = 3 * slots.of().others().size();
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
  const base::guard held(lock_, runtime_.threaded());
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
    const base::guard held(lock_, runtime_.threaded());
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

begun begin(p2p::engine& engine, const communicator_ref& over, const call& c) {
  SINEW_EXPECT(over != nullptr);
  const participant at{engine, *over};
  node::operations* const slots = operations_of(at);
  if (slots == nullptr || !is_even(c) || !takes_memory(c.what)) {
    return {};
  }
  const node::team& team = slots->of();
  const bool combines = c.what == collective::reduce || c.what == collective::allreduce;
  if (combines && !reduces(team.size(), c.recv.type())) {
    return {};
  }
  const even_call even(c);
  const std::size_t bytes = node_operation::posted_bytes(even, team.rank(), team.size());
  if (bytes > node::operations::room &&
      !(slots->may_show() && node_operation::is_read_in_place(even, bytes, team))) {
    return {};
  }
  return state_of(engine.runtime()).in_background.begin(over, even, bytes, *slots);
}

void wait(p2p::engine& engine, ongoing& o) {
  if (o.looked_for) {
    state_of(engine.runtime()).in_background.look_for(o);
  }
  engine.runtime().wait(o.over);
}

}  // namespace sinew::coll
