// SPDX-License-Identifier: BSD-3-Clause
// One rank's regions, put together: pure cores, what stands on them, and the edges to the network.
// Read first the header of the part you look for:
//
//   instance_table  which handle names which record          pure
//   plan, walker    who moves which bytes, and in which runs pure
//   sides, checks   sides of transfers, checked and bound     pure, over mapped memory
//   part_memory     this rank's memory for parts             edge: heaps
//   future_memory   who gets what others will give back      pure, over a heap
//   peer_memory     other processes' private memory          edge: kernel
//   courier         messages                                 edge: network
//   directory       what ranks of other nodes have made      on table and courier
//   maker           instances come and go                    on table, memory and courier
//   streams         transfers packed into messages           on plan, sides and courier
//   mover           bytes of one transfer                    on plan, sides, kernel and streams
//   contributions   logs of reductions applied               on table and operators
//   operations      when and where a transfer happens        on mover and courier
//
// A call goes down: system -> operations or maker -> mover -> courier. A message goes up: courier
// -> inbox, which is here -> the part that it is for -> the event of whoever asked.
#pragma once

#include <vector>

#include "region/checks.hpp"
#include "region/contributions.hpp"
#include "region/courier.hpp"
#include "region/directory.hpp"
#include "region/fetches.hpp"
#include "region/instance_table.hpp"
#include "region/maker.hpp"
#include "region/mover.hpp"
#include "region/operations.hpp"
#include "region/part_memory.hpp"
#include "region/problems.hpp"
#include "region/streams.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/region/system.hpp"

namespace sinew::region {

struct system::body final : inbox {
  body(rma::engine& memory, sinew::event::system& events);
  ~body();
  body(const body&) = delete;
  body& operator=(const body&) = delete;

  void on_allocate(job_rank creator, const allocation& a) override {
    instances.make_part(creator, a);
  }
  void on_allocated(instance i) override { instances.part_made(i); }
  void on_release(const part_name& p, std::uint64_t address) override {
    instances.free_part(p, address);
  }
  void on_promise(const part_name& p) override { instances.promise(p); }
  void on_keep(const part_name& p) override { instances.keep(p); }
  void on_withdraw(const part_name& p) override { instances.withdraw(p); }
  void on_destroy(instance i, std::uint64_t post, sinew::event::event after) override {
    instances.end_after(i, after, post);
  }
  void on_allocated_far(job_rank, const allocated_part& a) override { instances.part_made_far(a); }
  void on_perform(transfer& t) override { transfers.perform(t); }
  void on_parcel(job_rank sender, const parcel& p, const std::byte* runs) override {
    sent.take(sender, p, runs);
  }
  void on_fetch(job_rank sender, const fetch_piece& f) override { fetched.begin(sender, f); }
  void on_answer(job_rank owner, std::uint64_t stream, bool good) override {
    sent.answered(owner, stream, good);
  }
  void on_ask(job_rank who, instance i) override { others.on_ask(who, i); }
  void on_record(const record_piece& p, const std::byte* data, std::size_t size) override {
    others.on_record(p, data, size);
  }
  void on_forget(instance i) override { others.on_forget(i); }
  void on_contributions(job_rank sender, const log_place& l, const std::byte* entries,
                        std::size_t size) override;

  /// Asks for what ranks of other nodes have made, and waits.
  void meet(const side& s) {
    if (!table.one_node()) {
      others.meet(s.what);
      if (s.index.exists()) {
        others.meet(s.index);
      }
    }
  }
  /// Who carries out a transfer.
  [[nodiscard]] division divide(const known& from, const known& to) const;
  /// Whether that rank can touch all of it.
  [[nodiscard]] bool sees(job_rank who, const known& k) const;
  /// The same transfer by all of them; their ends.
  [[nodiscard]] std::vector<sinew::event::event> issue_all(transfer t, const division& by,
                                                           sinew::event::event before);
  /// A log that its owner cannot read, in batches.
  void send_log(job_rank owner, const log_place& l);

  sinew::event::system& events;
  const bool threaded;
  problems trouble;
  base::lock merging;  ///< held while a reduction is applied here, if there are threads
  // The first two make symmetric allocations, in this order on every rank.
  instance_table table;
  part_memory blocks;
  operator_table operators;
  courier messages;  ///< open while the object is whole
  directory others;
  maker instances;
  streams sent;
  fetches fetched;
  mover bytes;
  operations transfers;
  contributions reductions;
};

}  // namespace sinew::region
