/* SPDX-License-Identifier: BSD-3-Clause */
/* What random_order.c sends and expects: dice, contents known to all ranks, and memory in which
   every byte is either expected or a guard. */
#ifndef SINEW_TESTS_RANDOM_DATA_H
#define SINEW_TESTS_RANDOM_DATA_H

#include <stdint.h>

#include "check.h"

enum { most_ranks = 64, guard = 0xA5, margin = 64, page = 4096 };
enum { longest = (1 << 20) + 64, sea_bytes = 4 << 20, words = 40 };

typedef struct {
  uint64_t state;
} dice;

static inline uint64_t mixed(uint64_t z) { /* splitmix64's last step */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline uint64_t roll(dice* d) { return mixed(d->state += 0x9e3779b97f4a7c15u); }
static inline long below(dice* d, long n) { return (long)(roll(d) % (uint64_t)n); }

/* The content of a message is a stretch of random bytes, chosen by its number. */
static unsigned char* sea;

static inline void make_sea(void) {
  dice d = {1};
  sea = malloc(sea_bytes);
  for (long i = 0; i < sea_bytes; i += 8) {
    const uint64_t word = roll(&d);
    memcpy(sea + i, &word, 8);
  }
}
static inline const unsigned char* content(uint64_t message) {
  return sea + mixed(message) % (sea_bytes - longest) / 8 * 8;
}
static inline uint64_t between(uint64_t step, int from, int to) {
  return step + 1000003u * (uint64_t)(from + 1) + 10007u * (uint64_t)(to + 1);
}

/* Of one instance: `pieces` stretches of bytes, `bytes` in all. Instances do not overlap. */
typedef struct {
  MPI_Datatype type;
  int bytes, extent, low, pieces, at[2], length[2];
} layout;

enum { layouts = 5 };
static layout plain_layouts[layouts];

static inline void make_layouts(void) {
  const layout made[layouts] = {{MPI_BYTE, 1, 1, 0, 1, {0, 0}, {1, 0}},
                                {MPI_BYTE, 4, 7, 0, 1, {0, 0}, {4, 0}},
                                {MPI_BYTE, 8, 16, 0, 2, {0, 9}, {3, 5}},
                                {MPI_BYTE, 4, 11, -6, 2, {-6, 3}, {2, 2}},
                                {MPI_BYTE, 8, 9, -5, 2, {0, -5}, {4, 4}}};
  for (int i = 0; i < layouts; ++i) {
    layout* l = &plain_layouts[i];
    *l = made[i];
    if (i == 0) continue;
    const MPI_Aint at[2] = {l->at[0], l->at[1]};
    MPI_Datatype pieces;
    MPI_Type_create_hindexed(l->pieces, l->length, at, MPI_BYTE, &pieces);
    MPI_Type_create_resized(pieces, l->low, l->extent, &l->type);
    MPI_Type_commit(&l->type);
    MPI_Type_free(&pieces);
  }
}
static inline void free_layouts(void) {
  for (int i = 1; i < layouts; ++i) MPI_Type_free(&plain_layouts[i].type);
}

/* Up to most_ranks blocks of data within one piece of memory, as a collective takes them. */
typedef struct {
  unsigned char *memory, *base;
  long size;
  int n, counts[most_ranks], starts[most_ranks], offsets[most_ranks]; /* in instances, in bytes */
  const layout* of[most_ranks];
  MPI_Datatype types[most_ranks];
} blocks;

enum placing { packed, spread, each_its_type };

/* Whatever does not lie alike on all ranks comes from `own` dice. Pages begin where the difference
   between source and target is often 1 to 15, for which copies go other ways. */
static inline void make_blocks_of(blocks* b, int n, const long bytes[], enum placing how,
                                  const layout* given, dice* own) {
  int any = given == NULL && below(own, 2) == 0;
  for (int i = 0; i < n; ++i) any = any && bytes[i] % 8 == 0;
  const layout* one = given != NULL ? given : &plain_layouts[any ? below(own, layouts) : 0];
  const int backwards = how != packed && below(own, 2);
  long offset = 0;
  b->n = n;
  for (int k = 0; k < n; ++k) {
    const int i = backwards ? n - 1 - k : k;
    const layout* l = one;
    if (how == each_its_type) l = &plain_layouts[any ? below(own, layouts) : 0];
    if (how != packed) offset += below(own, 3) * l->extent;
    b->of[i] = l;
    b->types[i] = l->type;
    b->counts[i] = (int)(bytes[i] / l->bytes);
    b->starts[i] = (int)(offset / l->extent);
    b->offsets[i] = (int)offset;
    if (how == each_its_type) b->offsets[i] -= l->low;
    offset += b->counts[i] * (long)l->extent;
  }
  const long place = (long[]){0, below(own, 16), below(own, 64), below(own, page)}[below(own, 4)];
  b->size = offset + 2 * margin + page;
  if (posix_memalign((void**)&b->memory, page, (size_t)b->size) != 0) abort();
  memset(b->memory, guard, (size_t)b->size);
  b->base = b->memory + margin / 2 + place;
}
static inline void make_blocks(blocks* b, int n, const long bytes[], enum placing how, dice* own) {
  make_blocks_of(b, n, bytes, how, NULL, own);
}
static inline void make_one(blocks* b, long bytes, dice* own) {
  make_blocks(b, 1, &bytes, packed, own);
}

static inline unsigned char* block_at(const blocks* b, int i) { return b->base + b->offsets[i]; }

static inline void put(blocks* b, int i, const unsigned char* data) {
  const layout* l = b->of[i];
  unsigned char* at = block_at(b, i);
  if (l->bytes == l->extent) {
    memcpy(at, data, (size_t)b->counts[i] * (size_t)l->bytes);
    return;
  }
  for (int k = 0; k < b->counts[i]; ++k, at += l->extent) {
    for (int p = 0; p < l->pieces; data += l->length[p++]) {
      memcpy(at + l->at[p], data, (size_t)l->length[p]);
    }
  }
}

/* The first `count` instances of block i are guards again; with data, they must have held that.
   Gives the number of the first wrong byte, or -1. */
static inline long take(blocks* b, int i, long count, const unsigned char* data) {
  const layout* l = b->of[i];
  unsigned char* at = block_at(b, i);
  if (l->bytes == l->extent) {
    const long n = count * l->bytes;
    if (data != NULL && memcmp(at, data, (size_t)n) != 0) {
      for (long k = 0;; ++k) {
        if (at[k] != data[k]) return k;
      }
    }
    memset(at, guard, (size_t)n);
    return -1;
  }
  for (long k = 0, byte = 0; k < count; ++k, at += l->extent) {
    for (int p = 0; p < l->pieces; byte += l->length[p++]) {
      if (data != NULL && memcmp(at + l->at[p], data + byte, (size_t)l->length[p]) != 0)
        return byte;
      memset(at + l->at[p], guard, (size_t)l->length[p]);
    }
  }
  return -1;
}

/* Whether all is guards again; frees the memory. */
static inline int end_blocks(blocks* b) {
  const int whole =
      b->memory[0] == guard && memcmp(b->memory, b->memory + 1, (size_t)b->size - 1) == 0;
  free(b->memory);
  return whole;
}

typedef struct {
  MPI_Comm comm; /* null: not a member, or free */
  int size, rank, members[most_ranks];
  int open; /* messages whose receives are still to be posted by a call with this communicator */
} group;

/* One sequence of steps: of a rank, or of a thread of each rank. */
typedef struct {
  uint64_t seed;
  int number, step;
  const char* what;
  dice common, own; /* rolled alike on all ranks; by this one */
  int me;           /* in MPI_COMM_WORLD */
} run;

#define WRONG(r, ...)                                                                   \
  do {                                                                                  \
    fprintf(stderr, "random_order: seed %llu, sequence %d, step %d (%s), rank %d: ",    \
            (unsigned long long)(r)->seed, (r)->number, (r)->step, (r)->what, (r)->me); \
    fprintf(stderr, __VA_ARGS__);                                                       \
    fprintf(stderr, "\n");                                                              \
    MPI_Abort(MPI_COMM_WORLD, 1);                                                       \
  } while (0)

static inline void expect_count(run* r, blocks* b, int i, long count, const unsigned char* data) {
  const long wrong = take(b, i, count, data);
  if (wrong >= 0) {
    WRONG(r, "byte %ld of %ld of block %d is wrong", wrong, count * b->of[i]->bytes, i);
  }
}
static inline void expect(run* r, blocks* b, int i, const unsigned char* data) {
  expect_count(r, b, i, b->counts[i], data);
}
static inline void end(run* r, blocks* b) {
  if (!end_blocks(b)) WRONG(r, "bytes around the data were changed");
}

/* Lengths at which messages and collectives change their ways, and others. */
static inline long some_bytes(dice* d, long most) {
  static const long edges[] = {0,    1,    8,     24,    48,    56,    64,     120,    128,    512,
                               4096, 8192, 16384, 32768, 65536, 98304, 131072, 262144, 1 << 20};
  long n = 0;
  if (below(d, 2) == 0) {
    n = edges[below(d, (long)(sizeof edges / sizeof *edges))];
    if (below(d, 3) == 0) n += below(d, 5) - 2;
  } else {
    n = below(d, 1L << below(d, 19));
  }
  if (n > most) n = below(d, most + 1);
  if (n < 0) n = 0;
  return below(d, 2) == 0 ? n / 8 * 8 : n;
}

#endif
