// SPDX-License-Identifier: BSD-3-Clause
// Ranks that ranks spawn: places of the job that are free, or become so, and worlds in them.
#include <algorithm>
#include <functional>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/pmi_wire.hpp"
#include "sinew/run/job.hpp"

namespace sinew::tool {

namespace wire = boot::launcher_wire;

namespace {

/// How long a spawn waits for ranks that are about to end: those that have just disconnected are.
constexpr std::int64_t patience_ns = 2 * second_ns;

}  // namespace

world& job::add_world(std::vector<int> applications, std::vector<int> nodes, int spawner) {
  world& w = *worlds_.emplace_back(std::make_unique<world>());
  w.spawner = spawner;
  const auto rank_of = [&w](int number) { return w.ranks[static_cast<std::size_t>(number)]; };
  w.pmi = std::make_unique<pmi_server>(
      plan_.job, std::move(applications),
      pmi_server::callbacks{
          [this, rank_of](int number, const std::string& bytes) {
            holder_->answer(rank_of(number), bytes);
          },
          [this, rank_of](int number, int code, const std::string& why) {
            on_abort(rank_of(number), code, why);
          },
          [this, rank_of](int number, const std::string& why) {
            fail(1, rank_of(number), name_of(rank_of(number)) + " " + why);
          },
          [this, rank_of](int number, const std::string& request) {
            on_spawn(rank_of(number), request);
          },
          [this, rank_of](int number, const boot::connections& with) {
            on_connected(rank_of(number), with);
          },
          [this, rank_of](int number, int other, const std::string& why) {
            on_loss(rank_of(number), rank_of(other), why);
          },
          [this, rank_of](int number, const cast_vote& vote) { on_vote(rank_of(number), vote); },
          [this, rank_of](int number) { on_crash(rank_of(number)); },
          [this](const std::string& text) { on_remark(text); },
          [this, rank_of](int number, const boot::wait_report& report) {
            on_wait(rank_of(number), report);
          }},
      std::move(nodes), worlds_.front()->pmi != nullptr ? worlds_.front()->pmi->names() : nullptr);
  if (spawner >= 0) {
    w.pmi->expect_ours_only();
  }
  return w;
}

pmi_server& job::pmi_of(int rank) const {
  const rank_state& state = state_of(rank);
  SINEW_EXPECT(state.in != nullptr);
  return *state.in->pmi;
}

void job::on_spawn(int rank, const std::string& request) {
  auto parsed = boot::parse_spawn_request(request);
  if (!parsed) {
    return fail(1, rank, name_of(rank) + " asks for ranks in a way that makes no sense");
  }
  wanted_spawns_.push_back({rank, std::move(*parsed), now_ns() + patience_ns});
  serve_spawns();
}

// In the order in which they were asked for: one that waits for room is not overtaken.
void job::serve_spawns() {
  while (!wanted_spawns_.empty()) {
    const wanted_spawn& first = wanted_spawns_.front();
    const rank_state& spawner = state_of(first.spawner);
    if (spawner.alive && !spawner.in->ending) {
      const auto answer = spawn(first);
      if (!answer) {
        return;
      }
      holder_->answer(first.spawner, std::string("cmd=") + wire::spawn_done +
                                         " answer=" + boot::pmi_escape(to_text(*answer)) + "\n");
    }
    wanted_spawns_.pop_front();
  }
}

std::vector<int> job::free_places() const {
  std::vector<int> places;
  for (int rank = ranks_at_start(); rank < static_cast<int>(ranks_.size()); ++rank) {
    const rank_state& state = state_of(rank);
    if (state.in == nullptr && !state.kept) {
      places.push_back(rank);
    }
  }
  return places;
}

/// All that may be free sooner or later.
int job::places_not_kept() const {
  return static_cast<int>(
      std::count_if(ranks_.begin() + ranks_at_start(), ranks_.end(), [](const rank_state& each) {
        return !each.kept && (each.in == nullptr || !each.in->pmi->stays_connected(each.number));
      }));
}

std::string job::no_room_for(int wanted) const {
  const int room = static_cast<int>(ranks_.size()) - ranks_at_start();
  const int left = static_cast<int>(free_places().size());
  const int kept = room - places_not_kept();
  return std::to_string(wanted) + " more ranks have no room: the job has " + std::to_string(room) +
         " places beside those of its start, and " + std::to_string(left) + " are free" +
         (kept != 0
              ? " (ranks that ended without MPI_Comm_disconnect hold " + std::to_string(kept) + ")"
              : "") +
         ". Start the job with SINEW_BOOT_SPAWN=" + std::to_string(room - left + wanted) +
         " or more";
}

/// Nothing: there may be room soon.
std::optional<boot::spawn_answer> job::spawn(const wanted_spawn& wanted) {
  const std::vector<boot::spawn_command>& commands = wanted.request.commands;
  std::vector<program_lookup> programs;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    programs.push_back(find_spawned(commands[i]));
    if (programs.back().exit_code != 0) {
      return boot::spawn_answer{{}, {}, static_cast<int>(i), programs.back().complaint};
    }
  }
  const int least = least_ranks(commands);
  const int left = static_cast<int>(free_places().size());
  const std::vector<int> counts = share_room(commands, left);
  if (!counts.empty()) {
    return start_world(wanted, programs, counts);
  }
  if (least <= places_not_kept() && now_ns() < wanted.give_up_ns) {
    return std::nullopt;
  }
  return boot::spawn_answer{{}, {}, -1, no_room_for(least)};
}

boot::spawn_answer job::start_world(const wanted_spawn& wanted,
                                    const std::vector<program_lookup>& programs,
                                    const std::vector<int>& counts) {
  boot::spawn_answer answer;
  auto planned = std::make_unique<world>();
  plan_world(*planned, plan_.job, wanted.request, programs, counts);
  std::vector<int> applications;
  for (const planned_rank& each : planned->plan.ranks) {
    applications.push_back(each.application);
  }
  world& w = add_world(applications, {}, wanted.spawner);
  w.plan = std::move(planned->plan);
  w.applications = std::move(planned->applications);
  w.ranks = free_places();
  w.ranks.resize(applications.size());
  for (std::size_t i = 0; i < w.ranks.size(); ++i) {
    rank_state& state = state_of(w.ranks[i]);
    state = {.in = &w, .number = static_cast<int>(i), .tenant = state.tenant + 1};
    ++unsettled_;
    answer.ranks.push_back({job_rank{w.ranks[i]}, state.tenant});
  }
  std::optional<start_failure> failed;
  try {
    failed = holder_->spawn(w.plan, w.ranks,
                            {std::string(wire::started) + "=" + std::to_string(ranks_at_start()),
                             std::string(wire::spawned) + "=" + to_text(answer.ranks),
                             std::string(wire::contact) + "=" + wanted.request.contact});
  } catch (const error& e) {
    failed = start_failure{126, e.what()};
  }
  if (failed) {
    for (const int rank : w.ranks) {
      settle(rank);
      state_of(rank).in = nullptr;
    }
    worlds_.pop_back();
    return {{}, {}, -1, failed->text};
  }
  w.living = static_cast<int>(w.ranks.size());
  const rank_state& spawner = state_of(wanted.spawner);
  spawner.in->links[spawner.number].kept.push_back(&w);
  for (int number = 0; number < w.living; ++number) {
    w.links[number].kept.push_back(spawner.in);
  }
  answer.counts = counts;
  return answer;
}

void job::on_connected(int rank, const boot::connections& with) {
  const auto worlds_of = [this](const std::vector<job_rank>& ranks) {
    std::vector<const world*> found;
    for (const job_rank each : ranks) {
      const world* const in =
          each.below(static_cast<int>(ranks_.size())) ? state_of(each.value()).in : nullptr;
      if (in != nullptr && std::find(found.begin(), found.end(), in) == found.end()) {
        found.push_back(in);
      }
    }
    return found;
  };
  const rank_state& state = state_of(rank);
  if (with.empty()) {
    state.in->links.erase(state.number);
  } else {
    state.in->links[state.number] = {worlds_of(with.kept), worlds_of(with.leaving)};
  }
  judge_failures();
}

// Where the job goes on although a rank has died, that stays dead and keeps its place, too.
void job::leave_world(int rank) {
  rank_state& state = state_of(rank);
  world* const w = state.in;
  if (w == nullptr || w->spawner < 0) {
    return;
  }
  state.kept =
      state.dead || w->pmi->stays_connected(state.number) || w->links.contains(state.number);
  --w->living;
}

/// Frees the places of worlds whose ranks have all ended, once all of their failures are judged.
/// Returns whether there were any.
bool job::forget_ended_worlds() {
  const auto is_over = [this](const std::unique_ptr<world>& w) {
    return w->spawner >= 0 && w->living == 0 &&
           std::none_of(failures_.begin(), failures_.end(), [&](const failure& f) {
             return f.rank >= 0 && state_of(f.rank).in == w.get();
           });
  };
  const auto first = std::stable_partition(worlds_.begin(), worlds_.end(), std::not_fn(is_over));
  const bool any = first != worlds_.end();
  for (auto over = first; over != worlds_.end(); ++over) {
    for (const int each : (*over)->ranks) {
      state_of(each).in = nullptr;
    }
    for (auto other = worlds_.begin(); other != first; ++other) {
      (*other)->forget(**over);
    }
  }
  worlds_.erase(first, worlds_.end());
  return any;
}

}  // namespace sinew::tool
