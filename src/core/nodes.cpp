#include "core/nodes.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/log.hpp"
#include "sinew/fabric/network.hpp"

namespace sinew::core {
namespace {

/// Bytes of an address in one value: launchers carry values of about 1000 characters.
constexpr std::size_t part_bytes = 400;
constexpr std::string_view digits = "0123456789abcdef";

std::string key_of(job_rank rank, std::size_t part) {
  return "net-" + to_string(rank) + "-" + std::to_string(part);
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

/// False if the text is not what hexadecimal() writes.
bool append_bytes(std::string& to, std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const std::size_t high = digits.find(text[i]);
    const std::size_t low = digits.find(text[i + 1]);
    if (high == digits.npos || low == digits.npos) {
      return false;
    }
    to += static_cast<char>(high << 4 | low);
  }
  return text.size() % 2 == 0;
}

std::string version_of(const fabric::network& net) {
  return std::string(build_id) + " with " + net.version();
}

/// First value: how many parts, whether the node is crowded, the version; then the parts.
void publish_address(boot::session& session, const fabric::network& net) {
  const std::string& address = net.address();
  const std::size_t parts = (address.size() + part_bytes - 1) / part_bytes;
  const job_rank rank = session.where().rank;
  session.put(key_of(rank, 0), std::to_string(parts) +
                                   (is_crowded(session.where()) ? " c " : " - ") + version_of(net));
  for (std::size_t i = 0; i < parts; ++i) {
    session.put(key_of(rank, i + 1),
                hexadecimal(std::string_view(address).substr(i * part_bytes, part_bytes)));
  }
}

std::string read_value(boot::session& session, job_rank rank, std::size_t part) {
  const std::optional<std::string> value = session.get(key_of(rank, part));
  SINEW_CHECK(value.has_value(), "rank " + to_string(rank) + " has published no network address",
              "its value is not in the launcher's table",
              "does it run the same program with the same version of Sinew?");
  return *value;
}

/// What a rank on another node has published.
struct far_rank {
  std::string address;
  bool crowded;
};

far_rank read_rank(boot::session& session, job_rank rank, const std::string& version) {
  const std::string first = read_value(session, rank, 0);
  const std::size_t space = first.find(' ');
  const std::string theirs = space + 3 < first.size() ? first.substr(space + 3) : "";
  SINEW_CHECK(theirs == version, "cannot connect to rank " + to_string(rank),
              "it runs Sinew " + theirs + ", and this rank " + version,
              "install the same Sinew and UCX on all nodes");
  const unsigned long parts = std::stoul(first);
  far_rank all{"", first[space + 1] == 'c'};
  for (std::size_t i = 1; i <= parts; ++i) {
    SINEW_CHECK(append_bytes(all.address, read_value(session, rank, i)),
                "the network address of rank " + to_string(rank) + " makes no sense",
                "it is no hexadecimal number", "");
  }
  SINEW_ENSURE(!all.address.empty());
  return all;
}

std::unique_ptr<fabric::network_endpoint> open_far(boot::session& session, bool many,
                                                   bool& crowded) {
  const boot::place& at = session.where();
  const auto net = fabric::open_network({.ranks = at.size, .threads = many});
  publish_address(session, *net);
  session.fence();
  const std::string version = version_of(*net);
  auto table = std::make_shared<fabric::address_table>(static_cast<std::size_t>(at.size));
  for (job_rank r = 0; r.below(at.size); ++r) {
    if (std::find(at.local_ranks.begin(), at.local_ranks.end(), r) == at.local_ranks.end()) {
      far_rank theirs = read_rank(session, r, version);
      (*table)[r.index()] = std::move(theirs.address);
      crowded = crowded || theirs.crowded;
    }
  }
  return net->connect(at.rank, std::move(table));
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
  [[nodiscard]] std::vector<local_rank> absent() const override {
    std::vector<local_rank> ours;
    for (const local_rank local : real_->absent()) {
      const int number = local.value() - first_;
      if (number >= 0 && number < place_.local_size) {
        ours.push_back(local_rank{number});
      }
    }
    return ours;
  }
  void depart() noexcept override { real_->depart(); }
  [[nodiscard]] bool others_have_left() noexcept override { return real_->others_have_left(); }

 private:
  std::unique_ptr<boot::session> real_;
  boot::place place_;
  int first_ = 0;  ///< local rank at which our block begins
};

/// The same on every rank: blocks may differ by one rank, but share one mapping.
std::size_t node_bytes_per_rank(const boot::place& at) {
  std::size_t most = fabric::shm_bytes_per_rank(at.local_size);
  for (int n = 1; fabric::pretended_nodes() != 0 && n <= at.size; ++n) {
    most = std::max(most, fabric::shm_bytes_per_rank(n));
  }
  return most;
}

std::unique_ptr<fabric::endpoint> open_near(boot::session& session, bool many) {
  const boot::place& at = session.where();
  fabric::node_memory where{};
  where.bytes_per_rank = node_bytes_per_rank(at);
  where.base = session.map_node_memory(where.bytes_per_rank);
  where.rank = at.rank;
  where.local_rank = at.local_rank;
  where.local_ranks = at.local_ranks;
  where.crowded = is_crowded(at);
  return fabric::open_shm(where, many);
}

}  // namespace

bool is_crowded(const boot::place& at) {
  const long cpus = at.local_cpus > 0 ? at.local_cpus : sysconf(_SC_NPROCESSORS_ONLN);
  return at.local_size > cpus;
}

std::unique_ptr<boot::session> pretend_nodes(std::unique_ptr<boot::session> real) {
  const int nodes = fabric::pretended_nodes();
  const boot::place& at = real->where();
  if (nodes == 0 || at.local_size == 1 || at.local_size != at.size) {
    return real;
  }
  return std::make_unique<pretended>(std::move(real), nodes);
}

opened open_endpoint(boot::session& session, threading threads) {
  const boot::place& at = session.where();
  const bool many = threads == threading::many;
  bool crowded = is_crowded(at);
  if (at.size == 1) {
    return {std::move(fabric::open_inproc(1, many).front()), crowded};
  }
  // The near side first: who fails there has published no address.
  auto near = open_near(session, many);
  if (at.local_size == at.size) {
    return {std::move(near), crowded};
  }
  auto far = open_far(session, many, crowded);
  return {fabric::join(std::move(near), at.local_ranks, std::move(far)), crowded};
}

}  // namespace sinew::core
