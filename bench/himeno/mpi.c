// SPDX-License-Identifier: BSD-3-Clause
// The Himeno solver with messages, the same share of planes and the same kernel as coarray.f90.
#include "../common/line.h"

void himeno_set_up(const int* grid, int first, int count, float* p);
double himeno_step(float* p);
void himeno_share(int nk, int parts, int at, int* first, int* count);
double himeno_alone(const int* grid, int steps);

static int rank, ranks;

static double exchange_and_step(float* p, size_t plane, int count) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const int n = (int)plane;
  MPI_Request r[4];
  MPI_Irecv(p, n, MPI_FLOAT, left, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(p + plane * ((size_t)count + 1), n, MPI_FLOAT, right, 2, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(p + plane, n, MPI_FLOAT, left, 2, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(p + plane * (size_t)count, n, MPI_FLOAT, right, 1, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  const double own = himeno_step(p);
  double all;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// One sample: where there are two ranks, with the line's trip just before.
static void measure_steps(const char* name, const int* grid, float* p, size_t plane, int count,
                          int steps) {
  char params[64];
  const double points = (double)(grid[0] - 2) * (grid[1] - 2) * (grid[2] - 2);
  const double line = ranks == 2 ? line_trip(rank) : 0;
  const double begin = now_ns();
  for (int i = 0; i < steps; ++i) exchange_and_step(p, plane, count);
  const double spent = now_ns() - begin;
  if (rank != 0) return;
  snprintf(params, sizeof params, "kind=mpi,images=%d", ranks);
  report_sample(name, "rate", "MFLOPS", params, 34 * points * steps / spent * 1e3, line);
}

static void measure(const char* name, const int* grid, double budget_ms) {
  enum { warm = 4, samples = 5 };
  int first, count, steps = 0;
  const size_t plane = ((size_t)grid[0] + 1) * ((size_t)grid[1] + 1);
  const double alone = rank == 0 ? himeno_alone(grid, warm) : 0;
  himeno_share(grid[2], ranks, rank, &first, &count);
  float* p = (float*)make_buffer(plane * ((size_t)count + 2) * sizeof(float), 0);
  himeno_set_up(grid, first, count, p);
  MPI_Barrier(MPI_COMM_WORLD);
  double gosa = 0;
  const double begin = now_ns();
  for (int i = 0; i < warm; ++i) gosa = exchange_and_step(p, plane, count);
  const double spent = now_ns() - begin;
  if (rank == 0) {
    const double off = gosa > alone ? gosa - alone : alone - gosa;
    if (off > 1e-5 * alone) stop_all("the residual is not that of one rank alone");
    steps = (int)(budget_ms * 1e6 / (spent / warm) / samples);
    if (steps < 1) steps = 1;
  }
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < samples; ++i) measure_steps(name, grid, p, plane, count, steps);
  free(p);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int grid[3];
  } sizes[] = {{"XS", {64, 32, 32}}, {"S", {128, 64, 64}}, {"M", {256, 128, 128}}};
  const options o = read_options(argc, argv);
  const char* wanted = "XS,S";
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "sizes=", 6) == 0) wanted = argv[i] + 6;
  }
  start(&argc, &argv, &o, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 2) line_open(rank);
  for (int i = 0; i < 3; ++i) {
    for (const char* at = wanted; *at;) {
      const size_t length = strcspn(at, ",");
      if (length == strlen(sizes[i].name) && strncmp(at, sizes[i].name, length) == 0) {
        measure(sizes[i].name, sizes[i].grid, o.budget_ms);
      }
      at += length;
      if (*at) ++at;
    }
  }
  MPI_Finalize();
  return 0;
}
