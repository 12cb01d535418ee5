// SPDX-License-Identifier: BSD-3-Clause
// This image's place among the images. One per process, as the compiler's interface has it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/rma/engine.hpp"
#include "sinew/rma/lock.hpp"

namespace sinew::coarray {

class team;
class statement;
struct pending;

/// Words of each image at the same offset of all heaps. Zero at first.
struct image_words {
  static constexpr std::uint64_t running = 0;
  static constexpr std::uint64_t stopped = 1;
  static constexpr std::uint64_t failed = 2;

  alignas(64) std::uint64_t status;    ///< written by its image, or by others after its death
  std::uint64_t has_left;              ///< 1 once the image itself has told all others
  alignas(64) std::uint64_t departed;  ///< how many images, this one included, have left
  /// Followed by a line for each rank: how often that image has come to synchronise with this one
  /// and, of one on another node, which cannot be looked at, a copy of its status that it writes.
};
// Each word has a cache line of its own, since other images write it.
static_assert(offsetof(image_words, departed) == 64 && sizeof(image_words) == 128);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);  // images are processes

struct job {
  // What every put and get of one element looks at: one line. See enter().
  alignas(64) std::byte* const* parts = nullptr;  ///< the heaps of the current team's images
  unsigned images = 0;  ///< how many; 0 before the job is open, and if some are on other nodes
  std::uint64_t* departures = nullptr;  ///< in this image's words
  rma::engine* engine = nullptr;
  team* now = nullptr;

  core::runtime* runtime = nullptr;
  rma::lock_table* locks = nullptr;
  job_rank rank = 0;
  int size = 1;
  team* first = nullptr;             ///< of all images
  std::uint64_t words_at = 0;        ///< image_words
  std::vector<std::uint64_t> sent;   ///< by rank: synchronisations announced to it
  std::vector<std::uint64_t> heard;  ///< by rank: synchronisations awaited from it
  bool over = false;                 ///< this image has departed
  /// The next `sync all` belongs to an ALLOCATE with STAT=, to which the compiler does not pass it.
  bool forgiving = false;

  // For the report of a hang, see statement.hpp.
  const statement* doing = nullptr;
  const pending* waiting = nullptr;
  const char* looks_by = nullptr;  ///< what looked last at a variable, to do so again
  bool allocating = false;         ///< the next `sync all` is the one that ends ALLOCATE
  unsigned synchronised = 0;       ///< how many statements synchronised, wrapping

  /// Makes it the current team.
  void enter(team& t) noexcept;
  [[nodiscard]] bool open() const noexcept { return engine != nullptr; }
  /// Where this image sees it, which is mapped.
  [[nodiscard]] rma::place status_of(job_rank r) const noexcept {
    SINEW_EXPECT(r.below(size) && words_at != 0);
    if (!engine->maps(r)) [[unlikely]] {
      return told_status(rank, r);
    }
    return {r, words_at + offsetof(image_words, status)};
  }
  /// Where `teller` writes its status for `listener` on another node.
  [[nodiscard]] rma::place told_status(job_rank listener, job_rank teller) const noexcept {
    const rma::place line = pair(listener, teller);
    return {line.rank, line.offset + sizeof(std::uint64_t)};
  }
  [[nodiscard]] rma::place departures_at(job_rank r) const noexcept {
    SINEW_EXPECT(r.below(size) && words_at != 0);
    return {r, words_at + offsetof(image_words, departed)};
  }
  /// Where `teller` announces itself to `listener`.
  [[nodiscard]] rma::place pair(job_rank listener, job_rank teller) const noexcept {
    SINEW_EXPECT(listener.below(size) && teller.below(size));
    return {listener, words_at + sizeof(image_words) + teller.index() * 64};
  }
  [[nodiscard]] bool gone(job_rank r) const noexcept {
    return engine->load<std::uint64_t>(status_of(r)) != image_words::running;
  }
  [[nodiscard]] bool somebody_left() const noexcept {
    SINEW_EXPECT(departures != nullptr);
    return std::atomic_ref<std::uint64_t>(*departures).load(std::memory_order_acquire) != 0;
  }
};

/// Never destroyed: the compiler's code runs until the process ends.
extern job this_job;

/// Joins the job if that has not been done. Static coarrays call it before main. Ends the process
/// with a message if it cannot. Cold.
void open_job();
inline void ensure_open() {
  if (!this_job.open()) [[unlikely]] {
    open_job();
  }
}

/// Records that this image has stopped or failed (`status`) and wakes the images that wait for it.
/// Those of its node can see it on return. Cold.
void depart(std::uint64_t status);
/// With `sinew run --survive`: an image whose process has died has failed, as if by FAIL IMAGE.
/// Each image notes it for itself (core/losses.hpp). Cold.
void note_death(void* unused, job_rank dead);
/// After that: makes progress for the others until all images have departed. Cold.
void serve_until_all_leave();
/// Normal termination: departs, and waits until all images have. Cold.
void stop_image();
/// Tells the launcher that this process is about to end normally. Cold.
void say_goodbye() noexcept;
/// Ends the whole job with exit code `code`, after printing `why` unless it is empty. Cold.
[[noreturn]] void end_all(int code, const std::string& why);

}  // namespace sinew::coarray
