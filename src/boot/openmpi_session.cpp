// SPDX-License-Identifier: BSD-3-Clause
// Started by Open MPI's mpirun on one node: rank and size come from its variables, everything
// else goes through one piece of shared memory; PMIx itself is not needed.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <functional>

#include "boot/environment.hpp"
#include "boot/node_session.hpp"
#include "boot/pmi_channel.hpp"
#include "boot/ways_in.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {
namespace {

/// What the ranks share before the node's memory: a barrier and a log of keys and values. Zero
/// bytes are its initial state.
class blackboard {
 public:
  static constexpr std::size_t bytes = std::size_t{4} << 20;

  void barrier(std::uint32_t size) {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
      // Nobody can arrive for the next round before round_ changes.
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      futex(FUTEX_WAKE, INT_MAX);
      return;
    }
    while (round_.load(std::memory_order_acquire) == round) {
      // Wait: for all ranks to come; before there is progress, and Open MPI's --timeout ends it.
      futex(FUTEX_WAIT, round);
    }
  }

  void put(const std::string& key, const std::string& value) {
    const std::size_t record = 2 * sizeof(std::uint32_t) + key.size() + value.size();
    lock();
    const std::uint32_t used = used_;
    const bool fits = record <= capacity - used;
    if (fits) {
      write(used, key, value);
      used_ = static_cast<std::uint32_t>(used + record);
    }
    unlock();
    SINEW_CHECK(fits, "the value of " + key + " finds no room",
                "all keys together may take 4 MiB under Open MPI's launcher", "");
  }

  /// The newest value of `key`.
  std::optional<std::string> get(const std::string& key) {
    std::optional<std::string> result;
    lock();
    for (std::uint32_t at = 0; at < used_;) {
      std::uint32_t sizes[2];
      std::memcpy(sizes, log() + at, sizeof sizes);
      at += sizeof sizes;
      if (key == std::string_view(log() + at, sizes[0])) {
        result.emplace(log() + at + sizes[0], sizes[1]);
      }
      at += sizes[0] + sizes[1];
    }
    unlock();
    return result;
  }

 private:
  static constexpr std::size_t capacity = bytes - 4 * sizeof(std::uint32_t);

  void write(std::uint32_t at, const std::string& key, const std::string& value) {
    const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(key.size()),
                                    static_cast<std::uint32_t>(value.size())};
    std::memcpy(log() + at, sizes, sizeof sizes);
    std::memcpy(log() + at + sizeof sizes, key.data(), key.size());
    std::memcpy(log() + at + sizeof sizes + key.size(), value.data(), value.size());
  }
  void futex(int operation, std::uint32_t value) {
    ::syscall(SYS_futex, &round_, operation, value, nullptr, nullptr, 0);
  }
  void lock() {
    while (locked_.exchange(1, std::memory_order_acquire) != 0) {
      // Wait: for a holder inside a few instructions.
      ::sched_yield();
    }
  }
  void unlock() { locked_.store(0, std::memory_order_release); }
  char* log() { return reinterpret_cast<char*>(this + 1); }

  std::atomic<std::uint32_t> arrived_;
  std::atomic<std::uint32_t> round_;
  std::atomic<std::uint32_t> locked_;
  std::uint32_t used_;  // guarded by locked_
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

class openmpi_session final : public node_session {
 public:
  openmpi_session(rank_and_size who, std::string job) {
    place_.rank = job_rank{who.rank};
    place_.size = who.size;
    settle(std::vector<int>(static_cast<std::size_t>(who.size), 0));
    place_.job = std::move(job);
    place_.launcher = "openmpi";
    board_memory_ = memory_mapping::of(board_descriptor().get(), blackboard::bytes);
    // Zero bytes are a valid blackboard; every rank sees the same one.
    board_ = reinterpret_cast<blackboard*>(board_memory_.base());
  }

  void put(const std::string& key, const std::string& value) override {
    check_key(key);
    board_->put(key, value);
  }
  [[nodiscard]] std::optional<std::string> get(const std::string& key) override {
    return board_->get(key);
  }
  void fence() override { board_->barrier(static_cast<std::uint32_t>(place_.size)); }

  [[noreturn]] void abort(int code, std::string_view why) override {
    tell_abort(code, why);
    // mpirun ends the job when a rank leaves with a code that is not 0.
    leave(code == 0 ? 1 : code);
  }
  void finalize() override {
    finalized_ = true;
    attendance_.leave();
  }

 private:
  descriptor board_descriptor() {
    descriptor mine;
    if (place_.rank == 0) {
      mine = make_shared_memory("openmpi");
    }
    return share_descriptor(place_.job + "-board", place_.local_rank, place_.size, std::move(mine));
  }

  memory_mapping board_memory_;
  blackboard* board_ = nullptr;
};

}  // namespace

std::unique_ptr<session> join_openmpi() {
  const rank_and_size who = rank_variables("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  const rank_and_size local =
      rank_variables("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE");
  if (local.size != who.size) {
    return join_pmix();
  }
  const auto space = variable("PMIX_NAMESPACE");
  SINEW_CHECK(space.has_value(), "the job has no name",
              "Open MPI's variables are set but PMIX_NAMESPACE is not",
              "start with mpirun of Open MPI 4 or 5, or unset OMPI_COMM_WORLD_*");
  // The server's address, where known, tells apart jobs whose launchers got the same pid. Hashed,
  // because a socket's name is short.
  const std::size_t mark =
      std::hash<std::string>{}(*space + " " + variable("PMIX_SERVER_URI2").value_or(""));
  return std::make_unique<openmpi_session>(who, "openmpi-" + std::to_string(mark));
}

}  // namespace sinew::boot
