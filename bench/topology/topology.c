// SPDX-License-Identifier: BSD-3-Clause
// Topologies. `halo`: each rank of a periodic 3-D grid exchanges the six faces of its box with its
// neighbours, by MPI_Neighbor_alltoallw or by hand-written MPI_Irecv and MPI_Isend of the same
// types; `gain`: how many times faster the first was, sample by sample. Then making and freeing
// a Cartesian and a distributed graph communicator.
#include "../common/together.h"

enum { dimensions = 3, faces = 2 * dimensions };

typedef struct {
  MPI_Comm grid;
  int neighbours[faces];
  MPI_Datatype out[faces], in[faces];
  MPI_Aint nowhere[faces];
  int ones[faces];
  double* box;
  int side;  // with its two ghost layers
} halo;

typedef struct {
  int ranks, me;
  int sides[dimensions], periods[dimensions];
} creation;

// The type of one layer of the box, across dimension d.
static MPI_Datatype layer(int side, int d, int at) {
  int whole[dimensions], part[dimensions], from[dimensions];
  for (int i = 0; i < dimensions; ++i) {
    whole[i] = side;
    part[i] = i == d ? 1 : side - 2;
    from[i] = i == d ? at : 1;
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(dimensions, whole, part, from, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void make_halo(halo* h, const creation* c, int inner) {
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, c->sides, c->periods, 0, &h->grid);
  h->side = inner + 2;
  const size_t bytes = (size_t)h->side * h->side * h->side * sizeof(double);
  h->box = (double*)make_buffer(bytes, 0);
  for (int d = 0; d < dimensions; ++d) {
    MPI_Cart_shift(h->grid, d, 1, &h->neighbours[2 * d], &h->neighbours[2 * d + 1]);
    h->out[2 * d] = layer(h->side, d, 1);
    h->out[2 * d + 1] = layer(h->side, d, inner);
    h->in[2 * d] = layer(h->side, d, 0);
    h->in[2 * d + 1] = layer(h->side, d, inner + 1);
  }
  for (int f = 0; f < faces; ++f) {
    h->nowhere[f] = 0;
    h->ones[f] = 1;
  }
}

static void by_neighbours(const void* on) {
  const halo* const h = on;
  MPI_Neighbor_alltoallw(h->box, h->ones, h->nowhere, h->out, h->box, h->ones, h->nowhere, h->in,
                         h->grid);
}

// What leaves by face f arrives by the opposite one, whose number is its tag.
static void by_hand(const void* on) {
  const halo* const h = on;
  MPI_Request requests[2 * faces];
  for (int f = 0; f < faces; ++f) {
    MPI_Irecv(h->box, 1, h->in[f], h->neighbours[f], f, h->grid, &requests[f]);
  }
  for (int f = 0; f < faces; ++f) {
    MPI_Isend(h->box, 1, h->out[f], h->neighbours[f], f ^ 1, h->grid, &requests[faces + f]);
  }
  MPI_Waitall(2 * faces, requests, MPI_STATUSES_IGNORE);
}

// Both ways in each sample, batch by batch in turns, so that they see the same machine.
static void measure_halo(const halo* h, double budget_ms) {
  const together_call ways[] = {{by_neighbours, h}, {by_hand, h}};
  double ns[2][together_batches];
  char params[96];
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  together_plan(&ways[0], budget_ms / 4);
  const plan p = together_plan(&ways[1], budget_ms / 2);
  const int batches = (p.batches + together_samples - 1) / together_samples;
  for (int s = 0; s < together_samples; ++s) {
    const double line = ranks == 2 ? line_trip(rank) : 0;
    for (int b = 0; b < batches; ++b) {
      for (int w = 0; w < 2; ++w) ns[w][b] = together_batch(&ways[w], p.repetitions);
    }
    const double ours = median(ns[0], batches), hand = median(ns[1], batches);
    if (rank != 0) continue;
    for (int w = 0; w < 2; ++w) {
      snprintf(params, sizeof params, "ranks=%d,side=%d,way=%s", ranks, h->side - 2,
               w == 0 ? "neighbor-alltoallw" : "isend-irecv");
      report_sample("halo", "latency", "us", params, (w == 0 ? ours : hand) / 1e3, line);
    }
    snprintf(params, sizeof params, "ranks=%d,side=%d", ranks, h->side - 2);
    report_sample("halo", "gain", "times", params, hand / ours, line);
  }
}

static void create_cart(const void* on) {
  const creation* const c = on;
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, c->sides, c->periods, 0, &made);
  MPI_Comm_free(&made);
}

// A ring, told by everybody of itself.
static void create_graph(const void* on) {
  const creation* const c = on;
  const int degree = 2, next[] = {(c->me + 1) % c->ranks, (c->me + c->ranks - 1) % c->ranks};
  MPI_Comm made;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &c->me, &degree, next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                        &made);
  MPI_Comm_free(&made);
}

static void tell(const char* name, const void* on, double ns, double line_ns) {
  char params[32];
  snprintf(params, sizeof params, "ranks=%d", ((const creation*)on)->ranks);
  report_sample(name, "latency", "us", params, ns / 1e3, line_ns);
}
static void tell_cart(const void* on, double ns, double line_ns) {
  tell("cart-create", on, ns, line_ns);
}
static void tell_graph(const void* on, double ns, double line_ns) {
  tell("dist-graph-create", on, ns, line_ns);
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  creation c = {.periods = {1, 1, 1}};
  c.me = start(&argc, &argv, &o, 2);
  line_open(c.me);
  MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
  MPI_Dims_create(c.ranks, dimensions, c.sides);
  for (int i = 0; i < o.size_count; ++i) {
    halo h;
    make_halo(&h, &c, o.sizes[i]);
    measure_halo(&h, o.budget_ms);
    for (int f = 0; f < faces; ++f) {
      MPI_Type_free(&h.out[f]);
      MPI_Type_free(&h.in[f]);
    }
    MPI_Comm_free(&h.grid);
    free(h.box);
  }
  const together_call cart = {create_cart, &c}, graph = {create_graph, &c};
  together_measure(&cart, o.budget_ms, tell_cart);
  together_measure(&graph, o.budget_ms, tell_graph);
  MPI_Finalize();
  return 0;
}
