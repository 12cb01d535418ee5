// SPDX-License-Identifier: BSD-3-Clause
// Transfers to memory that this rank does not see: packed into messages to the owners of the
// target's parts, a few of which are under way at a time. Whoever gets them needs no record of the
// instance: they say where the elements belong.
//
// A stream begins here, goes on when an owner answers, and ends with its event: triggered by the
// owner where all fits into one message, else here, after the last answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "region/courier.hpp"
#include "region/operator_table.hpp"
#include "region/plan.hpp"
#include "region/problems.hpp"
#include "region/sides.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"

namespace sinew::region {

struct letter;

/// Any thread, if `threaded`. No call waits.
class streams {
 public:
  struct parts {
    sinew::event::system& events;
    instance_table& table;
    const operator_table& operators;
    courier& messages;
    problems& trouble;
    base::lock& merging;  ///< held while a reduction is applied here, if there are threads
  };
  streams(const parts& p, bool threaded) noexcept : all_(p), threaded_(threaded) {}

  /// A copy or a reduction whose source, or part of it, this rank sees; its event ends it. Throws
  /// fault and sinew::error; then nothing was done.
  void begin(const transfer& t);
  /// Contiguous bytes of a copy, from so many on, are fetched by the owner of another node
  /// (fetches), so many at a time at most.
  static constexpr std::uint64_t least_fetched = std::uint64_t{64} << 10;
  static constexpr std::uint64_t most_fetched = std::uint64_t{1} << 20;
  /// So many messages of a stream may be unanswered.
  static constexpr std::uint32_t most_under_way = 32;

  // --- what messages ask for ---

  /// Puts elements where they belong, and tells the sender or triggers the event.
  void take(job_rank sender, const parcel& p, const std::byte* runs);
  /// To the sender.
  void answered(job_rank owner, std::uint64_t number, bool good);
  /// Nothing comes from that rank any more.
  void lost(job_rank owner);

 private:
  struct stream;
  using stream_ptr = std::shared_ptr<stream>;

  void run(const stream_ptr& s);
  [[nodiscard]] bool pump(stream& s);
  [[nodiscard]] std::uint64_t move_some(stream& s, const paired_walk::pair& p);
  [[nodiscard]] std::uint64_t let_fetch(stream& s, const paired_walk::pair& p,
                                        const std::byte* source);
  [[nodiscard]] letter& letter_to(stream& s, job_rank owner);
  void withdraw(const stream& s);
  [[nodiscard]] std::uint64_t pack(stream& s, const paired_walk::pair& p, const std::byte* source);
  void pack_in_pieces(stream& s, job_rank owner, std::uint64_t address, const std::byte* source);
  void apply_here(const stream& s, const paired_walk::pair& p, const std::byte* source);
  void send(stream& s, job_rank owner, bool ends_it);
  [[nodiscard]] bool place(const parcel& p, const std::byte* runs);

  parts all_;
  const bool threaded_;
  base::lock lock_;  ///< guards what follows
  std::unordered_map<std::uint64_t, stream_ptr> open_;
  std::uint64_t last_ = 0;
};

}  // namespace sinew::region
