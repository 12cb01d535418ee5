// SPDX-License-Identifier: BSD-3-Clause
// One rank's access to the memory of the others: put, get, atomics, ordering, and waiting for what
// others do to one's own memory.
//
// Promises (tests/rma/contract_test.cpp holds the module to each)
//  source     a put has read its source when it returns; a get has filled its target.
//  one rank   what a rank has put it sees in its own later gets and atomics of the same place.
//  order      puts before fence() are seen by whoever sees a put or an atomic after it. Without
//             fence() the order of puts is not promised. Atomics, signals and notifications (but
//             announce_to) are never seen before earlier puts of the same rank to heaps.
//  flush      after flush(r) everything this rank did to r is done there, for everybody to see
//             (but for announcements and signals to ranks of other nodes, which come in time).
//  atomicity  atomics and accumulate are atomic against each other on the same width and place. A
//             put or get of an aligned word of 4 or 8 bytes is not torn.
//  waiting    an atomic, a notification, a signal wakes who waits for that word; a put does not.
//             A rank waits for words of its own heap only.
//
// Three kinds of memory, which callers need not tell apart: heaps of this node are mapped, so that
// a transfer is a copy. Heaps of other nodes are reached by messages, which their owners handle
// when they make progress; long transfers go by the fabric's put and get. Memory outside of heaps
// is the kernel's to copy on this node, where it lets us; else its owner does it.
//
// No call may come from a handler of active messages, but put, get, load of mapped memory and what
// does not move data. Any thread if the runtime is threaded.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/fabric/atomics.hpp"
#include "sinew/rma/element.hpp"
#include "sinew/rma/heap.hpp"
#include "sinew/rma/ledger.hpp"
#include "sinew/rma/place.hpp"
#include "sinew/rma/section.hpp"

namespace sinew::rma {

/// When a wait ends. `at_least` compares by signed difference: counters may wrap.
enum class until : std::uint8_t { equal, not_equal, at_least };

template <class Word>
concept word = std::integral<Word> && (sizeof(Word) == 4 || sizeof(Word) == 8);

class barrier;
class far_ranks;
struct copied_pages;
struct loops;

/// Modules that have requests carried out by owners of memory: the one list.
enum class service : std::uint8_t { windows, coarrays };
inline constexpr std::size_t services = 2;
/// Carries one out, in the owner's progress: must not wait, or call what may poll. `answer` is as
/// long as the question says, and of no length if none is wanted. Neither is aligned.
using serve_function = void (*)(job_rank source, std::span<const std::byte> data,
                                std::span<std::byte> answer) noexcept;
struct question {
  std::span<const std::byte> data;
  std::span<std::byte> answer;
};

class engine {
 public:
  /// Maps the node's heaps; each rank calls it once, when it likes. The heaps of a job have one
  /// size: what does not agree is an error of the first call that reaches a rank of another node.
  /// Cold.
  [[nodiscard]] static std::unique_ptr<engine> open(core::runtime& runtime);
  /// The engine over the runtime of core::join_job(): one per process, whichever binding asks
  /// first, and for ever. Cold.
  [[nodiscard]] static engine& of_process(core::runtime& runtime);
  /// The one that was attached to the runtime, else of_process(). Warm.
  [[nodiscard]] static engine& of(core::runtime& runtime);
  /// For jobs whose ranks are threads of one process.
  static void attach(core::runtime& runtime, engine& to_use);
  /// Over given memory, zero-filled; null parts are not mapped here. Ranks agree on who has whose.
  engine(core::runtime& runtime, const heap_memory& where);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  [[nodiscard]] core::runtime& runtime() const noexcept { return runtime_; }
  [[nodiscard]] job_rank rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] heap& memory() noexcept { return heap_; }

  /// Whether that rank's heap is mapped here: the same answer as its own about this rank. Hot.
  [[nodiscard]] bool maps(job_rank r) const noexcept {
    SINEW_EXPECT(r.below(size_));
    return parts_[r.index()] != nullptr;
  }
  /// An atomic here can be a processor's instruction: the word is mapped, and nothing was put to
  /// another node that must be seen before. Hot.
  [[nodiscard]] bool at_once(job_rank r) const noexcept { return maps(r) && !puts_.open(); }
  [[nodiscard]] int node_of(job_rank r) const noexcept {
    return node_of_.empty() ? 0 : node_of_[r.index()];
  }
  [[nodiscard]] bool maps_all() const noexcept { return maps_all_; }
  /// The byte as mapped here. Hot.
  [[nodiscard]] std::byte* at(place p) const noexcept {
    SINEW_EXPECT(maps(p.rank) && p.offset < shape_.bytes);
    return parts_[p.rank.index()] + p.offset;
  }
  /// The same; null where no load or store reaches it, but put, get and atomics do. Hot.
  [[nodiscard]] std::byte* mapped(place p) const noexcept { return maps(p.rank) ? at(p) : nullptr; }
  /// Offset of an address in this rank's own heap, 0 for any other address. Hot.
  [[nodiscard]] std::uint64_t offset_of(const void* address) const noexcept;
  /// [address, address + bytes) of that rank as mapped here, or null if it is not in its heap. Hot.
  [[nodiscard]] std::byte* reach(outside where, std::size_t bytes) const noexcept;
  /// Whether this rank can copy from memory of `r`, outside of heaps too, without its help: asks
  /// the kernel. `r` is of this node, and has opened its engine. Cold.
  [[nodiscard]] bool copies_from(job_rank r) const;

  // --- transfers; hot, but for long ones. Mapped heaps: never suspend. ---

  /// From so many bytes on a put to a heap of another node goes straight from memory to memory; a
  /// shorter one is copied into messages. Both may be under way there when it returns.
  static constexpr std::size_t long_put = std::size_t{64} << 10;

  void put(place to, const void* from, std::size_t bytes) {
    SINEW_EXPECT(bytes == 0 || (from != nullptr && bytes <= shape_.bytes - to.offset));
    if (!maps(to.rank)) [[unlikely]] {
      put_far(to, from, bytes);
      return;
    }
    move_out(at(to), from, bytes);
  }
  void get(void* to, place from, std::size_t bytes) {
    SINEW_EXPECT(bytes == 0 || (to != nullptr && bytes <= shape_.bytes - from.offset));
    if (!maps(from.rank)) [[unlikely]] {
      get_far(to, from, bytes);
      return;
    }
    move_in(to, at(from), bytes);
  }
  /// The same to and from what at() has returned.
  static void move_out(std::byte* to, const void* from, std::size_t bytes) noexcept {
    if (!move_word<std::uint64_t>(to, from, bytes) && !move_word<std::uint32_t>(to, from, bytes)) {
      move_long(to, from, bytes);
    }
  }
  static void move_in(void* to, const std::byte* from, std::size_t bytes) noexcept {
    if (!move_word<std::uint64_t>(to, from, bytes) && !move_word<std::uint32_t>(to, from, bytes)) {
      copy_bytes(to, from, bytes);
    }
  }
  /// A put, and then `add` to the counter at `counter` of the same heap, in this order.
  void put_notify(place to, const void* from, std::size_t bytes, std::uint64_t counter,
                  std::uint64_t add = 1) {
    put(to, from, bytes);
    this->add<std::uint64_t>({to.rank, counter}, add);
  }
  /// Element-wise. Sections on the two sides must not overlap. At most `most_axes` axes. Warm.
  void put_section(place to, const void* from, std::size_t element_bytes,
                   std::span<const axis> axes);
  void get_section(void* to, place from, std::size_t element_bytes, std::span<const axis> axes);

  // The same for memory anywhere in the other rank, which must stay there until flush(). They
  // may poll, but not suspend for long. Warm.
  void put(outside to, const void* from, std::size_t bytes);
  void get(void* to, outside from, std::size_t bytes);
  /// A get of few bytes for who knows that nobody else changes them before this rank's next fence,
  /// flush or atomic: may answer from a copy of their surroundings made since the last one, so that
  /// many such gets cost one call of the kernel. Sees this rank's own puts.
  void get_ahead(void* to, outside from, std::size_t bytes);
  void put_section(outside to, const void* from, std::size_t element_bytes,
                   std::span<const axis> axes);
  void get_section(void* to, outside from, std::size_t element_bytes, std::span<const axis> axes);

  /// Runs of bytes of any lengths, elsewhere in the memory of a rank that is not this one. Warm.
  void put_pieces(job_rank r, std::span<const fabric::piece> pieces);
  void get_pieces(job_rank r, std::span<const fabric::piece> pieces);
  /// The same, but from a rank of another node it may be under way on return, up to finish_gets()
  /// of any thread: many at once. The target memory stays there and is not looked at until then.
  void get_pieces_later(job_rank r, std::span<const fabric::piece> pieces);
  /// Waits until what get_pieces_later() and ask_later() have begun before is here. Suspends.
  void finish_gets();
  /// Of these, how many were begun so far; and whether the first so many have ended. Hot.
  [[nodiscard]] std::uint64_t gets_begun() const noexcept;
  [[nodiscard]] bool gets_ended(std::uint64_t first) const noexcept;

  // --- requests that the rank itself carries out, which is not this one; warm. Seen after what
  // this rank has put there, and told and asked before. Of a rank that has died they end, and what
  // they bring means nothing. Suspend. ---

  /// Who serves on this rank; before any other rank asks.
  static void serve(service which, serve_function function) noexcept;
  /// The longest data, and the longest answer.
  [[nodiscard]] std::size_t most_asked(job_rank r) const noexcept;
  /// Returns when all are answered; several are under way at a time.
  void ask(job_rank r, service which, std::span<const question> all);
  /// Has read the question's data when it returns. The answer comes up to finish_gets().
  void ask_later(job_rank r, service which, const question& one);
  /// Has read `data` when it returns, and is done by the next flush.
  void tell(job_rank r, service which, std::span<const std::byte> data);

  // --- atomics: naturally aligned, sequentially consistent; all but load wake waiters. Hot. ---

  template <word Word>
  [[nodiscard]] Word load(place p) const {
    if (!maps(p.rank)) [[unlikely]] {
      return static_cast<Word>(load_far(p, sizeof(Word)));
    }
    return word_at<Word>(p).load(std::memory_order_seq_cst);
  }
  template <word Word>
  void store(place p, Word value) {
    if (!at_once(p.rank)) [[unlikely]] {
      tell_later(p, kind_of<Word>(atomic_op::swap), static_cast<std::uint64_t>(value),
                 told::as_put);
      return;
    }
    (void)swap(p, value);
  }
  template <word Word>
  Word swap(place p, Word value) {
    return change<atomic_op::swap>(p, value);
  }
  template <word Word>
  Word fetch_add(place p, Word value) {
    return change<atomic_op::fetch_add>(p, value);
  }
  /// The same for who does not want to know what was there, which on another node saves a wait.
  template <word Word>
  void add(place p, Word value) {
    if (!at_once(p.rank)) [[unlikely]] {
      tell_later(p, kind_of<Word>(atomic_op::add), static_cast<std::uint64_t>(value), told::as_put);
      return;
    }
    (void)fetch_add(p, value);
  }
  /// Sets bits for who does not want to know what was there. Seen after whatever this rank has put
  /// to that rank's heap before fence(p.rank), and no more than that.
  template <word Word>
  void post_or(place p, Word bits) {
    if (!maps(p.rank)) [[unlikely]] {
      post_far(p, kind_of<Word>(atomic_op::fetch_or), static_cast<std::uint64_t>(bits));
      return;
    }
    (void)word_at<Word>(p).fetch_or(bits, std::memory_order_seq_cst);
    alert(p.rank);
  }
  /// Takes the bits of an own word, which is 0 then. Orders nothing but what set them: unlike other
  /// atomics it is not held up by puts that are under way.
  template <word Word>
  Word take_bits(std::uint64_t offset) {
    return word_at<Word>({rank_, offset}).exchange(0, std::memory_order_seq_cst);
  }
  template <word Word>
  Word fetch_and(place p, Word value) {
    return change<atomic_op::fetch_and>(p, value);
  }
  template <word Word>
  Word fetch_or(place p, Word value) {
    return change<atomic_op::fetch_or>(p, value);
  }
  template <word Word>
  Word fetch_xor(place p, Word value) {
    return change<atomic_op::fetch_xor>(p, value);
  }
  /// Returns what was there; the swap was made if that equals `expected`.
  template <word Word>
  Word compare_swap(place p, Word expected, Word value) {
    if (!at_once(p.rank)) [[unlikely]] {
      return static_cast<Word>(change_later(p, kind_of<Word>(atomic_op::compare_swap),
                                            static_cast<std::uint64_t>(value),
                                            static_cast<std::uint64_t>(expected)));
    }
    if (word_at<Word>(p).compare_exchange_strong(expected, value, std::memory_order_seq_cst)) {
      alert_mapped(p.rank);
    }
    return expected;
  }
  /// Element-wise to[i] = to[i] op from[i], each atomic; `before`, if not null, gets what was
  /// there. `to` is aligned to the element. Warm.
  void accumulate(place to, const void* from, std::size_t count, element type, combine op,
                  void* before = nullptr);
  /// The same on memory anywhere; elements of 4 and 8 bytes, where it is not mapped. Polls. Warm.
  void accumulate(outside to, const void* from, std::size_t count, element type, combine op,
                  void* before = nullptr);

  // --- order ---

  /// The order of puts to one rank: those before it are seen by whoever sees a put or a post_or()
  /// to this rank after it. Unlike fence() it waits for nobody. Hot.
  void fence(job_rank r) noexcept {
    SINEW_EXPECT(r.below(size_));
    if (maps(r)) [[likely]] {  // another node handles this rank's messages in order
      store_fence();
    }
  }
  void fence() { fence_before_telling(no_job_rank); }
  /// The same for who next tells `r` alone of it, by an atomic, announcement or signal: does not
  /// wait for what was put to `r`, which comes there before.
  void fence_before_telling(job_rank r) {
    forget_copies();
    if (puts_.open()) [[unlikely]] {
      flush_puts(r);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    store_fence();
  }
  /// These two for events, too: what this rank has posted is counted before.
  void settle() { settle_before_telling(no_job_rank); }
  void settle_before_telling(job_rank r) {
    fence_before_telling(r);
    if (words_.open()) [[unlikely]] {
      flush_far(words_, r);
    }
  }
  /// May poll if something was put to another node or outside of heaps. Else hot (about 10 ns).
  void flush(job_rank r) {
    SINEW_EXPECT(r.below(size_));
    (void)r;
    flush_all();
  }
  void flush_all() {
    forget_copies();
    if (puts_.open() || words_.open()) [[unlikely]] {
      flush_puts(no_job_rank);
      flush_far(words_, no_job_rank);
    }
    full_fence();
  }

  // --- waiting; suspends. After a short spin the waiter leaves its processor to others. Hot. ---

  /// Waits for an aligned 8-byte word of this rank's heap; returns the value seen. Everything that
  /// came before the change that ended the wait is visible.
  std::uint64_t wait(std::uint64_t offset, until how, std::uint64_t value) {
    return wait_for(word_at<std::uint64_t>({rank_, offset}), how, value);
  }
  /// Counts one event more at `p`; and waits until there are `count`, which it takes. Events are
  /// aligned 8-byte words, zero at first.
  void post(place p) {
    if (!at_once(p.rank)) [[unlikely]] {
      tell_later(p, kind_of<std::uint64_t>(atomic_op::add), 1, told::as_word);
      return;
    }
    (void)fetch_add<std::uint64_t>(p, 1);
  }
  void take(std::uint64_t offset, std::uint64_t count = 1);

  /// Waits until `ready(context)` holds, which looks at mapped memory and must not wait or throw.
  /// Whoever makes it true calls alert() of this rank afterwards, or changes memory by announce().
  void wait_until(bool (*ready)(void*), void* context) {
    SINEW_EXPECT(ready != nullptr);
    if (!ready(context)) {
      wait_longer(ready, context);
    }
  }
  /// After a sequentially consistent change of `r`'s memory: wakes those who wait for it there.
  void alert(job_rank r) {
    if (!maps(r)) [[unlikely]] {
      wake_far(r);
      return;
    }
    alert_mapped(r);
  }
  /// Stores a word that nobody but this rank changes, and wakes who waits for it. Cheaper than
  /// store(): where the owner of `p` allows it (see waiting.cpp), a plain store. Seen after
  /// whatever this rank has put to heaps before.
  void announce(place p, std::uint64_t value) {
    if (!at_once(p.rank)) [[unlikely]] {
      tell_later(p, kind_of<std::uint64_t>(atomic_op::swap), value, told::unnoted);
      return;
    }
    const std::atomic_ref<std::uint64_t> word = word_at<std::uint64_t>(p);
    const std::atomic_ref<std::uint32_t> flag = armed(p.rank);
    if ((flag.load(std::memory_order_relaxed) & needs_no_fence) != 0) [[likely]] {
      word.store(value, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      word.store(value, std::memory_order_seq_cst);
    }
    if ((flag.load(std::memory_order_seq_cst) & is_armed) != 0) [[unlikely]] {
      wake(p.rank);
    }
  }

  /// The same for a word of this rank's own heap, for which any of `waiters` (not this rank) may
  /// wait who have it mapped. Seen after what this rank has put to heaps of this node. What it has
  /// put to other nodes is neither ordered nor waited for: their ranks may have left.
  void announce_to(std::uint64_t offset, std::uint64_t value, std::span<const job_rank> waiters) {
    announce_and(offset, value, waiters, [this](job_rank r) { wake(r); });
  }
  /// The same without waiting, in a handler or a chore: whoever could not be told for want of room
  /// is added to `asleep`, and is the caller's to send_alert() to until that succeeds. Does not
  /// throw if `asleep` has room for all `waiters`.
  void announce_without_waiting(std::uint64_t offset, std::uint64_t value,
                                std::span<const job_rank> waiters, std::vector<job_rank>& asleep) {
    announce_and(offset, value, waiters, [&](job_rank r) {
      if (disarm(r) && !send_alert(r)) {
        asleep.push_back(r);
      }
    });
  }
  /// This rank's waits look again: what they wait for may hold by what this rank alone has changed.
  /// Also in a handler or a chore.
  void look_for_waiters();
  /// Makes a rank look at what it waits for. False: there is no room for that message now.
  [[nodiscard]] bool send_alert(job_rank r);

  /// Between these two this rank is sent a message when another one announces something to it, so
  /// that it may sleep on the doorbell although it looks at words itself. What has changed before
  /// it has begun to listen it has to look at afterwards. They count. Any thread. Warm.
  void listen();
  void stop_listening() noexcept;

  /// Synchronises two ranks, as often as both call it: signal tells the other rank that this one
  /// has come so far, await waits for as many signals of the other as it was called. One thread at
  /// a time for each other rank. A line of the heap for each rank that was ever signalled.
  void signal(job_rank r);
  void await(job_rank r);
  /// signal() to all of these, then await() them all. Oneself is ignored.
  void sync_with(std::span<const job_rank> ranks);
  /// Waits for all ranks of the job.
  void sync_all();

  /// Releases a block of this rank's heap once the word at `counter` in it is `count`: when that is
  /// so now, or at a later call of one of these two. Throws std::bad_alloc, and has done nothing
  /// then. Cold.
  void release_once(std::uint64_t block, std::uint64_t counter, std::uint64_t count);
  void release_those_due();

 private:
  using atomic_op = fabric::atomic_op;
  friend class barrier;
  friend class far_ranks;
  struct waiting;
  template <class Word>
  [[nodiscard]] std::atomic_ref<Word> word_at(place p) const noexcept {
    static_assert(std::atomic_ref<Word>::is_always_lock_free, "other processes use it, too");
    constexpr std::size_t width = sizeof(Word);
    SINEW_EXPECT(p.offset % width == 0 && p.offset != 0);
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(at(p)));
  }

  /// Returns what was there.
  template <fabric::atomic_op Op, class Word>
  Word change(place p, Word value) {
    if (!at_once(p.rank)) [[unlikely]] {
      return static_cast<Word>(
          change_later(p, kind_of<Word>(Op), static_cast<std::uint64_t>(value), 0));
    }
    const Word old = fabric::apply_atomic(Op, word_at<Word>(p), value);
    alert_mapped(p.rank);
    return old;
  }

  /// Aligned words in one piece. Release and acquire, which cost nothing on x86-64, so that a word
  /// put after fence() orders what was put before it also in the language's own terms.
  template <class Word>
  [[nodiscard]] static bool move_word(void* to, const void* from, std::size_t bytes) noexcept {
    const auto both = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    if (bytes != sizeof(Word) || both % sizeof(Word) != 0) {
      return false;
    }
    const auto source = std::atomic_ref<Word>(*static_cast<Word*>(const_cast<void*>(from)));
    std::atomic_ref<Word>(*static_cast<Word*>(to))
        .store(source.load(std::memory_order_acquire), std::memory_order_release);
    return true;
  }
  static void move_long(std::byte* to, const void* from, std::size_t bytes) noexcept;
  static void store_fence() noexcept;
  static void full_fence() noexcept;

  /// Bits of a rank's word `armed`; the argument why no wake-up is lost is in waiting.cpp.
  static constexpr std::uint32_t is_armed = 1;
  static constexpr std::uint32_t needs_no_fence = 2;
  [[nodiscard]] std::atomic_ref<std::uint32_t> armed(job_rank r) const noexcept {
    SINEW_EXPECT(maps(r));
    return std::atomic_ref<std::uint32_t>(
        *reinterpret_cast<std::uint32_t*>(parts_[r.index()] + heap_shape::armed_at));
  }
  template <class Wake>
  void announce_and(std::uint64_t offset, std::uint64_t value, std::span<const job_rank> waiters,
                    const Wake& wake_up) {
    std::uint32_t common = needs_no_fence;
    for (const job_rank r : waiters) {
      common &= armed(r).load(std::memory_order_relaxed);
    }
    const std::atomic_ref<std::uint64_t> word = word_at<std::uint64_t>({rank_, offset});
    if (common != 0) [[likely]] {
      word.store(value, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      word.store(value, std::memory_order_seq_cst);
    }
    for (const job_rank r : waiters) {
      if ((armed(r).load(std::memory_order_seq_cst) & is_armed) != 0) [[unlikely]] {
        wake_up(r);
      }
    }
  }
  void wake(job_rank r);
  /// True if it was armed; then it has to be sent an alert.
  [[nodiscard]] bool disarm(job_rank r) noexcept;
  void delist(waiting& w) noexcept;
  void disarm_if_nobody_waits() noexcept;
  std::uint64_t wait_for(std::atomic_ref<std::uint64_t> word, until how, std::uint64_t value) {
    const std::uint64_t seen = word.load(std::memory_order_seq_cst);
    return holds(seen, how, value) ? seen : wait_longer(word, how, value);
  }
  std::uint64_t wait_longer(std::atomic_ref<std::uint64_t> word, until how, std::uint64_t value);
  void wait_longer(bool (*ready)(void*), void* context);
  [[nodiscard]] bool spin(bool (*ready)(void*), void* context);
  [[nodiscard]] static bool holds(std::uint64_t seen, until how, std::uint64_t value) noexcept {
    switch (how) {
      case until::equal:
        return seen == value;
      case until::not_equal:
        return seen != value;
      case until::at_least:
        return static_cast<std::int64_t>(seen - value) >= 0;
    }
    return true;
  }

  void put_mapped(std::byte* to, const void* from, std::size_t element_bytes,
                  std::span<const axis> axes) noexcept;
  void get_mapped(void* to, const std::byte* from, std::size_t element_bytes,
                  std::span<const axis> axes) noexcept;
  static void accumulate_mapped(std::byte* to, const void* from, std::size_t count, element type,
                                combine op, void* before) noexcept;

  // far.cpp, far_transfers.cpp: ranks of other nodes.
  struct word_kind {
    fabric::atomic_op op;
    std::uint8_t width;
  };
  template <class Word>
  [[nodiscard]] static constexpr word_kind kind_of(fabric::atomic_op op) noexcept {
    return {op, sizeof(Word)};
  }
  struct word_change {
    word_kind what;
    std::uint64_t operand;
    std::uint64_t compare;
  };
  void alert_mapped(job_rank r) {
    forget_copies();
    if ((armed(r).load(std::memory_order_seq_cst) & is_armed) != 0) [[unlikely]] {
      wake(r);
    }
  }
  void put_far(place to, const void* from, std::size_t bytes);
  void get_far(void* to, place from, std::size_t bytes);
  [[nodiscard]] std::uint64_t load_far(place p, std::size_t width) const;
  /// All others. What they are given fits registers, so that the hot way needs no frame for them.
  [[nodiscard, gnu::cold]] std::uint64_t change_later(place p, word_kind what,
                                                      std::uint64_t operand, std::uint64_t compare);
  /// What waits for a change that is not answered: a fence, since what this rank does later must
  /// not be seen before it; a flush, and a barrier; nobody, since its reader waits for it.
  enum class told : std::uint8_t { as_put, as_word, unnoted };
  [[gnu::cold]] void tell_later(place p, word_kind what, std::uint64_t operand, told noted);
  void post_far(place p, word_kind what, std::uint64_t operand);
  void wake_far(job_rank r);
  /// An atomic is not seen before puts. Those to its own rank come there first anyway.
  void order_far_puts(job_rank but = no_job_rank) {
    if (puts_.open()) [[unlikely]] {
      flush_far(puts_, but);
    }
  }
  void flush_far(const ledger& those_of, job_rank but);
  void order_request(job_rank r);

  /// What get_ahead() has copied so far is no longer used. Relaxed: who gets ahead sees what its
  /// own thread did, and what others did before it learned of that. The number never comes back,
  /// which between threads takes a read-modify-write.
  void forget_copies() noexcept {
    if (runtime_.threaded()) {
      segment_.fetch_add(1, std::memory_order_relaxed);
    } else {
      segment_.store(segment_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }
  void flush_puts(job_rank but);
  void move_pieces(job_rank r, bool in, std::span<const fabric::piece> pieces);
  /// The process of a rank of this node has ended: returns when that is known, where the others go
  /// on, and throws sinew::error elsewhere. Suspends.
  void await_death(job_rank r);
  void move_each(const loops& section, outside far_side, void* near_side, bool in);
  [[nodiscard]] std::uint64_t atomic_outside(outside at, fabric::atomic_op op, std::size_t width,
                                             std::uint64_t operand, std::uint64_t compare);

  void tell_pair(place p);
  // For barriers. Mail: one word to one rank, which must have read it before the next is written.
  void mail(job_rank r, std::uint64_t value);
  [[nodiscard]] std::uint64_t read_mail(job_rank r);

  core::runtime& runtime_;
  job_rank rank_;
  int size_;
  heap_shape shape_;
  std::unique_ptr<std::byte*[]> parts_;  ///< null: on another node
  bool maps_all_;
  std::vector<int> node_of_;
  heap heap_;

  ledger puts_;   ///< to other nodes, and outside of heaps: a fence waits for them
  ledger words_;  ///< posted to other nodes: a flush waits for them, and a barrier

  std::atomic<std::uint64_t> segment_{1};  ///< see forget_copies()
  base::lock copies_lock_;
  std::unique_ptr<copied_pages> copies_;  ///< made by the first get_ahead(); by copies_lock_

  std::unique_ptr<std::uint64_t[]> awaited_;  ///< by rank: how often await() was called
  std::unique_ptr<std::uint64_t[]> mails_;    ///< by rank: mails read
  std::unique_ptr<barrier> all_;
  std::unique_ptr<far_ranks> far_;

  /// A block of this rank's heap that others may still use.
  struct dying_block {
    std::uint64_t offset;
    std::uint64_t counter;
    std::uint64_t count;
  };
  base::lock dying_lock_;
  std::vector<dying_block> dying_;  ///< guarded by dying_lock_

  bool pays_fence_ = false;  ///< this rank calls membarrier before it sleeps
  base::lock waiting_lock_;
  waiting* waiting_ = nullptr;  ///< these two are guarded by waiting_lock_
  int listeners_ = 0;
};

}  // namespace sinew::rma
