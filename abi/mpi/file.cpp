// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 14.2 and 14.6: opening, closing, sizes, hints, atomic mode.
#include "abi/mpi/file.hpp"

#include <new>
#include <optional>
#include <string>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/request.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/io/agreement.hpp"

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

io::open_mode mode_of(int amode) {
  return {.reads = (amode & MPI_MODE_WRONLY) == 0,
          .writes = (amode & MPI_MODE_RDONLY) == 0,
          .creates = (amode & MPI_MODE_CREATE) != 0,
          .exclusive = (amode & MPI_MODE_EXCL) != 0,
          .appends = (amode & MPI_MODE_APPEND) != 0,
          .sequential = (amode & MPI_MODE_SEQUENTIAL) != 0,
          .deleted_on_close = (amode & MPI_MODE_DELETE_ON_CLOSE) != 0};
}

/// Gives up a file that may be half open.
void give_up(file_object* f) {
  SINEW_EXPECT(f != nullptr);
  f->opened.reset();
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

int code_of(io::error_kind met) noexcept {
  switch (met) {
    case io::error_kind::none:
      return MPI_SUCCESS;
    case io::error_kind::argument:
      return MPI_ERR_ARG;
    case io::error_kind::access:
      return MPI_ERR_ACCESS;
    case io::error_kind::bad_file_name:
      return MPI_ERR_BAD_FILE;
    case io::error_kind::buffer:
      return MPI_ERR_BUFFER;
    case io::error_kind::conversion:
      return MPI_ERR_CONVERSION;
    case io::error_kind::exists:
      return MPI_ERR_FILE_EXISTS;
    case io::error_kind::in_use:
      return MPI_ERR_FILE_IN_USE;
    case io::error_kind::no_memory:
      return MPI_ERR_NO_MEM;
    case io::error_kind::no_such_file:
      return MPI_ERR_NO_SUCH_FILE;
    case io::error_kind::no_space:
      return MPI_ERR_NO_SPACE;
    case io::error_kind::not_same:
      return MPI_ERR_NOT_SAME;
    case io::error_kind::other:
      return MPI_ERR_IO;
    case io::error_kind::pending:
      return MPI_ERR_PENDING;
    case io::error_kind::quota:
      return MPI_ERR_QUOTA;
    case io::error_kind::rank_died:
      return MPIX_ERR_PROC_FAILED;
    case io::error_kind::read_only:
      return MPI_ERR_READ_ONLY;
    case io::error_kind::too_much:
      return MPI_ERR_COUNT;
    case io::error_kind::type:
      return MPI_ERR_TYPE;
    case io::error_kind::unsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
  }
  return MPI_ERR_INTERN;
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
  } catch (const io::failure& e) {
    throw by(code_of(e.kind), e.what());
  } catch (const error& e) {
    throw by(MPI_ERR_OTHER, e.what());
  } catch (const std::exception& e) {
    throw by(MPI_ERR_INTERN, e.what());
  }
}

int impl::File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  return on_no_file([&]() -> int {
    comm_object& c = intracomm_of(comm);
    check_one_job(c, "a file");
    check_out(fh, "fh");
    check_out(filename, "filename");
    if (!io::all_same(participant_of(c), amode)) {
      fail(MPI_ERR_NOT_SAME, "the access mode is not the same on all ranks");
    }
    check_amode(amode);
    const io::hint_list hints = hints_of(info);
    auto* f = arena<file_object>::make();
    try {
      f->comm = arena<comm_object>::make(coll::duplicate(participant_of(c)));
      f->comm->errors = keep(errhandler_of_files());
      f->comm->file = handle_of<MPI_File>(f);
      f->comm->comm->name = std::string("of the file ") + filename;  // for reports
      f->amode = amode;
      f->seen_as.representation = &datarep_of("native");
      f->opened = io::file::open(participant_of(*f->comm), filename, mode_of(amode), hints);
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
    const std::optional<io::failure> problem = f.opened->close(uses(*process.requests, *f.comm));
    *fh = MPI_FILE_NULL;
    give_up(&f);
    if (problem) {  // there is no file any more whose handler could decide
      return on_no_file([&]() -> int { throw io::failure{*problem}; });
    }
    return MPI_SUCCESS;
  });
}

int impl::File_delete(const char* filename, MPI_Info info) {
  return on_no_file([&]() -> int {
    check_out(filename, "filename");
    (void)hints_of(info);
    io::remove(filename);
    return MPI_SUCCESS;
  });
}

int impl::File_set_size(MPI_File fh, MPI_Offset size) {
  return on_file(fh, [&](file_object& f) -> int {
    f.opened->resize(size);
    return MPI_SUCCESS;
  });
}

int impl::File_preallocate(MPI_File fh, MPI_Offset size) {
  return on_file(fh, [&](file_object& f) -> int {
    f.opened->reserve(size);
    return MPI_SUCCESS;
  });
}

int impl::File_get_size(MPI_File fh, MPI_Offset* size) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(size, "size");
    *size = f.opened->size();
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
    f.opened->set_hints(hints_of(info));
    return MPI_SUCCESS;
  });
}

int impl::File_get_info(MPI_File fh, MPI_Info* info_used) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(info_used, "info_used");
    auto* made = arena<info_object>::make();
    made->entries = f.opened->hints_in_force();
    *info_used = handle_of<MPI_Info>(made);
    return MPI_SUCCESS;
  });
}

int impl::File_set_atomicity(MPI_File fh, int flag) {
  return on_file(fh, [&](file_object& f) -> int {
    f.opened->set_atomic(flag != 0);
    return MPI_SUCCESS;
  });
}

int impl::File_get_atomicity(MPI_File fh, int* flag) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(flag, "flag");
    *flag = f.opened->atomic() ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int impl::File_sync(MPI_File fh) {
  return on_file(fh, [&](file_object& f) -> int {
    f.opened->flush();
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
