// SPDX-License-Identifier: BSD-3-Clause
#include "region/streams.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "region/deferral.hpp"
#include "sinew/base/check.hpp"

namespace sinew::region {

using sinew::event::event;

namespace {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

/// What one owner is sent.
struct letter {
  std::vector<std::byte> bytes;  ///< as many as a message has
  std::size_t used = sizeof(parcel);
  std::uint32_t runs = 0;
  std::uint32_t under_way = 0;  ///< messages that are not answered
  bool lost = false;            ///< the owner: nothing is sent to it
};

struct streams::stream {
  stream(const transfer& t, bound_side source, bound_side target)
      : of(t),
        from(std::move(source)),
        to(std::move(target)),
        both(*from.at, *to.at),
        may_be_fetched(t.what == action::copy && (t.bytes < least_fetched || !any_twice(to.list))) {
  }

  const transfer of;
  const bound_side from;
  const bound_side to;
  paired_walk both;
  const bool may_be_fetched;  ///< fetches have no order, which matters to an element named twice
  const operator_entry* op = nullptr;  ///< of a reduction
  std::uint64_t number = 0;

  base::lock lock;                     ///< guards what follows, and `both`
  std::map<job_rank, letter> letters;  ///< by owner
  std::uint32_t under_way = 0;
  /// Memory that owners fetch from, by ranges that follow each other.
  struct range {
    const std::byte* begin;
    const std::byte* end;
    fabric::remote_key key;
  };
  std::vector<range> exposed;
  bool packed = false;  ///< all elements are
  bool failed = false;
  bool ended = false;       ///< nothing is left to do
  bool owner_ends = false;  ///< its event is triggered by the owner
};

void streams::begin(const transfer& t) {
  SINEW_EXPECT(t.post != 0 && t.what != action::fill);
  const operator_entry* op = t.what == action::reduce ? &all_.operators.find(t.op) : nullptr;
  auto s = std::make_shared<stream>(t, bind(all_.table, t.from), bind(all_.table, t.to));
  s->op = op;
  if (op != nullptr &&
      padded(t.bytes) > all_.messages.largest_parcel() - sizeof(parcel) - sizeof(parcel_run)) {
    throw fault{"elements of " + std::to_string(t.bytes) + " bytes fit into no message"};
  }
  {
    const base::guard held(lock_, threaded_);
    s->number = ++last_;
    open_.emplace(s->number, s);
  }
  run(s);
}

/// As far as it goes now. Not with the lock of the stream.
void streams::run(const stream_ptr& s) {
  bool ended = false;
  {
    const base::guard held(s->lock, threaded_);
    if (s->ended) {
      return;
    }
    const auto give_up = [&](const std::string& why) {
      all_.trouble.add("a transfer was given up", why);
      s->failed = s->packed = true;
    };
    try {
      ended = pump(*s);
    } catch (const fault& f) {
      give_up(f.text);
    } catch (const std::exception& e) {
      give_up(e.what());
    }
    s->ended = ended = ended || (s->packed && s->under_way == 0);
  }
  if (!ended) {
    return;
  }
  {
    const base::guard held(lock_, threaded_);
    open_.erase(s->number);
  }
  withdraw(*s);
  if (!s->owner_ends) {
    finish(all_.events, s->of, sinew::event::moved_by::messages, !s->failed);
  }
}

/// Whether nothing is left to wait for.
bool streams::pump(stream& s) {
  while (!s.packed && !s.both.done() && s.under_way < most_under_way) {
    s.both.skip(move_some(s, s.both.now()));
  }
  if (s.packed || !s.both.done()) {
    return false;
  }
  s.packed = true;
  const event post = event::from_bits(s.of.post);
  const bool mine = post.owner() == all_.table.rank();
  const bool owners_may_die = all_.events.runtime().session().survivors() != nullptr;
  const bool one = s.under_way == 0 && s.letters.size() == 1 && !s.failed &&
                   !s.letters.begin()->second.lost && !s.of.profile.wanted() &&
                   (mine || !owners_may_die);  // who awaits the event knows of this rank alone
  for (auto& [owner, l] : s.letters) {
    if (l.runs != 0) {
      if (one && owners_may_die) {
        all_.events.entrust(post, owner);
      }
      send(s, owner, one);
      s.owner_ends = one;
    }
  }
  return s.under_way == 0;
}

/// Of these elements, which lie in steps on both sides; returns how many.
std::uint64_t streams::move_some(stream& s, const paired_walk::pair& p) {
  const bool other_part = s.of.part != every_part && p.to.part != s.of.part;
  const std::byte* source = all_.table.reach(*s.from.what, p.from.part);
  if (other_part || (source == nullptr && s.of.spread)) {
    return p.count;
  }
  if (source == nullptr) {
    throw fault{"its source is not seen by the rank that was asked"};
  }
  source += p.from.offset;
  std::byte* target = all_.table.reach(*s.to.what, p.to.part);
  if (s.of.what == action::copy && target != nullptr) {
    copy_run(target + p.to.offset, p.to.step, source, p.from.step, p.count, s.of.bytes);
    return p.count;
  }
  if (s.to.what->place(p.to.part).rank == all_.table.rank()) {
    apply_here(s, p, source);
    return p.count;
  }
  if (const std::uint64_t n = let_fetch(s, p, source)) {
    return n;
  }
  return pack(s, p, source);
}

void streams::apply_here(const stream& s, const paired_walk::pair& p, const std::byte* source) {
  SINEW_EXPECT(s.op != nullptr);
  std::byte* target = all_.table.reach(*s.to.what, p.to.part);
  SINEW_ASSERT(target != nullptr);
  const base::guard held(all_.merging, threaded_);
  s.op->apply({target + p.to.offset, p.to.step, source, p.from.step, p.count, s.of.how});
}

/// Of an owner that is lost already streams::lost() does not come again.
letter& streams::letter_to(stream& s, job_rank owner) {
  const auto [found, is_new] = s.letters.try_emplace(owner);
  if (is_new && all_.events.is_lost(owner)) {
    found->second.lost = s.failed = true;
  }
  return found->second;
}

/// Of elements side by side on both sides. 0: they are too few, or not so.
std::uint64_t streams::let_fetch(stream& s, const paired_walk::pair& p, const std::byte* source) {
  const part_place place = s.to.what->place(p.to.part);
  const std::uint64_t bytes = s.of.bytes;
  const auto step = static_cast<std::int64_t>(bytes);
  const letter& seen = letter_to(s, place.rank);
  if (!s.may_be_fetched || all_.table.heaps().maps(place.rank) || p.from.step != step ||
      p.to.step != step || p.count * bytes < least_fetched || seen.lost) {
    return 0;
  }
  const std::uint64_t n = std::clamp<std::uint64_t>(most_fetched / bytes, 1, p.count);
  if (s.exposed.empty() || source < s.exposed.back().begin ||
      source + n * bytes > s.exposed.back().end) {
    const std::uint64_t all = p.count * bytes;
    s.exposed.reserve(s.exposed.size() + 1);
    s.exposed.push_back(
        {source, source + all,
         all_.events.runtime().endpoint().expose(const_cast<std::byte*>(source), all)});
  }
  all_.messages.fetch(
      place.rank,
      {s.number, place.address + static_cast<std::uint64_t>(p.to.offset), n * bytes,
       reinterpret_cast<std::uintptr_t>(source), s.exposed.back().key, s.to.what->kind});
  ++s.letters[place.rank].under_way;
  ++s.under_way;
  return n;
}

/// A rank that was given up as lost may still ask for what it was told: then it stays.
void streams::withdraw(const stream& s) {
  const bool any_lost = std::any_of(s.letters.begin(), s.letters.end(),
                                    [](const auto& each) { return each.second.lost; });
  for (const auto& each : s.exposed) {
    if (!any_lost) {
      all_.events.runtime().endpoint().withdraw(each.key);
    }
  }
}

std::uint64_t streams::pack(stream& s, const paired_walk::pair& p, const std::byte* source) {
  const part_place place = s.to.what->place(p.to.part);
  const std::uint64_t address = place.address + static_cast<std::uint64_t>(p.to.offset);
  SINEW_ASSERT(place.address != 0 && place.rank != all_.table.rank());
  letter& l = letter_to(s, place.rank);
  if (l.lost) {
    return p.count;
  }
  const std::size_t most = all_.messages.largest_parcel();
  if (l.bytes.empty()) {
    l.bytes.resize(most);
  }
  const std::size_t bytes = s.of.bytes;
  if (padded(bytes) > most - sizeof(parcel) - sizeof(parcel_run)) {
    pack_in_pieces(s, place.rank, address, source);
    return 1;
  }
  if (l.used + sizeof(parcel_run) + padded(bytes) > most) {
    send(s, place.rank, false);
  }
  const std::uint64_t fit = (most - l.used - sizeof(parcel_run)) / 8 * 8 / bytes;
  const std::uint64_t n = std::min(p.count, fit);
  SINEW_ASSERT(n != 0);
  const parcel_run r{address, p.to.step, static_cast<std::uint32_t>(n), s.of.bytes};
  std::memcpy(l.bytes.data() + l.used, &r, sizeof r);
  l.used += sizeof r;
  copy_run(l.bytes.data() + l.used, static_cast<std::int64_t>(bytes), source, p.from.step, n,
           bytes);
  l.used += padded(n * bytes);
  ++l.runs;
  SINEW_ENSURE(l.used <= most);
  return n;
}

/// One element of a copy that is larger than a message.
void streams::pack_in_pieces(stream& s, job_rank owner, std::uint64_t address,
                             const std::byte* source) {
  SINEW_EXPECT(s.of.what == action::copy);
  letter& l = s.letters[owner];
  for (std::size_t at = 0; at < s.of.bytes;) {
    if (l.runs != 0) {
      send(s, owner, false);
    }
    const std::size_t room = (l.bytes.size() - sizeof(parcel) - sizeof(parcel_run)) / 8 * 8;
    const std::size_t n = std::min<std::size_t>(room, s.of.bytes - at);
    const parcel_run r{address + at, 0, 1, static_cast<std::uint32_t>(n)};
    std::memcpy(l.bytes.data() + l.used, &r, sizeof r);
    std::memcpy(l.bytes.data() + l.used + sizeof r, source + at, n);
    l.used += sizeof r + padded(n);
    l.runs = 1;
    at += n;
  }
}

void streams::send(stream& s, job_rank owner, bool ends_it) {
  letter& l = s.letters[owner];
  SINEW_EXPECT(l.runs != 0 && !l.lost);
  const parcel p{ends_it ? 0 : s.number,
                 ends_it ? s.of.post : 0,
                 s.of.op,
                 l.runs,
                 s.of.what,
                 s.to.what->kind,
                 s.of.how};
  all_.messages.deliver(owner, p, std::span(l.bytes).first(l.used));
  if (!ends_it) {
    ++l.under_way;
    ++s.under_way;
  }
  l.used = sizeof(parcel);
  l.runs = 0;
}

void streams::answered(job_rank owner, std::uint64_t number, bool good) {
  stream_ptr s;
  {
    const base::guard held(lock_, threaded_);
    const auto found = open_.find(number);
    if (found == open_.end()) {
      return;  // ended, since the owner was given up as lost
    }
    s = found->second;
  }
  {
    const base::guard held(s->lock, threaded_);
    letter& l = s->letters[owner];
    if (l.lost) {
      return;
    }
    SINEW_ASSERT(l.under_way != 0 && s->under_way >= l.under_way);
    --l.under_way;
    --s->under_way;
    s->failed = s->failed || !good;
  }
  run(s);
}

void streams::lost(job_rank owner) {
  std::vector<stream_ptr> all;
  {
    const base::guard held(lock_, threaded_);
    for (const auto& [number, s] : open_) {
      all.push_back(s);
    }
  }
  for (const stream_ptr& s : all) {
    {
      const base::guard held(s->lock, threaded_);
      const auto found = s->letters.find(owner);
      if (found == s->letters.end() || found->second.lost) {
        continue;
      }
      letter& l = found->second;
      SINEW_ASSERT(s->under_way >= l.under_way);
      s->under_way -= l.under_way;
      l = {};
      l.lost = true;
      s->failed = true;
    }
    run(s);
  }
}

void streams::take(job_rank sender, const parcel& p, const std::byte* runs) {
  const bool good = place(p, runs);
  if (p.post != 0) {
    finish(all_.events, p.post, good);
  } else {
    all_.messages.answer(sender, p.stream, good);
  }
}

bool streams::place(const parcel& p, const std::byte* runs) {
  try {
    const operator_entry* op = p.what == action::reduce ? &all_.operators.find(p.op) : nullptr;
    const base::guard held(all_.merging, threaded_ && op != nullptr);
    for (std::uint32_t i = 0; i < p.runs; ++i) {
      parcel_run r;
      std::memcpy(&r, runs, sizeof r);
      runs += sizeof r;
      SINEW_ASSERT(r.address != 0 && r.count != 0 && r.bytes != 0);
      std::byte* to = p.kind == memory_kind::heap
                          ? reinterpret_cast<std::byte*>(r.address)
                          : all_.table.heaps().at(all_.table.rank(), r.address);
      const auto step = static_cast<std::int64_t>(r.bytes);
      if (op != nullptr) {
        op->apply({to, r.step, runs, step, r.count, p.how});
      } else {
        copy_run(to, r.step, runs, step, r.count, r.bytes);
      }
      runs += padded(std::size_t{r.count} * r.bytes);
    }
    return true;
  } catch (const std::exception& e) {
    all_.trouble.add("a delivery was given up", e.what());
    return false;
  }
}

}  // namespace sinew::region
