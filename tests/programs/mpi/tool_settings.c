// SPDX-License-Identifier: BSD-3-Clause
/* Control variables, their enumerations, and categories (MPI-5.0 sections 15.3.6 and 15.3.9). */
#include "check.h"

static int cvar(const char* name) {
  int index = -1;
  CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
  return index;
}

static MPI_T_cvar_handle open_cvar(const char* name, int expected_count) {
  MPI_T_cvar_handle handle;
  int count = 0;
  CHECK(MPI_T_cvar_handle_alloc(cvar(name), NULL, &handle, &count) == MPI_SUCCESS);
  CHECK(count == expected_count);
  return handle;
}

static void each_tells_what_it_is(void) {
  int count = 0;
  CHECK(MPI_T_cvar_get_num(&count) == MPI_SUCCESS && count >= 20);
  for (int i = 0; i < count; ++i) {
    char name[64] = "", about[512] = "", text[256];
    int name_length = sizeof name, about_length = sizeof about;
    int verbosity, bind, scope, values = 0, index = -1, length = 0;
    MPI_Datatype type;
    MPI_T_enum choices;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &choices, about,
                              &about_length, &bind, &scope) == MPI_SUCCESS);
    CHECK(name_length == (int)strlen(name) + 1 && strncmp(name, "SINEW_", 6) == 0);
    CHECK(about_length > 1 && about_length < (int)sizeof about);
    CHECK(bind == MPI_T_BIND_NO_OBJECT);
    CHECK(scope == MPI_T_SCOPE_LOCAL || scope == MPI_T_SCOPE_ALL_EQ);
    CHECK(type == MPI_INT || type == MPI_COUNT || type == MPI_DOUBLE || type == MPI_CHAR);
    CHECK((type == MPI_INT) == (choices != MPI_T_ENUM_NULL));
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
    CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &values) == MPI_SUCCESS);
    CHECK(values == (type == MPI_CHAR ? (int)sizeof text : 1));
    CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS);
    if (choices != MPI_T_ENUM_NULL) {
      int items = 0, value = -1;
      CHECK(MPI_T_enum_get_info(choices, &items, NULL, &length) == MPI_SUCCESS && length > 1);
      CHECK(items >= 2);
      CHECK(MPI_T_enum_get_item(choices, items - 1, &value, NULL, &length) == MPI_SUCCESS);
      CHECK(value == items - 1);
      CHECK(MPI_T_enum_get_item(choices, items, &value, NULL, &length) == MPI_T_ERR_INVALID_ITEM);
    }
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
  }
}

/* Before MPI_Init all can be written, within their range; the environment does not undo it. */
static void written_before(void) {
  MPI_T_cvar_handle eager = open_cvar("SINEW_P2P_EAGER_LIMIT", 1);
  MPI_Count bytes = 64, now = 0;
  CHECK(MPI_T_cvar_write(eager, &bytes) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_read(eager, &now) == MPI_SUCCESS && now == 64);
  bytes = -1;
  CHECK(MPI_T_cvar_write(eager, &bytes) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_read(eager, &now) == MPI_SUCCESS && now == 64);
  CHECK(MPI_T_cvar_handle_free(&eager) == MPI_SUCCESS);
}

/* 100 bytes are longer than what was written, so they are pushed or go by rendezvous. */
static unsigned long long rendezvous_of_100_bytes(void) {
  int index, count;
  unsigned long long sent = 0;
  char bytes[100] = {0}, arrived[100];
  MPI_Request request;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_Comm self = MPI_COMM_SELF;
  CHECK(MPI_T_pvar_get_index("sinew_p2p_rendezvous", MPI_T_PVAR_CLASS_COUNTER, &index) ==
        MPI_SUCCESS);
  CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_handle_alloc(session, index, &self, &handle, &count) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_start(session, handle) == MPI_SUCCESS);
  MPI_Isend(bytes, sizeof bytes, MPI_BYTE, 0, 0, self, &request);
  MPI_Recv(arrived, sizeof arrived, MPI_BYTE, 0, 0, self, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(MPI_T_pvar_read(session, handle, &sent) == MPI_SUCCESS);
  CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
  return sent;
}

static void written_after(void) {
  MPI_T_cvar_handle eager = open_cvar("SINEW_P2P_EAGER_LIMIT", 1);
  MPI_T_cvar_handle hang = open_cvar("SINEW_CORE_HANG_TIMEOUT", 1);
  MPI_T_cvar_handle stats = open_cvar("SINEW_MATCH_STATS", 1);
  MPI_T_cvar_handle engine = open_cvar("SINEW_MATCH_ENGINE", 1);
  MPI_Count bytes = 128;
  double seconds = 33.25, now = 0;
  int off = 0, list = 1, wrong = 99, value = -1;
  CHECK(MPI_T_cvar_read(eager, &bytes) == MPI_SUCCESS && bytes == 64);
  CHECK(MPI_T_cvar_write(eager, &bytes) == MPI_T_ERR_CVAR_SET_NOT_NOW);
  CHECK(MPI_T_cvar_write(hang, &seconds) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_read(hang, &now) == MPI_SUCCESS && now == seconds);
  CHECK(MPI_T_cvar_write(stats, &off) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_write(stats, &wrong) == MPI_T_ERR_INVALID);
  CHECK(MPI_T_cvar_write(engine, &list) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_read(engine, &value) == MPI_SUCCESS && value == list);
  CHECK(MPI_T_cvar_handle_free(&eager) == MPI_SUCCESS);
  CHECK(MPI_T_cvar_read(eager, &bytes) == MPI_T_ERR_INVALID_HANDLE);
}

static void modules_are_categories(void) {
  int count = 0, stamp = -1, again = -2, cvars, pvars, inner, events, index, held[64];
  CHECK(MPI_T_category_get_num(&count) == MPI_SUCCESS && count > 5);
  CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS);
  CHECK(MPI_T_category_changed(&again) == MPI_SUCCESS && again == stamp);
  CHECK(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, &cvars, &pvars, &inner) == MPI_SUCCESS);
  CHECK(cvars == 0 && pvars == 0 && inner == count - 1);
  CHECK(MPI_T_category_get_categories(0, 2, held) == MPI_SUCCESS && held[0] == 1 && held[1] == 2);
  CHECK(MPI_T_category_get_index("sinew_p2p", &index) == MPI_SUCCESS);
  CHECK(MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, &cvars, &pvars, &inner) ==
        MPI_SUCCESS);
  CHECK(MPI_T_category_get_num_events(index, &events) == MPI_SUCCESS);
  CHECK(cvars == 5 && pvars == 7 && inner == 0 && events == 2);
  CHECK(MPI_T_category_get_cvars(index, 64, held) == MPI_SUCCESS);
  int found = 0;
  for (int i = 0; i < cvars; ++i) {
    found += held[i] == cvar("SINEW_P2P_EAGER_LIMIT");
  }
  CHECK(found == 1);
  CHECK(MPI_T_category_get_pvars(index, 64, held) == MPI_SUCCESS);
  CHECK(MPI_T_category_get_events(index, 64, held) == MPI_SUCCESS && held[0] == 0);
}

int main(int argc, char** argv) {
  int provided;
  CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
  each_tells_what_it_is();
  written_before();
  MPI_Init(&argc, &argv);
  written_after();
  CHECK(rendezvous_of_100_bytes() == 1);
  modules_are_categories();
  MPI_Finalize();
  each_tells_what_it_is();
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return 0;
}
