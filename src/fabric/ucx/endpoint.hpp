// SPDX-License-Identifier: BSD-3-Clause
// A rank's endpoint over UCX. Calls of UCX, and all that its callbacks touch, are under one lock;
// handlers and callbacks of the fabric's users run outside of it, so they may send.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/exposures.hpp"
#include "fabric/service.hpp"
#include "fabric/ucx/flusher.hpp"
#include "fabric/ucx/peer.hpp"
#include "fabric/ucx/worker.hpp"
#include "fabric/vain_wakes.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"

namespace sinew::fabric::ucx {

class ucx_endpoint final : public network_endpoint, private tagged {
 public:
  struct seat {
    job_rank rank;
    int ranks;
    bool threads;
    bool survives;  ///< a rank that is lost does not end this one
    bool batches;   ///< short messages may be gathered
  };
  /// `names`: without functions where all ranks are of one job.
  ucx_endpoint(std::shared_ptr<worker> by, seat at, address_source addresses, loss_listener on_loss,
               rank_names names);
  ~ucx_endpoint() override;

  [[nodiscard]] job_rank rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(peers_.size()); }
  [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] const char* name() const noexcept override { return "ucx"; }
  void set_handler(handler_id id, handler function, void* context) override;

  status send_short(job_rank peer, handler_id id, header head, const void* data,
                    std::size_t size) override;
  status send_medium(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override;
  status send_lazily(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override;
  status reserve(job_rank peer, packet& out) override;
  status commit(job_rank peer, handler_id id, header head, packet& filled,
                std::size_t size) override;
  [[nodiscard]] std::size_t longest_to(job_rank /*peer*/) const override { return max_long_bytes; }
  /// Pieces need no answer, which would come a round trip later.
  [[nodiscard]] bool streams_to(job_rank /*peer*/) override { return true; }

  remote_key expose(void* address, std::size_t bytes) override;
  void withdraw(const remote_key& key) override;
  status put(job_rank peer, const void* local, const remote_address& to, std::size_t bytes,
             callback when_done) override;
  status get(job_rank peer, void* local, const remote_address& from, std::size_t bytes,
             callback when_done) override;
  status atomic(job_rank peer, atomic_op op, const remote_address& at, std::size_t width,
                std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                callback when_done) override;
  status flush(job_rank peer) override;

  int progress(int budget) override;
  void sleep(std::uint64_t timeout_ns) override;
  void wake() override;
  void leave() override;
  void give_up(job_rank peer) override;
  [[nodiscard]] std::optional<traffic> far_traffic() override;
  [[nodiscard]] tagged* tags() noexcept override { return tags_ == pairing::none ? nullptr : this; }

  [[nodiscard]] int event_descriptor() const noexcept override { return by_->event_descriptor(); }
  [[nodiscard]] bool prepare_sleep() override;
  [[nodiscard]] std::uint64_t happened() const noexcept override { return happened_; }
  void open_way(job_rank peer) override;
  void forget(job_rank peer) override;
  [[nodiscard]] std::string transports_to(job_rank peer) override;

 private:
  enum class who : std::uint8_t { sender, poller };
  /// The lock for a scope; nothing in a job without threads. The poller lets senders go first: it
  /// would otherwise take the lock again before a sender that sleeps on it is awake.
  class guard {
   public:
    explicit guard(ucx_endpoint& of, who is = who::sender) noexcept : of_(of) {
      if (of_.threads_) {
        of_.enter(is);
      }
    }
    ~guard() {
      if (of_.threads_) {
        of_.lock_.release();
      }
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    ucx_endpoint& of_;
  };

  /// A get or atomic of ours that another rank works on.
  struct request {
    void* local = nullptr;
    std::size_t bytes = 0;
    job_rank peer = no_job_rank;  ///< then this entry is free
    kind what = kind::get;
    callback when_done{nullptr, nullptr};
    ucx_endpoint* home = nullptr;
    bool fetched = false;  ///< UCX brings its data and will call back
  };
  /// What another rank has asked for and is sent from progress(): callbacks of UCX do not send.
  struct answer {
    peer* to;
    kind what;
    std::uint32_t request;
    const void* data;
    std::size_t bytes;
    std::uint64_t old_value;
  };
  /// A message with its payload, as UCX hands it over.
  struct delivery {
    const wire& head;
    void* data;
    std::size_t bytes;
    bool rendezvous;  ///< `data` is UCX's name for what has to be fetched
  };

  // --- messages.cpp ---
  status send(job_rank to, handler_id id, header head, const void* data, std::size_t size,
              outgoing* filled, bool lazily = false);
  status refuse(retry_reason why) noexcept;
  void send_to_self(peer& self, handler_id id, header head, const void* data, std::size_t size);
  void arrived_message(const delivery& d);
  void sort(chain<incoming> news);
  [[nodiscard]] int handle(int budget);
  bool handle_next(peer& from);

  // --- batches.cpp ---
  [[nodiscard]] bool may_wait(const peer& to) const noexcept;
  void list_recent(peer& to);
  status add_to_batch(peer& to, handler_id id, header head, const void* data, std::size_t size);
  void send_batch(peer& to);
  void send_batches();
  static void flush_batches(void* self) noexcept;
  bool handle_item(const peer& from, incoming& batch);

  // --- transfers.cpp ---
  [[nodiscard]] int take_request(const request& what);
  void arrived_put(peer& from, const delivery& d);
  void arrived_get(peer& from, const delivery& d);
  void arrived_atomic(peer& from, const delivery& d);
  void arrived_answer(peer& from, const delivery& d);
  void fetch(const delivery& d, void* to, ucp_am_recv_data_nbx_callback_t then, void* context);
  void put_is_here(peer& from);
  void finish(request& r);
  void end_if_given_up(int index);
  static void on_put_here(void* ucx_request, ucs_status_t status, std::size_t length,
                          void* user_data);
  static void on_data_here(void* ucx_request, ucs_status_t status, std::size_t length,
                           void* user_data);

  // --- tags.cpp ---
  std::optional<ending> send(job_rank to, std::uint64_t key, const void* data, std::size_t bytes,
                             until when, operation& op) override;
  std::optional<ending> receive(std::uint64_t key, std::uint64_t mask, void* into, std::size_t room,
                                operation& op) override;
  std::optional<ending> receive(const waiting& taken, void* into, std::size_t room,
                                operation& op) override;
  [[nodiscard]] std::optional<waiting> take(std::uint64_t key, std::uint64_t mask) override;
  void drop(const waiting& taken) override;
  void cancel(operation& op) override;
  template <class Begin>
  [[nodiscard]] std::optional<ending> begin_receive(operation& op, const Begin& begin);
  static void on_tagged_sent(void* ucx_request, ucs_status_t status, void* user_data) noexcept;
  static void on_tagged_here(void* ucx_request, ucs_status_t status,
                             const ucp_tag_recv_info_t* what, void* user_data) noexcept;
  [[nodiscard]] int end_tagged();
  [[nodiscard]] bool flush_tagged();
  void drop_unreceived();

  // --- endpoint.cpp ---
  void enter(who is) noexcept {
    if ((is == who::poller && senders_.load(std::memory_order_relaxed) != 0) ||
        !lock_.try_acquire()) [[unlikely]] {
      enter_slowly(is);
    }
  }
  void enter_slowly(who is) noexcept;
  [[nodiscard]] peer& peer_of(job_rank rank) {
    SINEW_EXPECT(rank.below(size()));
    peer* const known = peers_[rank.index()].get();
    return known != nullptr ? *known : make_peer(rank);
  }
  [[nodiscard]] peer& make_peer(job_rank rank);
  [[nodiscard]] std::string address_of(const peer& p) const noexcept;
  [[nodiscard]] bool connect(peer& p);
  [[nodiscard]] ucs_status_t make_way(peer& p, const std::string& address) noexcept;
  [[nodiscard]] outgoing* take_packet(std::size_t bytes = 0) {
    return packets_.take(bytes, bytes <= max_medium_bytes ? most_packets : most_long_packets);
  }
  /// For answers, which are bounded by who asks.
  [[nodiscard]] outgoing* take_packet_surely();
  void post(peer& to, outgoing& o, const void* data, std::size_t size, bool eager);
  void sent(outgoing& o) noexcept;
  void note_counts(peer& from, const wire& head);
  void report_to(peer& to);
  [[nodiscard]] bool is_known(const peer& p) const noexcept;
  void post_counts(peer& to);
  void answer_all();
  [[nodiscard]] int end_transfers();
  void lose(peer& p, ucs_status_t why) noexcept;
  [[nodiscard]] bool outlives_others() const noexcept { return among_jobs() || survives_; }
  [[nodiscard]] bool among_jobs() const noexcept { return names_.number_of != nullptr; }
  [[nodiscard]] std::size_t head_bytes() const noexcept {
    return among_jobs() ? named_wire_bytes : sizeof(wire);
  }
  void close_way(peer& p) noexcept;
  /// UCX tells of the end of a peer, if it is asked to; but then no adapter pairs anything, nor
  /// does UCX 1.13 send until a message is taken.
  [[nodiscard]] bool hears_of_deaths() const noexcept { return tags_ == pairing::none; }
  void tell_lost();
  [[nodiscard]] bool all_acknowledged() const noexcept;
  void end_if_lost();
  void arrived(const delivery& d);
  static ucs_status_t on_arrival(void* self, const void* head, std::size_t head_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* how) noexcept;
  static void on_sent(void* ucx_request, ucs_status_t status, void* user_data) noexcept;
  static void on_lost(void* user_data, ucp_ep_h way, ucs_status_t why) noexcept;

  static constexpr std::size_t most_packets = 2048;
  static constexpr std::size_t most_long_packets = 256;

  std::shared_ptr<worker> by_;
  job_rank rank_;
  bool threads_;
  bool survives_;
  bool batches_;
  pairing tags_;
  limits bounds_{max_short_bytes, max_medium_bytes, false};
  address_source addresses_;
  loss_listener on_loss_;
  rank_names names_;
  service handlers_[max_handlers];
  int bell_ = -1;  ///< an event descriptor of our own: wake()

  base::lock lock_;
  /// Threads that want the lock, apart from the poller. A hint to it, so relaxed.
  std::atomic<int> senders_{0};

  // Under the lock.
  std::vector<std::unique_ptr<peer>> peers_;
  buffers<outgoing> packets_;
  buffers<incoming> records_;
  exposures exposed_;
  std::vector<request> requests_{most_requests};
  std::vector<std::uint32_t> free_requests_;
  chain<incoming> arrived_;
  std::vector<answer> answers_;
  std::vector<peer*> reports_due_;
  std::vector<peer*> recent_;  ///< those to whom a message was sent since the last progress()
  std::size_t open_batches_ = 0;
  std::vector<callback> finished_;
  struct ended_operation {
    operation* op;
    ending how;
  };
  std::vector<ended_operation> ended_;  ///< of tagged messages
  void* flushing_ = nullptr;            ///< UCX's request
  std::size_t in_flight_ = 0;           ///< packets that UCX still reads
  bool refused_ = false;                ///< some call has answered `retry`
  bool news_ = false;                   ///< and may do so
  bool asleep_ = false;
  bool leaving_ = false;
  peer* lost_ = nullptr;  ///< the first
  /// Where this rank survives them: those whose loss has not been told yet.
  std::vector<peer*> untold_;
  std::atomic<bool> any_untold_{false};  ///< a hint to the poller, who looks again; so relaxed
  std::int64_t lost_at_ns_ = 0;
  bool loss_told_ = false;
  bool others_judge_ = false;  ///< who heard of the loss ends the job

  // Of the thread that makes progress.
  std::uint64_t happened_ = 0;
  vain_wakes vain_;
  bool woken_ = false;  ///< the last sleep(), by the descriptor
  std::vector<peer*> ready_;
  std::vector<callback> finishing_;
  std::vector<ended_operation> ending_;
  chain<incoming> used_;
  bool report_now_ = false;  ///< handlers have made room which their senders are to know of now
  /// The last progress() has handled several messages: several answers may follow. A hint to
  /// senders, so relaxed.
  std::atomic<bool> many_came_{false};

  flusher flusher_{flush_batches, this};  ///< last: it uses the rest
};

}  // namespace sinew::fabric::ucx
