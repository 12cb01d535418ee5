// The inside of a rank's event system: slots and their dependents, what is known of other ranks'
// events, and messages. One lock guards all of it but messages; in a job without threads it is
// nothing.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/outbox.hpp"
#include "event/reserved.hpp"
#include "event/runs.hpp"
#include "sinew/base/error.hpp"
#include "sinew/core/lock.hpp"
#include "sinew/event/system.hpp"

namespace sinew::event {

/// Further dependents of a slot, or ranks that subscribed to it: a cache line of them, and from the
/// second on eight lines, so that the walk through a long list is one through memory.
struct chunk {
  std::uint32_t next;
  std::uint16_t count;
  std::uint16_t most;
  std::uint32_t items[14];  ///< of a large one: most
  static constexpr std::uint16_t small = 14;
  static constexpr std::uint32_t large_lines = 8;
  static constexpr std::uint16_t large = small + 16 * (large_lines - 1);
};
static_assert(sizeof(chunk) == 64);

/// A trigger of another rank's event that waits for one of ours, or a callback.
struct continuation : waiter {
  system::body* home;
  void (*call)(void* argument, bool poisoned) noexcept;  ///< null: trigger `target`
  void* argument;
  user_event target;
  continuation* free;
};

struct system::body {
  body(system& s, const options& how);
  ~body();

  // Flags of a slot, above 26 bits of link.
  static constexpr std::uint32_t link_mask = event::most_slots - 1;
  static constexpr std::uint32_t tainted = 1u << 26;  ///< an earlier generation was poisoned; stays
  static constexpr std::uint32_t armed = 1u << 27;    ///< triggers by its inputs, not by a program
  static constexpr std::uint32_t tolerant = 1u << 28;  ///< poison of inputs does not count
  static constexpr std::uint32_t failed = 1u << 29;    ///< has triggered, poisoned
  static constexpr std::uint32_t early = 1u
                                         << 30;  ///< has triggered before its inputs; `remaining`
                                                 ///< counts these, and one for the queue
  static constexpr std::uint32_t alias = 1u << 31;       ///< stands for an event of another rank
  static constexpr std::uint32_t many_ranks = 1u << 31;  ///< of slot::ranks: the rest is a chunk

  /// What a handle means here: a pending slot, or how it ended.
  struct found {
    std::uint32_t slot;
    state known;
  };

  /// What is known of one slot of another rank.
  struct proxy {
    std::uint32_t alias;  ///< the first of the slots that stand for its events; 0: none
    std::uint32_t from;   ///< generations from..to have triggered, clean; from 0: none known
    std::uint32_t to;
    bool mixed;  ///< see mixed_, too
  };
  static constexpr std::uint32_t proxies_per_page = 512;
  struct peer {
    std::vector<std::unique_ptr<proxy[]>> pages;
    bool lost = false;
    std::vector<event> entrusted;     ///< some have triggered meanwhile
    std::size_t most_entrusted = 64;  ///< these are dropped when there are so many
  };

  void acquire() noexcept {
    if (threaded) {
      lock.acquire();
    }
  }
  void release() noexcept {
    if (threaded) {
      lock.release();
    }
  }

  // --- graph.cpp; under the lock ---
  [[nodiscard]] slot& at(std::uint32_t i) const noexcept { return slots[i]; }
  [[nodiscard]] std::uint32_t take_slot();
  void release_slot(std::uint32_t i, slot& s) noexcept;
  [[nodiscard]] event handle_of(std::uint32_t i) const noexcept {
    return event(self.rank_, i, at(i).generation.load(std::memory_order_relaxed));
  }
  [[nodiscard]] found find(event e);
  [[nodiscard]] state fate(std::uint32_t i, std::uint32_t generation) const;
  void depend(std::uint32_t input, std::uint32_t dependent);
  void put(std::uint32_t& list, std::uint32_t item);
  [[nodiscard]] std::uint32_t take_chunk(bool large);
  void prefetch(std::uint32_t c) const noexcept;
  /// Gives the chunk back; returns the one after it.
  std::uint32_t release_chunk(std::uint32_t c) noexcept {
    chunk& k = chunks[c];
    std::uint32_t& free_list = k.most == chunk::small ? free_small : free_large;
    return std::exchange(k.next, std::exchange(free_list, c));
  }
  void append(slot& s, waiter& w) noexcept;
  /// The slot's event has triggered: it waits in the queue for its dependents to learn.
  void mark(std::uint32_t i, bool poisoned);
  void mark_early(std::uint32_t i);
  void pass(int budget);
  [[gnu::noinline, gnu::cold]] void record(std::uint32_t i) const noexcept;
  void arrive(std::uint32_t i, bool poisoned);
  void finish(std::uint32_t i);
  [[nodiscard]] event combine(std::span<const event> of, std::uint32_t flags);
  void abandon(std::uint32_t target, std::uint32_t inputs) noexcept;
  [[nodiscard]] event merge(std::span<const event> of);
  [[nodiscard]] std::uint32_t shared_set(std::span<const event> of);
  /// Works off the queue, sends, and fires (without the lock), unless a call further up this
  /// thread's stack is about to.
  void drain();
  void fire(waiter* last) noexcept;
  /// This thread is firing waiters of this system.
  [[nodiscard]] bool firing_here() const noexcept;
  void record_poison(std::uint32_t i, std::uint32_t generation);

  // --- remote.cpp; under the lock ---
  [[nodiscard]] proxy& proxy_of(int owner, std::uint32_t index);
  [[nodiscard]] found find_remote(event e);
  [[nodiscard]] const run* known(const proxy& p, event e, run& room) const;
  void learn(proxy& p, event e, const run& r);
  void resolve_aliases(proxy& p, const run& r);
  void notify(int rank, std::uint32_t i, bool poisoned);
  void notify_all(slot& s, std::uint32_t i, bool poisoned);
  void answer(int rank, event e);
  void trigger_remote(user_event e, bool poisoned);
  void flush();
  static void on_message(void* context, const message& m);
  void handle(const message& m);
  void refuse(const message& m, const error& why);
  void owner_trigger(event e, bool poisoned, int from);
  [[nodiscard]] bool lose(int rank);

  // --- system.cpp; under the lock ---
  [[nodiscard]] bool cancel_here(event e);
  void subscribe_rank(slot& s, int rank);
  [[nodiscard]] continuation* take_continuation();
  static void run_continuation(waiter& w) noexcept;
  [[noreturn]] static void twice(event e);

  // --- report.cpp ---
  [[nodiscard]] std::string describe(event e);
  void explain(std::uint32_t i, int depth, std::string& text, std::vector<event>& elsewhere);
  [[nodiscard]] std::string report(bool ask_others);
  static void print_report(void* context);
  static void on_hang_message(void* context, const message& m);

  system& self;
  bool threaded;
  std::uint32_t most;
  std::uint32_t last_generation;
  reserved<slot> slots;
  reserved<chunk> chunks;
  outbox out;

  core::lock lock;
  std::uint32_t used = 0;  ///< slots that ever were in use
  std::uint32_t free = 0;
  std::uint32_t chunks_used = 0;
  std::uint32_t free_small = 0;
  std::uint32_t free_large = 0;
  std::uint32_t queue_first = 0;
  std::uint32_t queue_last = 0;
  std::size_t in_use = 0;
  waiter* ready = nullptr;  ///< the last of a ring

  std::unordered_map<std::uint32_t, runs> poisoned;  ///< by slot
  std::vector<peer> peers;
  std::unordered_map<std::uint64_t, runs> mixed;  ///< by bits of the slot's generation 0
  /// Clean triggers that wait for flush(), by rank; and the ranks that have some.
  struct batch {
    static constexpr std::uint32_t most = 64;
    std::uint32_t count = 0;
    std::uint64_t events[most];
  };
  std::vector<std::unique_ptr<batch>> batches;
  std::vector<int> dirty;

  static constexpr std::size_t smallest_shared_set = 8;
  static constexpr std::size_t largest_shared_set = 4096;
  std::vector<event> last_set;  ///< what was merged last
  event set_event;              ///< triggers with it; of a slot without a handle outside

  std::deque<continuation> continuations;
  continuation* free_continuation = nullptr;
  std::unordered_map<event, std::string> names;
  std::vector<std::pair<std::string (*)(void*, bool), void*>> reporters;
  std::vector<std::pair<void (*)(void*, int), void*>> on_death;
};

/// The lock, for a scope. What a call has triggered is worked off by work().
class section {
 public:
  explicit section(system::body& b) noexcept : body_(b) { b.acquire(); }
  ~section() { body_.release(); }
  section(const section&) = delete;
  section& operator=(const section&) = delete;
  void work() {
    if (body_.queue_first != 0 || !body_.dirty.empty() || body_.ready != nullptr) {
      body_.drain();
    }
  }

 private:
  system::body& body_;
};

}  // namespace sinew::event
