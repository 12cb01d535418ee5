// SPDX-License-Identifier: BSD-3-Clause
/* What the letter of the standard does not give and programs have from other libraries: reductions
 * of MPI_CHAR, MPI_DATATYPE_NULL where there is no data, attribute keys that are freed twice; and
 * callbacks that fail. */
#include "check.h"

static int rank, size;

#define OK(call) CHECK((call) == MPI_SUCCESS)

/* --- reductions --- */

static void characters(void) {
  char mine[3] = {(char)(rank + 1), (char)(5 - rank), 'a'}, all[3] = {0, 0, 0};
  const char sum = (char)(size * (size + 1) / 2);
  OK(MPI_Allreduce(mine, all, 1, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD));
  CHECK(all[0] == sum);
  OK(MPI_Allreduce(mine, all, 3, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD));
  CHECK(all[0] == size && all[1] == 5 && all[2] == 'a');
  OK(MPI_Reduce(mine, all, 3, MPI_CHAR, MPI_MIN, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK(all[0] == 1 && all[1] == 6 - size && all[2] == 'a');
  OK(MPI_Scan(mine, all, 1, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD));
  CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
  OK(MPI_Exscan(mine, all, 1, MPI_CHAR, MPI_PROD, MPI_COMM_WORLD));
  if (rank == 1) CHECK(all[0] == 1);
  char *many = calloc((size_t)size, 1), one = 0;
  for (int i = 0; i < size; ++i) many[i] = (char)(i + 1);
  OK(MPI_Reduce_scatter_block(many, &one, 1, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD));
  CHECK(one == size * (rank + 1));
  int* counts = calloc((size_t)size, sizeof *counts);
  for (int i = 0; i < size; ++i) counts[i] = 1;
  OK(MPI_Reduce_scatter(many, &one, counts, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD));
  CHECK(one == rank + 1);
  free(counts);
  free(many);
  char in[2] = {12, 0}, out[2] = {10, 3};
  OK(MPI_Reduce_local(in, out, 2, MPI_CHAR, MPI_BAND));
  CHECK(out[0] == 8 && out[1] == 0);
  OK(MPI_Reduce_local(in, out, 2, MPI_CHAR, MPI_LOR));
  CHECK(out[0] == 1 && out[1] == 0);
  OK(MPI_Reduce_local(in, out, 1, MPI_CHAR, MPI_BXOR));
  CHECK(out[0] == 13);
  OK(MPI_Reduce_local(in, out, 1, MPI_CHAR, MPI_LAND));
  OK(MPI_Reduce_local(in, out, 1, MPI_CHAR, MPI_LXOR));
  CHECK(out[0] == 0);
}

/* Characters of text stay what the standard and the others make of them. */
static void texts(void) {
  char in[64] = {0}, out[64] = {0};
  EXPECT_ERROR(MPI_Reduce_local(in, out, 1, MPI_CHARACTER, MPI_SUM), MPI_ERR_OP, "MPI_CHARACTER");
  EXPECT_ERROR(MPI_Reduce_local(in, out, 1, MPI_WCHAR, MPI_MAX), MPI_ERR_OP, "MPI_WCHAR");
  EXPECT_ERROR(MPI_Reduce_local(in, out, 1, MPI_BYTE, MPI_SUM), MPI_ERR_OP, "MPI_BYTE");
  EXPECT_ERROR(MPI_Reduce_local(in, out, 1, MPI_CHAR, MPI_MINLOC), MPI_ERR_OP, "MPI_CHAR");
}

/* Fortran's pairs, and its widest types. */
static void fortran(void) {
  float f[2] = {3, 7}, g[2] = {2, 9};
  double d[2] = {3, 7}, e[2] = {3, 2};
  OK(MPI_Reduce_local(f, g, 1, MPI_2REAL, MPI_MAXLOC));
  CHECK(g[0] == 3 && g[1] == 7);
  OK(MPI_Reduce_local(d, e, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC));
  CHECK(e[0] == 3 && e[1] == 2);
  MPI_Count lower = 0, extent = 0;
  int bytes = 0;
  OK(MPI_Type_get_extent_c(MPI_2DOUBLE_PRECISION, &lower, &extent));
  OK(MPI_Type_size(MPI_2REAL, &bytes));
  CHECK(lower == 0 && extent == 16 && bytes == 8);
#ifdef __SIZEOF_INT128__
  __extension__ __int128 a = 5, b = -7;
  OK(MPI_Reduce_local(&a, &b, 1, MPI_INTEGER16, MPI_SUM));
  CHECK(b == -2);
#endif
#ifdef __SIZEOF_FLOAT128__
  __extension__ __float128 z[2] = {1, 2}, w[2] = {3, -4};
  OK(MPI_Reduce_local(z, w, 1, MPI_COMPLEX32, MPI_PROD));
  CHECK(w[0] == 11 && w[1] == 2);
#endif
}

/* --- no data, no type --- */

static void no_data(void) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Request r[8];
  MPI_Status s;
  MPI_Message m = MPI_MESSAGE_NO_PROC;
  int word = 0;
  OK(MPI_Recv(NULL, 0, none, MPI_PROC_NULL, 0, w, &s));
  CHECK(s.MPI_SOURCE == MPI_PROC_NULL);
  OK(MPI_Send(NULL, 0, none, MPI_PROC_NULL, 0, w));
  OK(MPI_Ssend(NULL, 0, none, MPI_PROC_NULL, 0, w));
  OK(MPI_Rsend(NULL, 0, none, MPI_PROC_NULL, 0, w));
  OK(MPI_Bsend(NULL, 0, none, MPI_PROC_NULL, 0, w));
  OK(MPI_Irecv(NULL, 0, none, MPI_PROC_NULL, 0, w, &r[0]));
  OK(MPI_Isend(NULL, 0, none, MPI_PROC_NULL, 0, w, &r[1]));
  OK(MPI_Issend(NULL, 0, none, MPI_PROC_NULL, 0, w, &r[2]));
  OK(MPI_Recv_init(NULL, 0, none, MPI_PROC_NULL, 0, w, &r[3]));
  OK(MPI_Send_init(NULL, 0, none, MPI_PROC_NULL, 0, w, &r[4]));
  OK(MPI_Startall(2, &r[3]));
  OK(MPI_Isendrecv(NULL, 0, none, MPI_PROC_NULL, 0, NULL, 0, none, MPI_PROC_NULL, 0, w, &r[5]));
  OK(MPI_Imrecv(NULL, 0, none, &m, &r[6]));
  OK(MPI_Waitall(7, r, MPI_STATUSES_IGNORE));
  OK(MPI_Request_free(&r[3]));
  OK(MPI_Request_free(&r[4]));
  m = MPI_MESSAGE_NO_PROC;
  OK(MPI_Mrecv(NULL, 0, none, &m, &s));
  OK(MPI_Sendrecv(NULL, 0, none, MPI_PROC_NULL, 0, NULL, 0, none, MPI_PROC_NULL, 0, w, &s));
  OK(MPI_Sendrecv_replace(NULL, 0, none, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, w, &s));
  /* One side of a shift at the edge. */
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  const int down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  OK(MPI_Sendrecv(&rank, up == MPI_PROC_NULL ? 0 : 1, up == MPI_PROC_NULL ? none : MPI_INT, up, 1,
                  &word, down == MPI_PROC_NULL ? 0 : 1, down == MPI_PROC_NULL ? none : MPI_INT,
                  down, 1, w, &s));
  CHECK(down == MPI_PROC_NULL || word == down);
  /* Empty messages and collectives, too. */
  OK(MPI_Irecv(NULL, 0, none, rank, 2, w, &r[0]));
  OK(MPI_Send(NULL, 0, none, rank, 2, w));
  OK(MPI_Wait(&r[0], &s));
  OK(MPI_Bcast(NULL, 0, none, 0, w));
  int* zeros = calloc((size_t)size, sizeof *zeros);
  MPI_Datatype* types = malloc((size_t)size * sizeof *types);
  for (int i = 0; i < size; ++i) types[i] = none;
  OK(MPI_Alltoallw(NULL, zeros, zeros, types, NULL, zeros, zeros, types, w));
  free(types);
  free(zeros);
  /* Data of no type is still an error. */
  EXPECT_ERROR(MPI_Recv(&word, 1, none, MPI_PROC_NULL, 0, w, &s), MPI_ERR_TYPE, "DATATYPE_NULL");
  EXPECT_ERROR(MPI_Bcast(&word, 1, none, 0, w), MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
}

/* --- keys --- */

static int deleted = 0, key = MPI_KEYVAL_INVALID, type_key = MPI_KEYVAL_INVALID;

static int delete_comm(MPI_Comm comm, int k, void* value, void* extra) {
  int again = k;
  (void)comm, (void)value, (void)extra;
  ++deleted;
  return MPI_Comm_free_keyval(&again);
}

static int delete_type(MPI_Datatype type, int k, void* value, void* extra) {
  int again = k;
  (void)type, (void)value, (void)extra;
  ++deleted;
  return MPI_Type_free_keyval(&again);
}

static void keys(void) {
  MPI_Comm a, b;
  MPI_Datatype type;
  int copy = 0, flag = 0;
  void* found = NULL;
  OK(MPI_Comm_dup(MPI_COMM_SELF, &a));
  OK(MPI_Comm_dup(MPI_COMM_SELF, &b));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, NULL));
  OK(MPI_Comm_set_attr(a, key, &rank));
  OK(MPI_Comm_set_attr(b, key, &size));
  copy = key;
  OK(MPI_Comm_free_keyval(&copy));
  CHECK(copy == MPI_KEYVAL_INVALID);
  copy = key;
  OK(MPI_Comm_free_keyval(&copy));
  OK(MPI_Comm_get_attr(a, key, &found, &flag));
  CHECK(flag && found == &rank);
  OK(MPI_Comm_set_attr(a, key, &size)); /* deletes the old value */
  CHECK(deleted == 1);
  OK(MPI_Comm_delete_attr(a, key));
  CHECK(deleted == 2);
  OK(MPI_Comm_free(&b));
  CHECK(deleted == 3);
  EXPECT_ERROR(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL, "no attribute key");
  OK(MPI_Comm_free(&a));
  OK(MPI_Type_dup(MPI_INT, &type));
  OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &type_key, NULL));
  OK(MPI_Type_set_attr(type, type_key, &rank));
  copy = type_key;
  OK(MPI_Type_free_keyval(&copy));
  OK(MPI_Type_free(&type));
  CHECK(deleted == 4);
  EXPECT_ERROR(MPI_Type_free_keyval(&type_key), MPI_ERR_KEYVAL, "no attribute key");
}

/* --- callbacks that fail --- */

enum { own_code = MPI_ERR_OTHER };
static int refusing;

static int refuse_comm(MPI_Comm comm, int k, void* value, void* extra) {
  (void)comm, (void)k, (void)value, (void)extra;
  return refusing ? own_code : MPI_SUCCESS;
}

static int refuse_win(MPI_Win win, int k, void* value, void* extra) {
  (void)win, (void)k, (void)value, (void)extra;
  return refusing ? own_code : MPI_SUCCESS;
}

static int refuse_type(MPI_Datatype type, int k, void* value, void* extra) {
  (void)type, (void)k, (void)value, (void)extra;
  return refusing ? own_code : MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm old, int k, void* extra, void* in, void* out, int* flag) {
  (void)old, (void)k, (void)extra, (void)in, (void)out;
  *flag = 0;
  return own_code;
}

static void wrong_handler(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  fprintf(stderr, "the error %d went to the handler of another communicator\n", *code);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define REFUSED(call)                                    \
  do {                                                   \
    refusing = 1;                                        \
    EXPECT_ERROR(call, own_code, "of attribute key");    \
    refusing = 0;                                        \
  } while (0)

/* The handler of the object decides, and the object stays. */
static void failing_callbacks(void) {
  int k = 0, copied = 0, win_key = 0, type_key = 0, n = 0;
  MPI_Errhandler wrong;
  MPI_Comm comm, twin;
  MPI_Request request;
  MPI_Win win;
  MPI_Datatype type;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_comm, &k, NULL));
  OK(MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &copied, NULL));
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, refuse_win, &win_key, NULL));
  OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, refuse_type, &type_key, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* with MPI_ERRORS_RETURN */
  OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  OK(MPI_Type_dup(MPI_INT, &type));
  OK(MPI_Type_set_attr(type, type_key, &rank)); /* types have the handler of MPI_COMM_SELF */
  REFUSED(MPI_Type_set_attr(type, type_key, &rank));
  REFUSED(MPI_Type_delete_attr(type, type_key));
  REFUSED(MPI_Type_free(&type));
  OK(MPI_Type_free(&type));
  OK(MPI_Comm_create_errhandler(wrong_handler, &wrong));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, wrong));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, wrong));
  OK(MPI_Win_set_attr(win, win_key, &rank));
  REFUSED(MPI_Win_set_attr(win, win_key, &rank));
  REFUSED(MPI_Win_delete_attr(win, win_key));
  REFUSED(MPI_Win_free(&win));
  OK(MPI_Win_free(&win));
  OK(MPI_Comm_set_attr(comm, copied, &rank));
  REFUSED(MPI_Comm_dup(comm, &twin));
  REFUSED(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &twin));
  REFUSED(MPI_Comm_idup(comm, &twin, &request));
  OK(MPI_Comm_delete_attr(comm, copied));
  OK(MPI_Comm_set_attr(comm, k, &rank));
  REFUSED(MPI_Comm_set_attr(comm, k, &rank));
  REFUSED(MPI_Comm_delete_attr(comm, k));
  REFUSED(MPI_Comm_free(&comm));
  if (rank == 0) REFUSED(MPI_Comm_disconnect(&comm)); /* the others wait for its second try */
  OK(MPI_Comm_disconnect(&comm));
  CHECK(comm == MPI_COMM_NULL);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Errhandler_free(&wrong));
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, k, &rank));
  REFUSED(MPI_Finalize());
  OK(MPI_Finalized(&n));
  CHECK(!n);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  characters();
  texts();
  fortran();
  no_data();
  keys();
  failing_callbacks();
  MPI_Finalize();
  return 0;
}
