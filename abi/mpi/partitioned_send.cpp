// MPI-5.0 section 4.2.1: the sender of partitions.
#include "abi/mpi/message.hpp"
#include "abi/mpi/partitioned_messages.hpp"

namespace sinew::mpi {
namespace {

using p2p::engine;

/// The terms on their way. Nobody waits for them, so the object is its own.
struct terms_sent : awaited_message {
  partition_terms what{};
};

class partitioned_send final : public partitioned_operation {
 public:
  explicit partitioned_send(const arguments& with)
      : partitioned_operation(with, true),
        data_(partitioned_channel(with.comm, engine::partitioned::data)),
        parts_(std::make_unique<part[]>(static_cast<std::size_t>(with.partitions))) {
    const auto n = static_cast<std::uint32_t>(with.partitions);
    first_tag_ = with.comm.partition_tags.fetch_add(n, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < n; ++i) {
      parts_[i].of = this;
      parts_[i].fire = [](core::waiter& w) noexcept { ended(static_cast<part&>(w)); };
    }
  }

  void introduce() override;

  void start() override {
    const auto n = static_cast<std::size_t>(with_.partitions);
    for (std::size_t i = 0; i < n; ++i) {
      parts_[i].ready.store(false, std::memory_order_relaxed);
    }
    begin();
    expect(n);
    end_one();
  }

  void ready(std::size_t i) override {
    part& p = parts_[i];
    if (p.ready.exchange(true, std::memory_order_relaxed)) {
      fail_on(&with_.comm, MPI_ERR_ARG,
              "the partition %zu has been marked ready already since the request was started", i);
    }
    if (with_.peer == MPI_PROC_NULL) {
      end_one();
      return;
    }
    p2p::request* m = nullptr;
    try {
      m = process.engine->isend(*with_.comm.comm, data_,
                                {place_of(i * with_.each.count), with_.each.count, with_.each.type},
                                comm_rank{with_.peer}, partition_tag(first_tag_, i));
    } catch (...) {
      p.ready.store(false, std::memory_order_relaxed);
      throw;
    }
    if (m == nullptr) {
      end_one();
    } else if (!p.tell_when_ended(m)) {
      ended(p);
    }
  }

  void fill(MPI_Status* status) const noexcept override { set_empty(status); }

 private:
  struct part : awaited_message {
    partitioned_send* of = nullptr;
    /// Marked since the last start. Relaxed: it only tells errors apart.
    std::atomic<bool> ready{false};
  };

  static void ended(part& p) noexcept {
    p.of->note(p.take());
    p.of->end_one();
  }

  std::string about(p2p::fault f) const override {
    return "partitions to rank " + std::to_string(with_.peer) + ", tag " +
           std::to_string(with_.tag) +
           (f == p2p::fault::peer_failed ? ": it has died"
            : f == p2p::fault::revoked   ? ": the communicator has been revoked"
                                         : ": no memory for a message");
  }

  p2p::channel& data_;
  std::unique_ptr<part[]> parts_;
  std::uint32_t first_tag_;
};

void partitioned_send::introduce() {
  if (with_.peer == MPI_PROC_NULL) {
    return;
  }
  auto sent = std::make_unique<terms_sent>();
  sent->what = {static_cast<std::uint32_t>(with_.partitions), first_tag_, with_.each.bytes()};
  sent->fire = [](core::waiter& w) noexcept {
    auto& self = static_cast<terms_sent&>(w);
    (void)self.take();
    delete &self;
  };
  p2p::request* const m = process.engine->isend(
      *with_.comm.comm, partitioned_channel(with_.comm, engine::partitioned::terms),
      p2p::buffer::of_bytes(&sent->what, sizeof sent->what), comm_rank{with_.peer},
      message_tag{with_.tag});
  if (m == nullptr) {
    return;
  }
  terms_sent* const own = sent.release();
  if (!own->tell_when_ended(m)) {
    own->fire(*own);
  }
}

}  // namespace

std::shared_ptr<partitioned_operation> new_partitioned_send(
    const partitioned_operation::arguments& with) {
  return std::make_shared<partitioned_send>(with);
}

}  // namespace sinew::mpi
