// SPDX-License-Identifier: BSD-3-Clause
// The ranks of `sinew info transports --hosts`: two on each host, which bounce 8 bytes between each
// two hosts, and between the two of each host. Rank 0 prints
//   host <boot id> <processors>
//   way <from> <to> <microseconds> <transports>
// with hosts by number, as the launcher counts nodes.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/retry.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/network.hpp"

namespace {

using sinew::job_rank;
using sinew::fabric::arrival;
using sinew::fabric::header;

/// What a message is, in the first word of its header; the second word holds a number.
enum class kind : std::uint64_t { ping, pong, describe, description, measure, measured, stop };

// Behind those of all modules.
constexpr sinew::fabric::handler_id own_handler = sinew::core::handlers::end;
static_assert(own_handler < sinew::fabric::max_handlers);
constexpr int warm_up = 50;  // trips
constexpr int batches = 15;
constexpr int most_trips = 200;               // in a batch
constexpr std::int64_t batch_ns = 4'000'000;  // about

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line.empty() ? "unknown" : line;
}

class prober {
 public:
  explicit prober(sinew::core::runtime& rt) : rt_(rt), net_(rt.endpoint()) {
    net_.set_handler(own_handler, on_arrival, this);
  }

  /// What every rank does until rank 0 says that it is over; rank 0 when it waits.
  template <class Ready>
  void serve_until(Ready ready) {
    while (!ready()) {
      await([&] { return ready() || pings_ != 0 || described_to_ || measured_for_ || stopped_; });
      if (pings_ != 0) {
        --pings_;
        send(pinged_by_, kind::pong);
      }
      if (described_to_) {
        described_to_ = false;
        send(sinew::job_rank{0}, kind::description, 0,
             first_line("/proc/sys/kernel/random/boot_id") + ' ' +
                 std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
      }
      if (measured_for_) {
        measured_for_ = false;
        const double us = latency_us(partner_);
        send(sinew::job_rank{0}, kind::measured, std::bit_cast<std::uint64_t>(us),
             sinew::fabric::transports_to(net_, partner_));
      }
    }
  }
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

  struct answer {
    double us;
    std::string text;
  };
  /// Rank 0 asks a rank, perhaps itself.
  answer ask(job_rank whom, kind what, job_rank about = job_rank{0}) {
    SINEW_EXPECT(rt_.rank() == 0);
    answered_ = false;
    send(whom, what, static_cast<std::uint64_t>(about.value()));
    serve_until([this] { return answered_; });
    return {std::bit_cast<double>(number_), text_};
  }
  void stop_all() {
    for (int r = 1; r < rt_.size(); ++r) {
      send(job_rank{r}, kind::stop);
    }
  }

 private:
  static sinew::status on_arrival(void* context, const arrival& m) noexcept {
    auto& self = *static_cast<prober*>(context);
    const std::uint64_t number = m.head.word[1];
    switch (static_cast<kind>(m.head.word[0])) {
      case kind::ping:
        ++self.pings_;
        self.pinged_by_ = m.source;
        break;
      case kind::pong:
        ++self.pongs_;
        break;
      case kind::describe:
        self.described_to_ = true;
        break;
      case kind::measure:
        self.measured_for_ = true;
        self.partner_ = job_rank{static_cast<int>(number)};
        break;
      case kind::description:
      case kind::measured:
        self.number_ = number;
        self.text_.assign(reinterpret_cast<const char*>(m.data), m.size);
        self.answered_ = true;
        break;
      case kind::stop:
        self.stopped_ = true;
        break;
    }
    return sinew::status::ok();
  }

  template <class Ready>
  void await(Ready ready) {
    rt_.wait_until([](void* r) { return (*static_cast<Ready*>(r))(); }, &ready);
  }

  void send(job_rank to, kind what, std::uint64_t number = 0, std::string_view text = {}) {
    SINEW_EXPECT(to.below(rt_.size()));
    const header head{{static_cast<std::uint64_t>(what), number}};
    sinew::core::retry_loop tries(rt_);
    while (!net_.send_medium(to, own_handler, head, text.data(), text.size()).done()) {
      tries.again();
    }
  }

  void trips(job_rank peer, int count) {
    for (int i = 0; i < count; ++i) {
      const int wanted = pongs_ + 1;
      send(peer, kind::ping, 0, "8 bytes.");
      await([&] { return pongs_ == wanted; });
    }
  }

  /// Half a round trip: the median of batches.
  double latency_us(job_rank peer) {
    trips(peer, warm_up);
    auto begin = sinew::now_ns();
    trips(peer, warm_up);
    const auto each = std::max<std::int64_t>((sinew::now_ns() - begin) / warm_up, 1);
    const int count = static_cast<int>(std::clamp<std::int64_t>(batch_ns / each, 1, most_trips));
    std::vector<double> us;
    for (int b = 0; b < batches; ++b) {
      begin = sinew::now_ns();
      trips(peer, count);
      us.push_back(static_cast<double>(sinew::now_ns() - begin) / count / 2e3);
    }
    std::nth_element(us.begin(), us.begin() + batches / 2, us.end());
    return us[batches / 2];
  }

  sinew::core::runtime& rt_;
  sinew::fabric::endpoint& net_;
  // Set by the handler, in this thread's progress.
  int pings_ = 0;
  int pongs_ = 0;
  job_rank pinged_by_ = sinew::no_job_rank;
  bool described_to_ = false;
  bool measured_for_ = false;
  job_rank partner_ = sinew::no_job_rank;
  bool answered_ = false;
  std::uint64_t number_ = 0;
  std::string text_;
  bool stopped_ = false;
};

/// The first two ranks of each host.
std::vector<std::vector<job_rank>> ranks_of_hosts(const sinew::boot::place& at) {
  std::vector<std::vector<job_rank>> all(static_cast<std::size_t>(at.nodes));
  for (int r = 0; r < at.size; ++r) {
    const int node = at.node_of.empty() ? 0 : at.node_of[static_cast<std::size_t>(r)];
    auto& here = all[static_cast<std::size_t>(node)];
    if (here.size() < 2) {
      here.push_back(job_rank{r});
    }
  }
  return all;
}

void tell(prober& p, const std::vector<std::vector<job_rank>>& hosts) {
  for (const auto& ranks : hosts) {
    SINEW_CHECK(ranks.size() == 2, "the hosts cannot be compared",
                "each must have two ranks of this job", "start it by `sinew info transports`");
    std::printf("host %s\n", p.ask(ranks[0], kind::describe).text.c_str());
  }
  for (std::size_t a = 0; a < hosts.size(); ++a) {
    for (std::size_t b = 0; b < hosts.size(); ++b) {
      // Bound to processors, the first and the second do not meet on one, whatever "host" means.
      const auto way = p.ask(hosts[a][0], kind::measure, hosts[b][1]);
      std::printf("way %zu %zu %.4g %s\n", a, b, way.us, way.text.c_str());
      std::fflush(stdout);
    }
  }
}

void run() {
  (void)sinew::settings::load_environment();
  const auto rt = sinew::core::runtime::open(sinew::boot::connect(), sinew::core::threading::one);
  const auto hosts = ranks_of_hosts(rt->session().where());
  {
    prober p(*rt);
    rt->session().fence();  // all have a handler
    if (rt->rank() == 0) {
      tell(p, hosts);
      p.stop_all();
    } else {
      p.serve_until([&p] { return p.stopped(); });
    }
    rt->leave();
  }
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "info-transports: %s\n", failure.what());
    return 1;
  }
}
