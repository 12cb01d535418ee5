// Collectives of ranks on several nodes, by levels: inside each node over module node, between
// nodes by messages of one rank of each, its leader.
//
// The leader is a node's lowest rank; in a call with a root the root is its node's. Which ranks
// share a node, and so everything that is decided here, is known to all ranks alike.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coll/collective_messages.hpp"
#include "coll/node_map.hpp"
#include "sinew/node/team.hpp"

namespace sinew::coll {

/// buffer(int rank), by reference: for the length of a call.
class place_of {
 public:
  template <class F>
  place_of(const F& f) noexcept  // NOLINT(google-explicit-constructor): a lambda is given
      : call_([](const void* c, int r) { return (*static_cast<const F*>(c))(r); }), context_(&f) {}
  [[nodiscard]] buffer operator()(int r) const { return call_(context_, r); }

 private:
  buffer (*call_)(const void*, int);
  const void* context_;
};

/// What a communicator has of it. Its calls are as collectives.hpp says; `t` is the call that they
/// are part of. One thread at a time. They suspend. Warm.
class levels {
 public:
  /// `map` must last as long. `team` is of this rank's node, null if it is alone there.
  levels(participant at, const node_map& map, std::unique_ptr<node::team> team);

  [[nodiscard]] const node_map& map() const noexcept { return map_; }

  /// Whether a reduction can go by levels: one answer on all ranks.
  [[nodiscard]] bool reduces(const layout::datatype& type, const op& o) const noexcept;
  /// Whether blocks of so many bytes go through the leaders. As many on all ranks.
  [[nodiscard]] static bool collects(std::size_t block) noexcept;
  [[nodiscard]] static bool forwards(std::size_t block) noexcept;

  fault barrier(collective_messages& t);
  fault bcast(collective_messages& t, const buffer& data, int root);
  fault reduce(collective_messages& t, const void* input, const buffer& recv, const op& o,
               int root);
  fault allreduce(collective_messages& t, const void* input, const buffer& recv, const op& o);
  /// Scan and exscan, where the ranks of each node follow each other. With its own, a rank's input
  /// is in `recv`, too. In scan.cpp.
  enum class with_own : bool { no, yes };
  fault prefix(collective_messages& t, const void* input, const buffer& recv, const op& o,
               with_own own);
  /// count(r): instances that rank r gets.
  template <class Count>
  fault reduce_scatter(collective_messages& t, const void* input, const buffer& mine,
                       const Count& count, const op& o) {
    std::vector<std::size_t> starts(static_cast<std::size_t>(t.size()) + 1);
    for (int r = 0; r < t.size(); ++r) {
      const auto i = static_cast<std::size_t>(r);
      starts[i + 1] = starts[i] + count(r);
    }
    return scatter_reduced(t, input, mine, starts, o);
  }
  /// `whole`, if not null, is the memory in which all blocks lie in the order of ranks.
  fault allgather(collective_messages& t, const buffer& mine, const buffer& own, const place_of& in,
                  std::byte* whole);
  /// `mine` is in_place, or each rank's own. Only blocks that collects() go through the leaders.
  fault gather(collective_messages& t, const buffer& mine, const place_of& in, int root);
  fault scatter(collective_messages& t, const buffer& mine, const place_of& out, int root);
  /// Blocks of `each` bytes for which forwards() is true.
  fault alltoall(collective_messages& t, const place_of& out, const place_of& in, std::size_t each);
  /// Any blocks: over memory inside the node, else by a message each.
  fault alltoall_near(collective_messages& t, const place_of& out, const place_of& in);

 private:
  class leaders;
  [[nodiscard]] bool leads() const noexcept { return member_ == 0; }
  /// Member of this node that leads it in a call with this root.
  [[nodiscard]] int lead(int root) const noexcept;
  fault scatter_reduced(collective_messages& t, const void* input, const buffer& mine,
                        std::span<const std::size_t> starts, const op& o);
  /// What a leader has of the ranks of its node: a row for each, of `each` bytes for each rank. In
  /// `rows`, and so many more in `other`, where the answer is put.
  struct two_tables {
    std::byte* rows;
    std::byte* other;
    std::size_t each;
  };
  void trade_rows(collective_messages& t, const two_tables& tables);
  void send_collected(collective_messages& t, const buffer& mine, int root);
  void receive_collected(collective_messages& t, const place_of& in, int root);
  void hand_out(collective_messages& t, const place_of& out, int root);
  void pass_on(collective_messages& t, const buffer& mine, int root);

  participant at_;
  const node_map& map_;
  std::unique_ptr<node::team> team_;
  int member_;                ///< this rank's number in its node
  std::vector<int> leaders_;  ///< by node; changed only for the length of a call
};

/// The messages between leaders of one call, with its root as one of them. Leaders only.
class levels::leaders {
 public:
  leaders(levels& l, collective_messages& t, int root = -1)
      : leaders_(l.leaders_),
        call_(t),
        node_(root < 0 ? 0 : static_cast<std::size_t>(l.map_.node_of(root))),
        usual_(std::exchange(leaders_[node_], root < 0 ? leaders_[node_] : root)),
        messages_(l.at_, leaders_, l.map_.here(), t.tag()) {}
  leaders(const leaders&) = delete;
  leaders& operator=(const leaders&) = delete;
  ~leaders() {
    call_.note(messages_.outcome());
    leaders_[node_] = usual_;
  }
  [[nodiscard]] collective_messages& operator*() noexcept { return messages_; }

 private:
  std::vector<int>& leaders_;
  collective_messages& call_;
  std::size_t node_;
  int usual_;
  collective_messages messages_;
};

}  // namespace sinew::coll
