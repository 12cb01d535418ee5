// SPDX-License-Identifier: BSD-3-Clause
#include "region/future_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::region {

future_memory::future_memory(rma::arena& blocks, fit f, source of)
    : arena_(blocks), fit_(f), source_(std::move(of)) {
  SINEW_EXPECT(source_.allocate != nullptr && source_.release != nullptr);
}

future_memory::tenant* future_memory::find(const part_name& p) {
  const auto at = tenants_.find(key{p.id, p.part});
  return at == tenants_.end() ? nullptr : &at->second;
}

void future_memory::forget(tenant& t) {
  if (t.waiting) {
    waiting_.remove(&t);
  }
  tenants_.erase(key{t.of.what.id, t.of.what.part});
}

/// All that lie in these places, which end where segments end.
std::vector<future_memory::segments::iterator> future_memory::segments_of(
    const std::vector<piece>& places) {
  std::vector<segments::iterator> all;
  for (const piece& p : places) {
    for (auto s = segments_.find(p.begin); s != segments_.end() && s->first < p.end(); ++s) {
      all.push_back(s);
    }
  }
  return all;
}

bool future_memory::is_lowest(const tenant& t) {
  const auto all = segments_of(t.places);
  return std::all_of(all.begin(), all.end(),
                     [&](const auto& s) { return s->second.stack.front() == &t; });
}

// --- finding places ---

/// What a part may get, by offset: what is free, and now what it alone has, later what goes.
std::vector<future_memory::candidate> future_memory::candidates(tenant& t, time when) {
  std::vector<candidate> all;
  for (const piece& p : arena_.free_pieces()) {
    all.push_back({p, true});
  }
  const auto add = [&](const auto& s) { all.push_back({{s.first, s.second.bytes}, false}); };
  for (const auto& s : segments_of(t.places)) {
    if (when == time::now && s->second.stack == std::vector{&t}) {
      add(*s);
    }
  }
  for (auto s = segments_.begin(); when == time::later && s != segments_.end(); ++s) {
    if (s->second.stack.back()->leaving) {
      add(*s);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const candidate& a, const candidate& b) { return a.where.begin < b.where.begin; });
  return all;
}

/// Of these so many bytes; none if there are not enough. What is free is spared: others can have it
/// at once.
std::vector<future_memory::candidate> future_memory::choose(std::vector<candidate> among,
                                                            std::uint64_t bytes) const {
  std::vector<candidate> best;
  if (fit_ == fit::in_any_pieces) {
    std::sort(among.begin(), among.end(), [](const candidate& a, const candidate& b) {
      return std::pair(a.is_free, a.where.begin) < std::pair(b.is_free, b.where.begin);
    });
    for (auto c = among.begin(); c != among.end() && bytes != 0; ++c) {
      const std::uint64_t some = std::min(bytes, c->where.bytes);
      best.push_back({{c->where.begin, some}, c->is_free});
      bytes -= some;
    }
    return bytes == 0 ? best : std::vector<candidate>();
  }
  std::pair<std::uint64_t, std::uint64_t> least{};  // free bytes, bytes of the whole run
  for (auto first = among.begin(); first != among.end();) {
    auto last = first;
    while (std::next(last) != among.end() && std::next(last)->where.begin == last->where.end()) {
      ++last;
    }
    const std::uint64_t whole = last->where.end() - first->where.begin;
    const auto end = std::next(last);
    for (const std::uint64_t begin : {first->where.begin, last->where.end() - bytes}) {
      if (whole < bytes) {
        continue;
      }
      std::vector<candidate> some;
      std::uint64_t free = 0;
      for (auto c = first; c != end; ++c) {
        const std::uint64_t from = std::max(begin, c->where.begin);
        const std::uint64_t to = std::min(begin + bytes, c->where.end());
        if (from < to) {
          some.push_back({{from, to - from}, c->is_free});
          free += c->is_free ? to - from : 0;
        }
      }
      if (best.empty() || std::pair(free, whole) < least) {
        least = {free, whole};
        best = std::move(some);
      }
    }
    first = end;
  }
  return best;
}

/// The free ones among them become blocks. False, and nothing is done, if another user of the arena
/// has taken one meanwhile.
bool future_memory::claim(const std::vector<candidate>& chosen) {
  for (auto c = chosen.begin(); c != chosen.end(); ++c) {
    if (c->is_free && !arena_.claim(c->where)) {
      while (c-- != chosen.begin()) {
        if (c->is_free) {
          arena_.release(c->where.begin);
        }
      }
      return false;
    }
  }
  return true;
}

/// Where it fits, away from where it was. False, and nothing is done, if it fits nowhere.
bool future_memory::put(tenant& t, time when, outcomes& served) {
  std::vector<candidate> chosen;
  do {
    chosen = choose(candidates(t, when), rma::arena::rounded(t.of.what.bytes));
    if (chosen.empty()) {
      return false;
    }
  } while (!claim(chosen));
  const std::vector<piece> before = std::exchange(t.places, {});
  push(t, chosen, served);
  take_out(t, before, served);
  return true;
}

bool future_memory::find_place(tenant& t, outcomes& served) {
  const std::uint64_t offset = source_.allocate(rma::arena::rounded(t.of.what.bytes));
  if (offset != 0) {
    push(t, {{{offset, arena_.bytes_of(offset)}, true}}, served);
    return true;
  }
  return put(t, time::now, served) || put(t, time::later, served);
}

future_memory::answer future_memory::place(const request& r, std::uint64_t& offset) {
  const auto [at, is_new] = tenants_.try_emplace(key{r.what.id, r.what.part});
  SINEW_EXPECT(is_new);
  tenant& t = at->second;
  t.of = r;
  outcomes none;  // it was nowhere yet
  if (!find_place(t, none)) {
    tenants_.erase(at);
    return answer::refused;
  }
  if (!is_lowest(t)) {
    t.waiting = true;
    waiting_.push_back(&t);
    return answer::waits;
  }
  offset = t.places.front().begin;
  return answer::placed;
}

// --- changing places ---

/// Segments end at this offset.
void future_memory::cut(std::uint64_t offset) {
  const auto next = segments_.upper_bound(offset);
  if (next == segments_.begin()) {
    return;
  }
  auto& [begin, s] = *std::prev(next);
  if (begin < offset && offset < begin + s.bytes) {
    segments_.emplace_hint(next, offset, segment{begin + s.bytes - offset, s.stack});
    s.bytes = offset - begin;
  }
}

/// On top of what is chosen; if that is free, or has been its own, it need not wait.
void future_memory::push(tenant& t, const std::vector<candidate>& chosen, outcomes& served) {
  SINEW_EXPECT(t.places.empty());
  for (const auto& [where, is_free] : chosen) {
    if (is_free) {
      segments_[where.begin].bytes = where.bytes;
    } else {
      cut(where.begin);
      cut(where.end());
    }
    t.places.push_back(where);
  }
  for (const auto& s : segments_of(t.places)) {
    s->second.stack.push_back(&t);
  }
  settle(t, served);
}

/// What nobody has any more is free.
void future_memory::take_out(const tenant& t, const std::vector<piece>& places, outcomes& served) {
  std::vector<piece> freed;
  for (const auto& s : segments_of(places)) {
    auto& [begin, here] = *s;
    here.stack.erase(std::find(here.stack.begin(), here.stack.end(), &t));
    if (!here.stack.empty()) {
      settle(*here.stack.front(), served);
      continue;
    }
    if (!freed.empty() && freed.back().end() == begin) {
      freed.back().bytes += here.bytes;
    } else {
      freed.push_back({begin, here.bytes});
    }
    segments_.erase(s);
  }
  for (const piece& p : freed) {
    arena_.recut(p);
    source_.release(p.begin, !waiting_.empty());
  }
}

/// If it waits and need not any more.
void future_memory::settle(tenant& t, outcomes& served) {
  if (t.waiting && is_lowest(t)) {
    waiting_.remove(&t);
    t.waiting = false;
    served.push_back({t.of, t.places.front().begin});
  }
}

/// Those that have waited longest need not wait any more if there is room elsewhere now.
void future_memory::serve(outcomes& served) {
  while (!waiting_.empty() && put(*waiting_.front(), time::now, served)) {
  }
}

void future_memory::promise(const part_name& p) {
  tenant* const t = find(p);
  if (t != nullptr) {  // else it could not be made
    t->leaving = true;
  }
}

void future_memory::release(const part_name& p, outcomes& served) {
  tenant* const t = find(p);
  SINEW_EXPECT(t != nullptr && !t->waiting);
  take_out(*t, t->places, served);
  forget(*t);
  serve(served);
}

void future_memory::withdraw(const part_name& p, outcomes& served) {
  tenant* const t = find(p);
  if (t == nullptr || !t->waiting) {
    return;  // it has had its answer
  }
  take_out(*t, t->places, served);
  served.push_back({t->of, 0, true});
  forget(*t);
  serve(served);
}

void future_memory::keep(const part_name& p, outcomes& served) {
  tenant* const t = find(p);
  if (t == nullptr || !std::exchange(t->leaving, false)) {
    return;
  }
  std::vector<tenant*> above;
  for (const auto& s : segments_of(t->places)) {
    const auto& stack = s->second.stack;
    above.insert(above.end(), std::next(std::find(stack.begin(), stack.end(), t)), stack.end());
  }
  for (tenant* const each : above) {
    take_out(*each, std::exchange(each->places, {}), served);
  }
  for (tenant* const each : std::vector<tenant*>(waiting_.begin(), waiting_.end())) {
    if (each->places.empty() && !find_place(*each, served)) {
      served.push_back({each->of});
      forget(*each);
    }
  }
  serve(served);
}

void future_memory::lose(job_rank creator, outcomes& served) {
  std::vector<part_name> all;
  for (const auto& [name, t] : tenants_) {
    if (t.of.creator == creator) {
      all.push_back({name.id, name.part, t.of.what.kind});
    }
  }
  for (const part_name& p : all) {
    withdraw(p, served);
    keep(p, served);
  }
}

}  // namespace sinew::region
