// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/event/task.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <unordered_map>
#include <vector>

#include "event/task_groups.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/core/retry.hpp"
#include "sinew/event/system.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::event {
namespace {

using order = task_order;

constexpr std::size_t least_stack = 4096;
constexpr std::size_t most_stack = std::size_t{1} << 30;
constexpr std::size_t most_jobs_listed = 16;

enum topic_of_task : std::uint64_t { a_task, a_table, a_verdict, a_recall, a_return };

constexpr std::size_t most_kinds = 8;

/// The head of a table's message; its names follow, one a line.
struct table_head {
  std::uint32_t processors;
  std::uint32_t ordinary;  ///< of these, the first ones
  std::int32_t numa_node;
  std::array<std::uint16_t, most_kinds> opened;  ///< by kind; they come next
};

}  // namespace

struct tasks::body final : group_host {
  struct description {
    std::string name;
    std::string shape;
    const void* key;
    raw_function run;
  };

  /// A task from its arrival to its end.
  struct job final : waiter {
    body* home = nullptr;
    job* next = nullptr;
    order what{};
    bool deferred = false;    ///< its event has not triggered; guarded by the lock
    std::uint32_t bytes = 0;  ///< inside
    alignas(std::max_align_t) std::byte inside[64];
    std::vector<std::byte> outside;  ///< more values than fit inside
    [[nodiscard]] std::span<const std::byte> values() const {
      return outside.empty() ? std::span<const std::byte>(inside, bytes) : outside;
    }
  };
  struct queue {
    job* first = nullptr;
    job* last = nullptr;
  };
  struct worker;
  /// Tasks of a worker that can start and want stacks of one size, by priority, greatest first.
  /// There is a fiber with such a stack for each, which takes none of another lane.
  struct lane {
    worker* of = nullptr;
    std::size_t stack_bytes = 0;
    std::map<int, queue, std::greater<>> ready;
    /// Fibers beyond the tasks, which groups have taken back; the next tasks get these.
    std::size_t spare = 0;

    /// The first queue with a task, or the end.
    [[nodiscard]] auto first() {
      return std::find_if(ready.begin(), ready.end(),
                          [](const auto& level) { return level.second.first != nullptr; });
    }
  };
  /// A worker of this rank.
  struct worker {
    body* home = nullptr;
    std::uint32_t index = 0;
    std::deque<lane> lanes;  ///< they stay where they are; the first has default stacks
    [[nodiscard]] lane& lane_of(std::size_t stack_bytes);
  };
  body(tasks& of, system& s)
      : all(of), events(s), threaded(s.runtime().threaded()), groups(s, *this) {}

  void accept(const order& o, const std::byte* values, std::size_t bytes);
  void make_ready(job& j) noexcept;
  void run(lane& l) noexcept;
  [[nodiscard]] std::optional<job*> take(lane& l) noexcept;
  [[nodiscard]] bool give_back(const task_recall& r);
  void end(job& j, bool well) noexcept;
  void give_up_deferred() noexcept;
  [[nodiscard]] std::string report();
  void send_or_accept(const order& o, const std::byte* values, std::size_t bytes);
  void run_member(const task_order& o, std::span<const std::byte> values) override {
    send_or_accept(o, values.data(), values.size());
  }
  void recall(const task_recall& r) override;
  void begin_shared() noexcept override { pending.fetch_add(1, std::memory_order_relaxed); }
  void end_shared() noexcept override { count_down(); }
  void count_down() noexcept;
  void receive(const message& m);
  [[nodiscard]] std::string text() const;
  void compare();
  void learn(const message& m);
  void learn_machine();
  void lose(job_rank rank);

  tasks& all;
  system& events;
  const bool threaded;
  const int exceptions = std::uncaught_exceptions();  ///< when it was made
  std::atomic<bool> ignores_messages{false};          ///< see ~tasks(). Relaxed: only itself counts
  base::lock lock;                 ///< guards what follows but for what start() made
  std::vector<description> table;  ///< by name, once started
  std::unordered_map<const void*, std::uint32_t> numbers;
  struct kind {
    std::string name;
    std::uint16_t workers;
  };
  std::vector<kind> kinds;
  std::deque<worker> workers;
  std::deque<job> jobs;
  job* free = nullptr;
  /// Tasks that may still touch this object or the events. See end() and the destructor.
  std::atomic<std::size_t> pending{0};
  task_groups groups;  ///< has its own lock
  bool started = false;
  std::atomic<bool> comparing{false};  ///< start() waits
  std::atomic<bool> leaving{false};    ///< the destructor waits for tasks

  // While starting.
  std::vector<std::string> tables;  ///< at rank 0, by rank
  std::vector<table_head> heads;    ///< at rank 0, by rank; then everywhere
  int arrived = 0;
  std::size_t known = 0;  ///< heads that rank 0 has sent
  /// start() may go on. Set (release) after what learn() has learnt, read with acquire.
  std::atomic<bool> judged{false};
  std::string fault;
  machine whole;
};

tasks::body::lane& tasks::body::worker::lane_of(std::size_t stack_bytes) {
  for (lane& l : lanes) {
    if (l.stack_bytes == stack_bytes) {
      return l;
    }
  }
  return lanes.emplace_back(lane{this, stack_bytes, {}, 0});
}

void tasks::body::accept(const order& o, const std::byte* values, std::size_t bytes) {
  job* j = nullptr;
  {
    const base::guard held(lock, threaded);
    j = free;
    if (j != nullptr) {
      free = j->next;
    } else {
      j = &jobs.emplace_back();
      j->home = this;
      j->fire = [](waiter& w) noexcept {
        auto& self = static_cast<job&>(w);
        self.poisoned ? self.home->end(self, false) : self.home->make_ready(self);
      };
    }
    j->deferred = true;
    // Counted down by end(), which is ordered with the destructor there.
    pending.fetch_add(1, std::memory_order_relaxed);
  }
  j->what = o;
  state seen = state::triggered;
  try {
    if (bytes <= sizeof j->inside) {
      j->outside.clear();
      j->bytes = static_cast<std::uint32_t>(bytes);
      std::copy_n(values, bytes, j->inside);
    } else {
      j->outside.assign(values, values + bytes);
    }
    seen = events.subscribe(event::from_bits(o.after), *j);
  } catch (...) {  // then nothing has happened
    const base::guard held(lock, threaded);
    j->deferred = false;
    j->next = std::exchange(free, j);
    pending.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  if (seen == state::poisoned) {
    end(*j, false);
  } else if (seen == state::triggered) {
    make_ready(*j);
  }
}

/// A fiber for it, which takes whatever is the most urgent when it starts.
void tasks::body::make_ready(job& j) noexcept try {
  worker& w = workers[processor::from_bits(j.what.where).index()];
  lane* mine = nullptr;
  bool has_fiber = false;
  {
    const base::guard held(lock, threaded);
    mine = &w.lane_of(j.what.stack_bytes);
    j.next = nullptr;
    j.deferred = false;
    if (j.what.profile.wanted()) {
      j.what.profile.is_ready();
    }
    queue& q = mine->ready[j.what.priority];
    (q.first == nullptr ? q.first : q.last->next) = &j;
    q.last = &j;
    has_fiber = mine->spare != 0;
    mine->spare -= has_fiber ? 1 : 0;
  }
  if (has_fiber) {
    count_down();  // the one for which it was made
    return;
  }
  const status made = fiber::spawn(
      [](void* self) {
        auto& on = *static_cast<lane*>(self);
        on.of->home->run(on);
      },
      mine, nullptr,
      {.name = "task",
       .stack_bytes = mine->stack_bytes,
       .worker = static_cast<int>(w.index),
       .detached = true});
  if (!made.done()) [[unlikely]] {
    log_line(log_level::error, "a task could not start (no memory for one more fiber) and fails");
    job* lost = nullptr;
    {
      const base::guard held(lock, threaded);
      for (auto level = mine->ready.rbegin(); lost == nullptr && level != mine->ready.rend();
           ++level) {
        lost = level->second.first;
        if (lost != nullptr) {
          level->second.first = lost->next;
        }
      }
    }
    SINEW_ASSERT(lost != nullptr);  // the task that is ready
    end(*lost, false);
  }
} catch (const std::bad_alloc&) {
  base::out_of_memory("a task became ready");
}

/// The most urgent task of the lane; nothing if one of another lane is more urgent, null if the one
/// for which this fiber was made has gone back to its group.
std::optional<tasks::body::job*> tasks::body::take(lane& l) noexcept {
  const base::guard held(lock, threaded);
  const auto mine = l.first();
  if (mine == l.ready.end()) {
    SINEW_ASSERT(l.spare != 0);
    --l.spare;
    return nullptr;
  }
  if (l.of->lanes.size() > 1) [[unlikely]] {
    for (lane& other : l.of->lanes) {
      if (const auto its = other.first(); its != other.ready.end() && its->first > mine->first) {
        return {};
      }
    }
  }
  return std::exchange(mine->second.first, mine->second.first->next);
}

void tasks::body::run(lane& l) noexcept {
  std::optional<job*> taken = take(l);
  while (!taken) {
    fiber::yield();  // Wait: for a task that can start; its fiber is ready on this worker, too.
    taken = take(l);
  }
  job* const j = *taken;
  if (j == nullptr) {
    return count_down();
  }
  const description& d = table[j->what.task];
  task_context context{all, processor::from_bits(j->what.where), event::from_bits(j->what.done)};
  const std::int64_t began = trace::begin();
  if (j->what.profile.wanted()) {
    j->what.profile.has_started();
  }
  bool well = false;
  try {
    well = d.run(context, j->values(), d.key);
  } catch (const std::exception& e) {
    log_line(log_level::error, "the task \"" + d.name + "\" has failed: " + e.what());
  } catch (...) {
    log_line(log_level::error, "the task \"" + d.name + "\" has failed");
  }
  trace::span(trace::kind::task, d.name, began, j->what.done);
  end(*j, well);
}

/// Whether the task was here and had not started; then it is here no more, but for its fiber.
bool tasks::body::give_back(const task_recall& r) {
  const processor where = processor::from_bits(r.where);
  SINEW_EXPECT(where.rank() == events.rank() && where.index() < workers.size());
  const base::guard held(lock, threaded);
  lane& l = workers[where.index()].lane_of(r.stack_bytes);
  queue& q = l.ready[r.priority];
  job* before = nullptr;
  for (job* j = q.first; j != nullptr; before = std::exchange(j, j->next)) {
    if (j->what.done != r.done) {
      continue;
    }
    (before == nullptr ? q.first : before->next) = j->next;
    q.last = q.last == j ? before : q.last;
    j->next = std::exchange(free, j);
    ++l.spare;
    return true;
  }
  return false;
}

void tasks::body::recall(const task_recall& r) {
  const job_rank at = processor::from_bits(r.where).rank();
  if (at != events.rank()) {
    events.send(at, topic::task, a_recall, 0, &r, sizeof r);
  } else {
    groups.answered(r, give_back(r));
  }
}

/// Tasks whose event has not triggered fail now: an exception may have ended what would trigger it.
void tasks::body::give_up_deferred() noexcept {
  groups.give_up();
  std::vector<job*> waiting;
  {
    const base::guard held(lock, threaded);
    for (job& j : jobs) {
      if (j.deferred) {
        waiting.push_back(&j);
      }
    }
  }
  for (job* const j : waiting) {
    if (events.unsubscribe(event::from_bits(j->what.after), *j)) {
      log_line(log_level::warn, "the task \"" + table[j->what.task].name +
                                    "\" never starts: an exception ends its tasks before its "
                                    "event has triggered");
      end(*j, false);
    }
  }
}

void tasks::body::end(job& j, bool well) noexcept {
  const user_event done(event::from_bits(j.what.done));
  if (j.what.profile.wanted()) {
    respond(events, j.what.profile, performed::task, moved_by::not_moved, well);
  }
  {
    const base::guard held(lock, threaded);
    j.deferred = false;
    j.next = std::exchange(free, &j);
  }
  try {
    well ? events.trigger(done) : events.poison(done);
  } catch (const sinew::error& e) {
    log_line(log_level::error, e.what());  // the program has triggered a task's event
  }
  count_down();
}

/// The last that a task does here.
void tasks::body::count_down() noexcept {
  core::runtime& runtime = events.runtime();  // this object may be gone before the last line
  const bool awaited = leaving.load(std::memory_order_acquire);
  pending.fetch_sub(1, std::memory_order_release);
  if (awaited) {
    runtime.endpoint().wake();  // or the destructor would see it some milliseconds later
  }
}

/// For a report of a hang. The caller holds the lock of events.
std::string tasks::body::report() {
  std::string text;
  if (comparing.load(std::memory_order_relaxed)) {
    text += "\n  tasks::start() waits: not all ranks have called it";
  }
  const std::size_t all_pending = pending.load(std::memory_order_relaxed);
  if (all_pending == 0) {
    return text;
  }
  text += "\n  " + std::to_string(all_pending) +
          (all_pending == 1 ? " task has not ended" : " tasks have not ended");
  text +=
      leaving.load(std::memory_order_relaxed) ? ", and the end of the program waits for that" : "";
  if (threaded && !lock.try_acquire()) {
    return text + " (in use, not looked at)";
  }
  std::size_t listed = 0;
  for (auto j = jobs.begin(); j != jobs.end() && listed < most_jobs_listed; ++j) {
    if (j->deferred) {
      const event after = event::from_bits(j->what.after);
      text += "\n    \"" + table[j->what.task].name + "\" starts after event " +
              std::to_string(after.index()) + "." + std::to_string(after.generation()) +
              " of rank " + to_string(after.owner()) + ", which has not triggered";
      ++listed;
    }
  }
  if (threaded) {
    lock.release();
  }
  return text;
}

void tasks::body::send_or_accept(const order& o, const std::byte* values, std::size_t bytes) {
  const processor where = processor::from_bits(o.where);
  if (where.rank() == events.rank()) {
    where.is_group() ? groups.add(where.index(), o, {values, bytes}) : accept(o, values, bytes);
    return;
  }
  SINEW_EXPECT(event::from_bits(o.done).owner() == events.rank());
  events.entrust(event::from_bits(o.done), where.rank());
  std::vector<std::byte> room;
  std::byte few[sizeof o + 256];
  std::byte* data = few;
  if (bytes > sizeof few - sizeof o) {
    room.resize(sizeof o + bytes);
    data = room.data();
  }
  std::memcpy(data, &o, sizeof o);
  std::copy_n(values, bytes, data + sizeof o);
  events.send(where.rank(), topic::task, a_task, 0, data, sizeof o + bytes);
}

void tasks::body::receive(const message& m) {
  const bool ignored = ignores_messages.load(std::memory_order_relaxed);
  if (m.small == a_task) {
    order o;
    SINEW_EXPECT(m.size >= sizeof o);
    std::memcpy(&o, m.data, sizeof o);
    try {
      if (ignored) [[unlikely]] {
        events.poison(user_event(event::from_bits(o.done)));
        return;
      }
      send_or_accept(o, m.data + sizeof o, m.size - sizeof o);
    } catch (const sinew::error& e) {
      log_line(log_level::error, e.what());
      events.poison(user_event(event::from_bits(o.done)));
    }
  } else if (ignored) [[unlikely]] {
    return;
  } else if (m.small == a_recall || m.small == a_return) {
    task_recall r;
    SINEW_EXPECT(m.size == sizeof r);
    std::memcpy(&r, m.data, sizeof r);
    if (m.small == a_return) {
      groups.answered(r, m.word != 0);
    } else {
      events.send(m.source, topic::task, a_return, give_back(r) ? 1 : 0, &r, sizeof r);
    }
  } else if (m.small == a_table) {
    const auto from = m.source.index();
    base::guard held(lock, threaded);
    SINEW_EXPECT(events.rank() == 0 && m.size >= sizeof(table_head));
    std::memcpy(&heads[from], m.data, sizeof heads[from]);
    tables[from].assign(reinterpret_cast<const char*>(m.data) + sizeof(table_head),
                        m.size - sizeof(table_head));
    const bool last = ++arrived == events.size();
    held.unlock();
    if (last) {
      compare();
    }
  } else {
    learn(m);
  }
}

/// The names and shapes, one a line, in the order of the names.
std::string tasks::body::text() const {
  std::string lines;
  for (const description& d : table) {
    lines += d.name + '\n' + d.shape + '\n';
  }
  for (const kind& k : kinds) {
    lines += "the kind " + k.name + '\n';
  }
  return lines;
}

/// At rank 0, when all tables are there: sends all ranks how they differ, or their processors.
void tasks::body::compare() {
  std::string verdict;
  for (std::size_t r = 1; r < tables.size() && verdict.empty(); ++r) {
    if (tables[r] == tables[0]) {
      continue;
    }
    const auto pair =
        std::mismatch(tables[0].begin(), tables[0].end(), tables[r].begin(), tables[r].end());
    const auto line_at = [](const std::string& t, std::size_t at) {
      const std::size_t begin = at == 0 ? 0 : t.rfind('\n', at - 1) + 1;
      return begin >= t.size() ? std::string("nothing more")
                               : '"' + t.substr(begin, t.find('\n', begin) - begin) + '"';
    };
    const auto at = static_cast<std::size_t>(pair.first - tables[0].begin());
    verdict = "rank 0 has " + line_at(tables[0], at) + " where rank " + std::to_string(r) +
              " has " + line_at(tables[r], at);
  }
  SINEW_EXPECT(events.rank() == 0 && arrived == events.size());
  const std::vector<table_head> learnt = heads;  // this rank learns them, too
  const std::size_t most = events.largest_message() / sizeof(table_head);
  for (std::size_t n = tables.size(); n-- > 0;) {
    const job_rank r = job_rank::of_index(n);
    for (std::size_t at = 0; verdict.empty() && at < learnt.size(); at += most) {
      events.send(r, topic::task, a_verdict, 1 + at, &learnt[at],
                  std::min(most, learnt.size() - at) * sizeof(table_head));
    }
    if (!verdict.empty()) {
      events.send(r, topic::task, a_verdict, 0, verdict.data(),
                  std::min(verdict.size(), events.largest_message()));
    }
  }
}

void tasks::body::lose(job_rank rank) {
  groups.lose(rank);
  const base::guard held(lock, threaded);
  // Before the tables were compared.
  if (!judged.load(std::memory_order_acquire)) {
    fault = "rank " + to_string(rank) + " is lost, and its table with it";
    judged.store(true, std::memory_order_release);
  }
}

void tasks::body::learn(const message& m) {
  const base::guard held(lock, threaded);
  if (judged.load(std::memory_order_acquire)) {
    return;
  }
  if (m.word == 0) {
    fault.assign(reinterpret_cast<const char*>(m.data), m.size);
  } else {
    SINEW_EXPECT(m.size % sizeof(table_head) == 0);
    const std::size_t some = m.size / sizeof(table_head);
    SINEW_EXPECT(m.word - 1 + some <= heads.size());
    std::memcpy(&heads[m.word - 1], m.data, m.size);
    known += some;
    if (known != heads.size()) {
      return;  // the others follow
    }
    learn_machine();
    started = true;
  }
  judged.store(true, std::memory_order_release);
}

void tasks::body::learn_machine() {
  whole.ranks = events.size();
  for (const kind& k : kinds) {
    whole.kinds.push_back(k.name);
  }
  for (job_rank r = 0; r.below(events.size()); ++r) {
    const table_head& head = heads[r.index()];
    std::vector<std::uint32_t> kind_of(head.ordinary, 0);
    for (std::uint32_t k = 0; k < kinds.size(); ++k) {
      kind_of.insert(kind_of.end(), head.opened[k], k + 1);
    }
    SINEW_EXPECT(kind_of.size() <= head.processors);
    kind_of.resize(head.processors, 0);
    for (std::uint32_t i = 0; i < head.processors; ++i) {
      whole.processors.push_back({processor(r, i), head.numa_node, kind_of[i]});
    }
    whole.memories.push_back({memory_kind::heap, r});
    whole.memories.push_back({memory_kind::symmetric, r});
  }
  whole.memories.push_back({memory_kind::global, -1});
}

tasks::tasks(system& s) : system_(s), body_(std::make_unique<body>(*this, s)) {
  const fiber::scheduler* const fibers = fiber::scheduler::of_process();
  SINEW_CHECK(fibers != nullptr, "tasks cannot be run", "they are fibers, and nothing runs fibers",
              "make a fiber::scheduler first");
  SINEW_CHECK(s.runtime().threaded() || fibers->workers() == 1, "tasks cannot be run",
              "several workers would use a runtime that is for one thread",
              "open the runtime with threading::many, or make the scheduler with one worker");
  for (int i = 0; i < fibers->workers(); ++i) {
    body::worker& w = body_->workers.emplace_back();
    w.home = body_.get();
    w.index = static_cast<std::uint32_t>(i);
    (void)w.lane_of(0);
  }
  body_->heads.resize(static_cast<std::size_t>(s.size()));
  body_->tables.resize(static_cast<std::size_t>(s.size()));
  s.set_handler(
      topic::task, [](void* self, const message& m) { static_cast<body*>(self)->receive(m); },
      body_.get());
  s.on_lost([](void* self, job_rank rank) { static_cast<body*>(self)->lose(rank); }, body_.get());
  s.add_report([](void* self, bool) { return static_cast<body*>(self)->report(); }, body_.get());
}

tasks::~tasks() {
  body_->leaving.store(true, std::memory_order_release);
  const bool by_exception = std::uncaught_exceptions() > body_->exceptions;
  if (by_exception) {
    // What tasks wait for may never be: they are given up, also one that another thread accepts
    // just now. The ranks have not agreed to end, so more may be sent: those are poisoned.
    body_->ignores_messages.store(true, std::memory_order_relaxed);
    core::retry_loop tries(system_.runtime());
    for (body_->give_up_deferred(); body_->pending.load(std::memory_order_acquire) != 0;
         body_->give_up_deferred()) {
      tries.again();
    }
  }
  system_.runtime().wait_until(
      [](void* self) {
        return static_cast<body*>(self)->pending.load(std::memory_order_acquire) == 0;
      },
      body_.get());
  if (by_exception) {
    // Messages may still come, to whichever thread polls: what takes them stays.
    (void)body_.release();
    return;
  }
  system_.add_report(nullptr, body_.get());
  system_.set_handler(topic::task, [](void*, const message&) {}, nullptr);
  system_.on_lost(nullptr, body_.get());
}

void tasks::check_name(std::string_view name) const {
  SINEW_CHECK(!body_->started, "cannot name \"" + std::string(name) + "\"",
              "the ranks have compared their tables", "name all tasks and kinds before start()");
  const bool clean = !name.empty() && name.find('\n') == std::string_view::npos;
  SINEW_CHECK(clean, "cannot name a task or a kind", "the name is empty or has more than one line",
              "");
}

void tasks::register_task(std::string_view name, const void* key, std::string_view shape,
                          raw_function run) {
  body& b = *body_;
  check_name(name);
  for (const body::description& d : b.table) {
    SINEW_CHECK(d.name != name && d.key != key,
                "cannot name the task \"" + std::string(name) + "\"",
                d.name == name ? "another one has that name" : "its name is \"" + d.name + "\"",
                "one name for each function");
  }
  b.table.push_back({std::string(name), std::string(shape), key, run});
}

void tasks::open(std::string_view kind, int workers) {
  body& b = *body_;
  check_name(kind);
  const std::string cannot = "cannot open processors of kind \"" + std::string(kind) + "\"";
  const bool known =
      kind == b.whole.kinds[0] ||
      std::any_of(b.kinds.begin(), b.kinds.end(), [&](const auto& k) { return k.name == kind; });
  SINEW_CHECK(!known, cannot, "there is such a kind already", "open each kind once");
  SINEW_CHECK(b.kinds.size() < most_kinds, cannot,
              "there are " + std::to_string(most_kinds) + " kinds already", "");
  int taken = 0;
  for (const body::kind& k : b.kinds) {
    taken += k.workers;
  }
  const int further = fiber::scheduler::of_process()->further_workers();
  SINEW_CHECK(workers >= 0 && workers <= further - taken, cannot,
              std::to_string(workers) +
                  " workers are wanted, and of the scheduler's further ones " +
                  std::to_string(further - taken) + " are left",
              "set scheduler_options::further, or name the kind in job_options::kinds");
  b.kinds.push_back({std::string(kind), static_cast<std::uint16_t>(workers)});
}

void tasks::start() {
  body& b = *body_;
  SINEW_CHECK(!b.started, "cannot start tasks", "they have been started", "start once");
  std::sort(b.table.begin(), b.table.end(),
            [](const auto& x, const auto& y) { return x.name < y.name; });
  for (std::uint32_t i = 0; i < b.table.size(); ++i) {
    b.numbers[b.table[i].key] = i;
  }
  const std::string lines = b.text();
  const auto& cores = topology::cores();
  const int further = fiber::scheduler::of_process()->further_workers();
  const auto processors = static_cast<std::uint32_t>(b.workers.size());
  table_head head{processors,
                  processors - static_cast<std::uint32_t>(further),
                  cores.empty() ? 0 : cores.front().numa_node,
                  {}};
  for (std::size_t k = 0; k < b.kinds.size(); ++k) {
    head.opened[k] = b.kinds[k].workers;
  }
  std::vector<std::byte> data(sizeof head + lines.size());
  SINEW_CHECK(data.size() <= system_.largest_message(), "cannot compare the tables of tasks",
              "their names and parameters take " + std::to_string(lines.size()) + " bytes",
              "give fewer or shorter names");
  std::memcpy(data.data(), &head, sizeof head);
  std::memcpy(data.data() + sizeof head, lines.data(), lines.size());
  system_.send(0, topic::task, a_table, 0, data.data(), data.size());
  b.comparing.store(true, std::memory_order_relaxed);
  system_.runtime().wait_until(
      [](void* self) { return static_cast<body*>(self)->judged.load(std::memory_order_acquire); },
      &b);
  b.comparing.store(false, std::memory_order_relaxed);
  SINEW_CHECK(b.fault.empty(), "the ranks have different tables of tasks", b.fault,
              "add the same functions under the same names on every rank");
}

event tasks::launch(processor where, const spawn_how& how, const void* key, const std::byte* values,
                    std::size_t bytes) {
  body& b = *body_;
  const auto found = b.numbers.find(key);
  SINEW_CHECK(b.started && found != b.numbers.end(), "cannot start a task",
              b.started ? "its function has no name" : "tasks have not been started",
              b.started ? "add<&function>(\"name\") on every rank" : "call start() on every rank");
  const bool there = where.rank().below(system_.size()) &&
                     (where.is_group() || where.index() < b.heads[where.rank().index()].processors);
  SINEW_CHECK(there, "cannot start the task \"" + b.table[found->second].name + "\"",
              "there is no processor " + std::to_string(where.index()) + " of rank " +
                  to_string(where.rank()),
              "see tasks::all()");
  SINEW_CHECK(bytes + sizeof(order) <= system_.largest_message(),
              "cannot start the task \"" + b.table[found->second].name + "\"",
              "its values take " + std::to_string(bytes) + " bytes",
              "pass a region's handle instead");
  SINEW_CHECK(how.stack_bytes <= most_stack,
              "cannot start the task \"" + b.table[found->second].name + "\"",
              "it wants a stack of " + std::to_string(how.stack_bytes) + " bytes",
              "choose at most 1 GiB, and keep larger things in memory");
  // Few sizes, so that tasks of about the same need share stacks.
  const std::size_t stack =
      how.stack_bytes == 0 ? 0 : std::bit_ceil(std::max(how.stack_bytes, least_stack));
  const user_event done = system_.create();
  b.send_or_accept({where.bits(), done.bits(), how.after.bits(), stack, found->second, how.priority,
                    wanted_profile(done)},
                   values, bytes);
  return done;
}

const machine& tasks::all() const noexcept { return body_->whole; }

processor tasks::group(std::span<const processor> of) {
  const bool plain = std::none_of(of.begin(), of.end(), [](processor p) { return p.is_group(); });
  SINEW_CHECK(!of.empty() && plain, "cannot make a group of processors",
              of.empty() ? "it has no members" : "a member is a group", "");
  const auto is_there = [this](processor p) {
    return p.rank().below(system_.size()) &&
           (!body_->started || p.index() < body_->heads[p.rank().index()].processors);
  };
  SINEW_CHECK(std::all_of(of.begin(), of.end(), is_there), "cannot make a group of processors",
              "a member is a processor that no rank has", "see tasks::all()");
  const std::uint32_t number = body_->groups.make(of);
  for (const processor p : of) {  // a rank that is lost later is dropped by lose(), after this
    if (p.rank() != system_.rank() && system_.is_lost(p.rank())) {
      body_->groups.lose(p.rank());
    }
  }
  return {system_.rank(), number, true};
}

processor tasks::of_kind(std::string_view kind) {
  const std::vector<processor> all = body_->whole.of_kind(kind);
  SINEW_CHECK(!all.empty(), "there is no processor of kind \"" + std::string(kind) + "\"",
              body_->started ? "no rank has opened any" : "tasks have not been started",
              body_->started ? "name it in job_options::kinds" : "call start() on every rank");
  return group(all);
}

std::size_t tasks::pending() const { return body_->pending.load(std::memory_order_acquire); }

}  // namespace sinew::event
