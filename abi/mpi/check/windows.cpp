// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/windows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "abi/mpi/check/check.hpp"
#include "abi/mpi/gather_texts.hpp"
#include "abi/mpi/type.hpp"
#include "abi/mpi/window.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::mpi::check {
namespace {

/// Bytes of a window that one rank has accessed. It travels as a line of text.
struct touched {
  int window = 0;  ///< of those that are compared
  int target = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  access how = access::get;
  std::int64_t op = 0;     ///< of accumulates: the handle's value
  int kind = 0;            ///< the layout::element, or none
  std::int64_t batch = 0;  ///< alike for accesses that the rank itself has not ordered
  bool alone = false;      ///< in an epoch that excludes all others, or whose order is not known
  bool informed = false;   ///< the rank may have heard of what others did
  std::string text;        ///< the call and its line
  int origin = 0;          ///< by whoever reads the line

  /// Without the window.
  [[nodiscard]] std::string line() const {
    std::string all;
    for (const std::int64_t n :
         {std::int64_t{target}, begin, end, std::int64_t{static_cast<char>(how)}, op,
          std::int64_t{kind}, batch, std::int64_t{alone}, std::int64_t{informed}}) {
      all += std::to_string(n) + " ";
    }
    return all + text;
  }
  /// Of the window and what line() has made.
  static touched of(const std::string& line, int origin) {
    std::array<std::int64_t, 10> n{};
    std::size_t at = 0;
    for (std::int64_t& each : n) {
      const std::size_t space = line.find(' ', at);
      each = base::parse_integer(std::string_view(line).substr(at, space - at)).value_or(0);
      at = space + 1;
    }
    return {static_cast<int>(n[0]),
            static_cast<int>(n[1]),
            n[2],
            n[3],
            static_cast<access>(n[4]),
            n[5],
            static_cast<int>(n[6]),
            n[7],
            n[8] != 0,
            n[9] != 0,
            line.substr(at),
            origin};
  }
};

/// What this rank has done in a window since the last collective call of its ranks.
struct account {
  MPI_Win win;
  std::set<std::string> lines{};  ///< without their first word
  std::int64_t batch = 0;
  bool informed = false;
  bool has_read = false;
  const watch::call* begun_by = nullptr;  ///< the collective call with which it begins
};

/// Its lock guards all; nobody makes progress with it.
struct access_ledger {
  std::mutex lock;
  std::vector<account> windows;  ///< in the order in which they were made, alike on all their ranks

  account& of(MPI_Win win) {
    for (account& each : windows) {
      if (each.win == win) {
        return each;
      }
    }
    return windows.emplace_back(account{.win = win});
  }
};
access_ledger& accesses_made() {
  static auto& it = *new access_ledger;
  return it;
}

constexpr std::size_t most_lines = 5'000;  ///< of a rank and window; more is not compared

bool conflict(const touched& a, const touched& b) {
  if (a.window != b.window || a.target != b.target || a.begin >= b.end || b.begin >= a.end) {
    return false;
  }
  // Who puts again and again from one line means it so: all that is undefined is which one stays.
  if (a.origin == b.origin ? a.batch != b.batch || a.text == b.text
                           : a.alone || b.alone || a.informed || b.informed) {
    return false;
  }
  const auto none = static_cast<std::int64_t>(value_of(MPI_NO_OP));
  const auto reads = [none](const touched& t) {
    return t.how == access::get || (t.how == access::accumulate && t.op == none);
  };
  if (reads(a) && reads(b)) {
    return false;
  }
  if (a.how == access::accumulate && b.how == access::accumulate) {
    // Those of one rank are done in their order (MPI-5.0 section 12.7.2).
    if (a.origin == b.origin) {
      return false;
    }
    return a.kind != b.kind || (a.op != b.op && a.op != none && b.op != none);
  }
  return true;
}

std::string sentence_about(const touched& a, const touched& b) {
  const auto who = [](const touched& t) {
    return "rank " + std::to_string(t.origin) + " (" + t.text + ")";
  };
  return "two accesses to bytes " + std::to_string(std::max(a.begin, b.begin)) + " to " +
         std::to_string(std::min(a.end, b.end) - 1) + " of the window of rank " +
         std::to_string(a.target) + " have no order, and " +
         (a.how != access::get && b.how != access::get ? "both change them: "
                                                       : "one changes them: ") +
         who(a) + ", and " + who(b);
}

/// The first conflict among the accesses of all ranks, or "".
std::string judge(const std::vector<std::string>& of_ranks) {
  std::vector<touched> all;
  for (std::size_t r = 0; r < of_ranks.size(); ++r) {
    for (const std::string& line : base::split(of_ranks[r], '\n')) {
      if (!line.empty()) {
        all.push_back(touched::of(line, static_cast<int>(r)));
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const touched& a, const touched& b) {
    return std::tuple(a.window, a.target, a.begin) < std::tuple(b.window, b.target, b.begin);
  });
  for (auto a = all.begin(); a != all.end(); ++a) {
    for (auto b = a + 1;
         b != all.end() && b->window == a->window && b->target == a->target && b->begin < a->end;
         ++b) {
      if (conflict(*a, *b)) {
        return sentence_about(*a, *b);
      }
    }
  }
  return "";
}

/// All ranks of the windows, which are those of each.
void compare(const watch::call& call, const std::vector<MPI_Win>& windows) {
  if (windows.empty()) {
    return;
  }
  std::string mine;
  {
    access_ledger& b = accesses_made();
    const std::lock_guard held(b.lock);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      account& a = b.of(windows[i]);
      for (const std::string& line : a.lines) {
        mine += std::to_string(i) + " " + line + "\n";
      }
      a = {.win = windows[i], .batch = a.batch + 1, .begun_by = &call};
    }
  }
  const window_object& w = window_of(windows.front());
  const std::string wrong = judge(gather_texts(participant_of(*w.comm), mine));
  if (!wrong.empty()) {
    found(call, MPI_ERR_RMA_CONFLICT, wrong);
  }
}

bool have_same_ranks(const core::communicator& a, const core::communicator& b) {
  bool same = a.size() == b.size();
  for (comm_rank r = 0; same && r.value() < a.size(); r = comm_rank{r.value() + 1}) {
    same = a.job_rank(r) == b.job_rank(r);
  }
  return same;
}

/// After it the rank may know of what others have done.
bool informs(const watch::call& call) {
  for (int t = 0; t < call.touched_count; ++t) {
    const watch::handles& each = call.touched[static_cast<std::size_t>(t)];
    if (each.kind == watch::handle_kind::request && each.may_end) {
      return true;
    }
  }
  const bool sends_only = call.given.sends.count > 0 && call.given.receives.count == 0;
  return call.given.nature.informs || (call.given.comm != MPI_COMM_NULL && !sends_only) ||
         call.given.file != MPI_FILE_NULL;
}

}  // namespace

void note_access(const watch::call& call, access how, int target, MPI_Aint displacement,
                 MPI_Count count, MPI_Datatype type, MPI_Op op) {
  const auto* const w = resolve<window_object>(call.given.win);
  const layout::datatype* const layout = layout_if_usable(type);
  if (!wanted(what::windows) || w == nullptr || target < 0 || target >= w->comm->comm->size() ||
      count <= 0 || layout == nullptr) {
    return;
  }
  const layout::datatype& t = *layout;
  const auto index = static_cast<std::size_t>(target);
  const bool by_start = !w->is_started.empty() && w->is_started[index];
  access_ledger& b = accesses_made();
  const std::lock_guard held(b.lock);
  account& a = b.of(call.given.win);
  touched each;
  each.target = target;
  each.how = how;
  each.op = static_cast<std::int64_t>(value_of(op));
  each.kind = static_cast<int>(t.base());
  each.batch = a.batch;
  each.alone = by_start || w->locks[index].exclusive();
  each.informed = a.informed;
  each.text = text_of(call.name, call.site);
  a.has_read = a.has_read || how != access::put;
  const std::int64_t begin = displacement * w->memory->of(target).unit;
  layout::for_each_run(t, static_cast<std::size_t>(count), [&](std::ptrdiff_t at, std::size_t n) {
    if (a.lines.size() < most_lines) {
      each.begin = begin + at;
      each.end = each.begin + static_cast<std::int64_t>(n);
      a.lines.insert(each.line());
    }
  });
}

void compare_accesses(const watch::call& call, const comm_object& c) {
  if (!wanted(what::windows) || c.sides != nullptr) {
    return;
  }
  std::vector<MPI_Win> concerned;
  {
    access_ledger& b = accesses_made();
    const std::lock_guard held(b.lock);
    for (const account& each : b.windows) {
      const auto* const w = resolve<window_object>(each.win);
      if (w != nullptr && have_same_ranks(*w->comm->comm, *c.comm)) {
        concerned.push_back(each.win);
      }
    }
  }
  compare(call, concerned);
}

void compare_accesses(const watch::call& call) {
  if (wanted(what::windows) && resolve<window_object>(call.given.win) != nullptr) {
    compare(call, {call.given.win});
  }
}

void follow_order(const watch::call& call) {
  access_ledger& b = accesses_made();
  const std::lock_guard held(b.lock);
  const bool completes = call.given.nature.completes == watch::completion::remotely;
  bool informed = informs(call);
  for (account& each : b.windows) {
    each.batch += informed ? 1 : 0;  // a request of an access may have ended
    if (completes && each.win == call.given.win) {
      ++each.batch;
      informed = informed || std::exchange(each.has_read, false);
    }
  }
  for (account& each : b.windows) {
    if (each.begun_by == &call) {
      each.begun_by = nullptr;  // what this call has told came before all accesses from now on
    } else {
      each.informed = each.informed || informed;
    }
  }
  for (int t = 0; t < call.touched_count; ++t) {
    const watch::handles& touched = call.touched[static_cast<std::size_t>(t)];
    if (touched.kind != watch::handle_kind::window) {
      continue;
    }
    if (!touched.may_end && call.succeeded) {
      (void)b.of(static_cast<MPI_Win>(*touched.first));
    } else if (touched.may_end && call.succeeded) {
      std::erase_if(b.windows, [&](const account& a) { return a.win == touched.was; });
    }
  }
}

}  // namespace sinew::mpi::check
