// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "fabric/shm/messages.hpp"
#include "fabric/shm/one_sided.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fabric {
namespace shm {
namespace {

template <bool Threads>
class shm_endpoint final : public endpoint {
 public:
  explicit shm_endpoint(const node_memory& where) : messages_(where), transfers_(messages_, where) {
    bounds_ = {max_short_bytes, max_medium_bytes, transfers_.cma_allowed()};
  }

  [[nodiscard]] job_rank rank() const noexcept override { return messages_.rank(); }
  [[nodiscard]] int size() const noexcept override { return messages_.size(); }
  [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
  [[nodiscard]] std::optional<traffic> far_traffic() override { return traffic{}; }
  [[nodiscard]] const char* name() const noexcept override { return "shm"; }

  void set_handler(handler_id id, handler function, void* context) override {
    messages_.set_handler(id, function, context);
  }
  [[gnu::flatten]] status send_short(job_rank peer, handler_id id, header head, const void* data,
                                     std::size_t size) override {
    return messages_.send_short_message(peer, slot_kind::short_message, id, head, data, size);
  }
  status send_medium(job_rank peer, handler_id id, header head, const void* data,
                     std::size_t size) override {
    if (size <= max_short_bytes) {
      return messages_.send_short_message(peer, slot_kind::short_message, id, head, data, size);
    }
    return messages_.send_packet(peer, slot_kind::medium, id, head, data, size);
  }
  status reserve(job_rank peer, packet& out) override { return messages_.reserve(peer, out); }
  status commit(job_rank peer, handler_id id, header head, packet& filled,
                std::size_t size) override {
    return messages_.commit(peer, slot_kind::medium, id, head, filled, size);
  }

  bool streams_to(job_rank peer) override { return messages_.streams_to(peer); }
  remote_key expose(void* address, std::size_t bytes) override {
    return transfers_.expose(address, bytes);
  }
  void withdraw(const remote_key&) override {}
  status put(job_rank peer, const void* local, const remote_address& to, std::size_t bytes,
             callback when_done) override {
    return transfers_.put(peer, local, to, bytes, when_done);
  }
  status get(job_rank peer, void* local, const remote_address& from, std::size_t bytes,
             callback when_done) override {
    return transfers_.get(peer, local, from, bytes, when_done);
  }
  status atomic(job_rank peer, atomic_op op, const remote_address& at, std::size_t width,
                std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                callback when_done) override {
    return transfers_.atomic(peer, op, at, width, operand, compare, result, when_done);
  }
  status flush(job_rank peer) override { return transfers_.flush(peer); }

  copied copy_now(job_rank peer, direction way, std::span<const piece> pieces) override {
    return transfers_.copy_now(peer, way, pieces);
  }

  void give_up(job_rank peer) override { transfers_.give_up(peer); }

  bool meet(job_rank peer, std::uint32_t tenant) override { return messages_.meet(peer, tenant); }

  int progress(int budget) override {
    SINEW_EXPECT(budget > 0);
    // Apart, so that a look at rings that are all empty is short.
    auto* const first = messages_.first_ready();
    return first != nullptr || transfers_.busy() ? handle(first, budget) : 0;
  }

  void sleep(std::uint64_t timeout_ns) override {
    const auto more = [](void* self) {
      return static_cast<shm_endpoint*>(self)->transfers_.can_step();
    };
    messages_.sleep(timeout_ns, more, this);
  }
  void wake() override { messages_.wake(); }

 private:
  [[gnu::noinline]] int handle(typename messages<Threads>::watch* first, int budget) {
    int happened = messages_.handle_from(first, budget);
    if (transfers_.busy()) {
      happened += transfers_.step();
    }
    return happened;
  }

  messages<Threads> messages_;
  one_sided<Threads> transfers_;
  limits bounds_;
};

}  // namespace
}  // namespace shm

std::unique_ptr<endpoint> open_shm(const node_memory& where, bool threads) {
  if (threads) {
    return std::make_unique<shm::shm_endpoint<true>>(where);
  }
  return std::make_unique<shm::shm_endpoint<false>>(where);
}

}  // namespace sinew::fabric
