// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 8.5.3 to 8.5.5: graphs that are known on every rank, and distributed graphs.
#include <algorithm>
#include <span>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/topology.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

const topology& placed(const comm_object& c, int kind, const char* what) {
  if (c.places == nullptr || c.places->kind != kind) {
    fail(MPI_ERR_TOPOLOGY, "the communicator has no %s topology", what);
  }
  return *c.places;
}
const topology& graph_of(const comm_object& c) {
  return placed(c, MPI_GRAPH, "graph (MPI_Graph_create)");
}
const topology& distributed_of(const comm_object& c) {
  return placed(c, MPI_DIST_GRAPH, "distributed graph (MPI_Dist_graph_create)");
}

void copy_out(std::span<const int> from, int most, int* to, const char* name) {
  if (most < 0) {
    fail(MPI_ERR_ARG, "the length %d of %s is negative", most, name);
  }
  const std::size_t n = std::min(from.size(), static_cast<std::size_t>(most));
  if (n == 0) {
    return;
  }
  check_out(to, name);
  std::copy_n(from.begin(), n, to);
}

void check_neighbor(const comm_object& c, int rank, const char* which) {
  if (rank < 0 || rank >= c.comm->size()) {
    bad_rank(c, rank, which);
  }
}

/// A graph's arguments, checked.
topology graph(const comm_object& c, int nnodes, const int* index, const int* edges) {
  if (nnodes < 0 || nnodes > c.comm->size()) {
    fail(MPI_ERR_ARG, "a graph of %d nodes in a communicator of %d ranks", nnodes, c.comm->size());
  }
  topology t;
  t.kind = MPI_GRAPH;
  if (nnodes == 0) {
    return t;
  }
  check_out(index, "index");
  int before = 0;
  for (int n = 0; n < nnodes; ++n) {
    if (index[n] < before) {
      fail(MPI_ERR_ARG, "index %d is %d: less than what comes before it", n, index[n]);
    }
    before = index[n];
  }
  if (before > 0) {
    check_out(edges, "edges");
  }
  for (int e = 0; e < before; ++e) {
    if (edges[e] < 0 || edges[e] >= nnodes) {
      fail(MPI_ERR_ARG, "edge %d leads to %d, which is not one of %d nodes", e, edges[e], nnodes);
    }
  }
  t.index.assign(index, index + nnodes);
  if (before > 0) {
    t.edges.assign(edges, edges + before);
  }
  SINEW_ENSURE(t.edges.size() == static_cast<std::size_t>(t.index.back()));
  return t;
}

std::span<const int> neighbors_of(const comm_object& c, int rank) {
  const topology& t = graph_of(c);
  check_neighbor(c, rank, "rank");
  const auto r = static_cast<std::size_t>(rank);
  const int from = r == 0 ? 0 : t.index[r - 1];
  SINEW_ASSERT(from <= t.index[r] && static_cast<std::size_t>(t.index[r]) <= t.edges.size());
  return std::span(t.edges).subspan(static_cast<std::size_t>(from),
                                    static_cast<std::size_t>(t.index[r] - from));
}

bool has_weights(const int* weights) { return weights != MPI_UNWEIGHTED; }

/// `n` neighbours and their weights from the program's arrays.
void take(const comm_object& c, int n, const int* ranks, const int* weights, const char* which,
          std::vector<int>& to, std::vector<int>& to_weights) {
  SINEW_EXPECT(to.empty() && to_weights.empty());
  if (n < 0) {
    fail(MPI_ERR_ARG, "the number of edges is %d", n);
  }
  if (n == 0) {
    return;
  }
  check_out(ranks, which);
  for (int i = 0; i < n; ++i) {
    check_neighbor(c, ranks[i], which);
  }
  to.assign(ranks, ranks + n);
  if (!has_weights(weights)) {
    return;
  }
  if (weights == nullptr || weights == MPI_WEIGHTS_EMPTY) {
    fail(MPI_ERR_ARG, "the weights of %d edges are missing", n);
  }
  for (int i = 0; i < n; ++i) {
    if (weights[i] < 0) {
      fail(MPI_ERR_ARG, "the weight %d of edge %d is negative", weights[i], i);
    }
  }
  to_weights.assign(weights, weights + n);
  SINEW_ENSURE(to.size() == to_weights.size());
}

int place_all(comm_object& c, topology t, MPI_Comm* to) {
  SINEW_EXPECT(!t.weighted || t.sources.size() == t.source_weights.size());
  SINEW_EXPECT(!t.weighted || t.destinations.size() == t.destination_weights.size());
  const MPI_Comm made = adopt(coll::duplicate(participant_of(c)), c);
  SINEW_ASSERT(made != MPI_COMM_NULL);
  comm_of(made).places = std::make_shared<const topology>(std::move(t));
  *to = made;
  return MPI_SUCCESS;
}

/// One end of an edge, as sent to its rank.
struct edge_end {
  std::int32_t outgoing, neighbor, weight;
};
static_assert(sizeof(edge_end) == 3 * sizeof(std::int32_t));  // it travels as three integers

/// Each rank sends the others the edges that it was given for them.
std::vector<edge_end> told_by_all(comm_object& c,
                                  const std::vector<std::vector<edge_end>>& for_rank) {
  const std::size_t size = for_rank.size();
  SINEW_EXPECT(size == static_cast<std::size_t>(c.comm->size()));
  std::vector<MPI_Count> sent(size), received(size);
  std::vector<MPI_Aint> sent_at(size), received_at(size);
  std::vector<edge_end> out;
  for (std::size_t r = 0; r < size; ++r) {
    sent_at[r] = static_cast<MPI_Aint>(out.size());
    sent[r] = static_cast<MPI_Count>(for_rank[r].size());
    out.insert(out.end(), for_rank[r].begin(), for_rank[r].end());
  }
  const auto whole = [](void* p, std::size_t n) { return coll::buffer::of_bytes(p, n); };
  (void)coll::alltoall(participant_of(c), whole(sent.data(), sizeof(MPI_Count)),
                       whole(received.data(), sizeof(MPI_Count)));
  MPI_Aint total = 0;
  for (std::size_t r = 0; r < size; ++r) {
    received_at[r] = total;
    SINEW_ASSERT(received[r] >= 0);
    total += received[r];
  }
  std::vector<edge_end> in(static_cast<std::size_t>(total));
  const auto triple = layout::contiguous(3, layout::of(layout::element::i32));
  (void)coll::alltoall(participant_of(c),
                       coll::parts{out.data(), sent.data(), sent_at.data(), triple.get()},
                       coll::parts{in.data(), received.data(), received_at.data(), triple.get()});
  return in;
}

}  // namespace

int impl::Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                       int /*reorder*/, MPI_Comm* comm_graph) {
  comm_object& c = intracomm_of(comm_old);
  check_out(comm_graph, "comm_graph");
  topology t = graph(c, nnodes, index, edges);
  *comm_graph = nnodes == 0 ? MPI_COMM_NULL : place_first(c, nnodes, std::move(t));
  return MPI_SUCCESS;
}

int impl::Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int* newrank) {
  const comm_object& c = intracomm_of(comm);
  check_out(newrank, "newrank");
  (void)graph(c, nnodes, index, edges);
  *newrank = c.comm->rank().below(nnodes) ? c.comm->rank().value() : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int impl::Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  const topology& t = graph_of(comm_of(comm));
  check_out(nnodes, "nnodes");
  check_out(nedges, "nedges");
  *nnodes = static_cast<int>(t.index.size());
  *nedges = static_cast<int>(t.edges.size());
  return MPI_SUCCESS;
}

int impl::Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
  const topology& t = graph_of(comm_of(comm));
  copy_out(t.index, maxindex, index, "index");
  copy_out(t.edges, maxedges, edges, "edges");
  return MPI_SUCCESS;
}

int impl::Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  check_out(nneighbors, "nneighbors");
  *nneighbors = static_cast<int>(neighbors_of(comm_of(comm), rank).size());
  return MPI_SUCCESS;
}

int impl::Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  copy_out(neighbors_of(comm_of(comm), rank), maxneighbors, neighbors, "neighbors");
  return MPI_SUCCESS;
}

int impl::Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                     const int* sourceweights, int outdegree,
                                     const int destinations[], const int* destweights,
                                     MPI_Info /*info*/, int /*reorder*/,
                                     MPI_Comm* comm_dist_graph) {
  comm_object& c = intracomm_of(comm_old);
  check_out(comm_dist_graph, "comm_dist_graph");
  topology t;
  t.kind = MPI_DIST_GRAPH;
  t.weighted = has_weights(sourceweights) && has_weights(destweights);
  take(c, indegree, sources, sourceweights, "source", t.sources, t.source_weights);
  take(c, outdegree, destinations, destweights, "destination", t.destinations,
       t.destination_weights);
  return place_all(c, std::move(t), comm_dist_graph);
}

int impl::Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                            const int destinations[], const int* weights, MPI_Info /*info*/,
                            int /*reorder*/, MPI_Comm* comm_dist_graph) {
  comm_object& c = intracomm_of(comm_old);
  check_out(comm_dist_graph, "comm_dist_graph");
  std::vector<int> from;
  std::vector<int> none;
  take(c, n, sources, MPI_UNWEIGHTED, "source", from, none);
  if (n > 0) {
    check_out(degrees, "degrees");
  }
  int edges = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) {
      fail(MPI_ERR_ARG, "degree %d is %d", i, degrees[i]);
    }
    edges += degrees[i];
  }
  std::vector<int> to;
  std::vector<int> weight;
  take(c, edges, destinations, weights, "destination", to, weight);
  std::vector<std::vector<edge_end>> for_rank(static_cast<std::size_t>(c.comm->size()));
  for (int i = 0, e = 0; i < n; ++i) {
    for (int k = 0; k < degrees[i]; ++k, ++e) {
      const auto at = static_cast<std::size_t>(e);
      const int w = weight.empty() ? 1 : weight[at];
      for_rank[static_cast<std::size_t>(sources[i])].push_back({1, to[at], w});
      for_rank[static_cast<std::size_t>(to[at])].push_back({0, sources[i], w});
    }
  }
  topology t;
  t.kind = MPI_DIST_GRAPH;
  t.weighted = has_weights(weights);
  for (const edge_end& e : told_by_all(c, for_rank)) {
    (e.outgoing != 0 ? t.destinations : t.sources).push_back(e.neighbor);
    if (t.weighted) {
      (e.outgoing != 0 ? t.destination_weights : t.source_weights).push_back(e.weight);
    }
  }
  return place_all(c, std::move(t), comm_dist_graph);
}

int impl::Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  const topology& t = distributed_of(comm_of(comm));
  check_out(indegree, "indegree");
  check_out(outdegree, "outdegree");
  check_out(weighted, "weighted");
  *indegree = static_cast<int>(t.sources.size());
  *outdegree = static_cast<int>(t.destinations.size());
  *weighted = t.weighted ? 1 : 0;
  return MPI_SUCCESS;
}

int impl::Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int* sourceweights,
                               int maxoutdegree, int destinations[], int* destweights) {
  const topology& t = distributed_of(comm_of(comm));
  copy_out(t.sources, maxindegree, sources, "sources");
  copy_out(t.destinations, maxoutdegree, destinations, "destinations");
  if (!t.weighted) {
    return MPI_SUCCESS;
  }
  if (has_weights(sourceweights) && sourceweights != MPI_WEIGHTS_EMPTY) {
    copy_out(t.source_weights, maxindegree, sourceweights, "sourceweights");
  }
  if (has_weights(destweights) && destweights != MPI_WEIGHTS_EMPTY) {
    copy_out(t.destination_weights, maxoutdegree, destweights, "destweights");
  }
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
