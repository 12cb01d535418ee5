// Operators by their numbers, and logs of reductions applied by the owners of parts.
#include "sinew/region/reductions.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "region/body.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::region {
namespace {

using sinew::event::topic;

constexpr std::uint64_t largest_chunk = std::uint64_t{512} << 10;  ///< bytes
constexpr std::uint64_t first_chunk = std::uint64_t{8} << 10;

}  // namespace

void system::add_operator(const operator_entry& e) {
  const core::guard held(body_->lock, body_->threaded);
  body_->operators.try_emplace(e.id, e);
}

const operator_entry& system::body::operator_of(std::uint64_t id) const {
  const core::guard held(lock, threaded);
  const auto found = operators.find(id);
  SINEW_CHECK(found != operators.end(), "a reduction cannot be made",
              "its operator is not known on rank " + std::to_string(rank),
              "call system::add with it on every rank that owns what is reduced");
  return found->second;
}

system::target system::target_of(const operator_entry& op, instance what, std::uint16_t field) {
  constexpr const char* cannot = "a reduction cannot be made";
  const known_ptr k = body_->find(what);
  SINEW_CHECK(field < k->where.fields.size(), cannot,
              "the target has no field number " + std::to_string(field), "");
  const field_info& f = k->where.fields[field].info;
  SINEW_CHECK(f.type_id == op.lhs_type, cannot,
              "operator " + std::string(op.name.view()) + " reduces values of type " +
                  std::string(op.lhs_name.view()) + ", and field '" + std::string(f.name.view()) +
                  "' has type " + std::string(f.type.view()),
              "");
  const auto& n = k->where.elements.padded();
  const auto& stride = k->where.fields[field].at.stride;
  const bool in_steps =
      k->where.parts > 1 ||
      ((n[1] == 1 || stride[1] == static_cast<std::int64_t>(n[2]) * stride[2]) &&
       (n[0] == 1 || stride[0] == static_cast<std::int64_t>(n[1] * n[2]) * stride[2]));
  return {what, field, k->where.parts, k->where.shift, k->where.elements.elements(), in_steps};
}

void system::replay(const target& to, std::uint64_t op, std::uint32_t part, std::uint64_t offset,
                    std::uint64_t count, event after, user_event done) {
  const log_place l{to.what.bits(), op, done.bits(), offset, count, part, to.field};
  const int owner = body_->find(to.what)->place(part).rank;
  body_->after(after, [b = body_.get(), l, owner](bool poisoned) {
    if (poisoned) {
      b->events.poison(user_event(event::from_bits(l.done)));
    } else {
      b->events.send(owner, topic::reduction, replay_log, 0, &l, sizeof l);
    }
  });
}

void system::apply_there(const target& to, std::uint64_t op, std::uint32_t part,
                         const void* entries, std::uint64_t count, std::size_t bytes, event done) {
  // Straight into the message would save this copy; 8 KiB in the first-level cache cost 100 ns.
  std::byte packet[16384];
  SINEW_ASSERT(sizeof(log_place) + bytes <= sizeof packet);
  const log_place l{to.what.bits(), op, done.bits(), 0, count, part, to.field};
  std::memcpy(packet, &l, sizeof l);
  if (bytes != 0) {
    std::memcpy(packet + sizeof l, entries, bytes);
  }
  events_.send(body_->find(to.what)->place(part).rank, topic::reduction, batch, 0, packet,
               sizeof l + bytes);
}

std::size_t system::largest_batch() const noexcept {
  return std::min<std::size_t>(events_.largest_message(), 16384) - sizeof(log_place);
}

// --- logs of a reduction instance
// ------------------------------------------------------------------

struct logs::chunk {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t used = 0;  ///< entries
};

/// Outlives the logs: the owners of parts may still read it.
struct logs::store {
  explicit store(system& s) : all(s) {}
  ~store() {
    for (const chunk& c : spare) {
      all.give_memory(c.offset);
    }
  }
  system& all;
  core::lock lock;
  std::vector<chunk> spare;  ///< guarded by lock
};

logs::logs(system& all, const operator_entry& op, const system::target& to)
    : to_(to),
      all_(all),
      op_(op.id),
      entry_bytes_(op.entry_bytes),
      store_(std::make_shared<store>(all)),
      chunks_(to.parts) {
  SINEW_CHECK(to.in_steps, "a log of reductions cannot be made",
              "the target's rows do not follow each other in equal steps", "");
  SINEW_CHECK(to.elements / to.parts < (std::uint64_t{1} << 31),
              "a log of reductions cannot be made",
              std::to_string(to.elements) + " elements: a part has 2^31 or more", "");
}
logs::~logs() {
  for (std::vector<chunk>& list : chunks_) {
    std::move(list.begin(), list.end(), std::back_inserter(store_->spare));
    list.clear();
  }
}

std::span<std::byte> logs::grow(std::uint32_t part) {
  std::vector<chunk>& list = chunks_[part];
  const std::uint64_t wanted =
      list.empty() ? first_chunk : std::min(list.back().bytes * 2, largest_chunk);
  if (!list.empty()) {
    list.back().used = list.back().bytes / entry_bytes_;
    logged_ += list.back().used;
  }
  chunk c;
  {
    const core::guard held(store_->lock, true);
    for (chunk& s : store_->spare) {
      if (s.bytes >= wanted) {
        c = s;
        s = store_->spare.back();
        store_->spare.pop_back();
        break;
      }
    }
  }
  rma::engine& rma = all_.memory();
  if (c.offset == 0) {
    c.bytes = wanted;
    c.offset = all_.take_memory(wanted);
  }
  c.used = 0;
  list.push_back(c);
  return {rma.at({rma.rank(), c.offset}), c.bytes / entry_bytes_ * entry_bytes_};
}

std::uint64_t logs::entries_of(std::uint32_t part, std::size_t number,
                               const std::byte*& first) const {
  if (number >= chunks_[part].size()) {
    return 0;
  }
  const chunk& c = chunks_[part][number];
  first = all_.memory().at({all_.rank(), c.offset});
  return c.used;
}

void logs::end_chunk(std::uint32_t part, std::uint64_t left) {
  if (!chunks_[part].empty()) {
    chunk& c = chunks_[part].back();
    c.used = c.bytes / entry_bytes_ - left;
  }
}

event logs::merge(event after) {
  sinew::event::system& events = all_.events();
  std::vector<event> ends;
  std::vector<chunk> lent;
  for (std::uint32_t part = 0; part < to_.parts; ++part) {
    for (const chunk& c : chunks_[part]) {
      lent.push_back(c);
      if (c.used != 0) {
        const user_event done = events.create();
        ends.push_back(done);
        all_.replay(to_, op_, part, c.offset, c.used, after, done);
      }
    }
    chunks_[part].clear();
  }
  logged_ = 0;
  const event end = events.merge(ends);
  struct returned {
    std::shared_ptr<store> to;
    std::vector<chunk> what;
  };
  events.on(
      events.settled(ends),
      [](void* argument, bool) noexcept {
        const std::unique_ptr<returned> r(static_cast<returned*>(argument));
        base::must_have_memory("contributions were given back", [&] {
          const core::guard held(r->to->lock, true);
          r->to->spare.insert(r->to->spare.end(), r->what.begin(), r->what.end());
        });
      },
      new returned{store_, std::move(lent)});
  return end;
}

void logs::drop() {
  const core::guard held(store_->lock, true);
  for (std::vector<chunk>& list : chunks_) {
    store_->spare.insert(store_->spare.end(), list.begin(), list.end());
    list.clear();
  }
  logged_ = 0;
}

void system::body::apply_log(int source, const log_place& l, const std::byte* entries) {
  const std::int64_t begin = trace::begin();
  bool good = true;
  try {
    const operator_entry& op = operator_of(l.op);
    const known_ptr k = find(instance::from_bits(l.what));
    SINEW_CHECK(k->there->state.load(std::memory_order_acquire) == record_state::ready,
                "a reduction was given up", "its target is not ready",
                "let it come after the event that create() returned");
    const field_place& f = k->where.fields[l.field];
    std::uint64_t beyond = 0;
    if (l.count != 0) {
      if (entries == nullptr) {
        entries = rma.at({source, l.offset});
      }
      const core::guard held(merging, threaded);
      beyond = op.replay({reach(*k, l.part) + f.at.offset, f.at.stride[most_axes - 1], entries,
                          l.count, k->where.elements_of(l.part)});
    }
    SINEW_CHECK(beyond == 0, "a reduction was given up",
                std::to_string(beyond) + " contributions went to elements outside of the target",
                "the others were applied");
  } catch (const std::exception& e) {
    problem(e.what());
    good = false;
  }
  trace::span(trace::kind::copy, "replay", begin, l.done, l.count);
  const std::pair<int, std::uint64_t> sender(source, l.what);
  if (l.done == 0 && !good) {
    const core::guard held(lock, threaded);
    failed_batches.insert(sender);
  } else if (l.done != 0) {
    {
      const core::guard held(lock, threaded);
      good = failed_batches.erase(sender) == 0 && good;
    }
    finish(l.done, good);
  }
}

void system::body::on_reduction(const sinew::event::message& m) {
  log_place l;
  SINEW_ASSERT(m.size >= sizeof l);
  std::memcpy(&l, m.data, sizeof l);
  apply_log(m.source, l, m.small == batch ? m.data + sizeof l : nullptr);
}

}  // namespace sinew::region
