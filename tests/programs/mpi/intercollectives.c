// SPDX-License-Identifier: BSD-3-Clause
/* Collectives between two groups against a model: groups of all sizes and orders, roots in either,
 * counts that differ between the groups, an operator that does not commute.
 * Arguments: seed, steps. */
#include "check.h"

enum { most = 64 };

static unsigned state = 1;
static unsigned draw(unsigned below) { /* the same on all ranks */
  state = state * 1103515245u + 12345u;
  return (state >> 16) % below;
}

static MPI_Comm inter;
static int side, rank, local, remote; /* which group, and what it has */
static int sizes[2];

/* What rank r of group g contributes as element i of step s. */
static unsigned datum(int s, int g, int r, int i) {
  return 2654435761u * (unsigned)(1 + i + 97 * (r + 31 * (g + 2 * s)));
}

typedef struct {
  unsigned a, b;
} affine;

static affine after(affine f, affine g) { return (affine){f.a * g.a, f.a * g.b + f.b}; }

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  affine *lower = in, *upper = inout;
  for (int i = 0; i < *count; ++i) upper[i] = after(lower[i], upper[i]);
}

static affine operand(int s, int g, int r, int i) {
  return (affine){datum(s, g, r, 2 * i) | 1u, datum(s, g, r, 2 * i + 1)};
}

/* What group g's data give as element i. */
static affine total(int s, int g, int i) {
  affine sum = operand(s, g, 0, i);
  for (int r = 1; r < sizes[g]; ++r) sum = after(sum, operand(s, g, r, i));
  return sum;
}

static void expect_affine(affine got, affine wanted) {
  CHECK(got.a == wanted.a && got.b == wanted.b);
}

static int root_here(int g, int r) { /* the root argument for a root of group g, rank r */
  return g != side ? r : r == rank ? MPI_ROOT : MPI_PROC_NULL;
}

static unsigned send[most * most], recv[most * most];
static affine sent[most * 8], received[most * 8];

static void fill(int s, int count) {
  for (int i = 0; i < count; ++i) send[i] = datum(s, side, rank, i);
  memset(recv, 0x55, sizeof recv);
}

static void moving(int s, int count, int g, int r) {
  int counts[most], displs[most];
  const int root = root_here(g, r), receives = g != side, is_root = root == MPI_ROOT;
  fill(s, most * count);
  CHECK(MPI_Bcast(is_root ? send : recv, count, MPI_UNSIGNED, root, inter) == MPI_SUCCESS);
  for (int i = 0; receives && i < count; ++i) CHECK(recv[i] == datum(s, g, r, i));
  fill(s, most * count);
  CHECK(MPI_Gather(send, count, MPI_UNSIGNED, recv, count, MPI_UNSIGNED, root, inter) ==
        MPI_SUCCESS);
  for (int k = 0; is_root && k < remote * count; ++k) {
    CHECK(recv[k] == datum(s, !side, k / count, k % count));
  }
  fill(s, most * count);
  CHECK(MPI_Scatter(send, count, MPI_UNSIGNED, recv, count, MPI_UNSIGNED, root, inter) ==
        MPI_SUCCESS);
  for (int i = 0; receives && i < count; ++i) CHECK(recv[i] == datum(s, g, r, rank * count + i));
  /* Rank k of a group has k % 3 elements. */
  for (int k = 0; k < remote; ++k) counts[k] = k % 3, displs[k] = 3 * (remote - 1 - k);
  fill(s, most);
  CHECK(MPI_Gatherv(send, rank % 3, MPI_UNSIGNED, recv, counts, displs, MPI_UNSIGNED, root,
                    inter) == MPI_SUCCESS);
  for (int k = 0; is_root && k < remote; ++k) {
    for (int i = 0; i < counts[k]; ++i) CHECK(recv[displs[k] + i] == datum(s, !side, k, i));
  }
  fill(s, most * 3);
  CHECK(MPI_Scatterv(send, counts, displs, MPI_UNSIGNED, recv, rank % 3, MPI_UNSIGNED, root,
                     inter) == MPI_SUCCESS);
  for (int i = 0; receives && i < rank % 3; ++i) {
    CHECK(recv[i] == datum(s, g, r, 3 * (local - 1 - rank) + i));
  }
}

static void exchanges(int s, int count) {
  int counts[most], displs[most], sdispls[most], scounts[most], bytes[most], sbytes[most];
  MPI_Datatype types[most];
  fill(s, count);
  CHECK(MPI_Allgather(send, count, MPI_UNSIGNED, recv, count, MPI_UNSIGNED, inter) == MPI_SUCCESS);
  for (int k = 0; k < remote * count; ++k) CHECK(recv[k] == datum(s, !side, k / count, k % count));
  for (int k = 0; k < remote; ++k) {
    counts[k] = (k + !side) % 4;
    displs[k] = 4 * k + 1;
  }
  fill(s, 4);
  CHECK(MPI_Allgatherv(send, (rank + side) % 4, MPI_UNSIGNED, recv, counts, displs, MPI_UNSIGNED,
                       inter) == MPI_SUCCESS);
  for (int k = 0; k < remote; ++k) {
    for (int i = 0; i < counts[k]; ++i) CHECK(recv[displs[k] + i] == datum(s, !side, k, i));
  }
  fill(s, count * remote);
  CHECK(MPI_Alltoall(send, count, MPI_UNSIGNED, recv, count, MPI_UNSIGNED, inter) == MPI_SUCCESS);
  for (int k = 0; k < remote; ++k) {
    for (int i = 0; i < count; ++i) {
      CHECK(recv[k * count + i] == datum(s, !side, k, rank * count + i));
    }
  }
  /* From rank x of the first group to rank y of the second, and back, (x + 2 y) % 4 elements. */
  for (int k = 0; k < remote; ++k) {
    scounts[k] = counts[k] = side == 0 ? (rank + 2 * k) % 4 : (k + 2 * rank) % 4;
    sdispls[k] = 4 * k;
    displs[k] = 4 * (remote - 1 - k);
    bytes[k] = (int)sizeof(unsigned) * displs[k];
    sbytes[k] = (int)sizeof(unsigned) * sdispls[k];
    types[k] = MPI_UNSIGNED;
  }
  for (int by_bytes = 0; by_bytes < 2; ++by_bytes) {
    fill(s, 4 * remote);
    CHECK((by_bytes ? MPI_Alltoallw(send, scounts, sbytes, types, recv, counts, bytes, types, inter)
                    : MPI_Alltoallv(send, scounts, sdispls, MPI_UNSIGNED, recv, counts, displs,
                                    MPI_UNSIGNED, inter)) == MPI_SUCCESS);
    for (int k = 0; k < remote; ++k) {
      for (int i = 0; i < counts[k]; ++i) {
        CHECK(recv[displs[k] + i] == datum(s, !side, k, 4 * rank + i));
      }
    }
  }
}

static void reductions(int s, int count, int g, int r, MPI_Datatype pair, MPI_Op op) {
  int counts[most], start = 0;
  const int root = root_here(g, r);
  const int sum = sizes[0] * sizes[1]; /* elements that each group scatters */
  for (int i = 0; i < most * 8; ++i) sent[i] = operand(s, side, rank, i);
  memset(received, 0, sizeof received);
  CHECK(MPI_Reduce(sent, received, count, pair, op, root, inter) == MPI_SUCCESS);
  for (int i = 0; root == MPI_ROOT && i < count; ++i) expect_affine(received[i], total(s, !g, i));
  memset(received, 0, sizeof received);
  CHECK(MPI_Allreduce(sent, received, count, pair, op, inter) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) expect_affine(received[i], total(s, !side, i));
  if (sum > most * 8) return;
  memset(received, 0, sizeof received);
  CHECK(MPI_Reduce_scatter_block(sent, received, remote, pair, op, inter) == MPI_SUCCESS);
  for (int i = 0; i < remote; ++i) expect_affine(received[i], total(s, !side, rank * remote + i));
  for (int k = 0; k < local; ++k) counts[k] = remote;
  counts[0] += 2; /* what the last one has less; with one rank both are its own */
  counts[local - 1] -= 2;
  if (counts[local - 1] < 0) counts[0] -= 2, counts[local - 1] += 2;
  for (int k = 0; k < rank; ++k) start += counts[k];
  memset(received, 0, sizeof received);
  CHECK(MPI_Reduce_scatter(sent, received, counts, pair, op, inter) == MPI_SUCCESS);
  for (int i = 0; i < counts[rank]; ++i) expect_affine(received[i], total(s, !side, start + i));
}

int main(int argc, char** argv) {
  int n, world, steps = argc > 2 ? atoi(argv[2]) : 25;
  MPI_Comm group;
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  state = argc > 1 ? (unsigned)atoi(argv[1]) : 2026u;
  if (world == 0) printf("seed %u\n", state);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &op);
  for (int s = 0; n >= 2 && n <= most && s < steps; ++s) {
    int sides[most], keys[most], leaders[2];
    do {
      sizes[0] = 0;
      for (int r = 0; r < n; ++r) {
        sides[r] = (int)draw(2), keys[r] = (int)draw(1000);
        sizes[0] += sides[r] == 0;
      }
      sizes[1] = n - sizes[0];
    } while (sizes[0] == 0 || sizes[1] == 0);
    side = sides[world];
    MPI_Comm_split(MPI_COMM_WORLD, side, keys[world], &group);
    MPI_Comm_rank(group, &rank);
    for (int g = 0; g < 2; ++g) { /* the last member of each by number leads */
      for (int r = 0; r < n; ++r) leaders[g] = sides[r] == g ? r : leaders[g];
    }
    int leader = world == leaders[side] ? rank : 0;
    MPI_Allreduce(MPI_IN_PLACE, &leader, 1, MPI_INT, MPI_SUM, group);
    CHECK(MPI_Intercomm_create(group, leader, MPI_COMM_WORLD, leaders[!side], s % 7, &inter) ==
          MPI_SUCCESS);
    MPI_Comm_free(&group);
    local = sizes[side], remote = sizes[!side];
    for (int again = 0; again < 3; ++again) {
      const int count = (int)draw(8), g = (int)draw(2), r = (int)draw((unsigned)sizes[g]);
      MPI_Barrier(inter);
      moving(s, count, g, r);
      exchanges(s, count);
      reductions(s, count, g, r, pair, op);
    }
    MPI_Comm_free(&inter);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return 0;
}
