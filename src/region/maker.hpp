// Making and destroying instances: the creator enters them into the table and asks the owners of
// their parts for memory; owners write the parts' addresses into the creator's record and answer,
// or from another node answer with the address.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "region/courier.hpp"
#include "region/deferral.hpp"
#include "region/directory.hpp"
#include "region/instance_table.hpp"
#include "region/part_memory.hpp"
#include "region/problems.hpp"
#include "region/unfinished.hpp"
#include "region/waiting_parts.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::region {

/// Any thread, if `threaded`. Cold.
class maker {
 public:
  struct parts {
    sinew::event::system& events;
    rma::engine& memory;
    instance_table& table;
    part_memory& blocks;
    courier& messages;
    problems& trouble;
    directory& others;
  };
  maker(const parts& p, bool threaded) noexcept
      : all_(p), unfinished_(threaded), threaded_(threaded) {}

  struct entered {
    known_ptr what;  ///< as the creator knows it; perhaps ready already
    sinew::event::user_event ready;
  };
  /// Enters an instance and makes its parts after `before`. Throws sinew::error if no slot or no
  /// memory for the record is left.
  [[nodiscard]] entered create(const layout& l, memory_kind kind, std::span<const job_rank> owners,
                               sinew::event::event before);
  /// One over memory of the program's own on this rank; ready. Throws likewise.
  [[nodiscard]] instance attach(const layout& l, std::byte* base);
  /// Takes an instance of this rank out of the table and gives its memory back. False: it was still
  /// being made, or had been destroyed, and the problem is kept.
  [[nodiscard]] bool end(instance i);
  /// The same once `after` has triggered; `gone` tells how it went. Until then the owners of its
  /// parts know that they will get memory back, which others may wait for.
  void end_after(instance i, sinew::event::event after, std::uint64_t gone);

  // --- what messages ask for ---

  /// Of the owner of a part.
  void make_part(job_rank creator, const allocation& a);
  /// Of the creator, after each part.
  void part_made(instance i);
  /// The owner is on another node, so the creator writes into its record.
  void part_made_far(const allocated_part& a);
  void promised(job_rank by, memory_kind kind, std::uint64_t bytes);
  void settled(job_rank by, memory_kind kind, std::uint64_t bytes);
  void lost(job_rank rank);
  void free_part(memory_kind kind, std::uint64_t address) { all_.blocks.give_back(kind, address); }

 private:
  [[nodiscard]] instance enter(const layout& l, memory_kind kind, std::span<const job_rank> owners);
  void make_parts(const known& k);
  static void write(record& r, const allocated_part& a);
  void succeed(const known& k, sinew::event::user_event ready);
  void fail(const known& k, const std::string& why, sinew::event::user_event ready);
  void release_part(memory_kind kind, const part_place& p);
  void answer(job_rank creator, const allocation& a, const part_memory::result& got);
  using answers = std::vector<std::pair<waiting_parts::request, part_memory::result>>;
  void serve(waiting_parts& w, answers& to);
  [[nodiscard]] waiting_parts& waiting_for(memory_kind kind) noexcept {
    return waiting_[kind == memory_kind::heap ? 0 : kind == memory_kind::symmetric ? 2 : 1];
  }

  parts all_;
  unfinished unfinished_;
  const bool threaded_;
  base::lock waiting_lock_;               ///< guards what follows; also while memory is taken
  std::array<waiting_parts, 3> waiting_;  ///< private, shared and symmetric memory
};

}  // namespace sinew::region
