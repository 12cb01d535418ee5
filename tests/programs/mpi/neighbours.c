// SPDX-License-Identifier: BSD-3-Clause
/* Collectives among the neighbours of Cartesian, graph and distributed graph topologies, against
 * what each rank can compute of its neighbours. Any rank count. */
#include "check.h"

#define MOST 64

static int rank, size;

/* What `from` sends in its block `i` to its i-th destination. */
static int word(int from, int i, int k) { return from * 1000 + i * 10 + k; }

/* A Cartesian grid: from below comes what the lower neighbour sends up. */
static void grid(int dims_count, int* dims, int* periods) {
  MPI_Comm comm;
  int sent[2 * MOST], got[2 * MOST], all[2 * MOST], me;
  const int n = 2 * dims_count;
  MPI_Cart_create(MPI_COMM_WORLD, dims_count, dims, periods, 0, &comm);
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < n; ++i) {
    sent[2 * i] = word(me, i, 0);
    sent[2 * i + 1] = word(me, i, 1);
    got[2 * i] = got[2 * i + 1] = all[i] = -1;
  }
  CHECK(MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, comm) == MPI_SUCCESS);
  CHECK(MPI_Neighbor_allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm) == MPI_SUCCESS);
  for (int d = 0; d < dims_count; ++d) {
    int low, high;
    MPI_Cart_shift(comm, d, 1, &low, &high);
    const int none = -1;
    CHECK(all[2 * d] == (low == MPI_PROC_NULL ? none : low));
    CHECK(all[2 * d + 1] == (high == MPI_PROC_NULL ? none : high));
    for (int k = 0; k < 2; ++k) {
      CHECK(got[4 * d + k] == (low == MPI_PROC_NULL ? none : word(low, 2 * d + 1, k)));
      CHECK(got[4 * d + 2 + k] == (high == MPI_PROC_NULL ? none : word(high, 2 * d, k)));
    }
  }
  MPI_Comm_free(&comm);
}

static void grids(void) {
  int periodic[3] = {1, 1, 1}, open[3] = {0, 0, 0}, mixed[3] = {1, 0, 1};
  int line[1], square[2] = {0, 0}, cube[3] = {0, 0, 0}, thin[3] = {1, 0, 1};
  line[0] = size;
  thin[1] = size;
  MPI_Dims_create(size, 2, square);
  MPI_Dims_create(size, 3, cube);
  grid(1, line, periodic);
  grid(1, line, open);
  grid(2, square, periodic);
  grid(2, square, open);
  grid(3, cube, mixed);
  grid(3, thin, periodic);
  grid(0, line, open);
}

/* A distributed graph in which rank r sends to r + 1, r + 2, ..., some of them twice. */
static void graph(void) {
  MPI_Comm comm;
  int in[4], out[4], sendcounts[4], recvcounts[4], sdispls[4], rdispls[4];
  MPI_Aint send_at[4], recv_at[4];
  MPI_Datatype send_types[4], recv_types[4];
  int sent[MOST], got[MOST], want[MOST];
  const int steps[4] = {1, 2, 1, 0};
  for (int i = 0; i < 4; ++i) {
    out[i] = (rank + steps[i]) % size;
    in[i] = (rank - steps[i] + 4 * size) % size;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, in, MPI_UNWEIGHTED, 4, out, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  int at = 0;
  for (int i = 0; i < 4; ++i) {
    sendcounts[i] = recvcounts[i] = i + 1;
    sdispls[i] = rdispls[i] = at;
    send_at[i] = recv_at[i] = at * (MPI_Aint)sizeof(int);
    send_types[i] = recv_types[i] = MPI_INT;
    for (int k = 0; k <= i; ++k) {
      sent[at + k] = word(rank, i, k);
      want[at + k] = word(in[i], i, k);
    }
    at += i + 1;
  }
  memset(got, -1, sizeof got);
  CHECK(MPI_Neighbor_alltoallv(sent, sendcounts, sdispls, MPI_INT, got, recvcounts, rdispls,
                               MPI_INT, comm) == MPI_SUCCESS);
  CHECK(memcmp(got, want, sizeof(int) * (size_t)at) == 0);
  memset(got, -1, sizeof got);
  CHECK(MPI_Neighbor_alltoallw(sent, sendcounts, send_at, send_types, got, recvcounts, recv_at,
                               recv_types, comm) == MPI_SUCCESS);
  CHECK(memcmp(got, want, sizeof(int) * (size_t)at) == 0);
  memset(got, -1, sizeof got);
  int one[4] = {1, 1, 1, 1}, places[4] = {6, 4, 2, 0};
  CHECK(MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, got, one, places, MPI_INT, comm) == MPI_SUCCESS);
  for (int i = 0; i < 4; ++i) CHECK(got[places[i]] == in[i] && got[places[i] + 1] == -1);
  MPI_Comm_free(&comm);
}

/* MPI_Graph_create: a star around rank 0. */
static void star(void) {
  int index[MOST], edges[2 * MOST], n = 0, got[MOST];
  for (int r = 0; r < size; ++r) {
    if (r == 0) {
      for (int other = 1; other < size; ++other) edges[n++] = other;
    } else {
      edges[n++] = 0;
    }
    index[r] = n;
  }
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  memset(got, -1, sizeof got);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm);
  if (rank == 0) {
    for (int other = 1; other < size; ++other) CHECK(got[other - 1] == other);
  } else {
    CHECK(got[0] == 0);
  }
  MPI_Comm_free(&comm);
}

static void refusals(void) {
  int x = 0, y = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, MPI_COMM_WORLD),
               MPI_ERR_TOPOLOGY, "no topology");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  grids();
  if (size > 2) {
    graph();
  }
  star();
  refusals();
  MPI_Finalize();
  return 0;
}
