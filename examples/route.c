// SPDX-License-Identifier: BSD-3-Clause
/* An exchange of uneven messages over several paths of a network, planned once and run as often as
 * one likes. The network, by default 2x2, has as many nodes as there are ranks:
 *
 *   sinew run -n 4 build/examples/route
 *   sinew run --hosts h1,h2,h3,h4 build/examples/route 2x2
 */
#include <sinew_route.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, sinew_last_error());
  return 1;
}

/* Who sends how much: even ranks much to odd ones, the others a little. */
static size_t bytes_between(int from, int to) {
  return from == to ? 0 : from % 2 == 0 && to % 2 != 0 ? 300000 : 1000;
}

int main(int argc, char** argv) {
  const char* shape = argc > 1 ? argv[1] : "2x2";
  int rank = 0, size = 0;
  if (sinew_route_join(&rank, &size) != SINEW_OK) return fail("join");
  size_t* bytes = calloc((size_t)size * 3, sizeof *bytes); /* and where messages begin */
  size_t* send_at = bytes + size;
  size_t* receive_at = bytes + 2 * size;
  size_t out = 0, in = 0;
  for (int r = 0; r < size; ++r) {
    bytes[r] = bytes_between(rank, r);
    send_at[r] = out;
    receive_at[r] = in;
    out += bytes[r];
    in += bytes_between(r, rank);
  }
  sinew_alltoallv* plan = NULL;
  if (sinew_alltoallv_init(shape, bytes, NULL, &plan) != SINEW_OK) return fail("plan");
  char* send = malloc(out + 1);
  char* receive = sinew_route_malloc(in + 1); /* others reach it: no copy on the way */
  if (send == NULL || receive == NULL) return fail("memory");
  memset(send, 'a' + rank, out);
  for (int turn = 0; turn < 3; ++turn) {
    if (sinew_alltoallv_run(plan, send, send_at, receive, receive_at) != SINEW_OK) {
      return fail("run");
    }
  }
  int good = 1;
  for (int r = 0; r < size; ++r) {
    for (size_t i = 0; i < bytes_between(r, rank); ++i) {
      good = good && receive[receive_at[r] + i] == 'a' + r;
    }
  }
  printf("rank %d has received %zu bytes, %s\n", rank, in, good ? "all as sent" : "some wrong");
  sinew_alltoallv_free(plan);
  sinew_route_free(receive);
  free(send);
  free(bytes);
  sinew_route_leave();
  return good ? 0 : 1;
}
