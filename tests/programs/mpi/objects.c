// SPDX-License-Identifier: BSD-3-Clause
/* Communicators, groups, attributes, info objects: any rank count. */
#include "check.h"

static int rank, size;

static int deleted = 0;
static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  (void)extra;
  deleted += *(int*)value;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key = 0, value = 5, flag = 0;
  int* got = NULL;
  MPI_Comm copy;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, key, &got, &flag);
  CHECK(flag && got == &value);
  MPI_Comm_free(&copy);
  CHECK(deleted == 5);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  CHECK(deleted == 10);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag);
  CHECK(!flag);
  MPI_Comm_free_keyval(&key);
  CHECK(key == MPI_KEYVAL_INVALID);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &got, &flag);
  CHECK(flag && *got >= 32767);
}

static void infos(void) {
  MPI_Info info, copy;
  char value[32], key[MPI_MAX_INFO_KEY];
  int n = 0, flag = 0, length = sizeof value;
  MPI_Info_create(&info);
  MPI_Info_set(info, "apple", "red");
  MPI_Info_set(info, "pear", "green");
  MPI_Info_set(info, "apple", "yellow");
  MPI_Info_dup(info, &copy);
  MPI_Info_get_nkeys(copy, &n);
  CHECK(n == 2);
  MPI_Info_get_nthkey(copy, 1, key);
  CHECK(strcmp(key, "pear") == 0);
  MPI_Info_get_string(copy, "apple", &length, value, &flag);
  CHECK(flag && strcmp(value, "yellow") == 0 && length == 7);
  MPI_Info_delete(copy, "apple");
  MPI_Info_get_string(copy, "apple", &length, value, &flag);
  CHECK(!flag);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  CHECK(info == MPI_INFO_NULL);
}

static void groups(void) {
  MPI_Group world, odd, rest, all;
  int range[1][3] = {{1, size - 1, 2}};
  int n = 0, mine = 0, result = 0, zero = 0, there = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (size > 1) {
    MPI_Group_range_incl(world, 1, range, &odd);
    MPI_Group_size(odd, &n);
    CHECK(n == size / 2);
    MPI_Group_rank(odd, &mine);
    CHECK(mine == (rank % 2 ? rank / 2 : MPI_UNDEFINED));
    MPI_Group_difference(world, odd, &rest);
    MPI_Group_union(rest, odd, &all);
    MPI_Group_compare(world, all, &result);
    CHECK(result == (size == 2 ? MPI_IDENT : MPI_SIMILAR));
    MPI_Group_translate_ranks(odd, 1, &zero, world, &there);
    CHECK(there == 1);
    MPI_Group_free(&odd);
    MPI_Group_free(&rest);
    MPI_Group_free(&all);
  }
  MPI_Group_free(&world);
}

static void communicators(void) {
  MPI_Comm half, node, none;
  int n = 0, r = 0, sum = 0, result = 0, length = 0;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_size(half, &n);
  MPI_Comm_rank(half, &r);
  CHECK(n == (size + 1 - rank % 2) / 2);
  CHECK(r == n - 1 - rank / 2); /* the key turns the order round */
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
  CHECK(sum == n * (n - 1) + (rank % 2) * n);
  MPI_Comm_compare(half, MPI_COMM_WORLD, &result);
  CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
  MPI_Comm_set_name(half, "half");
  MPI_Comm_get_name(half, name, &length);
  CHECK(strcmp(name, "half") == 0 && length == 4);
  CHECK(MPI_Comm_fromint(MPI_Comm_toint(half)) == half);
  MPI_Comm_free(&half);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &n);
  CHECK(n == size || (on_several_nodes() && n < size));
  MPI_Comm_free(&node);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 1 : MPI_UNDEFINED, 0, &none);
  CHECK((none == MPI_COMM_NULL) == (rank != 0));
  if (rank == 0) MPI_Comm_free(&none);
}

/* A communicator may be freed while a receive on it is under way. */
static void freed_in_use(void) {
  MPI_Comm copy;
  MPI_Request request;
  int in = -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 3, copy, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 3, copy);
  MPI_Comm_free(&copy);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == (rank + size - 1) % size);
}

int main(int argc, char** argv) {
  int key = 0, flag = 0;
  static int value = 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  attributes();
  infos();
  groups();
  communicators();
  freed_in_use();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
  MPI_Finalize();
  MPI_Finalized(&flag);
  return flag && deleted == 110 ? 0 : 1;
}
