// SPDX-License-Identifier: BSD-3-Clause
/* Partitioned communication: partitions of different numbers on the two sides, marked ready in any
 * order and by several threads, started again and again, of any datatype; and what is refused. */
#include <pthread.h>

#include "check.h"

enum { threads = 4, rounds = 6 };

static int rank, size, next, last, level;
static unsigned random_state = 4711;

static unsigned draw(unsigned below) {
  random_state = random_state * 1103515245u + 12345u;
  return (random_state >> 16) % below;
}

static void shuffle(int* order, int n) {
  for (int i = 0; i < n; ++i) {
    order[i] = i;
  }
  for (int i = n - 1; i > 0; --i) {
    const int j = (int)draw((unsigned)i + 1), swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
}

static int value_at(int from, int round, int i) { return from * 1000003 + round * 7919 + i; }

/* A ring: `sent` partitions to the next rank, `received` from the last one. */
static void ring(int sent, int received, int elements, MPI_Comm comm) {
  int* out = malloc((size_t)elements * sizeof *out);
  int* in = malloc((size_t)elements * sizeof *in);
  int* order = malloc((size_t)sent * sizeof *order);
  MPI_Request r[2];
  CHECK(elements % sent == 0 && elements % received == 0);
  CHECK(MPI_Psend_init(out, sent, elements / sent, MPI_INT, next, 5, comm, MPI_INFO_NULL, &r[0]) ==
        MPI_SUCCESS);
  CHECK(MPI_Precv_init(in, received, elements / received, MPI_INT, last, 5, comm, MPI_INFO_NULL,
                       &r[1]) == MPI_SUCCESS);
  for (int round = 0; round < rounds; ++round) {
    MPI_Status status[2];
    int flag = 1;
    for (int i = 0; i < elements; ++i) {
      in[i] = -1;
      out[i] = value_at(rank, round, i);
    }
    if (round % 2 == 0) {
      CHECK(MPI_Startall(2, r) == MPI_SUCCESS);
    } else {
      CHECK(MPI_Start(&r[1]) == MPI_SUCCESS && MPI_Start(&r[0]) == MPI_SUCCESS);
    }
    MPI_Barrier(comm);
    CHECK(MPI_Parrived(r[1], (int)draw((unsigned)received), &flag) == MPI_SUCCESS && flag == 0);
    CHECK(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0);
    MPI_Barrier(comm);
    shuffle(order, sent);
    if (round == 1) {
      CHECK(MPI_Pready_range(0, sent - 1, r[0]) == MPI_SUCCESS);
    } else if (round == 2) {
      CHECK(MPI_Pready_list(sent, order, r[0]) == MPI_SUCCESS);
    } else {
      for (int i = 0; i < sent; ++i) {
        CHECK(MPI_Pready(order[i], r[0]) == MPI_SUCCESS);
      }
    }
    for (int j = 0; round > 2 && j < received; ++j) {
      const int each = elements / received;
      for (flag = 0; !flag;) {
        CHECK(MPI_Parrived(r[1], j, &flag) == MPI_SUCCESS);
      }
      for (int i = j * each; i < (j + 1) * each; ++i) {
        CHECK(in[i] == value_at(last, round, i));
      }
    }
    CHECK(MPI_Waitall(2, r, status) == MPI_SUCCESS);
    CHECK(r[0] != MPI_REQUEST_NULL && r[1] != MPI_REQUEST_NULL);
    MPI_Get_count(&status[1], MPI_INT, &flag);
    CHECK(flag == elements && status[1].MPI_SOURCE == last && status[1].MPI_TAG == 5);
    for (int i = 0; i < elements; ++i) {
      CHECK(in[i] == value_at(last, round, i));
    }
    CHECK(MPI_Parrived(r[1], 0, &flag) == MPI_SUCCESS && flag == 1); /* inactive */
  }
  CHECK(MPI_Request_free(&r[0]) == MPI_SUCCESS && MPI_Request_free(&r[1]) == MPI_SUCCESS);
  CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
  free(out);
  free(in);
  free(order);
}

/* A receiver's partition has come as soon as the sender's that lie in it have. */
static void one_by_one(void) {
  int out[12], in[12], flag = 0;
  MPI_Request r[2];
  for (int i = 0; i < 12; ++i) {
    out[i] = 100 * rank + i;
  }
  MPI_Psend_init(out, 4, 3, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(in, 6, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  for (int round = 0; round < 3; ++round) {
    MPI_Startall(2, r);
    /* Partition 3 has elements 9 to 11: the receiver's last one, 10 and 11, but not 8 and 9. */
    CHECK(MPI_Pready(3, r[0]) == MPI_SUCCESS);
    for (flag = 0; !flag;) {
      MPI_Parrived(r[1], 5, &flag);
    }
    CHECK(in[10] == 100 * rank + 10 && in[11] == 100 * rank + 11);
    MPI_Parrived(r[1], 4, &flag);
    CHECK(flag == 0);
    CHECK(MPI_Pready(0, r[0]) == MPI_SUCCESS);
    for (flag = 0; !flag;) {
      MPI_Parrived(r[1], 0, &flag);
    }
    MPI_Parrived(r[1], 1, &flag);
    CHECK(flag == 0);
    MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
    CHECK(MPI_Pready_range(1, 2, r[0]) == MPI_SUCCESS);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 12; ++i) {
      CHECK(in[i] == out[i]);
    }
    memset(in, 0, sizeof in);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

/* Requests are paired by the order of their making, whatever the order of their starts; ordinary
 * messages of the same tag are not concerned. */
static void order_of_making(void) {
  enum { n = 5 };
  int out[n], in[n], word = -1, plain = 77;
  MPI_Request s[n], r[n], p;
  for (int i = 0; i < n; ++i) {
    const int tag = i == 2 ? 8 : 9;
    out[i] = 10 * rank + i;
    MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &s[i]);
  }
  /* The other tag first: the order holds for each tag. */
  MPI_Precv_init(&in[2], 1, 1, MPI_INT, last, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
  for (int i = 0; i < n; ++i) {
    if (i == 2) {
      continue;
    }
    MPI_Precv_init(&in[i], 1, 1, MPI_INT, last, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
  }
  MPI_Irecv(&word, 1, MPI_INT, last, MPI_ANY_TAG, MPI_COMM_WORLD, &p);
  for (int i = n - 1; i >= 0; --i) {
    MPI_Start(&s[i]);
    MPI_Pready(0, s[i]);
  }
  for (int i = 0; i < n; ++i) {
    MPI_Start(&r[i]);
  }
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
  MPI_Waitall(n, s, MPI_STATUSES_IGNORE);
  MPI_Send(&plain, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
  MPI_Wait(&p, MPI_STATUS_IGNORE);
  CHECK(word == 77);
  for (int i = 0; i < n; ++i) {
    CHECK(in[i] == 10 * last + i);
  }
  /* Some are never started. */
  for (int i = 0; i < n; ++i) {
    MPI_Request_free(&s[i]);
    MPI_Request_free(&r[i]);
  }
}

/* Derived datatypes: the sender's columns against the receiver's whole, and partitions that end
 * within one of the receiver's instances. */
static void datatypes(void) {
  enum { n = 12 };
  int matrix[n][n], columns[n * n], holes[2 * n * n];
  MPI_Datatype column, resized, pair, spread;
  MPI_Request r[3];
  MPI_Type_vector(n, 1, n, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &resized);
  MPI_Type_commit(&resized);
  MPI_Type_vector(9, 1, 2, MPI_INT, &spread); /* 9 elements at every other place */
  MPI_Type_create_resized(spread, 0, 18 * sizeof(int), &pair);
  MPI_Type_commit(&pair);
  MPI_Psend_init(matrix, n, 1, resized, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(columns, 9, 16, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Type_free(&column);
  MPI_Type_free(&resized);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n * n; ++i) {
      matrix[i / n][i % n] = value_at(rank, round, i);
    }
    MPI_Startall(2, r);
    for (int i = n - 1; i >= 0; --i) {
      MPI_Pready(i, r[0]);
    }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n * n; ++i) {
      CHECK(columns[i] == value_at(last, round, i % n * n + i / n));
    }
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  /* 12 partitions of 12 into 4 of 4 times 9: most end within an instance with holes. */
  MPI_Psend_init(matrix, n, n, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(holes, 4, 4, pair, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Type_free(&spread);
  MPI_Type_free(&pair);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2 * n * n; ++i) {
      holes[i] = -5;
    }
    for (int i = 0; i < n * n; ++i) {
      matrix[i / n][i % n] = value_at(rank, round, i);
    }
    MPI_Startall(2, r);
    MPI_Pready_range(6, n - 1, r[0]);
    MPI_Pready_range(0, 5, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n * n; ++i) {
      CHECK(holes[2 * i] == value_at(last, round, i) && holes[2 * i + 1] == -5);
    }
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

/* Nothing in a partition: it arrives when it is ready all the same. */
static void empty(void) {
  int flag = 0;
  MPI_Request r[2];
  MPI_Psend_init(NULL, 3, 0, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(NULL, 3, 0, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Startall(2, r);
  MPI_Pready(1, r[0]);
  while (!flag) {
    MPI_Parrived(r[1], 1, &flag);
  }
  MPI_Parrived(r[1], 0, &flag);
  CHECK(flag == 0);
  MPI_Parrived(r[1], 2, &flag);
  CHECK(flag == 0);
  MPI_Pready(0, r[0]);
  MPI_Pready(2, r[0]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  /* No partitions at all. */
  MPI_Psend_init(NULL, 0, 1, MPI_INT, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(NULL, 0, 1, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Startall(2, r);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

static void nobody(void) {
  int data[4] = {1, 2, 3, 4}, flag = 1;
  MPI_Request r[2];
  MPI_Status status;
  MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(data, 2, 2, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  for (int round = 0; round < 2; ++round) {
    MPI_Startall(2, r);
    MPI_Parrived(r[1], 1, &flag);
    CHECK(flag == 1);
    MPI_Pready_range(0, 2, r[0]);
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0);
    MPI_Pready(3, r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    CHECK(data[0] == 1 && data[3] == 4);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
}

/* A sender that waits for long partitions goes on while the receiver does something else; and a
 * receiver that was started first finds them. */
static void progress(void) {
  enum { parts = 3, each = 1 << 18 };
  char* data = malloc(parts * each);
  int word = 0;
  MPI_Request r;
  for (int round = 0; round < 2 && size > 1; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      if (round == 0) {
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      memset(data, 'a' + round, parts * each);
      MPI_Psend_init(data, parts, each, MPI_CHAR, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
      MPI_Start(&r);
      MPI_Pready_range(0, parts - 1, r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
      MPI_Request_free(&r);
    } else if (rank == 1) {
      MPI_Precv_init(data, 1, parts * each, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
      MPI_Start(&r);
      if (round == 0) {
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
      }
      /* Comes only when the partitions have gone. */
      MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      for (int i = 0; i < parts * each; ++i) {
        CHECK(data[i] == 'a' + round);
      }
      MPI_Request_free(&r);
    }
  }
  free(data);
}

/* --- threads --- */

enum { thread_parts = 64, thread_each = 96 };
static MPI_Request shared[2];
static int thread_out[thread_parts * thread_each], thread_in[thread_parts * thread_each];
static int thread_round;

static void* mark(void* which) {
  const int t = (int)(size_t)which;
  for (int i = t; i < thread_parts; i += threads) {
    for (int e = 0; e < thread_each; ++e) {
      thread_out[i * thread_each + e] = value_at(rank, thread_round, i * thread_each + e);
    }
    CHECK(MPI_Pready(i, shared[0]) == MPI_SUCCESS);
  }
  return NULL;
}

static void* look(void* which) {
  const int t = (int)(size_t)which, each = thread_parts * thread_each / 48;
  for (int j = t; j < 48; j += threads) {
    int flag = 0;
    while (!flag) {
      CHECK(MPI_Parrived(shared[1], j, &flag) == MPI_SUCCESS);
    }
    for (int i = j * each; i < (j + 1) * each; ++i) {
      CHECK(thread_in[i] == value_at(last, thread_round, i));
    }
  }
  return NULL;
}

static void by_threads(void) {
  MPI_Psend_init(thread_out, thread_parts, thread_each, MPI_INT, next, 4, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &shared[0]);
  MPI_Precv_init(thread_in, 48, thread_parts * thread_each / 48, MPI_INT, last, 4, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &shared[1]);
  for (thread_round = 0; thread_round < 20; ++thread_round) {
    pthread_t running[2 * threads];
    MPI_Startall(2, shared);
    for (int t = 0; t < threads; ++t) {
      CHECK(pthread_create(&running[t], NULL, mark, (void*)(size_t)t) == 0);
      CHECK(pthread_create(&running[threads + t], NULL, look, (void*)(size_t)t) == 0);
    }
    if (thread_round % 2 == 0) {
      MPI_Waitall(1, shared, MPI_STATUSES_IGNORE);
    }
    for (int t = 0; t < 2 * threads; ++t) {
      pthread_join(running[t], NULL);
    }
    MPI_Waitall(2, shared, MPI_STATUSES_IGNORE);
    for (int i = 0; i < thread_parts * thread_each; ++i) {
      CHECK(thread_in[i] == value_at(last, thread_round, i));
    }
  }
  MPI_Request_free(&shared[0]);
  MPI_Request_free(&shared[1]);
}

/* --- errors --- */

static void refused(void) {
  int data[6] = {0}, flag;
  const int list[] = {0, 7};
  MPI_Request s, r, kept, none = MPI_REQUEST_NULL;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &s), MPI_ERR_ARG,
               "number of partitions -1");
  EXPECT_ERROR(MPI_Psend_init(data, 1, 1, MPI_INT, 1, 0, comm, MPI_INFO_NULL, &s), MPI_ERR_RANK,
               "destination 1");
  EXPECT_ERROR(MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_INFO_NULL, &r),
               MPI_ERR_RANK, "one source");
  EXPECT_ERROR(MPI_Precv_init(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_INFO_NULL, &r),
               MPI_ERR_TAG, "one tag");
  MPI_Psend_init(data, 3, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &s);
  MPI_Precv_init(data + 3, 3, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &r);
  EXPECT_ERROR(MPI_Pready(0, s), MPI_ERR_REQUEST, "not active");
  MPI_Start(&s);
  MPI_Start(&r);
  EXPECT_ERROR(MPI_Start(&s), MPI_ERR_REQUEST, "active");
  EXPECT_ERROR(MPI_Pready(3, s), MPI_ERR_ARG, "the partition 3");
  EXPECT_ERROR(MPI_Pready(-1, s), MPI_ERR_ARG, "the partition -1");
  EXPECT_ERROR(MPI_Pready_range(2, 1, s), MPI_ERR_ARG, "ends at 1");
  EXPECT_ERROR(MPI_Pready_list(2, list, s), MPI_ERR_ARG, "the partition 7");
  EXPECT_ERROR(MPI_Pready(0, r), MPI_ERR_REQUEST, "MPI_Psend_init");
  EXPECT_ERROR(MPI_Pready(0, none), MPI_ERR_REQUEST, "MPI_REQUEST_NULL");
  EXPECT_ERROR(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST, "MPI_Precv_init");
  EXPECT_ERROR(MPI_Parrived(r, 3, &flag), MPI_ERR_ARG, "the partition 3");
  CHECK(MPI_Parrived(none, 0, &flag) == MPI_SUCCESS && flag == 1);
  MPI_Pready(0, s);
  EXPECT_ERROR(MPI_Pready(0, s), MPI_ERR_ARG, "marked ready already");
  kept = s;
  EXPECT_ERROR(MPI_Request_free(&s), MPI_ERR_REQUEST, "cannot be freed");
  EXPECT_ERROR(MPI_Cancel(&r), MPI_ERR_REQUEST, "cannot be cancelled");
  CHECK(s == kept);
  MPI_Pready_range(1, 2, s);
  MPI_Wait(&s, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT_ERROR(MPI_Pready(0, s), MPI_ERR_REQUEST, "not active");
  MPI_Request_free(&s);
  MPI_Request_free(&r);
  MPI_Comm_free(&comm);
}

/* More than there is room for; and less. */
static void lengths(void) {
  int data[6] = {0};
  MPI_Request s, r;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Psend_init(data, 2, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &s);
  MPI_Precv_init(data + 3, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &r);
  for (int round = 0; round < 2; ++round) {
    data[0] = 11 + round;
    data[4] = -1;
    MPI_Start(&s);
    MPI_Start(&r);
    MPI_Pready_range(0, 1, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    EXPECT_ERROR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE,
                 "the sender's have 8 bytes in all");
    CHECK(data[3] == 11 + round && data[4] == -1);
  }
  MPI_Request_free(&s);
  MPI_Request_free(&r);
  MPI_Psend_init(data, 1, 2, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &s);
  MPI_Precv_init(data + 3, 3, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &r);
  data[5] = -1;
  MPI_Start(&s);
  MPI_Start(&r);
  MPI_Comm_free(&comm); /* lives on until its requests are gone */
  MPI_Pready(0, s);
  MPI_Wait(&s, MPI_STATUS_IGNORE);
  CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(data[3] == data[0] && data[4] == data[1] && data[5] == -1);
  MPI_Request_free(&s);
  MPI_Request_free(&r);
}

/* Made and freed without a start, communicators too: nothing is left over. */
static void unused(void) {
  int data[2] = {0};
  for (int i = 0; i < 300; ++i) {
    MPI_Comm comm;
    MPI_Request r[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Precv_init(&data[1], 1, 1, MPI_INT, last, 0, comm, MPI_INFO_NULL, &r[1]);
    MPI_Psend_init(&data[0], 1, 1, MPI_INT, next, 0, comm, MPI_INFO_NULL, &r[0]);
    if (i % 2 == 0) {
      MPI_Startall(2, r);
      MPI_Pready(0, r[0]);
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Comm_free(&comm);
  }
}

int main(int argc, char** argv) {
  MPI_Comm own;
  const int wanted = argc > 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  last = (rank + size - 1) % size;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const int shapes[][3] = {{1, 1, 1},      {4, 4, 32},       {3, 7, 21},
                           {7, 3, 2100},   {1, 64, 6400},    {64, 1, 64},
                           {5, 8, 400000}, {128, 96, 38400}, {2, 3, 600000}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    ring(shapes[i][0], shapes[i][1], shapes[i][2], i % 2 == 0 ? MPI_COMM_WORLD : own);
  }
  MPI_Comm_free(&own);
  one_by_one();
  order_of_making();
  datatypes();
  empty();
  nobody();
  progress();
  if (level == MPI_THREAD_MULTIPLE) {
    by_threads();
  }
  unused();
  refused();
  lengths();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("partitioned: ok\n");
  }
  MPI_Finalize();
  return 0;
}
