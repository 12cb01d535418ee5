// SPDX-License-Identifier: BSD-3-Clause
/* MPI_Alltoallv over planned paths, asked for by a hint: the same data as without. */
#include "check.h"

enum { most_ranks = 8 };
static int rank, size;

static int told(MPI_Comm comm, char* text) {
  MPI_Info used;
  int flag = 0, length = MPI_MAX_INFO_VAL + 1;
  text[0] = 0;
  MPI_Comm_get_info(comm, &used);
  MPI_Info_get_string(used, "sinew_alltoallv_topology", &length, text, &flag);
  MPI_Info_free(&used);
  return flag;
}

static void ask(MPI_Comm comm, const char* network) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "sinew_alltoallv_topology", network);
  CHECK(MPI_Comm_set_info(comm, info) == MPI_SUCCESS);
  MPI_Info_free(&info);
}

static int count_of(int from, int to, int salt) {
  return ((from * 3 + to * 5 + salt) % 4) * 30011 + (from == to);
}
static int value_of(int from, int to, int salt, int i) {
  return (((from * 16 + to) * 16 + salt) << 18) ^ i;
}

/* `stride` 2: the data of the receiver has gaps, so the usual algorithm must do it. */
static void exchange(MPI_Comm comm, int salt, int stride) {
  int send_counts[most_ranks], send_at[most_ranks], counts[most_ranks], at[most_ranks];
  int out = 5, in = 3;
  for (int r = 0; r < size; ++r) {
    send_counts[r] = count_of(rank, r, salt);
    send_at[r] = out;
    out += send_counts[r] + 7;
    counts[r] = count_of(r, rank, salt);
    at[r] = in;
    in += counts[r] + 2;
  }
  int* send = malloc((size_t)out * sizeof *send);
  int* receive = malloc((size_t)(in * stride) * sizeof *receive);
  for (int i = 0; i < in * stride; ++i) receive[i] = -1;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < send_counts[r]; ++i) send[send_at[r] + i] = value_of(rank, r, salt, i);
  }
  MPI_Datatype type = MPI_INT;
  if (stride > 1) {
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * stride, &type);
    MPI_Type_commit(&type);
  }
  CHECK(MPI_Alltoallv(send, send_counts, send_at, MPI_INT, receive, counts, at, type, comm) ==
        MPI_SUCCESS);
  int untouched = in * stride;
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < counts[r]; ++i) {
      CHECK(receive[(at[r] + i) * stride] == value_of(r, rank, salt, i));
    }
    untouched -= counts[r];
  }
  for (int i = 0; i < in * stride; ++i) untouched -= receive[i] == -1;
  CHECK(untouched == 0);
  if (stride > 1) MPI_Type_free(&type);
  free(send);
  free(receive);
}

static void in_place(MPI_Comm comm) {
  int counts[most_ranks], at[most_ranks], data[most_ranks];
  for (int r = 0; r < size; ++r) {
    counts[r] = 1;
    at[r] = r;
    data[r] = rank * 100 + r;
  }
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, data, counts, at, MPI_INT, comm);
  for (int r = 0; r < size; ++r) CHECK(data[r] == r * 100 + rank);
}

int main(void) {
  char text[MPI_MAX_INFO_VAL + 1], network[32];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK(!told(comm, text));
  /* Ignored, and each reported once, whoever asks and however often. */
  for (int again = 0; again < 2; ++again) {
    ask(comm, "no such network");
    CHECK(!told(comm, text));
    ask(comm, "17x3"); /* more endpoints than ranks */
    CHECK(!told(comm, text));
  }
  snprintf(network, sizeof network, "mesh:1x%d", size);
  ask(comm, network);
  CHECK(told(comm, text) && strcmp(text, network) == 0);
  for (int salt = 0; salt < 3; ++salt) {
    for (int call = 0; call < 3; ++call) exchange(comm, salt, 1);
    exchange(comm, salt, 2);
    in_place(comm);
  }
  ask(comm, "1"); /* all ranks on one node */
  CHECK(told(comm, text) && strcmp(text, "1") == 0);
  exchange(comm, 4, 1);
  exchange(MPI_COMM_WORLD, 5, 1);
  if (size > 1) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    ask(half, "1");
    CHECK(!told(half, text)); /* not all ranks of the job */
    MPI_Comm_free(&half);
  }
  MPI_Comm_free(&comm);
  ask(MPI_COMM_WORLD, network);
  exchange(MPI_COMM_WORLD, 1, 1);
  MPI_Finalize();
  return 0;
}
