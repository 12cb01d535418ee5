// SPDX-License-Identifier: BSD-3-Clause
// One kind of memory of this rank as it will be: which part of an instance has which place, which
// parts will give theirs back once an event has triggered, and who gets these places then.
//
// Memory is cut into segments, each with a stack of parts. The lowest of a stack has the segment;
// those above get it in turn, so all but the topmost have promised to go. A part that finds no free
// place at once is put on top of others that will go, and keeps that place: it waits until it is
// the lowest in all its segments, whatever the order in which those below go, and what was accepted
// is never refused later. Only a part that stays after all (its destruction has failed) takes its
// places back; then the parts above it look for others, in the order in which they came. (Realm
// simulates the heap's future likewise: deferred allocation.)
//
//   free | a, leaves | b, leaves | free      c gets all of a and some of b, d the rest of b
//        [------- c -----)[- d -)
//
// The arena keeps the account of places: those in segments are blocks of it. Pure. Not locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "region/messages.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/rma/arena.hpp"

namespace sinew::region {

class future_memory {
 public:
  using piece = rma::arena::piece;
  /// Who asked, for what.
  struct request {
    job_rank creator;
    allocation what;
  };
  /// A part that waited has its place now, or none.
  struct outcome {
    request of;
    std::uint64_t offset = 0;  ///< of its first byte; 0: it has none
    bool withdrawn = false;
  };
  using outcomes = std::vector<outcome>;

  enum class fit : std::uint8_t {
    in_one_piece,
    in_any_pieces,  ///< the arena is an account of bytes; offsets mean nothing
  };
  /// Blocks of the arena as its owner likes to hand them out, and back.
  struct source {
    std::function<std::uint64_t(std::size_t bytes)> allocate;  ///< 0: none
    std::function<void(std::uint64_t offset, bool others_wait)> release;
  };
  future_memory(rma::arena& blocks, fit f, source of);

  enum class answer : std::uint8_t { placed, waits, refused };
  /// `offset`: of what is placed.
  [[nodiscard]] answer place(const request& r, std::uint64_t& offset);
  /// It will give its place back.
  void promise(const part_name& p);
  /// It does so now; what was promised or not.
  void release(const part_name& p, outcomes& served);
  /// It does not after all.
  void keep(const part_name& p, outcomes& served);
  /// If it waits it need not any more.
  void withdraw(const part_name& p, outcomes& served);
  /// Nobody asks, promises or gives back in its name any more. What it has got stays: other ranks
  /// may use that still.
  void lose(job_rank creator, outcomes& served);

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct tenant {
    request of;
    std::vector<piece> places;
    bool waiting = false;  ///< in waiting_; else it has its places
    bool leaving = false;
  };
  struct segment {
    std::uint64_t bytes = 0;
    std::vector<tenant*> stack;  ///< not empty; the lowest first
  };
  using segments = std::map<std::uint64_t, segment>;  ///< by offset
  struct candidate {
    piece where;
    bool is_free;  ///< else it lies in segments
  };
  enum class time : std::uint8_t { now, later };
  struct key {
    std::uint64_t id;
    std::uint32_t part;
    bool operator==(const key&) const = default;
  };
  struct key_hash {
    std::size_t operator()(const key& k) const noexcept {
      return std::hash<std::uint64_t>()(k.id * 0x9e3779b97f4a7c15u + k.part);
    }
  };

  [[nodiscard]] tenant* find(const part_name& p);
  void forget(tenant& t);
  [[nodiscard]] std::vector<segments::iterator> segments_of(const std::vector<piece>& places);
  [[nodiscard]] bool is_lowest(const tenant& t);
  [[nodiscard]] std::vector<candidate> candidates(tenant& t, time when);
  [[nodiscard]] std::vector<candidate> choose(std::vector<candidate> among,
                                              std::uint64_t bytes) const;
  [[nodiscard]] bool claim(const std::vector<candidate>& chosen);
  [[nodiscard]] bool put(tenant& t, time when, outcomes& served);
  [[nodiscard]] bool find_place(tenant& t, outcomes& served);
  void push(tenant& t, const std::vector<candidate>& chosen, outcomes& served);
  void cut(std::uint64_t offset);
  void take_out(const tenant& t, const std::vector<piece>& places, outcomes& served);
  void settle(tenant& t, outcomes& served);
  void serve(outcomes& served);

  rma::arena& arena_;
  const fit fit_;
  const source source_;
  std::unordered_map<key, tenant, key_hash> tenants_;
  std::list<tenant*> waiting_;  ///< in the order in which they came
  segments segments_;
};

}  // namespace sinew::region
