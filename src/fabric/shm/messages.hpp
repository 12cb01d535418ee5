// SPDX-License-Identifier: BSD-3-Clause
// Active messages through shared memory: rings of one-line slots, and packets for what does not
// fit a line. The hot path of the fabric; README.md tells how it works.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "fabric/service.hpp"
#include "fabric/shm/copy.hpp"
#include "fabric/shm/doorbell.hpp"
#include "fabric/shm/pair.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::fabric::shm {

/// How many slots before its turn a slot's line is asked for, while messages are handled in a row:
/// handling 64 of 8 B took 18 ns each instead of 24. 2 to 6 do the same.
inline constexpr std::uint64_t asked_ahead = 3;

/// Copies n <= max_short_bytes bytes without a call.
inline void copy_short(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  if (n >= 16) {
    std::memcpy(to, from, 16);
    if (n > 32) {
      std::memcpy(to + 16, from + 16, 16);
    }
    std::memcpy(to + n - 16, from + n - 16, 16);
  } else if (n >= 8) {
    std::memcpy(to, from, 8);
    if (n > 8) {
      std::memcpy(to + n - 8, from + n - 8, 8);
    }
  } else if (n >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + n - 4, from + n - 4, 4);
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = from[i];
    }
  }
}

/// Receives the fabric's own messages. Runs inside progress like any handler.
struct inner_handler {
  status (*call)(void* context, unsigned opcode, const arrival& message) noexcept = nullptr;
  void* context = nullptr;
  /// What was known of that rank holds no more: another process is there now.
  void (*replaced)(void* context, job_rank peer) noexcept = nullptr;
};

template <bool Threads>
class messages {
 public:
  using pair_type = pair<Threads>;

  explicit messages(const node_memory& where);
  ~messages();
  messages(const messages&) = delete;
  messages& operator=(const messages&) = delete;

  [[nodiscard]] job_rank rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  void set_handler(handler_id id, handler function, void* context);
  void set_inner_handler(inner_handler h) noexcept {
    SINEW_EXPECT(h.call != nullptr);
    inner_ = h;
  }

  /// At most max_short_bytes. Hot: needs no frame, so that few stores of its own (saved registers)
  /// come between those to one slot and the next. The processor's queue of stores is what bounds
  /// how many slots it can be taking over at a time.
  status send_short_message(job_rank peer, slot_kind kind, std::uint8_t id, header head,
                            const void* data, std::size_t size) {
    SINEW_EXPECT(size <= max_short_bytes && (data != nullptr || size == 0));
    pair_type& p = pair_with(peer);
    bool sent = false;
    {
      const short_guard<Threads> guard(p.lock);
      if (!guard) {
        return status::again(retry_reason::busy);
      }
      if (p.tail != p.limit) [[likely]] {
        slot& s = p.out[p.tail & slot_mask_];
        s.set_head(head);
        copy_short(s.payload, static_cast<const std::byte*>(data), size);
        publish(p, s, kind, id, size);
        sent = true;
      }
    }
    if (!sent) [[unlikely]] {
      return send_short_late(peer, kind, id, head, data, size);
    }
    after_publishing(*p.bell, p.fence);
    return status::ok();
  }

  /// At most max_medium_bytes, copied into a packet. Hot.
  [[gnu::noinline]] status send_packet(job_rank peer, slot_kind kind, std::uint8_t id, header head,
                                       const void* data, std::size_t size);
  /// Sees to it that there is a slot as well, so that the commit hardly ever retries.
  /// `is_short`: it will carry little, so the packet used last is best (pair.hpp).
  status reserve(job_rank peer, packet& out, bool is_short = false);
  status commit(job_rank peer, slot_kind kind, std::uint8_t id, header head, packet& filled,
                std::size_t size);

  /// Copies what is to be sent to `peer` into a packet, and learns from it how far away that is.
  void fill(job_rank peer, const packet& into, const void* data, std::size_t size) noexcept {
    if (size < least_string_copy) {
      std::memcpy(into.data, data, size);
      return;
    }
    pair_type& p = pair_with(peer);
    const std::uint64_t begin = ticks();
    if (p.away.far() && !p.away.look_again(begin)) {
      // The reader's lines are dropped, not fetched from its cache: 64 KiB in pieces, both copies,
      // take 5.6 us whether it is 60 or 250 ns away, where copy_out() takes 2.7 and 23.
      copy_past_caches(into.data, data, size);
      return;
    }
    copy_out(into.data, data, size);
    if (pool_.link_of(static_cast<std::uint16_t>(into.token)).slot == 0) {
      return;  // its first use: the system has just provided the pages
    }
    if (const auto c = p.away.note(ticks() - begin, size); c != distance::change::none) {
      publish_distance(p, c);
    }
  }
  /// Whether long messages to `peer` had better be streamed through packets, and whether those of
  /// `peer` to us. Hints. Warm.
  [[nodiscard]] bool streams_to(job_rank peer) noexcept {
    return !crowded_ && !pair_with(peer).away.far();
  }
  [[nodiscard]] bool streams_from(job_rank peer) noexcept {
    const auto me = static_cast<unsigned>(local_rank_.value());
    return !crowded_ &&
           ((of_peer(peer).state().far[me / 64].load(std::memory_order_relaxed) >> (me % 64)) &
            1) == 0;
  }

  /// A ring that we poll: the word of its next slot, and the tag with which it will be ready.
  struct watch {
    const std::atomic<std::uint64_t>* word;
    std::uint32_t tag;
    pair_type* from;

    [[nodiscard]] bool ready() const noexcept {
      return slot_word::tag(word->load(std::memory_order_acquire)) == tag;
    }
  };

  /// The first ring that has a message; null if none has. Progress only. Hot.
  [[nodiscard]] watch* first_ready() {
    if (mine_.state().announce.load(std::memory_order_acquire) != announced_) [[unlikely]] {
      activate_rings();
    }
    for (watch& w : active_) {
      if (w.ready()) {
        return &w;
      }
    }
    return nullptr;
  }

  /// Handles at most `budget` messages of the rings from `w` on, which is ready, or null. Hot.
  int handle_from(watch* w, int budget) {
    int handled = 0;
    if (w == nullptr) {
      return handled;
    }
    watch* const end = active_.data() + active_.size();
    do {
      handled += drain(*w, budget - handled);
      ++w;
      if (handled >= budget) [[unlikely]] {
        // The ring that used the budget up goes last, so that none waits for long.
        std::rotate(active_.data(), w, end);
        break;
      }
      while (w != end && !w->ready()) {
        ++w;
      }
    } while (w != end);
    return handled;
  }

  /// Something to do for progress, or for a caller that got `retry`. Cold.
  [[nodiscard]] bool anything_new();
  /// Arms the bell, looks again (also by `more`), waits. Cold.
  void sleep(std::uint64_t timeout_ns, bool (*more)(void* context), void* context);
  void wake() noexcept { nudge_bell(mine_.state().bell); }
  /// Rings a peer's bell after a change that is not a message. Warm.
  void ring(job_rank peer) noexcept {
    pair_type& p = pair_with(peer);
    full_fence();
    after_publishing(*p.bell, false);
  }

  /// See endpoint::meet().
  [[nodiscard]] bool meet(job_rank peer, std::uint32_t tenant) noexcept;

  /// See endpoint::give_up(). What a dead peer has no room for counts as sent.
  void give_up(job_rank peer) noexcept {
    pair_with(peer).given_up.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool is_given_up(job_rank peer) noexcept {
    return pair_with(peer).given_up.load(std::memory_order_acquire);
  }
  /// A packet that was reserved and will not be committed. Rare.
  void give_back(const packet& unused) noexcept;

  /// Number of the slot after the last one sent to `peer`, and whether all before `n` are
  /// consumed. Warm.
  [[nodiscard]] std::uint64_t sent_to(job_rank peer);
  [[nodiscard]] bool consumed_by(job_rank peer, std::uint64_t n);

  /// Our part and a peer's, as mapped here. The peer must have set up (it sent or was sent to).
  [[nodiscard]] const part& mine() const noexcept { return mine_; }
  [[nodiscard]] part of_peer(job_rank peer) noexcept { return part_at(pair_with(peer).local_rank); }
  [[nodiscard]] bool is_ready(job_rank peer) noexcept {
    return of_peer(peer).state().ready.load(std::memory_order_acquire) != 0;
  }
  [[nodiscard]] std::byte* node_base() const noexcept { return base_; }
  [[nodiscard]] std::size_t node_bytes() const noexcept {
    return bytes_per_rank_ * static_cast<std::size_t>(size_);
  }

 private:
  [[nodiscard]] pair_type& pair_with(job_rank peer) noexcept {
    SINEW_EXPECT(peer >= 0 && peer.index() < by_rank_.size() && by_rank_[peer.index()] != nullptr);
    return *by_rank_[peer.index()];
  }
  [[nodiscard]] part part_at(local_rank r) const noexcept {
    return {base_ + r.index() * bytes_per_rank_, &shape_};
  }
  [[nodiscard]] std::uint32_t tag_of(std::uint64_t number) const noexcept {
    return static_cast<std::uint32_t>(number >> slot_shift_) + 1;
  }

  /// Makes slot `p.tail` visible. The release also covers the packet it names, and what this
  /// rank has read of the peer's packets up to the head that it acknowledges.
  void publish(pair_type& p, slot& s, slot_kind kind, std::uint8_t id, std::size_t size) noexcept {
    SINEW_EXPECT(p.tail < p.limit && &s == &p.out[p.tail & slot_mask_]);
    const std::uint64_t consumed = p.head.load(std::memory_order_acquire);
    s.word.store(slot_word::make(tag_of(p.tail), kind, id, size, consumed),
                 std::memory_order_release);
    ++p.tail;
  }

  /// Handles what is ready: at least one message, at most `budget`. Acknowledgements are noted once
  /// for all of them: the last says most, and at most a ring's length is ever outstanding.
  int drain(watch& w, int budget) {
    SINEW_EXPECT(budget > 0 && w.ready());
    pair_type& p = *w.from;
    std::uint64_t head = p.head.load(std::memory_order_relaxed);
    const slot* s = &p.in[head & slot_mask_];
    std::uint64_t word = s->word.load(std::memory_order_acquire);
    std::uint32_t next_tag = 0;
    int handled = 0;
    bool packets_read = false;
    std::uint64_t last_word = 0;
    do {
      last_word = word;
      if (!dispatch(p, *s, word, packets_read)) [[unlikely]] {
        return stop_at(w, head, handled);
      }
      ++head;
      p.head.store(head, std::memory_order_release);
      if (head - p.published >= quarter_) [[unlikely]] {
        publish_credit(p, head);
      }
      // The sender is ahead: its lines come while we handle what is here. A message that comes
      // alone takes no line that its sender is about to write.
      if (handled != 0) {
        __builtin_prefetch(&p.in[(head + asked_ahead) & slot_mask_]);
      }
      s = &p.in[head & slot_mask_];
      next_tag = tag_of(head);
      word = s->word.load(std::memory_order_acquire);
    } while (++handled < budget && slot_word::tag(word) == next_tag);
    p.acknowledged.store(
        slot_word::consumed(last_word, p.acknowledged.load(std::memory_order_relaxed)),
        std::memory_order_release);
    w.word = &s->word;
    w.tag = next_tag;
    if (packets_read && head != p.published) {
      publish_credit(p, head);
    }
    return handled;
  }

  /// Message `head` has been refused: it stays the next. What the `handled` before it acknowledge
  /// is not noted: it will say the same, and more.
  [[gnu::cold, gnu::noinline]] int stop_at(watch& w, std::uint64_t head, int handled) noexcept {
    pair_type& p = *w.from;
    w.word = &p.in[head & slot_mask_].word;
    w.tag = tag_of(head);
    if (head != p.published) {
      publish_credit(p, head);
    }
    return handled;
  }

  /// False: its handler has not taken the message. What a slot says is the peer's word: whatever it
  /// is, nothing is touched but the line, the peer's packets and the handlers.
  bool dispatch(pair_type& p, const slot& s, std::uint64_t word, bool& packet_read) {
    const slot_kind kind = slot_word::kind(word);
    const std::size_t size = slot_word::size(word);
    if (kind == slot_kind::short_message && size <= max_short_bytes) [[likely]] {
      const service& e = handlers_[slot_word::id(word)];
      return e.function(e.context, arrival{p.rank, s.head, s.payload, size}).done();
    }
    packet_read |= names_packet(kind);
    return dispatch_other(p, s, word);
  }
  [[nodiscard]] static constexpr bool names_packet(slot_kind kind) noexcept {
    return kind == slot_kind::medium || kind == slot_kind::inner_medium;
  }
  [[gnu::noinline]] bool dispatch_other(pair_type& p, const slot& s, std::uint64_t word);

  [[gnu::noinline]] void publish_credit(pair_type& p, std::uint64_t head) noexcept {
    SINEW_EXPECT(head > p.published && head - p.published <= shape_.slots);
    p.published = head;
    p.credit_in->head.store(head, std::memory_order_release);
    after_publishing(*p.bell, p.fence_in);
  }

  /// The ring looks full, or it is time to look ahead.
  [[gnu::noinline]] status send_short_late(job_rank peer, slot_kind kind, std::uint8_t id,
                                           header head, const void* data, std::size_t size) {
    pair_type& p = pair_with(peer);
    {
      const short_guard<Threads> guard(p.lock);
      if (!guard) {
        return status::again(retry_reason::busy);
      }
      if (p.tail == p.limit && !find_credit(p)) {
        return refused(p, retry_reason::no_slot);
      }
    }
    return send_short_message(peer, kind, id, head, data, size);
  }

  [[gnu::noinline]] void publish_distance(pair_type& p, distance::change c) noexcept;
  [[gnu::noinline]] bool find_credit(pair_type& p);
  void take_lines(pair_type& p) noexcept;
  bool open(pair_type& p);
  [[gnu::noinline]] void activate_rings();
  void make_pairs(const node_memory& where);
  void begin_part();
  void find_traces_of_predecessor(pair_type& p) noexcept;
  [[nodiscard]] bool replace_tenant(pair_type& p) noexcept;
  [[nodiscard]] bool find_ring(pair_type& p) noexcept;
  void take_all_back(pair_type& p) noexcept;
  void collect(pair_type& p) noexcept;
  void reclaim();
  [[nodiscard]] bool no_longer_starved(pair_type& p);
  void refuse(pair_type& p) noexcept;
  [[nodiscard]] static status refused(const pair_type& p, retry_reason why) noexcept {
    return p.given_up.load(std::memory_order_acquire) ? status::ok() : status::again(why);
  }

  std::byte* base_;
  std::size_t bytes_per_rank_;
  part_layout shape_;
  part mine_;
  job_rank rank_;
  local_rank local_rank_;
  int size_;
  int started_;  ///< the places from here on change hands
  std::uint32_t tenant_;
  std::uint64_t slot_mask_;
  unsigned slot_shift_;
  std::uint64_t quarter_;
  bool crowded_;
  bool can_membarrier_ = false;
  std::uint64_t nonce_ = 0;

  std::vector<pair_type*> by_rank_;
  std::unique_ptr<pair_type[]> pairs_;  ///< by local rank
  std::vector<watch> active_;           ///< the rings we poll
  std::uint32_t announced_ = 0;
  service handlers_[max_handlers];
  inner_handler inner_;

  /// Lock order: a pair's, then the pool's.
  short_lock<Threads> pool_lock_;
  packet_pool pool_;
  /// Packets that one peer may hold. Less once there are more ranks than at the start; relaxed.
  std::atomic<std::uint32_t> share_;
  std::atomic<bool> starved_{false};
};

extern template class messages<false>;
extern template class messages<true>;

}  // namespace sinew::fabric::shm
