// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives over all ranks: the time of a call, the mean over the ranks, back to back,
// after a barrier. The bytes are those of one block: what each rank gives, or gets from each.
#include "../common/together.h"

enum { slack = 64 };

typedef struct call {
  const char* name;
  void (*kind)(const struct call* c);
  char* from;
  char* into;
  int bytes;
  int ranks;
  int root;
} call;

static void do_barrier(const call* c) {
  (void)c;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void do_bcast(const call* c) {
  MPI_Bcast(c->from, c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD);
}
static void do_reduce(const call* c) {
  MPI_Reduce(c->from, c->into, c->bytes / 8, MPI_DOUBLE, MPI_SUM, c->root, MPI_COMM_WORLD);
}
static void do_allreduce(const call* c) {
  MPI_Allreduce(c->from, c->into, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void do_reduce_scatter(const call* c) {
  MPI_Reduce_scatter_block(c->from, c->into, c->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void do_allgather(const call* c) {
  MPI_Allgather(c->from, c->bytes, MPI_BYTE, c->into, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void do_alltoall(const call* c) {
  MPI_Alltoall(c->from, c->bytes, MPI_BYTE, c->into, c->bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static void do_gather(const call* c) {
  MPI_Gather(c->from, c->bytes, MPI_BYTE, c->into, c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD);
}
static void do_scatter(const call* c) {
  MPI_Scatter(c->from, c->bytes, MPI_BYTE, c->into, c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(const call*);
} kinds[] = {{"barrier", do_barrier},
             {"bcast", do_bcast},
             {"reduce", do_reduce},
             {"allreduce", do_allreduce},
             {"reduce_scatter", do_reduce_scatter},
             {"allgather", do_allgather},
             {"alltoall", do_alltoall},
             {"gather", do_gather},
             {"scatter", do_scatter}};

static void run(const void* on) {
  const call* const c = on;
  c->kind(c);
}

static void tell(const void* on, double ns, double line_ns) {
  const call* const c = on;
  char params[64];
  snprintf(params, sizeof params, "ranks=%d,bytes=%d", c->ranks, c->bytes);
  report_sample(c->name, "latency", "us", params, ns / 1e3, line_ns);
}

int main(int argc, char** argv) {
  int ranks;
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 2) line_open(rank);
  const int longest = largest_size(&o, 8);
  // Zeros: adding them up for ever gives no infinities, whose sums take longer on some processors.
  char* const from = make_buffer((size_t)longest * (size_t)ranks + slack, 0);
  char* const into = make_buffer((size_t)longest * (size_t)ranks + slack, 0);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    if (*o.only && strcmp(o.only, kinds[k].name) != 0) continue;
    for (int s = 0; s < o.size_count; ++s) {
      if (kinds[k].run == do_barrier && s != 0) break;
      const int bytes = kinds[k].run == do_barrier ? 0 : o.sizes[s];
      const call c = {kinds[k].name, kinds[k].run, from, into, bytes, ranks, 0};
      const together_call timed = {run, &c};
      together_measure(&timed, o.budget_ms, tell);
    }
  }
  MPI_Finalize();
  return 0;
}
