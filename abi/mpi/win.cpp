// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 12.2 and 12.3: making windows, and what is known of them.
#include <algorithm>
#include <cstring>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/window.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

using memory_layout = window::memory::placement;

const char* const known_hints[][2] = {{"no_locks", "false"},
                                      {"accumulate_ordering", "rar,raw,war,waw"},
                                      {"accumulate_ops", "same_op_no_op"},
                                      {"mpi_accumulate_granularity", "0"},
                                      {"same_size", "false"},
                                      {"same_disp_unit", "false"},
                                      {"alloc_shared_noncontig", "false"}};

void take_hints(window_object& w, MPI_Info info) {
  if (info == MPI_INFO_NULL) {
    return;
  }
  for (const auto& [key, value] : info_of(info).entries) {
    for (auto& [known, now] : w.hints->entries) {
      if (known == key) {
        now = value;
      }
    }
  }
}

/// The same answer on all ranks: each of them sees a member elsewhere, or none does.
void check_one_node(const comm_object& c) {
  const boot::place& here = process.runtime->session().where();
  for (const job_rank member : c.comm->members().members()) {
    if (!here.is_near(member)) {
      fail(MPI_ERR_RMA_SHARED,
           "ranks share memory on one node only, and rank %d of the job is on another one: "
           "MPI_Comm_split_type(MPI_COMM_TYPE_SHARED) makes communicators of one node",
           member.value());
    }
  }
}

/// Collective: `mine` is this rank's part.
window_object& make(MPI_Comm comm, MPI_Info info, int flavor, memory_layout how,
                    const window::memory::part& mine, MPI_Win* win) {
  comm_object& c = intracomm_of(comm);
  check_out(win, "win");
  SINEW_EXPECT(mine.unit > 0);
  const info_object* hints = info == MPI_INFO_NULL ? nullptr : &info_of(info);
  if (how == memory_layout::contiguous && hints != nullptr &&
      hints->value("alloc_shared_noncontig") == "true") {
    how = memory_layout::separate;
  }
  check_one_job(c, "a window");
  if (flavor == MPI_WIN_FLAVOR_SHARED) {
    check_one_node(c);
  }
  auto* w = arena<window_object>::make();
  try {
    w->comm = arena<comm_object>::make(coll::duplicate(participant_of(c)));
    w->comm->errors = keep(errhandler_of(MPI_ERRORS_ARE_FATAL));
    w->comm->window = handle_of<MPI_Win>(w);
    w->hints = arena<info_object>::make();
    for (const auto& [key, value] : known_hints) {
      w->hints->entries.emplace_back(key, value);
    }
    take_hints(*w, info);
    w->flavor = flavor;
    w->special = flavor == MPI_WIN_FLAVOR_DYNAMIC ? window_object::dynamic : 0;
    w->unit = static_cast<int>(mine.unit);
    w->bytes = static_cast<MPI_Aint>(mine.bytes);
    w->locks.assign(static_cast<std::size_t>(c.comm->size()), window_lock{});
    w->memory = window::memory::make(participant_of(*w->comm), how, mine);
  } catch (...) {
    drop(w->hints);
    release_comm(w->comm);
    drop(w);
    throw;
  }
  SINEW_ENSURE(w->memory != nullptr && w->locks.size() == static_cast<std::size_t>(c.comm->size()));
  *win = handle_of<MPI_Win>(w);
  return *w;
}

void check_part(MPI_Aint size, MPI_Aint disp_unit) {
  if (size < 0) {
    fail(MPI_ERR_SIZE, "the size %lld is negative", static_cast<long long>(size));
  }
  if (disp_unit <= 0) {
    fail(MPI_ERR_DISP, "the displacement unit %lld is not positive",
         static_cast<long long>(disp_unit));
  }
}

int allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win, int flavor, memory_layout how) {
  check_part(size, disp_unit);
  check_out(baseptr, "baseptr");
  window_object& w =
      make(comm, info, flavor, how, {nullptr, static_cast<std::uint64_t>(size), disp_unit}, win);
  void* base = w.memory->base_of(w.comm->comm->rank().value());
  SINEW_ASSERT(base != nullptr);
  std::memcpy(baseptr, &base, sizeof base);
  return MPI_SUCCESS;
}

void check_no_epoch(const window_object& w) {
  const bool locked =
      std::any_of(w.locks.begin(), w.locks.end(), [](window_lock h) { return h.held(); });
  if (locked || !w.is_started.empty() || w.is_posted) {
    fail(MPI_ERR_RMA_SYNC, "an epoch of the window is open: MPI_Win_%s is missing",
         w.all_held    ? "unlock_all"
         : locked      ? "unlock"
         : w.is_posted ? "wait"
                       : "complete");
  }
}

}  // namespace

void bad_window(MPI_Win handle) {
  fail(MPI_ERR_WIN, "the window is %s", handle == MPI_WIN_NULL ? "MPI_WIN_NULL" : "freed or none");
}

int impl::Win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                     MPI_Win* win) {
  check_part(size, disp_unit);
  if (base == nullptr && size != 0) {
    fail(MPI_ERR_ARG, "the memory is null and its size is not 0");
  }
  (void)make(comm, info, MPI_WIN_FLAVOR_CREATE, memory_layout::own,
             {base, static_cast<std::uint64_t>(size), disp_unit}, win);
  return MPI_SUCCESS;
}

int impl::Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  (void)make(comm, info, MPI_WIN_FLAVOR_DYNAMIC, memory_layout::own, {nullptr, 0, 1}, win);
  return MPI_SUCCESS;
}

int impl::Win_allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                       void* baseptr, MPI_Win* win) {
  return allocate(size, disp_unit, info, comm, baseptr, win, MPI_WIN_FLAVOR_ALLOCATE,
                  memory_layout::separate);
}

int impl::Win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                              void* baseptr, MPI_Win* win) {
  return allocate(size, disp_unit, info, comm, baseptr, win, MPI_WIN_FLAVOR_SHARED,
                  memory_layout::contiguous);
}

int impl::Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit,
                           void* baseptr) {
  return on_window(win, [&](window_object& w) -> int {
    check_out(size, "size");
    check_out(disp_unit, "disp_unit");
    check_out(baseptr, "baseptr");
    if (w.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
      fail(MPI_ERR_RMA_FLAVOR, "the window has no memory of its own: MPI_Win_create_dynamic");
    }
    int which = rank;
    if (rank == MPI_PROC_NULL) {  // the first that has memory
      which = 0;
      while (which + 1 < w.comm->comm->size() && w.memory->of(which).bytes == 0) {
        ++which;
      }
    } else {
      check_target(w, rank);
    }
    SINEW_ASSERT(which >= 0 && which < w.comm->comm->size());
    const window::record& r = w.memory->of(which);
    void* base = r.bytes != 0 ? w.memory->base_of(which) : nullptr;
    *size = base != nullptr ? static_cast<MPI_Aint>(r.bytes) : 0;
    *disp_unit = static_cast<MPI_Aint>(r.unit);
    std::memcpy(baseptr, &base, sizeof base);
    return MPI_SUCCESS;
  });
}

int impl::Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  return on_window(win, [&](window_object& w) -> int {
    if (w.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
      fail(MPI_ERR_RMA_FLAVOR, "memory is attached to windows of MPI_Win_create_dynamic only");
    }
    if (size < 0) {
      fail(MPI_ERR_SIZE, "the size %lld is negative", static_cast<long long>(size));
    }
    if (size != 0 && !w.memory->attach(reinterpret_cast<std::uint64_t>(base),
                                       static_cast<std::uint64_t>(size))) {
      fail(MPI_ERR_RMA_ATTACH, "a part of this memory is attached already");
    }
    return MPI_SUCCESS;
  });
}

int impl::Win_detach(MPI_Win win, const void* base) {
  return on_window(win, [&](window_object& w) -> int {
    if (w.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
      fail(MPI_ERR_RMA_FLAVOR, "memory is attached to windows of MPI_Win_create_dynamic only");
    }
    if (!w.memory->detach(reinterpret_cast<std::uint64_t>(base))) {
      fail(MPI_ERR_RMA_ATTACH, "no memory that begins at %p is attached", base);
    }
    return MPI_SUCCESS;
  });
}

int impl::Win_free(MPI_Win* win) {
  check_out(win, "win");
  const MPI_Win handle = *win;
  return on_window(handle, [&](window_object& w) -> int {
    check_no_epoch(w);
    delete_attributes(attached_to::win, handle, w.attached);
    w.memory->complete();
    (void)coll::barrier(participant_of(*w.comm), "MPI_Win_free");  // no operations are under way
    w.memory.reset();
    w.comm->window = MPI_WIN_NULL;
    drop(w.hints);
    release_comm(w.comm);
    drop(&w);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
  });
}

int impl::Win_get_group(MPI_Win win, MPI_Group* group) {
  return on_window(win, [&](window_object& w) -> int {
    check_out(group, "group");
    *group = new_group(w.comm->comm->members(), w.comm->session);
    return MPI_SUCCESS;
  });
}

int impl::Win_set_name(MPI_Win win, const char* win_name) {
  return on_window(win, [&](window_object& w) -> int {
    check_out(win_name, "win_name");
    w.name.assign(win_name, ::strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
    return MPI_SUCCESS;
  });
}

int impl::Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  constexpr char null_name[] = "MPI_WIN_NULL";
  if (win == MPI_WIN_NULL && win_name != nullptr && resultlen != nullptr) {  // it has a name
    std::memcpy(win_name, null_name, sizeof null_name);
    *resultlen = static_cast<int>(sizeof null_name) - 1;
    return MPI_SUCCESS;
  }
  return on_window(win, [&](window_object& w) -> int {
    check_out(win_name, "win_name");
    check_out(resultlen, "resultlen");
    std::memcpy(win_name, w.name.c_str(), w.name.size() + 1);
    *resultlen = static_cast<int>(w.name.size());
    return MPI_SUCCESS;
  });
}

int impl::Win_set_info(MPI_Win win, MPI_Info info) {
  return on_window(win, [&](window_object& w) -> int {
    take_hints(w, info);
    return MPI_SUCCESS;
  });
}

int impl::Win_get_info(MPI_Win win, MPI_Info* info_used) {
  return on_window(win, [&](window_object& w) -> int {
    check_out(info_used, "info_used");
    *info_used = handle_of<MPI_Info>(copy_of(*w.hints));
    return MPI_SUCCESS;
  });
}

int impl::Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  return on_window(win, [&](window_object& w) -> int {
    errhandler_object* e = errhandler_of(errhandler);
    using action = errhandler_object::action;
    if (e->act == action::comm || e->act == action::file || e->act == action::session) {
      fail(MPI_ERR_ERRHANDLER, "the error handler was not made for windows");
    }
    drop(std::exchange(w.comm->errors, keep(e)));
    return MPI_SUCCESS;
  });
}

int impl::Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  return on_window(win, [&](window_object& w) -> int {
    check_out(errhandler, "errhandler");
    *errhandler = handle_of(keep(w.comm->errors));
    return MPI_SUCCESS;
  });
}

int impl::Win_call_errhandler(MPI_Win win, int errorcode) {
  return on_window(win, [&](window_object& w) -> int {
    (void)raise_error(w.comm, errorcode, "called by the program");
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
