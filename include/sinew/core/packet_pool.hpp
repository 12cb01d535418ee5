// SPDX-License-Identifier: BSD-3-Clause
// Packets of one size from one slab of memory, for many threads: each worker and each thread keeps
// a few to itself and reuses them last-in-first-out; the rest lie in a shared depot. When there are
// none left, the answer is "try again", never an allocation. After the packet pool of Dang et al.
// 2016.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sinew/base/status.hpp"

namespace sinew::core {

struct packet_pool_options {
  std::size_t packets = 4096;
  std::size_t packet_bytes = 8192;  ///< rounded up to whole cache lines of 64 bytes
  /// Callers 0..workers-1 may name themselves; one thread at a time per worker.
  int workers = 0;
  /// Unused packets that one worker or thread keeps at most (and never more than its fair share).
  /// At most 64.
  std::size_t keep = 64;
};

class packet_pool {
 public:
  /// Throws sinew::error if the memory cannot be had. Cold.
  explicit packet_pool(const packet_pool_options& options = {});
  /// Nobody may be inside; threads that used it may still live. Packets in use die with it. Cold.
  ~packet_pool();
  packet_pool(const packet_pool&) = delete;
  packet_pool& operator=(const packet_pool&) = delete;

  struct outcome {
    void* packet;  ///< null unless done; aligned to 64 bytes; content as it was left
    status what;   ///< done, or retry(no_packet)
  };

  /// A packet, the caller's until put(), which any thread may call. Looks with the caller, in the
  /// depot, then with the others. retry(no_packet) says that none was found, which is certain only
  /// if nobody else was inside at the time. Does not suspend. Hot.
  [[nodiscard]] outcome get() noexcept;
  void put(void* packet) noexcept;

  /// The same for a caller that is worker `worker` at the moment and does not suspend inside:
  /// cheaper than asking which thread it is, and the only way when threads are fibers with
  /// thread-local storage of their own. Hot.
  [[nodiscard]] outcome get(int worker) noexcept;
  void put(void* packet, int worker) noexcept;

  /// The slab, for registration with a network: page-aligned, packets one after another. Cold.
  [[nodiscard]] std::span<std::byte> memory() const noexcept;
  [[nodiscard]] std::size_t packet_bytes() const noexcept;
  /// Packets that are not in use. Exact only while nobody else is inside. Cold.
  [[nodiscard]] std::size_t unused() const noexcept;

 private:
  struct body;
  std::unique_ptr<body> body_;
  std::uint64_t number_ = 0;  ///< of this pool and no other of the process, unlike its address
};

}  // namespace sinew::core
