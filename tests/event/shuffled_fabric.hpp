// SPDX-License-Identifier: BSD-3-Clause
// A fabric in one thread that delivers by seed: any message of any pair may come next, in the order
// of its pair, and sends are refused now and then. For all orders in which a protocol's messages
// may arrive.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sinew/base/random.hpp"
#include "sinew/event/system.hpp"
#include "sinew/fabric/fabric.hpp"
#include "support/job.hpp"

namespace sinew::test {

class shuffled_network {
 public:
  shuffled_network(int ranks, std::uint64_t seed) : random(seed), size(ranks) {
    pairs.resize(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks));
  }
  struct parcel {
    fabric::handler_id id;
    fabric::header head;
    std::vector<std::byte> data;
  };
  [[nodiscard]] std::deque<parcel>& pair(int from, int to) {
    return pairs[static_cast<std::size_t>(from * size + to)];
  }
  [[nodiscard]] bool quiet() const {
    for (const auto& p : pairs) {
      if (!p.empty()) {
        return false;
      }
    }
    return true;
  }
  random_generator random;
  int size;
  std::vector<std::deque<parcel>> pairs;
  long delivered = 0;
};

class shuffled_endpoint final : public fabric::endpoint {
 public:
  shuffled_endpoint(shuffled_network& net, int rank) : net_(net), rank_(rank) {}
  [[nodiscard]] job_rank rank() const noexcept override { return job_rank{rank_}; }
  [[nodiscard]] int size() const noexcept override { return net_.size; }
  [[nodiscard]] const fabric::limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] const char* name() const noexcept override { return "shuffled"; }
  void set_handler(fabric::handler_id id, fabric::handler function, void* context) override {
    handlers_[id] = {function, context};
  }
  status send_short(job_rank peer, fabric::handler_id id, fabric::header head, const void* data,
                    std::size_t size) override {
    if (net_.random.with_probability(0.1)) {
      return status::again(retry_reason::no_slot);
    }
    const auto* first = static_cast<const std::byte*>(data);
    net_.pair(rank_, peer.value()).push_back({id, head, {first, first + size}});
    return status::ok();
  }
  status send_medium(job_rank peer, fabric::handler_id id, fabric::header head, const void* data,
                     std::size_t size) override {
    return send_short(peer, id, head, data, size);
  }
  /// Delivers one message to this rank, from whichever has one.
  int progress(int) override {
    std::vector<int> from;
    for (int r = 0; r < net_.size; ++r) {
      if (!net_.pair(r, rank_).empty()) {
        from.push_back(r);
      }
    }
    if (from.empty()) {
      return 0;
    }
    const int source = from[net_.random.below(from.size())];
    auto& queue = net_.pair(source, rank_);
    shuffled_network::parcel p = std::move(queue.front());
    queue.pop_front();
    const auto& [function, context] = handlers_[p.id];
    if (!function(context, {job_rank{source}, p.head, p.data.data(), p.data.size()}).done()) {
      queue.push_front(std::move(p));
      return 0;
    }
    ++net_.delivered;
    return 1;
  }
  // What the module does not use.
  status reserve(job_rank, fabric::packet&) override { return status::again(retry_reason::busy); }
  status commit(job_rank, fabric::handler_id, fabric::header, fabric::packet&,
                std::size_t) override {
    return status::again(retry_reason::busy);
  }
  fabric::remote_key expose(void*, std::size_t) override { return {}; }
  void withdraw(const fabric::remote_key&) override {}
  status put(job_rank, const void*, const fabric::remote_address&, std::size_t,
             fabric::callback) override {
    return status::again(retry_reason::busy);
  }
  status get(job_rank, void*, const fabric::remote_address&, std::size_t,
             fabric::callback) override {
    return status::again(retry_reason::busy);
  }
  status atomic(job_rank, fabric::atomic_op, const fabric::remote_address&, std::size_t,
                std::uint64_t, std::uint64_t, std::uint64_t*, fabric::callback) override {
    return status::again(retry_reason::busy);
  }
  status flush(job_rank) override { return status::ok(); }
  fabric::copied copy_now(job_rank, fabric::direction, std::span<const fabric::piece>) override {
    return fabric::copied::refused;
  }
  void sleep(std::uint64_t) override {}
  void wake() override {}

 private:
  shuffled_network& net_;
  int rank_;
  fabric::limits bounds_{40, 8192, false};
  std::pair<fabric::handler, void*> handlers_[fabric::max_handlers] = {};
};

/// Ranks of the module in one thread over such a network.
struct shuffled_job {
  shuffled_job(int ranks, std::uint64_t seed,
               const event::options& how = {1u << 10, event::event::last_generation})
      : net(ranks, seed) {
    for (int r = 0; r < ranks; ++r) {
      runtimes.push_back(core::runtime::over(std::make_unique<fake_session>(r, ranks),
                                             std::make_unique<shuffled_endpoint>(net, r),
                                             core::threading::one));
      systems.push_back(std::make_unique<event::system>(*runtimes.back(), how));
    }
  }
  /// Until nothing is under way, nor kept since a send was refused.
  void settle() {
    for (int quiet = 0; quiet < 20; ++quiet) {
      for (const auto& r : runtimes) {
        while (r->poll() != 0) {
          quiet = 0;
        }
      }
    }
  }
  shuffled_network net;
  std::vector<std::unique_ptr<core::runtime>> runtimes;
  std::vector<std::unique_ptr<event::system>> systems;
};

}  // namespace sinew::test
