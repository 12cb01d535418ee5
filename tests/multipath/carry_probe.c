// SPDX-License-Identifier: BSD-3-Clause
/* One rank of a launched job: `carry_probe 2x2x2 [die]`. An all-to-all of uneven messages, checked
 * byte for byte, three times, received into both kinds of memory. With `die` one rank ends in the
 * middle, and the launcher must end the others. */
#include <sinew_route.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char content(int from, int to, int call, size_t i) {
  return (unsigned char)((size_t)(from * 31 + to * 17 + call * 7) + i * 13 + (i >> 8));
}

static size_t bytes_between(int from, int to) {
  return from == to ? 100 : (size_t)((from * 5 + to * 3) % 7) * 20001;
}

static int fail(const char* what) {
  fprintf(stderr, "carry_probe: %s: %s\n", what, sinew_last_error());
  return 1;
}

static int check(const unsigned char* receive, const size_t* at, int rank, int size, int call) {
  for (int r = 0; r < size; ++r) {
    for (size_t i = 0; i < bytes_between(r, rank); ++i) {
      if (receive[at[r] + i] != content(r, rank, call, i)) {
        fprintf(stderr, "carry_probe: rank %d: byte %zu from %d is wrong\n", rank, i, r);
        return 0;
      }
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  if (sinew_alltoallv_run(NULL, NULL, NULL, NULL, NULL) != SINEW_NOT_STARTED) return 1;
  if (sinew_route_join(&rank, &size) != SINEW_OK) return fail("join");
  const char* topology = argc > 1 ? argv[1] : "2x2x2";
  size_t* send_bytes = calloc((size_t)size * 3, sizeof *send_bytes);
  size_t* send_at = send_bytes + size;
  size_t* receive_at = send_at + size;
  size_t out = 0, in = 0;
  for (int r = 0; r < size; ++r) {
    send_bytes[r] = bytes_between(rank, r);
    send_at[r] = out;
    receive_at[r] = in;
    out += send_bytes[r];
    in += bytes_between(r, rank);
  }
  struct sinew_alltoallv_options how = {0};
  how.chunk = 4096;
  how.every_hop = 1;
  sinew_alltoallv* plan = NULL;
  if (sinew_alltoallv_init("3x5x7", send_bytes, &how, &plan) != SINEW_FAILED) return 1;
  if (strstr(sinew_last_error(), "105 endpoints") == NULL) return fail("another network");
  if (sinew_alltoallv_init("2x,", send_bytes, &how, &plan) != SINEW_FAILED) return 1;
  if (sinew_alltoallv_init(topology, NULL, &how, &plan) != SINEW_INVALID) return 1;
  if (sinew_alltoallv_init(topology, send_bytes, &how, &plan) != SINEW_OK) return fail("init");
  for (int r = 0; r < size; ++r) {
    if (sinew_alltoallv_receives(plan, r) != bytes_between(r, rank)) return fail("receives");
  }
  unsigned char* send = malloc(out + 1);
  unsigned char* shared = sinew_route_malloc(in + 1);
  unsigned char* own = malloc(in + 1);
  if (send == NULL || shared == NULL || own == NULL) return fail("memory");
  if (sinew_route_free(own) != SINEW_INVALID) return fail("freed what is not ours");
  for (int call = 0; call < 3; ++call) {
    unsigned char* receive = call == 1 ? own : shared;
    memset(receive, 0xa5, in + 1);
    for (int r = 0; r < size; ++r) {
      for (size_t i = 0; i < send_bytes[r]; ++i) send[send_at[r] + i] = content(rank, r, call, i);
    }
    if (call == 2 && argc > 2 && rank == size - 1) abort();
    if (sinew_alltoallv_run(plan, send, send_at, receive, receive_at) != SINEW_OK) {
      return fail("run");
    }
    if (!check(receive, receive_at, rank, size, call) || receive[in] != 0xa5) return 1;
  }
  if (sinew_alltoallv_free(plan) != SINEW_OK || sinew_route_free(shared) != SINEW_OK) {
    return fail("free");
  }
  free(own);
  free(send);
  free(send_bytes);
  if (sinew_route_leave() != SINEW_OK) return fail("leave");
  if (rank == 0) puts("carried");
  return 0;
}
