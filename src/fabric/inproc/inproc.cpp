// SPDX-License-Identifier: BSD-3-Clause
// All ranks in one process: one queue per receiver under a mutex. The plain reference.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fabric/service.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fabric/atomics.hpp"
#include "sinew/fabric/fabric.hpp"

namespace sinew::fabric {
namespace {

constexpr std::size_t max_short = 40;
constexpr std::size_t max_medium = 8192;
constexpr std::size_t queue_slots = 256;
/// More than one queue holds, so that a rank that does not read cannot take them all.
constexpr std::size_t buffers_per_rank = 2 * queue_slots;
static_assert(buffers_per_rank > queue_slots);

using buffer = std::unique_ptr<std::byte[]>;

struct message {
  job_rank source = -1;
  handler_id id = 0;
  header head{};
  std::size_t size = 0;
  std::array<std::byte, max_short> short_data{};
  buffer packet;  ///< empty: the payload is in `short_data`
};

/// What arrived for one rank. A ring of fixed size, so that nothing is allocated per message.
struct inbox {
  std::mutex mutex;
  std::condition_variable bell;
  std::vector<message> ring = std::vector<message>(queue_slots);
  std::size_t head = 0;
  std::size_t count = 0;
  bool nudged = false;
  std::atomic<bool> refused{false};  ///< the owner was told to retry; wake it when that may succeed
};

/// A rank's buffers for medium messages; made when first needed, kept for ever.
struct buffer_pool {
  std::mutex mutex;
  std::vector<buffer> free;
  std::size_t made = 0;
};

struct hub {
  explicit hub(int ranks)
      : boxes(static_cast<std::size_t>(ranks)), pools(static_cast<std::size_t>(ranks)) {
    for (buffer_pool& p : pools) {
      p.free.reserve(buffers_per_rank);
    }
  }
  std::vector<inbox> boxes;
  std::vector<buffer_pool> pools;
};

class inproc_endpoint final : public endpoint {
 public:
  inproc_endpoint(std::shared_ptr<hub> shared, job_rank rank)
      : hub_(std::move(shared)), rank_(rank) {}

  [[nodiscard]] job_rank rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(hub_->boxes.size()); }
  [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] std::optional<traffic> far_traffic() override { return traffic{}; }
  [[nodiscard]] const char* name() const noexcept override { return "inproc"; }

  void set_handler(handler_id id, handler function, void* context) override {
    SINEW_EXPECT(id < max_handlers && function != nullptr);
    handlers_[id] = {function, context};
  }

  status send_short(job_rank peer, handler_id id, header head, const void* data,
                    std::size_t size) override {
    SINEW_EXPECT(size <= max_short);
    return post(peer, id, head, data, size, nullptr);
  }

  status send_medium(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override {
    SINEW_EXPECT(size <= max_medium);
    if (size <= max_short) {
      return post(peer, id, head, data, size, nullptr);
    }
    buffer b = take_buffer();
    if (!b) {
      return status::again(retry_reason::no_packet);
    }
    std::memcpy(b.get(), data, size);
    const status sent = post(peer, id, head, nullptr, size, &b);
    if (!sent.done()) {
      return_buffer(rank_, std::move(b));
    }
    return sent;
  }

  status reserve(job_rank, packet& out) override {
    buffer b = take_buffer();
    if (!b) {
      return status::again(retry_reason::no_packet);
    }
    out = {b.release(), max_medium, 1};
    return status::ok();
  }

  status commit(job_rank peer, handler_id id, header head, packet& filled,
                std::size_t size) override {
    SINEW_EXPECT(filled.data != nullptr && size <= filled.capacity);
    buffer b(filled.data);
    const status sent = post(peer, id, head, nullptr, size, &b);
    if (sent.done()) {
      filled = {};
    } else {
      (void)b.release();  // still the caller's
    }
    return sent;
  }

  remote_key expose(void*, std::size_t bytes) override { return {{1, bytes}}; }
  void withdraw(const remote_key&) override {}

  status put(job_rank, const void* local, const remote_address& to, std::size_t bytes,
             callback) override {
    if (bytes != 0) {
      std::memcpy(reinterpret_cast<void*>(to.address), local, bytes);
    }
    return status::ok();
  }
  status get(job_rank, void* local, const remote_address& from, std::size_t bytes,
             callback) override {
    if (bytes != 0) {
      std::memcpy(local, reinterpret_cast<const void*>(from.address), bytes);
    }
    return status::ok();
  }
  status atomic(job_rank, atomic_op op, const remote_address& at, std::size_t width,
                std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                callback) override {
    SINEW_EXPECT((width == 4 || width == 8) && at.address % width == 0);
    const std::uint64_t old =
        apply_atomic(op, reinterpret_cast<void*>(at.address), width, operand, compare);
    if (result != nullptr) {
      *result = old;
    }
    return status::ok();
  }
  status flush(job_rank) override { return status::ok(); }

  copied copy_now(job_rank, direction way, std::span<const piece> pieces) override {
    for (const piece& p : pieces) {
      if (p.bytes != 0) {
        auto* there = reinterpret_cast<void*>(p.remote);
        std::memcpy(way == direction::in ? p.local : there, way == direction::in ? there : p.local,
                    p.bytes);
      }
    }
    return copied::done;
  }

  [[nodiscard]] bool in_one_process() const noexcept override { return true; }

  int progress(int budget) override {
    SINEW_EXPECT(budget > 0);
    int handled = 0;
    while (handled < budget) {
      if (!held_ && !take_message(next_)) {
        break;
      }
      held_ = true;
      const service& e = handlers_[next_.id];
      const std::byte* data = next_.packet ? next_.packet.get() : next_.short_data.data();
      if (!e.function(e.context, arrival{next_.source, next_.head, data, next_.size}).done()) {
        break;
      }
      held_ = false;
      if (next_.packet) {
        return_buffer(next_.source, std::move(next_.packet));
      }
      ++handled;
    }
    return handled;
  }

  void sleep(std::uint64_t timeout_ns) override {
    if (held_) {
      return;
    }
    inbox& box = hub_->boxes[index(rank_)];
    std::unique_lock lock(box.mutex);
    // Wait: bounded; the waits of core call it, and watch.
    box.bell.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                      [&] { return box.count != 0 || box.nudged; });
    box.nudged = false;
  }

  void wake() override { nudge(hub_->boxes[index(rank_)]); }

 private:
  static std::size_t index(job_rank rank) { return rank.index(); }

  /// Puts one message into the peer's queue; takes `*packet` only if it does.
  status post(job_rank peer, handler_id id, header head, const void* data, std::size_t size,
              buffer* packet) {
    SINEW_EXPECT(index(peer) < hub_->boxes.size() && id < max_handlers);
    SINEW_EXPECT(packet != nullptr ? size <= max_medium && *packet != nullptr : size <= max_short);
    inbox& box = hub_->boxes[index(peer)];
    {
      const std::lock_guard lock(box.mutex);
      if (box.count == queue_slots) {
        hub_->boxes[index(rank_)].refused.store(true);
        return status::again(retry_reason::no_slot);
      }
      message& m = box.ring[(box.head + box.count) % queue_slots];
      SINEW_ASSERT(m.packet == nullptr);  // take_message() has moved it out
      m.source = rank_;
      m.id = id;
      m.head = head;
      m.size = size;
      if (packet != nullptr) {
        m.packet = std::move(*packet);
      } else if (size != 0) {
        std::memcpy(m.short_data.data(), data, size);
      }
      ++box.count;
      SINEW_ENSURE(box.count <= queue_slots);
    }
    box.bell.notify_one();
    return status::ok();
  }

  bool take_message(message& out) {
    inbox& box = hub_->boxes[index(rank_)];
    {
      const std::lock_guard lock(box.mutex);
      if (box.count == 0) {
        return false;
      }
      out = std::move(box.ring[box.head]);
      box.head = (box.head + 1) % queue_slots;
      --box.count;
    }
    wake_refused();
    return true;
  }

  /// A slot or a buffer is free again: all ranks that were refused may try. Wakes too many rather
  /// than too few.
  void wake_refused() {
    for (inbox& box : hub_->boxes) {
      if (box.refused.load() && box.refused.exchange(false)) {
        nudge(box);
      }
    }
  }

  static void nudge(inbox& box) {
    {
      const std::lock_guard lock(box.mutex);
      box.nudged = true;
    }
    box.bell.notify_one();
  }

  buffer take_buffer() {
    buffer_pool& pool = hub_->pools[index(rank_)];
    const std::lock_guard lock(pool.mutex);
    if (!pool.free.empty()) {
      buffer b = std::move(pool.free.back());
      pool.free.pop_back();
      return b;
    }
    if (pool.made == buffers_per_rank) {
      hub_->boxes[index(rank_)].refused.store(true);
      return nullptr;
    }
    buffer fresh = std::make_unique<std::byte[]>(max_medium);
    ++pool.made;
    return fresh;
  }

  void return_buffer(job_rank owner, buffer b) {
    SINEW_EXPECT(b != nullptr && owner.below(size()));
    {
      buffer_pool& pool = hub_->pools[index(owner)];
      const std::lock_guard lock(pool.mutex);
      pool.free.push_back(std::move(b));
      SINEW_ENSURE(pool.free.size() <= pool.made);  // each was taken once
    }
    wake_refused();
  }

  std::shared_ptr<hub> hub_;
  job_rank rank_;
  limits bounds_{max_short, max_medium, true};
  std::array<service, max_handlers> handlers_{};
  // Of the thread that makes progress.
  message next_;
  bool held_ = false;  ///< its handler has refused `next_`, which therefore comes before the queue
};

}  // namespace

std::vector<std::unique_ptr<endpoint>> open_inproc(int ranks, bool) {
  SINEW_CHECK(ranks >= 1, "cannot open a job of " + std::to_string(ranks) + " ranks",
              "a job has one rank at least", "");
  auto shared = std::make_shared<hub>(ranks);
  std::vector<std::unique_ptr<endpoint>> all;
  all.reserve(static_cast<std::size_t>(ranks));
  for (job_rank r = 0; r.below(ranks); ++r) {
    all.push_back(std::make_unique<inproc_endpoint>(shared, r));
  }
  return all;
}

}  // namespace sinew::fabric
