// SPDX-License-Identifier: BSD-3-Clause
// What brings messages to ranks of other nodes. A back-end that needs a library for that is a
// plugin, loaded when a job has a second node, so that jobs on one node neither need nor map it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {

/// Tells the address that a rank has published. Asked at the first message to that rank, so that
/// nobody keeps a table of all; by any thread, one at a time. May wait for the launcher. Throws
/// sinew::error where the rank has none. Among several jobs: empty of a rank that has sent a
/// message before this one was told of it.
using address_source = std::function<std::string(job_rank)>;

/// Among ranks of several jobs, which number each other each in its own way: messages carry the
/// name of their sender. Called by the thread that makes progress. Without functions: there is one
/// job.
struct rank_names {
  std::uint64_t own = 0;
  /// The number here of who has that name; no_job_rank if there is no room for one more.
  std::function<job_rank(std::uint64_t name)> number_of;
  /// It has ended, or cannot be reached any more, and all that it has sent has been handled. Once.
  std::function<void(job_rank)> lost;
};

/// A network's endpoint. What follows are abilities that a network need not have.
class network_endpoint : public endpoint {
 public:
  // To carry messages between nodes while another endpoint carries those of the node: a sleeper of
  // that one is woken by a file descriptor.

  /// Becomes readable when something arrives after a prepare_sleep() that answered true. To be
  /// polled only; it belongs to the endpoint. -1: there is none, and this endpoint has to carry all
  /// messages.
  [[nodiscard]] virtual int event_descriptor() const noexcept { return -1; }
  /// False: there is something for progress() to do, or a caller that got `retry` may try again.
  /// The thread that calls progress() only. Cold.
  [[nodiscard]] virtual bool prepare_sleep() { return true; }
  /// How much progress() has found to do so far: a descriptor that becomes readable while this does
  /// not grow is readable in vain. The thread that calls progress() only. Warm.
  [[nodiscard]] virtual std::uint64_t happened() const noexcept { return 0; }

  // Ranks of several jobs, that is, with names.

  /// Connects to `peer` now and not at the first message, so that its end is noticed from here on;
  /// nothing if it is connected. Any thread. Cold.
  virtual void open_way(job_rank /*peer*/) {}
  /// Nothing is kept any more of a rank that was lost: its number may be another's. The thread that
  /// calls progress() only. Cold.
  virtual void forget(job_rank /*peer*/) {}

  /// By which transports and devices messages go there, as the library names them: "tcp/eth0";
  /// several are joined by commas. Final once messages have gone both ways; empty before the first.
  /// Any thread. Cold.
  [[nodiscard]] virtual std::string transports_to(job_rank /*peer*/) { return name(); }
};

/// Who pairs tagged messages with receives: nobody; an adapter, if it can; if it cannot, the
/// network's library.
enum class pairing : std::uint8_t { none, by_adapter, by_library };

/// SINEW_NET_MATCHING. Cold.
[[nodiscard]] pairing wanted_pairing();

/// SINEW_NET_BATCH. Cold.
[[nodiscard]] bool wants_batches();

/// A network that this process has opened, and whose address it can tell the others.
class network {
 public:
  virtual ~network() = default;
  /// Bytes, not text.
  [[nodiscard]] virtual const std::string& address() const noexcept = 0;
  /// The library and its version. Ranks whose versions differ had better not talk.
  [[nodiscard]] virtual std::string version() const = 0;
  /// Who pairs what goes by its endpoints' tags(); none: they have none.
  [[nodiscard]] virtual pairing tags() const noexcept { return pairing::none; }
  /// The endpoint of rank `rank`, once. Connects to nobody yet: that is done at the first
  /// message to each. What `addresses` uses outlives the endpoint. With `names`, among ranks of
  /// several jobs: a rank that is lost does not end this one; a network that cannot do that throws.
  /// Throws. Cold.
  [[nodiscard]] virtual std::unique_ptr<network_endpoint> connect(job_rank rank,
                                                                  address_source addresses,
                                                                  rank_names names) = 0;
};

/// Told of the first rank that has been lost: true if whoever hears it finds out why, and ends the
/// job. Also of one that does not answer while this one connects; if it then does, an empty
/// `why` takes the word back. Any thread. Throws nothing.
using loss_listener = std::function<bool(job_rank lost, const std::string& why)>;

struct network_options {
  int ranks = 1;
  bool threads = false;
  /// Leave memory that ranks of one node share to others: the joint endpoint does.
  bool between_nodes_only = true;
  loss_listener on_loss = {};
  /// A rank that is lost does not end this one: endpoint::give_up() follows if it has died.
  bool survives = false;
  /// Whether endpoint::tags() are wanted.
  pairing tags = pairing::none;
  /// Short messages that follow each other may be gathered; only with `threads`.
  bool batches = true;
  // As the network's library names them. Empty: what the settings SINEW_NET_* and the environment
  // choose.
  std::string devices = {};
  std::string transports = {};
};

/// SINEW_FABRIC_NODES: as many nodes are pretended, if more than one; 0: none. Cold.
[[nodiscard]] int pretended_nodes();

/// Lets a rank that sleeps on `near` be woken by what comes to `far`.
class sleep_watch {
 public:
  virtual ~sleep_watch() = default;
  /// Before a sleep of `near`: false if `far` has something to do first. The thread that calls
  /// progress() of both only. Cold.
  [[nodiscard]] virtual bool prepare() = 0;
};
/// Both outlive it. Throws. Cold.
[[nodiscard]] std::unique_ptr<sleep_watch> watch_sleep(endpoint& near, network_endpoint& far);

/// One endpoint over two: `near` carries what goes to the ranks in `near_ranks` (this rank is one
/// of them), `far` all the rest. Handlers, order and sleep are as of one endpoint; transfers to far
/// ranks need their help. Throws where `far` has no event descriptor. Cold.
[[nodiscard]] std::unique_ptr<endpoint> join(std::unique_ptr<endpoint> near,
                                             const std::vector<job_rank>& near_ranks,
                                             std::unique_ptr<network_endpoint> far);

/// What an endpoint tells of its way to a rank: network_endpoint::transports_to() where that is by
/// the network, else the endpoint's own name ("shm"). Cold.
[[nodiscard]] std::string transports_to(endpoint& of, job_rank peer);

}  // namespace sinew::fabric
