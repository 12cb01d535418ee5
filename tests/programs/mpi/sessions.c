// SPDX-License-Identifier: BSD-3-Clause
/* Sessions: before MPI_Init, beside it, and after MPI_Finalize; several at once; communicators from
 * process sets; their buffers and error handlers. */
#include "check.h"

static int calls, last_class;
static MPI_Session last_session = MPI_SESSION_NULL;

static void note(MPI_Session* session, int* code, ...) {
  ++calls;
  last_session = *session;
  MPI_Error_class(*code, &last_class);
}

/* The error handlers of the world are not there outside MPI_Init and MPI_Finalize. */
#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static MPI_Session opened(void) {
  MPI_Session session = MPI_SESSION_NULL;
  REQUIRE(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  REQUIRE(session != MPI_SESSION_NULL);
  return session;
}

static MPI_Comm comm_of(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  REQUIRE(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
  REQUIRE(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
          MPI_SUCCESS);
  REQUIRE(MPI_Group_free(&group) == MPI_SUCCESS);
  return comm;
}

static void expect_works(MPI_Comm comm) {
  int n = 0, rank = -1, sum = -1, got = -1;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &rank);
  REQUIRE(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  REQUIRE(sum == n * (n - 1) / 2);
  REQUIRE(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n, 3, &got, 1, MPI_INT, (rank + n - 1) % n,
                       3, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  REQUIRE(got == (rank + n - 1) % n);
}

static void expect_flags(int initialized, int finalized) {
  int flag = -1;
  MPI_Initialized(&flag);
  REQUIRE(flag == initialized);
  MPI_Finalized(&flag);
  REQUIRE(flag == finalized);
}

static void process_sets(MPI_Session session) {
  int n = 0, seen = 0;
  REQUIRE(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n) == MPI_SUCCESS && n >= 3);
  for (int i = 0; i < n; ++i) {
    char name[100] = "", part[4], value[20];
    int length = 0, short_length = 4, size = 0, flag = 0, room = 20;
    MPI_Info info;
    MPI_Group group;
    REQUIRE(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL) == MPI_SUCCESS);
    REQUIRE(length > 1 && length <= 100);
    const int whole = length;
    REQUIRE(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name) == MPI_SUCCESS);
    REQUIRE(length == whole && (int)strlen(name) == whole - 1);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &short_length, part);
    REQUIRE(short_length == whole && strlen(part) == 3 && strncmp(part, name, 3) == 0);
    seen += strcmp(name, "mpi://WORLD") == 0 || strcmp(name, "mpi://SELF") == 0 ||
            strcmp(name, "sinew://NODE") == 0;
    REQUIRE(MPI_Session_get_pset_info(session, name, &info) == MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_size", &room, value, &flag);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_size(group, &size);
    REQUIRE(flag && atoi(value) == size);
    MPI_Group_free(&group);
  }
  REQUIRE(seen == 3);
}

static void errors(MPI_Session session) {
  int length = 0, n = 0;
  MPI_Group group;
  MPI_Errhandler handler, before;
  MPI_Session null = MPI_SESSION_NULL;
  REQUIRE(MPI_Session_create_errhandler(note, &handler) == MPI_SUCCESS);
  MPI_Session_get_errhandler(session, &before);
  REQUIRE(before == MPI_ERRORS_RETURN);
  MPI_Session_set_errhandler(session, handler);
  calls = 0;
  REQUIRE(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group) != MPI_SUCCESS);
  REQUIRE(calls == 1 && last_class == MPI_ERR_ARG && last_session == session);
  REQUIRE(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &length, NULL) != MPI_SUCCESS);
  REQUIRE(calls == 2);
  MPI_Session_call_errhandler(session, MPI_ERR_TAG);
  REQUIRE(calls == 3 && last_class == MPI_ERR_TAG);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  EXPECT_ERROR(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group), MPI_ERR_ARG,
               "there is no process set \"mpi://NOBODY\"");
  int finalized = 0, initialized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) {  /* else MPI_COMM_SELF's handler is the fatal one */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    EXPECT_ERROR(MPI_Session_get_num_psets(null, MPI_INFO_NULL, &n), MPI_ERR_SESSION,
                 "MPI_SESSION_NULL");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  }
}

/* A buffered send takes the session's memory, also on what is made of its communicators. */
static void buffers(MPI_Session session) {
  static char memory[4096], other[100];
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "buffers"), twin;
  int rank, n, word = 7, got = 0;
  void* back = NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  MPI_Comm_dup(comm, &twin);
  EXPECT_ERROR(MPI_Bsend(&word, 1, MPI_INT, 0, 1, twin), MPI_ERR_BUFFER, "no buffer is attached");
  REQUIRE(MPI_Session_attach_buffer(session, memory, sizeof memory) == MPI_SUCCESS);
  REQUIRE(MPI_Session_attach_buffer(session, other, sizeof other) != MPI_SUCCESS);
  REQUIRE(MPI_Bsend(&word, 1, MPI_INT, (rank + 1) % n, 1, twin) == MPI_SUCCESS);
  REQUIRE(MPI_Recv(&got, 1, MPI_INT, (rank + n - 1) % n, 1, twin, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
  REQUIRE(got == 7);
  REQUIRE(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
  REQUIRE(MPI_Session_iflush_buffer(session, &request) == MPI_SUCCESS);
  REQUIRE(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  int size = 0;
  REQUIRE(MPI_Session_detach_buffer(session, &back, &size) == MPI_SUCCESS);
  REQUIRE(back == memory && size == (int)sizeof memory);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&comm);
}

static void several(void) {
  enum { many = 5 };
  MPI_Session sessions[many];
  MPI_Comm comms[many];
  char tag[20];
  for (int i = 0; i < many; ++i) sessions[i] = opened();
  for (int i = 0; i < many; ++i) {
    snprintf(tag, sizeof tag, "library %d", i);
    comms[i] = comm_of(sessions[i], i % 2 == 0 ? "mpi://WORLD" : "sinew://NODE", tag);
  }
  for (int i = many - 1; i >= 0; --i) expect_works(comms[i]);
  for (int i = 0; i < many; ++i) {
    MPI_Comm_disconnect(&comms[i]);
    REQUIRE(MPI_Session_finalize(&sessions[i]) == MPI_SUCCESS);
    REQUIRE(sessions[i] == MPI_SESSION_NULL);
  }
}

/* Nothing grows: contexts and handles of what is gone are used again. */
static void often(MPI_Session session, int rounds) {
  MPI_Comm world = comm_of(session, "mpi://WORLD", "often");
  MPI_Group group;
  MPI_Comm_group(world, &group);
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm comm;
    REQUIRE(MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
            MPI_SUCCESS);
    MPI_Comm_free(&comm);
    MPI_Session one = opened();
    MPI_Session_finalize(&one);
  }
  MPI_Group_free(&group);
  MPI_Comm_free(&world);
}

static void level(MPI_Session session) {
  char value[40];
  int flag = 0, room = sizeof value;
  MPI_Info info;
  REQUIRE(MPI_Session_get_info(session, &info) == MPI_SUCCESS);
  MPI_Info_get_string(info, "thread_level", &room, value, &flag);
  REQUIRE(flag && strncmp(value, "MPI_THREAD_", 11) == 0);
  room = sizeof value;
  MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, value, &flag);
  REQUIRE(flag && strcmp(value, "mpi,system") == 0);
  MPI_Info_free(&info);
}

static void all(void) {
  MPI_Session session = opened();
  process_sets(session);
  level(session);
  errors(session);
  buffers(session);
  several();
  often(session, 200);
  REQUIRE(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* The handler that is given decides, also for errors of the making itself. */
static void errors_of_making(void) {
  char tag[2048], text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Session s = opened();
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_WORLD;
  REQUIRE(MPI_Group_from_session_pset(s, "mpi://SELF", &group) == MPI_SUCCESS);
  memset(tag, 'x', sizeof tag - 1);
  tag[sizeof tag - 1] = '\0';
  const int code =
      MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Error_string(code, text, &length);
  REQUIRE(code == MPI_ERR_ARG && comm == MPI_COMM_NULL && strstr(text, "string tag") != NULL);
  MPI_Group_free(&group);
  MPI_Session_finalize(&s);
}

int main(int argc, char** argv) {
  expect_flags(0, 0);
  all();
  all();  /* the library has been left in between */
  expect_flags(0, 0);
  if (argc > 1) return 0;  /* a program without MPI_Init */
  MPI_Session early = opened(), late = MPI_SESSION_NULL;
  MPI_Comm from_early = comm_of(early, "mpi://WORLD", "early");
  int provided = -1;
  REQUIRE(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
  REQUIRE(provided == MPI_THREAD_MULTIPLE);
  expect_flags(1, 0);
  expect_works(MPI_COMM_WORLD);
  expect_works(from_early);
  MPI_Comm_free(&from_early);
  MPI_Session_finalize(&early);
  expect_works(MPI_COMM_WORLD);
  errors_of_making();
  all();
  late = opened();
  MPI_Comm from_late = comm_of(late, "mpi://WORLD", "late");
  REQUIRE(MPI_Finalize() == MPI_SUCCESS);
  expect_flags(1, 1);
  expect_works(from_late);
  MPI_Comm_free(&from_late);
  REQUIRE(MPI_Session_finalize(&late) == MPI_SUCCESS);
  all();
  expect_flags(1, 1);
  return 0;
}
