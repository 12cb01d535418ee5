// SPDX-License-Identifier: BSD-3-Clause
// What this rank asks of others by messages, and what it does for them: all that is done to memory
// of other nodes, and on any node what the owner has to do itself. Messages of a pair are handled
// in order; long contiguous transfers go by the fabric's put and get, under the key by which each
// rank has exposed its part.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "rma/far_wire.hpp"
#include "sinew/base/completion.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/core/losses.hpp"
#include "sinew/rma/engine.hpp"
#include "sinew/rma/ledger.hpp"

namespace sinew::rma {

struct loops;

class far_ranks {
 public:
  /// Exposes this rank's part.
  far_ranks(engine& e, heap_sizes sizes);
  ~far_ranks();
  far_ranks(const far_ranks&) = delete;
  far_ranks& operator=(const far_ranks&) = delete;

  /// A byte there: an offset of its heap, or an address.
  struct target {
    job_rank rank;
    wire::space in;
    std::uint64_t where;
  };

  [[nodiscard]] static target at(place p) noexcept { return {p.rank, wire::space::heap, p.offset}; }
  [[nodiscard]] static target at(outside p) noexcept {
    return {p.rank, wire::space::address, p.address};
  }

  // What this rank asks for. All make progress meanwhile, and suspend. Of a rank that has died they
  // end, and what they bring means nothing.
  void put(const target& to, const void* from, std::size_t bytes);
  void get(void* to, const target& from, std::size_t bytes);
  void put_section(const target& to, std::byte* from, const loops& section);
  void get_section(std::byte* to, const target& from, const loops& section);
  [[nodiscard]] std::uint64_t change(const target& at, const engine::word_change& how);
  void tell(const target& at, const engine::word_change& how);
  struct combination {
    const void* from;
    std::size_t count;
    element type;
    combine op;
    void* before;  ///< or null
  };
  void combine_at(const target& to, const combination& c);
  void put_pieces(job_rank r, std::span<const fabric::piece> pieces);
  void get_pieces(job_rank r, std::span<const fabric::piece> pieces);
  void get_pieces_later(job_rank r, std::span<const fabric::piece> pieces);
  void finish_gets();
  [[nodiscard]] std::uint64_t gets_begun() const noexcept {
    return gets_begun_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool gets_ended(std::uint64_t first) const noexcept {
    return gets_done_.load(std::memory_order_acquire) >= first;
  }
  void ask_later(job_rank r, service which, const question& one);
  void ask(job_rank r, service which, std::span<const question> all);
  void tell(job_rank r, service which, std::span<const std::byte> data);
  [[nodiscard]] std::size_t room() const noexcept { return room_; }
  /// Of a message to that rank, and of one from it.
  [[nodiscard]] std::size_t room_to(job_rank r) const noexcept {
    return engine_.maps(r) ? runtime_.endpoint().bounds().max_medium : room_;
  }
  /// Whether something was told to anybody, or to `r`, that need not have been done.
  [[nodiscard]] bool has_told() const noexcept { return told_.open(); }
  [[nodiscard]] bool has_told(job_rank r) const noexcept { return told_.open(r); }
  void wake(job_rank r);
  /// Returns when all of these have handled whatever this rank has sent them.
  void flush(std::span<const job_rank> ranks);

  /// Whatever comes for the module. From inside progress().
  status handle(const fabric::arrival& m) noexcept;

 private:
  /// Where the elements of an answer go.
  struct near_run {
    std::byte* base;
    std::ptrdiff_t stride;
    const std::int64_t* index;  ///< or null
    std::size_t bytes;
    std::size_t count;
  };
  /// An answer that is awaited. In the list of those while it has an id.
  struct request {
    job_rank from = no_job_rank;
    std::uint32_t id = 0;
    std::byte* into = nullptr;  ///< for `bytes`, unless there are runs
    std::size_t bytes = 0;
    std::vector<near_run> runs;
    completion done;
    std::uint64_t turn = 0;  ///< not 0: a get of that number, which finish_gets() waits for
  };
  /// Requests that are under way at once, each waited for before it is used again.
  class pipeline;
  class run_writer;
  template <class Asker>
  class run_reader;
  class one_by_one;
  class many_later;

  /// A rank that has greeted.
  struct acquaintance {
    wire::greeting said;
    bool alike;  ///< its heap has our sizes
  };
  struct unsent {
    job_rank to = no_job_rank;
    fabric::header head{};
    std::size_t size = 0;
    std::array<std::byte, 16> small{};
    std::vector<std::byte> large;
    [[nodiscard]] std::byte* data() noexcept { return large.empty() ? small.data() : large.data(); }
  };

  const acquaintance& meet(job_rank r);
  [[noreturn]] void heaps_differ(job_rank r, const wire::greeting& theirs) const;
  [[nodiscard]] wire::greeting own_greeting() const noexcept;
  [[nodiscard]] bool try_send(job_rank to, const fabric::header& head, const void* data,
                              std::size_t bytes);
  void send(job_rank to, const wire::head& head, const void* data, std::size_t bytes);
  void enlist(request& r, job_rank from);
  void end_if_dead(std::uint32_t id, job_rank from);
  /// A get that nobody waits for alone: filled, then sent as this request.
  [[nodiscard]] request& new_get();
  void begin_get(request& r, job_rank from, wire::head head, std::span<const std::byte> data);
  void end_get(request& r) noexcept;
  void end(request& r) noexcept;
  void end_requests_to(job_rank dead);
  void await(request& r);
  void put_long(const target& to, const void* from, std::size_t bytes);
  void get_long(void* to, const target& from, std::size_t bytes);
  [[nodiscard]] static bool is_long(const target& t, std::size_t bytes) noexcept;

  // far_owner.cpp: what others ask for.
  void serve(job_rank source, const wire::head& h, const fabric::arrival& m);
  void take_greeting(job_rank source, const wire::head& h, const fabric::arrival& m);
  void take_answer(job_rank source, const wire::head& h, const fabric::arrival& m) noexcept;
  [[nodiscard]] std::byte* here(job_rank source, const wire::head& h, std::uint64_t where,
                                std::uint64_t bytes) const noexcept;
  void serve_put_runs(job_rank source, const wire::head& h, const fabric::arrival& m);
  void serve_get(job_rank source, const wire::head& h, const fabric::arrival& m);
  void serve_get_runs(job_rank source, const wire::head& h, const fabric::arrival& m);
  void serve_change(job_rank source, const wire::head& h, const fabric::arrival& m);
  void serve_combine(job_rank source, const wire::head& h, const fabric::arrival& m);
  void serve_service(job_rank source, const wire::head& h, const fabric::arrival& m);
  unsent& new_answer(job_rank to, std::uint32_t id, std::size_t bytes);
  void send_answers();
  int send_kept();

  engine& engine_;
  core::runtime& runtime_;
  const heap_sizes sizes_;
  const job_rank rank_;
  std::size_t room_;  ///< of a message to another node
  fabric::remote_key key_;

  /// By rank; made once, read without the lock (acquire) when it is there.
  std::unique_ptr<std::atomic<acquaintance*>[]> known_;
  std::vector<std::unique_ptr<acquaintance>> owned_;  ///< in progress() only

  /// By rank: messages that are not answered, and need not have been done.
  ledger told_;

  /// Once a rank is gone, whatever is asked of it is answered by bytes that mean nothing.
  core::losses& losses_;

  base::lock requests_lock_;
  std::vector<request*> requests_;              ///< by the low bits of their ids, less one
  std::vector<std::uint32_t> free_ids_;         ///< of these
  std::vector<std::unique_ptr<request>> gets_;  ///< all that were ever needed
  std::vector<request*> free_gets_;             ///< of these
  std::deque<bool> gets_ended_;                 ///< of those after gets_done_
  /// Gets are numbered from 1 as they begin; of those up to this number all have ended. Changed
  /// under the lock, and read without it: release and acquire, for the data they have brought.
  std::atomic<std::uint64_t> gets_begun_{0};
  std::atomic<std::uint64_t> gets_done_{0};

  // In progress() only.
  std::deque<unsent> unsent_;
  std::vector<std::byte> scratch_;
  base::shortage shortage_;
  int chore_ = -1;
};

}  // namespace sinew::rma
