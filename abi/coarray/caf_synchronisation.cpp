// SPDX-License-Identifier: BSD-3-Clause
// Locks (and critical sections, which are locks of image 1), events, atomic subroutines: the same
// in all versions.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <vector>

#include "abi/coarray/failure.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/images.hpp"
#include "abi/coarray/statement.hpp"
#include "abi/coarray/synchronisation.hpp"
#include "abi/coarray/token.hpp"
#include "abi/coarray/traced.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coarray {
namespace {

std::vector<rma::place>& held_locks() {
  static auto& it = *new std::vector<rma::place>;
  return it;
}

constexpr unsigned looks_between = 64;

}  // namespace

void abandon_locks(std::uint64_t status) {
  SINEW_EXPECT(status == image_words::stopped || status == image_words::failed);
  for (const rma::place lock : held_locks()) {
    this_job.engine->store<std::uint64_t>(
        {lock.rank, lock.offset + offsetof(synchronisation, left)}, status);
    [[maybe_unused]] const rma::lock_table::answer got = this_job.locks->release(lock);
    SINEW_ASSERT(got == rma::lock_table::answer::done);  // held_locks() has no others
  }
  held_locks().clear();
}

void look_around(const char* by) noexcept {
  static unsigned looks = 0;
  if (++looks % looks_between == 0) {
    static unsigned synchronised = 0;
    if (this_job.synchronised != synchronised) {
      synchronised = this_job.synchronised;
      this_job.runtime->end_of_polls();  // no loop of looks alone
    }
    this_job.looks_by = by;
    this_job.runtime->poll();
    this_job.looks_by = nullptr;
    if (this_job.runtime->crowded()) {
      // Wait: none; a loop of queries is the program's own.
      ::sched_yield();
    }
  }
}

}  // namespace sinew::coarray

using namespace sinew::coarray;
using sinew::job_rank;
using sinew::rma::lock_table;
using sinew::rma::place;

namespace {

/// Image 0 stands for this one. Rank -1 after fail().
place element_at(void* token, std::size_t index, int image, const outcome& out,
                 const char* statement) {
  const job_rank rank = image == 0 ? this_job.rank : rank_of(*this_job.now, image, out, statement);
  if (rank < 0) {
    return {-1, 0};
  }
  const std::size_t there = token_of(token).bytes / sizeof(synchronisation);
  if (index >= there) [[unlikely]] {
    fail(out, stat::other, statement,
         "a subscript is out of bounds (it names element " + std::to_string(index + 1) +
             " of an array of " + std::to_string(there) + ")");
    return {-1, 0};
  }
  SINEW_ASSERT(rank.below(this_job.size));
  const place first = token_of(token).at(rank);
  return {rank, first.offset + index * sizeof(synchronisation)};
}

/// This image has acquired a lock whose last holder left without unlocking it. If that image
/// failed, the protected data may be half changed: STAT_UNLOCKED_FAILED_IMAGE says so, once. If it
/// stopped, the program is in error: the lock is released, and the result is false after fail().
[[gnu::cold]] bool take_over(place lock, place left, const outcome& out) {
  // Of a lock that cannot be looked at the holder is nobody.
  SINEW_EXPECT(this_job.locks->holder(lock) == this_job.rank ||
               this_job.locks->holder(lock) == sinew::no_job_rank);
  if (this_job.engine->load<std::uint64_t>(left) == image_words::stopped) {
    (void)this_job.locks->release(lock);
    fail(out, stat::stopped_image, "lock",
         "the image that has locked it has stopped without unlocking it");
    return false;
  }
  this_job.engine->store<std::uint64_t>(left, image_words::running);
  if (out.stat != nullptr) {
    fail(out, stat::unlocked_failed_image, "lock", "the image that had locked it has failed");
  }
  return true;
}

/// Waits for that many posts. False: all other images have ended, so that they cannot come.
bool await_posts(place event, std::uint64_t wanted) {
  const auto there = [&] { return this_job.engine->load<std::uint64_t>(event) >= wanted; };
  const auto alone = [] {
    return this_job.engine->load<std::uint64_t>(this_job.departures_at(this_job.rank)) + 1 ==
           static_cast<std::uint64_t>(this_job.size);
  };
  await({.what = pending::sort::posts, .number = wanted, .at = event},
        [&] { return there() || alone(); });
  return there();
}

// --- atomic variables ---

/// One of another node. What `std::atomic_ref` has, as far as it is needed here. Narrow ones are
/// changed by comparing and swapping the four bytes that they lie in.
template <class Word>
class far_variable {
 public:
  using value_type = Word;
  explicit far_variable(place at) noexcept : at_(at) {}

  [[nodiscard]] Word load() const {
    if constexpr (narrow) {
      return part_of(this_job.engine->load<std::uint32_t>(whole()));
    } else {
      return this_job.engine->load<Word>(at_);
    }
  }
  void store(Word value) const {
    if constexpr (narrow) {
      (void)change([&](Word) { return value; });
    } else {
      this_job.engine->store<Word>(at_, value);
    }
  }
  Word fetch_add(Word with) const {
    if constexpr (narrow) {
      return change([&](Word old) { return static_cast<Word>(old + with); });
    } else {
      return this_job.engine->fetch_add<Word>(at_, with);
    }
  }
  Word fetch_and(Word with) const {
    if constexpr (narrow) {
      return change([&](Word old) { return static_cast<Word>(old & with); });
    } else {
      return this_job.engine->fetch_and<Word>(at_, with);
    }
  }
  Word fetch_or(Word with) const {
    if constexpr (narrow) {
      return change([&](Word old) { return static_cast<Word>(old | with); });
    } else {
      return this_job.engine->fetch_or<Word>(at_, with);
    }
  }
  Word fetch_xor(Word with) const {
    if constexpr (narrow) {
      return change([&](Word old) { return static_cast<Word>(old ^ with); });
    } else {
      return this_job.engine->fetch_xor<Word>(at_, with);
    }
  }
  bool compare_exchange_strong(Word& expected, Word value) const {
    const Word wanted = expected;
    if constexpr (narrow) {
      expected = change([&](Word old) { return old == wanted ? value : old; });
    } else {
      expected = this_job.engine->compare_swap<Word>(at_, wanted, value);
    }
    return expected == wanted;
  }

 private:
  static constexpr bool narrow = sizeof(Word) < sizeof(std::uint32_t);
  static_assert(std::endian::native == std::endian::little);
  [[nodiscard]] place whole() const noexcept { return {at_.rank, at_.offset & ~std::uint64_t{3}}; }
  [[nodiscard]] unsigned shift() const noexcept {
    return static_cast<unsigned>(at_.offset & 3) * 8;
  }
  [[nodiscard]] Word part_of(std::uint32_t all) const noexcept {
    return static_cast<Word>(all >> shift());
  }
  template <class How>
  Word change(How how) const {
    std::uint32_t seen = this_job.engine->load<std::uint32_t>(whole());
    for (;;) {
      const Word old = part_of(seen);
      const std::uint32_t mask = std::uint32_t{static_cast<Word>(~Word{0})} << shift();
      const std::uint32_t wanted = (seen & ~mask) | std::uint32_t{how(old)} << shift();
      const auto before = this_job.engine->compare_swap<std::uint32_t>(whole(), seen, wanted);
      if (before == seen) {
        return old;
      }
      seen = before;
    }
  }

  place at_;
};

/// Calls body(Word{}) with the word of that width; false: there is none.
template <class Body>
bool with_word(int width, Body&& body) {
  switch (width) {
    case 1:
      body(std::uint8_t{});
      return true;
    case 2:
      body(std::uint16_t{});
      return true;
    case 4:
      body(std::uint32_t{});
      return true;
    case 8:
      body(std::uint64_t{});
      return true;
    default:
      return false;
  }
}

template <class Body>
void on_variable(void* token, std::size_t offset, int image, int* stat, int kind,
                 const char* statement, Body&& body) {
  const outcome out{stat};
  const job_rank rank = image == 0 ? this_job.rank : rank_of(*this_job.now, image, out, statement);
  if (rank < 0) {
    return;
  }
  const std::size_t bytes = token_of(token).bytes;
  if (offset >= bytes) [[unlikely]] {
    fail(out, stat::other, statement,
         "a subscript is out of bounds (it leads to byte " +
             std::to_string(static_cast<std::ptrdiff_t>(offset) + 1) + " of a coarray of " +
             std::to_string(bytes) + ")");
    return;
  }
  const place p{rank, token_of(token).at(rank).offset + offset};
  const auto on_word = [&]<class Word>(Word) {
    // After `sync images` with another image a put to that one may still be under way.
    if (this_job.engine->at_once(rank)) [[likely]] {
      body(std::atomic_ref<Word>(*reinterpret_cast<Word*>(this_job.engine->at(p))));
    } else {
      body(far_variable<Word>(p));
    }
  };
  if (!with_word(kind, on_word)) {
    fail(out, stat::other, statement,
         "kind " + std::to_string(kind) + " is not supported (1, 2, 4 and 8 are)");
    return;
  }
  end_at(rank, out, statement);
}

enum class operation : int { add = 1, bit_and = 2, bit_or = 3, bit_xor = 4 };

template <class Variable, class Word>
Word apply(operation op, const Variable& v, Word with) {
  switch (op) {
    case operation::add:
      return v.fetch_add(with);
    case operation::bit_and:
      return v.fetch_and(with);
    case operation::bit_or:
      return v.fetch_or(with);
    case operation::bit_xor:
      return v.fetch_xor(with);
  }
  die("atomic operation", "the compiler asks for number " + std::to_string(static_cast<int>(op)) +
                              ", which _gfortran_caf_atomic_op does not know");
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_lock(void* token, std::size_t index, int image, int* acquired, int* stat,
                        char* errmsg, std::size_t length) {
  const outcome out{stat, errmsg, length};
  const place lock = element_at(token, index, image, out, "lock");
  if (lock.rank < 0) {
    return;
  }
  guarded(out, "lock", [&] {
    const traced here(sinew::trace::kind::lock, "lock", image);
    ++this_job.synchronised;
    const pending wanted{.what = pending::sort::lock, .number = index, .at = lock};
    this_job.waiting = &wanted;
    const lock_table::answer got =
        acquired != nullptr ? this_job.locks->try_acquire(lock) : this_job.locks->acquire(lock);
    this_job.waiting = nullptr;
    const bool left_by_the_dead = got == lock_table::answer::from_the_dead;
    const bool had = got == lock_table::answer::done || left_by_the_dead;
    if (acquired != nullptr) {
      *acquired = had ? 1 : 0;
    }
    if (got == lock_table::answer::lost) {
      fail(out, stat::failed_image, "lock", "the image of the lock variable has failed");
      return;
    }
    if (got == lock_table::answer::mine_already) {
      fail(out, stat::locked, "lock", "this image has locked it already");
      return;
    }
    out.good();
    if (!had) {
      look_around("lock with acquired_lock=");  // its holder may need an answer from this image
      return;
    }
    const place left{lock.rank, lock.offset + offsetof(synchronisation, left)};
    if (left_by_the_dead) {
      this_job.engine->store<std::uint64_t>(left, image_words::failed);
    }
    if (this_job.engine->load<std::uint64_t>(left) != image_words::running &&
        !take_over(lock, left, out)) {
      if (acquired != nullptr) {
        *acquired = 0;
      }
      return;
    }
    SINEW_ASSERT(had);
    SINEW_ASSERT(std::find(held_locks().begin(), held_locks().end(), lock) == held_locks().end());
    held_locks().push_back(lock);
  });
}

void _gfortran_caf_unlock(void* token, std::size_t index, int image, int* stat, char* errmsg,
                          std::size_t length) {
  const outcome out{stat, errmsg, length};
  const place lock = element_at(token, index, image, out, "unlock");
  if (lock.rank < 0) {
    return;
  }
  guarded(out, "unlock", [&] {
    const traced here(sinew::trace::kind::lock, "unlock", image);
    this_job.engine->fence_before_telling(lock.rank);
    switch (this_job.locks->release(lock)) {
      case lock_table::answer::free:
        fail(out, stat::unlocked, "unlock", "the variable is not locked");
        return;
      case lock_table::answer::taken:
        fail(out, stat::locked_other_image, "unlock", "another image has locked it");
        return;
      default:
        std::erase(held_locks(), lock);
        out.good();
    }
  });
}

void _gfortran_caf_event_post(void* token, std::size_t index, int image, int* stat, char* errmsg,
                              std::size_t length) {
  const outcome out{stat, errmsg, length};
  const place event = element_at(token, index, image, out, "event post");
  if (event.rank >= 0) {
    const traced here(sinew::trace::kind::sync, "event post", image);
    this_job.engine->fence_before_telling(event.rank);
    this_job.engine->post(event);
    end_at(event.rank, out, "event post");
  }
}

void _gfortran_caf_event_wait(void* token, std::size_t index, int until_count, int* stat,
                              char* errmsg, std::size_t length) {
  const outcome out{stat, errmsg, length};
  const place event = element_at(token, index, 0, out, "event wait");
  if (event.rank < 0) {
    return;
  }
  const traced here(sinew::trace::kind::sync, "event wait");
  const std::uint64_t wanted = until_count > 1 ? static_cast<std::uint64_t>(until_count) : 1;
  this_job.engine->fence();
  ++this_job.synchronised;
  if (!await_posts(event, wanted)) {
    // Fortran 2018, 11.6.11: not STAT_STOPPED_IMAGE or STAT_FAILED_IMAGE.
    fail(out, stat::other, "event wait", "no other image is left that could post the event");
    return;
  }
  SINEW_ASSERT(event.rank == this_job.rank && wanted >= 1);
  this_job.engine->take(event.offset, wanted);
  out.good();
}

void _gfortran_caf_event_query(void* token, std::size_t index, int image, int* count, int* stat) {
  const outcome out{stat};
  const place event = element_at(token, index, image, out, "event query");
  if (event.rank >= 0) {
    *count = static_cast<int>(this_job.engine->load<std::uint64_t>(event));
    look_around("event_query");
    end_at(event.rank, out, "event query");
  }
}

void _gfortran_caf_atomic_define(void* token, std::size_t offset, int image, void* value, int* stat,
                                 int, int kind) {
  on_variable(token, offset, image, stat, kind, "atomic_define", [&](auto v) {
    using word = typename decltype(v)::value_type;
    v.store(*static_cast<word*>(value));
  });
}

void _gfortran_caf_atomic_ref(void* token, std::size_t offset, int image, void* value, int* stat,
                              int, int kind) {
  on_variable(token, offset, image, stat, kind, "atomic_ref", [&](auto v) {
    using word = typename decltype(v)::value_type;
    *static_cast<word*>(value) = v.load();
    look_around("atomic_ref");
  });
}

void _gfortran_caf_atomic_cas(void* token, std::size_t offset, int image, void* old, void* compare,
                              void* value, int* stat, int, int kind) {
  on_variable(token, offset, image, stat, kind, "atomic_cas", [&](auto v) {
    using word = typename decltype(v)::value_type;
    word seen = *static_cast<word*>(compare);
    if (!v.compare_exchange_strong(seen, *static_cast<word*>(value))) {
      look_around("atomic_cas");
    }
    *static_cast<word*>(old) = seen;
  });
}

void _gfortran_caf_atomic_op(int op, void* token, std::size_t offset, int image, void* value,
                             void* old, int* stat, int, int kind) {
  on_variable(token, offset, image, stat, kind, "atomic operation", [&](auto v) {
    using word = typename decltype(v)::value_type;
    const word before = apply(static_cast<operation>(op), v, *static_cast<word*>(value));
    if (old != nullptr) {
      *static_cast<word*>(old) = before;
    }
  });
}

}  // extern "C"
#pragma GCC visibility pop
