// `sinew bench`: the same small programs under Sinew and under every MPI found, in turns, so that
// whatever else the machine does hits all of them alike.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench_coarray.hpp"
#include "bench_floor.hpp"
#include "bench_local.hpp"
#include "bench_matching.hpp"
#include "bench_process.hpp"
#include "bench_report.hpp"
#include "bench_routes.hpp"
#include "bench_stats.hpp"
#include "bench_subjects.hpp"
#include "commands.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::tool {
namespace {

enum class effort { quick, usual, full };

struct bench_options {
  std::vector<std::string> experiments;
  effort how = effort::usual;
  std::string json;
  std::string peers = "auto";
  int rounds = 0;  // 0: as the effort says
  bool thread_multiple = false;
  bool sweep = false;
  bool help = false;
};

/// One start of a measuring program.
struct invocation {
  int ranks = 2;
  std::vector<std::string> words;
  std::string program = {};  // a second one in the experiment's folder, for Sinew alone
};

/// One start of one subject's program. The turns of a round come in an order of the round's own:
/// who always ran behind the same neighbour would always inherit its caches and memory.
struct turn {
  const subject* who;
  const invocation* how;
};

struct experiment {
  std::string name;
  std::vector<invocation> invocations;
  std::vector<std::string> floor_words;  // what the floor probe measures for it
  bool timed_outside = false;            // `launch`: the wall time is the result
  bool each_engine = false;              // `matching`: Sinew once with each engine
  bool threads = false;                  // `latency-mt`: peers as its threads need them
  bool local = false;                    // without MPI: see bench_local.hpp
  bool only_ours = false;                // `million`: nobody else has fibers
  int usual_rounds = 5;                  // unless --repeat says how many
  int full_rounds = 11;                  // with --full
  bool once = false;                     // one round is enough, or all that there is time for
  bool coarrays = false;                 // `coarray`, `himeno`: see bench_coarray.hpp
};

constexpr std::array experiment_names = {
    std::string_view("events"),         std::string_view("event-throughput"),
    std::string_view("latency"),        std::string_view("bandwidth"),
    std::string_view("rate"),           std::string_view("launch"),
    std::string_view("oversubscribed"), std::string_view("matching"),
    std::string_view("latency-mt"),     std::string_view("million"),
    std::string_view("table"),          std::string_view("threads"),
    std::string_view("pool"),           std::string_view("routing"),
    std::string_view("chunks"),         std::string_view("carry"),
    std::string_view("coarray"),        std::string_view("himeno"),
    std::string_view("reductions"),     std::string_view("locks")};
constexpr int crowd = 8;              // ranks of `oversubscribed`
constexpr double limit_s = 90;        // of one start
constexpr double full_limit_s = 600;  // --full: the widest rows of `locks` take minutes

std::string sizes_word(const std::string& name, effort how) {
  if (name == "rate") return "sizes=8";
  if (how == effort::quick) {
    return name == "latency" ? "sizes=8,4096,65536,1048576" : "sizes=4096,65536,1048576";
  }
  const std::string sizes = "8,64,512,4096,16384,65536,262144,1048576,4194304";
  return "sizes=" + (name == "latency" ? "0," + sizes : sizes);
}

// Each section is a start of its own, so that none comes near the limit; the quick ones share one.
experiment make_matching(std::size_t level) {
  static const std::array<const char*, 3> budgets = {"budget_ms=10", "budget_ms=20",
                                                     "budget_ms=40"};
  experiment e{"matching", {}, {"line"}, false, true};
  for (const matching_section& s : matching_sections(level)) {
    if (e.invocations.empty() || level == 2) e.invocations.push_back({2, {budgets[level]}});
    std::vector<std::string>& words = e.invocations.back().words;
    words.insert(words.end(), s.cases.begin(), s.cases.end());
  }
  return e;
}

experiment make_latency_mt(std::size_t level) {
  static const std::array<std::vector<std::string>, 3> words = {{
      {"threads=1,2,14", "sizes=8", "budget_ms=100"},
      {"threads=1,2,4,8,14", "sizes=8,64", "budget_ms=150"},
      {"threads=1,2,4,8,14", "sizes=8,64", "budget_ms=500"},
  }};
  experiment e{"latency-mt", {{2, words[level]}, {2, words[level], "fibers"}}, {"line"}};
  e.threads = true;
  return e;
}

// The larger counts each in a process of its own, since memory is told of what was never used.
experiment make_million(std::size_t level) {
  static const std::array<std::vector<std::string>, 3> counts = {{
      {"8,512,4096", "65536"},
      {"8,64,512,1024,4096", "16384", "65536"},
      {"8,16,32,64,128,256,512,1024,2048,4096,8192", "16384", "32768", "65536", "131072", "262144",
       "524288", "1048576"},
  }};
  experiment e{"million", {}, {"line"}};
  for (const std::string& fibers : counts[level]) {
    e.invocations.push_back({2, {"fibers=" + fibers, "bytes=64", "stack=4096"}});
  }
  e.only_ours = true;
  e.full_rounds = 5;  // half a minute each with --full
  return e;
}

experiment make_experiment(const std::string& name, const bench_options& o) {
  const std::array<const char*, 3> budgets = {"budget_ms=25", "budget_ms=50", "budget_ms=150"};
  const std::array<const char*, 3> crowd_budgets = {"budget_ms=400", "budget_ms=1000",
                                                    "budget_ms=3000"};
  const auto level = static_cast<std::size_t>(o.how);
  if (is_local(name)) {
    experiment e{name, {}, {}};
    for (auto& words : local_starts(name, level)) e.invocations.push_back({1, words});
    e.local = true;
    // Minutes a round; each row is a median of rounds of its own.
    e.once = level == 2 && (name == "locks" || name == "event-throughput");
    return e;
  }
  if (has_coarrays(name)) {
    experiment e{name, {}, {"line", "memcpy", "sizes=32768,1048576"}};
    for (auto& [images, words, source] : coarray_starts(name, level)) {
      e.invocations.push_back({images, words, source});
    }
    if (name == "himeno") {
      e.floor_words.clear();
      e.usual_rounds = 25;  // all compute the same, so that only small differences remain
    }
    e.coarrays = true;
    return e;
  }
  if (is_own_command(name)) {
    experiment e{name, {}, {}};
    for (auto& words : own_commands(name, level, o.sweep)) e.invocations.push_back({1, words});
    e.local = true;
    e.once = name != "carry";
    return e;
  }
  if (name == "matching") return make_matching(level);
  if (name == "latency-mt") return make_latency_mt(level);
  if (name == "million") return make_million(level);
  if (name == "launch") return {name, {{2, {}}}, {"fork-exec"}, true, false};
  if (name == "oversubscribed") {
    return {name,
            {{crowd, {"case=ring", crowd_budgets[level]}},
             {crowd, {"case=allreduce", crowd_budgets[level]}},
             {2, {"case=idle"}}},
            {"futex-switch"},
            false,
            false};
  }
  const std::string sizes = sizes_word(name, o.how);
  std::vector<std::string> words = {sizes, budgets[level]};
  if (o.thread_multiple) words.emplace_back("thread=multiple");
  if (name == "rate") return {name, {{2, words}}, {"line-stream"}, false, false};
  if (name == "bandwidth") return {name, {{2, words}}, {"memcpy", sizes}, false, false};
  return {name, {{2, words}}, {"line", "memcpy", sizes}, false, false};
}

std::vector<option> option_table(bench_options& o) {
  const auto flag = [](auto& target, auto value) {
    return [&target, value](std::string_view) { target = value; };
  };
  return {
      {{"--quick"}, "", "few sizes, three rounds", flag(o.how, effort::quick)},
      {{"--full"}, "", "long measurements, eleven rounds", flag(o.how, effort::full)},
      {{"--json"},
       "FILE",
       "writes every number with the host's facts",
       [&o](std::string_view text) { o.json = text; }},
      {{"--peers"},
       "LIST",
       "auto, none, or names: mpich,openmpi,tbb,boost,...",
       [&o](std::string_view text) { o.peers = text; },
       "auto|none|mpich|openmpi|openmpi-ucx|opencoarrays"},
      {{"--repeat"},
       "N",
       "rounds: every subject runs once in each",
       [&o](std::string_view text) { o.rounds = whole_number("--repeat", text, 1); }},
      {{"--threads"},
       "LEVEL",
       "single (the default) or multiple: what MPI_Init asks for",
       [&o](std::string_view text) {
         if (text != "single" && text != "multiple") {
           throw usage_failure("--threads takes single or multiple, not " + std::string(text));
         }
         o.thread_multiple = text == "multiple";
       },
       "single|multiple"},
      {{"--sweep"},
       "",
       "routing: along distance, destinations, bytes, ranks, paths fed, groups",
       flag(o.sweep, true)},
      {{"-h", "--help"}, "", "explains", flag(o.help, true)},
  };
}

bench_options read_command_line(int argc, char** argv) {
  bench_options o;
  const std::vector<option> table = option_table(o);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  for (std::size_t at = 0; at < words.size();) {
    at += parse_options(std::span(words).subspan(at), table);
    if (at >= words.size()) break;
    const std::string_view word = words[at++];
    if (std::find(experiment_names.begin(), experiment_names.end(), word) ==
        experiment_names.end()) {
      const std::string_view near = nearest(word, experiment_names);
      throw usage_failure("unknown experiment " + std::string(word) +
                          (near.empty() ? "; see sinew bench --help"
                                        : "; did you mean " + std::string(near) + "?"));
    }
    o.experiments.emplace_back(word);
  }
  if (o.experiments.empty()) {
    o.experiments.assign(experiment_names.begin(), experiment_names.end());
  }
  return o;
}

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
    if (shown_) std::fputs("\r\033[K", stderr);
  }

 private:
  int steps_;
  int done_ = 0;
  bool shown_;
};

class bench_run {
 public:
  explicit bench_run(const bench_options& o) : options_(o) {}

  int all() {
    adopt_orphans();
    gather_subjects();
    for (const std::string& name : options_.experiments) {
      if (!interrupted()) one_experiment(make_experiment(name, options_));
    }
    if (!options_.json.empty() && !write_json()) return 1;
    if (interrupted()) return 130;
    return ours_failed_ ? 1 : 0;
  }

 private:
  bool wanted(const std::string& name) const {
    if (options_.peers == "auto") return true;
    const auto names = stats::split(options_.peers, ',');
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void gather_subjects() {
    if (std::all_of(options_.experiments.begin(), options_.experiments.end(),
                    [](const auto& e) { return is_local(e) || is_own_command(e); })) {
      return;
    }
    if (auto ours = find_ours()) {
      subjects_.push_back(*ours);
    } else {
      std::fprintf(stderr, "sinew: not measured: no mpicc.sinew beside this program\n");
      ours_failed_ = true;
    }
    if (options_.peers == "none") return;
    for (const subject& peer : find_peers()) {
      if (!wanted(peer.name)) continue;
      subjects_.push_back(peer);
      versions_[peer.name] = peer.version;
    }
    if (options_.peers == "auto") {
      if (versions_.empty()) {
        std::fprintf(stderr, "no other MPI found (tools/peers installs two to compare with)\n");
      }
      return;
    }
    for (const std::string& name : stats::split(options_.peers, ',')) {
      if (versions_.count(name) == 0 && !is_local_peer(name) && name != "opencoarrays")
        std::fprintf(stderr, "%s: not found\n", name.c_str());
    }
  }

  void fail(const subject& who, const std::string& why) {
    failures_[who.label()] = why;
    if (who.name == "sinew") ours_failed_ = true;
  }

  // Adds what a program printed, and remembers which library answered.
  void take(const experiment& e, const std::string& label, const std::string& output) {
    const std::string name = label.substr(0, label.find(':'));
    for (const std::string& line : stats::split(output, '\n')) {
      if (const auto m = stats::parse_line(line)) results_.add(e.name, label, *m);
      if (line.rfind("@version ", 0) == 0 && (e.local || versions_[name].empty())) {
        versions_[name] = line.substr(9);
      }
    }
  }

  void take_or_fail(const experiment& e, const subject& who, const command_result& result,
                    double limit) {
    take(e, who.label(), result.output);
    if (result.ok() || result.interrupted) return;
    if (result.timed_out) {
      fail(who, "no end after " + stats::short_number(limit) + " s");
      return;
    }
    std::string said = stats::last_line(result.errors);
    if (said.empty()) said = stats::last_line(result.output);
    fail(who, "exit code " + std::to_string(result.exit_code) + (said.empty() ? "" : ": " + said));
  }

  // Launches again and again for about a second; the round's value is the median.
  void time_launches(const experiment& e, const subject& who, const std::string& program) {
    const invocation& how = e.invocations.front();
    std::vector<double> times_ms;
    double spent_s = 0;
    while (times_ms.size() < 15 && spent_s < 1 && !interrupted()) {
      const command c = launch_command(who, how.ranks, program, how.words, true);
      const command_result result = run_command(c);
      if (!result.ok()) return take_or_fail(e, who, result, c.timeout_s);
      spent_s += result.wall_s;
      times_ms.push_back(result.wall_s * 1e3);
    }
    const stats::row_key key{
        e.name, "init-finalize", {{"ranks", std::to_string(how.ranks)}}, "time", "ms"};
    if (!times_ms.empty()) results_.add(key, who.name, stats::median_of(times_ms));
  }

  void one_turn(const experiment& e, const turn& what, progress_bar& bar,
                const std::string& where) {
    const subject& who = *what.who;
    const invocation& how = *what.how;
    if (interrupted() || failures_.count(who.label()) != 0) return;
    bar.step(where + ", " + who.label());
    if (e.coarrays) return coarray_turn(e, who, how);
    std::string why;
    const auto program =
        e.local ? local_program(who, e.name, why) : build_program(who, e.name, how.program, why);
    if (!program) return fail(who, why);
    if (e.timed_outside) return time_launches(e, who, *program);
    command c = e.local ? plain_command(*program, how.words)
                        : launch_command(who, how.ranks, *program, how.words, false);
    c.timeout_s = start_limit_s();
    take_or_fail(e, who, run_command(c), c.timeout_s);
  }

  void coarray_turn(const experiment& e, const subject& who, const invocation& how) {
    std::string why;
    const auto program = coarray_program(who, e.name, how.program, why);
    if (!program) return fail(who, why);
    command c = coarray_command(who, {how.ranks, how.words, how.program}, *program);
    c.timeout_s = start_limit_s();
    take_or_fail(e, who, run_command(c), c.timeout_s);
  }

  static command plain_command(const std::string& program, const std::vector<std::string>& words) {
    command c;
    c.words = {program};
    c.words.insert(c.words.end(), words.begin(), words.end());
    return c;
  }

  // What the floor is of, the machine's own probe or the driver of our program knows.
  void floor_turn(const experiment& e) {
    if (is_own_command(e.name)) return;  // its own rows say what bounds it
    if (e.local) {
      std::string why;
      const auto program = local_program({"sinew", "", "", "", true, ""}, e.name, why);
      if (!program) return;  // our own turn says so
      for (const invocation& how : e.invocations) {
        command c = plain_command(*program, how.words);
        c.words.emplace_back("floor");
        one_floor(e, c);
      }
      return;
    }
    command c = plain_command("/proc/self/exe", {"bench", "--floor-probe"});
    c.words.insert(c.words.end(), e.floor_words.begin(), e.floor_words.end());
    one_floor(e, c);
  }

  void one_floor(const experiment& e, command& c) {
    if (interrupted() || failures_.count("floor") != 0) return;
    c.timeout_s = start_limit_s();
    const command_result result = run_command(c);
    take(e, "floor", result.output);
    if (!result.ok() && !result.interrupted) {
      failures_["floor"] = stats::last_line(result.errors);
    }
  }

  // The second transport of one implementation has nothing of its own to show in `launch`, and with
  // more threads than cores it needs seconds for a message; there the same one runs again, told to
  // yield.
  std::vector<subject> taking_part(const experiment& e) {
    std::vector<subject> found;
    if (e.local) {
      for (const subject& s : local_subjects(e.name)) {
        if (s.name != "sinew" && (options_.peers == "none" || !wanted(s.name))) continue;
        found.push_back(s);
        if (s.name != "sinew" && versions_[s.name].empty()) {
          versions_[s.name] = packaged_version(e.name, s.name);  // until it names its own
        }
      }
      return found;
    }
    for (const subject& s : subjects_) {
      if ((e.timed_outside || e.threads || e.coarrays) && !s.standard_transport) continue;
      if (e.only_ours && s.name != "sinew") continue;
      if (e.threads && s.name == "openmpi") {
        found.push_back(s);
        found.back().name = "openmpi-yield";
        found.back().options = {"--mca", "mpi_yield_when_idle", "1"};
      }
      if (!e.each_engine || s.name != "sinew") {
        found.push_back(s);
        continue;
      }
      for (const std::string_view engine : match::engine_names()) {
        found.push_back(s);
        found.back().engine = engine;
      }
    }
    if (e.coarrays && options_.peers != "none" && wanted("opencoarrays")) {
      if (const auto peer = find_opencoarrays()) {
        found.push_back(*peer);
        versions_[peer->name] = peer->version;
      }
    }
    return found;
  }

  static std::vector<turn> turns_of(const experiment& e, const std::vector<subject>& subjects) {
    std::vector<turn> turns;
    for (const subject& who : subjects) {
      for (const invocation& how : e.invocations) {
        const bool part = e.coarrays ? takes_part(who, e.name, how.program)
                                     : e.local || how.program.empty() || who.name == "sinew";
        if (part) turns.push_back({&who, &how});
      }
    }
    return turns;
  }

  [[nodiscard]] int rounds_of(const experiment& e) const {
    if (e.once) return 1;
    if (options_.rounds != 0) return options_.rounds;
    return options_.how == effort::quick   ? 3
           : options_.how == effort::usual ? e.usual_rounds
                                           : e.full_rounds;
  }

  void one_experiment(const experiment& e) {
    failures_.clear();
    const std::vector<subject> subjects = taking_part(e);
    const int rounds = rounds_of(e);
    std::vector<turn> turns = turns_of(e, subjects);
    {
      progress_bar bar(rounds * static_cast<int>(turns.size() + 1));
      for (int round = 1; round <= rounds && !interrupted(); ++round) {
        const std::string where =
            e.name + ", round " + std::to_string(round) + " of " + std::to_string(rounds);
        bar.step(where + ", floor");
        floor_turn(e);
        // The first round goes by the order of the rows on the screen.
        std::minstd_rand order(static_cast<unsigned>(round));
        if (round > 1) std::shuffle(turns.begin(), turns.end(), order);
        for (const turn& what : turns) one_turn(e, what, bar, where);
      }
    }
    std::vector<std::string> names;
    for (const subject& s : subjects) names.push_back(s.label());
    for (const std::string& column : add_published(results_, e.name)) names.push_back(column);
    const std::string table =
        e.each_engine ? matching_tables(results_, matching_sections(level()), names)
        : e.name == "routing" || e.name == "carry" ? wide_table(results_, e.name)
                                                   : experiment_table(results_, e.name, names);
    if (!table.empty()) std::printf("%s", table.c_str());
    for (const auto& [name, why] : failures_)
      std::printf("%s: failed: %s\n", name.c_str(), why.c_str());
    std::printf("\n");
    std::fflush(stdout);
  }

  std::size_t level() const { return static_cast<std::size_t>(options_.how); }
  double start_limit_s() const { return options_.how == effort::full ? full_limit_s : limit_s; }

  bool write_json() const {
    std::ofstream out(options_.json);
    out << json_document(results_, versions_);
    out.close();
    if (!out) {
      std::fprintf(stderr, "sinew bench: cannot write %s\n", options_.json.c_str());
      return false;
    }
    return true;
  }

  bench_options options_;
  std::vector<subject> subjects_;
  std::map<std::string, std::string> versions_;
  std::map<std::string, std::string> failures_;  // of the experiment that runs
  stats::result_set results_;
  bool ours_failed_ = false;
};

// In lines, each indented by two.
std::string listed(std::span<const std::string_view> names) {
  constexpr std::size_t width = 90;
  std::string text;
  std::size_t column = width;
  for (const std::string_view name : names) {
    if (column + 1 + name.size() > width) {
      text += "\n ";
      column = 1;
    }
    text += " " + std::string(name);
    column += 1 + name.size();
  }
  return text;
}

}  // namespace

command_page bench_page() {
  static bench_options unused;
  static const std::string text =
      "Experiments (all by default):" + listed(experiment_names) +
      "\nA cell is the median over the rounds and the median distance to it. \"vs best peer\" is\n"
      "Sinew divided by the best other; \"floor\" is what the machine itself allows.";
  return {
      "bench", "measures Sinew and the MPI implementations found, side by side",
      "[EXPERIMENT...] [options]",
      text, option_table(unused), {experiment_names.begin(), experiment_names.end()}};
}

int bench_main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--floor-probe") {
    return floor_probe(argc - 2, argv + 2);
  }
  const bench_options o = read_command_line(argc, argv);
  if (o.help) {
    std::fputs(help_text(bench_page()).c_str(), stdout);
    return 0;
  }
  for (const std::string& sentence : settings::load_environment()) {
    std::fprintf(stderr, "sinew bench: %s\n", sentence.c_str());
  }
  return bench_run(o).all();
}

}  // namespace sinew::tool
