// SPDX-License-Identifier: BSD-3-Clause
// Put, get and atomics between the processes of a node. Memory inside the node mapping is touched
// directly; for the rest the two sides cooperate (README.md).
#pragma once

#include <memory>
#include <vector>

#include "fabric/shm/fixed_table.hpp"
#include "fabric/shm/messages.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::fabric::shm {

template <bool Threads>
class one_sided {
 public:
  one_sided(messages<Threads>& carrier, const node_memory& where);

  [[nodiscard]] bool cma_allowed() const noexcept { return cma_; }

  remote_key expose(const void* address, std::size_t bytes) const noexcept;
  status put(job_rank peer, const void* local, const remote_address& to, std::size_t bytes,
             callback when_done);
  status get(job_rank peer, void* local, const remote_address& from, std::size_t bytes,
             callback when_done);
  status atomic(job_rank peer, atomic_op op, const remote_address& at, std::size_t width,
                std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                callback when_done);
  status flush(job_rank peer);
  [[nodiscard]] copied copy_now(job_rank peer, direction how, std::span<const piece> pieces);

  /// See endpoint::give_up(). Progress only.
  void give_up(job_rank peer) noexcept;

  /// Anything for step() to do. Hot.
  [[nodiscard]] bool busy() const noexcept {
    return (gets_.started() | puts_.started() | queued_) != 0 ||
           (any_given_up_ && atomics_.started() != 0);
  }
  /// Moves everything along by a bounded amount (tens of us at most). Progress only. Warm.
  [[gnu::noinline]] int step();
  /// Whether step() would do something now, without a further message. Progress only. Cold.
  [[nodiscard]] bool can_step();

 private:
  enum opcode : std::uint8_t { get_request, get_chunk, put_chunk, atomic_request, atomic_reply };
  enum class way : std::uint8_t { stream, stream_alone, both_by_cma };
  enum class answer : std::uint8_t { unknown, yes, no };

  /// A get of ours.
  struct get_state {
    std::byte* local;
    std::uint64_t source;
    std::uint64_t bytes{0};  ///< 0: none is under way
    std::uint64_t arrived;   ///< by stream or by our own copying
    std::uint64_t asked_at;  ///< ticks
    /// Stored last (release) by get(), loaded by the handler of the first chunk, which may come
    /// before start(): orders the two threads.
    std::atomic<std::uint64_t> generation{0};
    job_rank peer;
    way how;
    bool answered;  ///< the source has sent a first chunk
    callback when_done;
  };
  /// A put of ours that did not finish at once.
  struct put_state {
    const std::byte* local;
    std::uint64_t target;
    std::uint64_t bytes;
    std::uint64_t moved;
    job_rank peer;
    callback when_done;
  };
  struct atomic_state {
    std::uint64_t* result;
    callback when_done;
    job_rank peer;
  };
  /// A get of a peer that we help.
  struct serve_state {
    job_rank peer;
    int ticket_index;
    std::uint64_t generation;
    const std::byte* source;
    std::uint64_t target;
    std::uint64_t bytes;
    std::uint64_t at;  ///< what we have taken on and not yet moved
    std::uint64_t end;
    way how;
    bool probing;   ///< streams one piece before it turns to the kernel
    packet filled;  ///< holds [at, at + filled_bytes) if it could not be committed
    std::size_t filled_bytes;
  };
  struct reply_state {
    job_rank peer;
    header head;
  };

  [[nodiscard]] std::byte* direct(job_rank peer, const remote_address& at,
                                  std::size_t bytes) noexcept;
  [[nodiscard]] bool cma_with(job_rank peer);

  // What a peer asks for is checked against our own tables; the addresses that it names are its
  // own affair, as with any remote memory access.
  static status handle(void* self, unsigned op, const arrival& m) noexcept;
  [[nodiscard]] status on_get_request(const arrival& m) noexcept;
  void on_get_chunk(const arrival& m) noexcept;
  [[nodiscard]] status on_atomic_request(const arrival& m) noexcept;
  void on_atomic_reply(const arrival& m) noexcept;

  int step_get(int index);
  int step_put(int index);
  int end_atomics();
  /// Something under way with a peer that has been given up.
  [[nodiscard]] bool any_to_end();
  /// True when there is nothing left for us to do in it.
  [[nodiscard]] bool step_serve(serve_state& s, int& moved);
  [[nodiscard]] bool serve_by_stream(serve_state& s, int& moved);
  [[nodiscard]] bool serve_by_cma(serve_state& s, int& moved);
  [[nodiscard]] bool take_for(serve_state& s, std::uint64_t want);
  status push_put(put_state& p);
  void flush_replies();

  // Helping a peer's get is of no use while there is one of our own to copy, and while the peer
  // helps ours: two ranks that get from each other copy each its own. Each piece is taken once, so
  // it does no harm if one of them sees that later.
  /// Whether that rank has gets of which we do a part.
  [[nodiscard]] bool serves(job_rank peer) const noexcept;
  /// Whether a get of ours that goes through the kernel has parts that are nobody's task yet.
  [[nodiscard]] bool has_own_to_copy() noexcept;
  [[nodiscard]] bool any_left(int index) noexcept;

  messages<Threads>& carrier_;
  bool cma_;
  std::uint64_t stream_limit_;
  std::uint64_t patience_;  ///< ticks
  job_rank my_rank_;

  static_assert(fixed_table<get_state>::capacity <= tickets_per_rank, "a get has its ticket");
  static_assert(tickets_per_rank <= 256, "a message has 8 bits for it");
  fixed_table<get_state> gets_;
  fixed_table<put_state> puts_;
  fixed_table<atomic_state> atomics_;
  std::vector<serve_state> serves_;
  std::vector<reply_state> replies_;
  std::size_t queued_ = 0;  ///< how many there are of both
  base::shortage shortage_;
  unsigned kernel_serves_ = 0;
  bool any_given_up_ = false;  ///< progress only
  bool blocked_ = false;       ///< the last step ended for want of slots or packets

  std::unique_ptr<std::atomic<answer>[]> cma_answer_;       ///< by rank
  std::unique_ptr<std::atomic<std::uint64_t>[]> put_mark_;  ///< slots to be consumed by flush
};

extern template class one_sided<false>;
extern template class one_sided<true>;

}  // namespace sinew::fabric::shm
