// SPDX-License-Identifier: BSD-3-Clause
/* Events (MPI-5.0 section 15.3.8). */
#include "check.h"

struct seen {
  int calls;
  MPI_Count bytes, timestamp;
  int peer, tag, freed;
  MPI_T_cb_safety safety;
};
static MPI_Count lost;
struct message {
  MPI_Count bytes;
  int peer, tag;
};

static void on_message(MPI_T_event_instance event, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
  struct seen* s = user_data;
  struct message copy;
  int source = -1;
  MPI_Count now = 0;
  (void)registration;
  CHECK(MPI_T_event_read(event, 0, &s->bytes) == MPI_SUCCESS);
  CHECK(MPI_T_event_read(event, 1, &s->peer) == MPI_SUCCESS);
  CHECK(MPI_T_event_read(event, 2, &s->tag) == MPI_SUCCESS);
  CHECK(MPI_T_event_read(event, 3, &s->tag) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_event_copy(event, &copy) == MPI_SUCCESS);
  CHECK(copy.bytes == s->bytes && copy.peer == s->peer && copy.tag == s->tag);
  CHECK(MPI_T_event_get_source(event, &source) == MPI_SUCCESS && source == 0);
  CHECK(MPI_T_event_get_timestamp(event, &s->timestamp) == MPI_SUCCESS);
  CHECK(MPI_T_source_get_timestamp(0, &now) == MPI_SUCCESS && now >= s->timestamp);
  s->safety = safety;
  ++s->calls;
}

static void on_error(MPI_T_event_instance event, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void* user_data) {
  struct seen* s = user_data;
  (void)registration;
  CHECK(MPI_T_event_read(event, 0, &s->tag) == MPI_SUCCESS);
  s->safety = safety;
  ++s->calls;
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                       MPI_T_cb_safety safety, void* user_data) {
  (void)registration;
  (void)safety;
  CHECK(source == 0);
  (void)user_data;
  lost += count;
}
static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                    void* user_data) {
  (void)registration;
  CHECK(safety == MPI_T_CB_REQUIRE_NONE);
  ++((struct seen*)user_data)->freed;
}

static MPI_T_event_registration listen_to(const char* name) {
  MPI_T_event_registration registration;
  int index = -1;
  CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
  return registration;
}

static void what_they_are(void) {
  int count = 0, sources = 0;
  MPI_T_source_order order;
  MPI_Count ticks = 0, most = 0;
  CHECK(MPI_T_event_get_num(&count) == MPI_SUCCESS && count >= 3);
  CHECK(MPI_T_source_get_num(&sources) == MPI_SUCCESS && sources == 1);
  CHECK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &order, &ticks, &most, NULL) ==
        MPI_SUCCESS);
  CHECK(order == MPI_T_SOURCE_ORDERED && ticks == 1000000000 && most > 0);
  CHECK(MPI_T_source_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  for (int i = 0; i < count; ++i) {
    char name[64], about[256];
    int name_length = sizeof name, about_length = sizeof about, elements = 2, index = -1, bind;
    MPI_Datatype types[2];
    MPI_Aint places[2] = {-1, -1};
    MPI_Info info;
    CHECK(MPI_T_event_get_info(i, name, &name_length, NULL, types, places, &elements, NULL, &info,
                               about, &about_length, &bind) == MPI_SUCCESS);
    CHECK(elements >= 1 && places[0] == 0 && bind == MPI_T_BIND_NO_OBJECT);
    CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS && index == i);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
  }
}

static void unexpected_messages(void) {
  struct seen s = {0};
  char byte = 0, arrived;
  MPI_Request request;
  MPI_T_event_registration r = listen_to("sinew_p2p_arrived_unexpected");
  CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &s,
                                      on_message) == MPI_SUCCESS);
  MPI_Isend(&byte, 1, MPI_BYTE, 0, 77, MPI_COMM_SELF, &request);
  MPI_Probe(0, 77, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(s.calls == 1 && s.bytes == 1 && s.tag == 77 && s.peer == rank && s.timestamp > 0);
  MPI_Recv(&arrived, 1, MPI_BYTE, 0, 77, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* One that may do anything cannot be called now: the event is dropped. */
  CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, NULL) ==
        MPI_SUCCESS);
  CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &s, on_message) ==
        MPI_SUCCESS);
  CHECK(MPI_T_event_set_dropped_handler(r, on_dropped) == MPI_SUCCESS);
  MPI_Send(&byte, 1, MPI_BYTE, 0, 78, MPI_COMM_SELF);
  MPI_Probe(0, 78, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Recv(&byte, 1, MPI_BYTE, 0, 78, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(s.calls == 1 && lost == 1);
  CHECK(MPI_T_event_handle_free(r, &s, on_free) == MPI_SUCCESS && s.freed == 1);
  CHECK(MPI_T_event_handle_free(r, &s, on_free) == MPI_T_ERR_INVALID_HANDLE);
  MPI_Send(&byte, 1, MPI_BYTE, 0, 79, MPI_COMM_SELF);
  MPI_Recv(&byte, 1, MPI_BYTE, 0, 79, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(s.calls == 1);
}

static void rendezvous(void) {
  static char bytes[1 << 20];
  struct seen s = {0};
  MPI_Request request;
  MPI_T_event_registration r = listen_to("sinew_p2p_rendezvous_started");
  CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &s,
                                      on_message) == MPI_SUCCESS);
  MPI_Isend(bytes, sizeof bytes, MPI_BYTE, 0, 5, MPI_COMM_SELF, &request);
  CHECK(s.calls == 1 && s.bytes == sizeof bytes && s.tag == 5);
  CHECK(s.safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED);
  static char into[1 << 20];
  MPI_Recv(into, sizeof into, MPI_BYTE, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(MPI_T_event_handle_free(r, NULL, NULL) == MPI_SUCCESS);
}

static void errors(void) {
  struct seen s = {0};
  int size;
  MPI_T_event_registration r = listen_to("sinew_mpi_error");
  CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &s, on_error) ==
        MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_size(MPI_COMM_NULL, &size) == MPI_ERR_COMM);
  CHECK(s.calls == 1 && s.tag == MPI_ERR_COMM && s.safety == MPI_T_CB_REQUIRE_NONE);
  CHECK(MPI_T_event_handle_free(r, NULL, NULL) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  int provided;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  what_they_are();
  MPI_Init(&argc, &argv);
  unexpected_messages();
  rendezvous();
  errors();
  MPI_Finalize();
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return 0;
}
