// SPDX-License-Identifier: BSD-3-Clause
/* Performance variables (MPI-5.0 section 15.3.7): what matching has cost in one communicator. */
#include "check.h"

static unsigned long long read_variable(MPI_T_pvar_session session, const char* name, int kind,
                                        MPI_Comm comm) {
  int index = -1, count = 0;
  unsigned long long value = 0;
  MPI_T_pvar_handle handle;
  CHECK(MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count) == MPI_SUCCESS);
  CHECK(count == 1);
  CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
  CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
  return value;
}

static void names_are_told(void) {
  int count = 0, index = -1;
  CHECK(MPI_T_pvar_get_num(&count) == MPI_SUCCESS);
  CHECK(count >= 7);
  for (int i = 0; i < count; ++i) {
    char name[64] = "", desc[128] = "", cut[4] = "";
    int name_length = sizeof name, desc_length = sizeof desc, cut_length = sizeof cut;
    int verbosity, kind, bind, readonly, continuous, atomic, whole = 0;
    MPI_Datatype type;
    MPI_T_enum values;
    CHECK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &kind, &type, &values, desc,
                              &desc_length, &bind, &readonly, &continuous, &atomic) == MPI_SUCCESS);
    CHECK(name_length == (int)strlen(name) + 1 && desc_length == (int)strlen(desc) + 1);
    CHECK(readonly == continuous && atomic == !continuous);
    if (strncmp(name, "sinew_match_", 12) == 0) {
      CHECK(bind == MPI_T_BIND_MPI_COMM && readonly);
    }
    CHECK(type == MPI_UNSIGNED_LONG_LONG && values == MPI_T_ENUM_NULL);
    CHECK(MPI_T_pvar_get_info(i, cut, &cut_length, NULL, NULL, NULL, NULL, NULL, &whole, NULL, NULL,
                              NULL, NULL) == MPI_SUCCESS);
    CHECK(strcmp(cut, "sin") == 0 && cut_length == 4 && whole == desc_length);
    CHECK(MPI_T_pvar_get_index(name, kind, &index) == MPI_SUCCESS && index == i);
  }
  CHECK(MPI_T_pvar_get_index("sinew_none", MPI_T_PVAR_CLASS_LEVEL, &index) ==
        MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_pvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL) == MPI_T_ERR_INVALID_INDEX);
}

/* 40 receives are posted and matched, then 30 messages wait; all from the rank itself. */
static void queues_are_seen(MPI_T_pvar_session session) {
  enum { posted = 40, waiting = 30 };
  MPI_Request receives[posted], sends[waiting];
  MPI_Comm comm;
  char byte = 0, bytes[posted];
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  for (int i = 0; i < posted; ++i) {
    MPI_Irecv(&bytes[i], 1, MPI_BYTE, 0, i, comm, &receives[i]);
  }
  CHECK(read_variable(session, "sinew_match_posted", MPI_T_PVAR_CLASS_LEVEL, comm) == posted);
  for (int i = 0; i < posted; ++i) {
    MPI_Send(&byte, 1, MPI_BYTE, 0, i, comm);
  }
  MPI_Waitall(posted, receives, MPI_STATUSES_IGNORE);
  for (int i = 0; i < waiting; ++i) {
    MPI_Isend(&byte, 1, MPI_BYTE, 0, i, comm, &sends[i]);
  }
  MPI_Probe(0, waiting - 1, comm, MPI_STATUS_IGNORE);
  CHECK(read_variable(session, "sinew_match_unexpected", MPI_T_PVAR_CLASS_LEVEL, comm) == waiting);
  for (int i = 0; i < waiting; ++i) {
    MPI_Recv(&bytes[0], 1, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(waiting, sends, MPI_STATUSES_IGNORE);
  CHECK(read_variable(session, "sinew_match_most_posted", MPI_T_PVAR_CLASS_HIGHWATERMARK, comm) ==
        posted);
  CHECK(read_variable(session, "sinew_match_most_unexpected", MPI_T_PVAR_CLASS_HIGHWATERMARK,
                      comm) == waiting);
  CHECK(read_variable(session, "sinew_match_posted", MPI_T_PVAR_CLASS_LEVEL, comm) == 0);
  CHECK(read_variable(session, "sinew_match_searches", MPI_T_PVAR_CLASS_COUNTER, comm) >=
        2 * posted + waiting);
  CHECK(read_variable(session, "sinew_match_examined", MPI_T_PVAR_CLASS_COUNTER, comm) >=
        posted + waiting);
  CHECK(read_variable(session, "sinew_match_longest", MPI_T_PVAR_CLASS_HIGHWATERMARK, comm) >= 1);
  MPI_Comm_free(&comm);
}

static void wrong_handles_are_refused(MPI_T_pvar_session session) {
  MPI_T_pvar_session other;
  MPI_T_pvar_handle handle, not_ours;
  MPI_Comm comm;
  unsigned long long value;
  int count;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, 0, &comm, &handle, &count) == MPI_SUCCESS);
  not_ours = handle;
  CHECK(MPI_T_pvar_read(other, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_handle_free(other, &not_ours) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS && other == MPI_T_PVAR_SESSION_NULL);
  CHECK(MPI_T_pvar_read(other, handle, &value) == MPI_T_ERR_INVALID_SESSION);
  MPI_Comm_free(&comm);
  CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_handle_alloc(session, 1000, &comm, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
}

/* A name or index that is none says so. */
static void what_is_not_there(void) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_event_registration registration;
  int index = -1, count = -1;
  CHECK(MPI_T_cvar_get_index("no_such_variable", &index) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_cvar_get_index(NULL, &index) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_get_index("no_such_variable", NULL) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_category_get_index("no_such_category", &index) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_event_get_index("no_such_event", &index) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_cvar_get_info(100000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_cvar_read(handle, &count) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_cvar_handle_free(&handle) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_category_get_info(100000, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_category_get_cvars(-1, 1, &index) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_event_handle_alloc(100000, NULL, MPI_INFO_NULL, &registration) ==
        MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &count, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  MPI_T_pvar_session session;
  int provided;
  CHECK(MPI_T_pvar_get_num(&provided) == MPI_T_ERR_NOT_INITIALIZED);
  CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  names_are_told(); /* even before MPI_Init */
  what_is_not_there();
  MPI_Init(&argc, &argv);
  CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  queues_are_seen(session);
  wrong_handles_are_refused(session);
  CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
  MPI_Finalize();
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS); /* they are counted */
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_num(&provided) == MPI_SUCCESS);
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  CHECK(MPI_T_pvar_get_num(&provided) == MPI_T_ERR_NOT_INITIALIZED);
  return 0;
}
