// SPDX-License-Identifier: BSD-3-Clause
/* Wrong arguments give the right class and a sentence that names the values. Any rank count. */
#include "check.h"

static void bad_arguments(void) {
  int x = 0, size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_ERROR(MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK, "destination");
  EXPECT_ERROR(MPI_Send(&x, 1, MPI_INT, -7, 0, MPI_COMM_WORLD), MPI_ERR_RANK, "-7");
  EXPECT_ERROR(MPI_Recv(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK,
               "source");
  EXPECT_ERROR(MPI_Send(&x, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG, "-5");
  EXPECT_ERROR(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, "-1");
  EXPECT_ERROR(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, "null");
  MPI_Request none;
  EXPECT_ERROR(MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "request");
  EXPECT_ERROR(MPI_Isend(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &none), MPI_ERR_BUFFER, "null");
  EXPECT_ERROR(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "NULL");
  EXPECT_ERROR(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM, "MPI_COMM_NULL");
  EXPECT_ERROR(MPI_Bcast(&x, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT, "root");
  EXPECT_ERROR(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD),
               MPI_ERR_OP, "MPI_OP_NULL");
  EXPECT_ERROR(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD),
               MPI_ERR_OP, "MPI_FLOAT");
}

static void stale_handles(void) {
  int x = 0;
  MPI_Comm comm, old_comm;
  MPI_Datatype type, old_type;
  MPI_Group group, old_group;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  old_comm = comm;
  MPI_Comm_free(&comm);
  CHECK(comm == MPI_COMM_NULL);
  EXPECT_ERROR(MPI_Barrier(old_comm), MPI_ERR_COMM, "freed");
  MPI_Type_contiguous(3, MPI_INT, &type);
  EXPECT_ERROR(MPI_Send(&x, 0, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "committed");
  old_type = type;
  MPI_Type_free(&type);
  EXPECT_ERROR(MPI_Type_commit(&old_type), MPI_ERR_TYPE, "freed");
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  old_group = group;
  MPI_Group_free(&group);
  EXPECT_ERROR(MPI_Group_size(old_group, &x), MPI_ERR_GROUP, "freed");
  EXPECT_ERROR(MPI_Comm_size((MPI_Comm)old_group, &x), MPI_ERR_COMM, "freed");
  MPI_Datatype predefined = MPI_INT;
  EXPECT_ERROR(MPI_Type_free(&predefined), MPI_ERR_TYPE, "MPI_INT");
}

static void truncation(void) {
  int out[200] = {0}, in[100], rank = 0;
  MPI_Status status;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Isend(out, 200, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);
  const int code = MPI_Recv(in, 100, MPI_INT, rank, 7, MPI_COMM_WORLD, &status);
  EXPECT_ERROR(code, MPI_ERR_TRUNCATE, "tag 7");
  EXPECT_ERROR(code, MPI_ERR_TRUNCATE, "800");
  EXPECT_ERROR(code, MPI_ERR_TRUNCATE, "400");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int refuse_to_copy(MPI_Comm old, int key, void* extra, void* in, void* out, int* flag) {
  (void)old, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  return MPI_ERR_OTHER;
}

static int refuse_to_copy_type(MPI_Datatype old, int key, void* extra, void* in, void* out,
                               int* flag) {
  (void)old, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  return MPI_ERR_OTHER;
}

/* Programs for MPI-3 set a handler for MPI_COMM_WORLD alone: it is that of types, too. */
static void handler_of_what_has_none(void) {
  MPI_Datatype stale = MPI_INT;
  CHECK(MPI_Type_dup(MPI_INT, &stale) == MPI_SUCCESS);
  MPI_Datatype copy = stale;
  MPI_Type_free(&copy);
  CHECK(MPI_Type_commit(&stale) != MPI_SUCCESS);
}

static void nothing_made_by_a_failure(void) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm self, twin = MPI_COMM_WORLD;
  MPI_Comm_create_keyval(refuse_to_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(self, key, NULL);
  CHECK(MPI_Comm_dup(self, &twin) != MPI_SUCCESS && twin == MPI_COMM_NULL);
  MPI_Comm_free(&self);
  MPI_Comm_free_keyval(&key);
  MPI_Datatype pair, copy = MPI_INT;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_keyval(refuse_to_copy_type, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  MPI_Type_set_attr(pair, key, NULL);
  CHECK(MPI_Type_dup(pair, &copy) != MPI_SUCCESS && copy == MPI_DATATYPE_NULL);
  MPI_Type_free(&pair);
  MPI_Type_free_keyval(&key);
}

static int calls = 0;
static void count_call(MPI_Comm* comm, int* code, ...) {
  int error_class = 0;
  MPI_Error_class(*code, &error_class);
  CHECK(*comm == MPI_COMM_SELF && error_class == MPI_ERR_TAG);
  ++calls;
}

static void own_handler(void) {
  MPI_Errhandler handler, got;
  int x = 0;
  MPI_Comm_create_errhandler(count_call, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
  CHECK(got == handler);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  CHECK(handler == MPI_ERRHANDLER_NULL);
  (void)MPI_Send(&x, 1, MPI_INT, 0, -9, MPI_COMM_SELF);
  CHECK(calls == 1);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void forgive(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  *code = MPI_SUCCESS;
}

/* The code that a handler leaves is what the call returns. */
static void forgiven(void) {
  MPI_Errhandler handler;
  int x = 0;
  MPI_Comm_create_errhandler(forgive, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
  CHECK(MPI_Send(&x, 1, MPI_INT, 0, -9, MPI_COMM_SELF) == MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void own_classes(void) {
  int error_class = 0, code = 0, found = 0, length = 0, flag = 0;
  int* last = NULL;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&error_class);
  MPI_Add_error_code(error_class, &code);
  MPI_Add_error_string(code, "the milk is off");
  MPI_Error_class(code, &found);
  CHECK(found == error_class && error_class > MPI_ERR_LASTCODE);
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "the milk is off") == 0 && length == 15);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last == code);
}

/* Where the library has no class for it, it is an argument. */
static void a_null_errhandler(void) {
  int error_class = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int code = MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL);
  MPI_Error_class(code, &error_class);
  MPI_Error_string(error_class, text, &length);
  CHECK(error_class == MPI_ERR_ARG || strstr(text, "MPI_ERR_ERRHANDLER") != NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  handler_of_what_has_none();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  nothing_made_by_a_failure();
  bad_arguments();
  stale_handles();
  truncation();
  own_handler();
  forgiven();
  own_classes();
  a_null_errhandler();
  MPI_Finalize();
  return 0;
}
