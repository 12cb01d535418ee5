// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "sinew/base/sentence.hpp"
#include "sinew/bench/host_floor.hpp"
#include "sinew/bench/over_hosts.hpp"
#include "sinew/bench/report.hpp"
#include "sinew/options.hpp"

namespace sinew::tool {
namespace {

constexpr double limit_s = 90;        // of one start
constexpr double full_limit_s = 600;  // --full: the widest rows of `locks` take minutes
constexpr int full_rounds = 11;

/// One start of one subject's program. The turns of a round come in an order of the round's own:
/// who always ran behind the same neighbour would always inherit its caches and memory.
struct turn {
  const subject* who;
  const start* how;
};

/// One line on a terminal that is written over; nothing elsewhere.
class progress_bar {
 public:
  explicit progress_bar(int steps) : steps_(std::max(steps, 1)), shown_(isatty(2) == 1) {}
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar() { clear(); }
  void step(const std::string& text) {
    if (shown_) {
      const int filled = 24 * done_ / steps_;
      std::fprintf(stderr, "\r\033[K[%s%s] %s", std::string(size_t(filled), '#').c_str(),
                   std::string(size_t(24 - filled), ' ').c_str(), text.c_str());
    }
    done_ = std::min(done_ + 1, steps_);
  }
  void clear() {
    if (shown_) {
      std::fputs("\r\033[K", stderr);
    }
  }

 private:
  int steps_;
  int done_ = 0;
  bool shown_;
};

/// An experiment, who takes part in it, and what each of them starts.
struct planned {
  const experiment* of;
  std::vector<subject> columns;
  std::vector<start> starts;
  std::shared_ptr<const placement> over = {};  ///< null: this machine
};

class bench_run {
 public:
  explicit bench_run(const bench_options& o) : options_(o) {}

  int all() {
    adopt_orphans();
    if (options_.hosts.given() && !reach_hosts()) {
      return interrupted() ? 130 : 1;
    }
    if (!options_.network.empty()) {
      facts_.hosts = "simulated: " + options_.network;
      std::printf("%s\n", facts_.hosts.c_str());
    }
    gather();
    for (const planned& p : plan_) {
      if (!interrupted()) {
        one_experiment(p);
      }
    }
    if (!options_.json.empty() && !write_json()) {
      return 1;
    }
    if (interrupted()) {
      return 130;
    }
    return ours_failed_ ? 1 : 0;
  }

 private:
  [[nodiscard]] bool wanted(const std::string& name) const {
    if (name == "sinew" || options_.peers == "auto") {
      return true;
    }
    const auto names = stats::split(options_.peers, ',');
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  /// Says what is wrong with the hosts, if anything is; then nothing is measured.
  [[nodiscard]] bool reach_hosts() {
    const reach_map map = reach_of(options_.hosts);
    if (map.hosts.size() < 2) {
      throw usage_failure("bench --hosts needs two hosts at least, like --hosts h1:2,h2:2");
    }
    for (const std::string& sentence : map.problems()) {
      std::fprintf(stderr, "sinew bench: %s\n", as_sentence(sentence).c_str());
    }
    if (!map.complete() || interrupted()) {
      return false;
    }
    if (!options_.hosts.agent.empty()) {
      script_ = std::make_unique<agent_script>(options_.hosts.agent);
    }
    for (const bool pair : {false, true}) {
      placement on = placement_of(map, options_.hosts.agent, pair);
      on.script = script_ != nullptr ? script_->path() : "";
      (pair ? pair_ : all_hosts_) = std::make_shared<const placement>(std::move(on));
    }
    facts_.hosts = all_hosts_->list() + ", which reach each other by " + map.ways[0][1].transports +
                   (all_hosts_->one_machine
                        ? "; some are one machine, to whose processors ranks are bound in turn"
                        : "");
    std::printf("%s\n", facts_.hosts.c_str());
    return true;
  }

  [[nodiscard]] machine look_around() {
    machine found;
    if (auto ours = find_ours()) {
      ours->network = options_.network;
      found.mpi.push_back(*ours);
    } else {
      std::fprintf(stderr, "sinew: not measured: no mpicc.sinew beside this program.\n");
      ours_failed_ = true;
    }
    if (options_.peers == "none" || !options_.network.empty()) {
      return found;
    }
    const std::vector<subject> peers = find_peers();
    found.mpi.insert(found.mpi.end(), peers.begin(), peers.end());
    if (options_.peers == "auto" && peers.empty()) {
      std::fprintf(stderr, "no other MPI found (tools/peers installs two to compare with).\n");
    }
    return found;
  }

  void gather() {
    const auto& asked = options_.experiments;
    machine found;
    if (std::any_of(asked.begin(), asked.end(), [](const auto* e) { return e->by.over_mpi(); })) {
      found = look_around();
    }
    std::set<std::string> names;
    for (const experiment* one : asked) {
      const experiment* e = one;
      std::shared_ptr<const placement> over;
      std::vector<subject> subjects = e->by.subjects(*e, found);
      std::vector<start> starts = starts_of(*e);
      if (options_.hosts.given()) {
        over = e->hosts == between_hosts::pair ? pair_ : all_hosts_;
        subjects = subjects_over(std::move(subjects));
        starts = e->hosts == between_hosts::each ? starts_on_each(*e, options_.asked, *all_hosts_)
                 : e->hosts == between_hosts::torus
                     ? starts_on_torus(*e, options_.asked, *all_hosts_)
                     : starts_over(*e, starts, over);
        e = &between_.emplace_back(over_hosts(*e));
      }
      std::erase_if(subjects, [this, e](const subject& s) {
        return !wanted(s.name) || (s.variant && !e->all_transports);
      });
      for (const subject& s : subjects) {
        names.insert(s.name);
      }
      if (e->columns != nullptr) {
        subjects = e->columns(std::move(subjects));
      }
      for (const subject& s : subjects) {
        if (!s.version.empty()) {
          facts_.versions.emplace(s.name, s.version);
        }
      }
      plan_.push_back({e, std::move(subjects), std::move(starts), std::move(over)});
    }
    if (options_.peers == "auto" || options_.peers == "none") {
      return;
    }
    for (const std::string& name : stats::split(options_.peers, ',')) {
      if (names.count(name) == 0) {
        std::fprintf(stderr, "%s: not found.\n", name.c_str());
      }
    }
  }

  /// Those of the cases that were named, or all.
  [[nodiscard]] std::vector<start> starts_of(const experiment& e) const {
    const auto named = options_.cases.find(&e);
    std::vector<start> all;
    for (const start& each : e.starts(options_.asked)) {
      if (named == options_.cases.end() || named->second.front().empty()) {
        all.push_back(each);
        continue;
      }
      for (const std::string& name : named->second) {
        all.push_back(each);
        all.back().words.push_back("case=" + name);
      }
    }
    return all;
  }

  void fail(const subject& who, const std::string& why) {
    failures_[who.label()] = why;
    if (who.name == "sinew") {
      ours_failed_ = true;
    }
  }

  // Adds what a program printed, and remembers which library answered.
  void take(const experiment& e, const subject& who, const std::string& output) {
    for (const std::string& line : stats::split(output, '\n')) {
      if (const auto m = stats::parse_line(line)) {
        results_.add(std::string(e.name), who.label(), *m, round_);
      }
      if (line.rfind("@version ", 0) != 0) {
        continue;
      }
      std::string& version = facts_.versions[who.name];
      if (who.may_tell_version || version.empty()) {
        version = line.substr(9);
      }
    }
  }

  void remember(const experiment& e, const subject& who, const command& c) {
    started one{std::string(e.name), who.label(), c};
    if (std::find(facts_.commands.begin(), facts_.commands.end(), one) == facts_.commands.end()) {
      facts_.commands.push_back(std::move(one));
    }
  }

  /// Runs `c` and says so if it fails. Seconds from before its start to after its end.
  std::optional<double> run(const experiment& e, const subject& who, command c) {
    c.timeout_s = options_.asked.how == effort::full ? full_limit_s : limit_s;
    remember(e, who, c);
    const command_result result = run_command(c);
    take(e, who, result.output);
    if (result.ok()) {
      return result.wall_s;
    }
    if (result.interrupted) {
      return std::nullopt;
    }
    if (result.timed_out) {
      fail(who, "no end after " + stats::short_number(c.timeout_s) + " s");
      return std::nullopt;
    }
    std::string said = stats::last_line(result.errors);
    if (said.empty()) {
      said = stats::last_line(result.output);
    }
    fail(who, "exit code " + std::to_string(result.exit_code) + (said.empty() ? "" : ": " + said));
    return std::nullopt;
  }

  void one_turn(const experiment& e, const turn& what) {
    std::string why;
    const auto c = e.by.prepare(e, *what.who, *what.how, why);
    if (!c) {
      return fail(*what.who, why);
    }
    if (e.timed == nullptr) {
      (void)run(e, *what.who, *c);
      return;
    }
    const auto again = [&]() -> std::optional<double> {
      return interrupted() ? std::nullopt : run(e, *what.who, *c);
    };
    for (const stats::measurement& m : e.timed(*what.how, again)) {
      results_.add(std::string(e.name), what.who->label(), m, round_);
    }
  }

  [[nodiscard]] std::vector<command> floors_of(const planned& p) const {
    if (!options_.network.empty()) {
      return {};
    }
    if (p.over == nullptr) {
      return p.of->by.floors(*p.of, options_.asked);
    }
    if (p.of->hosts == between_hosts::each) {
      return p.of->by.floors_over(*p.of, p.starts);
    }
    return {host_floor(*p.of, options_.asked, *p.over)};
  }

  void floor_turn(const planned& p) {
    static const subject floor{"floor", "", ""};
    const experiment& e = *p.of;
    for (const command& c : floors_of(p)) {
      if (!c.words.empty() && !interrupted() && failures_.count("floor") == 0) {
        (void)run(e, floor, c);
      }
    }
  }

  [[nodiscard]] static std::vector<turn> turns_of(const planned& p) {
    std::vector<turn> turns;
    for (const subject& who : p.columns) {
      for (const start& how : p.starts) {
        if (p.of->takes_part == nullptr || p.of->takes_part(who, how)) {
          turns.push_back({&who, &how});
        }
      }
    }
    return turns;
  }

  [[nodiscard]] int rounds_of(const experiment& e) const {
    if (e.one_round != nullptr && e.one_round(options_.asked)) {
      return 1;
    }
    if (options_.rounds != 0) {
      return options_.rounds;
    }
    const int rounds[] = {3, e.usual_rounds, full_rounds};
    return options_.asked.choose(rounds);
  }

  void measure(const planned& p) {
    const experiment& e = *p.of;
    const int rounds = rounds_of(e);
    std::vector<turn> turns = turns_of(p);
    progress_bar bar(rounds * static_cast<int>(turns.size() + 1));
    for (int round = 1; round <= rounds && !interrupted(); ++round) {
      round_ = round - 1;
      const std::string where = std::string(e.name) + ", round " + std::to_string(round) + " of " +
                                std::to_string(rounds) + ", ";
      bar.step(where + "floor");
      floor_turn(p);
      // The first round goes by the order of the rows on the screen.
      std::minstd_rand order(static_cast<unsigned>(round));
      if (round > 1) {
        std::shuffle(turns.begin(), turns.end(), order);
      }
      for (const turn& what : turns) {
        if (interrupted() || failures_.count(what.who->label()) != 0) {
          continue;
        }
        bar.step(where + what.who->label());
        one_turn(e, what);
      }
    }
  }

  void one_experiment(const planned& p) {
    const experiment& e = *p.of;
    failures_.clear();
    measure(p);
    std::vector<std::string> columns;
    columns.reserve(p.columns.size());
    for (const subject& s : p.columns) {
      columns.push_back(s.label());
    }
    for (const std::string& paper : add_published(results_, std::string(e.name))) {
      columns.push_back(paper);
    }
    const std::string table = tables_by_state(e, results_, options_.asked, columns);
    if (!table.empty()) {
      std::printf("%s", table.c_str());
    }
    for (const auto& [name, why] : failures_) {
      std::printf("%s: failed: %s\n", name.c_str(), why.c_str());
    }
    for (const auto& [name, why] : e.by.absent(e)) {
      if (wanted(name)) {
        std::printf("%s: not here: %s\n", name.c_str(), why.c_str());
        facts_.absent[name] = why;
      }
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  // With all figures of the papers, so that the file alone can be drawn.
  [[nodiscard]] bool write_json() {
    facts_.options = options_.words;
    for (const planned& p : plan_) {
      (void)add_published(results_, std::string(p.of->name), false);
    }
    std::ofstream out(options_.json);
    out << json_document(results_, facts_);
    out.close();
    if (!out) {
      std::fprintf(stderr, "sinew bench: cannot write %s\n", options_.json.c_str());
      return false;
    }
    return true;
  }

  bench_options options_;
  std::unique_ptr<const agent_script> script_;
  std::shared_ptr<const placement> all_hosts_, pair_;  // null without --hosts
  std::deque<experiment> between_;                     // as they are over hosts; their places stay
  std::vector<planned> plan_;
  run_facts facts_;
  int round_ = 0;                                // of the experiment that runs, from 0
  std::map<std::string, std::string> failures_;  // of the experiment that runs
  stats::result_set results_;
  bool ours_failed_ = false;
};

}  // namespace

int run_experiments(const bench_options& o) { return bench_run(o).all(); }

}  // namespace sinew::tool
