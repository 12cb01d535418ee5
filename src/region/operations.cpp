// What callers ask for: checked here, done where both sides are seen.
#include <cstring>

#include "region/body.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"

namespace sinew::region {
namespace {

using sinew::event::topic;

constexpr const char* cannot = "an instance cannot be looked at";

std::string quoted(const short_name& name) {
  return std::string("'").append(name.view()).append("'");
}

side_wire wire_of(const side& s) {
  side_wire w;
  w.what = s.what.bits();
  w.field = s.field;
  w.index = s.index.bits();
  w.index_field = s.index_field;
  return w;
}

const field_place& field_of(const known& k, std::uint16_t number, const char* what) {
  SINEW_CHECK(number < k.where.fields.size(), what,
              "the instance has no field number " + std::to_string(number), "");
  return k.where.fields[number];
}

}  // namespace

/// The side for a message; throws what can be told now. Counts its elements.
side_wire system::body::check(const side& s, const char* what, const char* where,
                              std::uint64_t& elements) const {
  const known_ptr k = find(s.what);
  const field_place& f = field_of(*k, s.field, what);
  SINEW_CHECK(s.type_id == 0 || s.type_id == f.info.type_id, what,
              "field " + quoted(f.info.name) + " of the " + where + " has type " +
                  std::string(f.info.type.view()) + ", and another was given",
              "use the field that schema::add returned");
  side_wire w = wire_of(s);
  const std::string outside = std::string(what) + ": the " + where;
  if (s.index.exists()) {
    const known_ptr list = find(s.index);
    const field_place& numbers = field_of(*list, s.index_field, what);
    SINEW_CHECK(numbers.info.type_id == hash_of(type_name<std::int64_t>()), what,
                "indices are std::int64_t, and field " + quoted(numbers.info.name) + " has type " +
                    std::string(numbers.info.type.view()),
                "");
    w.index_where = resolve(list->where.elements, s.index_where, outside.c_str());
    elements = region::elements_of(w.index_where);
  } else {
    w.where = resolve(k->where.elements, s.where, outside.c_str());
    elements = region::elements_of(w.where);
  }
  return w;
}

void system::body::check_both(const side& from, const side& to, const char* what,
                              transfer& t) const {
  std::uint64_t target_elements = 0;
  t.from = check(from, what, "source", t.elements);
  t.to = check(to, what, "target", target_elements);
  SINEW_CHECK(t.elements == target_elements, what,
              "its source has " + std::to_string(t.elements) + " elements and its target " +
                  std::to_string(target_elements),
              "");
}

event system::copy(const side& from, const side& to, event after) {
  constexpr const char* what = "a copy cannot be made";
  transfer t;
  side source = from;
  side goal = to;
  body_->check_both(from, to, what, t);
  const known_ptr k = body_->find(from.what);
  const field_info& f = k->where.fields[from.field].info;
  const known_ptr l = body_->find(to.what);
  const field_info& g = l->where.fields[to.field].info;
  SINEW_CHECK(f.type_id == g.type_id, what,
              "field " + quoted(f.name) + " has type " + std::string(f.type.view()) +
                  " and field " + quoted(g.name) + " " + std::string(g.type.view()),
              "");
  t.bytes = f.bytes;
  const int executor = body_->executor_of(t);
  std::array<instance, 2> temporary;
  const bool here = body_->sees(*k) && body_->sees(*l);
  event ready = body_->fetch_indices(source, after, temporary[0], here);
  ready = body_->fetch_indices(goal, ready, temporary[1], here);
  if (temporary[0].exists() || temporary[1].exists()) {
    t.from = body_->check(source, what, "source", t.elements);
    t.to = body_->check(goal, what, "target", t.elements);
  }
  const event end = body_->issue(t, executor, ready);
  for (const instance i : temporary) {
    if (i.exists()) {
      (void)destroy(i, events_.settled(end));
    }
  }
  return end;
}

/// Indices that whoever does it might not see are copied to where every rank does; returns when.
/// `here`: this rank does it for sure.
event system::body::fetch_indices(side& s, event before, instance& temporary, bool here) {
  if (!s.index.exists()) {
    return before;
  }
  const known_ptr list = find(s.index);
  if (list->private_to() == -1 || (here && list->private_to() == rank)) {
    return before;
  }
  const box which = resolve(list->where.elements, s.index_where, "indices");
  schema numbers(region::elements_of(which));
  const auto f = numbers.add<std::int64_t>("indices");
  side rest{s.index, s.index_field, 0, s.index_where};
  system& all = *facade;
  const made m = all.create(numbers, region::memory::shared(rank), {}, {});
  temporary = m.what;
  const event there = all.copy(rest, at(m.what, f), events.merge(before, m.ready));
  s.index = m.what;
  s.index_field = f.number;
  s.index_where = {};
  return there;
}

event system::copy(instance from, instance to, event after) {
  const known_ptr k = body_->find(from);
  const known_ptr l = body_->find(to);
  SINEW_CHECK(
      k->where.fields.size() == l->where.fields.size() && k->where.elements == l->where.elements,
      "a copy cannot be made", "the two instances have not the same fields and shape",
      "copy field by field");
  std::vector<event> ends;
  for (std::uint16_t f = 0; f < k->where.fields.size(); ++f) {
    ends.push_back(copy(side{from, f}, side{to, f}, after));
  }
  return events_.merge(ends);
}

event system::fill_bytes(const side& to, const void* value, std::size_t bytes, std::uint64_t type,
                         event after) {
  constexpr const char* what = "a fill cannot be made";
  side typed = to;
  typed.type_id = type;
  transfer t;
  t.what = action::fill;
  SINEW_CHECK(!to.index.exists(), what, "it goes to indices", "copy from an instance instead");
  t.to = body_->check(typed, what, "target", t.elements);
  t.bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(t.value, value, bytes);
  return body_->issue(t, body_->executor_of(t), after);
}

event system::reduce_by(std::uint64_t op, const side& from, const side& to, event after,
                        sharing how, event* ended) {
  constexpr const char* what = "a reduction cannot be made";
  const operator_entry& e = body_->operator_of(op);
  transfer t;
  t.what = action::reduce;
  t.op = op;
  t.how = how;
  SINEW_CHECK(!from.index.exists() && !to.index.exists(), what, "it names indices",
              "gather into an instance first, or use a list instance");
  body_->check_both(from, to, what, t);
  const known_ptr source = body_->find(from.what);
  const field_info& f = source->where.fields[from.field].info;
  SINEW_CHECK(f.type_id == e.rhs_type, what,
              "operator " + std::string(e.name.view()) + " takes contributions of type " +
                  std::string(e.rhs_name.view()) + ", and field " + quoted(f.name) + " has type " +
                  std::string(f.type.view()),
              "");
  const target goal = target_of(e, to.what, to.field);
  SINEW_CHECK(how == sharing::exclusive || e.atomic, what,
              "operator " + std::string(e.name.view()) + " cannot be atomic on values of " +
                  std::to_string(e.lhs_bytes) + " bytes",
              "use sharing::exclusive");
  t.bytes = f.bytes;
  const known_ptr k = body_->find(to.what);
  std::vector<event> ends;
  for (t.part = 0; t.part < goal.parts; ++t.part) {
    transfer one = t;
    ends.push_back(body_->issue(one, k->place(t.part).rank, after));
  }
  if (ended != nullptr) {
    *ended = events_.settled(ends);
  }
  return events_.merge(ends);
}

/// A rank that sees both sides, if there is one; else the owner of the source.
int system::body::executor_of(const transfer& t) const {
  const int target = find(instance::from_bits(t.to.what))->private_to();
  const bool far_target = target != -1 && target != rank;
  if (t.what == action::fill) {
    return far_target ? target : rank;
  }
  const int source = find(instance::from_bits(t.from.what))->private_to();
  const bool far_source = source != -1 && source != rank;
  if (!far_source && !far_target) {
    return rank;
  }
  if (far_source && far_target) {
    return source;
  }
  if (kernel_works.load(std::memory_order_relaxed)) {
    return rank;  // without anybody's help
  }
  return far_source ? source : source == rank ? rank : target;
}

/// Who sends the source by messages.
int system::body::helper_for(const transfer& t) const {
  const known_ptr source = find(instance::from_bits(t.from.what));
  return sees(*source) ? rank : source->private_to();
}

event system::body::issue(transfer& t, int executor, event before) {
  if (executor == rank && events.has_triggered(before)) {
    if (before.exists() && events.look(before) == sinew::event::state::poisoned) {
      return before;
    }
    switch (run(t)) {
      case outcome::done:
        return {};
      case outcome::failed:
        return poisoned();
      default:
        break;
    }
    executor = helper_for(t);
  }
  const user_event post = events.create();
  t.post = post.bits();
  after(before, [this, t, executor](bool bad) mutable {
    if (bad) {
      finish(t.post, false);
    } else {
      start(t, executor);
    }
  });
  return post;
}

void system::body::start(transfer& t, int executor) {
  if (executor == rank) {
    perform_here(t);
  } else {
    events.send(executor, topic::copy, perform, 0, &t, sizeof t);
  }
}

/// Whoever asked has gone on, or is another rank: what is wrong is told by the event after it.
void system::body::perform_here(transfer& t) {
  const outcome how = run(t);
  if (how == outcome::passed_on) {
    return;
  }
  if (how != outcome::refused) {
    return finish(t.post, how == outcome::done);
  }
  try {
    start(t, helper_for(t));
  } catch (const error& e) {  // an instance was destroyed meanwhile
    problem(e.what());
    finish(t.post, false);
  }
}

void system::body::finish(std::uint64_t post, bool good) {
  const user_event e(event::from_bits(post));
  if (good) {
    events.trigger(e);
  } else {
    events.poison(e);
  }
}

event system::body::poisoned() {
  const user_event e = events.create();
  events.poison(e);
  return e;
}

void system::body::problem(const std::string& text) {
  SINEW_LOG(warn, text);
  const core::guard held(lock, threaded);
  last_problem = text;
}

void system::body::on_copy(const sinew::event::message& m) {
  if (m.small == perform) {
    transfer t;
    SINEW_ASSERT(m.size == sizeof t);
    std::memcpy(&t, m.data, sizeof t);
    perform_here(t);
    return;
  }
  delivery d;
  SINEW_ASSERT(m.size >= sizeof d);
  std::memcpy(&d, m.data, sizeof d);
  take_delivery(d, m.data + sizeof d, m.small == deliver_last);
}

// --- looking
// ---------------------------------------------------------------------------------------

system::system(rma::engine& memory, sinew::event::system& events)
    : rma_(memory), events_(events), body_(std::make_unique<body>(memory, events)) {
  body_->facade = this;
}
system::~system() = default;

std::string system::why(instance what) const { return body_->find(what)->there->why; }
shape system::shape_of(instance what) const { return body_->find(what)->where.elements; }
std::uint32_t system::parts_of(instance what) const { return body_->find(what)->where.parts; }

instance system::image(instance what, int rank) const {
  constexpr const char* none = "an image cannot be named";
  SINEW_CHECK(body_->find(what)->kind == memory_kind::symmetric, none,
              "the instance does not lie in symmetric memory", "");
  SINEW_CHECK(rank >= 0 && rank < size(), none, "there is no rank " + std::to_string(rank), "");
  return {rank, what.index(), what.generation()};
}

int system::owner_of(instance what, std::uint32_t part) const {
  const known_ptr k = body_->find(what);
  SINEW_CHECK(part < k->where.parts, "an instance cannot be asked",
              "it has no part " + std::to_string(part), "");
  return k->place(part).rank;
}

std::uint64_t system::elements_of(instance what, std::uint32_t part) const {
  const known_ptr k = body_->find(what);
  return part < k->where.parts ? k->where.elements_of(part) : 0;
}

std::string system::last_problem() const {
  const core::guard held(body_->lock, body_->threaded);
  return body_->last_problem;
}

std::byte* system::bytes_of(instance what, std::uint32_t part) const {
  const known_ptr k = body_->find(what);
  SINEW_CHECK(k->there->state.load(std::memory_order_acquire) == record_state::ready, cannot,
              "it is not ready", "wait for the event that create() returned");
  SINEW_CHECK(part < k->where.parts, cannot, "it has no part " + std::to_string(part), "");
  std::byte* base = body_->reach(*k, part);
  SINEW_CHECK(base != nullptr, cannot,
              "it is private memory of rank " + std::to_string(k->place(part).rank),
              "copy it here, or make it in shared memory");
  return base;
}

/// `axes` 0: a part as one axis. A striped instance has parts also in a job of one rank, where its
/// rows follow each other without gaps.
std::byte* system::locate(instance what, std::uint16_t number, std::uint64_t type,
                          std::uint32_t part, std::size_t axes, std::uint64_t* extents,
                          std::int64_t* strides) const {
  const known_ptr k = body_->find(what);
  const field_place& f = field_of(*k, number, cannot);
  SINEW_CHECK(f.info.type_id == type, cannot,
              "field " + quoted(f.info.name) + " has type " + std::string(f.info.type.view()), "");
  std::byte* base = bytes_of(what, part);
  const shape& s = k->where.elements;
  if (axes == 0) {
    SINEW_CHECK(k->kind == memory_kind::global || k->where.parts > 1 || s.axes() == 1, cannot,
                "it has several axes and is not striped", "use look");
    extents[0] = k->where.elements_of(part);
    strides[0] = f.at.stride[most_axes - 1];
    return base + f.at.offset;
  }
  SINEW_CHECK(k->where.parts == 1, cannot, "it lies in parts", "use look_at_part");
  SINEW_CHECK(axes == s.axes(), cannot,
              "it has " + std::to_string(s.axes()) + " axes, not " + std::to_string(axes), "");
  for (std::size_t axis = 0; axis < axes; ++axis) {
    extents[axis] = s.extent(axis);
    strides[axis] = f.at.stride[most_axes - axes + axis];
  }
  return base + f.at.offset;
}

}  // namespace sinew::region
