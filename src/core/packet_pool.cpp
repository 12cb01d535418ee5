// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/packet_pool.hpp"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/packet_pool_core.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/steps.hpp"

namespace sinew::core {
namespace {

/// Page-aligned memory of its own.
class slab {
 public:
  explicit slab(std::size_t bytes) : bytes_(bytes) {
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SINEW_CHECK(at != MAP_FAILED, "no memory for a packet pool",
                std::to_string(bytes_ >> 10) + " KiB were refused", "ask for fewer packets");
    begin_ = static_cast<std::byte*>(at);
  }
  ~slab() { (void)munmap(begin_, bytes_); }
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return {begin_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

packet_pool_options checked(packet_pool_options o) {
  SINEW_CHECK(o.packets > 0 && o.packet_bytes > 0, "a packet pool needs packets",
              std::to_string(o.packets) + " of " + std::to_string(o.packet_bytes) + " bytes",
              "ask for at least one of at least one byte");
  SINEW_CHECK(o.packets < (std::size_t{1} << 31) && o.packet_bytes <= (std::size_t{1} << 31),
              "a packet pool cannot be so large", "2^31 packets or bytes each are too many",
              "ask for fewer");
  o.packet_bytes = (o.packet_bytes + 63) / 64 * 64;
  o.workers = std::max(o.workers, 0);
  o.keep = std::max<std::size_t>(o.keep, 1);
  return o;
}

// Top of the LIFO is the first packet, so that a program that uses few touches few pages.
std::vector<void*> packets_of(const slab& s, const packet_pool_options& o) {
  std::vector<void*> packets(o.packets);
  for (std::size_t i = 0; i < o.packets; ++i) {
    packets[i] = s.memory().data() + (o.packets - 1 - i) * o.packet_bytes;
  }
  return packets;
}

}  // namespace

struct packet_pool::body {
  explicit body(const packet_pool_options& o)
      : options(o),
        memory(o.packets * o.packet_bytes),
        core(packets_of(memory, o), o.keep, base::join_membarrier(base::within::process)) {
    for (int i = 0; i < o.workers; ++i) {
      workers.push_back(core.open());
      if (workers.back() == nullptr) {
        throw std::bad_alloc();
      }
    }
  }

  [[nodiscard]] bool owns(const void* packet) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.memory().data());
    const auto at = reinterpret_cast<std::uintptr_t>(packet);
    return at >= begin && at - begin < memory.memory().size() &&
           (at - begin) % options.packet_bytes == 0;
  }

  packet_pool_options options;
  slab memory;
  packet_pool_core<real_steps> core;
  std::vector<packet_cache*> workers;
};

namespace {

/// The pools that live, by number, so that a thread that ends can tell which of those it used are
/// gone. Never destroyed: threads may end after static objects.
struct living_pools {
  std::mutex lock;
  std::map<std::uint64_t, packet_pool_core<real_steps>*> by_number;
  std::uint64_t last = 0;

  static living_pools& instance() {
    static auto* const pools = new living_pools;
    return *pools;
  }
};

/// The caches of one thread; its end gives them back.
struct thread_caches {
  std::vector<std::pair<std::uint64_t, packet_cache*>> opened;
  ~thread_caches();
};

/// The cache this thread used last: plain data, so that looking at it costs no guard.
struct last_used {
  std::uint64_t pool = 0;  ///< 0: none
  packet_cache* cache = nullptr;
  bool ended = false;  ///< thread_caches is gone: the rest of this thread's life has no cache
};
thread_local constinit last_used last;

thread_caches::~thread_caches() {
  last = {.ended = true};
  living_pools& pools = living_pools::instance();
  const std::lock_guard held(pools.lock);
  for (const auto& [number, cache] : opened) {
    const auto pool = pools.by_number.find(number);
    if (pool != pools.by_number.end()) {
      pool->second->close(*cache);
    }
  }
}

/// Null when this thread cannot have one: then it works with the depot.
[[gnu::noinline]] packet_cache* open_for_thread(packet_pool_core<real_steps>& core,
                                                std::uint64_t number) noexcept try {
  if (last.ended) {
    return nullptr;
  }
  static thread_local thread_caches mine;
  for (const auto& [pool, cache] : mine.opened) {
    if (pool == number) {
      last = {number, cache, false};
      return cache;
    }
  }
  {  // a thread may outlive many pools
    living_pools& pools = living_pools::instance();
    const std::lock_guard held(pools.lock);
    std::erase_if(mine.opened, [&](const auto& o) { return pools.by_number.count(o.first) == 0; });
  }
  mine.opened.emplace_back(number, nullptr);  // before the cache: it may throw
  packet_cache* const cache = core.open();
  if (cache == nullptr) {
    mine.opened.pop_back();
    return nullptr;
  }
  mine.opened.back().second = cache;
  last = {number, cache, false};
  return cache;
} catch (const std::bad_alloc&) {
  return nullptr;
}

inline packet_cache* cache_of_thread(packet_pool_core<real_steps>& core,
                                     std::uint64_t number) noexcept {
  if (last.pool == number) [[likely]] {
    return last.cache;
  }
  return open_for_thread(core, number);
}

}  // namespace

packet_pool::packet_pool(const packet_pool_options& options)
    : body_(std::make_unique<body>(checked(options))) {
  living_pools& pools = living_pools::instance();
  const std::lock_guard held(pools.lock);
  number_ = ++pools.last;
  pools.by_number[number_] = &body_->core;
}

packet_pool::~packet_pool() {
  living_pools& pools = living_pools::instance();
  const std::lock_guard held(pools.lock);
  pools.by_number.erase(number_);
}

packet_pool::outcome packet_pool::get() noexcept {
  void* const packet = body_->core.get(cache_of_thread(body_->core, number_));
  return {packet, packet != nullptr ? status::ok() : status::again(retry_reason::no_packet)};
}

void packet_pool::put(void* packet) noexcept {
  SINEW_EXPECT(body_->owns(packet));
  body_->core.put(cache_of_thread(body_->core, number_), packet);
}

packet_pool::outcome packet_pool::get(int worker) noexcept {
  SINEW_EXPECT(worker >= 0 && worker < body_->options.workers);
  void* const packet = body_->core.get(body_->workers[static_cast<std::size_t>(worker)]);
  return {packet, packet != nullptr ? status::ok() : status::again(retry_reason::no_packet)};
}

void packet_pool::put(void* packet, int worker) noexcept {
  SINEW_EXPECT(body_->owns(packet));
  SINEW_EXPECT(worker >= 0 && worker < body_->options.workers);
  body_->core.put(body_->workers[static_cast<std::size_t>(worker)], packet);
}

std::span<std::byte> packet_pool::memory() const noexcept { return body_->memory.memory(); }
std::size_t packet_pool::packet_bytes() const noexcept { return body_->options.packet_bytes; }
std::size_t packet_pool::unused() const noexcept { return body_->core.unused(); }

}  // namespace sinew::core
