// SPDX-License-Identifier: BSD-3-Clause
#include "core/nodes.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::core {
namespace {

// What is published: the address of each rank, which is read by whoever talks to it first; for each
// node what rank 0 gathers; and what rank 0 makes of that, for all.
constexpr const char* job_key = "net-job";

std::string node_key(int node) { return "net-node-" + std::to_string(node); }
std::string address_key(job_rank rank) { return "net-" + to_string(rank); }

std::string read_value(boot::session& session, const std::string& key, const std::string& whose) {
  const std::optional<std::string> value = session.get(key);
  SINEW_CHECK(value.has_value(), whose + " has published nothing about its network",
              "its value is not in the launcher's table",
              "does it run the same program with the same version of Sinew?");
  return *value;
}

/// Whether ranks are crowded, and what they run.
struct node_facts {
  bool crowded;
  std::string version;

  [[nodiscard]] std::string text() const { return (crowded ? "c " : "- ") + version; }
};

/// What `theirs` says, which must run what `ours` does.
node_facts compared(const std::string& theirs, const node_facts& ours, const std::string& whose) {
  const node_facts read{theirs.starts_with('c'), theirs.size() > 2 ? theirs.substr(2) : ""};
  SINEW_CHECK(read.version == ours.version, "cannot connect to " + whose,
              "it runs Sinew " + read.version + ", and this rank " + ours.version,
              "install the same Sinew and UCX on all nodes");
  return read;
}

/// Whether some node of the job is crowded: the same answer on all ranks. That all run the same is
/// checked at that. Three messages and two fences a rank, and one message a node of rank 0.
bool agree(boot::session& session, const node_facts& mine) {
  const boot::place& at = session.where();
  if (at.local_rank == 0) {
    session.put(node_key(at.node), mine.text());
  }
  session.fence();
  if (at.rank == 0) {
    node_facts all = mine;
    for (int node = 0; node < at.nodes; ++node) {
      const std::string whose = "node " + std::to_string(node);
      const std::string text = read_value(session, node_key(node), whose);
      all.crowded = compared(text, mine, whose).crowded || all.crowded;
    }
    session.put(job_key, all.text());
  }
  session.fence();
  return compared(read_value(session, job_key, "rank 0"), mine, "rank 0").crowded;
}

/// Only shared memory has places for ranks that are started while the job runs.
void check_start(bool of_the_start, const char* network) {
  SINEW_CHECK(of_the_start, "a rank that was started while the job runs cannot be reached",
              std::string("all messages go by ") + network + " (SINEW_FABRIC_BACK_ENDS)",
              "let SINEW_FABRIC_BACK_ENDS name shm, too");
}

struct opened_far {
  std::unique_ptr<fabric::network_endpoint> endpoint;
  bool crowded;
  std::string network;
};

/// `alone`: it also carries the messages of this node.
opened_far open_far(boot::session& session, bool many, bool crowded,
                    std::span<const fabric::back_end> from, bool alone) {
  const boot::place& at = session.where();
  const fabric::pairing tags = fabric::wanted_pairing();
  SINEW_CHECK(tags == fabric::pairing::none || session.survivors() == nullptr,
              "SINEW_NET_MATCHING does not go together with --survive",
              "UCX does not tell of dead ranks where an adapter matches messages",
              "leave out one of them");
  const auto net = open_network(
      from, {.ranks = at.reach(),
             .threads = many,
             .between_nodes_only = !alone,
             .on_loss = [&session](job_rank lost,
                                   const auto& why) { return session.report_loss(lost, why); },
             .survives = session.survivors() != nullptr,
             .tags = tags,
             .batches = fabric::wants_batches()});
  session.put(address_key(at.rank), net->address());
  const bool matches = net->tags() != fabric::pairing::none;
  const std::string version = net->version();
  const bool some_crowded =
      agree(session, {crowded, std::string(build_id) + " with " + version +
                                   (matches ? " that matches messages" : "")});
  const char* const name = fabric::choose(from, fabric::reach::job).name;
  const auto addresses = [&session, name](job_rank peer) {
    check_start(peer.below(session.where().size), name);
    return read_value(session, address_key(peer), "rank " + to_string(peer));
  };
  return {net->connect(at.rank, addresses, {}), some_crowded, version};
}

/// The ranks of one node, in blocks of consecutive ranks, as if each block were a node.
class pretended final : public boot::session {
 public:
  pretended(std::unique_ptr<boot::session> real, int nodes)
      : real_(std::move(real)), place_(real_->where()) {
    SINEW_EXPECT(nodes >= 2);
    const boot::place& at = real_->where();
    const int each = (at.local_size + nodes - 1) / nodes;
    first_ = at.local_rank.value() / each * each;
    const int end = std::min(first_ + each, at.local_size);
    place_.local_rank = local_rank{at.local_rank.value() - first_};
    place_.local_size = end - first_;
    place_.local_ranks.assign(at.local_ranks.begin() + first_, at.local_ranks.begin() + end);
    place_.node = at.local_rank.value() / each;
    place_.nodes = (at.local_size + each - 1) / each;
    place_.node_of.clear();
    for (int r = 0; r < at.size; ++r) {
      place_.node_of.push_back(r / each);
    }
    place_.hosts.clear();
    place_.spawning = {};
    // All blocks share the processors: each thinks that it has its share of them.
    const long all = at.local_cpus > 0 ? at.local_cpus : sysconf(_SC_NPROCESSORS_ONLN);
    place_.local_cpus = std::max(1, static_cast<int>(all * place_.local_size / at.local_size));
    SINEW_ENSURE(place_.local_rank.below(place_.local_size));
  }

  [[nodiscard]] const boot::place& where() const override { return place_; }
  void put(const std::string& key, const std::string& value) override { real_->put(key, value); }
  [[nodiscard]] std::optional<std::string> get(const std::string& key) override {
    return real_->get(key);
  }
  void fence() override { real_->fence(); }
  [[nodiscard]] bool publish(const std::string& name, const std::string& value) override {
    return real_->publish(name, value);
  }
  [[nodiscard]] std::optional<std::string> lookup(const std::string& name) override {
    return real_->lookup(name);
  }
  [[nodiscard]] bool unpublish(const std::string& name) override { return real_->unpublish(name); }
  /// Every block asks for the same size, whatever its own.
  [[nodiscard]] std::byte* map_node_memory(std::size_t bytes_per_rank) override {
    return real_->map_node_memory(bytes_per_rank) +
           static_cast<std::size_t>(first_) * bytes_per_rank;
  }
  [[nodiscard]] std::byte* map_node_heap(std::size_t bytes_per_rank) override {
    if (place_.local_size == 1) {  // it shares it with nobody, and may not have mapped the node's
      heap_ = boot::memory_mapping::anonymous(bytes_per_rank);
      return heap_.base();
    }
    return real_->map_node_heap(bytes_per_rank) + static_cast<std::size_t>(first_) * bytes_per_rank;
  }
  [[noreturn]] void abort(int code, std::string_view why) override {
    real_->abort(code, why);
    std::abort();  // not reached; gcc does not know it of a virtual function
  }
  void finalize() override {
    finalized_ = true;
    real_->finalize();
  }
  void resume() override {
    real_->resume();
    finalized_ = real_->finalized();
  }
  [[nodiscard]] std::vector<job_rank> absent() const override {
    std::vector<job_rank> ours = real_->absent();
    std::erase_if(ours, [this](job_rank each) { return !place_.is_near(each); });
    return ours;
  }
  void depart() noexcept override { real_->depart(); }
  void tell_remark(const std::string& text) override { real_->remark(text); }
  [[nodiscard]] bool report_loss(job_rank lost, const std::string& why) noexcept override {
    return real_->report_loss(lost, why);
  }
  [[nodiscard]] bool others_have_left() noexcept override { return real_->others_have_left(); }
  [[nodiscard]] bool asks_for_waits() const noexcept override { return real_->asks_for_waits(); }
  [[nodiscard]] int take_question() noexcept override { return real_->take_question(); }
  void tell_wait(const boot::wait_report& report) noexcept override { real_->tell_wait(report); }
  [[nodiscard]] boot::survival* survivors() noexcept override { return real_->survivors(); }

 private:
  std::unique_ptr<boot::session> real_;
  boot::place place_;
  boot::memory_mapping heap_;
  int first_ = 0;  ///< local rank at which our block begins
};

long processors_of(const boot::place& at) {
  return at.local_cpus > 0 ? at.local_cpus : sysconf(_SC_NPROCESSORS_ONLN);
}

/// The same on every rank: blocks may differ by one rank, but share one mapping.
std::size_t node_bytes_per_rank(const boot::place& at, const fabric::open_on_node& by) {
  if (at.spawning.count != 0) {
    return by.bytes_per_rank(at.spawning.count, at.spawning.started);
  }
  std::size_t most = by.bytes_per_rank(at.local_size, 0);
  for (int n = 1; fabric::pretended_nodes() != 0 && n <= at.size; ++n) {
    most = std::max(most, by.bytes_per_rank(n, 0));
  }
  return most;
}

std::unique_ptr<fabric::endpoint> open_near(boot::session& session, bool many,
                                            const fabric::open_on_node& by) {
  const boot::place& at = session.where();
  fabric::node_memory where{};
  where.bytes_per_rank = node_bytes_per_rank(at, by);
  where.base = session.map_node_memory(where.bytes_per_rank);
  where.rank = at.rank;
  where.local_rank = at.local_rank;
  where.local_ranks = at.local_ranks;
  if (const boot::spawn_places& all = at.spawning; all.count != 0) {
    where.started = all.started;
    where.local_ranks.resize(static_cast<std::size_t>(all.count));
    std::iota(where.local_ranks.begin(), where.local_ranks.end(), job_rank{0});
    for (std::size_t i = 0; i < all.fellows.size(); ++i) {
      where.tenants.emplace_back(all.fellows[i], all.tenants[i]);
      where.tenant = all.fellows[i] == at.rank ? all.tenants[i] : where.tenant;
    }
  }
  where.crowded = is_crowded(at);
  return by.open(where, many);
}

}  // namespace

bool is_crowded(const boot::place& at) {
  // Whoever has spawned this rank runs here, too.
  return at.local_size + (at.spawned() ? at.spawning.started : 0) > processors_of(at);
}

bool was_crowded(const boot::place& at) {
  return (at.spawned() ? at.spawning.started : at.local_size) > processors_of(at);
}

std::unique_ptr<boot::session> pretend_nodes(std::unique_ptr<boot::session> real) {
  const int nodes = fabric::pretended_nodes();
  const boot::place& at = real->where();
  if (nodes == 0 || at.local_size == 1 || at.local_size != at.size) {
    return real;
  }
  return std::make_unique<pretended>(std::move(real), nodes);
}

std::shared_ptr<fabric::network> open_network(std::span<const fabric::back_end> from,
                                              const fabric::network_options& options) {
  const fabric::back_end& by = fabric::choose(from, fabric::reach::job);
  return std::get<fabric::open_network>(by.open)(options);
}

opened open_endpoint(boot::session& session, threading threads,
                     std::span<const fabric::back_end> from) {
  const boot::place& at = session.where();
  const bool many = threads == threading::many;
  const bool crowded = is_crowded(at);
  const fabric::back_end& by =
      fabric::choose(from, at.reach() == 1 ? fabric::reach::process : fabric::reach::node);
  if (const auto* const open = std::get_if<fabric::open_in_process>(&by.open)) {
    return {std::move((*open)(1, many).front()), crowded};
  }
  if (const auto* const open = std::get_if<fabric::open_on_node>(&by.open)) {
    // The near side first: who fails there has published no address.
    auto near = open_near(session, many, *open);
    if (at.local_size == at.size) {
      return {std::move(near), crowded};
    }
    opened_far far = open_far(session, many, crowded, from, false);
    return {fabric::join(std::move(near), at.local_ranks, std::move(far.endpoint)), far.crowded,
            far.network};
  }
  check_start(!at.spawned(), by.name);
  opened_far far = open_far(session, many, crowded, std::span(&by, 1), true);
  return {std::move(far.endpoint), far.crowded, far.network, true};
}

std::string describe(const boot::place& at, const opened& by) {
  Dl_info here{};
  const bool known = ::dladdr(reinterpret_cast<const void*>(&is_crowded), &here) != 0;
  std::string text = std::string("Sinew ") + build_id + " from " +
                     (known && here.dli_fname != nullptr ? here.dli_fname : "an unknown file");
  text += "; " + std::to_string(at.size) + (at.size == 1 ? " rank" : " ranks") + " on " +
          std::to_string(at.nodes) + (at.nodes == 1 ? " node: " : " nodes: ");
  if (at.hosts.empty()) {
    char host[256] = {};
    text += ::gethostname(host, sizeof host - 1) == 0 ? host : "";
  }
  for (const std::string& host : at.hosts) {
    text += (&host == &at.hosts.front() ? "" : ", ") + host;
  }
  text +=
      std::string("; transports: ") +
      (by.by_network_alone  ? by.network
       : at.local_size == 1 ? "none on this node"
                            : "shared memory on a node") +
      (at.local_size > 1 && by.endpoint->bounds().direct_copy ? ", with process_vm_readv" : "") +
      (by.network.empty() || by.by_network_alone ? "" : ", " + by.network + " between nodes");
  const std::vector<int> cpus = topology::usable_cpu_list();
  const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
  return text + "; rank " + to_string(at.rank) + " may use " +
         (static_cast<long>(cpus.size()) < all ? "processors " + base::ranges_text(cpus) + " of "
                                               : "all ") +
         std::to_string(all) + " processors";
}

}  // namespace sinew::core
