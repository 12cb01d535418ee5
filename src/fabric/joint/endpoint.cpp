// SPDX-License-Identifier: BSD-3-Clause
// One endpoint over two: a table says by which of them a rank is reached.
#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "fabric/joint/watcher.hpp"
#include "sinew/base/check.hpp"
#include "sinew/fabric/network.hpp"

namespace sinew::fabric {
namespace joint {
namespace {

/// Rounds between two looks at the far side, at most, where other ranks are near: a look costs a
/// system call over tcp.
constexpr unsigned most_rounds = 16;

class joint_endpoint final : public endpoint {
 public:
  joint_endpoint(std::unique_ptr<endpoint> near, const std::vector<job_rank>& near_ranks,
                 std::unique_ptr<network_endpoint> far)
      : near_(std::move(near)),
        far_(std::move(far)),
        by_rank_(static_cast<std::size_t>(far_->size()), far_.get()),
        most_rounds_(near_ranks.size() > 1 ? most_rounds : 1),
        watcher_(far_->event_descriptor(), *near_) {
    for (const job_rank r : near_ranks) {
      SINEW_EXPECT(r.below(size()));
      by_rank_[r.index()] = near_.get();
    }
    SINEW_EXPECT(near_->rank() == far_->rank() && &way_to(rank()) == near_.get());
    const limits& a = near_->bounds();
    const limits& b = far_->bounds();
    bounds_ = {std::min(a.max_short, b.max_short), std::min(a.max_medium, b.max_medium), false};
    SINEW_ENSURE(bounds_.max_short <= bounds_.max_medium);
  }

  [[nodiscard]] job_rank rank() const noexcept override { return far_->rank(); }
  [[nodiscard]] int size() const noexcept override { return far_->size(); }
  [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] const char* name() const noexcept override { return "joint"; }

  void set_handler(handler_id id, handler function, void* context) override {
    near_->set_handler(id, function, context);
    far_->set_handler(id, function, context);
  }

  status send_short(job_rank peer, handler_id id, header head, const void* data,
                    std::size_t size) override {
    return way_to(peer).send_short(peer, id, head, data, size);
  }
  status send_medium(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override {
    return way_to(peer).send_medium(peer, id, head, data, size);
  }
  status send_lazily(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override {
    return way_to(peer).send_lazily(peer, id, head, data, size);
  }
  status reserve(job_rank peer, packet& out) override { return way_to(peer).reserve(peer, out); }
  status commit(job_rank peer, handler_id id, header head, packet& filled,
                std::size_t size) override {
    return way_to(peer).commit(peer, id, head, filled, size);
  }
  [[nodiscard]] std::size_t longest_to(job_rank peer) const override {
    return way_to(peer).longest_to(peer);
  }
  [[nodiscard]] bool streams_to(job_rank peer) override { return way_to(peer).streams_to(peer); }
  [[nodiscard]] bool is_beside(job_rank peer) const override {
    return way_to(peer).is_beside(peer);
  }

  remote_key expose(void* address, std::size_t bytes) override {
    const remote_key near = near_->expose(address, bytes);
    const remote_key far = far_->expose(address, bytes);
    SINEW_ASSERT(near.word[0] <= near_mask && near.word[1] == far.word[1]);
    SINEW_ASSERT(far.word[0] << near_bits >> near_bits == far.word[0]);
    return {{near.word[0] | far.word[0] << near_bits, near.word[1]}};
  }
  void withdraw(const remote_key& key) override {
    near_->withdraw(near_part(key));
    far_->withdraw(far_part(key));
  }

  status put(job_rank peer, const void* local, const remote_address& to, std::size_t bytes,
             callback when_done) override {
    return way_to(peer).put(peer, local, part_for(peer, to), bytes, when_done);
  }
  status get(job_rank peer, void* local, const remote_address& from, std::size_t bytes,
             callback when_done) override {
    return way_to(peer).get(peer, local, part_for(peer, from), bytes, when_done);
  }
  status atomic(job_rank peer, atomic_op op, const remote_address& at, std::size_t width,
                std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                callback when_done) override {
    return way_to(peer).atomic(peer, op, part_for(peer, at), width, operand, compare, result,
                               when_done);
  }
  status flush(job_rank peer) override { return way_to(peer).flush(peer); }
  copied copy_now(job_rank peer, direction way, std::span<const piece> pieces) override {
    return way_to(peer).copy_now(peer, way, pieces);
  }

  /// The far side each `rounds_` rounds: every round while something comes from there, seldom while
  /// nothing does.
  int progress(int budget) override {
    SINEW_EXPECT(budget > 0 && rounds_ >= 1);
    const bool due = ++round_ >= rounds_;
    // Half for each when both are looked at, and what the first leaves for the second. More than
    // the budget may happen: transfers are not counted against it.
    const int near = near_->progress(due ? std::max(1, budget / 2) : budget);
    note_distance(near != 0, false);
    if (!due || near >= budget) {
      return near;
    }
    round_ = 0;
    const int far = far_->progress(budget - near);
    note_distance(far != 0, true);
    rounds_ = far != 0 ? 1 : std::min(2 * rounds_, most_rounds_);
    return near + far;
  }

  void tell_distance(distance_listener to) override { listener_ = to; }
  [[nodiscard]] std::optional<traffic> far_traffic() override { return far_->far_traffic(); }

  void sleep(std::uint64_t timeout_ns) override {
    rounds_ = 1;
    if (far_->prepare_sleep()) {
      watcher_.watch(far_->happened());
      near_->sleep(timeout_ns);
    }
  }
  void wake() override { near_->wake(); }
  [[nodiscard]] tagged* tags() noexcept override { return far_->tags(); }
  void give_up(job_rank peer) override { way_to(peer).give_up(peer); }
  void leave() override {
    near_->leave();
    far_->leave();
  }

  [[nodiscard]] endpoint& way_to(job_rank peer) const noexcept {
    SINEW_EXPECT(peer.below(size()));
    return *by_rank_[peer.index()];
  }

 private:
  static constexpr unsigned near_bits = 8;
  static constexpr std::uint64_t near_mask = (1u << near_bits) - 1;

  [[nodiscard]] static remote_key near_part(const remote_key& key) noexcept {
    return {{key.word[0] & near_mask, key.word[1]}};
  }
  [[nodiscard]] static remote_key far_part(const remote_key& key) noexcept {
    return {{key.word[0] >> near_bits, key.word[1]}};
  }
  [[nodiscard]] remote_address part_for(job_rank peer, const remote_address& at) const noexcept {
    return {at.address, &way_to(peer) == near_.get() ? near_part(at.key) : far_part(at.key)};
  }

  void note_distance(bool news, bool far) noexcept {
    if (news && far != from_far_) [[unlikely]] {
      from_far_ = far;
      if (listener_.call != nullptr) {
        listener_.call(listener_.argument, far);
      }
    }
  }

  std::unique_ptr<endpoint> near_;
  std::unique_ptr<network_endpoint> far_;
  std::vector<endpoint*> by_rank_;
  unsigned most_rounds_;
  limits bounds_{};
  watcher watcher_;  ///< last: it uses both
  // Of the thread that makes progress.
  unsigned round_ = 0;
  unsigned rounds_ = 1;
  bool from_far_ = false;  ///< what has come last
  distance_listener listener_{nullptr, nullptr};
};

}  // namespace
}  // namespace joint

std::unique_ptr<endpoint> join(std::unique_ptr<endpoint> near,
                               const std::vector<job_rank>& near_ranks,
                               std::unique_ptr<network_endpoint> far) {
  SINEW_EXPECT(near != nullptr && far != nullptr);
  SINEW_CHECK(far->event_descriptor() >= 0,
              std::string(far->name()) + " cannot carry messages beside " + near->name(),
              "nothing wakes a rank that sleeps on both",
              "let it carry all: SINEW_FABRIC_BACK_ENDS=" + std::string(far->name()));
  return std::make_unique<joint::joint_endpoint>(std::move(near), near_ranks, std::move(far));
}

std::string transports_to(endpoint& of, job_rank peer) {
  if (auto* const both = dynamic_cast<joint::joint_endpoint*>(&of)) {
    SINEW_EXPECT(peer.below(of.size()));  // of its two parts, one counts this node's ranks only
    return transports_to(both->way_to(peer), peer);
  }
  auto* const network = dynamic_cast<network_endpoint*>(&of);
  return network != nullptr ? network->transports_to(peer) : of.name();
}

}  // namespace sinew::fabric
