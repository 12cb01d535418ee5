// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 14.3 and 14.4.3: views, and where their pointers stand.
#include <cstring>
#include <optional>

#include "abi/mpi/file.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "sinew/io/agreement.hpp"

namespace sinew::mpi {
namespace {

/// What a new handle of a view's type is: the same object.
MPI_Datatype another(MPI_Datatype type) {
  (void)keep(resolve<type_object>(type));  // null for predefined ones
  return type;
}

io::origin origin_of(int whence) noexcept {
  switch (whence) {
    case MPI_SEEK_SET:
      return io::origin::begin;
    case MPI_SEEK_CUR:
      return io::origin::current;
    case MPI_SEEK_END:
      return io::origin::end;
    default:
      return io::origin::none;
  }
}

/// If the step throws on some ranks, all ranks throw with the error class of the lowest of them;
/// the sentence is given on that rank. Collective.
template <class Step>
void together(file_object& f, Step step) {
  std::optional<failure> own;
  try {
    try {
      step();
    } catch (...) {
      fail_for_file(f.comm);
    }
  } catch (const failure& e) {
    own = e;
  }
  const io::failed_rank lowest =
      io::lowest_failure(participant_of(*f.comm), own ? own->code : MPI_SUCCESS);
  if (own) {
    throw failure{*own};
  }
  if (lowest.code != MPI_SUCCESS) {
    fail(lowest.code, "rank %d could not do it", lowest.rank.value());
  }
}

}  // namespace

int impl::File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                        const char* datarep, MPI_Info info) {
  return on_file(fh, [&](file_object& f) -> int {
    std::optional<io::file_view> view;
    view_arguments seen_as{etype, filetype};
    io::hint_list hints;
    together(f, [&] {
      f.opened->check_no_split();
      const bool sequential = f.opened->mode().sequential;
      if (sequential != (disp == MPI_DISPLACEMENT_CURRENT)) {
        fail(MPI_ERR_DISP, sequential ? "with MPI_MODE_SEQUENTIAL the displacement must be "
                                        "MPI_DISPLACEMENT_CURRENT"
                                      : "MPI_DISPLACEMENT_CURRENT needs MPI_MODE_SEQUENTIAL");
      }
      if (!sequential && disp < 0) {
        fail(MPI_ERR_DISP, "the displacement %lld is negative", static_cast<long long>(disp));
      }
      hints = hints_of(info);
      seen_as.representation = &datarep_of(datarep);
      (void)layout_of(etype);  // committed
      (void)layout_of(filetype);
      const layout::datatype_ref part = in_file(*seen_as.representation, etype);
      const layout::datatype_ref whole = in_file(*seen_as.representation, filetype);
      view.emplace(f.opened->checked_view(sequential ? f.opened->shared_offset() : disp,
                                          part->size(), *whole));
    });
    (void)another(etype);
    (void)another(filetype);
    drop(resolve<type_object>(f.seen_as.etype));
    drop(resolve<type_object>(f.seen_as.filetype));
    f.seen_as = seen_as;
    f.opened->set_view(std::move(*view), hints);
    return MPI_SUCCESS;
  });
}

int impl::File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                        char* datarep) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(disp, "disp");
    check_out(etype, "etype");
    check_out(filetype, "filetype");
    check_out(datarep, "datarep");
    *disp = f.opened->view().displacement();
    *etype = another(f.seen_as.etype);
    *filetype = another(f.seen_as.filetype);
    const std::string& name = f.seen_as.representation->name;
    std::memcpy(datarep, name.c_str(), name.size() + 1);
    return MPI_SUCCESS;
  });
}

int impl::File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  return on_file(fh, [&](file_object& f) -> int {
    const io::origin from = origin_of(whence);
    if (from == io::origin::none) {
      fail(MPI_ERR_ARG, "%d is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END", whence);
    }
    f.opened->seek(offset, from);
    return MPI_SUCCESS;
  });
}

int impl::File_get_position(MPI_File fh, MPI_Offset* offset) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(offset, "offset");
    *offset = f.opened->position();
    return MPI_SUCCESS;
  });
}

int impl::File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  return on_file(fh, [&](file_object& f) -> int {
    f.opened->seek_shared(offset, origin_of(whence));
    return MPI_SUCCESS;
  });
}

int impl::File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(offset, "offset");
    *offset = f.opened->shared_position();
    return MPI_SUCCESS;
  });
}

int impl::File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(disp, "disp");
    *disp = f.opened->byte_offset(offset);
    return MPI_SUCCESS;
  });
}

int impl::File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  return on_file(fh, [&](file_object& f) -> int {
    check_out(extent, "extent");
    *extent = in_file(*f.seen_as.representation, datatype)->extent();
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
