// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 4.2.1: the sender of partitions.
#include <mutex>

#include "partitioned/messages.hpp"

namespace sinew::partitioned {
namespace {

using p2p::engine;

/// Numbers the partitions that this rank sends in a communicator, so that each has a tag of its
/// own. Any thread; nothing else depends on it, so relaxed.
using tag_counter = std::atomic<std::uint32_t>;
constexpr core::communicator_slot<tag_counter> tags_slot(core::slots::partitioned_tags);

std::uint32_t take_tags(core::communicator& in, std::uint32_t count) {
  static std::mutex one_makes_it;
  const std::lock_guard held(one_makes_it);
  tag_counter* found = in.attached.get(tags_slot);
  if (found == nullptr) {
    found = &in.attached.emplace(tags_slot, 0U);
  }
  return found->fetch_add(count, std::memory_order_relaxed);
}

/// The terms on their way. Nobody waits for them, so the object is its own.
struct terms_sent : awaited_message {
  explicit terms_sent(p2p::engine& e) : by(e) {}
  p2p::engine& by;
  partition_terms what{};
};

class send_side final : public operation {
 public:
  explicit send_side(const arguments& with)
      : operation(with, true),
        data_(channel(engine::partitioned::data)),
        parts_(std::make_unique<part[]>(static_cast<std::size_t>(with.partitions))) {
    const auto n = static_cast<std::uint32_t>(with.partitions);
    first_tag_ = take_tags(with.comm, n);
    for (std::uint32_t i = 0; i < n; ++i) {
      parts_[i].of = this;
      parts_[i].fire = [](core::waiter& w) noexcept { ended(static_cast<part&>(w)); };
    }
  }

  void introduce() override;

  [[nodiscard]] bool start() override {
    const auto n = static_cast<std::size_t>(with_.partitions);
    for (std::size_t i = 0; i < n; ++i) {
      parts_[i].ready.store(false, std::memory_order_relaxed);
    }
    begin();
    expect(n);
    end_one();
    return true;
  }

  [[nodiscard]] bool ready(std::size_t i) override {
    part& p = parts_[i];
    if (p.ready.exchange(true, std::memory_order_relaxed)) {
      return false;
    }
    if (with_.peer == p2p::no_rank) {
      end_one();
      return true;
    }
    p2p::request* m = nullptr;
    try {
      m = with_.engine.isend(with_.comm, data_,
                             {place_of(i * with_.each.count), with_.each.count, with_.each.type},
                             with_.peer, partition_tag(first_tag_, i));
    } catch (...) {
      p.ready.store(false, std::memory_order_relaxed);
      throw;
    }
    if (m == nullptr) {
      end_one();
    } else if (!p.tell_when_ended(m)) {
      ended(p);
    }
    return true;
  }

  std::string about(p2p::fault f) const override {
    return "partitions to rank " + to_string(with_.peer) + ", tag " + to_string(with_.tag) +
           (f == p2p::fault::peer_failed ? ": it has died"
            : f == p2p::fault::revoked   ? ": the communicator has been revoked"
                                         : ": no memory for a message");
  }

 private:
  struct part : awaited_message {
    send_side* of = nullptr;
    /// Marked since the last start. Relaxed: it only tells errors apart.
    std::atomic<bool> ready{false};
  };

  static void ended(part& p) noexcept {
    p.of->note(p.take(p.of->with_.engine));
    p.of->end_one();
  }

  p2p::channel& data_;
  std::unique_ptr<part[]> parts_;
  std::uint32_t first_tag_;
};

void send_side::introduce() {
  if (with_.peer == p2p::no_rank) {
    return;
  }
  auto sent = std::make_unique<terms_sent>(with_.engine);
  sent->what = {static_cast<std::uint32_t>(with_.partitions), first_tag_, with_.each.bytes()};
  sent->fire = [](core::waiter& w) noexcept {
    auto& self = static_cast<terms_sent&>(w);
    (void)self.take(self.by);
    delete &self;
  };
  p2p::request* const m = with_.engine.isend(with_.comm, channel(engine::partitioned::terms),
                                             p2p::buffer::of_bytes(&sent->what, sizeof sent->what),
                                             with_.peer, with_.tag);
  if (m == nullptr) {
    return;
  }
  terms_sent* const own = sent.release();
  if (!own->tell_when_ended(m)) {
    own->fire(*own);
  }
}

}  // namespace

std::shared_ptr<operation> new_send(const arguments& with) {
  return std::make_shared<send_side>(with);
}

}  // namespace sinew::partitioned
