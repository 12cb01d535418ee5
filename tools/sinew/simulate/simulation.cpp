// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/simulate/simulation.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/system_limits.hpp"
#include "sinew/boot/shared_memory.hpp"
#include "sinew/boot/survival.hpp"
#include "sinew/commands.hpp"
#include "sinew/fabric/virtual_world.hpp"
#include "sinew/formats/text.hpp"
#include "sinew/p2p/steering.hpp"
#include "sinew/route/route_picture.hpp"
#include "sinew/simulate/coverage.hpp"

namespace sinew::tool {
namespace {

namespace vw = fabric::virtual_world;

constexpr int deadlock_code = 1;
constexpr std::int64_t patience_ns = 100'000'000;
/// Of its own, for a rank: measured with a small program, and rounded up.
constexpr std::uint64_t bytes_of_a_rank = std::uint64_t{3} << 19;

void check_memory(int ranks) {
  struct sysinfo now{};
  if (::sysinfo(&now) != 0) {
    return;
  }
  const std::uint64_t all = std::uint64_t{now.totalram} * now.mem_unit;
  const std::uint64_t fit = all / bytes_of_a_rank;
  SINEW_CHECK(static_cast<std::uint64_t>(ranks) <= fit,
              std::to_string(ranks) + " ranks have no room on this machine",
              "each is a process and takes about 1.5 MiB; there is room for " + std::to_string(fit),
              "start fewer");
}

std::string seconds_text(std::int64_t ns) {
  char text[32];
  const auto value = static_cast<double>(ns);
  std::snprintf(text, sizeof text, ns < 1'000'000 ? "%.3f us" : "%.6f s",
                ns < 1'000'000 ? value / 1e3 : value / 1e9);
  return text;
}

std::string busiest_links(const sim::network& net) {
  constexpr std::size_t most = 3;
  const std::vector<std::uint64_t>& carried = net.carried();
  std::vector<route::link_id> busiest(carried.size());
  std::iota(busiest.begin(), busiest.end(), route::link_id{0});
  const auto end = busiest.begin() + static_cast<std::ptrdiff_t>(std::min(most, busiest.size()));
  std::partial_sort(busiest.begin(), end, busiest.end(), [&](route::link_id a, route::link_id b) {
    return carried[a] != carried[b] ? carried[a] > carried[b] : a < b;
  });
  std::string text;
  for (auto link = busiest.begin(); link != end && carried[*link] != 0; ++link) {
    text += (text.empty() ? "busiest links from node " : ", ") +
            net.topology().label(net.topology().from(*link)) + " to " +
            net.topology().label(net.topology().to(*link)) + ": " + std::to_string(carried[*link]) +
            " bytes";
  }
  return text.empty() ? "no link was used" : text;
}

/// Cables that have carried something, in either direction.
std::vector<std::array<int, 2>> used_links(const sim::network& net) {
  std::set<std::array<int, 2>> used;
  for (route::link_id l = 0; l < net.topology().links(); ++l) {
    if (net.carried()[l] != 0) {
      const auto [one, other] = std::minmax({net.topology().from(l), net.topology().to(l)});
      used.insert({static_cast<int>(one), static_cast<int>(other)});
    }
  }
  return {used.begin(), used.end()};
}

/// "ranks waited for 71 % of that time: MPI_Recv 41 %, MPI_Init 30 %"; "" if they have not.
std::string waits_text(const sim::totals& all, int ranks) {
  constexpr std::size_t most = 5;
  const double whole = static_cast<double>(all.virtual_ns) * ranks;
  const auto share = [whole](std::int64_t ns) {
    char text[16];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * static_cast<double>(ns) / whole);
    return std::string(text);
  };
  std::int64_t sum = 0;
  std::int64_t rest = 0;
  std::string calls;
  for (std::size_t i = 0; i < all.waits.size(); ++i) {
    const sim::wait_total& each = all.waits[i];
    sum += each.ns;
    if (i < most) {
      calls += (i == 0 ? ": " : ", ") + each.call + " " + share(each.ns);
    } else {
      rest += each.ns;
    }
  }
  return sum == 0 || whole == 0 ? ""
                                : "ranks waited for " + share(sum) + " of the virtual time" +
                                      calls + (rest != 0 ? ", others " + share(rest) : "");
}

}  // namespace

simulation::simulation(run_options& options)
    : options_(options),
      ranks_(options.ranks()),
      bytes_(vw::bytes_for(ranks_)),
      memory_(boot::make_shared_memory("world")),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check_memory(ranks_);
  const int nodes = (ranks_ + options.ranks_per_node - 1) / options.ranks_per_node;
  auto net = std::make_unique<sim::network>(sim::parse_network(options.network, nodes), ranks_,
                                            options.ranks_per_node);
  SINEW_CHECK(
      static_cast<bool>(bell_) && ::ftruncate(memory_.get(), static_cast<off_t>(bytes_)) == 0,
      "the memory of the simulated network cannot be made", base::system_reason(errno),
      base::system_advice(errno));
  void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  SINEW_CHECK(at != MAP_FAILED, "the memory of the simulated network cannot be mapped",
              base::system_reason(errno), base::system_advice(errno));
  mapped_ = static_cast<std::byte*>(at);
  simulator_ = std::make_unique<sim::simulator>(mapped_, ranks_, std::move(net),
                                                sim::choices{.seed = options.seed,
                                                             .compute = options.compute,
                                                             .patience_ns = patience_ns,
                                                             .preempt = options.preempt,
                                                             .survive = options.survive,
                                                             .faults = options.faults,
                                                             .longest_ns = options.longest_ns});
  (void)::fcntl(memory_.get(), F_SETFD, 0);
  if (options.facts_file >= 0) {  // all ranks and this process append to it
    (void)::fcntl(options.facts_file, F_SETFD, 0);
    (void)::fcntl(options.facts_file, F_SETFL, O_APPEND);
  }
  for (application& each : options.applications) {
    const auto set = [&each](const char* name, std::string value) {
      each.environment.emplace_back(name, std::move(value));
    };
    set(vw::descriptor_variable, std::to_string(memory_.get()));
    set("SINEW_FABRIC_NODES", std::to_string(ranks_ > 1 ? ranks_ : 0));
    set("SINEW_FABRIC_BACK_ENDS", "sim");
    set("SINEW_CORE_PROGRESS", "waiters");
    // One fiber at a time, in an order that is the same in each run; see poller::sleeps_at_once().
    set("SINEW_FIBER_WORKERS", "1");
    set("SINEW_THREADS_SLICES", "0");
    if (options.facts_file >= 0 || !options.matches.empty()) {
      set(p2p::forced_matches_variable, to_text(options.matches));
    }
    if (options.facts_file >= 0) {
      set(p2p::met_matches_variable, std::to_string(options.facts_file));
    }
  }
}

simulation::~simulation() {
  if (mapped_ != nullptr) {
    ::munmap(mapped_, bytes_);
  }
}

void simulation::serve(job& running) noexcept {
  const auto end_job = [this](std::string why) {
    why_ = std::move(why);
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
  };
  try {
    simulator_->run({.on_deadlock =
                         [&] {
                           const sim::totals& all = simulator_->result();
                           const std::string when = seconds_text(all.virtual_ns);
                           end_job(all.late ? "no end after " + when +
                                                  " of virtual time, ten times as long as usual"
                                            : "deadlock after " + when +
                                                  " of virtual time: every rank waits, and nothing "
                                                  "is under way (see above for what)");
                         },
                     .on_long_computing =
                         [](int rank, double seconds) {
                           std::fprintf(stderr,
                                        "sinew simulate: rank %d has computed for %.0f s without "
                                        "a call, and time stands still; --preempt lets it go on.\n",
                                        rank, seconds);
                         },
                     .on_death =
                         [&](int rank) {
                           if (options_.survive) {
                             running.tell_dead(rank);
                           } else {
                             end_job("rank " + std::to_string(rank) +
                                     " is cut off by links that have failed, and what it sent last "
                                     "is lost");
                           }
                         },
                     .on_notice =
                         [&](int rank, const fabric::header& words) {
                           running.tell_vote(rank, boot::unpacked({words.word[0], words.word[1]}));
                         }});
  } catch (const error& e) {
    end_job(e.what());
  } catch (const std::bad_alloc&) {
    end_job("the simulator has no memory left");
  }
}

int simulation::run(job& running) {
  running.end_when(bell_.get(), deadlock_code, [this] { return why_; });
  const std::int64_t began = now_ns();
  running.when_ranks_end([this](int rank, bool died) { simulator_->ended(rank, died); });
  std::thread server([&] { serve(running); });
  int code = 0;
  try {
    code = running.run();
  } catch (...) {
    simulator_->stop();
    server.join();
    throw;
  }
  simulator_->stop();
  server.join();
  const sim::totals& all = simulator_->result();
  const std::int64_t real_ns = now_ns() - began;
  std::fprintf(
      stderr,
      "sinew simulate: %s of virtual time%s, %s real; %llu messages, %llu bytes; %s; "
      "seed %llu, digest %016llx.\n",
      seconds_text(all.virtual_ns).c_str(),
      code == 0 || all.deadlock ? "" : " until the job ended early", seconds_text(real_ns).c_str(),
      static_cast<unsigned long long>(all.messages), static_cast<unsigned long long>(all.bytes),
      busiest_links(simulator_->model()).c_str(), static_cast<unsigned long long>(options_.seed),
      static_cast<unsigned long long>(all.digest));
  if (const std::string waits = waits_text(all, ranks_); !waits.empty()) {
    std::fprintf(stderr, "sinew simulate: %s.\n", waits.c_str());
  }
  if (!options_.picture.empty()) {
    draw();
  }
  if (options_.facts_file >= 0) {
    write_facts(options_.facts_file, {.virtual_ns = all.virtual_ns,
                                      .ranks = ranks_,
                                      .links = used_links(simulator_->model()),
                                      .stuck = all.deadlock || all.late,
                                      .cut_off = all.cut_off});
  }
  return code;
}

void simulation::draw() const {
  const sim::network& net = simulator_->model();
  const std::vector<std::uint64_t>& carried = net.carried();
  formats::write_file(
      options_.picture,
      load_picture(net.topology(), {{"simulated", {carried.begin(), carried.end()}}}, 0,
                   std::to_string(ranks_) + " ranks"));
}

command_page simulate_page() {
  command_page page = run_page();
  page.name = "simulate";
  page.summary = "starts a job in virtual time, on the nodes of a simulated network";
  page.text =
      "The same as sinew run --simulate. Ranks are processes of this machine; what they see of\n"
      "time is virtual, and the same program, network and seed give the same run, as long as\n"
      "computing takes no time (--compute none). NETWORK is what sinew route takes: torus:8x8x8,\n"
      "mira:1024, fattree:2;4,4;1,2;1,2, a file (default: one switch). Behind it may stand\n"
      "speeds=bgq|tofu|qdr|edr|ethernet or a file that --calibrate has written, and in ns and\n"
      "GB/s: send, receive, latency, hop, rate, injection, gap, node-latency, node-rate,\n"
      "memory-rate. At the end stand times, messages, and a digest of\n"
      "all that came. If all ranks wait and nothing is under way the job is dead: each says what\n"
      "it waits for, and the exit code is 1.";
  return page;
}

command_page explore_page() {
  command_page page = run_page();
  page.name = "explore";
  page.summary =
      "runs a job in virtual time again and again, and looks for a run that ends otherwise";
  page.text =
      "As sinew simulate, with the seeds 1, 2, ... in turn (--runs N: default 1000), as many at a\n"
      "time as there are processors. Each seed varies delays, and which of two messages comes\n"
      "first. It stops at the first run whose exit code differs from that of the run that varies\n"
      "nothing (a wrong result that the program notices, a crash, a deadlock), or with\n"
      "--same-output whose ranks print something else, shows what that run printed, and the\n"
      "command that repeats it. With SINEW_MPI_CHECK=1 wrong calls end a run, too.\n"
      "Receives and probes from any source are steered: for each sender that one could have met\n"
      "there is a run in which it does, and at the end it is told how many were seen.\n"
      "With --faults each seed also draws a rank that dies, and when: then the job is to end with\n"
      "137, or with --survive as usual; or a rank that is slow for a while.\n\n"
      "exit code: 0 all runs ended alike; 1 one did not; 130 interrupted.";
  return page;
}

}  // namespace sinew::tool
