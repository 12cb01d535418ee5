// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/from_groups.hpp"

#include <cstring>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

int tag_of(const char* stringtag) {
  check_out(stringtag, "stringtag");
  if (std::strlen(stringtag) >= MPI_MAX_STRINGTAG_LEN) {
    fail(MPI_ERR_ARG, "the string tag has more than %d characters", MPI_MAX_STRINGTAG_LEN - 1);
  }
  std::uint32_t mixed = 0x811c9dc5;  // FNV-1a
  for (const char* c = stringtag; *c != '\0'; ++c) {
    mixed = (mixed ^ static_cast<unsigned char>(*c)) * 0x01000193;
  }
  const int tag = static_cast<int>((mixed ^ mixed >> 31) & 0x7fffffff);
  SINEW_ENSURE(tag >= 0);
  return tag;
}

void check_member(const core::group& members) {
  SINEW_EXPECT(process.runtime != nullptr);
  if (members.find(process.runtime->rank()) < 0) {
    fail(MPI_ERR_GROUP, "this rank is not in the group");
  }
  if (coll::spans_jobs(*process.engine, members)) {
    fail(MPI_ERR_GROUP, "the group has ranks of other jobs, and no communicator to agree by");
  }
}

errhandler_object* comm_errhandler_of(MPI_Errhandler handle) {
  errhandler_object* e = errhandler_of(handle);
  using action = errhandler_object::action;
  if (e->act == action::win || e->act == action::file || e->act == action::session) {
    fail(MPI_ERR_ERRHANDLER, "the error handler was not made for communicators");
  }
  return e;
}

int impl::Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                 MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  errhandler_object* errors = comm_errhandler_of(errhandler);
  return made_by(*errors, [&] {
    check_out(newcomm, "newcomm");
    *newcomm = MPI_COMM_NULL;
    const core::group& members = group_of(group);
    const int tag = tag_of(stringtag);
    const info_object* hints = info == MPI_INFO_NULL ? nullptr : &info_of(info);
    if (members.size() == 0) {
      return;
    }
    check_member(members);
    comm_object* made = arena<comm_object>::make(
        coll::create_group({*process.engine, *process.job}, members, message_tag{tag}));
    made->errors = keep(errors);
    made->session = keep(session_of(group));
    if (hints != nullptr) {
      apply_hints(*made, *hints);
    }
    *newcomm = made->handle;
    SINEW_ENSURE(made->comm->size() == members.size());
  });
}

}  // namespace sinew::mpi
