// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/region/job.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/core/job.hpp"
#include "sinew/event/barrier.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace sinew::region {
namespace {

enum job_message : std::uint64_t { a_word, all_words };

}  // namespace

/// Members in the order in which they are made.
struct job::body {
  /// The process's own scheduler, or that of whoever came first.
  struct workers {
    explicit workers(const job_options& how) {
      (void)settings::load_environment();  // before core does, which complains of mistakes
      int further = 0;
      for (const job_kind& k : how.kinds) {
        further += k.workers;
      }
      if (fiber::scheduler::of_process() == nullptr) {
        own.emplace(fiber::scheduler_options{.workers = how.workers, .further = further});
      }
    }
    std::optional<fiber::scheduler> own;
  };

  explicit body(const job_options& how)
      : fibers(how),
        runtime(core::join_job(core::threading::many)),
        events(runtime, how.events),
        locks(events),
        tasks(events),
        memory(rma::engine::of_process(runtime)),
        regions(memory, events) {
    for (const job_kind& k : how.kinds) {
      tasks.open(k.name, k.workers);
    }
    words.resize(static_cast<std::size_t>(events.size()));
    gathering.resize(words.size());
    events.set_handler(
        sinew::event::topic::job,
        [](void* self, const sinew::event::message& m) { static_cast<body*>(self)->receive(m); },
        this);
    // The first barrier of rank 0, so its handle is known; created before the ranks meet.
    meeting.id = 1;
    if (events.rank() == 0) {
      meeting = events.all_barriers().create(static_cast<std::uint64_t>(events.size()));
      SINEW_ENSURE(meeting.id == 1 && meeting.phase == 0);
    }
    runtime.session().fence();
  }

  void meet() {
    const sinew::event::event all_here = events.all_barriers().completed(meeting);
    events.all_barriers().arrive(meeting);
    meeting = meeting.next();
    const sinew::event::state how = events.wait(all_here);
    SINEW_CHECK(how == sinew::event::state::triggered, "the ranks cannot meet",
                "one of them is lost", "");
  }
  [[nodiscard]] bool any_lost() const {
    job_rank r = 0;
    while (r.below(events.size()) && !events.is_lost(r)) {
      r = job_rank{r.value() + 1};
    }
    return r.below(events.size());
  }
  void end();
  void receive(const sinew::event::message& m);
  void send_all();

  workers fibers;
  core::runtime& runtime;
  sinew::event::system events;
  sinew::event::reservations locks;
  sinew::event::tasks tasks;
  rma::engine& memory;
  region::system regions;
  sinew::event::barrier meeting;

  base::lock lock;                       ///< guards what follows
  std::vector<std::uint64_t> words;      ///< the last answer
  std::vector<std::uint64_t> gathering;  ///< at rank 0: what has come for the next
  int arrived = 0;                       ///< of these
  std::size_t known = 0;                 ///< words of the answer that have come
  sinew::event::user_event gathered;     ///< triggers when all have
  const int exceptions = std::uncaught_exceptions();
};

// A rank sends its next word when it has had the whole answer, so two gatherings never mix; rank 0
// may get the next words of others before its own answer.
void job::body::receive(const sinew::event::message& m) {
  sinew::event::user_event complete;
  bool last = false;
  {
    const base::guard held(lock, true);
    if (m.small == a_word) {
      SINEW_EXPECT(events.rank() == 0);
      gathering[m.source.index()] = m.word;
      last = ++arrived == events.size();
      arrived = last ? 0 : arrived;
    } else {
      SINEW_EXPECT(m.size % 8 == 0 && m.word + m.size / 8 <= words.size());
      std::memcpy(words.data() + m.word, m.data, m.size);
      known += m.size / 8;
      if (known == words.size()) {
        known = 0;
        complete = gathered;
      }
    }
  }
  if (last) {
    send_all();
  }
  if (complete.exists()) {
    events.trigger(complete);
  }
}

// At rank 0. Others may send their next words meanwhile, and the helper thread may take them.
void job::body::send_all() {
  std::vector<std::uint64_t> all;
  {
    const base::guard held(lock, true);
    all = gathering;
  }
  const std::size_t most = events.largest_message() / 8;
  SINEW_ASSERT(most > 0);
  for (int r = events.size(); r-- > 0;) {
    for (std::size_t at = 0; at < all.size(); at += most) {
      const std::size_t n = std::min(most, all.size() - at);
      events.send(job_rank{r}, sinew::event::topic::job, all_words, at, all.data() + at, 8 * n);
    }
  }
}

job::job(const job_options& how) : body_(std::make_unique<body>(how)) {}

job::~job() try {
  body& b = *body_;
  if (std::uncaught_exceptions() > b.exceptions) {
    // Other ranks may still use what is here, and nobody knows what has become of it: all stays.
    (void)body_.release();
    return;
  }
  try {
    b.end();
  } catch (const std::exception& e) {
    if (!b.any_lost()) {
      core::join_job(core::threading::many).session().abort(1, e.what());
    }
  }
  if (b.any_lost()) {
    b.runtime.outlast_rounds();  // what another thread is answering, others wait for
    (void)body_.release();       // the others go on, and nobody knows when they have ended
  } else {
    b.events.set_handler(
        sinew::event::topic::job, [](void*, const sinew::event::message&) {}, nullptr);
    b.runtime.outlast_rounds();  // workers poll, too
    body_.reset();
  }
  core::leave_job();
} catch (const std::exception& e) {
  core::join_job(core::threading::many).session().abort(1, e.what());
}

/// All ranks are here and all tasks have ended; without meeting, once a rank is lost.
void job::body::end() {
  if (!any_lost()) {
    meet();
  }
  runtime.wait_until([](void* t) { return static_cast<sinew::event::tasks*>(t)->pending() == 0; },
                     &tasks);
  if (!any_lost()) {
    meet();  // nobody leaves while another rank's task may ask it for something
  }
}

job_rank job::rank() const noexcept { return body_->events.rank(); }
int job::size() const noexcept { return body_->events.size(); }
core::runtime& job::runtime() noexcept { return body_->runtime; }
sinew::event::system& job::events() noexcept { return body_->events; }
sinew::event::reservations& job::locks() noexcept { return body_->locks; }
sinew::event::tasks& job::tasks() noexcept { return body_->tasks; }
rma::engine& job::memory() noexcept { return body_->memory; }
region::system& job::regions() noexcept { return body_->regions; }

void job::start() { body_->tasks.start(); }
void job::meet() { body_->meet(); }

std::vector<std::uint64_t> job::gather(std::uint64_t mine) {
  body& b = *body_;
  const sinew::event::user_event all_here = b.events.create();
  {
    const base::guard held(b.lock, true);
    b.gathered = all_here;
  }
  b.events.send(0, sinew::event::topic::job, a_word, mine);
  (void)b.events.wait(all_here);
  const base::guard held(b.lock, true);
  return b.words;
}

}  // namespace sinew::region
