// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 11.3: sessions. All of a process use the one job below, as MPI_Init does.
#include "abi/mpi/session.hpp"

#include <strings.h>

#include <cstring>
#include <string>
#include <utility>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/memory_kinds.hpp"

namespace sinew::mpi {
namespace {

struct level_name {
  const char* name;
  int level;
};
constexpr level_name level_names[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                                      {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                                      {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                                      {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

/// Without the key a session's calls may come from any threads, since libraries that open one know
/// nothing of each other.
int wanted_level(MPI_Info info) {
  if (info == MPI_INFO_NULL) {
    return MPI_THREAD_MULTIPLE;
  }
  const std::string value = info_of(info).value("thread_level");
  for (const level_name& l : level_names) {
    if (value == l.name) {
      return l.level;
    }
  }
  return MPI_THREAD_MULTIPLE;
}

core::group everybody() { return core::group::range(process.runtime->size()); }
core::group this_rank() { return core::group(std::vector<job_rank>{process.runtime->rank()}); }
core::group this_node() { return core::group(process.runtime->session().where().local_ranks); }

struct process_set {
  const char* name;
  core::group (*members)();
};
/// The last one is ours: the ranks that share this node's memory.
constexpr process_set process_sets[] = {
    {"mpi://WORLD", everybody}, {"mpi://SELF", this_rank}, {"sinew://NODE", this_node}};
constexpr int set_count = static_cast<int>(std::size(process_sets));

core::group members_of(const char* name) {
  check_out(name, "pset_name");
  for (const process_set& s : process_sets) {
    if (::strcasecmp(s.name, name) == 0) {  // as schemes and hosts of other URIs
      core::group members = s.members();
      SINEW_ENSURE(members.size() > 0);
      return members;
    }
  }
  fail(MPI_ERR_ARG, "there is no process set \"%s\"; MPI_Session_get_nth_pset lists them", name);
}

errhandler_object* session_errhandler_of(MPI_Errhandler handle) {
  errhandler_object* e = errhandler_of(handle);
  using action = errhandler_object::action;
  if (e->act == action::win || e->act == action::file || e->act == action::comm) {
    fail(MPI_ERR_ERRHANDLER, "the error handler was not made for sessions");
  }
  return e;
}

MPI_Info info_with(std::initializer_list<std::pair<std::string, std::string>> entries) {
  auto* made = arena<info_object>::make();
  made->entries.assign(entries.begin(), entries.end());
  return handle_of<MPI_Info>(made);
}

}  // namespace

session_object::~session_object() {
  discard_buffer(*this);
  drop(errors);
}

session_object& session_of(MPI_Session handle) {
  auto* found = resolve<session_object>(handle);
  if (found == nullptr) {
    fail(MPI_ERR_SESSION, "the session is %s",
         handle == MPI_SESSION_NULL ? "MPI_SESSION_NULL" : "finalized or no session");
  }
  SINEW_ENSURE(found->errors != nullptr);
  return *found;
}

void fail_for_session(session_object& s) {
  try {
    throw;
  } catch (failure& f) {
    f.session = &s;
    throw;
  } catch (const std::bad_alloc&) {
    throw failure{MPI_ERR_NO_MEM, "out of memory", nullptr, false, &s};
  } catch (const std::exception& e) {
    throw failure{MPI_ERR_OTHER, e.what(), nullptr, false, &s};
  }
}

int impl::Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  check_out(session, "session");
  *session = MPI_SESSION_NULL;
  auto* made = arena<session_object>::make();
  try {
    made->errors = keep(session_errhandler_of(errhandler));
    begin_use(wanted_level(info));
  } catch (...) {
    drop(made);
    throw;
  }
  *session = handle_of<MPI_Session>(made);
  return MPI_SUCCESS;
}

int impl::Session_finalize(MPI_Session* session) {
  check_out(session, "session");
  const int code = on_session(*session, [](session_object& s) -> int {
    flush_buffer(s);
    end_use();
    return MPI_SUCCESS;
  });
  session_object& s = session_of(*session);
  s.what = kind::dead;  // groups may still refer to it
  drop(&s);
  *session = MPI_SESSION_NULL;
  return code;
}

int impl::Session_get_info(MPI_Session session, MPI_Info* info_used) {
  return on_session(session, [&](session_object&) -> int {
    check_out(info_used, "info_used");
    const int level = level_of_library();
    SINEW_ASSERT(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    const char* name = level_names[0].name;
    for (const level_name& l : level_names) {
      name = l.level == level ? l.name : name;
    }
    *info_used = info_with({{"thread_level", name}, {memory_kinds_key, memory_kinds}});
    return MPI_SUCCESS;
  });
}

int impl::Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names) {
  return on_session(session, [&](session_object&) -> int {
    check_out(npset_names, "npset_names");
    if (info != MPI_INFO_NULL) {
      (void)info_of(info);
    }
    *npset_names = set_count;
    return MPI_SUCCESS;
  });
}

int impl::Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len,
                               char* pset_name) {
  return on_session(session, [&](session_object&) -> int {
    check_out(pset_len, "pset_len");
    if (info != MPI_INFO_NULL) {
      (void)info_of(info);
    }
    if (n < 0 || n >= set_count) {
      fail(MPI_ERR_ARG, "there is no process set %d: their numbers are 0 to %d", n, set_count - 1);
    }
    const std::string name = process_sets[n].name;
    if (*pset_len > 0) {
      check_out(pset_name, "pset_name");
      const std::size_t room = static_cast<std::size_t>(*pset_len) - 1;
      const std::string part = name.substr(0, room);
      std::memcpy(pset_name, part.c_str(), part.size() + 1);
    }
    *pset_len = static_cast<int>(name.size()) + 1;
    return MPI_SUCCESS;
  });
}

int impl::Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
  return on_session(session, [&](session_object&) -> int {
    check_out(info, "info");
    *info = info_with({{"mpi_size", std::to_string(members_of(pset_name).size())}});
    return MPI_SUCCESS;
  });
}

int impl::Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  return on_session(session, [&](session_object& s) -> int {
    check_out(newgroup, "newgroup");
    *newgroup = new_group(members_of(pset_name), &s);
    return MPI_SUCCESS;
  });
}

int impl::Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
  return on_session(session, [&](session_object& s) -> int {
    drop(std::exchange(s.errors, keep(session_errhandler_of(errhandler))));
    return MPI_SUCCESS;
  });
}

int impl::Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
  return on_session(session, [&](session_object& s) -> int {
    check_out(errhandler, "errhandler");
    *errhandler = handle_of(keep(s.errors));
    return MPI_SUCCESS;
  });
}

int impl::Session_call_errhandler(MPI_Session session, int errorcode) {
  (void)raise_session_error(session_of(session), errorcode, "called by the program");
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
