// MPI-5.0 sections 14.2 and 14.6: opening, closing, sizes, hints, atomic mode.
#include "abi/mpi/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/request.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::mpi {
namespace {

void check_amode(int amode) {
  constexpr int known = MPI_MODE_APPEND | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE |
                        MPI_MODE_EXCL | MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL |
                        MPI_MODE_UNIQUE_OPEN | MPI_MODE_WRONLY;
  const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
  if ((amode & ~known) != 0) {
    fail(MPI_ERR_AMODE, "the access mode has bits (%#x) that mean nothing", amode & ~known);
  }
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY) {
    fail(MPI_ERR_AMODE,
         "exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY is to be given");
  }
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
    fail(MPI_ERR_AMODE, "MPI_MODE_RDONLY does not go with MPI_MODE_CREATE or MPI_MODE_EXCL");
  }
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0) {
    fail(MPI_ERR_AMODE, "MPI_MODE_RDWR does not go with MPI_MODE_SEQUENTIAL");
  }
}

/// The first rank creates the file, then the others open it: where it is not there for them, hosts
/// share no folder. Throws on all ranks if one cannot.
void open_all(file_object& f) {
  const coll::participant at = participant_of(*f.comm);
  int flags = (f.amode & MPI_MODE_RDWR) != 0     ? O_RDWR
              : (f.amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY
                                                 : O_RDONLY;
  const int create = (f.amode & MPI_MODE_CREATE) != 0 ? O_CREAT : 0;
  const auto open = [&](int more) {
    const int error = f.inner.open(f.path, flags | more, f.hints.permissions);
    if (error == ENOENT && create != 0 && at.comm.rank() != 0) {
      fail(MPI_ERR_NO_SUCH_FILE,
           "\"%s\" is not there for this rank, though rank 0 has created it: use a folder that all "
           "hosts of the job share",
           f.path.c_str());
    }
    if (error != 0) {
      fail_io(error, "open", f.path);
    }
  };
  const bool first = at.comm.rank() == 0;
  constexpr int new_one = MPI_MODE_CREATE | MPI_MODE_EXCL;
  const bool exclusive = (f.amode & new_one) == new_one;
  together(at, [&] {
    if (first) {
      open(create | (exclusive ? O_EXCL : 0));
    }
  });
  if (at.comm.size() != 1) {
    together(at, [&] {
      if (!first) {
        open(0);
      }
    });
  }
}

/// Rank 0's hold for all.
void agree_on_hints(file_object& f) {
  check_collective(coll::bcast(participant_of(*f.comm),
                               p2p::buffer::of_bytes(&f.hints.shared, sizeof f.hints.shared), 0));
}

/// Rank 0 carries out a change of the file; an error is thrown on all ranks. On all of them the
/// change is complete when this returns.
template <class Change>
void by_first_rank(file_object& f, const char* doing, Change change) {
  const coll::participant at = participant_of(*f.comm);
  if (at.comm.size() != 1) {
    check_collective(coll::barrier(at));  // complete what ranks have called before
  }
  together(at, [&] {
    const int error = at.comm.rank() == 0 ? change() : 0;
    if (error != 0) {
      fail_io(error, doing, f.path);
    }
  });
}

void check_size_argument(file_object& f, MPI_Offset size) {
  check_not_sequential(f);
  check_no_split(f);
  if (!f.may_write()) {
    fail(MPI_ERR_READ_ONLY, "\"%s\" was opened for reading only", f.path.c_str());
  }
  if (!all_same(participant_of(*f.comm), size)) {
    fail(MPI_ERR_NOT_SAME, "the size is not the same on all ranks");
  }
  if (size < 0) {
    fail(MPI_ERR_ARG, "the size %lld is negative", static_cast<long long>(size));
  }
}

/// Gives up a file that may be half open.
void give_up(file_object* f) {
  SINEW_EXPECT(f != nullptr);
  f->shared.reset();
  (void)f->inner.close();
  if (f->comm != nullptr) {
    f->comm->file = MPI_FILE_NULL;
    release_comm(f->comm);
  }
  drop(f);
}

}  // namespace

file_object::~file_object() {
  drop(resolve<type_object>(seen_as.etype));
  drop(resolve<type_object>(seen_as.filetype));
}

file_object& file_of(MPI_File handle) {
  auto* found = resolve<file_object>(handle);
  if (found == nullptr) [[unlikely]] {
    throw failure{
        MPI_ERR_FILE,
        handle == MPI_FILE_NULL ? "the file is MPI_FILE_NULL" : "the file is closed or none",
        nullptr, true};
  }
  SINEW_ENSURE(found->comm != nullptr);
  return *found;
}

void fail_for_file(comm_object* comm) {
  const auto by = [comm](int code, const char* sentence) {
    return failure{code, sentence, comm, comm == nullptr};
  };
  try {
    throw;
  } catch (failure& f) {
    if (f.comm == nullptr) {
      f.comm = comm;
      f.of_no_file = comm == nullptr;
    }
    throw;
  } catch (const std::bad_alloc&) {
    throw by(MPI_ERR_NO_MEM, "out of memory");
  } catch (const error& e) {
    throw by(MPI_ERR_OTHER, e.what());
  } catch (const std::exception& e) {
    throw by(MPI_ERR_INTERN, e.what());
  }
}

void check_collective(coll::fault f) {
  if (f == coll::fault::peer_failed) {
    fail(MPIX_ERR_PROC_FAILED, "a rank that has opened the file has died");
  }
  if (f != coll::fault::none) {
    fail(MPI_ERR_NO_MEM, "there is no memory left for a collective operation on a file");
  }
}

std::int64_t largest_of(coll::participant at, std::int64_t mine) {
  const coll::op most{.kind = coll::op_kind::max};
  const p2p::buffer word{&mine, 1, &layout::of(layout::element::i64)};
  [[maybe_unused]] const std::int64_t own = mine;
  check_collective(coll::allreduce(at, coll::in_place, word, most));
  SINEW_ENSURE(mine >= own);
  return mine;
}

bool all_same(coll::participant at, std::int64_t mine) {
  std::int64_t both[2] = {mine, -mine};
  const coll::op most{.kind = coll::op_kind::max};
  const p2p::buffer words{both, 2, &layout::of(layout::element::i64)};
  check_collective(coll::allreduce(at, coll::in_place, words, most));
  SINEW_ASSERT(both[0] >= mine && both[1] >= -mine);
  return both[0] == -both[1];
}

void throw_together(coll::participant at, const failure* mine) {
  SINEW_EXPECT(mine == nullptr || mine->code > 0);
  // All ranks get the error class of the lowest rank that failed.
  const std::int64_t none = INT64_MIN;
  const std::int64_t worst = largest_of(
      at, mine != nullptr ? -(std::int64_t{at.comm.rank().value()} << 32 | mine->code) : none);
  if (worst == none) {
    return;
  }
  if (mine != nullptr) {
    throw failure{*mine};
  }
  fail(static_cast<int>(-worst & 0xffffffff), "rank %lld could not do it",
       static_cast<long long>(-worst >> 32));
}

void check_not_sequential(const file_object& f) {
  if ((f.amode & MPI_MODE_SEQUENTIAL) != 0) [[unlikely]] {
    fail(MPI_ERR_UNSUPPORTED_OPERATION,
         "\"%s\" was opened with MPI_MODE_SEQUENTIAL: only accesses by the shared pointer are "
         "allowed",
         f.path.c_str());
  }
}

void check_no_split(const file_object& f) {
  if (f.split.end != nullptr) [[unlikely]] {
    fail(MPI_ERR_IO, "a split access is under way: %s is missing", f.split.end);
  }
}

int impl::File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  return on_no_file([&]() -> int {
    comm_object& c = intracomm_of(comm);
    check_one_job(c, "a file");
    check_out(fh, "fh");
    check_out(filename, "filename");
    if (!all_same(participant_of(c), amode)) {
      fail(MPI_ERR_NOT_SAME, "the access mode is not the same on all ranks");
    }
    check_amode(amode);
    const info_object* hints = info == MPI_INFO_NULL ? nullptr : &info_of(info);
    auto* f = arena<file_object>::make();
    try {
      f->comm = arena<comm_object>::make(coll::duplicate(participant_of(c)));
      f->comm->errors = keep(errhandler_of_files());
      f->comm->file = handle_of<MPI_File>(f);
      f->path = filename;
      f->comm->comm->name = "of the file " + f->path;  // for reports
      f->amode = amode;
      if (hints != nullptr) {
        f->hints.take(*hints);
      }
      agree_on_hints(*f);
      open_all(*f);
      install(*f, view_of(*f, 0, MPI_BYTE, MPI_BYTE, datarep_of("native")));
      f->shared = shared_position::make(participant_of(*f->comm));
      if ((amode & MPI_MODE_APPEND) != 0) {
        const std::int64_t end = end_in_etypes(*f);
        f->position.store(end, std::memory_order_relaxed);
        if (f->comm->comm->rank() == 0) {
          f->shared->set(end);
        }
        check_collective(coll::barrier(participant_of(*f->comm)));
      }
      SINEW_ASSERT(f->view != nullptr && f->shared != nullptr);
    } catch (...) {
      give_up(f);
      throw;
    }
    *fh = handle_of<MPI_File>(f);
    return MPI_SUCCESS;
  });
}

int impl::File_close(MPI_File* fh) {
  if (fh == nullptr) {
    return on_no_file([&]() -> int {
      check_out(fh, "fh");
      return MPI_SUCCESS;
    });
  }
  return on_file(*fh, [&](file_object& f) -> int {
    const coll::participant at = participant_of(*f.comm);
    std::optional<failure> dead;  // somebody is: those that live close it all the same, and say so
    try {
      together(at, [&] {
        check_no_split(f);
        if (uses(*process.requests, *f.comm)) {
          fail(MPI_ERR_PENDING, "a nonblocking access to \"%s\" has not been completed",
               f.path.c_str());
        }
      });
    } catch (const failure& e) {
      if (e.code != MPIX_ERR_PROC_FAILED) {
        throw;
      }
      dead = e;
    }
    // All ranks have agreed to close: no access is under way.
    int error = f.inner.close();
    if ((f.amode & MPI_MODE_DELETE_ON_CLOSE) != 0 && !dead) {
      check_collective(coll::barrier(at));
      if (at.comm.rank() == 0 && ::unlink(f.path.c_str()) != 0 && error == 0) {
        error = errno;
      }
      check_collective(coll::barrier(at));
    }
    const std::string path = f.path;
    *fh = MPI_FILE_NULL;
    give_up(&f);
    if (dead) {
      return on_no_file([&]() -> int { throw failure{dead->code, dead->sentence}; });
    }
    if (error != 0) {
      return on_no_file([&]() -> int { fail_io(error, "close", path); });
    }
    return MPI_SUCCESS;
  });
}

int impl::File_delete(const char* filename, MPI_Info info) {
  return on_no_file([&]() -> int {
    check_out(filename, "filename");
    if (info != MPI_INFO_NULL) {
      (void)info_of(info);
    }
    if (::unlink(filename) != 0) {
      fail_io(errno, "delete", filename);
    }
    return MPI_SUCCESS;
  });
}

int impl::File_set_size(MPI_File fh, MPI_Offset size) {
  return on_file(fh, [&](file_object& f) -> int {
    check_size_argument(f, size);
    by_first_rank(f, "resize", [&] { return f.inner.resize(size); });
    return MPI_SUCCESS;
  });
}

int impl::File_preallocate(MPI_File fh, MPI_Offset size) {
  return on_file(fh, [&](file_object& f) -> int {
    check_size_argument(f, size);
    by_first_rank(f, "reserve room for", [&] { return size == 0 ? 0 : f.inner.reserve(size); });
    return MPI_SUCCESS;
  });
}

int impl::File_get_size(MPI_File fh, MPI_Offset* size) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(size, "size");
    const std::int64_t bytes = f.inner.size();
    if (bytes < 0) {
      fail_io(errno, "tell the size of", f.path);
    }
    *size = bytes;
    return MPI_SUCCESS;
  });
}

int impl::File_get_group(MPI_File fh, MPI_Group* group) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(group, "group");
    *group = new_group(f.comm->comm->members(), f.comm->session);
    return MPI_SUCCESS;
  });
}

int impl::File_get_amode(MPI_File fh, int* amode) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(amode, "amode");
    *amode = f.amode;
    return MPI_SUCCESS;
  });
}

int impl::File_set_info(MPI_File fh, MPI_Info info) {
  return on_file(fh, [&](file_object& f) -> int {
    if (info != MPI_INFO_NULL) {
      f.hints.take(info_of(info));
    }
    agree_on_hints(f);
    return MPI_SUCCESS;
  });
}

int impl::File_get_info(MPI_File fh, MPI_Info* info_used) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(info_used, "info_used");
    auto* made = arena<info_object>::make();
    f.hints.write_to(*made, f.comm->comm->size());
    *info_used = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
  });
}

int impl::File_set_atomicity(MPI_File fh, int flag) {
  return on_file(fh, [&](file_object& f) -> int {
    check_no_split(f);
    // Also keeps accesses of the one mode from those of the other.
    if (!all_same(participant_of(*f.comm), flag != 0 ? 1 : 0)) {
      fail(MPI_ERR_NOT_SAME, "the flag is not the same on all ranks");
    }
    f.atomic_mode = flag != 0;
    return MPI_SUCCESS;
  });
}

int impl::File_get_atomicity(MPI_File fh, int* flag) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(flag, "flag");
    *flag = f.atomic_mode ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int impl::File_sync(MPI_File fh) {
  return on_file(fh, [&](file_object& f) -> int {
    check_no_split(f);
    // On one node: the system flushes what any process has written to the file.
    by_first_rank(f, "flush", [&] { return f.inner.flush(); });
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
