// Blocking collectives among neighbours: all messages of a call are under way at once, without a
// plan (plans.cpp has those of the other forms, by the same exchange).
#include <array>
#include <vector>

#include "coll/collective_messages.hpp"

namespace sinew::coll {
namespace {

/// The messages of one call that are under way.
class under_way {
 public:
  under_way(participant at, collective_messages& call, std::size_t most) : at_(at), call_(call) {
    if (most > few_.size()) {
      many_.resize(most);
    }
  }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
  ~under_way() {
    for (std::size_t i = 0; i < used_; ++i) {
      request* const r = all()[i];
      at_.engine.wait(*r);
      call_.note(r->outcome.error);
      at_.engine.release(r);
    }
  }

  void receive(const buffer& into, int source) {
    all()[used_++] = at_.engine.irecv(at_.comm, p2p::collectives_of(at_.comm), into,
                                      comm_rank{source}, call_.tag());
  }
  void send(const buffer& from, int dest) {
    request* const r = at_.engine.isend(at_.comm, p2p::collectives_of(at_.comm), from,
                                        comm_rank{dest}, call_.tag());
    if (r != nullptr) {
      all()[used_++] = r;
    }
  }

 private:
  [[nodiscard]] request** all() noexcept { return many_.empty() ? few_.data() : many_.data(); }

  participant at_;
  collective_messages& call_;
  std::array<request*, 32> few_;  // not initialised: written before it is read
  std::vector<request*> many_;
  std::size_t used_ = 0;
};

template <class Out, class In>
fault exchange(participant at, const char* name, const neighbours& n, const Out& out,
               const In& in) {
  collective_messages call(at, name);
  {
    under_way messages(at, call, n.sources.size() + n.destinations.size());
    exchange_with_neighbours(messages, n, out, in);
  }
  return call.outcome();
}

template <class Send, class Recv>
fault exchange_blocks(participant at, const char* name, const neighbours& n, const Send& send,
                      const Recv& recv) {
  return exchange(
      at, name, n, [&](int i) { return block(send, i); }, [&](int i) { return block(recv, i); });
}

}  // namespace

fault neighbour_allgather(participant at, const neighbours& n, const buffer& send,
                          const buffer& recv) {
  return exchange(
      at, "MPI_Neighbor_allgather", n, [&](int) { return send; },
      [&](int i) { return block(recv, i); });
}
fault neighbour_allgatherv(participant at, const neighbours& n, const buffer& send, parts recv) {
  return exchange(
      at, "MPI_Neighbor_allgatherv", n, [&](int) { return send; },
      [&](int i) { return block(recv, i); });
}
fault neighbour_alltoall(participant at, const neighbours& n, const buffer& send,
                         const buffer& recv) {
  return exchange_blocks(at, "MPI_Neighbor_alltoall", n, send, recv);
}
fault neighbour_alltoallv(participant at, const neighbours& n, parts send, parts recv) {
  return exchange_blocks(at, "MPI_Neighbor_alltoallv", n, send, recv);
}
fault neighbour_alltoallw(participant at, const neighbours& n, parts_w send, parts_w recv) {
  return exchange_blocks(at, "MPI_Neighbor_alltoallw", n, send, recv);
}

}  // namespace sinew::coll
