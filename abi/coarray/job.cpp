#include "abi/coarray/job.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "abi/coarray/errand.hpp"
#include "abi/coarray/failure.hpp"
#include "abi/coarray/settings.hpp"
#include "abi/coarray/statement.hpp"
#include "abi/coarray/synchronisation.hpp"
#include "abi/coarray/team.hpp"
#include "abi/coarray/units.hpp"
#include "sinew/core/job.hpp"

namespace sinew::coarray {

constinit job the;

void job::enter(team& t) noexcept {
  now = &t;
  parts = t.parts().data();
  images = static_cast<unsigned>(t.size());
}

void open_job() {
  try {
    settings::load_environment();  // of this library: what is unknown is told by join_job
    core::runtime& runtime =
        core::join_job(many_threads() ? core::threading::many : core::threading::one);
    rma::engine& engine = rma::engine::of_process(runtime);
    the.runtime = &runtime;
    the.rank = runtime.rank();
    the.size = runtime.size();
    const auto ranks = static_cast<std::size_t>(the.size);
    the.words_at = engine.memory().allocate(rma::part::symmetric, sizeof(image_words) + 64 * ranks);
    the.departures = reinterpret_cast<std::uint64_t*>(engine.at(the.departures_at(the.rank)));
    the.sent.assign(ranks, 0);
    the.heard.assign(ranks, 0);
    serve_errands();
    core::settle_job(runtime);
    runtime.add_diagnosis(report_statement, nullptr);
    the.locks = new rma::lock_table(engine);
    the.engine = &engine;
    the.first = new team(the.size);
    the.enter(*the.first);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sinew: coarrays cannot start: %s\n", e.what());
    std::_Exit(1);
  }
}

void depart(std::uint64_t status) {
  if (the.over) {
    return;
  }
  the.over = true;
  abandon_locks(status);
  the.engine->flush_all();
  for (team* t : all_teams()) {
    t->record_leaving();
  }
  the.engine->store<std::uint64_t>(the.status_of(the.rank), status);
  for (int r = 0; r < the.size; ++r) {
    (void)the.engine->fetch_add<std::uint64_t>(the.departures_at(r), 1);
  }
}

void stop_image() {
  depart(image_words::stopped);
  await({pending::sort::departures}, [] {
    return the.engine->load<std::uint64_t>(the.departures_at(the.rank)) ==
           static_cast<std::uint64_t>(the.size);
  });
}

void say_goodbye() noexcept {
  try {
    core::leave_job();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sinew: %s\n", e.what());
  }
}

void end_all(int code, const std::string& why) {
  flush_units();
  if (the.runtime != nullptr) {
    the.runtime->session().abort(code, why);
  }
  if (!why.empty()) {
    std::fprintf(stderr, "sinew: %s\n", why.c_str());
  }
  std::_Exit(code);
}

}  // namespace sinew::coarray
