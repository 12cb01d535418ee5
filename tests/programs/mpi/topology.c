// SPDX-License-Identifier: BSD-3-Clause
/* Process topologies: grids, graphs, distributed graphs; what they say of neighbours, and that
 * messages along them arrive where they should. */
#include "check.h"

static int rank, size;

#define OK(call) CHECK((call) == MPI_SUCCESS)

static void ring(void) {
  MPI_Comm cart, same;
  int kind = 0, n = 0, dims[1], periods[1], coords[1], source = -9, dest = -9, word = -1, r = -1;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 1, &cart));
  OK(MPI_Topo_test(cart, &kind));
  CHECK(kind == MPI_CART);
  OK(MPI_Cartdim_get(cart, &n));
  OK(MPI_Cart_get(cart, 1, dims, periods, coords));
  MPI_Comm_rank(cart, &r);
  CHECK(n == 1 && dims[0] == size && periods[0] == 1 && coords[0] == r);
  OK(MPI_Cart_shift(cart, 0, 1, &source, &dest));
  CHECK(dest == (r + 1) % size && source == (r + size - 1) % size);
  OK(MPI_Sendrecv(&r, 1, MPI_INT, dest, 0, &word, 1, MPI_INT, source, 0, cart, MPI_STATUS_IGNORE));
  CHECK(word == source);
  OK(MPI_Cart_shift(cart, 0, -3 * size - 1, &source, &dest));
  CHECK(source == (r + 1) % size);
  OK(MPI_Cart_rank(cart, (int[]){-1}, &word));
  CHECK(word == size - 1);
  OK(MPI_Comm_dup(cart, &same)); /* duplicates have the topology too */
  OK(MPI_Cart_coords(same, size - 1, 1, coords));
  CHECK(coords[0] == size - 1);
  MPI_Comm_free(&same);
  MPI_Request request;
  OK(MPI_Comm_idup(cart, &same, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Cartdim_get(same, &n));
  CHECK(n == 1);
  MPI_Comm_free(&same);
  MPI_Comm_free(&cart);
}

/* A grid of as many ranks as fit, not periodic in its first dimension; its rows and columns. */
static void grid(void) {
  int dims[2] = {0, 0}, source = 0, dest = 0, here[2], n = 0, r = 0, kind = 0;
  MPI_Comm cart, row, column, point;
  MPI_Dims_create(size, 2, dims);
  OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){0, 1}, 0, &cart));
  MPI_Comm_rank(cart, &r);
  OK(MPI_Cart_coords(cart, r, 2, here));
  CHECK(r == rank && here[0] == r / dims[1] && here[1] == r % dims[1]);
  OK(MPI_Cart_shift(cart, 0, 1, &source, &dest));
  CHECK(dest == (here[0] + 1 < dims[0] ? r + dims[1] : MPI_PROC_NULL));
  CHECK(source == (here[0] > 0 ? r - dims[1] : MPI_PROC_NULL));
  OK(MPI_Cart_sub(cart, (int[]){0, 1}, &row));
  MPI_Comm_size(row, &n);
  MPI_Comm_rank(row, &r);
  CHECK(n == dims[1] && r == here[1]);
  OK(MPI_Cart_get(row, 1, &n, &kind, &r));
  CHECK(n == dims[1] && kind == 1 && r == here[1]);
  OK(MPI_Cart_sub(cart, (int[]){1, 0}, &column));
  MPI_Comm_rank(column, &r);
  CHECK(r == here[0]);
  OK(MPI_Cart_sub(cart, (int[]){0, 0}, &point));
  MPI_Comm_size(point, &n);
  MPI_Cartdim_get(point, &kind);
  CHECK(n == 1 && kind == 0);
  EXPECT_ERROR(MPI_Cart_shift(cart, 2, 1, &source, &dest), MPI_ERR_ARG, "direction 2");
  EXPECT_ERROR(MPI_Cart_rank(cart, (int[]){dims[0], 0}, &r), MPI_ERR_ARG, "not periodic");
  EXPECT_ERROR(MPI_Graphdims_get(cart, &n, &r), MPI_ERR_TOPOLOGY, "graph");
  MPI_Comm_free(&point);
  MPI_Comm_free(&column);
  MPI_Comm_free(&row);
  MPI_Comm_free(&cart);
}

static void edges_of_grids(void) {
  MPI_Comm one;
  int n = -1, newrank = -9, too_many[1] = {size + 1};
  OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &one));
  CHECK((one == MPI_COMM_NULL) == (rank != 0));
  if (rank == 0) {
    OK(MPI_Cartdim_get(one, &n));
    CHECK(n == 0);
    OK(MPI_Cart_rank(one, NULL, &n));
    CHECK(n == 0);
    MPI_Comm_free(&one);
  }
  OK(MPI_Cart_map(MPI_COMM_WORLD, 1, (int[]){1}, (int[]){0}, &newrank));
  CHECK(newrank == (rank == 0 ? 0 : MPI_UNDEFINED));
  EXPECT_ERROR(MPI_Cart_create(MPI_COMM_WORLD, 1, too_many, (int[]){0}, 0, &one), MPI_ERR_DIMS,
               "more ranks");
  EXPECT_ERROR(MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){0}, (int[]){0}, 0, &one), MPI_ERR_DIMS,
               "dimension 0");
  EXPECT_ERROR(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY, "Cartesian");
}

/* Everybody has an edge to the next and to rank 0. */
static void graphs(void) {
  int *index = malloc((size_t)size * sizeof(int)), *edges = malloc((size_t)size * 2 * sizeof(int));
  int nodes = 0, count = 0, near[2] = {-1, -1}, kind = 0, newrank = -1;
  MPI_Comm graph;
  for (int i = 0; i < size; ++i) {
    index[i] = 2 * i + 2;
    edges[2 * i] = (i + 1) % size;
    edges[2 * i + 1] = 0;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &graph));
  OK(MPI_Topo_test(graph, &kind));
  OK(MPI_Graphdims_get(graph, &nodes, &count));
  CHECK(kind == MPI_GRAPH && nodes == size && count == 2 * size);
  memset(index, 0, (size_t)size * sizeof(int));
  OK(MPI_Graph_get(graph, size, 2 * size, index, edges));
  CHECK(index[size - 1] == 2 * size && edges[0] == 1 % size);
  OK(MPI_Graph_neighbors_count(graph, size - 1, &count));
  OK(MPI_Graph_neighbors(graph, size - 1, 2, near));
  CHECK(count == 2 && near[0] == 0 && near[1] == 0);
  OK(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &newrank));
  CHECK(newrank == rank);
  edges[0] = size;
  MPI_Comm none;
  EXPECT_ERROR(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &none), MPI_ERR_ARG,
               "edge 0");
  MPI_Comm_free(&graph);
  free(index);
  free(edges);
}

/* Told by the ranks themselves, and all by one rank. */
static void distributed(void) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int in = 0, out = 0, weighted = -1, from[2], to[2], from_weight[2], to_weight[2], kind = 0;
  MPI_Comm graph;
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &before, 1, &next, &rank,
                                    MPI_INFO_NULL, 0, &graph));
  OK(MPI_Topo_test(graph, &kind));
  OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK(kind == MPI_DIST_GRAPH && in == 1 && out == 1 && weighted == 1);
  OK(MPI_Dist_graph_neighbors(graph, 1, from, from_weight, 1, to, to_weight));
  CHECK(from[0] == before && from_weight[0] == before && to[0] == next && to_weight[0] == rank);
  MPI_Comm_free(&graph);
  const int n = rank == size - 1 ? size : 0;
  int *sources = malloc((size_t)size * sizeof(int)), *degrees = malloc((size_t)size * sizeof(int));
  int* ends = malloc((size_t)size * sizeof(int));
  for (int i = 0; i < size; ++i) {
    sources[i] = i;
    degrees[i] = 1;
    ends[i] = (i + 1) % size;
  }
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, ends,
                           n == 0 ? MPI_WEIGHTS_EMPTY : ends, MPI_INFO_NULL, 0, &graph));
  OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK(in == 1 && out == 1 && weighted == 1);
  OK(MPI_Dist_graph_neighbors(graph, 1, from, from_weight, 1, to, to_weight));
  CHECK(from[0] == before && from_weight[0] == rank && to[0] == next && to_weight[0] == next);
  MPI_Comm_free(&graph);
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                           &graph));
  OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
  CHECK(in == 0 && out == 0 && weighted == 0);
  MPI_Comm_free(&graph);
  free(sources);
  free(degrees);
  free(ends);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ring();
  grid();
  edges_of_grids();
  graphs();
  distributed();
  MPI_Finalize();
  return 0;
}
