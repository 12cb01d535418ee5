/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all over several paths, for C and C++ programs started by `sinew run` (or another launcher
 * that Sinew knows). Link with -lsinew_route -lsinew. Every rank of the job takes part in the calls
 * that say "collective", all in the same order, one thread at a time. Beside MPI in one program it
 * uses the same job.
 *
 * A network is planned once (which bytes over which paths) and the plan used as often as one likes;
 * ranks forward the chunks of others while they are in sinew_alltoallv_run(). Functions return
 * SINEW_OK or a code of sinew.h; sinew_last_error() tells more. */
#ifndef SINEW_ROUTE_H
#define SINEW_ROUTE_H

#include "sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Joins the job; to be called first. rank and size may be NULL. Collective. SINEW_FAILED. */
int sinew_route_join(int* rank, int* size);
/* The last call: this rank ends in order. */
int sinew_route_leave(void);

/* Memory that other ranks reach: receive buffers in it spare a copy. NULL if there is none left. */
void* sinew_route_malloc(size_t bytes);
/* SINEW_INVALID if `memory` does not come from sinew_route_malloc(). NULL is allowed. */
int sinew_route_free(void* memory);

typedef struct sinew_alltoallv sinew_alltoallv;

/* 0 stands for the usual everywhere. */
struct sinew_alltoallv_options {
  size_t chunk;        /* bytes that travel in one piece (64 KiB) */
  int ranks_per_node;  /* consecutive ranks that share a node of the network (1) */
  int slots;           /* chunks of one path that a rank on its way holds (4) */
  size_t memory;       /* most bytes that a rank holds for others (256 MiB) */
  int max_paths;       /* of one message, 1 to 16 (12, more where another planner does better) */
  int every_hop;       /* not 0: forwarded at every node, not only where the usual route is left */
  double patience;     /* seconds without progress after which a call gives up (never) */
};

/* Collective. `topology` as `sinew route` takes it: "4x4x4x8x2", "mesh:8x8", a file; it must have
 * as many endpoints as the job has ranks (per ranks_per_node). send_bytes has a number for each
 * rank. how may be NULL. Rank 0 plans for all. SINEW_FAILED on all ranks if that fails. */
int sinew_alltoallv_init(const char* topology, const size_t* send_bytes,
                         const struct sinew_alltoallv_options* how, sinew_alltoallv** made);
/* What this rank receives from another in each run. */
size_t sinew_alltoallv_receives(const sinew_alltoallv* plan, int from);
/* Collective. The message to rank r begins at send + send_at[r], the one from r goes to receive +
 * receive_at[r]; they must not overlap. Suspends. Returns when this rank's part is done.
 * SINEW_TIMED_OUT: patience was over, here or elsewhere; later runs fail likewise. */
int sinew_alltoallv_run(sinew_alltoallv* plan, const void* send, const size_t* send_at,
                        void* receive, const size_t* receive_at);
/* Collective. */
int sinew_alltoallv_free(sinew_alltoallv* plan);

#ifdef __cplusplus
}
#endif
#endif
