// SPDX-License-Identifier: BSD-3-Clause
// The channels of this rank by their contexts. A message may come before its communicator is
// attached here, and waits in the channel.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "p2p/channel.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/fabric/fabric.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::p2p {

class network_matching;
class steering;

/// Its lock guards the making and the end of channels. A channel is complete before it is seen,
/// never moves, and lives until drop() or the table's end; where there are threads, until bury(),
/// since whoever polls may be at work with one that another thread drops.
class channel_table {
  static constexpr std::size_t page_contexts = 1024;
  static constexpr std::size_t pages = 8192;

 public:
  static constexpr std::size_t contexts = pages * page_contexts;
  /// Half of the contexts for communicators; as far above each lie those of its partitioned
  /// messages.
  static constexpr std::size_t first_partitioned = contexts / 2;
  static constexpr std::uint32_t no_context = 0xffffffff;
  static_assert(contexts < no_context, "no_context is no context");
  static_assert(page_contexts % 2 == 0, "both contexts of a communicator are in one page");

  /// `steers`: who makes the engines of a program's messages, or null.
  channel_table(network_matching& network, steering* steers, bool threaded);
  ~channel_table();
  channel_table(const channel_table&) = delete;
  channel_table& operator=(const channel_table&) = delete;

  /// 0: a program's messages, partitioned ones included; 1: collectives.
  [[nodiscard]] static std::size_t kind_of(std::uint32_t context) noexcept {
    return context < first_partitioned ? context % 2 : 0;
  }
  /// Of the program's own messages, partitioned ones apart.
  [[nodiscard]] static bool is_of_program(std::uint32_t context) noexcept {
    return context < first_partitioned && context % 2 == 0;
  }
  /// Makes it, if there is none. Throws std::bad_alloc.
  [[nodiscard, gnu::noinline]] channel& of(std::uint32_t context);
  /// The same for what a peer has written, which may be nonsense.
  [[nodiscard, gnu::noinline]] channel& of(const fabric::arrival& a);
  /// The same, of an attached communicator, for messages of `owner` that it does not have yet.
  [[nodiscard]] channel& of_partitioned(const core::communicator& owner, bool data);
  /// Calls `look` for each that there is. Meanwhile none begins or ends, and no communicator of one
  /// does; so `look` must not do that.
  template <class Look>
  void each(const Look& look) {
    const base::guard held(lock_, threaded_);
    each_there(look);
  }
  /// Of the communicator that has this context here, now; else empty.
  [[nodiscard]] core::group members_of(std::uint32_t context);
  /// Its communicator is gone. False: receives are still posted there, or words about it may still
  /// be under way, and it stays.
  bool drop(std::uint32_t context);
  /// What has been dropped ends. In the poller, between messages.
  int bury() noexcept;
  /// What matching has cost, if SINEW_MATCH_STATS asks for it; else "".
  [[nodiscard]] std::string statistics(job_rank self);

 private:
  using page = std::array<std::atomic<channel*>, page_contexts>;

  /// Null if there is none. It may be gone as soon as the call returns, unless something keeps it.
  [[nodiscard]] channel* find(std::uint32_t context) const noexcept;
  /// Under the lock.
  template <class Look>
  void each_there(const Look& look) const {
    for (std::size_t p = 0; p < pages; ++p) {
      const page* const at = directory_[p].load(std::memory_order_relaxed);
      for (std::size_t c = 0; at != nullptr && c < page_contexts; ++c) {
        if (channel* const in = (*at)[c].load(std::memory_order_relaxed); in != nullptr) {
          look(*in);
        }
      }
    }
  }

  network_matching& network_;
  steering* const steers_;
  const bool threaded_;
  base::lock lock_;
  /// Written under the lock with release, read without it with acquire.
  std::unique_ptr<std::atomic<page*>[]> directory_;
  channel* dropped_ = nullptr;  ///< by their next_dropped. Under the lock.
  /// What matching has cost in channels that are gone, by their kind. Under the lock.
  std::array<match::search_counts, 2> past_{};
};

}  // namespace sinew::p2p
