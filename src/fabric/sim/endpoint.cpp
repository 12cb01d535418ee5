// SPDX-License-Identifier: BSD-3-Clause
// A rank's end of a simulated network. While the rank runs, its messages lie in a ring; when it has
// nothing to do it hands over to the simulator, and goes on when that gives it a time.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/message_endpoint.hpp"
#include "fabric/rows.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/futex.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/base/trace.hpp"
#include "sinew/fabric/virtual_world.hpp"

namespace sinew::fabric {
namespace virtual_world {
namespace {

/// A look that finds nothing lasts as long as this, and each further one twice as long as the one
/// before: so a loop of looks ends some time, whatever it waits for.
constexpr std::int64_t least_look_ns = 100;
constexpr std::int64_t longest_look_ns = 10'000;
/// Of each reading of the clock, so that a loop of readings ends. After so many of them without a
/// hand-over each lasts twice as long, up to a limit: a loop that computes until a moment
/// that is far away ends sooner than after fifty million rounds for each second.
constexpr std::int64_t clock_ns = 20;
constexpr std::int64_t longest_reading_ns = 100'000;
constexpr std::uint32_t readings_of_a_step = 4'000'000;
constexpr std::int64_t longest_sleep_ns = INT64_MAX / 4;  // 73 years
/// Of a thread that would hand over after another one has.
constexpr std::uint64_t nap_ns = 100'000;
constexpr handler_id most_ids = max_handlers + 1;

/// Adds up waits where the simulator finds them. By one thread at a time.
class wait_list {
 public:
  explicit wait_list(wait_sum (&sums)[wait_sums]) : sums_(sums) {}

  void add(const char* call, std::int64_t ns) noexcept {
    call = call != nullptr ? call : "other waits";
    std::size_t i = 0;
    while (i + 1 < wait_sums && names_[i] != nullptr && names_[i] != call) {
      ++i;
    }
    if (names_[i] == nullptr) {
      names_[i] = i + 1 < wait_sums ? call : "further calls";
      std::snprintf(sums_[i].call, sizeof sums_[i].call, "%s", names_[i]);
    }
    sums_[i].ns += ns;
  }

 private:
  wait_sum (&sums_)[wait_sums];
  const char* names_[wait_sums] = {};  ///< texts that stay, compared by their addresses
};

class sim_endpoint final : public message_endpoint, public time_source, public notice_board {
 public:
  sim_endpoint(std::byte* memory, job_rank rank)
      : world_(head_of(memory)),
        port_(port_of(memory, rank.index())),
        rank_(rank),
        waits_(port_.waits),
        owner_(::syscall(SYS_gettid)),
        under_way_(world_.ranks),
        gone_(world_.ranks) {
    port_.process = ::getpid();
    cpu_at_turn_ns_.store(cpu_ns(), std::memory_order_relaxed);
    port_.joined.store(1, std::memory_order_release);
  }
  ~sim_endpoint() override { sim_endpoint::leave(); }

  [[nodiscard]] job_rank rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(world_.ranks); }
  [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] const char* name() const noexcept override { return "sim"; }
  [[nodiscard]] bool is_beside(job_rank peer) const override {
    return peer.index() / world_.ranks_on_a_node == rank_.index() / world_.ranks_on_a_node;
  }
  // As in shared memory while the processors are near each other.
  [[nodiscard]] bool streams_to(job_rank peer) override { return is_beside(peer); }

  status send_medium(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override {
    SINEW_EXPECT(peer.below(this->size()) && id < most_ids && size <= longest_message);
    come_back();
    const std::lock_guard held(sending_);
    if (gone_[peer.index()]) {
      return status::ok();
    }
    std::uint32_t& on_the_way = under_way_[peer.index()];
    if (on_the_way >= most_under_way || !put_out({static_cast<std::uint32_t>(peer.value()),
                                                  static_cast<std::uint32_t>(size), id, 0, head},
                                                 data)) {
      port_.refused.store(1, std::memory_order_relaxed);
      return status::again(retry_reason::no_slot);
    }
    ++on_the_way;
    return status::ok();
  }

  [[nodiscard]] notice_board* notices() noexcept override { return this; }
  void post(const header& words) override {
    const auto put = [&] {
      const std::lock_guard held(sending_);
      return put_out({launcher, 0, 0, 0, words}, nullptr);
    };
    // Wait: until the simulator has taken what fills the ring.
    while (!put()) {
      hand_over(reason::waits, now_ns() + least_look_ns);
    }
  }

  void give_up(job_rank peer) override {
    {
      const std::lock_guard held(sending_);
      gone_[peer.index()] = true;
    }
    message_endpoint::give_up(peer);
  }

  void wake() override {
    auto expected = static_cast<std::uint32_t>(turn::simulator);
    world_.running.fetch_add(1, std::memory_order_seq_cst);
    if (port_.state.compare_exchange_strong(expected, static_cast<std::uint32_t>(turn::rank),
                                            std::memory_order_seq_cst)) {
      world_.woken.fetch_add(1, std::memory_order_seq_cst);
      base::futex_wake(port_.state, INT_MAX, base::within::machine);  // some may only nap on it
      return;
    }
    nudged_.store(true, std::memory_order_seq_cst);
    end_turn();
  }

  [[nodiscard]] bool knows_deadlock() const noexcept override { return knows_deadlock_; }

  void leave() override {
    leaving_.store(true, std::memory_order_relaxed);
    if (!left_.exchange(true, std::memory_order_release)) {
      hand_over(reason::leaves, never);
    }
    leaving_.store(false, std::memory_order_relaxed);
  }

  // --- what the rank sees of time ---

  /// From now on this process has no other time.
  void tell_time() { clock_.emplace(*this); }

  [[nodiscard]] std::int64_t now_ns() noexcept override {
    const std::uint32_t steps =
        readings_.fetch_add(1, std::memory_order_relaxed) / readings_of_a_step;
    spend(std::min(longest_reading_ns, clock_ns << std::min(steps, 16U)));
    return local_ns();
  }
  // Wait: for the time that the caller has named.
  void sleep_ns(std::int64_t length) noexcept override {
    const std::int64_t until = now_ns() + std::min(length, longest_sleep_ns);
    while (!left_.load(std::memory_order_relaxed) && now_ns() < until) {
      hand_over(reason::sleeps, until);
    }
  }
  // Not while another thread of the rank computes or has handed over; nor in the child of a fork.
  [[nodiscard]] bool lets_caller_sleep() noexcept override {
    return ::syscall(SYS_gettid) == owner_ && !handing_over_.load(std::memory_order_relaxed) &&
           !left_.load(std::memory_order_relaxed);
  }

 private:
  /// Under the lock. False: the ring is full.
  [[nodiscard]] bool put_out(const record& what, const void* data) {
    die_if_due();
    record* const next = port_.out.reserve(what.size);
    if (next == nullptr) {
      port_.full.store(1, std::memory_order_relaxed);
      return false;
    }
    spend(what.peer != launcher && is_beside(peer_of(what)) ? port_.beside_ns : port_.send_ns);
    *next = what;
    next->time = local_ns();
    if (data != nullptr && what.size != 0) {
      std::memcpy(next + 1, data, what.size);
    }
    port_.out.put(*next);
    if (port_.state.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(turn::rank)) {
      wake();  // the thread that has handed over does it anew: what another one has sent goes
    }
    return true;
  }

  int take(int budget) override {
    come_back();
    int taken = take_ready(budget);
    if (taken != 0) {
      looks_ = 0;
      return taken;
    }
    // The first of several looks costs nothing, since a wait begins with one.
    if (looks_++ != 0) {
      const int doubled = looks_ < 20 ? looks_ : 20;
      const std::int64_t length = std::min(longest_look_ns, least_look_ns << (doubled - 2));
      hand_over(reason::waits, now_ns() + length);
      taken = take_ready(budget);
    }
    return taken;
  }

  [[nodiscard]] static job_rank peer_of(const record& what) noexcept {
    return job_rank{static_cast<int>(what.peer)};
  }

  int take_ready(int budget) {
    int taken = 0;
    while (record* const next = port_.in.front()) {
      if (next->id == credit) {
        const std::lock_guard held(sending_);
        SINEW_ASSERT(under_way_[next->peer] >= next->size);
        under_way_[next->peer] -= next->size;
        port_.in.pop(*next);
        continue;
      }
      if (taken == budget) {
        break;
      }
      const arrival m{peer_of(*next), next->head, reinterpret_cast<const std::byte*>(next + 1),
                      next->size};
      if (!deliver(static_cast<handler_id>(next->id), m).done()) {
        break;
      }
      port_.in.pop(*next);
      ++taken;
      spend(is_beside(m.source) ? port_.beside_ns : port_.receive_ns);
    }
    return taken;
  }

  void rest(std::uint64_t timeout_ns) override {
    come_back();
    looks_ = 0;
    if (port_.in.front() != nullptr || nudged_.exchange(false, std::memory_order_seq_cst) ||
        port_.news.exchange(0, std::memory_order_relaxed) != 0) {
      return;
    }
    const std::int64_t now = now_ns();
    const auto longest = static_cast<std::uint64_t>(never - now);
    hand_over(reason::waits,
              timeout_ns < longest ? now + static_cast<std::int64_t>(timeout_ns) : never);
    knows_deadlock_ = port_.report.load(std::memory_order_relaxed) != 0;
    nudged_.store(false, std::memory_order_relaxed);
    port_.news.store(0, std::memory_order_relaxed);
  }

  /// After leave(): a program may open sessions again after its last one. The simulator gives the
  /// turn once it knows of all others that have left whether they come back, too.
  void come_back() {
    if (left_.load(std::memory_order_acquire)) [[unlikely]] {
      if (!leaving_.load(std::memory_order_relaxed) &&
          left_.exchange(false, std::memory_order_relaxed)) {
        world_.running.fetch_add(1, std::memory_order_seq_cst);
        hand_over(reason::returns, never);
      }
    }
  }

  /// Returns when the simulator has given the turn back, or wake() has taken it; soon, if another
  /// thread has handed over.
  void hand_over(reason why, std::int64_t until) noexcept {
    // A thread that looks again and again lets the one in that leaves, which has to be.
    const bool may_wait = why == reason::waits || why == reason::sleeps;
    while ((may_wait && leaving_.load(std::memory_order_relaxed)) ||
           handing_over_.exchange(true, std::memory_order_acquire)) {
      // Wait: a short one, for the other thread's turn; the caller looks again.
      base::futex_wait(port_.state, static_cast<std::uint32_t>(turn::simulator), nap_ns,
                       base::within::machine);
      if (may_wait) {
        return;
      }
    }
    hand_over_alone(why, until);
    handing_over_.store(false, std::memory_order_release);
  }

  void hand_over_alone(reason why, std::int64_t until) noexcept {
    die_if_due();
    const std::int64_t began = local_ns();
    {
      const std::lock_guard held(sending_);
      port_.local.store(local_ns(), std::memory_order_relaxed);
      port_.until.store(until, std::memory_order_relaxed);
      port_.why.store(why, std::memory_order_relaxed);
      port_.hand_overs.fetch_add(1, std::memory_order_release);
      port_.state.store(static_cast<std::uint32_t>(turn::simulator), std::memory_order_seq_cst);
    }
    if (why == reason::returns) {
      world_.woken.fetch_add(1, std::memory_order_seq_cst);  // the simulator looks at all
    }
    end_turn();
    if (why == reason::leaves) {
      return;
    }
    // Wait: the simulator gives the turn back, at the latest when all ranks wait.
    while (port_.state.load(std::memory_order_seq_cst) != static_cast<std::uint32_t>(turn::rank)) {
      base::futex_wait(port_.state, static_cast<std::uint32_t>(turn::simulator), base::no_limit,
                       base::within::machine);
    }
    // Under the lock: another thread may have sent meanwhile, and no time goes back.
    const std::lock_guard held(sending_);
    const std::int64_t now = std::max(port_.now.load(std::memory_order_relaxed), local_ns());
    cpu_at_turn_ns_.store(cpu_ns(), std::memory_order_relaxed);
    time_ns_.store(now, std::memory_order_relaxed);
    readings_.store(0, std::memory_order_relaxed);
    if (why != reason::returns) {
      waits_.add(why == reason::sleeps ? "sleep" : trace::doing(), now - began);
    }
    die_if_due();
  }

  /// As a crash would end it: nothing is said, nothing is cleaned up.
  void die_if_due() const noexcept {
    if (local_ns() >= port_.dies_at) [[unlikely]] {
      ::kill(::getpid(), SIGKILL);
    }
  }

  void end_turn() noexcept {
    if (world_.running.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      base::futex_wake(world_.running, 1, base::within::machine);
    }
  }

  void spend(std::int64_t ns) noexcept { time_ns_.fetch_add(ns, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t local_ns() const noexcept {
    const std::int64_t cpu = cpu_ns() - cpu_at_turn_ns_.load(std::memory_order_relaxed);
    return time_ns_.load(std::memory_order_relaxed) +
           static_cast<std::int64_t>(static_cast<double>(cpu) * port_.compute);
  }
  [[nodiscard]] std::int64_t cpu_ns() const noexcept {
    return port_.compute > 0 ? processor_ns() : 0;
  }

  head& world_;
  port& port_;
  const job_rank rank_;
  wait_list waits_;   ///< of the thread that hands over
  const long owner_;  ///< the thread that has opened this, which may sleep in virtual time
  const limits bounds_{40, longest_message, false, true, true};
  std::atomic<bool> left_{false};  ///< set (release) after leaving_ (acquire: to see that)
  bool knows_deadlock_ = false;
  int looks_ = 0;  ///< in a row that found nothing
  std::atomic<bool> nudged_{false};
  std::atomic<bool> handing_over_{false};  ///< some thread is in hand_over()
  std::atomic<bool> leaving_{false};       ///< one is in leave(); relaxed, see left_
  std::mutex sending_;                     ///< guards what follows, and the ring of what is sent
  std::vector<std::uint32_t> under_way_;
  std::vector<bool> gone_;  ///< who has been given up
  // Read by any thread, for the time: a thread sees its own changes, and that is all that a clock
  // promises; so relaxed.
  std::atomic<std::int64_t> time_ns_{0};         ///< without what was computed in this turn
  std::atomic<std::int64_t> cpu_at_turn_ns_{0};  ///< the processor's, when this turn began
  std::atomic<std::uint32_t> readings_{0};       ///< of the clock, since then
  std::optional<time_from> clock_;
};

class sim_network final : public network {
 public:
  explicit sim_network(std::byte* memory) : memory_(memory) {}
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }
  [[nodiscard]] std::string version() const override { return "a simulated network"; }
  [[nodiscard]] std::unique_ptr<network_endpoint> connect(job_rank rank, address_source /*from*/,
                                                          rank_names names) override {
    SINEW_CHECK(!names.number_of, "ranks of another job cannot be reached",
                "the network is simulated for one job", "run without sinew simulate");
    auto made = std::make_unique<sim_endpoint>(memory_, rank);
    made->tell_time();
    return made;
  }

 private:
  std::byte* memory_;
  std::string address_ = "sim";
};

}  // namespace

std::unique_ptr<endpoint> open_at(std::byte* memory, job_rank rank) {
  return std::make_unique<sim_endpoint>(memory, rank);
}

}  // namespace virtual_world

bool sim_is_there() { return std::getenv(virtual_world::descriptor_variable) != nullptr; }

std::string sim_state() {
  return sim_is_there() ? "yes" : "no: this job does not run under sinew simulate";
}

std::shared_ptr<network> open_sim(const network_options& options) {
  using namespace virtual_world;
  const char* const text = std::getenv(descriptor_variable);
  const std::optional<std::int64_t> number =
      text != nullptr ? base::parse_integer(text) : std::nullopt;
  SINEW_CHECK(number.has_value(), "the simulated network cannot be opened",
              std::string(descriptor_variable) + " names no descriptor",
              "start the job with sinew simulate");
  const std::size_t bytes = bytes_for(options.ranks);
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(*number), 0);
  SINEW_CHECK(at != MAP_FAILED, "the memory of the simulated network cannot be mapped",
              base::system_reason(errno), base::system_advice(errno));
  auto* const memory = static_cast<std::byte*>(at);
  SINEW_CHECK(head_of(memory).layout == this_layout, "this program cannot be simulated",
              "it is linked to another Sinew than sinew simulate is of",
              "link it again, or start it with the other one's sinew");
  SINEW_CHECK(head_of(memory).ranks == static_cast<std::uint32_t>(options.ranks),
              "the simulated network is another job's",
              "it has " + std::to_string(head_of(memory).ranks) + " ranks, and this job " +
                  std::to_string(options.ranks),
              "start each job with a sinew simulate of its own");
  return std::make_shared<sim_network>(memory);
}

}  // namespace sinew::fabric
