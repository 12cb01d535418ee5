// SPDX-License-Identifier: BSD-3-Clause
// Ranks of other jobs that this rank has to do with (MPI_Comm_connect and its like). Each rank has
// numbers of its own for them, behind those of its job; between ranks they are named by residents.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/network.hpp"

namespace sinew::core {

/// A rank of any job, as others are told of it.
struct resident {
  std::uint64_t job = 0;     ///< tells jobs apart
  job_rank rank = 0;         ///< in that job
  std::uint32_t tenant = 0;  ///< which one of its place there
  std::string address;       ///< in the network between jobs; bytes
};

/// As bytes, appended to `to`; and back from the front of `text`, which gets shorter. Nothing if
/// they make no sense.
void append(std::string& to, const resident& who);
[[nodiscard]] std::optional<resident> take_resident(std::string_view& text);

/// The job of this rank, as residents have it. Any thread. Cold.
[[nodiscard]] std::uint64_t name_of_job(runtime& rt);
/// And which one of its place this rank is.
[[nodiscard]] std::uint32_t own_tenant(runtime& rt) noexcept;

/// One per rank, made when it first meets another job. Its messages go by the network's plugin, on
/// one node too. Any thread, unless said otherwise. Cold.
class outside {
 public:
  /// Numbers that a rank has for others at a time.
  static constexpr int room = 4096;

  /// Whoever carries messages: called by the thread that makes progress.
  struct user {
    void* context = nullptr;
    /// It is not there any more. What waits for it ends.
    void (*lost)(void* context, job_rank who) = nullptr;
    /// Nobody here refers to it any more: true if its number can be given to another one.
    bool (*forget)(void* context, job_rank who) = nullptr;
  };

  /// Null if this rank has met no other job.
  [[nodiscard]] static outside* of(runtime& rt) noexcept;
  /// Makes it; nothing goes through it before begin(). Once. Throws.
  outside(runtime& rt, user by);
  ~outside();
  outside(const outside&) = delete;
  outside& operator=(const outside&) = delete;
  /// From now on it takes part in progress, and of() finds it.
  void begin();

  [[nodiscard]] const resident& self() const noexcept { return self_; }
  [[nodiscard]] fabric::network_endpoint& endpoint() noexcept { return *endpoint_; }

  /// The number here of `who`, who can be sent messages from now on: its rank if it is of this job.
  /// Throws where there are no numbers left.
  [[nodiscard]] job_rank number_of(const resident& who);
  /// Of a rank of another job that has a number here.
  [[nodiscard]] resident who_is(job_rank number);

  /// Communicators have members of other jobs, which keep their numbers meanwhile, and whose end is
  /// noticed.
  void hold(job_rank number);
  void let_go(job_rank number) noexcept;
  /// How many have been lost so far. A count alone, so relaxed.
  [[nodiscard]] std::uint32_t losses() const noexcept {
    return losses_.load(std::memory_order_relaxed);
  }

  /// Before a sleep at the runtime's doorbell, by the thread that is to sleep: false keeps it awake
  /// for one more round.
  [[nodiscard]] bool may_sleep();
  /// Nothing is sent any more: returns when the others have what has been sent, or after a while.
  /// The thread that makes progress only.
  void leave();

 private:
  struct entry {
    std::uint64_t name = 0;  ///< 0: this number is nobody's
    resident who;            ///< without an address as long as only a message has come
    int holders = 0;
    bool lost = false;
  };

  [[nodiscard]] job_rank number_of_name(std::uint64_t name);
  [[nodiscard]] std::string address_of(job_rank number);
  [[nodiscard]] job_rank take_number(std::uint64_t name);
  [[nodiscard]] entry& at(job_rank number);
  void note_lost(job_rank number);
  int progress();
  void forget_lost();

  runtime& rt_;
  user user_;
  resident self_;
  const int first_;  ///< number of the first entry
  std::shared_ptr<fabric::network> network_;
  std::unique_ptr<fabric::network_endpoint> endpoint_;
  std::unique_ptr<fabric::sleep_watch> watch_;
  std::atomic<std::uint32_t> losses_{0};
  std::atomic<bool> may_forget_{false};  ///< a hint to the poller, so relaxed

  std::mutex lock_;  ///< inside of the endpoint's own
  std::map<std::uint64_t, job_rank> numbers_;
  std::vector<entry> entries_;
  std::vector<job_rank> free_;

  // Of the thread that makes progress.
  unsigned round_ = 0;
  unsigned rounds_ = 1;
};

}  // namespace sinew::core
