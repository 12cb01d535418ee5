// What a system keeps, and what its parts share.
#pragma once

#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "region/walker.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/core/lock.hpp"
#include "sinew/region/system.hpp"

namespace sinew::region {

// --- what lies in shared memory
// -------------------------------------------------------------------

/// Where a part of an instance is. heap: an address in its owner's memory, else an offset in its
/// owner's part of the rma heap, of every rank's if symmetric (then `rank` is who hands it out).
/// 0: nowhere yet.
struct part_place {
  std::int32_t rank;
  std::uint64_t address;
};

enum class record_state : std::uint32_t { making, ready, failed };

/// What every rank may know of an instance, in the heap of its creator. All but `state`, `why` and
/// the places' addresses is written before anybody has the handle; those before `state` changes
/// from `making`, which is a release, and then never again.
struct record {
  std::atomic<record_state> state;
  memory_kind kind;
  shape elements;
  std::uint32_t parts;
  std::uint32_t shift;
  std::uint32_t fields;
  std::uint64_t part_bytes;
  /// One of the owners has the say in `why`. Relaxed: `why` is read after `state` has changed.
  std::atomic<bool> told;
  char why[256];

  [[nodiscard]] field_place* field_list() noexcept {
    return reinterpret_cast<field_place*>(this + 1);
  }
  [[nodiscard]] part_place* places() noexcept {
    return reinterpret_cast<part_place*>(field_list() + fields);
  }
  [[nodiscard]] static std::size_t bytes(std::size_t fields, std::size_t parts) noexcept {
    return sizeof(record) + fields * sizeof(field_place) + parts * sizeof(part_place);
  }
};

/// An instance as this rank has looked it up.
struct known {
  instance id;
  layout where;
  memory_kind kind;
  record* there;

  [[nodiscard]] part_place place(std::uint32_t part) const noexcept {
    const part_place& p = there->places()[part];
    return kind == memory_kind::symmetric ? part_place{id.creator(), p.address} : p;
  }
  /// The owner of a private instance, or -1: every rank sees it.
  [[nodiscard]] int private_to() const noexcept {
    return kind == memory_kind::heap ? place(0).rank : -1;
  }
};
using known_ptr = std::shared_ptr<const known>;

// --- what is to be done; travels in messages
// ------------------------------------------------------

struct side_wire {
  std::uint64_t what = 0;
  std::uint64_t index = 0;  ///< instance of indices, or 0: `where` counts
  box where{};
  box index_where{};
  std::uint16_t field = 0;
  std::uint16_t index_field = 0;
};

enum class action : std::uint8_t { copy, fill, reduce };

struct transfer {
  side_wire from;
  side_wire to;
  std::uint64_t elements = 0;
  std::uint64_t op = 0;
  std::uint64_t post = 0;   ///< event to trigger; 0: none yet
  std::uint32_t part = 0;   ///< reduce: of the target
  std::uint32_t bytes = 0;  ///< of an element of the source
  action what = action::copy;
  sharing how = sharing::exclusive;
  std::byte value[256] = {};
};

enum class outcome : std::uint8_t {
  done,
  failed,
  refused,    ///< somebody who sees the source must send it by messages, and `post` is needed
  passed_on,  ///< by messages, the last of which triggers `post`
};

enum region_message : std::uint64_t { allocate, allocated, release, destroy_instance };
enum copy_message : std::uint64_t { perform, deliver, deliver_last };
enum reduction_message : std::uint64_t { replay_log, batch };

struct allocation {
  std::uint64_t id;
  std::uint64_t record_at;  ///< offset in the creator's heap
  std::uint64_t bytes;
  std::uint32_t part;
  memory_kind kind;
};

struct delivery {
  transfer of;
  std::uint64_t first;  ///< element of the transfer
  std::uint64_t count;
};

struct log_place {
  std::uint64_t what;
  std::uint64_t op;
  std::uint64_t done;
  std::uint64_t offset;  ///< in the sender's heap; a batch carries its entries instead
  std::uint64_t count;
  std::uint32_t part;
  std::uint16_t field;
};

// --- the system
// -----------------------------------------------------------------------------------

/// Some of a side's elements, counted in its order.
struct window {
  std::uint64_t first = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();  ///< or what there is
};

/// A pair of walkers needs lists of indices to live as long as they do.
struct walk {
  known_ptr what;
  std::vector<std::int64_t> list;
  std::unique_ptr<walker> at;
  std::uint16_t field = 0;
};

/// Where the elements of a side are, one after another: of an instance, or in memory here.
struct addresses {
  walker* at = nullptr;              ///< null: `here`
  std::vector<std::uint64_t> bases;  ///< of each part: mapped, or as its owner `far` has it
  int far = -1;                      ///< rank whose private memory it is; -1: seen here
  std::byte* here = nullptr;

  void next(std::span<std::uint64_t> to, std::uint64_t done, std::size_t bytes) const noexcept;
};

/// One element to be moved between an address here and one of another rank.
struct element_move {
  std::uint64_t there;
  std::byte* here;
};

/// A problem found while working: ends the operation, and is told by run().
struct fault {
  std::string text;
};
/// The kernel does not copy for us.
struct no_kernel {};

struct system::body {
  body(rma::engine& memory, sinew::event::system& all);
  ~body();

  // records.cpp
  [[nodiscard]] known_ptr find(instance i) const;
  [[nodiscard]] std::byte* reach(const known& k, std::uint32_t part) const noexcept;
  [[nodiscard]] record& record_at(int whose, std::uint64_t offset) const noexcept {
    return *reinterpret_cast<record*>(rma.at({whose, offset}));
  }
  [[nodiscard]] std::atomic_ref<std::uint64_t> slot(int whose, std::uint32_t index) const noexcept {
    return std::atomic_ref<std::uint64_t>(
        *reinterpret_cast<std::uint64_t*>(rma.at({whose, slots_at + 8 * std::uint64_t{index}})));
  }
  [[nodiscard]] instance enter(const layout& l, memory_kind kind, const std::vector<int>& owners);
  /// The name by which its maker knows it: of a symmetric instance, not that of an image.
  [[nodiscard]] instance base_of(instance i) const noexcept {
    const std::uint32_t maker = i.index() / slot_count;
    return maker == 0
               ? i
               : instance(static_cast<int>(maker) - 1, i.index() % slot_count, i.generation());
  }
  [[nodiscard]] instance image_of(instance base, int of) const noexcept {
    return {of, static_cast<std::uint32_t>(base.creator() + 1) * slot_count + base.index(),
            base.generation()};
  }

  // create.cpp
  void make_parts(instance i, std::uint64_t record_at, user_event ready);
  void make_part(int creator, const allocation& a);
  void part_made(instance i);
  void give_up(instance i, const std::string& why);
  void release_part(memory_kind kind, const part_place& p);
  void free_here(memory_kind kind, std::uint64_t address);
  [[nodiscard]] std::uint64_t take_shared(std::size_t bytes);
  void give_shared(std::uint64_t offset);
  void give_back_kept();
  outcome end(instance i);
  [[nodiscard]] std::uint64_t take_symmetric(std::size_t bytes);

  // operations.cpp
  [[nodiscard]] side_wire check(const side& s, const char* what, const char* where,
                                std::uint64_t& elements) const;
  /// Both sides of `t`, which must have as many elements.
  void check_both(const side& from, const side& to, const char* what, transfer& t) const;
  [[nodiscard]] event issue(transfer& t, int executor, event before);
  [[nodiscard]] int executor_of(const transfer& t) const;
  [[nodiscard]] int helper_for(const transfer& t) const;
  [[nodiscard]] event fetch_indices(side& s, event before, instance& temporary, bool here);
  void start(transfer& t, int executor);
  void perform_here(transfer& t);
  void finish(std::uint64_t post, bool good);

  // transfer.cpp
  [[nodiscard]] outcome run(const transfer& t);
  void copy(const transfer& t);
  void copy_staged(const transfer& t);
  void fill(const transfer& t);
  void reduce(const transfer& t);
  void pass_on(const transfer& t);
  void take_delivery(const delivery& d, const std::byte* data, bool last);
  [[nodiscard]] walk walk_of(const side_wire& s, const window& which = {}) const;
  [[nodiscard]] std::vector<std::int64_t> indices_of(const side_wire& s, const known& whose,
                                                     const window& which) const;
  void kernel(int peer, fabric::direction way, std::span<const fabric::piece> pieces);

  // scattered.cpp
  [[nodiscard]] addresses addresses_of(const walk& w) const;
  void copy_scattered(const addresses& from, const addresses& to, std::uint64_t elements,
                      std::size_t bytes);
  void gather_far(int peer, std::vector<element_move>& moves, std::size_t bytes);
  void scatter_far(int peer, std::vector<element_move>& moves, std::size_t bytes);

  // reductions.cpp
  [[nodiscard]] const operator_entry& operator_of(std::uint64_t id) const;
  void apply_log(int source, const log_place& l, const std::byte* entries);

  /// Keeps and logs it.
  void problem(const std::string& text);
  /// Runs f(poisoned) when `before` has triggered: now if it has.
  template <class F>
  void after(event before, F f);
  /// A failed operation's event.
  [[nodiscard]] event poisoned();
  [[nodiscard]] bool sees(const known& k) const noexcept {
    return k.private_to() == -1 || k.private_to() == rank;
  }

  void on_region(const sinew::event::message& m);
  void on_copy(const sinew::event::message& m);
  void on_reduction(const sinew::event::message& m);

  rma::engine& rma;
  sinew::event::system& events;
  system* facade = nullptr;
  int rank;
  bool threaded;
  std::uint64_t slots_at;  ///< symmetric: a word for each instance a rank may have made
  std::uint32_t slot_count;
  /// Symmetric memory for instances: as much on every rank, at `pool_at`. Rank 0 hands it out for
  /// all, so that whoever makes an instance need not ask the others, nor they make one with it.
  std::uint64_t pool_at = 0;
  std::size_t pool_bytes = 0;
  std::optional<rma::heap> pool;  ///< rank 0's; its offsets count from pool_begin()
  [[nodiscard]] static std::uint64_t pool_begin() noexcept {
    return rma::heap_shape(1, {}).symmetric_at;
  }
  /// The kernel has copied between processes whenever asked. Only ever becomes false; relaxed: a
  /// late reader is refused and learns it.
  std::atomic<bool> kernel_works;

  struct own_instance {
    std::uint32_t parts_to_come = 0;
    bool failed = false;
    user_event ready;
  };
  mutable core::lock lock;                                     ///< guards all below
  mutable std::unordered_map<std::uint64_t, known_ptr> cache;  ///< by handle without generation
  std::unordered_map<std::uint64_t, own_instance> being_made;  ///< by handle
  std::deque<std::uint32_t> free_slots;
  std::uint32_t fresh_slot = 0;
  std::unordered_map<std::uint64_t, std::size_t> private_blocks;  ///< address to bytes
  std::size_t private_bytes = 0;
  struct free_block {
    std::uint64_t offset;
    std::size_t bytes;
  };
  std::vector<free_block> kept;  ///< shared memory for the next instances
  std::size_t kept_bytes = 0;
  std::unordered_map<std::uint64_t, operator_entry> operators;
  std::set<std::pair<int, std::uint64_t>> failed_batches;  ///< by sender and target
  std::string last_problem;

  core::lock merging;  ///< held while a reduction is applied here, if there are threads
};

template <class F>
void system::body::after(event before, F f) {
  using sinew::event::state;
  if (!before.exists()) {
    f(false);
    return;
  }
  struct task : sinew::event::waiter {
    explicit task(F f) : call(std::move(f)) {
      fire = [](sinew::event::waiter& w) noexcept {
        const std::unique_ptr<task> self(static_cast<task*>(&w));
        base::must_have_memory("what waited for an event began",
                               [&] { self->call(self->poisoned); });
      };
    }
    F call;
  };
  auto waiting = std::make_unique<task>(std::move(f));
  const state now = events.subscribe(before, *waiting);
  if (now == state::pending) {
    (void)waiting.release();  // its own
    return;
  }
  waiting->call(now == state::poisoned);
}

}  // namespace sinew::region
