// The messages of one collective call: a tag of its own, ranks of the communicator or of a part of
// it, and the first fault. A fault does not stop the call: the other ranks wait for its messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/base/check.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::coll {

using p2p::request;

/// Tags [0, call_tags) number the blocking collective calls, as many above them the nonblocking
/// ones, and as many again the persistent ones; the rest belongs to create_group.
inline constexpr std::uint32_t call_tags = core::collective_tags;
static_assert(3 * call_tags < static_cast<std::uint32_t>(p2p::max_tag.value()));

/// For what the user gives a tag to, among a part of the ranks: above those of the collectives. Two
/// tags of the user fall together only if they differ by max_tag + 1 - 3 * call_tags, and even that
/// harms only if their groups are at it at the same time.
[[nodiscard]] inline message_tag group_tag(message_tag tag) noexcept {
  SINEW_EXPECT(tag >= 0);
  constexpr std::uint32_t others = 3 * call_tags;
  constexpr auto range = static_cast<std::uint32_t>(p2p::max_tag.value()) - others + 1;
  return message_tag{
      static_cast<std::int32_t>(others + static_cast<std::uint32_t>(tag.value()) % range)};
}

class collective_messages {
 public:
  /// `name` and `root` (-1: without) are for who asks what this rank waits for.
  explicit collective_messages(participant at, const char* name, comm_rank root = -1)
      : engine_(at.engine),
        comm_(at.comm),
        around_(at.comm.collective.exchange({name, root})),
        tag_(static_cast<std::int32_t>(at.comm.collective_count++ % call_tags)),
        rank_(at.comm.rank().value()),
        size_(at.comm.size()) {
    SINEW_EXPECT(name != nullptr && root >= -1 && root.value() < size_);
  }

  /// Among `ranks` (of the communicator) only; this rank is number `rank` of them.
  collective_messages(participant at, std::span<const int> ranks, int rank, message_tag tag)
      : engine_(at.engine),
        comm_(at.comm),
        ranks_(ranks.data()),
        tag_(tag),
        rank_(rank),
        size_(static_cast<int>(ranks.size())) {
    SINEW_EXPECT(rank >= 0 && rank < size_);
    SINEW_EXPECT(ranks[static_cast<std::size_t>(rank)] == at.comm.rank().value());
  }

  collective_messages(const collective_messages&) = delete;
  collective_messages& operator=(const collective_messages&) = delete;
  ~collective_messages() {
    if (ranks_ == nullptr) {  // several groups may agree at once; they leave no record
      (void)comm_.collective.exchange(around_);
    }
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] message_tag tag() const noexcept { return tag_; }
  [[nodiscard]] core::runtime& runtime() const noexcept { return engine_.runtime(); }
  [[nodiscard]] bool spans_jobs() const noexcept { return comm_.spans_jobs; }
  /// A rank whose own messages all came may have got them from one that has had none of a dead
  /// rank's: where a rank of the communicator has died nobody takes the result for good.
  [[nodiscard]] fault outcome() const noexcept {
    return fault_ == fault::none && ranks_ == nullptr && engine_.has_dead(comm_)
               ? fault::peer_failed
               : fault_;
  }

  void send(const buffer& from, int dest) {
    SINEW_EXPECT(dest != rank_);  // it would wait for itself
    note(engine_.send(comm_, p2p::collectives_of(comm_), from, real(dest), tag_).error);
  }
  void recv(const buffer& into, int source) {
    SINEW_EXPECT(source != rank_);
    note(engine_.recv(comm_, p2p::collectives_of(comm_), into, real(source), tag_).error);
  }
  void exchange(const buffer& from, int dest, const buffer& into, int source) {
    note(engine_
             .exchange(comm_, p2p::collectives_of(comm_), from, real(dest), tag_, into,
                       real(source), tag_)
             .error);
  }
  void note(fault f) noexcept {
    if (fault_ == fault::none) {
      fault_ = f;
    }
  }

 private:
  friend class batch;
  [[nodiscard]] comm_rank real(int r) const noexcept {
    SINEW_EXPECT(r >= 0 && r < size_);
    return comm_rank{ranks_ == nullptr ? r : ranks_[r]};
  }

  p2p::engine& engine_;
  core::communicator& comm_;
  core::collective_call around_{};  ///< the call that this one is a part of
  const int* ranks_ = nullptr;
  message_tag tag_;
  int rank_;
  int size_;
  fault fault_ = fault::none;
};

/// Up to `window` operations of a call under way at once.
class batch {
 public:
  static constexpr int window = 32;

  explicit batch(collective_messages& t) noexcept : call_(t) {}
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch() { wait(); }

  /// Makes sure that `n` operations can be started without waiting in between.
  void room(int n) {
    SINEW_EXPECT(n > 0 && n <= window);
    if (used_ + n > window) {
      wait();
    }
    SINEW_ENSURE(used_ + n <= window);
  }
  void send(const buffer& from, int dest) {
    room(1);
    collective_messages& t = call_;
    auto* r = t.engine_.isend(t.comm_, p2p::collectives_of(t.comm_), from, t.real(dest), t.tag_);
    if (r != nullptr) {
      pending_[used_++] = r;
    }
  }
  void recv(const buffer& into, int source) {
    room(1);
    collective_messages& t = call_;
    pending_[used_++] =
        t.engine_.irecv(t.comm_, p2p::collectives_of(t.comm_), into, t.real(source), t.tag_);
  }
  void wait() {
    for (int i = 0; i < used_; ++i) {
      call_.engine_.wait(*pending_[i]);
      call_.note(pending_[i]->outcome.error);
      call_.engine_.release(pending_[i]);
    }
    used_ = 0;
  }

 private:
  collective_messages& call_;
  request* pending_[window];
  int used_ = 0;
};

/// `count` instances from instance `first` on.
[[nodiscard]] inline buffer part(const void* base, std::ptrdiff_t first, std::size_t count,
                                 const layout::datatype& type) noexcept {
  SINEW_EXPECT(base != in_place);  // whoever takes it has replaced it
  return {static_cast<std::byte*>(const_cast<void*>(base)) + first * type.extent(), count, &type};
}

/// Block `r` of equal blocks of `b.count` instances each.
[[nodiscard]] inline buffer block(const buffer& b, int r) noexcept {
  return part(b.base, static_cast<std::ptrdiff_t>(b.count) * r, b.count, *b.type);
}
[[nodiscard]] inline buffer block(const parts& p, int r) noexcept {
  SINEW_EXPECT(p.counts[r] >= 0);
  return part(p.base, p.displacements[r], static_cast<std::size_t>(p.counts[r]), *p.type);
}
[[nodiscard]] inline buffer block(const parts_w& p, int r) noexcept {
  SINEW_EXPECT(p.counts[r] >= 0 && p.types[r] != nullptr);
  auto* base = static_cast<std::byte*>(const_cast<void*>(p.base));
  return {base + p.displacements[r], static_cast<std::size_t>(p.counts[r]), p.types[r]};
}

/// Copies between buffers of one process as a message would; a short receiver is a fault.
inline fault copy(const buffer& from, const buffer& into) {
  if (from.bytes() > into.bytes()) {
    return fault::truncated;
  }
  if (from.bytes() != 0) {
    layout::copy(*from.type, from.count, from.base, *into.type, into.count, into.base);
  }
  return fault::none;
}

/// Every rank sends out(r) to r and receives in(r) from r, itself excepted; one round of waiting
/// for up to 16 partners. Empty messages are not sent: both sides know their size. In step i the
/// partners are rank + i and rank - i. No deadlock: a rank waits only for steps it has started both
/// halves of, and the earliest unfinished step of all ranks can always finish. (The shifted order
/// is that of pairwise exchange: Thakur, Rabenseifner and Gropp 2005.)
template <class Out, class In>
void exchange_all(collective_messages& t, const Out& out, const In& in) {
  const int n = t.size();
  batch b(t);
  for (int step = 1; step < n; ++step) {
    const int dest = (t.rank() + step) % n;
    const int source = (t.rank() - step + n) % n;
    const buffer into = in(source);
    const buffer from = out(dest);
    b.room(2);
    if (into.bytes() != 0) {
      b.recv(into, source);
    }
    if (from.bytes() != 0) {
      b.send(from, dest);
    }
  }
}

/// What a rank exchanges with its neighbours, as m.receive(buffer, source) and m.send(buffer,
/// dest), all of them at once. out(i), in(i): the block for the i-th destination, from the i-th
/// source. Between two ranks messages meet receives in their order. In a Cartesian topology the one
/// that a rank sends down first is what its neighbour gets from above.
template <class Messages, class Out, class In>
void exchange_with_neighbours(Messages& m, const neighbours& n, const Out& out, const In& in) {
  SINEW_EXPECT(!n.cartesian || n.sources.size() % 2 == 0);  // they lie in pairs
  for (std::size_t i = 0; i < n.sources.size(); ++i) {
    const std::size_t from = n.cartesian ? i ^ 1U : i;
    if (n.sources[from] >= 0) {
      m.receive(in(static_cast<int>(from)), n.sources[from]);
    }
  }
  for (std::size_t i = 0; i < n.destinations.size(); ++i) {
    if (n.destinations[i] >= 0) {
      m.send(out(static_cast<int>(i)), n.destinations[i]);
    }
  }
}

// The pieces that collectives are made of; any rank count, order kept, one call's messages.

void barrier_any(collective_messages& t);
/// `data` everywhere the same number of bytes, more than none; more than one rank.
void bcast_any(collective_messages& t, const buffer& data, int root);
/// input (op-ordered over ranks) into `result` at root, which is looked at only there.
void reduce_any(collective_messages& t, const void* input, const buffer& result, const op& o,
                int root);
/// Rank r gets counts[r] instances of the reduction; `mine` must not overlap `input`.
void reduce_scatter_any(collective_messages& t, const void* input, const buffer& mine,
                        std::span<const std::ptrdiff_t> counts, const op& o);
/// Tree of radix `fan`. `data` everywhere the same number of bytes.
void bcast_tree(collective_messages& t, const buffer& data, int root, int fan);
/// input (op-ordered over ranks) into `result` at root; `input` may be `result` (only at root is
/// `result` looked at). A tree of radix `fan`.
void reduce_tree(collective_messages& t, const void* input, void* result, std::size_t count,
                 const layout::datatype& type, const op& o, int root, int fan);
/// Result on every rank; `input` may be `result`.
void allreduce_any(collective_messages& t, const void* input, const buffer& result, const op& o);

}  // namespace sinew::coll
