// MPI-5.0 chapter 15: the tool interface. Its performance variables show what matching has cost in
// one communicator, so that a user can see whether it limits the program.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "sinew/base/check.hpp"

// What the standard's opaque handles point to.
struct MPI_ABI_T_pvar_handle {
  int variable = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};
struct MPI_ABI_T_pvar_session {
  std::vector<std::unique_ptr<MPI_ABI_T_pvar_handle>> handles;
};

namespace sinew::mpi {
namespace {

using value = unsigned long long;

struct variable {
  const char* name;
  const char* description;
  int kind;
  value (*read)(const p2p::match_report&);
};

// All count from the communicator's creation on, cannot be reset, and never stop.
constexpr variable variables[] = {
    {"sinew_match_searches", "searches for a matching receive or message", MPI_T_PVAR_CLASS_COUNTER,
     [](const p2p::match_report& r) -> value { return r.counts.searches; }},
    {"sinew_match_examined", "entries whose envelope was compared in all searches",
     MPI_T_PVAR_CLASS_COUNTER,
     [](const p2p::match_report& r) -> value { return r.counts.examined; }},
    {"sinew_match_longest", "entries examined in the longest search",
     MPI_T_PVAR_CLASS_HIGHWATERMARK,
     [](const p2p::match_report& r) -> value { return r.counts.longest; }},
    {"sinew_match_most_posted", "receives posted at the fullest moment",
     MPI_T_PVAR_CLASS_HIGHWATERMARK,
     [](const p2p::match_report& r) -> value { return r.counts.most_posted; }},
    {"sinew_match_most_unexpected", "unexpected messages at the fullest moment",
     MPI_T_PVAR_CLASS_HIGHWATERMARK,
     [](const p2p::match_report& r) -> value { return r.counts.most_unexpected; }},
    {"sinew_match_posted", "receives posted now", MPI_T_PVAR_CLASS_LEVEL,
     [](const p2p::match_report& r) -> value { return r.posted; }},
    {"sinew_match_unexpected", "unexpected messages now", MPI_T_PVAR_CLASS_LEVEL,
     [](const p2p::match_report& r) -> value { return r.unexpected; }},
};
constexpr int variable_count = static_cast<int>(std::size(variables));
static_assert(std::all_of(std::begin(variables), std::end(variables), [](const variable& v) {
  return v.name != nullptr && v.description != nullptr && v.read != nullptr;
}));

/// Sessions and their handles; cold, so one lock for all.
std::mutex& tools_lock() {
  static std::mutex lock;
  return lock;
}

int none(int* count) {
  if (count == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  *count = 0;
  return MPI_SUCCESS;
}

template <class T>
void give(T* to, T what) {
  if (to != nullptr) {
    *to = what;
  }
}

/// The standard's way of returning a string: length in, length with its end out (section 15.3.3).
void give_text(char* to, int* length, const char* text) {
  SINEW_EXPECT(text != nullptr);
  if (length == nullptr) {
    return;
  }
  const int whole = static_cast<int>(std::strlen(text)) + 1;
  if (to == nullptr || *length == 0) {
    *length = whole;
    return;
  }
  const int kept = *length < whole ? *length : whole;
  std::memcpy(to, text, static_cast<std::size_t>(kept - 1));
  to[kept - 1] = '\0';
  *length = kept;
}

bool belongs(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  for (const auto& h : session->handles) {
    if (h.get() == handle) {
      return true;
    }
  }
  return false;
}

/// MPI_SUCCESS if `handle` is one of `session`. Under tools_lock.
int check(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (session == MPI_T_PVAR_SESSION_NULL) {
    return MPI_T_ERR_INVALID_SESSION;
  }
  return belongs(session, handle) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

/// start and stop may name all handles, of which none can be; the rest is an error.
int never_stops(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const std::lock_guard held(tools_lock());
  if (session != MPI_T_PVAR_SESSION_NULL && handle == MPI_T_PVAR_ALL_HANDLES) {
    return MPI_SUCCESS;
  }
  const int wrong = check(session, handle);
  return wrong != MPI_SUCCESS ? wrong : MPI_T_ERR_PVAR_NO_STARTSTOP;
}

int never_written(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const std::lock_guard held(tools_lock());
  const int wrong = check(session, handle);
  return wrong != MPI_SUCCESS ? wrong : MPI_T_ERR_PVAR_NO_WRITE;
}

}  // namespace

int impl::T_init_thread(int required, int* provided) {
  (void)required;
  if (provided == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  *provided = MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}
int impl::T_finalize() { return MPI_SUCCESS; }

int impl::T_cvar_get_num(int* num_cvar) { return none(num_cvar); }
int impl::T_category_get_num(int* num_cat) { return none(num_cat); }
int impl::T_event_get_num(int* num_events) { return none(num_events); }
int impl::T_source_get_num(int* num_sources) { return none(num_sources); }
int impl::T_category_changed(int* update_number) { return none(update_number); }

int impl::T_pvar_get_num(int* num_pvar) {
  if (num_pvar == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  *num_pvar = variable_count;
  return MPI_SUCCESS;
}

int impl::T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                          MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                          int* bind, int* readonly, int* continuous, int* atomic) {
  if (pvar_index < 0 || pvar_index >= variable_count) {
    return MPI_T_ERR_INVALID_INDEX;
  }
  const variable& v = variables[pvar_index];
  give_text(name, name_len, v.name);
  give_text(desc, desc_len, v.description);
  give<int>(verbosity, MPI_T_VERBOSITY_USER_BASIC);
  give(var_class, v.kind);
  give(datatype, MPI_UNSIGNED_LONG_LONG);
  give(enumtype, MPI_T_ENUM_NULL);
  give<int>(bind, MPI_T_BIND_MPI_COMM);
  give(readonly, 1);
  give(continuous, 1);
  give(atomic, 0);
  return MPI_SUCCESS;
}

int impl::T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  if (name == nullptr || pvar_index == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  for (int i = 0; i < variable_count; ++i) {
    if (std::strcmp(variables[i].name, name) == 0 && variables[i].kind == var_class) {
      *pvar_index = i;
      return MPI_SUCCESS;
    }
  }
  return MPI_T_ERR_INVALID_NAME;
}

int impl::T_pvar_session_create(MPI_T_pvar_session* pe_session) {
  if (pe_session == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  *pe_session = new MPI_ABI_T_pvar_session;
  return MPI_SUCCESS;
}

int impl::T_pvar_session_free(MPI_T_pvar_session* pe_session) {
  if (pe_session == nullptr || *pe_session == MPI_T_PVAR_SESSION_NULL) {
    return MPI_T_ERR_INVALID_SESSION;
  }
  const std::lock_guard held(tools_lock());
  delete *pe_session;
  *pe_session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int impl::T_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle,
                              MPI_T_pvar_handle* handle, int* count) {
  if (pe_session == MPI_T_PVAR_SESSION_NULL) {
    return MPI_T_ERR_INVALID_SESSION;
  }
  if (pvar_index < 0 || pvar_index >= variable_count) {
    return MPI_T_ERR_INVALID_INDEX;
  }
  if (obj_handle == nullptr || handle == nullptr || count == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  const MPI_Comm comm = *static_cast<const MPI_Comm*>(obj_handle);
  if (process.now.load(std::memory_order_relaxed) != phase::running || find_comm(comm) == nullptr) {
    return MPI_T_ERR_INVALID_HANDLE;
  }
  auto made = std::make_unique<MPI_ABI_T_pvar_handle>();
  made->variable = pvar_index;
  made->comm = comm;
  const std::lock_guard held(tools_lock());
  *handle = made.get();
  pe_session->handles.push_back(std::move(made));
  *count = 1;
  return MPI_SUCCESS;
}

int impl::T_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle) {
  if (handle == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  const std::lock_guard held(tools_lock());
  if (const int wrong = check(pe_session, *handle); wrong != MPI_SUCCESS) {
    return wrong;
  }
  std::erase_if(pe_session->handles, [&](const auto& h) { return h.get() == *handle; });
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int impl::T_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  if (buf == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  const std::lock_guard held(tools_lock());
  if (const int wrong = check(pe_session, handle); wrong != MPI_SUCCESS) {
    return wrong;
  }
  const bool running = process.now.load(std::memory_order_relaxed) == phase::running;
  const comm_object* comm = running ? find_comm(handle->comm) : nullptr;
  if (comm == nullptr) {
    return MPI_T_ERR_INVALID_HANDLE;  // the communicator has been freed
  }
  SINEW_ASSERT(handle->variable >= 0 && handle->variable < variable_count);
  const value now = variables[handle->variable].read(process.engine->matching(*comm->comm));
  std::memcpy(buf, &now, sizeof now);
  return MPI_SUCCESS;
}

int impl::T_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return never_stops(pe_session, handle);
}
int impl::T_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return never_stops(pe_session, handle);
}
int impl::T_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf) {
  (void)buf;
  return never_written(pe_session, handle);
}
int impl::T_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  if (pe_session != MPI_T_PVAR_SESSION_NULL && handle == MPI_T_PVAR_ALL_HANDLES) {
    return MPI_SUCCESS;
  }
  return never_written(pe_session, handle);
}
int impl::T_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  (void)buf;
  return never_written(pe_session, handle);
}

// There are no control variables, categories, events and sources yet: no name and no index is one.

namespace {

int no_such_name(const char* name, const int* index) {
  return name == nullptr || index == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME;
}

}  // namespace

int impl::T_cvar_get_index(const char* name, int* cvar_index) {
  return no_such_name(name, cvar_index);
}
int impl::T_category_get_index(const char* name, int* cat_index) {
  return no_such_name(name, cat_index);
}
int impl::T_event_get_index(const char* name, int* event_index) {
  return no_such_name(name, event_index);
}

int impl::T_cvar_get_info(int, char*, int*, int*, MPI_Datatype*, MPI_T_enum*, char*, int*, int*,
                          int*) {
  return MPI_T_ERR_INVALID_INDEX;
}
int impl::T_cvar_handle_alloc(int, void*, MPI_T_cvar_handle*, int*) {
  return MPI_T_ERR_INVALID_INDEX;
}
int impl::T_cvar_handle_free(MPI_T_cvar_handle*) { return MPI_T_ERR_INVALID_HANDLE; }
int impl::T_cvar_read(MPI_T_cvar_handle, void*) { return MPI_T_ERR_INVALID_HANDLE; }
int impl::T_cvar_write(MPI_T_cvar_handle, const void*) { return MPI_T_ERR_INVALID_HANDLE; }

int impl::T_category_get_info(int, char*, int*, char*, int*, int*, int*, int*) {
  return MPI_T_ERR_INVALID_INDEX;
}
int impl::T_category_get_num_events(int, int*) { return MPI_T_ERR_INVALID_INDEX; }
int impl::T_category_get_categories(int, int, int[]) { return MPI_T_ERR_INVALID_INDEX; }
int impl::T_category_get_cvars(int, int, int[]) { return MPI_T_ERR_INVALID_INDEX; }
int impl::T_category_get_pvars(int, int, int[]) { return MPI_T_ERR_INVALID_INDEX; }
int impl::T_category_get_events(int, int, int[]) { return MPI_T_ERR_INVALID_INDEX; }

int impl::T_event_get_info(int, char*, int*, int*, MPI_Datatype*, MPI_Aint*, int*, MPI_T_enum*,
                           MPI_Info*, char*, int*, int*) {
  return MPI_T_ERR_INVALID_INDEX;
}
int impl::T_event_handle_alloc(int, void*, MPI_Info, MPI_T_event_registration*) {
  return MPI_T_ERR_INVALID_INDEX;
}
int impl::T_source_get_info(int, char*, int*, char*, int*, MPI_T_source_order*, MPI_Count*,
                            MPI_Count*, MPI_Info*) {
  return MPI_T_ERR_INVALID_INDEX;
}
int impl::T_source_get_timestamp(int, MPI_Count*) { return MPI_T_ERR_INVALID_INDEX; }

int impl::T_enum_get_info(MPI_T_enum, int*, char*, int*) { return MPI_T_ERR_INVALID_HANDLE; }
int impl::T_enum_get_item(MPI_T_enum, int, int*, char*, int*) { return MPI_T_ERR_INVALID_HANDLE; }

}  // namespace sinew::mpi
