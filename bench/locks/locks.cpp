// Chains of deferred lock grants, as the original experiment builds them: each rank makes locks,
// all ranks know all of them, each builds chains in which a random lock is acquired when the one
// before was granted, and released at once. All chains hang off one event. Timed from its trigger
// until all chains have ended; the construction is reported beside it.
//
// Words: sweep=quick|usual|full, of which only=R are the rows of R ranks and eights=C those of the
// figure of 8 ranks that have C chains; or locks=L chains=C depth=D ranks=R for one row.
#include "../common/micro.hpp"
//
#include <string_view>

#include "../common/event_ranks.hpp"
#include "sinew/base/random.hpp"
#include "sinew/event/reservation.hpp"

namespace {

namespace event = sinew::event;

struct row {
  int ranks = 1;
  int locks = 32;   ///< of a rank
  int chains = 64;  ///< of a rank
  int depth = 1024;
  const char* figure = "point";
};

/// One round on one rank; rank 0 returns seconds of construction and of the run.
std::pair<double, double> round(micro::rank_place& at, event::reservations& locks, const row& r,
                                sinew::random_generator& choice) {
  std::vector<event::reservation> all;
  for (int i = 0; i < r.locks * r.ranks; ++i) {
    all.push_back(event::reservation::from_bits(at.board.words[static_cast<std::size_t>(i)]));
  }
  auto* words = at.board.words + r.locks * r.ranks;
  if (at.rank == 0) {
    words[0] = at.events.create().bits();
  }
  at.meet();
  const event::event start = event::event::from_bits(words[0]);
  const double begun = micro::now_ns();
  std::vector<event::event> ends;
  for (int c = 0; c < r.chains; ++c) {
    event::event e = start;
    for (int d = 0; d < r.depth; ++d) {
      const event::reservation lock = all[choice.below(all.size())];
      e = locks.acquire(lock, {}, e);
      locks.release(lock, e);
    }
    ends.push_back(e);
  }
  const event::event mine = at.events.merge(ends);
  words[1 + at.rank] = mine.bits();
  at.meet();
  const double built = micro::now_ns();
  if (at.rank == 0) {
    std::vector<event::event> others;
    for (int rank = 0; rank < r.ranks; ++rank) {
      others.push_back(event::event::from_bits(words[1 + rank]));
    }
    const event::event last = at.events.merge(others);
    for (int i = 0; i < 1000; ++i) {
      (void)at.runtime.poll();  // subscriptions are answered
    }
    const double triggered = micro::now_ns();
    at.events.trigger(event::user_event(start));
    if (at.events.wait(last) != event::state::triggered) {
      micro::wrong("a chain failed");
    }
    const double ended = micro::now_ns();
    at.meet();
    return {(built - begun) * 1e-9, (ended - triggered) * 1e-9};
  }
  (void)at.events.wait(mine);
  at.meet();
  return {0, 0};
}

bool run_once(const row& r, std::uint64_t seed, double* times) {
  event::options how;
  how.most_pending = static_cast<std::uint32_t>(r.chains * r.depth + 4096);
  const bool good = micro::on_ranks(r.ranks, how, [&](micro::rank_place& at) {
    event::reservations locks(at.events);
    sinew::random_generator choice(seed * 1000 + static_cast<std::uint64_t>(at.rank));
    for (int i = 0; i < r.locks; ++i) {
      at.board.words[static_cast<std::size_t>(at.rank * r.locks + i)] = locks.create().bits();
    }
    at.meet();
    const auto [made, ran] = round(at, locks, r, choice);
    if (at.rank == 0) {
      times[0] = made;
      times[1] = ran;
    }
  });
  return good;
}

/// Each round in ranks of its own, as the original experiment: one that reuses what an earlier one
/// left behind meets its memory in another order.
bool measure(const row& r, double budget_ms) {
  const micro::shared_memory results(4096);
  auto* times = results.as<double>();
  const double grants = static_cast<double>(r.chains) * r.depth * r.ranks;
  std::vector<double> rates;
  std::vector<double> makings;
  const double end = micro::now_ns() + budget_ms * 1e6;
  while (rates.empty() || (micro::now_ns() < end && rates.size() < 100)) {
    if (!run_once(r, 42 + rates.size(), times)) {
      return false;
    }
    rates.push_back(grants / times[1] / 1e3);
    makings.push_back(times[0] / (grants / r.ranks) * 1e9);
  }
  char params[160];
  std::snprintf(params, sizeof params, "figure=%s,ranks=%d,locks=%d,chains=%d,depth=%d", r.figure,
                r.ranks, r.locks, r.chains, r.depth);
  std::printf("@ chains rate Kgrants/s %s %.6g\n", params, micro::median(rates));
  std::printf("@ construction latency ns %s %.6g\n", params, micro::median(makings));
  std::fflush(stdout);
  return true;
}

std::vector<row> sweep(const std::string& level) {
  std::vector<row> rows = {{1, 32, 64, 1024, "point"},
                           {2, 32, 64, 1024, "point"},
                           {1, 1024, 256, 1024, "point"},
                           {2, 1024, 256, 1024, "point"}};
  const bool full = level == "full";
  const bool quick = level == "quick";
  const auto steps = full    ? std::vector<int>{32, 64, 128, 256, 512, 1024}
                     : quick ? std::vector<int>{32}
                             : std::vector<int>{32, 256, 1024};
  for (const int ranks : quick ? std::vector<int>{1, 2} : std::vector<int>{1, 2, 4, 8, 16}) {
    for (const int locks : steps) {
      rows.push_back({ranks, locks, 1024 / ranks, 1024, "total-1024"});
    }
  }
  for (const int chains : full    ? std::vector<int>{32, 64, 128, 256, 512, 1024}
                          : quick ? std::vector<int>{}
                                  : std::vector<int>{32, 256}) {
    for (const int locks : steps) {
      rows.push_back({8, locks, chains, 1024, "ranks-8"});
    }
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const micro::options o = micro::read_options(argc, argv);
  std::string level = "usual";
  row one;
  bool single = false;
  int only = 0;
  int eights = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto take = [&](const char* key, int& into) {
      if (word.rfind(key, 0) == 0) {
        into = std::max(1, std::atoi(word.c_str() + std::strlen(key)));
        single = true;
      }
    };
    take("locks=", one.locks);
    take("chains=", one.chains);
    take("depth=", one.depth);
    take("ranks=", one.ranks);
    if (word.rfind("sweep=", 0) == 0) {
      level = word.substr(6);
    }
    if (word.rfind("only=", 0) == 0) {
      only = std::atoi(word.c_str() + 5);
    }
    if (word.rfind("eights=", 0) == 0) {
      eights = std::atoi(word.c_str() + 7);
    }
  }
  if (o.floor) {
    return 0;  // nothing bounds it but what it does itself
  }
  bool good = true;
  for (const row& r : single ? std::vector<row>{one} : sweep(level)) {
    const bool of_eights = std::string_view(r.figure) == "ranks-8";
    if (only != 0 && (of_eights || r.ranks != only)) {
      continue;
    }
    if (eights != 0 && (!of_eights || r.chains != eights)) {
      continue;
    }
    good = measure(r, o.budget_ms) && good;
  }
  return good ? 0 : 1;
}
