// SPDX-License-Identifier: BSD-3-Clause
#include "region/mover.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "sinew/base/trace.hpp"

namespace sinew::region {
namespace {

using fabric::direction;

constexpr std::size_t most_scratch = std::size_t{64} << 10;

const char* name_of(action a) {
  return a == action::copy ? "copy" : a == action::fill ? "fill" : "reduce";
}

std::int64_t step_of(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

owners mover::owners_of(const transfer& t) const {
  return {t.what == action::fill ? every_rank : table_.find(t.from.of())->private_to(),
          table_.find(t.to.of())->private_to()};
}

outcome mover::carry_out(const transfer& t) {
  const auto give_up = [&](const char* why) {
    problems_.add(std::string("a ") + name_of(t.what) + " was given up", why);
    return outcome::failed;
  };
  try {
    return try_to(t);
  } catch (const fault& f) {
    return give_up(f.text.c_str());
  } catch (const std::bad_alloc&) {
    return give_up("there is no memory for it");
  } catch (const std::exception& e) {
    return give_up(e.what());
  }
}

outcome mover::try_to(const transfer& t) {
  const std::int64_t begin = trace::begin();
  if (t.spread && t.what != action::fill) {
    streams_.begin(t);
    return outcome::passed_on;
  }
  try {
    switch (t.what) {
      case action::copy:
        copy(t);
        break;
      case action::fill:
        fill(t);
        break;
      case action::reduce:
        reduce(t);
        break;
    }
  } catch (const kernel_refused&) {
    SINEW_ASSERT(t.what != action::fill);
    if (t.post == 0 || !table_.sees(*table_.find(t.from.of()))) {
      return outcome::refused;
    }
    streams_.begin(t);
    return outcome::passed_on;
  }
  trace::span(trace::kind::copy, name_of(t.what), begin, t.post, t.elements * t.bytes);
  return outcome::done;
}

void mover::copy(const transfer& t) {
  if (t.from.what == t.to.what && t.from.field == t.to.field) {
    return copy_staged(t);
  }
  const bound_side from = bind(table_, t.from);
  const bound_side to = bind(table_, t.to);
  SINEW_ASSERT(from.at->left() == t.elements && to.at->left() == t.elements);
  const owners of{from.what->private_to(), to.what->private_to()};
  copy_facts facts{t.elements, t.bytes, t.bytes, from.at->listed() || to.at->listed()};
  if (t.elements != 0 && (of.source_is_far(table_.rank()) || of.target_is_far(table_.rank()))) {
    facts.contiguous = paired_walk(*from.at, *to.at).contiguous(t.bytes);
  }
  switch (choose_copy_way(facts, of, table_.rank())) {
    case copy_way::nothing:
      return;
    case copy_way::by_runs:
      return copy_by_runs(from, to, t.bytes);
    case copy_way::scattered: {
      address_list sources(table_, from);
      address_list targets(table_, to);
      return copy_scattered(sources, targets, t.elements, t.bytes);
    }
    case copy_way::messages:
      throw kernel_refused{};
  }
}

/// One side is seen here at least.
void mover::copy_by_runs(const bound_side& from, const bound_side& to, std::size_t bytes) {
  auto far_pieces = pieces();
  paired_walk both(*from.at, *to.at);
  while (!both.done()) {
    const paired_walk::pair p = both.now();
    std::byte* source = table_.reach(*from.what, p.from.part);
    std::byte* target = table_.reach(*to.what, p.to.part);
    if (source != nullptr && target != nullptr) {
      copy_run(target + p.to.offset, p.to.step, source + p.from.offset, p.from.step, p.count,
               bytes);
    } else if (source != nullptr) {
      far_pieces.add(to.what->place(p.to.part).rank, direction::out,
                     {source + p.from.offset, p.from.step, address_in(*to.what, p.to), p.to.step,
                      p.count, bytes});
    } else {
      SINEW_ASSERT(target != nullptr);
      far_pieces.add(from.what->place(p.from.part).rank, direction::in,
                     {target + p.to.offset, p.to.step, address_in(*from.what, p.from), p.from.step,
                      p.count, bytes});
    }
    both.skip(p.count);
  }
  far_pieces.flush();
}

/// Within one field of one instance, where the two sides may overlap: all is read before anything
/// is written.
void mover::copy_staged(const transfer& t) {
  const bound_side from = bind(table_, t.from);
  const bound_side to = bind(table_, t.to);
  const std::size_t bytes = t.bytes;
  const std::int64_t step = step_of(bytes);
  SINEW_ASSERT(from.at->left() == t.elements && to.at->left() == t.elements);
  std::vector<std::byte> all(t.elements * bytes);
  const job_rank owner = from.what->private_to();
  for (const bound_side* side : {&from, &to}) {
    const bool in = side == &from;
    if (side->at->listed()) {
      address_list there(table_, *side);
      address_list here(all.data(), bytes);
      copy_scattered(in ? there : here, in ? here : there, t.elements, bytes);
      continue;
    }
    auto far_pieces = pieces();
    for (std::byte* at = all.data(); !side->at->done();) {
      const run r = side->at->now();
      std::byte* there = table_.reach(*side->what, r.part);
      if (there == nullptr) {
        far_pieces.add(owner, in ? direction::in : direction::out,
                       {at, step, address_in(*side->what, r), r.step, r.count, bytes});
      } else if (in) {
        copy_run(at, step, there + r.offset, r.step, r.count, bytes);
      } else {
        copy_run(there + r.offset, r.step, at, step, r.count, bytes);
      }
      at += r.count * bytes;
      side->at->skip(r.count);
      SINEW_ASSERT(at <= all.data() + all.size());
    }
    far_pieces.flush();
  }
}

void mover::fill(const transfer& t) {
  SINEW_EXPECT(t.bytes != 0 && t.bytes <= most_fill_bytes);
  const bound_side to = bind(table_, t.to);
  const bool zero =
      std::all_of(t.value, t.value + t.bytes, [](std::byte b) { return b == std::byte{0}; });
  while (!to.at->done()) {
    const run r = to.at->now();
    std::byte* there = table_.reach(*to.what, r.part);
    if (there == nullptr && !t.spread) {
      throw fault{"its target is another rank's private memory"};
    }
    if (there == nullptr) {
      to.at->skip(r.count);
      continue;
    }
    if (zero && r.step == step_of(t.bytes)) {
      std::memset(there + r.offset, 0, r.count * t.bytes);
    } else {
      copy_run(there + r.offset, r.step, t.value, 0, r.count, t.bytes);
    }
    to.at->skip(r.count);
  }
}

/// At the owner of the part, or of the source. What it does not see of the source it fetches piece
/// by piece.
void mover::reduce(const transfer& t) {
  const operator_entry& op = operators_.find(t.op);
  if (table_.find(t.to.of())->place(t.part).rank != table_.rank()) {
    throw kernel_refused{};  // this rank was asked since it owns the source
  }
  const bound_side from = bind(table_, t.from);
  const bound_side to = bind(table_, t.to);
  SINEW_ASSERT(t.bytes == op.rhs_bytes);
  std::vector<std::byte> scratch;
  const base::guard held(merging_, threaded_);
  for (paired_walk both(*from.at, *to.at); !both.done();) {
    paired_walk::pair p = both.now();
    if (p.to.part == t.part) {
      const std::byte* source = table_.reach(*from.what, p.from.part);
      std::byte* target = table_.reach(*to.what, p.to.part);
      SINEW_ASSERT(target != nullptr);
      paired_run r{target + p.to.offset, p.to.step, nullptr, p.from.step, p.count, t.how};
      if (source != nullptr) {
        r.from = source + p.from.offset;
      } else {
        p.count =
            std::min<std::uint64_t>(p.count, std::max<std::size_t>(most_scratch / t.bytes, 1));
        p.from.count = p.count;
        scratch.resize(std::max(scratch.size(), p.count * t.bytes));
        fetch(*from.what, p.from, scratch, t.bytes);
        r.from = scratch.data();
        r.from_step = step_of(t.bytes);
        r.count = p.count;
      }
      op.apply(r);
    }
    both.skip(p.count);
  }
}

/// A run of another rank's private memory, packed.
void mover::fetch(const known& from, const run& r, std::span<std::byte> to, std::size_t bytes) {
  SINEW_EXPECT(r.count * bytes <= to.size());
  auto far_pieces = pieces();
  far_pieces.add(from.place(r.part).rank, direction::in,
                 {to.data(), step_of(bytes), address_in(from, r), r.step, r.count, bytes});
  far_pieces.flush();
}

}  // namespace sinew::region
