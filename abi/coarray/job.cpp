// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/job.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "abi/coarray/failure.hpp"
#include "abi/coarray/remote_request.hpp"
#include "abi/coarray/settings.hpp"
#include "abi/coarray/statement.hpp"
#include "abi/coarray/synchronisation.hpp"
#include "abi/coarray/team.hpp"
#include "abi/coarray/units.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/core/job.hpp"
#include "sinew/core/losses.hpp"

namespace sinew::coarray {

constinit job this_job;

void job::enter(team& t) noexcept {
  SINEW_EXPECT(t.size() >= 1 && t.parts().size() == static_cast<std::size_t>(t.size()));
  now = &t;
  parts = t.parts().data();
  images = t.over_nodes() ? 0 : static_cast<unsigned>(t.size());
}

void open_job() {
  SINEW_EXPECT(!this_job.open());
  try {
    settings::load_environment();  // of this library: what is unknown is told by join_job
    core::runtime& runtime =
        core::join_job(many_threads() ? core::threading::many : core::threading::one);
    rma::engine& engine = rma::engine::of_process(runtime);
    this_job.runtime = &runtime;
    this_job.rank = runtime.rank();
    this_job.size = runtime.size();
    const auto ranks = static_cast<std::size_t>(this_job.size);
    SINEW_ASSERT(this_job.rank.below(this_job.size));
    this_job.words_at =
        engine.memory().allocate(rma::part::symmetric, sizeof(image_words) + 64 * ranks);
    SINEW_ASSERT(this_job.words_at != 0 && this_job.words_at % alignof(image_words) == 0);
    this_job.departures =
        reinterpret_cast<std::uint64_t*>(engine.at(this_job.departures_at(this_job.rank)));
    this_job.sent.assign(ranks, 0);
    this_job.heard.assign(ranks, 0);
    serve_remote_requests();
    core::settle_job(runtime);
    runtime.add_diagnosis(report_statement, nullptr);
    trace::name_statements(
        [] { return this_job.doing != nullptr ? this_job.doing->name() : nullptr; });
    this_job.locks = new rma::lock_table(engine);
    this_job.engine = &engine;
    this_job.first = new team(this_job.size);
    this_job.enter(*this_job.first);
    SINEW_ENSURE(this_job.open() && this_job.now == this_job.first);
    SINEW_ENSURE(this_job.now->me() == this_job.rank.value());
    core::losses::of(runtime).listen(core::loss_listener::images, note_death, nullptr);
    (void)runtime.begin_service(core::service::messages);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sinew: coarrays cannot start: %s\n", as_sentence(e.what()).c_str());
    std::_Exit(1);
  }
}

void depart(std::uint64_t status) {
  SINEW_EXPECT(status == image_words::stopped || status == image_words::failed);
  if (this_job.over) {
    return;
  }
  SINEW_EXPECT(this_job.open());
  this_job.over = true;
  abandon_locks(status);
  this_job.engine->flush_all();
  for (team* t : all_teams()) {
    t->record_leaving();
  }
  this_job.engine->store<std::uint64_t>(this_job.status_of(this_job.rank), status);
  // Messages of a pair come in order: who sees the last one sees this image's last words, too.
  for (job_rank r = 0; r.below(this_job.size); ++r) {
    if (!this_job.engine->maps(r)) {
      this_job.engine->announce(this_job.told_status(r, this_job.rank), status);
    }
  }
  for (job_rank r = 0; r.below(this_job.size); ++r) {
    this_job.engine->post(this_job.departures_at(r));
  }
  this_job.engine->store<std::uint64_t>(
      {this_job.rank, this_job.words_at + offsetof(image_words, has_left)}, 1);
}

// An image that has told others that it leaves and dies before it has told all is counted twice by
// some; hence departures are compared by at least.
void note_death(void*, job_rank r) {
  if (!r.below(this_job.size)) {
    return;
  }
  rma::engine& e = *this_job.engine;
  const auto word = [&e](rma::place p) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(e.at(p)));
  };
  std::uint64_t running = image_words::running;
  const bool first =
      word(this_job.status_of(r)).compare_exchange_strong(running, image_words::failed);
  const bool told =
      e.maps(r) ? word({r, this_job.words_at + offsetof(image_words, has_left)}) != 0 : !first;
  if (!told) {
    word(this_job.departures_at(this_job.rank)).fetch_add(1);
  }
  e.look_for_waiters();
}

void serve_until_all_leave() {
  SINEW_EXPECT(this_job.over);
  await({pending::sort::departures}, [] {
    return this_job.engine->load<std::uint64_t>(this_job.departures_at(this_job.rank)) >=
           static_cast<std::uint64_t>(this_job.size);
  });
}

void stop_image() {
  depart(image_words::stopped);
  serve_until_all_leave();
}

void say_goodbye() noexcept {
  try {
    core::leave_job();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sinew: %s\n", as_sentence(e.what()).c_str());
  }
}

void end_all(int code, const std::string& why) {
  flush_units();
  if (this_job.runtime != nullptr) {
    this_job.runtime->session().abort(code, why);
  }
  if (!why.empty()) {
    std::fprintf(stderr, "sinew: %s\n", as_sentence(why).c_str());
  }
  std::_Exit(code);
}

}  // namespace sinew::coarray
