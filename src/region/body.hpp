// One rank's regions, put together: pure cores, what stands on them, and the edges to the network.
// Read first the header of the part you look for:
//
//   instance_table  which handle names which record          pure
//   plan, walker    who moves which bytes, and in which runs pure
//   sides, checks   sides of transfers, checked and bound     pure, over mapped memory
//   part_memory     this rank's memory for parts             edge: heaps
//   peer_memory     other processes' private memory          edge: kernel
//   courier         messages                                 edge: network
//   maker           instances come and go                    on table, memory and courier
//   mover           bytes of one transfer                    on plan, sides, kernel and courier
//   contributions   logs of reductions applied               on table and operators
//   operations      when and where a transfer happens        on mover and courier
//
// A call goes down: system -> operations or maker -> mover -> courier. A message goes up: courier
// -> inbox, which is here -> the part that it is for -> the event of whoever asked.
#pragma once

#include "region/checks.hpp"
#include "region/contributions.hpp"
#include "region/courier.hpp"
#include "region/instance_table.hpp"
#include "region/maker.hpp"
#include "region/mover.hpp"
#include "region/operations.hpp"
#include "region/part_memory.hpp"
#include "region/problems.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/region/system.hpp"

namespace sinew::region {

struct system::body final : inbox {
  body(rma::engine& memory, sinew::event::system& events);
  ~body() { messages.close(); }
  body(const body&) = delete;
  body& operator=(const body&) = delete;

  void on_allocate(job_rank creator, const allocation& a) override {
    instances.make_part(creator, a);
  }
  void on_allocated(instance i) override { instances.part_made(i); }
  void on_release(memory_kind kind, std::uint64_t address) override {
    instances.free_part(kind, address);
  }
  void on_destroy(instance i, std::uint64_t post) override {
    finish(events, post, instances.end(i));
  }
  void on_perform(transfer& t) override { transfers.perform(t); }
  void on_delivery(const delivery& d, const std::byte* elements, bool last) override {
    transfers.take_delivery(d, elements, last);
  }
  void on_contributions(job_rank sender, const log_place& l, const std::byte* entries) override {
    reductions.apply(sender, l, entries);
  }

  sinew::event::system& events;
  const bool threaded;
  problems trouble;
  core::lock merging;  ///< held while a reduction is applied here, if there are threads
  // The first two make symmetric allocations, in this order on every rank.
  instance_table table;
  part_memory blocks;
  operator_table operators;
  courier messages;  ///< open while the object is whole
  maker instances;
  mover bytes;
  operations transfers;
  contributions reductions;
};

}  // namespace sinew::region
