/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective call of each kind, with its data made before and looked at after. */
#ifndef SINEW_TESTS_RANDOM_COLLECTIVES_H
#define SINEW_TESTS_RANDOM_COLLECTIVES_H

#include "random_data.h"

/* Lengths of n blocks, known to all; `most` bytes together or so. */
static inline void lengths(dice* d, int n, long most, long bytes[]) {
  const long each = below(d, 4) == 0 ? most / n : some_bytes(d, most / n);
  const long grain = below(d, 2) ? 8 : 1;
  for (int i = 0; i < n; ++i) {
    bytes[i] = (below(d, 3) == 0 ? each : below(d, each + 1)) / grain * grain;
  }
}
static inline void equal_lengths(dice* d, int n, long most, long bytes[]) {
  bytes[0] = some_bytes(d, most / n);
  for (int i = 1; i < n; ++i) bytes[i] = bytes[0];
}
static const long most_moved = 300000;

static inline void do_barrier(run* r, group* g, dice* d, uint64_t id) {
  (void)r, (void)d, (void)id;
  MPI_Barrier(g->comm);
}

static inline void do_bcast(run* r, group* g, dice* d, uint64_t id) {
  const int root = (int)below(d, g->size);
  const long bytes = some_bytes(d, below(d, 8) == 0 ? 1 << 20 : most_moved);
  blocks b;
  make_one(&b, bytes, &r->own);
  if (g->rank == root) put(&b, 0, content(id));
  MPI_Bcast(block_at(&b, 0), b.counts[0], b.types[0], root, g->comm);
  expect(r, &b, 0, content(id));
  end(r, &b);
}

static inline void do_gather(run* r, group* g, dice* d, uint64_t id) {
  const int root = (int)below(d, g->size), each = (int)below(d, 2);
  const int at_root = g->rank == root, in_place = at_root && below(&r->own, 3) == 0;
  long bytes[most_ranks];
  each ? lengths(d, g->size, most_moved, bytes) : equal_lengths(d, g->size, most_moved, bytes);
  blocks from, to;
  make_one(&from, bytes[g->rank], &r->own);
  put(&from, 0, content(between(id, g->rank, 0)));
  if (at_root) {
    make_blocks(&to, g->size, bytes, each ? spread : packed, &r->own);
    if (in_place) put(&to, root, content(between(id, root, 0)));
  } else {
    memset(&to, 0, sizeof to);
  }
  const void* sent = in_place ? MPI_IN_PLACE : block_at(&from, 0);
  if (each) {
    MPI_Gatherv(sent, from.counts[0], from.types[0], to.base, to.counts, to.starts, to.types[0],
                root, g->comm);
  } else {
    MPI_Gather(sent, from.counts[0], from.types[0], to.base, to.counts[0], to.types[0], root,
               g->comm);
  }
  expect(r, &from, 0, content(between(id, g->rank, 0)));
  end(r, &from);
  if (!at_root) return;
  for (int i = 0; i < g->size; ++i) expect(r, &to, i, content(between(id, i, 0)));
  end(r, &to);
}

static inline void do_scatter(run* r, group* g, dice* d, uint64_t id) {
  const int root = (int)below(d, g->size), each = (int)below(d, 2);
  const int at_root = g->rank == root, in_place = at_root && below(&r->own, 3) == 0;
  long bytes[most_ranks];
  each ? lengths(d, g->size, most_moved, bytes) : equal_lengths(d, g->size, most_moved, bytes);
  blocks from, to;
  memset(&from, 0, sizeof from);
  make_one(&to, bytes[g->rank], &r->own);
  if (at_root) make_blocks(&from, g->size, bytes, each ? spread : packed, &r->own);
  for (int i = 0; i < g->size && at_root; ++i) put(&from, i, content(between(id, 0, i)));
  void* got = in_place ? MPI_IN_PLACE : block_at(&to, 0);
  if (each) {
    MPI_Scatterv(from.base, from.counts, from.starts, from.types[0], got, to.counts[0], to.types[0],
                 root, g->comm);
  } else {
    MPI_Scatter(from.base, from.counts[0], from.types[0], got, to.counts[0], to.types[0], root,
                g->comm);
  }
  if (!in_place) expect(r, &to, 0, content(between(id, 0, g->rank)));
  end(r, &to);
  if (!at_root) return;
  for (int i = 0; i < g->size; ++i) expect(r, &from, i, content(between(id, 0, i)));
  end(r, &from);
}

static inline void do_allgather(run* r, group* g, dice* d, uint64_t id) {
  const int each = (int)below(d, 2), in_place = below(d, 3) == 0;
  long bytes[most_ranks];
  each ? lengths(d, g->size, most_moved, bytes) : equal_lengths(d, g->size, most_moved, bytes);
  blocks from, to;
  make_one(&from, bytes[g->rank], &r->own);
  make_blocks(&to, g->size, bytes, each ? spread : packed, &r->own);
  put(in_place ? &to : &from, in_place ? g->rank : 0, content(between(id, g->rank, 0)));
  const void* sent = in_place ? MPI_IN_PLACE : block_at(&from, 0);
  if (each) {
    MPI_Allgatherv(sent, from.counts[0], from.types[0], to.base, to.counts, to.starts, to.types[0],
                   g->comm);
  } else {
    MPI_Allgather(sent, from.counts[0], from.types[0], to.base, to.counts[0], to.types[0], g->comm);
  }
  if (!in_place) expect(r, &from, 0, content(between(id, g->rank, 0)));
  end(r, &from);
  for (int i = 0; i < g->size; ++i) expect(r, &to, i, content(between(id, i, 0)));
  end(r, &to);
}

/* What i sends to j is as long as what j sends to i, so that it can be done in place. */
static inline long traded(uint64_t id, int i, int j, long most) {
  dice d = {id + (uint64_t)((i < j ? i : j) * 64 + (i < j ? j : i))};
  return below(&d, 4) == 0 ? 0 : some_bytes(&d, most);
}

static inline void do_alltoall(run* r, group* g, dice* d, uint64_t id) {
  const int kind = (int)below(d, 3), in_place = below(d, 3) == 0;
  const long most = below(d, 3) == 0 ? 128 : most_moved / g->size;
  const enum placing how = (enum placing[]){packed, spread, each_its_type}[kind];
  long bytes[most_ranks];
  equal_lengths(d, g->size, most * g->size, bytes);
  for (int i = 0; i < g->size && kind != 0; ++i) bytes[i] = traded(id, g->rank, i, most);
  blocks from, to;
  make_blocks(&from, g->size, bytes, how, &r->own);
  make_blocks(&to, g->size, bytes, how, &r->own);
  blocks* filled = in_place ? &to : &from;
  for (int i = 0; i < g->size; ++i) put(filled, i, content(between(id, g->rank, i)));
  const void* sent = in_place ? MPI_IN_PLACE : from.base;
  if (kind == 0) {
    MPI_Alltoall(sent, from.counts[0], from.types[0], to.base, to.counts[0], to.types[0], g->comm);
  } else if (kind == 1) {
    MPI_Alltoallv(sent, from.counts, from.starts, from.types[0], to.base, to.counts, to.starts,
                  to.types[0], g->comm);
  } else {
    MPI_Alltoallw(sent, from.counts, from.offsets, from.types, to.base, to.counts, to.offsets,
                  to.types, g->comm);
  }
  for (int i = 0; i < g->size; ++i) {
    if (!in_place) expect(r, &from, i, content(between(id, g->rank, i)));
    expect(r, &to, i, content(between(id, i, g->rank)));
  }
  end(r, &from);
  end(r, &to);
}

/* --- reductions --- */

typedef struct {
  layout of; /* `bytes` is the size of one element */
  MPI_Op op;
  void (*right)(void* left, const void* right, long n); /* left = left op right, without gaps */
} reduction;

enum { reductions = 6 };
static reduction known[reductions];

#define COMBINING(name, type, expression)                   \
  static void name(void* left, const void* right, long n) { \
    type* a = left;                                         \
    const type* b = right;                                  \
    for (long i = 0; i < n; ++i) a[i] = (type)(expression); \
  }
COMBINING(sums, uint32_t, a[i] + b[i])
COMBINING(greatest, int64_t, a[i] > b[i] ? a[i] : b[i])
COMBINING(exclusive_ors, uint8_t, a[i] ^ b[i])
COMBINING(products, uint16_t, (unsigned)a[i] * b[i])

/* Maps x -> f x + s, one after the other: associative, and the order tells. */
typedef struct {
  uint32_t f, s;
} map;
static map after(map a, map b) { return (map){a.f * b.f, a.s * b.f + b.s}; }
static void maps(void* left, const void* right, long n) {
  map* a = left;
  const map* b = right;
  for (long i = 0; i < n; ++i) a[i] = after(a[i], b[i]);
}
static void user_maps(void* in, void* inout, int* n, MPI_Datatype* type) {
  MPI_Aint low, extent;
  MPI_Type_get_extent(*type, &low, &extent);
  for (long i = 0; i < *n; ++i) {
    map a, b;
    memcpy(&a, (char*)in + i * extent, sizeof a);
    memcpy(&b, (char*)inout + i * extent, sizeof b);
    b = after(a, b);
    memcpy((char*)inout + i * extent, &b, sizeof b);
  }
}

static inline void make_reductions(void) {
  MPI_Datatype pair, apart;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
  MPI_Type_create_resized(pair, -4, 16, &apart);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&apart);
  MPI_Op_create(user_maps, 0, &op);
  const reduction made[reductions] = {
      {{MPI_UINT32_T, 4, 4, 0, 1, {0}, {4}}, MPI_SUM, sums},
      {{MPI_INT64_T, 8, 8, 0, 1, {0}, {8}}, MPI_MAX, greatest},
      {{MPI_UINT8_T, 1, 1, 0, 1, {0}, {1}}, MPI_BXOR, exclusive_ors},
      {{MPI_UINT16_T, 2, 2, 0, 1, {0}, {2}}, MPI_PROD, products},
      {{pair, 8, 8, 0, 1, {0}, {8}}, op, maps},
      {{apart, 8, 16, 0, 1, {0}, {8}}, op, maps}};
  memcpy(known, made, sizeof made);
}
static inline void free_reductions(void) {
  MPI_Type_free(&known[4].of.type);
  MPI_Type_free(&known[5].of.type);
  MPI_Op_free(&known[4].op);
}

/* Elements [first, first + n) of what ranks [0, ranks) give, combined in their order. */
static inline unsigned char* combined(const reduction* o, uint64_t id, int ranks, long first,
                                      long n) {
  const size_t bytes = (size_t)n * (size_t)o->of.bytes;
  unsigned char* all = malloc(bytes + 1);
  memcpy(all, content(between(id, 0, 0)) + first * o->of.bytes, bytes);
  for (int i = 1; i < ranks; ++i) {
    o->right(all, content(between(id, i, 0)) + first * o->of.bytes, n);
  }
  return all;
}
static inline void expect_combined(run* r, blocks* b, const reduction* o, uint64_t id, int ranks,
                                   long first, long n) {
  unsigned char* all = combined(o, id, ranks, first, n);
  expect_count(r, b, 0, n, all);
  free(all);
}

/* Memory for the vector of one rank; user data are aligned as their type asks. */
static inline void make_vector(blocks* b, const reduction* o, long n, dice* own) {
  const long bytes = n * o->of.bytes;
  make_blocks_of(b, 1, &bytes, packed, &o->of, own);
  b->base = b->memory + (b->base - b->memory) / 8 * 8;
}

static inline void do_reduce(run* r, group* g, dice* d, uint64_t id) {
  const reduction* o = &known[below(d, reductions)];
  const long n = some_bytes(d, most_moved) / o->of.bytes;
  const int kind = (int)below(d, 4); /* reduce, allreduce, scan, exscan */
  const int root = (int)below(d, g->size);
  const int gets = kind != 0 || g->rank == root;
  const int in_place = below(kind == 0 ? &r->own : d, 3) == 0 && gets;
  blocks from, to;
  make_vector(&from, o, n, &r->own);
  make_vector(&to, o, n, &r->own);
  put(in_place ? &to : &from, 0, content(between(id, g->rank, 0)));
  const void* sent = in_place ? MPI_IN_PLACE : from.base;
  void* got = gets ? to.base : NULL;
  int ranks = g->size;
  switch (kind) {
    case 0:
      MPI_Reduce(sent, got, (int)n, o->of.type, o->op, root, g->comm);
      break;
    case 1:
      MPI_Allreduce(sent, got, (int)n, o->of.type, o->op, g->comm);
      break;
    case 2:
      MPI_Scan(sent, got, (int)n, o->of.type, o->op, g->comm);
      ranks = g->rank + 1;
      break;
    default:
      MPI_Exscan(sent, got, (int)n, o->of.type, o->op, g->comm);
      ranks = g->rank;
  }
  if (!in_place) expect(r, &from, 0, content(between(id, g->rank, 0)));
  if (gets && ranks > 0) {
    expect_combined(r, &to, o, id, ranks, 0, n);
  } else {
    take(&to, 0, n, NULL);
  }
  end(r, &from);
  end(r, &to);
}

static inline void do_reduce_scatter(run* r, group* g, dice* d, uint64_t id) {
  const reduction* o = &known[below(d, reductions)];
  const int each = (int)below(d, 2), in_place = below(d, 3) == 0;
  long bytes[most_ranks], all = 0, before = 0;
  int counts[most_ranks];
  each ? lengths(d, g->size, most_moved, bytes) : equal_lengths(d, g->size, most_moved, bytes);
  for (int i = 0; i < g->size; ++i) {
    counts[i] = (int)(bytes[i] / o->of.bytes);
    all += counts[i];
    before += i < g->rank ? counts[i] : 0;
  }
  blocks from, to;
  make_vector(&from, o, all, &r->own);
  make_vector(&to, o, in_place ? all : counts[g->rank], &r->own);
  put(in_place ? &to : &from, 0, content(between(id, g->rank, 0)));
  const void* sent = in_place ? MPI_IN_PLACE : from.base;
  if (each) {
    MPI_Reduce_scatter(sent, to.base, counts, o->of.type, o->op, g->comm);
  } else {
    MPI_Reduce_scatter_block(sent, to.base, counts[0], o->of.type, o->op, g->comm);
  }
  if (!in_place) expect(r, &from, 0, content(between(id, g->rank, 0)));
  expect_combined(r, &to, o, id, g->size, before, counts[g->rank]);
  if (in_place) take(&to, 0, all, NULL);
  end(r, &from);
  end(r, &to);
}

typedef void collective(run*, group*, dice*, uint64_t);
static const struct {
  const char* name;
  collective* call;
} collectives[] = {
    {"barrier", do_barrier}, {"bcast", do_bcast},         {"gather", do_gather},
    {"scatter", do_scatter}, {"allgather", do_allgather}, {"alltoall", do_alltoall},
    {"reduce", do_reduce},   {"reduce", do_reduce},       {"reduce_scatter", do_reduce_scatter}};

#endif
