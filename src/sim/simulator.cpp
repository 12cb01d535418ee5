// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/sim/simulator.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <queue>
#include <unordered_map>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/random.hpp"
#include "sinew/fabric/virtual_world.hpp"

namespace sinew::sim {
namespace {

namespace vw = fabric::virtual_world;

/// While ranks run: how often it is looked whether they still do.
constexpr std::uint64_t look_at_processes_ns = 10'000'000;
constexpr std::uint64_t look_at_returning_ns = 200'000;
constexpr std::int64_t long_computing_ns = 10 * second_ns;

/// Until all know of a death, or of a notice; a seed makes it up to twice as long.
constexpr std::int64_t death_ns = 100'000;
constexpr std::int64_t notice_ns = 5'000;

struct message {
  vw::record head;
  int from;
  int to;
  std::unique_ptr<std::byte[]> data;
};

enum class happening : std::uint8_t { injection, arrival, turn };

struct event {
  std::int64_t time;
  std::uint64_t order;  ///< of those of one time
  happening what;
  int rank;              ///< turn: whose
  std::uint64_t number;  ///< turn: its hand_over; else: of the message
};
struct later {
  bool operator()(const event& a, const event& b) const noexcept {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }
};

/// What all ranks are to see at a time: a death, or words that a rank has posted.
struct notice {
  int rank;
  bool death;
  fabric::header words;
};

struct rank_state {
  bool runs = true;  ///< as this simulator knows
  bool left = false;
  bool died = false;     ///< and so has left
  bool sleeps = false;   ///< until `until`, whatever comes
  bool returns = false;  ///< had left, and waits for a turn
  std::uint64_t hand_overs = 0;
  std::int64_t local = 0;
  std::int64_t sent = 0;          ///< when it sent last
  std::uint64_t messages = 0;     ///< that it has sent
  std::int64_t last_arrival = 0;  ///< of these
  std::int64_t noticed = 0;       ///< when its last notice is seen
  std::int64_t until = vw::never;
  std::deque<std::uint64_t> arrived;  ///< numbers of messages that have come, and lie here
  /// Of the messages in its ring: the sender, and where it ends in the ring's count of bytes.
  std::deque<std::pair<int, std::uint64_t>> handed;
  std::deque<std::pair<int, std::uint32_t>> credits;  ///< who has taken how many of its messages
  bool refused = false;

  /// For messages, and whoever brings one gives it a turn.
  [[nodiscard]] bool waits() const noexcept { return !runs && !sleeps && !left && !returns; }
};

/// 'R' while it has work, 0 if it is gone.
char process_state(int pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  char text[512] = {};
  const ssize_t got = ::read(file, text, sizeof text - 1);
  ::close(file);
  const char* const end = got > 0 ? std::strrchr(text, ')') : nullptr;
  return end == nullptr || end[1] == '\0' ? '\0' : end[2];
}

}  // namespace

class simulator::state {
 public:
  state(std::byte* memory, int ranks, std::unique_ptr<network> net, const choices& how)
      : net_(std::move(net)),
        memory_(memory),
        head_(vw::head_of(memory)),
        how_(how),
        random_(how.seed),
        ranks_(static_cast<std::size_t>(ranks)) {
    head_.ranks = static_cast<std::uint32_t>(ranks);
    head_.layout = vw::this_layout;
    head_.running.store(static_cast<std::uint32_t>(ranks));
    for (int r = 0; r < ranks; ++r) {
      vw::port& p = port(r);
      p.send_ns = static_cast<std::int64_t>(net_->speeds().send_overhead);
      p.receive_ns = static_cast<std::int64_t>(net_->speeds().receive_overhead);
      p.compute = how.compute;
      p.dies_at = vw::never;
      p.state.store(static_cast<std::uint32_t>(vw::turn::rank));
      running_.push_back(r);
    }
    for (const fault& each : how_.faults) {
      SINEW_CHECK(each.rank < ranks, "the fault " + to_text(each) + " cannot happen",
                  "the job has " + std::to_string(ranks) + " ranks", "name one of them");
      if (each.what == fault_kind::kill) {
        port(each.rank).dies_at = std::min(port(each.rank).dies_at, each.from_ns);
      }
    }
  }

  void run(const listeners& told) {
    told_ = &told;
    while (await_ranks(told)) {
      collect();
      take_ended();
      if (some_return_ && !resume()) {
        continue;
      }
      if (!advance()) {
        if (all_have_left()) {
          // Wait: a short one, until stop(), or until one comes back.
          base::futex_wait(head_.running, 0, look_at_processes_ns, base::within::machine);
          continue;
        }
        if (totals_.deadlock || totals_.late) {
          told.on_deadlock();
          return;
        }
        ask_all();
      }
    }
    drop_ended();
    collect();
    while (all_have_left() && advance()) {  // what is on its way still comes, though nobody sees it
    }
    totals_.whole = all_have_left();
  }

  void stop() noexcept {
    stopped_.store(true);
    base::futex_wake(head_.running, 1, base::within::machine);
  }

  void ended(int rank, bool died) noexcept {
    {
      const std::lock_guard held(ending_);
      ended_.emplace_back(rank, died);
    }
    any_ended_.store(true);
    base::futex_wake(head_.running, 1, base::within::machine);
  }

  [[nodiscard]] const totals& result() const noexcept { return totals_; }
  [[nodiscard]] const network& model() const noexcept { return *net_; }

 private:
  [[nodiscard]] vw::port& port(int r) const {
    return vw::port_of(memory_, static_cast<std::size_t>(r));
  }
  [[nodiscard]] rank_state& of(int r) { return ranks_[static_cast<std::size_t>(r)]; }

  /// Until no rank runs; false if that is not to be waited for.
  bool await_ranks(const listeners& told) {
    std::int64_t quiet_since = 0;
    while (const std::uint32_t now = head_.running.load(std::memory_order_seq_cst)) {
      if (stopped_.load()) {
        return false;
      }
      take_ended();
      // Wait: a short one; ranks compute, which is told once it is long, and stop() ends it.
      base::futex_wait(head_.running, now,
                       std::min(look_at_processes_ns, static_cast<std::uint64_t>(how_.patience_ns)),
                       base::within::machine);
      if (head_.running.load(std::memory_order_seq_cst) != now) {
        quiet_since = 0;
        continue;
      }
      drop_ended();
      const std::int64_t here = now_ns();
      quiet_since = quiet_since == 0 ? here : quiet_since;
      if (here - quiet_since >= how_.patience_ns && (!some_rank_computes() || how_.preempt)) {
        return true;
      }
      if (here - quiet_since >= long_computing_ns && all_have_joined() &&
          !std::exchange(told_of_computing_, true)) {
        told.on_long_computing(running_.empty() ? 0 : running_.front(),
                               static_cast<double>(here - quiet_since) / second_ns);
      }
    }
    return !stopped_.load();
  }

  [[nodiscard]] bool all_have_joined() const {
    return std::all_of(running_.begin(), running_.end(), [this](int r) {
      return port(r).joined.load(std::memory_order_acquire) != 0;
    });
  }

  /// Of those that have the turn and have begun.
  bool some_rank_computes() {
    bool computes = false;
    for (const int r : running_) {
      vw::port& p = port(r);
      if (p.state.load(std::memory_order_seq_cst) != static_cast<std::uint32_t>(vw::turn::rank)) {
        continue;
      }
      if (p.joined.load(std::memory_order_acquire) == 0) {
        computes =
            true;  // it has not called MPI_Init yet; the launcher sees to those that never do
        continue;
      }
      const char now = process_state(p.process);
      const bool is_over = now == 0 || now == 'Z' || now == 'X';
      computes = computes || now == 'R' || now == 'D' || (how_.survive && is_over);
    }
    return computes;
  }

  /// Processes that have ended in their turn leave.
  void drop_ended() {
    for (const int r : running_) {
      const vw::port& p = port(r);
      if (!how_.survive && p.joined.load(std::memory_order_acquire) != 0 &&
          ::kill(p.process, 0) != 0 && errno == ESRCH) {
        drop(r);
      }
    }
  }

  /// If it has the turn it hands over for ever. Its process has ended.
  void drop(int r) {
    auto expected = static_cast<std::uint32_t>(vw::turn::rank);
    if (port(r).state.compare_exchange_strong(
            expected, static_cast<std::uint32_t>(vw::turn::simulator), std::memory_order_seq_cst)) {
      head_.running.fetch_sub(1, std::memory_order_seq_cst);
    }
    of(r).left = true;
    of(r).runs = false;
  }

  /// Of those that others tell of. A rank has died when it has sent the last of its messages, which
  /// still come; or when its last turn began.
  void take_ended() {
    if (!any_ended_.exchange(false)) {
      return;
    }
    std::vector<std::pair<int, bool>> all;
    {
      const std::lock_guard held(ending_);
      all.swap(ended_);
    }
    for (const auto& [r, died] : all) {
      const bool had_left = of(r).left;
      take_sent(r);
      drop(r);
      if (died && !std::exchange(of(r).died, true)) {
        const std::int64_t last = std::max(of(r).local, of(r).sent);
        add_notice(r, had_left ? std::max(last, now_) : last, death_ns, {r, true, {}});
      }
    }
  }

  /// What those have done that had the turn.
  void collect() {
    const std::uint32_t woken = head_.woken.load(std::memory_order_seq_cst);
    if (woken != woken_) {
      woken_ = woken;  // somebody has taken a turn by itself: look at all
      running_.clear();
      for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
        running_.push_back(r);
      }
    }
    std::sort(running_.begin(), running_.end());
    running_.erase(std::unique(running_.begin(), running_.end()), running_.end());
    std::vector<int> still;
    for (const int r : running_) {
      if (port(r).state.load(std::memory_order_seq_cst) ==
          static_cast<std::uint32_t>(vw::turn::rank)) {
        still.push_back(r);
        of(r).runs = true;
        take_sent(r);  // it may wait for room, in a loop of its own
        count_taken(r);
      } else if (port(r).hand_overs.load(std::memory_order_acquire) != of(r).hand_overs) {
        collect(r);
      }
    }
    running_.swap(still);
  }

  void take_sent(int r) {
    vw::port& p = port(r);
    rank_state& s = of(r);
    while (const vw::record* const next = p.out.front()) {
      if (next->peer == vw::launcher) {
        s.sent = std::max(next->time, s.sent);
        add_notice(r, s.sent, notice_ns, {r, false, next->head});
        p.out.pop(*next);
        continue;
      }
      message m{*next, r, static_cast<int>(next->peer), nullptr};
      if (next->size != 0) {
        m.data = std::make_unique_for_overwrite<std::byte[]>(next->size);
        std::memcpy(m.data.get(), next + 1, next->size);
      }
      s.sent = std::max(next->time, s.sent);
      p.out.pop(*next);
      add_injection(r, keep(std::move(m)));
    }
  }

  void collect(int r) {
    vw::port& p = port(r);
    rank_state& s = of(r);
    s.hand_overs = p.hand_overs.load(std::memory_order_acquire);
    take_sent(r);
    count_taken(r);
    s.runs = false;
    s.local = std::max(p.local.load(std::memory_order_relaxed), s.local);
    s.until = std::min(p.until.load(std::memory_order_relaxed), p.dies_at);
    s.refused = p.refused.exchange(0, std::memory_order_relaxed) != 0;
    const vw::reason why = p.why.load(std::memory_order_relaxed);
    s.left = s.died || why == vw::reason::leaves;
    s.sleeps = why == vw::reason::sleeps;
    s.returns = why == vw::reason::returns;
    some_return_ = some_return_ || s.returns;
    if (s.left || s.returns) {
      return;
    }
    if (s.sleeps) {
      give_turn_at(r, s.until);
      return;
    }
    if (!s.handed.empty() || (s.refused && !s.credits.empty())) {
      give_turn_at(r, s.local);
    } else if (!s.arrived.empty()) {
      give_turn_at(r, messages_[s.arrived.front()].head.time);
    }
    if (s.until != vw::never) {
      give_turn_at(r, s.until);
    }
  }

  /// Who has sent what this rank has taken may send more.
  void count_taken(int r) {
    rank_state& s = of(r);
    const std::uint64_t read = port(r).in.read.load(std::memory_order_acquire);
    std::vector<std::pair<int, std::uint32_t>> taken;  // by sender
    while (!s.handed.empty() && s.handed.front().second <= read) {
      const int from = s.handed.front().first;
      s.handed.pop_front();
      const auto known = std::find_if(taken.begin(), taken.end(),
                                      [from](const auto& each) { return each.first == from; });
      known != taken.end() ? void(++known->second) : void(taken.emplace_back(from, 1));
    }
    for (const auto& [from, count] : taken) {
      of(from).credits.emplace_back(r, count);
      if (of(from).refused && of(from).waits()) {
        give_turn_at(from, now_);
      }
    }
  }

  /// A message's number, until it is let go.
  std::uint64_t keep(message m) {
    if (free_.empty()) {
      messages_.push_back(std::move(m));
      return messages_.size() - 1;
    }
    const std::uint64_t number = free_.back();
    free_.pop_back();
    messages_[number] = std::move(m);
    return number;
  }
  void let_go(std::uint64_t number) {
    messages_[number].data.reset();
    free_.push_back(number);
  }

  using event_queue = std::priority_queue<event, std::vector<event>, later>;

  // The order of events of one moment depends on nothing but what ranks do: a sender's number and
  // its count of messages; the order of injection; and turns come after arrivals.
  void add_injection(int r, std::uint64_t number) {
    rank_state& s = of(r);
    injections_.push({s.sent, static_cast<std::uint64_t>(r) << 40 | s.messages++,
                      happening::injection, r, number});
  }
  void add_arrival(int r, std::int64_t time, std::uint64_t number) {
    // With a seed: which of those of one moment is first.
    const std::uint64_t varied = how_.seed != 0 ? random_.below(256) : 0;
    events_.push({time, ++arrivals_ ^ varied, happening::arrival, r, number});
  }
  /// All see it later by `delay` than `time`, and what a rank posts in its order.
  void add_notice(int r, std::int64_t time, std::int64_t delay, const notice& what) {
    rank_state& s = of(r);
    delay += varied(delay);
    s.noticed = std::max(time + delay, s.noticed + 1);
    notices_.emplace(std::pair(s.noticed, r), what);
  }
  /// With a seed: something below `end`.
  [[nodiscard]] std::int64_t varied(std::int64_t end) {
    return how_.seed != 0
               ? static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(end)))
               : 0;
  }
  [[nodiscard]] std::int64_t delayed(int r, std::int64_t time) const {
    for (const fault& each : how_.faults) {
      const bool is_slow = each.what == fault_kind::slow && each.rank == r;
      time += is_slow && time >= each.from_ns && time < each.to_ns ? each.later_ns : 0;
    }
    return time;
  }
  void give_turn_at(int r, std::int64_t time) {
    events_.push({delayed(r, std::max(time, of(r).local)),
                  std::uint64_t{1} << 63 | static_cast<std::uint64_t>(r), happening::turn, r,
                  of(r).hand_overs});
  }

  /// One step. False: nothing is to happen any more.
  ///
  /// What is sent from now on comes no sooner than the network's least delay. So all that is to
  /// happen until then is known, and ranks to which it happens cannot touch each other: they have
  /// the turn side by side, each at its own time. Messages are injected only when no rank can send
  /// an earlier one any more.
  bool advance() {
    while (!events_.empty() && is_stale(events_.top())) {
      events_.pop();
    }
    if (events_.empty() && injections_.empty() && notices_.empty()) {
      return !running_.empty();
    }
    now_ = std::min({events_.empty() ? vw::never : events_.top().time,
                     injections_.empty() ? vw::never : injections_.top().time, next_notice()});
    while (!injections_.empty() && injections_.top().time <= now_) {
      const std::uint64_t number = injections_.top().number;
      injections_.pop();
      inject(number);
    }
    if (how_.longest_ns != 0 && now_ > how_.longest_ns) {
      totals_.late = true;
      return false;
    }
    show_notices();
    const std::int64_t end =
        std::min(now_ + std::max<std::int64_t>(net_->least_delay(), 1), next_notice());
    std::vector<int> turns;
    while (!events_.empty() && events_.top().time < end) {
      const event e = events_.top();
      events_.pop();
      if (is_stale(e)) {
        continue;  // no time passes for it
      }
      totals_.virtual_ns = std::max(totals_.virtual_ns, e.time);
      if (e.what == happening::arrival) {
        arrive(e.number);
      } else {
        turns.push_back(e.rank);
        of(e.rank).runs = true;
        of(e.rank).local = e.time;
      }
    }
    ++totals_.steps;
    give_turns(turns);
    return true;
  }

  [[nodiscard]] std::int64_t next_notice() const {
    return notices_.empty() ? vw::never : notices_.begin()->first.first;
  }

  /// Those of the present. Nobody has the turn, and those that wait get one. What one that has died
  /// had sent before comes before they know of it.
  void show_notices() {
    bool shown = false;
    while (next_notice() <= now_) {
      const auto [when, what] = *notices_.begin();
      notices_.erase(notices_.begin());
      if (what.death && of(what.rank).last_arrival >= now_) {
        notices_.emplace(std::pair(of(what.rank).last_arrival + 1, what.rank), what);
        continue;
      }
      what.death ? told_->on_death(what.rank) : told_->on_notice(what.rank, what.words);
      totals_.virtual_ns = std::max(totals_.virtual_ns, now_);
      shown = true;
    }
    for (int r = 0; shown && r < static_cast<int>(ranks_.size()); ++r) {
      port(r).news.store(1, std::memory_order_relaxed);
      if (of(r).waits()) {
        give_turn_at(r, now_);
      }
    }
  }

  /// A turn for what its rank no longer waits for.
  [[nodiscard]] bool is_stale(const event& e) {
    if (e.what != happening::turn) {
      return false;
    }
    const rank_state& s = of(e.rank);
    return s.runs || s.left || s.returns || s.hand_overs != e.number;
  }

  void inject(std::uint64_t number) {
    message& m = messages_[number];
    std::int64_t time = net_->arrival(m.from, m.to, m.head.size + sizeof m.head.head, now_);
    time += varied(1 + (time - now_) / 2);
    // Between two ranks nothing overtakes.
    const std::uint64_t pair =
        static_cast<std::uint64_t>(m.from) << 32 | static_cast<std::uint32_t>(m.to);
    std::int64_t& last = last_arrival_[pair];
    last = std::max(time, last + 1);
    m.head.time = last;
    of(m.from).last_arrival = std::max(of(m.from).last_arrival, last);
    add_arrival(m.to, last, number);
  }

  void arrive(std::uint64_t number) {
    const message& m = messages_[number];
    ++totals_.messages;
    totals_.bytes += m.head.size;
    for (const std::uint64_t word :
         {static_cast<std::uint64_t>(m.head.time), static_cast<std::uint64_t>(m.from),
          static_cast<std::uint64_t>(m.to), std::uint64_t{m.head.id}, std::uint64_t{m.head.size}}) {
      totals_.digest = (totals_.digest ^ word) * 0x100000001b3U;
    }
    rank_state& s = of(m.to);
    if (s.died) {
      return let_go(number);
    }
    s.arrived.push_back(number);  // also of one that has left: it may come back
    if (s.waits() && s.arrived.size() == 1) {
      give_turn_at(m.to, m.head.time);
    }
  }

  void give_turns(std::vector<int>& turns) {
    if (turns.empty()) {
      return;
    }
    head_.running.fetch_add(static_cast<std::uint32_t>(turns.size()), std::memory_order_seq_cst);
    for (const int r : turns) {
      fill_ring(r);
      vw::port& p = port(r);
      p.now.store(of(r).local, std::memory_order_relaxed);
      auto expected = static_cast<std::uint32_t>(vw::turn::simulator);
      if (!p.state.compare_exchange_strong(expected, static_cast<std::uint32_t>(vw::turn::rank),
                                           std::memory_order_seq_cst)) {
        head_.running.fetch_sub(1, std::memory_order_seq_cst);  // it has woken by itself
      }
      base::futex_wake(p.state, INT_MAX, base::within::machine);  // other threads nap on it, too
      running_.push_back(r);
    }
  }

  void fill_ring(int r) {
    rank_state& s = of(r);
    vw::ring& in = port(r).in;
    while (!s.credits.empty()) {
      vw::record* const next = in.reserve(0);
      if (next == nullptr) {
        return;
      }
      *next = {static_cast<std::uint32_t>(s.credits.front().first),
               s.credits.front().second,
               vw::credit,
               now_,
               {}};
      in.put(*next);
      s.credits.pop_front();
    }
    while (!s.arrived.empty()) {
      const message& m = messages_[s.arrived.front()];
      if (m.head.time > s.local) {
        return;
      }
      vw::record* const next = in.reserve(m.head.size);
      if (next == nullptr) {
        return;
      }
      *next = m.head;
      next->peer = static_cast<std::uint32_t>(m.from);
      if (m.head.size != 0) {
        std::memcpy(next + 1, m.data.get(), m.head.size);
      }
      in.put(*next);
      s.handed.emplace_back(m.from, in.written.load(std::memory_order_relaxed));
      let_go(s.arrived.front());
      s.arrived.pop_front();
    }
  }

  [[nodiscard]] bool all_have_left() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const rank_state& s) { return s.left; });
  }

  /// Ranks that had left together go on together: which of them comes back first is chance. So
  /// those that return wait until all others do, or have ended, or wait for something else. False:
  /// not yet.
  bool resume() {
    const bool together = std::all_of(ranks_.begin(), ranks_.end(),
                                      [](const rank_state& s) { return s.left || s.returns; });
    const std::int64_t here = now_ns();
    returning_since_ = returning_since_ == 0 ? here : returning_since_;
    for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
      if (of(r).left && may_return(r, here - returning_since_ >= how_.patience_ns)) {
        // Wait: a short one, for a process that computes.
        base::futex_wait(head_.running, 0, look_at_returning_ns, base::within::machine);
        return false;
      }
    }
    // What was under way when they left.
    while (together && !(events_.empty() && injections_.empty())) {
      (void)advance();
    }
    const std::int64_t now = together ? totals_.virtual_ns : now_;
    for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
      if (std::exchange(of(r).returns, false)) {
        give_turn_at(r, now);
      }
    }
    some_return_ = false;
    returning_since_ = 0;
    return true;
  }

  /// `late`: only if it computes.
  [[nodiscard]] bool may_return(int r, bool late) const {
    const char now = process_state(port(r).process);
    return now == 'R' || now == 'D' || (!late && now != 0 && now != 'Z');
  }

  /// Each rank is given a turn in which it says what it waits for.
  void ask_all() {
    totals_.deadlock = true;
    for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
      if (!of(r).left && !of(r).runs) {
        port(r).report.store(1, std::memory_order_relaxed);
        give_turn_at(r, of(r).local);
      }
    }
  }

  std::unique_ptr<network> net_;
  std::byte* memory_;
  vw::head& head_;
  const choices how_;
  random_generator random_;
  std::vector<rank_state> ranks_;
  std::vector<int> running_;  ///< that had the turn
  event_queue injections_;    ///< of messages that wait for all earlier ones
  event_queue events_;        ///< arrivals and turns
  std::map<std::pair<std::int64_t, int>, notice> notices_;  ///< by time and rank
  std::vector<message> messages_;
  std::vector<std::uint64_t> free_;  ///< numbers of messages that are gone
  std::unordered_map<std::uint64_t, std::int64_t> last_arrival_;  ///< by sender and receiver
  std::uint64_t arrivals_ = 0;
  std::int64_t now_ = 0;
  std::uint32_t woken_ = 0;
  bool some_return_ = false;
  std::int64_t returning_since_ = 0;  ///< real time; 0: none returns
  bool told_of_computing_ = false;
  std::atomic<bool> stopped_{false};
  const listeners* told_ = nullptr;  ///< of run()
  std::mutex ending_;                ///< guards ended_
  std::vector<std::pair<int, bool>> ended_;
  std::atomic<bool> any_ended_{false};
  totals totals_;
};

simulator::simulator(std::byte* memory, int ranks, std::unique_ptr<network> net, const choices& how)
    : state_(std::make_unique<state>(memory, ranks, std::move(net), how)) {
  SINEW_EXPECT(ranks > 0);
}
simulator::~simulator() = default;
void simulator::run(const listeners& told) { state_->run(told); }
void simulator::stop() noexcept { state_->stop(); }
void simulator::ended(int rank, bool died) noexcept { state_->ended(rank, died); }
const totals& simulator::result() const noexcept { return state_->result(); }
const network& simulator::model() const noexcept { return state_->model(); }

}  // namespace sinew::sim
