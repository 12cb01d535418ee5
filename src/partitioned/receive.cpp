// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 4.2.2: the receiver of partitions.
#include <algorithm>
#include <mutex>
#include <utility>

#include "partitioned/messages.hpp"
#include "sinew/base/lock.hpp"

namespace sinew::partitioned {
namespace {

using p2p::engine;

class receive_side final : public operation, public std::enable_shared_from_this<receive_side> {
 public:
  explicit receive_side(const arguments& with)
      : operation(with, false),
        data_(channel(engine::partitioned::data)),
        missing_(std::make_unique<std::atomic<std::uint32_t>[]>(
            static_cast<std::size_t>(with.partitions))) {
    coming_.of = this;
    coming_.fire = [](core::waiter& w) noexcept { static_cast<terms_coming&>(w).of->terms_came(); };
  }

  void introduce() override;
  [[nodiscard]] bool start() override;

  [[nodiscard]] bool arrived(std::size_t partition) const noexcept override {
    return missing_[partition].load(std::memory_order_acquire) == 0;
  }

  [[nodiscard]] p2p::result received() const noexcept override {
    return with_.peer == p2p::no_rank
               ? p2p::result{}
               : p2p::result{with_.peer, with_.tag, std::min(room(), sent_bytes()), sent_bytes()};
  }

  /// Receives what the sender's partitions bring. Its terms are known, and it has begun.
  void post() noexcept;

  receive_side* next = nullptr;  ///< in late_starts

 private:
  struct terms_coming : awaited_message {
    receive_side* of = nullptr;
  };
  /// One of the sender's partitions.
  struct part : awaited_message {
    receive_side* of = nullptr;
    /// Where it cannot be received in place, since it ends within an instance of our datatype that
    /// is not dense, or lies beyond our end.
    std::unique_ptr<std::byte[]> aside;
  };
  /// Both kinds of partitions in steps of one scale. Bytes; but if the two sides are equally long,
  /// shares of the whole, since a partition may be empty.
  struct scale {
    std::uint64_t theirs;
    std::uint64_t ours;
  };
  struct range {
    std::uint64_t from;
    std::uint64_t to;  ///< one after the last
  };

  [[nodiscard]] std::size_t room() const noexcept {
    return static_cast<std::size_t>(with_.partitions) * with_.each.bytes();
  }
  [[nodiscard]] std::size_t sent_bytes() const noexcept { return terms_.partitions * terms_.bytes; }
  [[nodiscard]] scale steps() const noexcept {
    const auto own = static_cast<std::uint64_t>(with_.partitions);
    return room() == sent_bytes() || with_.each.bytes() == 0 || terms_.bytes == 0
               ? scale{own, terms_.partitions}
               : scale{terms_.bytes, with_.each.bytes()};
  }
  /// Which of the sender's partitions touch ours: what lies beyond the sender's end comes with its
  /// last one.
  [[nodiscard]] range theirs_in(std::uint64_t ours) const noexcept {
    const scale by = steps();
    const std::uint64_t n = terms_.partitions;
    if (n == 0) {
      return {0, 0};
    }
    return {std::min(ours * by.ours / by.theirs, n - 1),
            std::min(((ours + 1) * by.ours - 1) / by.theirs, n - 1) + 1};
  }
  /// The inverse.
  [[nodiscard]] range ours_in(std::uint64_t theirs) const noexcept {
    const scale by = steps();
    const auto n = static_cast<std::uint64_t>(with_.partitions);
    if (n == 0) {
      return {0, 0};
    }
    return {std::min(theirs * by.theirs / by.ours, n),
            theirs + 1 == terms_.partitions
                ? n
                : std::min(((theirs + 1) * by.theirs - 1) / by.ours + 1, n)};
  }

  void terms_came() noexcept;
  void make_parts();
  [[nodiscard]] p2p::buffer place_for(std::size_t i);
  static void ended(part& p) noexcept;
  std::string about(p2p::fault f) const override;

  p2p::channel& data_;
  /// Of each of our partitions: how many of the sender's it still waits for. Counting down is a
  /// release, and seeing 0 an acquire, so that the data is seen, too.
  std::unique_ptr<std::atomic<std::uint32_t>[]> missing_;
  std::unique_ptr<part[]> parts_;
  partition_terms terms_{};
  terms_coming coming_;
  std::shared_ptr<receive_side> self_;  ///< until the terms have come
  base::lock lock_;                     ///< guards the next two
  bool has_terms_ = false;              ///< or knows that they will not come:
  bool started_early_ = false;
  p2p::fault no_terms_ = p2p::fault::none;
  bool broken_ = false;  ///< messages of an earlier start have not all found a receive
};

/// Receives of a rank that were started before their terms came. They go on in a chore of the
/// runtime's, since no receive can be posted while a message is being delivered.
class late_starts {
 public:
  explicit late_starts(core::runtime& rt)
      : rt_(rt),
        chore_(rt.add_chore([](void* self) { return static_cast<late_starts*>(self)->go_on(); },
                            this)) {}
  late_starts(const late_starts&) = delete;
  late_starts& operator=(const late_starts&) = delete;

  void add(receive_side& r) noexcept {
    const base::guard held(lock_, rt_.threaded());
    r.next = first_;
    first_ = &r;
    rt_.want_chore(chore_, true);
  }

 private:
  int go_on() noexcept {
    receive_side* all = nullptr;
    {
      const base::guard held(lock_, rt_.threaded());
      std::swap(all, first_);
      rt_.want_chore(chore_, false);
    }
    int done = 0;
    while (all != nullptr) {
      receive_side& r = *all;
      all = r.next;  // before the program can free it
      r.post();
      ++done;
    }
    return done;
  }

  core::runtime& rt_;
  base::lock lock_;
  receive_side* first_ = nullptr;
  const int chore_;
};

constexpr core::runtime_slot<late_starts> late_slot(core::slots::partitioned_late);

/// Made before the first receive of the rank.
void prepare_late_starts(core::runtime& of) {
  static std::mutex one_makes_it;
  const std::lock_guard held(one_makes_it);
  if (of.attached.get(late_slot) == nullptr) {
    (void)of.attached.emplace(late_slot, of);
  }
}

bool receive_side::start() {
  if (broken_) {
    return false;
  }
  if (with_.peer == p2p::no_rank) {
    begin();
    end_one();
    return true;
  }
  {
    const base::guard held(lock_, threaded());
    if (!has_terms_) {
      begin();  // ended by post(), when they have come
      for (int i = 0; i < with_.partitions; ++i) {
        missing_[static_cast<std::size_t>(i)].store(1, std::memory_order_relaxed);
      }
      started_early_ = true;
      return true;
    }
  }
  if (parts_ == nullptr && no_terms_ == p2p::fault::none) {
    make_parts();
  }
  begin();
  post();
  return true;
}

void receive_side::introduce() {
  if (with_.peer == p2p::no_rank) {
    return;
  }
  p2p::request* const m =
      with_.engine.irecv(with_.comm, channel(engine::partitioned::terms),
                         p2p::buffer::of_bytes(&terms_, sizeof terms_), with_.peer, with_.tag);
  self_ = shared_from_this();
  if (!coming_.tell_when_ended(m)) {
    terms_came();
  }
}

void receive_side::terms_came() noexcept {
  // If the request has been freed meanwhile, the object goes with this.
  const std::shared_ptr<receive_side> self = std::move(self_);
  no_terms_ = coming_.take(with_.engine);
  bool started = false;
  {
    const base::guard held(lock_, threaded());
    has_terms_ = true;
    started = started_early_;
  }
  if (started) {
    with_.engine.runtime().attached.get(late_slot)->add(*this);
  }
}

void receive_side::make_parts() {
  auto fresh = std::make_unique<part[]>(terms_.partitions);
  for (std::size_t i = 0; i < terms_.partitions; ++i) {
    fresh[i].of = this;
    fresh[i].fire = [](core::waiter& w) noexcept { ended(static_cast<part&>(w)); };
  }
  parts_ = std::move(fresh);
}

p2p::buffer receive_side::place_for(std::size_t i) {
  const layout::datatype& type = *with_.each.type;
  const std::size_t offset = i * terms_.bytes;
  if (terms_.bytes == 0) {
    return p2p::buffer::of_bytes(static_cast<void*>(nullptr), 0);
  }
  if (offset + terms_.bytes <= room()) {
    if (offset % type.size() == 0 && terms_.bytes % type.size() == 0) {
      return {place_of(offset / type.size()), terms_.bytes / type.size(), &type};
    }
    if (type.dense()) {
      return p2p::buffer::of_bytes(static_cast<std::byte*>(with_.each.base) + offset, terms_.bytes);
    }
  }
  if (parts_[i].aside == nullptr) {
    parts_[i].aside = std::make_unique<std::byte[]>(terms_.bytes);
  }
  return p2p::buffer::of_bytes(parts_[i].aside.get(), terms_.bytes);
}

void receive_side::post() noexcept {
  if (no_terms_ != p2p::fault::none) {  // nothing is known of what the sender has
    note(no_terms_);
    end_some(1);
    return;
  }
  const std::size_t n = terms_.partitions;
  for (int j = 0; j < with_.partitions; ++j) {
    const range r = theirs_in(static_cast<std::uint64_t>(j));
    missing_[static_cast<std::size_t>(j)].store(static_cast<std::uint32_t>(r.to - r.from),
                                                std::memory_order_relaxed);
  }
  expect(n);
  if (sent_bytes() > room()) {
    note(p2p::fault::truncated);
  }
  std::size_t i = 0;
  try {
    if (parts_ == nullptr) {
      make_parts();
    }
    for (; i < n; ++i) {
      p2p::request* const m = with_.engine.irecv(with_.comm, data_, place_for(i), with_.peer,
                                                 partition_tag(terms_.first_tag, i));
      if (!parts_[i].tell_when_ended(m)) {
        ended(parts_[i]);
      }
    }
  } catch (...) {  // no memory
    broken_ = true;
    note(p2p::fault::no_memory);
  }
  end_some(n - i + 1);
}

void receive_side::ended(part& p) noexcept {
  receive_side& self = *p.of;
  const auto i = static_cast<std::size_t>(&p - self.parts_.get());
  self.note(p.take(self.with_.engine));
  if (p.aside != nullptr && i * self.terms_.bytes < self.room()) {
    (void)layout::unpack(*self.with_.each.type,
                         self.with_.each.count * static_cast<std::size_t>(self.with_.partitions),
                         self.with_.each.base, i * self.terms_.bytes,
                         {p.aside.get(), self.terms_.bytes});
  }
  const range to = self.ours_in(i);
  for (std::uint64_t j = to.from; j < to.to; ++j) {
    self.missing_[j].fetch_sub(1, std::memory_order_release);
  }
  self.end_one();
}

std::string receive_side::about(p2p::fault f) const {
  const std::string which =
      "partitions from rank " + to_string(with_.peer) + ", tag " + to_string(with_.tag);
  return f == p2p::fault::truncated
             ? which + ": the sender's have " + std::to_string(sent_bytes()) +
                   " bytes in all, the receiver's only " + std::to_string(room())
         : f == p2p::fault::peer_failed ? which + ": it has died"
         : f == p2p::fault::revoked     ? which + ": the communicator has been revoked"
                                        : which + ": no memory to receive a message";
}

}  // namespace

std::shared_ptr<operation> new_receive(const arguments& with) {
  prepare_late_starts(with.engine.runtime());
  return std::make_shared<receive_side>(with);
}

}  // namespace sinew::partitioned
