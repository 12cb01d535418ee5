// SPDX-License-Identifier: BSD-3-Clause
#include "event/task_groups.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::event {

/// A task from when this rank has it until its end is known here.
struct task_groups::shared final : waiter {
  task_groups* home = nullptr;
  group* of = nullptr;
  member* at = nullptr;           ///< once it is handed out; guarded by the lock, as the next two
  recall back = recall::not_yet;  ///< whether it is being taken back from there
  shared* next_free = nullptr;
  std::uint32_t number = 0;  ///< in all_
  event ours;                ///< with which it is handed out
  task_order what{};
  std::vector<std::byte> values;
  stage now = stage::unused;
};

task_groups::task_groups(system& s, group_host& host)
    : events_(s), host_(host), threaded_(s.runtime().threaded()) {
  chore_ = s.runtime().add_chore(
      [](void* self) { return static_cast<task_groups*>(self)->look_for_delay(); }, this);
  SINEW_ENSURE(chore_ > 0);
}

task_groups::~task_groups() {
  const core::without_helper still(events_.runtime());
  events_.runtime().drop_chore(chore_);
  SINEW_EXPECT(waiting_ == 0);
}

std::uint32_t task_groups::make(std::span<const processor> of) {
  SINEW_EXPECT(!of.empty());
  const base::guard held(lock_, threaded_);
  group& g = groups_.emplace_back();
  g.number = static_cast<std::uint32_t>(groups_.size() - 1);
  for (const processor p : of) {
    SINEW_EXPECT(!p.is_group());
    g.members.push_back({p});
  }
  return g.number;
}

void task_groups::add(std::uint32_t number, const task_order& o,
                      std::span<const std::byte> values) {
  shared* t = nullptr;
  {
    const base::guard held(lock_, threaded_);
    SINEW_CHECK(number < groups_.size(), "cannot start a task", "there is no such group here", "");
    t = free_;
    if (t != nullptr) {
      free_ = t->next_free;
    } else {
      t = &all_.emplace_back();
      t->home = this;
      t->number = static_cast<std::uint32_t>(all_.size() - 1);
      t->fire = [](waiter& w) noexcept {
        auto& self = static_cast<shared&>(w);
        self.home->fired(self);
      };
    }
    SINEW_ASSERT(t->now == stage::unused);
    t->now = stage::deferred;
    t->of = &groups_[number];
    t->at = nullptr;
  }
  host_.begin_shared();
  state seen = state::triggered;
  try {
    t->what = o;
    t->values.assign(values.begin(), values.end());
    seen = events_.subscribe(event::from_bits(o.after), *t);
  } catch (...) {  // then nothing has happened
    recycle(*t);
    host_.end_shared();
    throw;
  }
  if (seen == state::poisoned) {
    fail(*t);
  } else if (seen == state::triggered) {
    queue(*t);
  }
}

void task_groups::fired(shared& t) noexcept try {
  if (t.now == stage::handed_out) {
    came_back(t, !t.poisoned);
  } else if (t.poisoned) {
    fail(t);
  } else {
    queue(t);
  }
} catch (const std::bad_alloc&) {
  base::out_of_memory("a task of a group became ready");
}

void task_groups::queue(shared& t) {
  group& g = *t.of;
  {
    const base::guard held(lock_, threaded_);
    SINEW_EXPECT(t.now == stage::deferred);
    t.now = stage::queued;
    g.ready[t.what.priority].push_back(&t);
    if (g.waiting++ == 0) {
      g.moved_ns = now_ns();
    }
    ++waiting_;
  }
  work(g);
}

/// Of the least urgent task that can be recalled, if no member is free and more tasks that are more
/// urgent wait than are being recalled. Under the lock.
std::optional<task_recall> task_groups::next_recall(group& g) {
  shared* least = nullptr;
  std::size_t asked = 0;
  for (const member& m : g.members) {
    if (!m.lost && m.under_way.empty()) {
      return {};
    }
    for (shared* const t : m.under_way) {
      asked += t->back == recall::asked ? 1 : 0;
      const bool is_less = least == nullptr || t->what.priority < least->what.priority;
      if (!m.lost && t->back == recall::possible && is_less) {
        least = t;
      }
    }
  }
  if (least == nullptr) {
    return {};
  }
  std::size_t more_urgent = 0;
  for (const auto& [priority, tasks] : g.ready) {
    more_urgent += priority > least->what.priority ? tasks.size() : 0;
  }
  if (more_urgent <= asked) {
    return {};
  }
  least->back = recall::asked;
  return task_recall{least->at->where.bits(), least->ours.bits(), least->what.stack_bytes,
                     least->number, least->what.priority};
}

void task_groups::answered(const task_recall& r, bool is_back) {
  shared* t = nullptr;
  group* of = nullptr;
  {
    const base::guard held(lock_, threaded_);
    if (r.number >= all_.size() || all_[r.number].now != stage::handed_out ||
        all_[r.number].ours.bits() != r.done) {
      return;  // it has ended
    }
    t = &all_[r.number];
    of = t->of;
    t->back = recall::refused;
  }
  group& g = *of;
  if (!is_back) {
    return work(g);
  }
  const user_event ours(event::from_bits(r.done));
  if (!events_.unsubscribe(ours, *t)) {
    return;  // the member's rank was lost meanwhile
  }
  {
    const base::guard held(lock_, threaded_);
    leave(*t);
    t->now = stage::queued;
    g.ready[t->what.priority].push_front(t);
    if (g.waiting++ == 0) {
      g.moved_ns = now_ns();
    }
    ++waiting_;
  }
  events_.trigger(ours);  // nobody waits for it
  work(g);
}

/// Hands out what can be, and recalls a task where that is not enough.
void task_groups::work(group& g) {
  host_.begin_shared();  // others may end all tasks meanwhile, and this is to stay until the return
  while (shared* const t = next(g)) {
    t->at != nullptr ? hand_out(*t) : fail(*t);
  }
  std::optional<task_recall> r;
  {
    const base::guard held(lock_, threaded_);
    r = next_recall(g);
  }
  if (r) {
    host_.recall(*r);
  }
  host_.end_shared();
}

/// With the member that gets it, or with none if all are lost; null if no member is free.
task_groups::shared* task_groups::next(group& g) {
  const base::guard held(lock_, threaded_);
  shared* t = nullptr;
  if (g.waiting != 0 && g.all_lost) {
    log_line(log_level::warn,
             "a task fails: it was given to a group of processors whose ranks are all lost");
    t = pop(g);
  } else if (g.waiting != 0) {
    member* best = nullptr;
    for (member& m : g.members) {
      if (!m.lost && m.under_way.empty() && (best == nullptr || m.given < best->given)) {
        best = &m;
      }
    }
    if (best != nullptr) {
      t = pop(g);
      assign(*t, *best);
      g.moved_ns = now_ns();
    }
  }
  waiting_ -= t != nullptr ? 1 : 0;
  events_.runtime().want_chore(chore_, waiting_ != 0);
  return t;
}

/// The most urgent. Under the lock.
task_groups::shared* task_groups::pop(group& g) {
  SINEW_EXPECT(g.waiting != 0);
  const auto level = std::find_if(g.ready.begin(), g.ready.end(),
                                  [](const auto& each) { return !each.second.empty(); });
  SINEW_ASSERT(level != g.ready.end());
  shared* const t = level->second.front();
  level->second.pop_front();
  --g.waiting;
  return t;
}

/// Under the lock.
void task_groups::assign(shared& t, member& to) {
  t.at = &to;
  t.back = recall::not_yet;
  to.under_way.push_back(&t);
  ++to.given;
}

/// Under the lock.
void task_groups::leave(shared& t) {
  SINEW_EXPECT(t.at != nullptr);
  std::erase(t.at->under_way, &t);
  t.at = nullptr;
}

void task_groups::hand_out(shared& t) {
  SINEW_EXPECT(t.at != nullptr && t.now == stage::queued);
  // Its end may come, and the object be used again, before the host's call returns.
  task_order o = t.what;
  const std::vector<std::byte> values = t.values;  // which stay: it may be given back
  user_event ours;
  try {
    ours = events_.create();
    o.where = t.at->where.bits();
    o.done = ours.bits();
    o.after = 0;
    {
      const base::guard held(lock_, threaded_);
      t.now = stage::handed_out;
      t.ours = ours;
    }
    const state seen = events_.subscribe(ours, t);
    SINEW_CHECK(seen == state::pending, "cannot hand out a task", "its event has triggered", "");
  } catch (const std::exception& e) {
    log_line(log_level::error, e.what());
    settle(t, false);  // whoever called hands out the next
    host_.end_shared();
    return;
  }
  try {
    host_.run_member(o, values);
    const base::guard held(lock_, threaded_);
    if (t.ours == ours) {
      t.back = recall::possible;
    }
  } catch (const std::exception& e) {
    log_line(log_level::error, e.what());
    events_.poison(ours);
  }
}

void task_groups::came_back(shared& t, bool well) {
  group& g = *t.of;
  settle(t, well);
  work(g);
  host_.end_shared();
}

/// Its member is free again, and whoever waits for its end is told.
void task_groups::settle(shared& t, bool well) {
  group& g = *t.of;
  const std::uint64_t done = t.what.done;
  {
    const base::guard held(lock_, threaded_);
    leave(t);
    g.moved_ns = now_ns();
    g.patience_ns = first_patience_ns;
  }
  recycle(t);
  tell(done, well);
}

/// Of a task that was not handed out.
void task_groups::fail(shared& t) {
  SINEW_EXPECT(t.now == stage::deferred || t.now == stage::queued);
  const std::uint64_t done = t.what.done;
  if (t.what.profile.wanted()) {
    respond(events_, t.what.profile, performed::task, moved_by::not_moved, false);
  }
  recycle(t);
  tell(done, false);
  host_.end_shared();
}

void task_groups::recycle(shared& t) {
  const base::guard held(lock_, threaded_);
  t.now = stage::unused;
  t.next_free = std::exchange(free_, &t);
}

void task_groups::tell(std::uint64_t done, bool well) {
  const user_event e(event::from_bits(done));
  try {
    well ? events_.trigger(e) : events_.poison(e);
  } catch (const sinew::error& failure) {
    log_line(log_level::error, failure.what());  // the program has triggered a task's event
  }
}

void task_groups::lose(job_rank rank) {
  std::vector<group*> changed;
  {
    const base::guard held(lock_, threaded_);
    for (group& g : groups_) {
      for (member& m : g.members) {
        m.lost = m.lost || m.where.rank() == rank;
      }
      g.all_lost =
          std::all_of(g.members.begin(), g.members.end(), [](const member& m) { return m.lost; });
      changed.push_back(&g);
    }
  }
  for (group* const g : changed) {
    work(*g);
  }
}

void task_groups::give_up() {
  std::vector<shared*> deferred;
  std::vector<shared*> queued;
  {
    const base::guard held(lock_, threaded_);
    for (shared& t : all_) {
      if (t.now == stage::deferred) {
        deferred.push_back(&t);
      }
    }
    for (group& g : groups_) {
      while (g.waiting != 0) {
        queued.push_back(pop(g));
        --waiting_;
      }
    }
  }
  for (shared* const t : deferred) {
    if (events_.unsubscribe(event::from_bits(t->what.after), *t)) {
      fail(*t);
    }
  }
  for (shared* const t : queued) {
    fail(*t);
  }
}

/// Under the lock.
bool task_groups::is_recalling(const group& g) {
  return std::any_of(g.members.begin(), g.members.end(), [](const member& m) {
    return std::any_of(m.under_way.begin(), m.under_way.end(),
                       [](const shared* t) { return t->back == recall::asked; });
  });
}

/// A chore: hands one more task to the member with the fewest, where none has ended for long; but
/// not instead of a recall, whose answer makes a place for it.
int task_groups::look_for_delay() {
  std::vector<shared*> more;
  std::vector<task_recall> recalls;
  const std::int64_t now = now_ns();
  {
    const base::guard held(lock_, threaded_);
    for (group& g : groups_) {
      if (g.waiting == 0 || g.all_lost || now - g.moved_ns < g.patience_ns) {
        continue;
      }
      if (is_recalling(g)) {
        continue;
      }
      if (const std::optional<task_recall> r = next_recall(g)) {
        recalls.push_back(*r);
        continue;
      }
      member* best = nullptr;
      for (member& m : g.members) {
        if (!m.lost && (best == nullptr || m.under_way.size() < best->under_way.size())) {
          best = &m;
        }
      }
      SINEW_ASSERT(best != nullptr);
      shared* const t = pop(g);
      --waiting_;
      assign(*t, *best);
      g.moved_ns = now;
      g.patience_ns *= 2;
      more.push_back(t);
    }
    events_.runtime().want_chore(chore_, waiting_ != 0);
  }
  for (const task_recall& r : recalls) {
    host_.recall(r);
  }
  for (shared* const t : more) {
    group& g = *t->of;
    hand_out(*t);
    work(g);
  }
  return static_cast<int>(recalls.size() + more.size());
}

}  // namespace sinew::event
