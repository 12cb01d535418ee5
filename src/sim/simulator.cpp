// SPDX-License-Identifier: BSD-3-Clause
// The steps of a simulated job, until it has ended, or until nothing can happen in it any more.
#include "sinew/sim/simulator.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/job_state.hpp"
#include "sim/messages.hpp"
#include "sim/process_state.hpp"
#include "sim/turns.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/sim/link_faults.hpp"

namespace sinew::sim {
namespace {

/// How often it is looked whether ranks come back.
constexpr std::uint64_t look_at_left_ns = 10'000'000;
constexpr std::uint64_t look_at_returning_ns = 200'000;

}  // namespace

class simulator::state {
 public:
  state(std::byte* memory, int ranks, std::unique_ptr<network> net, const choices& how)
      : net_(std::move(net)),
        job_(memory, ranks, how),
        events_(job_),
        links_(net_->topology(), net_->speeds().link_rate, how.faults),
        mail_(job_, events_, *net_, links_.any() ? &links_ : nullptr),
        turns_(job_, events_, mail_) {
    job_.head.ranks = static_cast<std::uint32_t>(ranks);
    job_.head.ranks_on_a_node = static_cast<std::uint32_t>(net_->ranks_per_node());
    job_.head.layout = vw::this_layout;
    for (int r = 0; r < ranks; ++r) {
      vw::port& p = job_.port(r);
      p.send_ns = static_cast<std::int64_t>(net_->speeds().send_overhead);
      p.receive_ns = static_cast<std::int64_t>(net_->speeds().receive_overhead);
      p.beside_ns = static_cast<std::int64_t>(net_->speeds().node_latency / 4);
      p.compute = how.compute;
      p.dies_at = vw::never;
    }
    for (const fault& each : how.faults) {
      SINEW_CHECK(each.rank < ranks, "the fault " + to_text(each) + " cannot happen",
                  "the job has " + std::to_string(ranks) + " ranks", "name one of them");
      if (each.what == fault_kind::kill) {
        let_die(each.rank, each.from_ns);
      }
    }
    if (links_.any()) {
      net_->take_ways_of(links_);
      lose_nodes();
    }
  }

  void run(const listeners& told) {
    told_ = &told;
    if (take_steps()) {
      turns_.drop_ended();
      turns_.collect();
      while (job_.all_have_left() && advance()) {  // what is under way comes, though unseen
      }
      job_.counted.whole = job_.all_have_left();
    }
    job_.counted.waits = sum_of_waits();
  }

  void stop() noexcept { turns_.stop(); }
  void ended(int rank, bool died) noexcept { turns_.ended(rank, died); }
  [[nodiscard]] const totals& result() const noexcept { return job_.counted; }
  [[nodiscard]] const network& model() const noexcept { return *net_; }

 private:
  void let_die(int rank, std::int64_t time) {
    std::int64_t& dies_at = job_.port(rank).dies_at;
    dies_at = std::min(dies_at, time);
  }

  void lose_nodes() {
    for (const link_faults::lost_node& each : links_.lost()) {
      for (int r = 0; r < job_.size(); ++r) {
        if (net_->node_of(r) == each.node) {
          let_die(r, each.time);
          events_.add_cut_off(r, each.time);
        }
      }
    }
  }

  /// Until stop(); false: until nothing can happen any more, or it is late.
  bool take_steps() {
    while (turns_.await_ranks(*told_)) {
      turns_.collect();
      turns_.take_ended();
      if (!resume() || advance()) {
        continue;
      }
      if (job_.all_have_left()) {
        turns_.nap(look_at_left_ns);
        continue;
      }
      if (job_.counted.deadlock || job_.counted.late) {
        told_->on_deadlock();
        return false;
      }
      ask_all();
    }
    return true;
  }

  [[nodiscard]] std::vector<wait_total> sum_of_waits() const {
    std::map<std::string_view, std::int64_t> sums;
    for (int r = 0; r < job_.size(); ++r) {
      for (const vw::wait_sum& each : job_.port(r).waits) {
        sums[each.call] += each.ns;
      }
    }
    std::vector<wait_total> all;
    for (const auto& [call, ns] : sums) {
      if (ns != 0) {
        all.push_back({std::string(call), ns});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const wait_total& a, const wait_total& b) { return a.ns > b.ns; });
    return all;
  }

  /// One step. False: nothing is to happen any more.
  ///
  /// What is sent from now on comes no sooner than the network's least delay. So all that is to
  /// happen until then is known, and ranks to which it happens cannot touch each other: they have
  /// the turn side by side, each at its own time. Messages are injected only when no rank can send
  /// an earlier one any more.
  bool advance() {
    const std::int64_t next = std::min(events_.next(), net_->next_change());
    if (next == vw::never) {
      return turns_.some_run();
    }
    job_.now = next;
    mail_.take_left();
    while (const std::optional<event> injection = events_.take_injection(job_.now)) {
      mail_.inject(*injection);
    }
    if (job_.chosen.longest_ns != 0 && job_.now > job_.chosen.longest_ns) {
      job_.counted.late = true;
      return false;
    }
    show_notices();
    const std::int64_t end =
        std::min(job_.now + std::max<std::int64_t>(net_->least_delay(), 1), events_.next_notice());
    std::vector<int> ranks;
    while (const std::optional<event> e = events_.take(end)) {
      job_.counted.virtual_ns = std::max(job_.counted.virtual_ns, e->time);
      if (e->what == happening::arrival) {
        mail_.arrive(e->number);
      } else {
        ranks.push_back(e->rank);
        job_.of(e->rank).runs = true;
        job_.of(e->rank).local = e->time;
      }
    }
    ++job_.counted.steps;
    turns_.give(ranks);
    return true;
  }

  /// Those of the present. Nobody has the turn, and those that wait get one.
  void show_notices() {
    bool shown = false;
    while (const std::optional<notice> what = events_.take_notice(job_.now)) {
      if (what->kind == notice_kind::cut_off && !is_missed(what->rank)) {
        continue;
      }
      what->kind == notice_kind::words ? told_->on_notice(what->rank, what->words)
                                       : told_->on_death(what->rank);
      job_.counted.virtual_ns = std::max(job_.counted.virtual_ns, job_.now);
      shown = true;
    }
    for (int r = 0; shown && r < job_.size(); ++r) {
      job_.port(r).news.store(1, std::memory_order_relaxed);
      if (job_.of(r).waits()) {
        events_.add_turn(r, job_.now);
      }
    }
  }

  /// A rank that has left is gone, but what links have lost of its last messages others may wait
  /// for. One that has not dies by itself.
  bool is_missed(int rank) {
    rank_state& r = job_.of(rank);
    const bool missed = r.left && !r.died && !job_.all_have_left();
    r.died = r.died || missed;
    job_.counted.cut_off = job_.counted.cut_off || missed;
    return missed;
  }

  /// Ranks that had left together go on together: which of them comes back first is chance. So
  /// those that return wait until all others do, or have ended, or wait for something else. False:
  /// not yet.
  bool resume() {
    if (!job_.some_return) {
      return true;
    }
    const bool together = std::all_of(job_.ranks.begin(), job_.ranks.end(),
                                      [](const rank_state& r) { return r.left || r.returns; });
    const std::int64_t here = now_ns();
    returning_since_ = returning_since_ == 0 ? here : returning_since_;
    for (int r = 0; r < job_.size(); ++r) {
      if (job_.of(r).left && may_return(r, here - returning_since_ >= job_.chosen.patience_ns)) {
        turns_.nap(look_at_returning_ns);
        return false;
      }
    }
    while (together && (events_.has_messages_or_turns() || net_->next_change() != vw::never)) {
      (void)advance();  // what was under way when they left
    }
    const std::int64_t now = together ? job_.counted.virtual_ns : job_.now;
    for (int r = 0; r < job_.size(); ++r) {
      if (std::exchange(job_.of(r).returns, false)) {
        events_.add_turn(r, now);
      }
    }
    job_.some_return = false;
    returning_since_ = 0;
    return true;
  }

  /// `late`: only if it computes.
  [[nodiscard]] bool may_return(int r, bool late) const {
    const char now = process_state(job_.port(r).process);
    return computes(now) || (!late && !has_ended(now));
  }

  /// Each rank is given a turn in which it says what it waits for.
  void ask_all() {
    job_.counted.deadlock = true;
    for (int r = 0; r < job_.size(); ++r) {
      if (!job_.of(r).left && !job_.of(r).runs) {
        job_.port(r).report.store(1, std::memory_order_relaxed);
        events_.add_turn(r, job_.of(r).local);
      }
    }
  }

  std::unique_ptr<network> net_;
  job_state job_;
  event_queue events_;
  link_faults links_;
  messages mail_;
  turns turns_;
  std::int64_t returning_since_ = 0;  ///< real time; 0: none returns
  const listeners* told_ = nullptr;   ///< of run()
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
