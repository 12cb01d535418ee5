// SPDX-License-Identifier: BSD-3-Clause
// Making and destroying instances: the creator enters them into the table and asks the owners of
// their parts for memory; owners write the parts' addresses into the creator's record and answer,
// or from another node answer with the address.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "region/courier.hpp"
#include "region/deferral.hpp"
#include "region/directory.hpp"
#include "region/future_memory.hpp"
#include "region/instance_table.hpp"
#include "region/part_memory.hpp"
#include "region/problems.hpp"
#include "region/unfinished.hpp"
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
  maker(const parts& p, bool threaded);

  struct entered {
    known_ptr what;  ///< as the creator knows it; perhaps ready already
    sinew::event::user_event ready;
  };
  /// Enters an instance and asks for its parts: their memory is theirs from now on, or it will be
  /// given back by others, or there is none; whichever it is does not depend on `before`, after
  /// which the instance is ready. Throws sinew::error if no slot or no memory for the record is
  /// left.
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
  void promise(const part_name& p);
  void keep(const part_name& p);
  void withdraw(const part_name& p);
  void lost(job_rank rank);
  /// An address that this rank has answered with.
  void free_part(const part_name& p, std::uint64_t address);

 private:
  [[nodiscard]] instance enter(const layout& l, memory_kind kind, std::span<const job_rank> owners);
  void make_parts(const known& k);
  static void write(record& r, const allocated_part& a);
  void go_on(const known& k, const unfinished::step& s);
  void succeed(const known& k, sinew::event::user_event ready);
  void fail(const known& k, sinew::event::user_event ready);
  void release_part(const part_name& p, const part_place& at);
  void answer(job_rank creator, const allocation& a, const part_memory::result& got);
  void answer(const future_memory::outcomes& served);
  void give_back(const part_name& p);
  /// Changes what will be, and answers those whose turn has come.
  template <class Change>
  void update(memory_kind kind, Change change) {
    future_memory* const future = future_of(kind);
    if (future == nullptr) {
      return;
    }
    future_memory::outcomes served;
    {
      const base::guard held(futures_lock_, threaded_);
      change(*future, served);
    }
    answer(served);
  }
  using owned = std::pair<job_rank, part_name>;
  [[nodiscard]] static std::vector<owned> parts_of(const known& k);
  /// Calls one or the other for each part, of this rank or of another.
  void tell_owners(const std::vector<owned>& all, void (maker::*here)(const part_name&),
                   void (courier::*there)(job_rank, const part_name&));
  /// Of which nothing is kept for private memory without a limit: null.
  [[nodiscard]] future_memory* future_of(memory_kind kind) noexcept {
    const auto at = futures_.find(kind == memory_kind::global ? memory_kind::shared : kind);
    return at == futures_.end() ? nullptr : &at->second;
  }

  parts all_;
  unfinished unfinished_;
  const bool threaded_;
  base::lock futures_lock_;  ///< guards the values of what follows
  std::map<memory_kind, future_memory> futures_;
};

}  // namespace sinew::region
