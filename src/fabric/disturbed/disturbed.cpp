// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fabric/disturbed.hpp"

#include <signal.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/random.hpp"

namespace sinew::fabric {
namespace disturbed {
namespace {

/// Messages held back for one rank, at most.
constexpr std::size_t most_held = 16;

/// A message that is held back: its bytes, or a packet of the inner endpoint.
struct message {
  handler_id id;
  header head;
  std::vector<std::byte> bytes;
  packet filled;
  std::size_t size;
};

class disturbed_endpoint final : public endpoint {
 public:
  disturbed_endpoint(std::unique_ptr<endpoint> inner, const disturbance& how)
      : inner_(std::move(inner)),
        how_(how),
        random_(how.seed * 1000003 + static_cast<std::uint64_t>(inner_->rank().value())) {
    SINEW_EXPECT(how.refused < 256 && how.delayed < 256 && how.released > 0);
    bounds_ = inner_->bounds();
    bounds_.direct_copy = false;  // a get may be refused
  }

  [[nodiscard]] job_rank rank() const noexcept override { return inner_->rank(); }
  [[nodiscard]] int size() const noexcept override { return inner_->size(); }
  [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] const char* name() const noexcept override { return "disturbed"; }
  void set_handler(handler_id id, handler function, void* context) override {
    inner_->set_handler(id, function, context);
  }

  status send_short(job_rank peer, handler_id id, header head, const void* data,
                    std::size_t size) override {
    return send(peer, {id, head, {}, {}, size}, data);
  }
  status send_medium(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override {
    return send(peer, {id, head, {}, {}, size}, data);
  }
  status reserve(job_rank peer, packet& out) override {
    return refuses() ? status::again(retry_reason::no_packet) : inner_->reserve(peer, out);
  }
  status commit(job_rank peer, handler_id id, header head, packet& filled,
                std::size_t size) override {
    SINEW_EXPECT(filled.data != nullptr);
    const status outcome = send(peer, {id, head, {}, filled, size}, nullptr);
    if (outcome.done()) {
      filled = {};
    }
    return outcome;
  }
  [[nodiscard]] std::size_t longest_to(job_rank peer) const override {
    return inner_->longest_to(peer);
  }
  [[nodiscard]] bool streams_to(job_rank peer) override { return inner_->streams_to(peer); }
  [[nodiscard]] bool is_beside(job_rank peer) const override { return inner_->is_beside(peer); }

  remote_key expose(void* address, std::size_t bytes) override {
    return inner_->expose(address, bytes);
  }
  void withdraw(const remote_key& key) override { inner_->withdraw(key); }
  status put(job_rank peer, const void* local, const remote_address& to, std::size_t bytes,
             callback when_done) override {
    return refuses() ? status::again(retry_reason::no_slot)
                     : inner_->put(peer, local, to, bytes, when_done);
  }
  status get(job_rank peer, void* local, const remote_address& from, std::size_t bytes,
             callback when_done) override {
    return refuses() ? status::again(retry_reason::no_slot)
                     : inner_->get(peer, local, from, bytes, when_done);
  }
  status atomic(job_rank peer, atomic_op op, const remote_address& at, std::size_t width,
                std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                callback when_done) override {
    return refuses() ? status::again(retry_reason::no_slot)
                     : inner_->atomic(peer, op, at, width, operand, compare, result, when_done);
  }
  status flush(job_rank peer) override {
    return refuses() ? status::again(retry_reason::busy) : inner_->flush(peer);
  }
  copied copy_now(job_rank peer, direction way, std::span<const piece> pieces) override {
    return inner_->copy_now(peer, way, pieces);
  }
  [[nodiscard]] bool in_one_process() const noexcept override { return inner_->in_one_process(); }

  int progress(int budget) override {
    SINEW_EXPECT(budget > 0);
    const int released = release(how_.released);
    const disturbed_endpoint* const outer = std::exchange(inside, this);
    const int happened = inner_->progress(budget);
    inside = outer;
    return happened + released;
  }

  void sleep(std::uint64_t timeout_ns) override {
    {
      const std::lock_guard held(mutex_);
      if (!held_.empty() || std::exchange(refused_, false)) {
        return;
      }
    }
    inner_->sleep(timeout_ns);
  }
  void wake() override { inner_->wake(); }
  [[nodiscard]] tagged* tags() noexcept override { return inner_->tags(); }
  void give_up(job_rank peer) override { inner_->give_up(peer); }
  void tell_distance(distance_listener to) override { inner_->tell_distance(to); }
  bool meet(job_rank peer, std::uint32_t tenant) override { return inner_->meet(peer, tenant); }
  void leave() override {
    while (!nothing_held()) {
      // Wait: for room at ranks that have not left yet.
      if (release(256) == 0) {
        (void)inner_->progress(1);
      }
    }
    inner_->leave();
  }

 private:
  [[nodiscard]] bool nothing_held() {
    const std::lock_guard held(mutex_);
    return held_.empty();
  }
  [[nodiscard]] bool chance(unsigned in_256) { return random_() % 256 < in_256; }
  /// Whether a call is refused without cause. The caller may sleep then, but not for long.
  [[nodiscard]] bool refuses() {
    const std::lock_guard held(mutex_);
    return refuses_now();
  }
  [[nodiscard]] bool refuses_now() {
    const bool now = inside != this && chance(how_.refused);
    refused_ = refused_ || now;
    return now;
  }

  status send(job_rank peer, message m, const void* data) {
    SINEW_EXPECT(peer.below(size()) && m.size <= inner_->longest_to(peer));
    const std::lock_guard held(mutex_);
    if (refuses_now()) {
      return status::again(retry_reason::no_slot);
    }
    if (how_.dies_after != 0 && ++sent_ > how_.dies_after) {
      kill(getpid(), SIGKILL);
    }
    const auto before = held_.find(peer);
    if (before == held_.end() && !chance(how_.delayed)) {
      return pass(peer, m, data);
    }
    if (before != held_.end() && before->second.size() >= most_held && inside != this) {
      refused_ = true;
      return status::again(retry_reason::no_slot);
    }
    if (m.filled.data == nullptr && m.size != 0) {
      const auto* const bytes = static_cast<const std::byte*>(data);
      m.bytes.assign(bytes, bytes + m.size);
    }
    held_[peer].push_back(std::move(m));
    return status::ok();
  }

  /// To the inner endpoint; its answer.
  status pass(job_rank peer, message& m, const void* data) {
    if (m.filled.data != nullptr) {
      return inner_->commit(peer, m.id, m.head, m.filled, m.size);
    }
    return m.size <= bounds_.max_short ? inner_->send_short(peer, m.id, m.head, data, m.size)
                                       : inner_->send_medium(peer, m.id, m.head, data, m.size);
  }

  /// Lets what is held back for some ranks go on; returns how many messages went.
  int release(unsigned in_256) {
    const std::lock_guard held(mutex_);
    int went = 0;
    for (auto it = held_.begin(); it != held_.end();) {
      std::deque<message>& queue = it->second;
      SINEW_ASSERT(!queue.empty());
      while (!queue.empty() && chance(in_256) &&
             pass(it->first, queue.front(), queue.front().bytes.data()).done()) {
        queue.pop_front();
        ++went;
      }
      it = queue.empty() ? held_.erase(it) : std::next(it);
    }
    return went;
  }

  /// Whose progress() this thread is in: handlers run there.
  static thread_local const disturbed_endpoint* inside;

  std::unique_ptr<endpoint> inner_;
  disturbance how_;
  limits bounds_{};
  std::mutex mutex_;  ///< guards what follows
  random_generator random_;
  std::map<job_rank, std::deque<message>> held_;
  bool refused_ = false;  ///< without cause, since the last sleep
  std::uint64_t sent_ = 0;
};

thread_local const disturbed_endpoint* disturbed_endpoint::inside = nullptr;

}  // namespace
}  // namespace disturbed

std::unique_ptr<endpoint> disturb(std::unique_ptr<endpoint> inner, const disturbance& how) {
  SINEW_EXPECT(inner != nullptr);
  return std::make_unique<disturbed::disturbed_endpoint>(std::move(inner), how);
}

}  // namespace sinew::fabric
