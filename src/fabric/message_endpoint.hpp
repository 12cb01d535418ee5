// SPDX-License-Identifier: BSD-3-Clause
// The base of back-ends that carry messages and nothing else: puts, gets and atomics are requests
// that the owner of the memory carries out in its progress().
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "fabric/exposures.hpp"
#include "fabric/service.hpp"
#include "sinew/fabric/network.hpp"

namespace sinew::fabric {

/// Over rank(), size(), bounds(), name(), send_medium(), wake() of the back-end, and the two calls
/// that stand below. Its send_medium() takes handler_id up to max_handlers, included.
class message_endpoint : public network_endpoint {
 public:
  void set_handler(handler_id id, handler function, void* context) final;

  remote_key expose(void* address, std::size_t bytes) final;
  void withdraw(const remote_key& key) final;
  status put(job_rank peer, const void* local, const remote_address& to, std::size_t bytes,
             callback when_done) final;
  status get(job_rank peer, void* local, const remote_address& from, std::size_t bytes,
             callback when_done) final;
  status atomic(job_rank peer, atomic_op op, const remote_address& at, std::size_t width,
                std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                callback when_done) final;
  status flush(job_rank peer) final;

  int progress(int budget) final;
  void sleep(std::uint64_t timeout_ns) final;
  /// A back-end that goes on when ranks die calls it from its own.
  void give_up(job_rank peer) override;

 protected:
  /// Hands messages that have come to deliver(), at most `budget`; returns how many. A message for
  /// which that is not done stays the next of its sender. Holds no lock that send_medium() takes.
  virtual int take(int budget) = 0;
  /// What sleep() is to do once there is nothing to do here.
  virtual void rest(std::uint64_t timeout_ns) = 0;

  [[nodiscard]] status deliver(handler_id id, const arrival& m) noexcept;

 private:
  static constexpr handler_id own = max_handlers;  ///< of the messages below
  static constexpr std::size_t most_requests = 256;

  enum class kind : std::uint8_t { put, put_done, get, data, atomic, result };
  /// What a get or an atomic asks for, behind its address and key.
  struct question {
    std::uint64_t bytes = 0;
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    std::uint32_t request = 0;
    std::uint8_t op = 0;  ///< atomic_op
  };
  /// A get or an atomic of ours.
  struct request {
    job_rank peer = no_job_rank;  ///< then this entry is free
    std::byte* local = nullptr;
    std::size_t left = 0;
    callback when_done{nullptr, nullptr};
  };
  /// What is still to be sent: of a long put, or an answer.
  struct stream {
    job_rank to;
    kind what;
    header head;
    const std::byte* from;
    std::size_t left;
    std::uint64_t result = 0;  ///< of an atomic
    callback when_done{nullptr, nullptr};
  };
  /// Pieces of puts to and from a rank.
  struct put_counts {
    std::uint64_t sent = 0;
    std::uint64_t known_done = 0;  ///< of `sent`
    std::uint64_t done = 0;        ///< of those that have come
    std::uint64_t told = 0;        ///< of `done`
  };

  [[nodiscard]] status ask(job_rank peer, kind what, const remote_address& at, std::byte* local,
                           std::size_t left, question q, callback when_done);
  [[nodiscard]] bool send_on(stream& s, int& sent);
  [[nodiscard]] int send_all();
  void serve(const arrival& m);
  void serve_question(const arrival& m, kind what);
  void take_answer(const arrival& m, kind what);
  void finish(request& r);

  service handlers_[max_handlers];
  std::mutex mutex_;  ///< guards what follows; held while messages are sent
  exposures exposed_;
  std::vector<request> requests_{most_requests};
  std::deque<stream> streams_;
  std::map<job_rank, put_counts> puts_;
  std::set<job_rank> given_up_;
  std::vector<callback> finished_;
};

}  // namespace sinew::fabric
