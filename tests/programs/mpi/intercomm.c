// SPDX-License-Identifier: BSD-3-Clause
/* Communicators between two groups: how they are made, what they know, messages in them, and what
 * is refused. With one rank only what is refused. */
#include "check.h"

static int rank, size, side;
static MPI_Comm half, inter;

static int color_of(int r) { return r % 2; }
static int size_of(int g) { return (size + 1 - g) / 2; }

static int deleted;
static int deletes(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)state;
  deleted += *(int*)value;
  return MPI_SUCCESS;
}

/* What the standard says of it, of any intercommunicator with these groups. */
static void expect_sides(MPI_Comm comm, int locals, int remotes) {
  int n = -1, r = -1, far = -1, flag = -1, both = -1;
  MPI_Group near_group, far_group, common;
  MPI_Comm_test_inter(comm, &flag);
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &r);
  MPI_Comm_remote_size(comm, &far);
  CHECK(flag == 1 && n == locals && far == remotes && r >= 0 && r < n);
  MPI_Comm_group(comm, &near_group);
  MPI_Comm_remote_group(comm, &far_group);
  MPI_Group_intersection(near_group, far_group, &common);
  MPI_Group_size(common, &both);
  CHECK(both == 0);
  MPI_Group_size(far_group, &both);
  CHECK(both == remotes);
  if (common != MPI_GROUP_EMPTY) {
    MPI_Group_free(&common);
  }
  MPI_Group_free(&near_group);
  MPI_Group_free(&far_group);
}

/* Everybody sends its number to every rank of the remote group, in every way. */
static void messages(MPI_Comm comm) {
  int r, far, word, flag = 0;
  MPI_Status status;
  MPI_Message message;
  MPI_Request requests[2];
  MPI_Comm_rank(comm, &r);
  MPI_Comm_remote_size(comm, &far);
  for (int k = 0; k < far; ++k) {
    MPI_Isend(&r, 1, MPI_INT, k, 5, comm, &requests[0]);
    MPI_Recv(&word, 1, MPI_INT, k, 5, comm, &status);
    CHECK(word == k && status.MPI_SOURCE == k);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(&word, 1, MPI_INT, k, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Issend(&r, 1, MPI_INT, k, 6, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(word == k);
  }
  MPI_Barrier(comm);
  for (int k = 0; k < far; ++k) {
    MPI_Send(&r, 1, MPI_INT, k, 7, comm);
  }
  int seen = 0;
  for (int k = 0; k < far; ++k) {
    MPI_Mprobe(MPI_ANY_SOURCE, 7, comm, &message, &status);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(word == status.MPI_SOURCE);
    seen += word;
  }
  CHECK(seen == far * (far - 1) / 2);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  CHECK(MPI_Sendrecv(&r, 1, MPI_INT, MPI_PROC_NULL, 1, &word, 1, MPI_INT, MPI_PROC_NULL, 1, comm,
                     &status) == MPI_SUCCESS &&
        status.MPI_SOURCE == MPI_PROC_NULL);
}

static void duplicates(void) {
  MPI_Comm twin, late;
  MPI_Request request;
  int key, value = 1, relation, *found, flag = 0, length;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, deletes, &key, NULL);
  MPI_Comm_set_attr(inter, key, &value);
  MPI_Comm_set_name(inter, "between");
  MPI_Comm_dup(inter, &twin);
  MPI_Comm_get_attr(twin, key, &found, &flag);
  CHECK(flag && *found == 1);
  MPI_Comm_get_name(inter, name, &length);
  CHECK(strcmp(name, "between") == 0);
  MPI_Comm_compare(inter, twin, &relation);
  CHECK(relation == MPI_CONGRUENT);
  MPI_Comm_compare(inter, half, &relation);
  CHECK(relation == MPI_UNEQUAL);
  CHECK(MPI_Comm_idup(twin, &late, &request) == MPI_SUCCESS);
  expect_sides(late, size_of(side), size_of(!side)); /* also while it is not complete */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  messages(late);
  messages(twin);
  MPI_Comm_disconnect(&late);
  CHECK(late == MPI_COMM_NULL);
  MPI_Comm_free(&twin);
  CHECK(deleted == 2);
  MPI_Comm_delete_attr(inter, key);
  MPI_Comm_free_keyval(&key);
}

static void merged(void) {
  for (int high = 0; high < 3; ++high) { /* 2: both say the same */
    MPI_Comm one;
    int r, n, mine, sum = 0;
    MPI_Comm_rank(half, &mine);
    MPI_Intercomm_merge(inter, high == 2 ? 1 : side == high, &one);
    MPI_Comm_rank(one, &r);
    MPI_Comm_size(one, &n);
    CHECK(n == size);
    if (high < 2) {
      CHECK(r == (side == high ? size_of(!side) + mine : mine));
    }
    MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, one);
    CHECK(sum == n * (n - 1) / 2);
    MPI_Comm_free(&one);
  }
}

static void parts(void) {
  MPI_Comm made;
  MPI_Group mine, first;
  int r, zero = 0, n;
  MPI_Comm_rank(half, &r);
  /* The first two of each group, the second ones first. */
  MPI_Comm_split(inter, r < 2 ? 4 : MPI_UNDEFINED, -r, &made);
  CHECK((made == MPI_COMM_NULL) == (r >= 2));
  if (made != MPI_COMM_NULL) {
    const int near = size_of(side) < 2 ? size_of(side) : 2;
    expect_sides(made, near, size_of(!side) < 2 ? size_of(!side) : 2);
    MPI_Comm_rank(made, &n);
    CHECK(n == near - 1 - r);
    messages(made);
    MPI_Comm_free(&made);
  }
  MPI_Comm_split(inter, side, 0, &made); /* no colour on both sides */
  CHECK(made == MPI_COMM_NULL);
  MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &n);
  CHECK(made != MPI_COMM_NULL || n < size); /* of several nodes one may have one side only */
  MPI_Comm_free(&node);
  if (made != MPI_COMM_NULL) {
    messages(made);
    MPI_Comm_free(&made);
  }
  MPI_Comm_group(inter, &mine);
  MPI_Group_incl(mine, 1, &zero, &first);
  MPI_Comm_create(inter, first, &made);
  CHECK((made == MPI_COMM_NULL) == (r != 0));
  if (made != MPI_COMM_NULL) {
    expect_sides(made, 1, 1);
    messages(made);
    MPI_Comm_free(&made);
  }
  MPI_Comm_create(inter, side == 0 ? first : MPI_GROUP_EMPTY, &made);
  CHECK(made == MPI_COMM_NULL);
  MPI_Group_free(&first);
  MPI_Group_free(&mine);
}

static void from_groups(void) {
  MPI_Group world, groups[2];
  int members[2][64];
  MPI_Comm made;
  for (int r = 0; r < size; ++r) {
    members[color_of(r)][r / 2] = r;
  }
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int g = 0; g < 2; ++g) {
    MPI_Group_incl(world, size_of(g), members[g], &groups[g]);
  }
  CHECK(MPI_Intercomm_create_from_groups(groups[side], size_of(side) - 1, groups[!side],
                                         size_of(!side) - 1, "test", MPI_INFO_NULL,
                                         MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
  expect_sides(made, size_of(side), size_of(!side));
  messages(made);
  MPI_Comm_free(&made);
  CHECK(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, MPI_GROUP_EMPTY, 0, "nobody",
                                         MPI_INFO_NULL, MPI_ERRORS_RETURN, &made) == MPI_SUCCESS);
  CHECK(made == MPI_COMM_NULL);
  for (int g = 0; g < 2; ++g) {
    MPI_Group_free(&groups[g]);
  }
  MPI_Group_free(&world);
}

static int handled;
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)code;
  handled += *comm == inter;
}

static void refused(void) {
  int word = 0, one[64] = {0}, period = 0;
  MPI_Comm made;
  MPI_Win win;
  MPI_File file;
  MPI_Request request;
  MPI_Errhandler count;
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Scan(&word, one, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM, "one group");
  EXPECT_ERROR(MPI_Iexscan(&word, one, 1, MPI_INT, MPI_SUM, inter, &request), MPI_ERR_COMM,
               "one group");
  EXPECT_ERROR(MPI_Allreduce(MPI_IN_PLACE, one, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER,
               "MPI_IN_PLACE");
  EXPECT_ERROR(MPI_Bcast(&word, 1, MPI_INT, 1000, inter), MPI_ERR_ROOT, "the root 1000");
  EXPECT_ERROR(MPI_Send(&word, 1, MPI_INT, size_of(!side), 1, inter), MPI_ERR_RANK,
               "the destination");
  EXPECT_ERROR(MPI_Cart_create(inter, 1, &size, &period, 0, &made), MPI_ERR_COMM, "one group");
  EXPECT_ERROR(MPI_Win_create(&word, 4, 1, MPI_INFO_NULL, inter, &win), MPI_ERR_COMM, "one group");
  EXPECT_ERROR(MPI_File_open(inter, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_COMM,
               "one group");
  MPI_Comm_create_errhandler(handler, &count);
  MPI_Comm_set_errhandler(inter, count);
  MPI_Send(&word, 1, MPI_INT, 1000, 1, inter);
  CHECK(handled == 1);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&count);
}

/* Groups with a rank in common; a leader's bad argument is told to its group. */
static void bad_groups(void) {
  MPI_Comm made = MPI_COMM_NULL, twin;
  int relation = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
  EXPECT_ERROR(MPI_Intercomm_create(twin, size, twin, 0, 1, &made), MPI_ERR_RANK, "local leader");
  int code = MPI_Intercomm_create(twin, 0, twin, size + 3, 1, &made);
  CHECK(code != MPI_SUCCESS && made == MPI_COMM_NULL);
  if (rank == 0) {
    EXPECT_ERROR(code, MPI_ERR_RANK, "remote leader");
  }
  EXPECT_ERROR(MPI_Comm_remote_size(twin, &relation), MPI_ERR_COMM, "no intercommunicator");
  EXPECT_ERROR(MPI_Intercomm_merge(twin, 0, &made), MPI_ERR_COMM, "no intercommunicator");
  MPI_Comm_free(&twin);
}

/* The leaders may know each other by a communicator between two groups. */
static void from_another(void) {
  MPI_Comm made;
  CHECK(MPI_Intercomm_create(half, 0, inter, 0, 11, &made) == MPI_SUCCESS);
  expect_sides(made, size_of(side), size_of(!side));
  messages(made);
  MPI_Comm_free(&made);
}

static void often(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm made, one;
    MPI_Comm_dup(inter, &made);
    MPI_Intercomm_merge(made, side, &one);
    MPI_Comm_free(&made);
    MPI_Comm_free(&one);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bad_groups();
  if (size >= 2) {
    side = color_of(rank);
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    CHECK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 9, &inter) == MPI_SUCCESS);
    expect_sides(inter, size_of(side), size_of(!side));
    messages(inter);
    duplicates();
    merged();
    parts();
    from_groups();
    from_another();
    refused();
    often(argc > 1 ? atoi(argv[1]) : 300);
    messages(inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
  }
  MPI_Finalize();
  return 0;
}
