// Made by abi/mpi/generate; do not edit.
#include "abi/mpi/face.hpp"
#include "abi/mpi/generated/impl.hpp"

using namespace sinew::mpi;

#pragma GCC visibility push(default)
extern "C" {

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  try {
    note("MPI_T_enum_get_info");
    return impl::T_enum_get_info(enumtype, num, name, name_len);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_enum_get_info"),
    gnu::visibility("default")]] int MPI_T_enum_get_info(MPI_T_enum enumtype, int* num, char* name,
    int* name_len);

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  try {
    note("MPI_T_enum_get_item");
    return impl::T_enum_get_item(enumtype, index, value, name, name_len);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_enum_get_item"),
    gnu::visibility("default")]] int MPI_T_enum_get_item(MPI_T_enum enumtype, int index,
    int* value, char* name, int* name_len);

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info* info_used) {
  try {
    note("MPI_T_event_callback_get_info");
    return impl::T_event_callback_get_info(event_registration, cb_safety, info_used);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_callback_get_info"),
    gnu::visibility("default")]] int MPI_T_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info* info_used);

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info info) {
  try {
    note("MPI_T_event_callback_set_info");
    return impl::T_event_callback_set_info(event_registration, cb_safety, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_callback_set_info"),
    gnu::visibility("default")]] int MPI_T_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info);

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  try {
    note("MPI_T_event_copy");
    return impl::T_event_copy(event_instance, buffer);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_copy"),
    gnu::visibility("default")]] int MPI_T_event_copy(MPI_T_event_instance event_instance,
    void* buffer);

int PMPI_T_event_get_index(const char* name, int* event_index) {
  try {
    note("MPI_T_event_get_index");
    return impl::T_event_get_index(name, event_index);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_get_index"),
    gnu::visibility("default")]] int MPI_T_event_get_index(const char* name, int* event_index);

int PMPI_T_event_get_info(int event_index, char* name, int* name_len, int* verbosity,
    MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int* num_elements,
    MPI_T_enum* enumtype, MPI_Info* info, char* desc, int* desc_len, int* bind) {
  try {
    note("MPI_T_event_get_info");
    return impl::T_event_get_info(event_index, name, name_len, verbosity, array_of_datatypes, array_of_displacements, num_elements, enumtype, info, desc, desc_len, bind);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_get_info"),
    gnu::visibility("default")]] int MPI_T_event_get_info(int event_index, char* name,
    int* name_len, int* verbosity, MPI_Datatype array_of_datatypes[],
    MPI_Aint array_of_displacements[], int* num_elements, MPI_T_enum* enumtype, MPI_Info* info,
    char* desc, int* desc_len, int* bind);

int PMPI_T_event_get_num(int* num_events) {
  try {
    note("MPI_T_event_get_num");
    return impl::T_event_get_num(num_events);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_get_num"),
    gnu::visibility("default")]] int MPI_T_event_get_num(int* num_events);

int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  try {
    note("MPI_T_event_get_source");
    return impl::T_event_get_source(event_instance, source_index);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_get_source"),
    gnu::visibility("default")]] int MPI_T_event_get_source(MPI_T_event_instance event_instance,
    int* source_index);

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  try {
    note("MPI_T_event_get_timestamp");
    return impl::T_event_get_timestamp(event_instance, event_timestamp);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_get_timestamp"),
    gnu::visibility("default")]] int MPI_T_event_get_timestamp(MPI_T_event_instance event_instance,
    MPI_Count* event_timestamp);

int PMPI_T_event_handle_alloc(int event_index, void* obj_handle, MPI_Info info,
    MPI_T_event_registration* event_registration) {
  try {
    note("MPI_T_event_handle_alloc");
    return impl::T_event_handle_alloc(event_index, obj_handle, info, event_registration);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_handle_alloc"),
    gnu::visibility("default")]] int MPI_T_event_handle_alloc(int event_index, void* obj_handle,
    MPI_Info info, MPI_T_event_registration* event_registration);

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
    MPI_T_event_free_cb_function free_cb_function) {
  try {
    note("MPI_T_event_handle_free");
    return impl::T_event_handle_free(event_registration, user_data, free_cb_function);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_handle_free"),
    gnu::visibility("default")]] int MPI_T_event_handle_free(MPI_T_event_registration event_registration, void* user_data, MPI_T_event_free_cb_function free_cb_function);

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used) {
  try {
    note("MPI_T_event_handle_get_info");
    return impl::T_event_handle_get_info(event_registration, info_used);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_handle_get_info"),
    gnu::visibility("default")]] int MPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used);

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
  try {
    note("MPI_T_event_handle_set_info");
    return impl::T_event_handle_set_info(event_registration, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_handle_set_info"),
    gnu::visibility("default")]] int MPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info);

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  try {
    note("MPI_T_event_read");
    return impl::T_event_read(event_instance, element_index, buffer);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_read"),
    gnu::visibility("default")]] int MPI_T_event_read(MPI_T_event_instance event_instance,
    int element_index, void* buffer);

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
    MPI_T_event_cb_function event_cb_function) {
  try {
    note("MPI_T_event_register_callback");
    return impl::T_event_register_callback(event_registration, cb_safety, info, user_data, event_cb_function);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_register_callback"),
    gnu::visibility("default")]] int MPI_T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data, MPI_T_event_cb_function event_cb_function);

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
    MPI_T_event_dropped_cb_function dropped_cb_function) {
  try {
    note("MPI_T_event_set_dropped_handler");
    return impl::T_event_set_dropped_handler(event_registration, dropped_cb_function);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_event_set_dropped_handler"),
    gnu::visibility("default")]] int MPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration, MPI_T_event_dropped_cb_function dropped_cb_function);

int PMPI_T_finalize(void) {
  try {
    note("MPI_T_finalize");
    return impl::T_finalize();
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_finalize"), gnu::visibility("default")]] int MPI_T_finalize(void);

int PMPI_T_init_thread(int required, int* provided) {
  try {
    note("MPI_T_init_thread");
    return impl::T_init_thread(required, provided);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_init_thread"),
    gnu::visibility("default")]] int MPI_T_init_thread(int required, int* provided);

int PMPI_T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  try {
    note("MPI_T_pvar_get_index");
    return impl::T_pvar_get_index(name, var_class, pvar_index);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_get_index"),
    gnu::visibility("default")]] int MPI_T_pvar_get_index(const char* name, int var_class,
    int* pvar_index);

int PMPI_T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
    int* readonly, int* continuous, int* atomic) {
  try {
    note("MPI_T_pvar_get_info");
    return impl::T_pvar_get_info(pvar_index, name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len, bind, readonly, continuous, atomic);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_get_info"),
    gnu::visibility("default")]] int MPI_T_pvar_get_info(int pvar_index, char* name, int* name_len,
    int* verbosity, int* var_class, MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc,
    int* desc_len, int* bind, int* readonly, int* continuous, int* atomic);

int PMPI_T_pvar_get_num(int* num_pvar) {
  try {
    note("MPI_T_pvar_get_num");
    return impl::T_pvar_get_num(num_pvar);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_get_num"),
    gnu::visibility("default")]] int MPI_T_pvar_get_num(int* num_pvar);

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle,
    MPI_T_pvar_handle* handle, int* count) {
  try {
    note("MPI_T_pvar_handle_alloc");
    return impl::T_pvar_handle_alloc(pe_session, pvar_index, obj_handle, handle, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_handle_alloc"),
    gnu::visibility("default")]] int MPI_T_pvar_handle_alloc(MPI_T_pvar_session pe_session,
    int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle, int* count);

int PMPI_T_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle) {
  try {
    note("MPI_T_pvar_handle_free");
    return impl::T_pvar_handle_free(pe_session, handle);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_handle_free"),
    gnu::visibility("default")]] int MPI_T_pvar_handle_free(MPI_T_pvar_session pe_session,
    MPI_T_pvar_handle* handle);

int PMPI_T_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  try {
    note("MPI_T_pvar_read");
    return impl::T_pvar_read(pe_session, handle, buf);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_read"),
    gnu::visibility("default")]] int MPI_T_pvar_read(MPI_T_pvar_session pe_session,
    MPI_T_pvar_handle handle, void* buf);

int PMPI_T_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  try {
    note("MPI_T_pvar_readreset");
    return impl::T_pvar_readreset(pe_session, handle, buf);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_readreset"),
    gnu::visibility("default")]] int MPI_T_pvar_readreset(MPI_T_pvar_session pe_session,
    MPI_T_pvar_handle handle, void* buf);

int PMPI_T_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  try {
    note("MPI_T_pvar_reset");
    return impl::T_pvar_reset(pe_session, handle);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_reset"),
    gnu::visibility("default")]] int MPI_T_pvar_reset(MPI_T_pvar_session pe_session,
    MPI_T_pvar_handle handle);

int PMPI_T_pvar_session_create(MPI_T_pvar_session* pe_session) {
  try {
    note("MPI_T_pvar_session_create");
    return impl::T_pvar_session_create(pe_session);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_session_create"),
    gnu::visibility("default")]] int MPI_T_pvar_session_create(MPI_T_pvar_session* pe_session);

int PMPI_T_pvar_session_free(MPI_T_pvar_session* pe_session) {
  try {
    note("MPI_T_pvar_session_free");
    return impl::T_pvar_session_free(pe_session);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_session_free"),
    gnu::visibility("default")]] int MPI_T_pvar_session_free(MPI_T_pvar_session* pe_session);

int PMPI_T_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  try {
    note("MPI_T_pvar_start");
    return impl::T_pvar_start(pe_session, handle);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_start"),
    gnu::visibility("default")]] int MPI_T_pvar_start(MPI_T_pvar_session pe_session,
    MPI_T_pvar_handle handle);

int PMPI_T_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  try {
    note("MPI_T_pvar_stop");
    return impl::T_pvar_stop(pe_session, handle);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_stop"),
    gnu::visibility("default")]] int MPI_T_pvar_stop(MPI_T_pvar_session pe_session,
    MPI_T_pvar_handle handle);

int PMPI_T_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf) {
  try {
    note("MPI_T_pvar_write");
    return impl::T_pvar_write(pe_session, handle, buf);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_pvar_write"),
    gnu::visibility("default")]] int MPI_T_pvar_write(MPI_T_pvar_session pe_session,
    MPI_T_pvar_handle handle, const void* buf);

int PMPI_T_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
    MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
    MPI_Info* info) {
  try {
    note("MPI_T_source_get_info");
    return impl::T_source_get_info(source_index, name, name_len, desc, desc_len, ordering, ticks_per_second, max_ticks, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_source_get_info"),
    gnu::visibility("default")]] int MPI_T_source_get_info(int source_index, char* name,
    int* name_len, char* desc, int* desc_len, MPI_T_source_order* ordering,
    MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info);

int PMPI_T_source_get_num(int* num_sources) {
  try {
    note("MPI_T_source_get_num");
    return impl::T_source_get_num(num_sources);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_source_get_num"),
    gnu::visibility("default")]] int MPI_T_source_get_num(int* num_sources);

int PMPI_T_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  try {
    note("MPI_T_source_get_timestamp");
    return impl::T_source_get_timestamp(source_index, timestamp);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_T_source_get_timestamp"),
    gnu::visibility("default")]] int MPI_T_source_get_timestamp(int source_index,
    MPI_Count* timestamp);

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  try {
    enter("MPI_Test");
    return impl::Test(request, flag, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Test"),
    gnu::visibility("default")]] int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);

int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  try {
    enter("MPI_Test_cancelled");
    return impl::Test_cancelled(status, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Test_cancelled"),
    gnu::visibility("default")]] int MPI_Test_cancelled(const MPI_Status* status, int* flag);

int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag,
    MPI_Status* array_of_statuses) {
  try {
    enter("MPI_Testall");
    return impl::Testall(count, array_of_requests, flag, array_of_statuses);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Testall"), gnu::visibility("default")]] int MPI_Testall(int count,
    MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses);

int PMPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
    MPI_Status* status) {
  try {
    enter("MPI_Testany");
    return impl::Testany(count, array_of_requests, index, flag, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Testany"), gnu::visibility("default")]] int MPI_Testany(int count,
    MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status);

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount,
    int array_of_indices[], MPI_Status* array_of_statuses) {
  try {
    enter("MPI_Testsome");
    return impl::Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Testsome"),
    gnu::visibility("default")]] int MPI_Testsome(int incount, MPI_Request array_of_requests[],
    int* outcount, int array_of_indices[], MPI_Status* array_of_statuses);

int PMPI_Topo_test(MPI_Comm comm, int* status) {
  try {
    enter("MPI_Topo_test");
    return impl::Topo_test(comm, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Topo_test"),
    gnu::visibility("default")]] int MPI_Topo_test(MPI_Comm comm, int* status);

int PMPI_Type_commit(MPI_Datatype* datatype) {
  try {
    enter("MPI_Type_commit");
    return impl::Type_commit(datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_commit"),
    gnu::visibility("default")]] int MPI_Type_commit(MPI_Datatype* datatype);

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_contiguous");
    return impl::Type_contiguous(count, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_contiguous"),
    gnu::visibility("default")]] int MPI_Type_contiguous(int count, MPI_Datatype oldtype,
    MPI_Datatype* newtype);

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_contiguous_c");
    return impl::Type_contiguous(count, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_contiguous_c"),
    gnu::visibility("default")]] int MPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype,
    MPI_Datatype* newtype);

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
    int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_darray");
    const widened<MPI_Count> array_of_gsizes_wide(array_of_gsizes, ndims);
    return impl::Type_create_darray(size, rank, ndims, array_of_gsizes_wide.data(), array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_darray"),
    gnu::visibility("default")]] int MPI_Type_create_darray(int size, int rank, int ndims,
    const int array_of_gsizes[], const int array_of_distribs[], const int array_of_dargs[],
    const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
    int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_darray_c");
    return impl::Type_create_darray(size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_darray_c"),
    gnu::visibility("default")]] int MPI_Type_create_darray_c(int size, int rank, int ndims,
    const MPI_Count array_of_gsizes[], const int array_of_distribs[], const int array_of_dargs[],
    const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_f90_complex");
    return impl::Type_create_f90_complex(p, r, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_f90_complex"),
    gnu::visibility("default")]] int MPI_Type_create_f90_complex(int p, int r,
    MPI_Datatype* newtype);

int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_f90_integer");
    return impl::Type_create_f90_integer(r, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_f90_integer"),
    gnu::visibility("default")]] int MPI_Type_create_f90_integer(int r, MPI_Datatype* newtype);

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_f90_real");
    return impl::Type_create_f90_real(p, r, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_f90_real"),
    gnu::visibility("default")]] int MPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype);

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_hindexed");
    const widened<MPI_Count> array_of_blocklengths_wide(array_of_blocklengths, count);
    return impl::Type_create_hindexed(count, array_of_blocklengths_wide.data(), array_of_displacements, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_hindexed"),
    gnu::visibility("default")]] int MPI_Type_create_hindexed(int count,
    const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_hindexed_c");
    return impl::Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_hindexed_c"),
    gnu::visibility("default")]] int MPI_Type_create_hindexed_c(MPI_Count count,
    const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_hindexed_block(int count, int blocklength,
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_hindexed_block");
    return impl::Type_create_hindexed_block(count, blocklength, array_of_displacements, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_hindexed_block"),
    gnu::visibility("default")]] int MPI_Type_create_hindexed_block(int count, int blocklength,
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_hindexed_block_c");
    return impl::Type_create_hindexed_block(count, blocklength, array_of_displacements, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_hindexed_block_c"),
    gnu::visibility("default")]] int MPI_Type_create_hindexed_block_c(MPI_Count count,
    MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
    MPI_Datatype* newtype);

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_hvector");
    return impl::Type_create_hvector(count, blocklength, stride, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_hvector"),
    gnu::visibility("default")]] int MPI_Type_create_hvector(int count, int blocklength,
    MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_hvector_c");
    return impl::Type_create_hvector(count, blocklength, stride, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_hvector_c"),
    gnu::visibility("default")]] int MPI_Type_create_hvector_c(MPI_Count count,
    MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_indexed_block");
    const widened<MPI_Count> array_of_displacements_wide(array_of_displacements, count);
    return impl::Type_create_indexed_block(count, blocklength, array_of_displacements_wide.data(), oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_indexed_block"),
    gnu::visibility("default")]] int MPI_Type_create_indexed_block(int count, int blocklength,
    const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_indexed_block_c");
    return impl::Type_create_indexed_block(count, blocklength, array_of_displacements, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_indexed_block_c"),
    gnu::visibility("default")]] int MPI_Type_create_indexed_block_c(MPI_Count count,
    MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
    MPI_Datatype* newtype);

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
    MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval, void* extra_state) {
  try {
    enter("MPI_Type_create_keyval");
    return impl::Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_keyval"),
    gnu::visibility("default")]] int MPI_Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn, MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval, void* extra_state);

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
    MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_resized");
    return impl::Type_create_resized(oldtype, lb, extent, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_resized"),
    gnu::visibility("default")]] int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb,
    MPI_Aint extent, MPI_Datatype* newtype);

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
    MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_resized_c");
    return impl::Type_create_resized(oldtype, lb, extent, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_resized_c"),
    gnu::visibility("default")]] int MPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb,
    MPI_Count extent, MPI_Datatype* newtype);

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
    MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_struct");
    const widened<MPI_Count> array_of_blocklengths_wide(array_of_blocklengths, count);
    return impl::Type_create_struct(count, array_of_blocklengths_wide.data(), array_of_displacements, array_of_types, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_struct"),
    gnu::visibility("default")]] int MPI_Type_create_struct(int count,
    const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
    const MPI_Datatype array_of_types[], MPI_Datatype* newtype);

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[],
    MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_struct_c");
    return impl::Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_struct_c"),
    gnu::visibility("default")]] int MPI_Type_create_struct_c(MPI_Count count,
    const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
    const MPI_Datatype array_of_types[], MPI_Datatype* newtype);

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
    const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_subarray");
    const widened<MPI_Count> array_of_sizes_wide(array_of_sizes, ndims);
    const widened<MPI_Count> array_of_subsizes_wide(array_of_subsizes, ndims);
    const widened<MPI_Count> array_of_starts_wide(array_of_starts, ndims);
    return impl::Type_create_subarray(ndims, array_of_sizes_wide.data(), array_of_subsizes_wide.data(), array_of_starts_wide.data(), order, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_subarray"),
    gnu::visibility("default")]] int MPI_Type_create_subarray(int ndims,
    const int array_of_sizes[], const int array_of_subsizes[], const int array_of_starts[],
    int order, MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
    const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[], int order,
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_create_subarray_c");
    return impl::Type_create_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_create_subarray_c"),
    gnu::visibility("default")]] int MPI_Type_create_subarray_c(int ndims,
    const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[],
    const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  try {
    enter("MPI_Type_delete_attr");
    return impl::Type_delete_attr(datatype, type_keyval);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_delete_attr"),
    gnu::visibility("default")]] int MPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval);

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_dup");
    return impl::Type_dup(oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_dup"),
    gnu::visibility("default")]] int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_free(MPI_Datatype* datatype) {
  try {
    enter("MPI_Type_free");
    return impl::Type_free(datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_free"),
    gnu::visibility("default")]] int MPI_Type_free(MPI_Datatype* datatype);

int PMPI_Type_free_keyval(int* type_keyval) {
  try {
    enter("MPI_Type_free_keyval");
    return impl::Type_free_keyval(type_keyval);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_free_keyval"),
    gnu::visibility("default")]] int MPI_Type_free_keyval(int* type_keyval);

MPI_Datatype PMPI_Type_fromint(int datatype) {
  return impl::Type_fromint(datatype);
}
[[gnu::weak, gnu::alias("PMPI_Type_fromint"),
    gnu::visibility("default")]] MPI_Datatype MPI_Type_fromint(int datatype);

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  try {
    enter("MPI_Type_get_attr");
    return impl::Type_get_attr(datatype, type_keyval, attribute_val, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_attr"),
    gnu::visibility("default")]] int MPI_Type_get_attr(MPI_Datatype datatype, int type_keyval,
    void* attribute_val, int* flag);

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
    int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Datatype array_of_datatypes[]) {
  try {
    enter("MPI_Type_get_contents");
    return impl::Type_get_contents(datatype, max_integers, max_addresses, max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_contents"),
    gnu::visibility("default")]] int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers,
    int max_addresses, int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Datatype array_of_datatypes[]);

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers,
    MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
    MPI_Datatype array_of_datatypes[]) {
  try {
    enter("MPI_Type_get_contents_c");
    return impl::Type_get_contents_c(datatype, max_integers, max_addresses, max_large_counts, max_datatypes, array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_contents_c"),
    gnu::visibility("default")]] int MPI_Type_get_contents_c(MPI_Datatype datatype,
    MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
    MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]);

int PMPI_Type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses,
    int* num_datatypes, int* combiner) {
  try {
    enter("MPI_Type_get_envelope");
    return impl::Type_get_envelope(datatype, num_integers, num_addresses, num_datatypes, combiner);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_envelope"),
    gnu::visibility("default")]] int MPI_Type_get_envelope(MPI_Datatype datatype,
    int* num_integers, int* num_addresses, int* num_datatypes, int* combiner);

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers,
    MPI_Count* num_addresses, MPI_Count* num_large_counts, MPI_Count* num_datatypes,
    int* combiner) {
  try {
    enter("MPI_Type_get_envelope_c");
    return impl::Type_get_envelope_c(datatype, num_integers, num_addresses, num_large_counts, num_datatypes, combiner);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_envelope_c"),
    gnu::visibility("default")]] int MPI_Type_get_envelope_c(MPI_Datatype datatype,
    MPI_Count* num_integers, MPI_Count* num_addresses, MPI_Count* num_large_counts,
    MPI_Count* num_datatypes, int* combiner);

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  try {
    enter("MPI_Type_get_extent");
    return impl::Type_get_extent(datatype, lb, extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_extent"),
    gnu::visibility("default")]] int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb,
    MPI_Aint* extent);

int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  try {
    enter("MPI_Type_get_extent_c");
    return impl::Type_get_extent(datatype, lb, extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_extent_c"),
    gnu::visibility("default")]] int MPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb,
    MPI_Count* extent);

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  try {
    enter("MPI_Type_get_extent_x");
    return impl::Type_get_extent_x(datatype, lb, extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_extent_x"),
    gnu::visibility("default")]] int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb,
    MPI_Count* extent);

int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  try {
    enter("MPI_Type_get_name");
    return impl::Type_get_name(datatype, type_name, resultlen);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_name"),
    gnu::visibility("default")]] int MPI_Type_get_name(MPI_Datatype datatype, char* type_name,
    int* resultlen);

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
  try {
    enter("MPI_Type_get_true_extent");
    return impl::Type_get_true_extent(datatype, true_lb, true_extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_true_extent"),
    gnu::visibility("default")]] int MPI_Type_get_true_extent(MPI_Datatype datatype,
    MPI_Aint* true_lb, MPI_Aint* true_extent);

int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  try {
    enter("MPI_Type_get_true_extent_c");
    return impl::Type_get_true_extent(datatype, true_lb, true_extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_true_extent_c"),
    gnu::visibility("default")]] int MPI_Type_get_true_extent_c(MPI_Datatype datatype,
    MPI_Count* true_lb, MPI_Count* true_extent);

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  try {
    enter("MPI_Type_get_true_extent_x");
    return impl::Type_get_true_extent_x(datatype, true_lb, true_extent);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_true_extent_x"),
    gnu::visibility("default")]] int MPI_Type_get_true_extent_x(MPI_Datatype datatype,
    MPI_Count* true_lb, MPI_Count* true_extent);

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
    MPI_Datatype* pair_type) {
  try {
    enter("MPI_Type_get_value_index");
    return impl::Type_get_value_index(value_type, index_type, pair_type);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_get_value_index"),
    gnu::visibility("default")]] int MPI_Type_get_value_index(MPI_Datatype value_type,
    MPI_Datatype index_type, MPI_Datatype* pair_type);

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
    const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_indexed");
    const widened<MPI_Count> array_of_blocklengths_wide(array_of_blocklengths, count);
    const widened<MPI_Count> array_of_displacements_wide(array_of_displacements, count);
    return impl::Type_indexed(count, array_of_blocklengths_wide.data(), array_of_displacements_wide.data(), oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_indexed"),
    gnu::visibility("default")]] int MPI_Type_indexed(int count, const int array_of_blocklengths[],
    const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_indexed_c");
    return impl::Type_indexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_indexed_c"),
    gnu::visibility("default")]] int MPI_Type_indexed_c(MPI_Count count,
    const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  try {
    enter("MPI_Type_match_size");
    return impl::Type_match_size(typeclass, size, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_match_size"),
    gnu::visibility("default")]] int MPI_Type_match_size(int typeclass, int size,
    MPI_Datatype* datatype);

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  try {
    enter("MPI_Type_set_attr");
    return impl::Type_set_attr(datatype, type_keyval, attribute_val);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_set_attr"),
    gnu::visibility("default")]] int MPI_Type_set_attr(MPI_Datatype datatype, int type_keyval,
    void* attribute_val);

int PMPI_Type_set_name(MPI_Datatype datatype, const char* type_name) {
  try {
    enter("MPI_Type_set_name");
    return impl::Type_set_name(datatype, type_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_set_name"),
    gnu::visibility("default")]] int MPI_Type_set_name(MPI_Datatype datatype,
    const char* type_name);

int PMPI_Type_size(MPI_Datatype datatype, int* size) {
  try {
    enter("MPI_Type_size");
    MPI_Count size_wide = 0;
    const int code = impl::Type_size(datatype, &size_wide);
    if (code == MPI_SUCCESS) {
      narrow(size_wide, size);
    }
    return code;
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_size"),
    gnu::visibility("default")]] int MPI_Type_size(MPI_Datatype datatype, int* size);

int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size) {
  try {
    enter("MPI_Type_size_c");
    return impl::Type_size(datatype, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_size_c"),
    gnu::visibility("default")]] int MPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size);

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  try {
    enter("MPI_Type_size_x");
    return impl::Type_size_x(datatype, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_size_x"),
    gnu::visibility("default")]] int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size);

int PMPI_Type_toint(MPI_Datatype datatype) {
  try {
    enter("MPI_Type_toint");
    return impl::Type_toint(datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_toint"),
    gnu::visibility("default")]] int MPI_Type_toint(MPI_Datatype datatype);

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
    MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_vector");
    return impl::Type_vector(count, blocklength, stride, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_vector"),
    gnu::visibility("default")]] int MPI_Type_vector(int count, int blocklength, int stride,
    MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
    MPI_Datatype oldtype, MPI_Datatype* newtype) {
  try {
    enter("MPI_Type_vector_c");
    return impl::Type_vector(count, blocklength, stride, oldtype, newtype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Type_vector_c"),
    gnu::visibility("default")]] int MPI_Type_vector_c(MPI_Count count, MPI_Count blocklength,
    MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype* newtype);

int PMPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
    MPI_Datatype datatype, MPI_Comm comm) {
  try {
    enter("MPI_Unpack");
    MPI_Count position_wide = read(position);
    const int code = impl::Unpack(inbuf, insize, &position_wide, outbuf, outcount, datatype, comm);
    if (code == MPI_SUCCESS) {
      narrow(position_wide, position);
    }
    return code;
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Unpack"),
    gnu::visibility("default")]] int MPI_Unpack(const void* inbuf, int insize, int* position,
    void* outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm);

int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
    MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
  try {
    enter("MPI_Unpack_c");
    return impl::Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Unpack_c"),
    gnu::visibility("default")]] int MPI_Unpack_c(const void* inbuf, MPI_Count insize,
    MPI_Count* position, void* outbuf, MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm);

int PMPI_Unpack_external(const char datarep[], const void* inbuf, MPI_Aint insize,
    MPI_Aint* position, void* outbuf, int outcount, MPI_Datatype datatype) {
  try {
    enter("MPI_Unpack_external");
    return impl::Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Unpack_external"),
    gnu::visibility("default")]] int MPI_Unpack_external(const char datarep[], const void* inbuf,
    MPI_Aint insize, MPI_Aint* position, void* outbuf, int outcount, MPI_Datatype datatype);

int PMPI_Unpack_external_c(const char datarep[], const void* inbuf, MPI_Count insize,
    MPI_Count* position, void* outbuf, MPI_Count outcount, MPI_Datatype datatype) {
  try {
    enter("MPI_Unpack_external_c");
    return impl::Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Unpack_external_c"),
    gnu::visibility("default")]] int MPI_Unpack_external_c(const char datarep[], const void* inbuf,
    MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount, MPI_Datatype datatype);

int PMPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  try {
    enter("MPI_Unpublish_name");
    return impl::Unpublish_name(service_name, info, port_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Unpublish_name"),
    gnu::visibility("default")]] int MPI_Unpublish_name(const char* service_name, MPI_Info info,
    const char* port_name);

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  try {
    enter("MPI_Wait");
    return impl::Wait(request, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Wait"),
    gnu::visibility("default")]] int MPI_Wait(MPI_Request* request, MPI_Status* status);

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  try {
    enter("MPI_Waitall");
    return impl::Waitall(count, array_of_requests, array_of_statuses);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Waitall"), gnu::visibility("default")]] int MPI_Waitall(int count,
    MPI_Request array_of_requests[], MPI_Status* array_of_statuses);

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  try {
    enter("MPI_Waitany");
    return impl::Waitany(count, array_of_requests, index, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Waitany"), gnu::visibility("default")]] int MPI_Waitany(int count,
    MPI_Request array_of_requests[], int* index, MPI_Status* status);

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount,
    int array_of_indices[], MPI_Status* array_of_statuses) {
  try {
    enter("MPI_Waitsome");
    return impl::Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Waitsome"),
    gnu::visibility("default")]] int MPI_Waitsome(int incount, MPI_Request array_of_requests[],
    int* outcount, int array_of_indices[], MPI_Status* array_of_statuses);

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
    MPI_Win* win) {
  try {
    enter("MPI_Win_allocate");
    return impl::Win_allocate(size, disp_unit, info, comm, baseptr, win);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_allocate"),
    gnu::visibility("default")]] int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info,
    MPI_Comm comm, void* baseptr, MPI_Win* win);

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void* baseptr, MPI_Win* win) {
  try {
    enter("MPI_Win_allocate_c");
    return impl::Win_allocate(size, disp_unit, info, comm, baseptr, win);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_allocate_c"),
    gnu::visibility("default")]] int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit,
    MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win);

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
    void* baseptr, MPI_Win* win) {
  try {
    enter("MPI_Win_allocate_shared");
    return impl::Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_allocate_shared"),
    gnu::visibility("default")]] int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit,
    MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win);

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void* baseptr, MPI_Win* win) {
  try {
    enter("MPI_Win_allocate_shared_c");
    return impl::Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_allocate_shared_c"),
    gnu::visibility("default")]] int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit,
    MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win);

int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  try {
    enter("MPI_Win_attach");
    return impl::Win_attach(win, base, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_attach"),
    gnu::visibility("default")]] int MPI_Win_attach(MPI_Win win, void* base, MPI_Aint size);

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode) {
  try {
    enter("MPI_Win_call_errhandler");
    return impl::Win_call_errhandler(win, errorcode);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_call_errhandler"),
    gnu::visibility("default")]] int MPI_Win_call_errhandler(MPI_Win win, int errorcode);

int PMPI_Win_complete(MPI_Win win) {
  try {
    enter("MPI_Win_complete");
    return impl::Win_complete(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_complete"),
    gnu::visibility("default")]] int MPI_Win_complete(MPI_Win win);

int PMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win* win) {
  try {
    enter("MPI_Win_create");
    return impl::Win_create(base, size, disp_unit, info, comm, win);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_create"),
    gnu::visibility("default")]] int MPI_Win_create(void* base, MPI_Aint size, int disp_unit,
    MPI_Info info, MPI_Comm comm, MPI_Win* win);

int PMPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win* win) {
  try {
    enter("MPI_Win_create_c");
    return impl::Win_create(base, size, disp_unit, info, comm, win);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_create_c"),
    gnu::visibility("default")]] int MPI_Win_create_c(void* base, MPI_Aint size,
    MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win);

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  try {
    enter("MPI_Win_create_dynamic");
    return impl::Win_create_dynamic(info, comm, win);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_create_dynamic"),
    gnu::visibility("default")]] int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm,
    MPI_Win* win);

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn,
    MPI_Errhandler* errhandler) {
  try {
    note("MPI_Win_create_errhandler");
    return impl::Win_create_errhandler(win_errhandler_fn, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_create_errhandler"),
    gnu::visibility("default")]] int MPI_Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler);

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn,
    MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval, void* extra_state) {
  try {
    enter("MPI_Win_create_keyval");
    return impl::Win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_create_keyval"),
    gnu::visibility("default")]] int MPI_Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn, MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval, void* extra_state);

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval) {
  try {
    enter("MPI_Win_delete_attr");
    return impl::Win_delete_attr(win, win_keyval);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_delete_attr"),
    gnu::visibility("default")]] int MPI_Win_delete_attr(MPI_Win win, int win_keyval);

int PMPI_Win_detach(MPI_Win win, const void* base) {
  try {
    enter("MPI_Win_detach");
    return impl::Win_detach(win, base);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_detach"),
    gnu::visibility("default")]] int MPI_Win_detach(MPI_Win win, const void* base);

int PMPI_Win_fence(int assert, MPI_Win win) {
  try {
    enter("MPI_Win_fence");
    return impl::Win_fence(assert, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_fence"),
    gnu::visibility("default")]] int MPI_Win_fence(int assert, MPI_Win win);

int PMPI_Win_flush(int rank, MPI_Win win) {
  try {
    enter("MPI_Win_flush");
    return impl::Win_flush(rank, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_flush"), gnu::visibility("default")]] int MPI_Win_flush(int rank,
    MPI_Win win);

int PMPI_Win_flush_all(MPI_Win win) {
  try {
    enter("MPI_Win_flush_all");
    return impl::Win_flush_all(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_flush_all"),
    gnu::visibility("default")]] int MPI_Win_flush_all(MPI_Win win);

int PMPI_Win_flush_local(int rank, MPI_Win win) {
  try {
    enter("MPI_Win_flush_local");
    return impl::Win_flush_local(rank, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_flush_local"),
    gnu::visibility("default")]] int MPI_Win_flush_local(int rank, MPI_Win win);

int PMPI_Win_flush_local_all(MPI_Win win) {
  try {
    enter("MPI_Win_flush_local_all");
    return impl::Win_flush_local_all(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_flush_local_all"),
    gnu::visibility("default")]] int MPI_Win_flush_local_all(MPI_Win win);

int PMPI_Win_free(MPI_Win* win) {
  try {
    enter("MPI_Win_free");
    return impl::Win_free(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_free"),
    gnu::visibility("default")]] int MPI_Win_free(MPI_Win* win);

int PMPI_Win_free_keyval(int* win_keyval) {
  try {
    enter("MPI_Win_free_keyval");
    return impl::Win_free_keyval(win_keyval);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_free_keyval"),
    gnu::visibility("default")]] int MPI_Win_free_keyval(int* win_keyval);

MPI_Win PMPI_Win_fromint(int win) {
  return impl::Win_fromint(win);
}
[[gnu::weak, gnu::alias("PMPI_Win_fromint"),
    gnu::visibility("default")]] MPI_Win MPI_Win_fromint(int win);

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  try {
    enter("MPI_Win_get_attr");
    return impl::Win_get_attr(win, win_keyval, attribute_val, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_get_attr"),
    gnu::visibility("default")]] int MPI_Win_get_attr(MPI_Win win, int win_keyval,
    void* attribute_val, int* flag);

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  try {
    enter("MPI_Win_get_errhandler");
    return impl::Win_get_errhandler(win, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_get_errhandler"),
    gnu::visibility("default")]] int MPI_Win_get_errhandler(MPI_Win win,
    MPI_Errhandler* errhandler);

int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  try {
    enter("MPI_Win_get_group");
    return impl::Win_get_group(win, group);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_get_group"),
    gnu::visibility("default")]] int MPI_Win_get_group(MPI_Win win, MPI_Group* group);

int PMPI_Win_get_info(MPI_Win win, MPI_Info* info_used) {
  try {
    enter("MPI_Win_get_info");
    return impl::Win_get_info(win, info_used);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_get_info"),
    gnu::visibility("default")]] int MPI_Win_get_info(MPI_Win win, MPI_Info* info_used);

int PMPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  try {
    enter("MPI_Win_get_name");
    return impl::Win_get_name(win, win_name, resultlen);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_get_name"),
    gnu::visibility("default")]] int MPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen);

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  try {
    enter("MPI_Win_lock");
    return impl::Win_lock(lock_type, rank, assert, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_lock"),
    gnu::visibility("default")]] int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win);

int PMPI_Win_lock_all(int assert, MPI_Win win) {
  try {
    enter("MPI_Win_lock_all");
    return impl::Win_lock_all(assert, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_lock_all"),
    gnu::visibility("default")]] int MPI_Win_lock_all(int assert, MPI_Win win);

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
  try {
    enter("MPI_Win_post");
    return impl::Win_post(group, assert, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_post"),
    gnu::visibility("default")]] int MPI_Win_post(MPI_Group group, int assert, MPI_Win win);

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  try {
    enter("MPI_Win_set_attr");
    return impl::Win_set_attr(win, win_keyval, attribute_val);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_set_attr"),
    gnu::visibility("default")]] int MPI_Win_set_attr(MPI_Win win, int win_keyval,
    void* attribute_val);

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  try {
    enter("MPI_Win_set_errhandler");
    return impl::Win_set_errhandler(win, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_set_errhandler"),
    gnu::visibility("default")]] int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler);

int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
  try {
    enter("MPI_Win_set_info");
    return impl::Win_set_info(win, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_set_info"),
    gnu::visibility("default")]] int MPI_Win_set_info(MPI_Win win, MPI_Info info);

int PMPI_Win_set_name(MPI_Win win, const char* win_name) {
  try {
    enter("MPI_Win_set_name");
    return impl::Win_set_name(win, win_name);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_set_name"),
    gnu::visibility("default")]] int MPI_Win_set_name(MPI_Win win, const char* win_name);

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
  try {
    enter("MPI_Win_shared_query");
    MPI_Aint disp_unit_wide = 0;
    const int code = impl::Win_shared_query(win, rank, size, &disp_unit_wide, baseptr);
    if (code == MPI_SUCCESS) {
      narrow(disp_unit_wide, disp_unit);
    }
    return code;
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_shared_query"),
    gnu::visibility("default")]] int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size,
    int* disp_unit, void* baseptr);

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit,
    void* baseptr) {
  try {
    enter("MPI_Win_shared_query_c");
    return impl::Win_shared_query(win, rank, size, disp_unit, baseptr);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_shared_query_c"),
    gnu::visibility("default")]] int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size,
    MPI_Aint* disp_unit, void* baseptr);

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  try {
    enter("MPI_Win_start");
    return impl::Win_start(group, assert, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_start"),
    gnu::visibility("default")]] int MPI_Win_start(MPI_Group group, int assert, MPI_Win win);

int PMPI_Win_sync(MPI_Win win) {
  try {
    enter("MPI_Win_sync");
    return impl::Win_sync(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_sync"),
    gnu::visibility("default")]] int MPI_Win_sync(MPI_Win win);

int PMPI_Win_test(MPI_Win win, int* flag) {
  try {
    enter("MPI_Win_test");
    return impl::Win_test(win, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_test"),
    gnu::visibility("default")]] int MPI_Win_test(MPI_Win win, int* flag);

int PMPI_Win_toint(MPI_Win win) {
  try {
    enter("MPI_Win_toint");
    return impl::Win_toint(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_toint"),
    gnu::visibility("default")]] int MPI_Win_toint(MPI_Win win);

int PMPI_Win_unlock(int rank, MPI_Win win) {
  try {
    enter("MPI_Win_unlock");
    return impl::Win_unlock(rank, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_unlock"),
    gnu::visibility("default")]] int MPI_Win_unlock(int rank, MPI_Win win);

int PMPI_Win_unlock_all(MPI_Win win) {
  try {
    enter("MPI_Win_unlock_all");
    return impl::Win_unlock_all(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_unlock_all"),
    gnu::visibility("default")]] int MPI_Win_unlock_all(MPI_Win win);

int PMPI_Win_wait(MPI_Win win) {
  try {
    enter("MPI_Win_wait");
    return impl::Win_wait(win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Win_wait"),
    gnu::visibility("default")]] int MPI_Win_wait(MPI_Win win);

double PMPI_Wtick(void) {
  return impl::Wtick();
}
[[gnu::weak, gnu::alias("PMPI_Wtick"), gnu::visibility("default")]] double MPI_Wtick(void);

double PMPI_Wtime(void) {
  return impl::Wtime();
}
[[gnu::weak, gnu::alias("PMPI_Wtime"), gnu::visibility("default")]] double MPI_Wtime(void);

}
#pragma GCC visibility pop
