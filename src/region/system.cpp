// SPDX-License-Identifier: BSD-3-Clause
// The calls that make and change instances: checked here, handed down, nothing else.
#include "sinew/region/system.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "region/body.hpp"
#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

constexpr const char* no_copy = "a copy cannot be made";

}  // namespace

system::system(rma::engine& memory, sinew::event::system& events) : rma_(memory), events_(events) {
  body_ = std::make_unique<body>(memory, events);
}
system::~system() = default;

// --- instances ----------------------------------------------------------------------------------

made system::create(const schema& what, region::memory where, const layout_options& how,
                    event after) {
  const instance_table& table = body_->table;
  const new_instance wanted = check_new(what, where, how, table);
  const bool here = wanted.owners.size() == 1 && wanted.owners[0] == rank();
  const bool at_once = here && events_.has_triggered(after);
  const maker::entered i = body_->instances.create(wanted.where, where.kind, wanted.owners, after);
  const instance name =
      where.kind == memory_kind::symmetric ? table.image_of(i.what->id, rank()) : i.what->id;
  if (at_once && i.what->ready()) {
    return {name, {}};
  }
  return {name, i.ready};
}

instance system::attach(const schema& what, std::span<std::byte> memory,
                        const layout_options& how) {
  const layout l = check_attached(what, memory, how);
  return body_->instances.attach(l, memory.data());
}

event system::destroy(instance what, event after) {
  body_->others.meet(what);
  (void)body_->table.find(what);
  what = body_->table.base_of(what);
  body* b = body_.get();
  const bool here = what.creator() == rank();
  if (here && !after.exists()) {
    return b->instances.end(what) ? event{} : poisoned(events_);
  }
  const user_event gone = events_.create();
  if (here) {
    b->instances.end_after(what, after, gone.bits());
  } else {
    events_.entrust(gone, what.creator());
    b->messages.destroy(what.creator(), what, gone.bits(), after);
  }
  return gone;
}

// --- transfers ----------------------------------------------------------------------------------

namespace {

/// An instance of indices that the rank which copies might not see is copied to where every rank
/// does.
struct fetched {
  event ready;     ///< when the side can be used
  made temporary;  ///< to be destroyed after the copy, once it is made; may be none
};
void destroy_after(system& all, const made& temporary, event end) {
  if (temporary.what.exists()) {
    const std::array<event, 2> both{end, temporary.ready};
    (void)all.destroy(temporary.what, all.events().settled(both));
  }
}
fetched fetch_indices(system& all, const known& list, side& s, job_rank reader, event before) {
  SINEW_EXPECT(s.index == list.id);
  const box which = resolve(list.where.elements, s.index_where, "indices");
  schema numbers(elements_of(which));
  const auto f = numbers.add<std::int64_t>("indices");
  const made m = all.create(numbers, memory::shared(reader), {}, {});
  const event there = all.copy(side{s.index, s.index_field, 0, s.index_where}, at(m.what, f),
                               all.events().merge(before, m.ready));
  s.index = m.what;
  s.index_field = f.number;
  s.index_where = {};
  return {there, m};
}

/// The indices of both sides that the reader does not see, which are fetched; `ready` once they are
/// there.
template <class Sees>
std::array<made, 2> fetch_unseen(system& all, const instance_table& table,
                                 std::array<side, 2>& sides, job_rank reader, Sees sees,
                                 event& ready) {
  std::array<made, 2> temporary;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (!sides[i].index.exists()) {
      continue;
    }
    const known_ptr list = table.find(sides[i].index);
    if (!sees(*list)) {
      const fetched f = fetch_indices(all, *list, sides[i], reader, ready);
      ready = f.ready;
      temporary[i] = f.temporary;
    }
  }
  return temporary;
}

}  // namespace

event system::copy(const side& from, const side& to, event after) {
  body_->meet(from);
  body_->meet(to);
  if (!body_->table.one_node()) {
    return copy_over_nodes(from, to, after);
  }
  checked_sides sides = check_sides(body_->table, from, to, no_copy);
  check_types(sides.from.field(), sides.to.field());
  transfer t = transfer_of(action::copy, sides);
  const job_rank executor = body_->transfers.executor_of(
      action::copy, {sides.from.what->private_to(), sides.to.what->private_to()});
  const bool here = body_->table.sees(*sides.from.what) && body_->table.sees(*sides.to.what);
  std::array<side, 2> wanted{from, to};
  event ready = after;
  // If both sides are seen here this rank copies for sure, and indices of its own are seen, too.
  const auto sees = [&](const known& list) {
    return list.private_to() == every_rank || (here && list.private_to() == rank());
  };
  const auto temporary = fetch_unseen(*this, body_->table, wanted, rank(), sees, ready);
  if (temporary[0].what.exists() || temporary[1].what.exists()) {
    sides = check_sides(body_->table, wanted[0], wanted[1], no_copy);
    t = transfer_of(action::copy, sides);
  }
  const event end = body_->transfers.issue(t, executor, ready);
  for (const made& m : temporary) {
    destroy_after(*this, m, end);
  }
  return end;
}

// --- over nodes ---

namespace {

/// A copy of elements in this rank's memory, as a side of its own: made, so it can be destroyed.
made copy_of_elements(system& all, const side& s, const field_info& type, std::uint64_t elements,
                      event before) {
  schema packed(elements);
  packed.add(type);
  const made m = all.create(packed, memory::shared(all.rank()));
  const side there{m.what, 0};
  return {m.what, all.copy(s, there, all.events().merge(before, m.ready))};
}

}  // namespace

event system::copy_over_nodes(const side& from, const side& to, event after) {
  const checked_sides sides = check_sides(body_->table, from, to, no_copy);
  check_types(sides.from.field(), sides.to.field());
  const division by = body_->divide(*sides.from.what, *sides.to.what);
  // All is read before anything is written, the indices too; and one rank writes, in order, where
  // an element may be named twice.
  const bool in_place = by.spread && from.what == to.what && from.field == to.field;
  const bool shared_out = by.executors.size() > 1;
  if (in_place || (shared_out && (to.index.exists() || to.what == from.index))) {
    const made m = copy_of_elements(*this, from, sides.from.field(), sides.from.elements, after);
    const event end = copy(side{m.what, 0}, to, m.ready);
    (void)destroy(m.what, events_.settled(end));
    return end;
  }
  std::vector<event> ends;
  for (const job_rank executor : by.executors) {
    std::array<side, 2> wanted{from, to};
    event ready = after;
    const auto sees = [&](const known& list) { return body_->sees(executor, list); };
    const auto temporary = fetch_unseen(*this, body_->table, wanted, executor, sees, ready);
    transfer t =
        transfer_of(action::copy, check_sides(body_->table, wanted[0], wanted[1], no_copy));
    t.spread = by.spread;
    ends.push_back(body_->transfers.issue(t, executor, ready));
    for (const made& m : temporary) {
      destroy_after(*this, m, ends.back());
    }
  }
  return merged(events_, ends);
}

event system::copy(instance from, instance to, event after) {
  body_->others.meet(from);
  body_->others.meet(to);
  const known_ptr k = body_->table.find(from);
  const known_ptr l = body_->table.find(to);
  SINEW_CHECK(
      k->where.fields.size() == l->where.fields.size() && k->where.elements == l->where.elements,
      no_copy, "the two instances have not the same fields and shape", "copy field by field");
  const auto fields = static_cast<std::uint16_t>(k->where.fields.size());
  std::vector<event> ends;
  ends.reserve(fields);
  for (std::uint16_t f = 0; f < fields; ++f) {
    ends.push_back(copy(side{from, f}, side{to, f}, after));
  }
  return merged(events_, ends);
}

event system::fill_bytes(const side& to, const void* value, std::size_t bytes, std::uint64_t type,
                         event after) {
  constexpr const char* what = "a fill cannot be made";
  SINEW_EXPECT(value != nullptr && bytes != 0 && bytes <= most_fill_bytes);
  body_->meet(to);
  side typed = to;
  typed.type_id = type;
  SINEW_CHECK(!to.index.exists(), what, "it goes to indices", "copy from an instance instead");
  const checked_side goal = check_side(body_->table, typed, what, "target");
  SINEW_CHECK(goal.field().bytes == bytes, what,
              "its value has " + std::to_string(bytes) + " bytes, and the field " +
                  std::to_string(goal.field().bytes),
              "");
  transfer t;
  t.what = action::fill;
  t.to = goal.wire;
  t.elements = goal.elements;
  t.bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(t.value, value, bytes);
  if (!body_->table.one_node()) {
    const instance_table& table = body_->table;
    const division by = divide(shares_of(*goal.what, table.heaps(), rank()));
    return merged(events_, body_->issue_all(t, by, after));
  }
  const job_rank executor =
      body_->transfers.executor_of(action::fill, {every_rank, goal.what->private_to()});
  return body_->transfers.issue(t, executor, after);
}

// --- reductions ---------------------------------------------------------------------------------

void system::add_operator(const operator_entry& e) { body_->operators.add(e); }

event system::reduce_by(std::uint64_t op, const side& from, const side& to, event after,
                        sharing how, event* ended) {
  constexpr const char* what = "a reduction cannot be made";
  const operator_entry& e = body_->operators.find(op);
  SINEW_CHECK(!from.index.exists() && !to.index.exists(), what, "it names indices",
              "gather into an instance first, or use a list instance");
  body_->meet(from);
  body_->meet(to);
  const checked_sides sides = check_sides(body_->table, from, to, what);
  check_contributions(e, sides.from.field());
  const target goal = checked_target(e, *sides.to.what, to.field);
  SINEW_CHECK(how == sharing::exclusive || e.atomic, what,
              "operator " + std::string(e.name.view()) + " cannot be atomic on values of " +
                  std::to_string(e.lhs_bytes) + " bytes",
              "use sharing::exclusive");
  transfer t = transfer_of(action::reduce, sides);
  t.op = op;
  t.how = how;
  const division by = body_->divide(*sides.from.what, *sides.to.what);
  std::vector<event> ends;
  if (by.spread) {
    ends = body_->issue_all(t, by, after);
  }
  for (t.part = 0; t.part < goal.parts && !by.spread; ++t.part) {
    transfer one = t;  // issue() puts the event into it
    const job_rank owner = sides.to.what->place(t.part).rank;
    ends.push_back(body_->transfers.issue(one, owner, after));
  }
  SINEW_ASSERT(ends.size() == goal.parts || by.spread);
  if (ended != nullptr) {
    *ended = events_.settled(ends);
  }
  return merged(events_, ends);
}

system::target system::target_of(const operator_entry& op, instance what, std::uint16_t field) {
  body_->others.meet(what);
  return checked_target(op, *body_->table.find(what), field);
}

void system::replay(const target& to, std::uint64_t op, std::uint32_t part, std::uint64_t offset,
                    std::uint64_t count, event after, user_event done) {
  SINEW_EXPECT(part < to.parts && offset != 0 && count != 0);
  const log_place l{to.what.bits(), op, done.bits(), offset, count, part, to.field};
  const job_rank owner = body_->table.find(to.what)->place(part).rank;
  entrust(done, owner);
  region::after(events_, after, [b = body_.get(), l, owner](bool bad) {
    if (bad) {
      finish(b->events, l.done, false);
    } else if (b->table.heaps().maps(owner)) {
      b->messages.replay(owner, l);
    } else {
      b->send_log(owner, l);
    }
  });
}

void system::apply_there(const target& to, std::uint64_t op, std::uint32_t part,
                         const void* entries, std::uint64_t count, std::size_t bytes, event done) {
  SINEW_EXPECT(part < to.parts && (count == 0) == (bytes == 0));
  const log_place l{to.what.bits(), op, done.bits(), 0, count, part, to.field};
  const job_rank owner = body_->table.find(to.what)->place(part).rank;
  entrust(done, owner);
  body_->messages.batch(owner, l, {static_cast<const std::byte*>(entries), bytes});
}

/// Contributions have been applied by `owner` once this has triggered, if there is such an event.
void system::entrust(event done, job_rank owner) {
  if (done.exists() && owner != rank()) {
    events_.entrust(done, owner);  // poisoned if that is lost
  }
}

std::size_t system::largest_batch() const noexcept { return body_->messages.largest_batch(); }

std::uint64_t system::take_memory(std::size_t bytes) {
  SINEW_EXPECT(bytes != 0);
  const std::uint64_t offset = body_->blocks.take_shared(bytes);
  return offset != 0 ? offset : rma_.memory().allocate(rma::part::local, bytes);  // throws
}
void system::give_memory(std::uint64_t offset) { body_->blocks.give_back_shared(offset); }

}  // namespace sinew::region
