// SPDX-License-Identifier: BSD-3-Clause
// The exchanges of LULESH, a shock hydrodynamics proxy: a cube of ranks, each with a cube of
// elements; in a step the nodes at faces, edges and corners are added up over up to 26 neighbours
// (forces), overwritten by the owner's (positions and velocities), then faces of elements are
// exchanged (gradients), and the time step is the least of all. The added values are checked.
#include "../common/measure.h"

enum { most = 26, fields = 6 };

typedef struct {
  int rank, side[3];        // rank and direction
  int first[3], count[3];   // the nodes that both have
  double *out, *in;
} neighbour;

static int edge, nodes, rank, ranks, cube;
static neighbour near[most];
static int near_count;
static double* field[fields];

static double* at(int f, int x, int y, int z) {
  return &field[f][(z * nodes + y) * nodes + x];
}

static int other(const int place[3], const int side[3]) {
  int found = 0;
  for (int a = 2; a >= 0; --a) {
    const int x = place[a] + side[a];
    if (x < 0 || x >= cube) return -1;
    found = found * cube + x;
  }
  return found;
}

static void set_up(void) {
  const int place[3] = {rank % cube, rank / cube % cube, rank / cube / cube};
  for (int i = 0; i < 27; ++i) {
    neighbour* n = &near[near_count];
    const int side[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
    memcpy(n->side, side, sizeof side);
    n->rank = other(place, side);
    if (i == 13 || n->rank < 0) continue;
    size_t values = fields;
    for (int a = 0; a < 3; ++a) {
      n->first[a] = side[a] > 0 ? nodes - 1 : 0;
      n->count[a] = side[a] == 0 ? nodes : 1;
      values *= (size_t)n->count[a];
    }
    n->out = (double*)make_buffer(values * sizeof(double), 0);
    n->in = (double*)make_buffer(values * sizeof(double), 0);
    ++near_count;
  }
  for (int f = 0; f < fields; ++f) {
    field[f] = (double*)make_buffer((size_t)(nodes * nodes * nodes) * sizeof(double), 0);
  }
}

static int faces_only(const neighbour* n) {
  return abs(n->side[0]) + abs(n->side[1]) + abs(n->side[2]) == 1;
}

enum way { add, overwrite, look };

// Copies the shared nodes of `many` fields out of or into the fields.
static int move(const neighbour* n, int many, double* buffer, int packing, enum way how) {
  int i = 0;
  for (int f = 0; f < many; ++f) {
    for (int z = n->first[2]; z < n->first[2] + n->count[2]; ++z) {
      for (int y = n->first[1]; y < n->first[1] + n->count[1]; ++y) {
        for (int x = n->first[0]; x < n->first[0] + n->count[0]; ++x, ++i) {
          double* v = at(f, x, y, z);
          if (packing) buffer[i] = *v;
          else if (how == add) *v += buffer[i];
          else if (how == overwrite) *v = buffer[i];
        }
      }
    }
  }
  return i;
}

// `overwrite`: who is further on in the cube sends, who is further back takes it.
static void exchange(int many, enum way how, int faces, int tag) {
  MPI_Request receive[most], send[most];
  int sends = 0;
  for (int i = 0; i < near_count; ++i) {
    neighbour* n = &near[i];
    receive[i] = MPI_REQUEST_NULL;
    if ((faces && !faces_only(n)) || (how == overwrite && n->rank < rank)) continue;
    const int values = many * n->count[0] * n->count[1] * n->count[2];
    MPI_Irecv(n->in, values, MPI_DOUBLE, n->rank, tag, MPI_COMM_WORLD, &receive[i]);
  }
  for (int i = 0; i < near_count; ++i) {
    neighbour* n = &near[i];
    if ((faces && !faces_only(n)) || (how == overwrite && n->rank > rank)) continue;
    const int values = move(n, many, n->out, 1, how);
    MPI_Isend(n->out, values, MPI_DOUBLE, n->rank, tag, MPI_COMM_WORLD, &send[sends++]);
  }
  MPI_Waitall(sends, send, MPI_STATUSES_IGNORE);
  for (int i = 0; i < near_count; ++i) {
    if (receive[i] == MPI_REQUEST_NULL) continue;
    MPI_Wait(&receive[i], MPI_STATUS_IGNORE);
    move(&near[i], many, near[i].in, 0, how);
  }
}

static void step(void) {
  double least = rank + 1.0, of_all;
  exchange(3, add, 0, 1024);
  exchange(6, overwrite, 0, 2048);
  exchange(3, look, 1, 3072);
  MPI_Allreduce(&least, &of_all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (of_all != 1.0) stop_all("another least time step");
}

// With 1 everywhere a node that k ranks share adds up to k.
static void check(void) {
  for (int i = 0; i < nodes * nodes * nodes; ++i) field[0][i] = 1;
  exchange(1, add, 0, 1);
  const int place[3] = {rank % cube, rank / cube % cube, rank / cube / cube};
  for (int x = 0; x < nodes; x += nodes - 1) {
    int wanted = 4;  // by the two other axes, at an inner corner
    for (int a = 1; a < 3; ++a) {
      if (place[a] + 1 == cube) wanted /= 2;
    }
    const int inner = (x == 0 && place[0] > 0) || (x > 0 && place[0] + 1 < cube);
    wanted *= inner ? 2 : 1;
    if (*at(0, x, nodes - 1, nodes - 1) != wanted) stop_all("wrong sum at a corner");
  }
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  double samples[most_batches];
  rank = start(&argc, &argv, &o, 8);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  edge = 10;
  read_numbers(argc, argv, "edge", &edge, 1);
  nodes = edge + 1;
  for (cube = 1; (cube + 1) * (cube + 1) * (cube + 1) <= ranks;) ++cube;
  if (cube * cube * cube != ranks) stop_all("the ranks make no cube");
  set_up();
  check();
  for (int f = 0; f < fields; ++f) memset(field[f], 0, (size_t)(nodes * nodes * nodes) * 8);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = now_ns();
  for (int i = 0; i < 3; ++i) step();
  plan p = make_plan((now_ns() - begin) / 3, o.budget_ms);
  MPI_Bcast(&p, 2, MPI_INT, 0, MPI_COMM_WORLD);
  for (int b = 0; b < p.batches; ++b) {
    begin = now_ns();
    for (int i = 0; i < p.repetitions; ++i) step();
    samples[b] = (now_ns() - begin) / p.repetitions / 1e3;
  }
  if (rank == 0) {
    char params[40];
    snprintf(params, sizeof params, "edge=%d,ranks=%d", edge, ranks);
    report("lulesh", "latency", "us", params, median(samples, p.batches));
  }
  MPI_Finalize();
  return 0;
}
