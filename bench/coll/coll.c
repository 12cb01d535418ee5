// Blocking collectives over all ranks: the time of a call, the mean over the ranks, back to back,
// after a barrier. The bytes are those of one block: what each rank gives, or gets from each.
#include "../common/measure.h"

enum { slack = 64 };

typedef struct {
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

// One batch; all ranks have ended it when it returns, so that the next one begins with all.
static double batch(void (*run)(const call*), const call* c, int repetitions) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  for (int i = 0; i < repetitions; ++i) run(c);
  const double own = (now_ns() - begin) / repetitions;
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all / c->ranks;
}

static void measure(const char* name, void (*run)(const call*), const call* c, double budget_ms) {
  double times[most_batches];
  batch(run, c, 5);
  double one = batch(run, c, 5);
  // All ranks have the same sum, and so the same plan.
  plan p = make_plan(one, budget_ms);
  if (p.batches > 25) {
    p.repetitions *= p.batches / 25;
    p.batches = 25;
  }
  for (int b = 0; b < p.batches; ++b) times[b] = batch(run, c, p.repetitions);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  char params[64];
  snprintf(params, sizeof params, "ranks=%d,bytes=%d", c->ranks, c->bytes);
  report(name, "latency", "us", params, median(times, p.batches) / 1e3);
}

int main(int argc, char** argv) {
  int ranks;
  const options o = read_options(argc, argv);
  start(&argc, &argv, &o, 2);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int longest = 8;
  for (int s = 0; s < o.size_count; ++s) {
    if (o.sizes[s] > longest) longest = o.sizes[s];
  }
  // Zeros: adding them up for ever gives no infinities, whose sums take longer on some processors.
  char* const from = make_buffer((size_t)longest * (size_t)ranks + slack, 0);
  char* const into = make_buffer((size_t)longest * (size_t)ranks + slack, 0);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    if (*o.only && strcmp(o.only, kinds[k].name) != 0) continue;
    for (int s = 0; s < o.size_count; ++s) {
      if (kinds[k].run == do_barrier && s != 0) break;
      const call c = {from, into, kinds[k].run == do_barrier ? 0 : o.sizes[s], ranks, 0};
      measure(kinds[k].name, kinds[k].run, &c, o.budget_ms);
    }
  }
  MPI_Finalize();
  return 0;
}
