// MPI-5.0 sections 14.3 and 14.4.3: views, and where their pointers stand.
#include <cerrno>
#include <cstring>

#include "abi/mpi/file_access.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

void check_view(const file_view& v, bool writes) {
  switch (v.wrong()) {
    case file_view::defect::negative:
      fail(MPI_ERR_TYPE, "the filetype has a negative displacement");
    case file_view::defect::backwards:
      fail(MPI_ERR_TYPE, "the displacements of the filetype do not rise");
    case file_view::defect::overlapping:
      if (writes) {
        fail(MPI_ERR_TYPE, "parts of the filetype overlap, and the file may be written");
      }
      return;
    case file_view::defect::none:
      return;
  }
}

/// What a new handle of a view's type is: the same object.
MPI_Datatype another(MPI_Datatype type) {
  (void)keep(resolve<type_object>(type));  // null for predefined ones
  return type;
}

/// The position that a seek leads to. `now`: the pointer.
std::int64_t target_of(const file_object& f, MPI_Offset offset, int whence, std::int64_t now) {
  std::int64_t from = 0;
  if (whence == MPI_SEEK_CUR) {
    from = now;
  } else if (whence == MPI_SEEK_END) {
    from = end_in_etypes(f);
  } else if (whence != MPI_SEEK_SET) {
    fail(MPI_ERR_ARG, "%d is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END", whence);
  }
  std::int64_t to = 0;
  if (__builtin_add_overflow(from, offset, &to) || to < 0) {
    fail(MPI_ERR_ARG, "the place %lld etypes from %lld is before the view's begin or too far",
         static_cast<long long>(offset), static_cast<long long>(from));
  }
  SINEW_ENSURE(to >= 0);
  return to;
}

}  // namespace

new_view view_of(const file_object& f, MPI_Offset displacement, MPI_Datatype etype,
                 MPI_Datatype filetype, const datarep& representation) {
  (void)layout_of(etype);  // committed
  (void)layout_of(filetype);
  const layout::datatype_ref part = in_file(representation, etype);
  const layout::datatype_ref whole = in_file(representation, filetype);
  if (part->size() == 0) {
    fail(MPI_ERR_TYPE, "the etype has no data");
  }
  if (whole->size() % part->size() != 0) {
    fail(MPI_ERR_TYPE, "the filetype (%zu bytes) is not made of etypes (%zu bytes)", whole->size(),
         part->size());
  }
  auto view = std::make_unique<file_view>(displacement, *whole);
  check_view(*view, f.may_write());
  return {std::move(view),
          {etype, filetype, &representation, static_cast<std::int64_t>(part->size())}};
}

void install(file_object& f, new_view made) {
  SINEW_EXPECT(made.view != nullptr);
  SINEW_EXPECT(made.seen_as.representation != nullptr && made.seen_as.etype_bytes > 0);
  (void)another(made.seen_as.etype);
  (void)another(made.seen_as.filetype);
  drop(resolve<type_object>(f.seen_as.etype));
  drop(resolve<type_object>(f.seen_as.filetype));
  f.seen_as = made.seen_as;
  f.view = std::move(made.view);
  f.position.store(0, std::memory_order_relaxed);
}

std::int64_t end_in_etypes(const file_object& f) {
  const std::int64_t size = f.inner.size();
  if (size < 0) {
    fail_io(errno, "tell the size of", f.path);
  }
  SINEW_ASSERT(f.view != nullptr && f.seen_as.etype_bytes > 0);
  // The first etype of which no byte is in the file.
  return (f.view->bytes_before(size) + f.seen_as.etype_bytes - 1) / f.seen_as.etype_bytes;
}

int impl::File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                        const char* datarep, MPI_Info info) {
  return on_file(fh, [&](file_object& f) -> int {
    const coll::participant at = participant_of(*f.comm);
    new_view made;
    const info_object* hints = nullptr;
    together(at, [&] {
      check_no_split(f);
      const bool sequential = (f.amode & MPI_MODE_SEQUENTIAL) != 0;
      if (sequential != (disp == MPI_DISPLACEMENT_CURRENT)) {
        fail(MPI_ERR_DISP, sequential ? "with MPI_MODE_SEQUENTIAL the displacement must be "
                                        "MPI_DISPLACEMENT_CURRENT"
                                      : "MPI_DISPLACEMENT_CURRENT needs MPI_MODE_SEQUENTIAL");
      }
      if (!sequential && disp < 0) {
        fail(MPI_ERR_DISP, "the displacement %lld is negative", static_cast<long long>(disp));
      }
      hints = info == MPI_INFO_NULL ? nullptr : &info_of(info);
      const std::int64_t now = f.shared->get() * f.seen_as.etype_bytes;
      const std::int64_t from = !sequential       ? disp
                                : f.view->empty() ? f.view->displacement()
                                                  : f.view->offset_of(now);
      made = view_of(f, from, etype, filetype, datarep_of(datarep));
    });
    install(f, std::move(made));
    if (hints != nullptr) {
      f.hints.take(*hints);
    }
    // together() has returned: all ranks have read the shared pointer, and none has moved it yet.
    if (at.comm.rank() == 0) {
      f.shared->set(0);
    }
    check_collective(
        coll::bcast(at, p2p::buffer::of_bytes(&f.hints.shared, sizeof f.hints.shared), 0));
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
    *disp = f.view->displacement();
    *etype = another(f.seen_as.etype);
    *filetype = another(f.seen_as.filetype);
    const std::string& name = f.seen_as.representation->name;
    std::memcpy(datarep, name.c_str(), name.size() + 1);
    return MPI_SUCCESS;
  });
}

int impl::File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  return on_file(fh, [&](file_object& f) -> int {
    check_not_sequential(f);
    const std::int64_t now = f.position.load(std::memory_order_relaxed);
    f.position.store(target_of(f, offset, whence, now), std::memory_order_relaxed);
    return MPI_SUCCESS;
  });
}

int impl::File_get_position(MPI_File fh, MPI_Offset* offset) {
  return on_file(fh, [&](file_object& f) -> int {
    check_not_sequential(f);
    check_out(offset, "offset");
    *offset = f.position.load(std::memory_order_relaxed);
    return MPI_SUCCESS;
  });
}

int impl::File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  return on_file(fh, [&](file_object& f) -> int {
    check_not_sequential(f);
    check_no_split(f);
    const coll::participant at = participant_of(*f.comm);
    if (!all_same(at, offset) || !all_same(at, whence)) {
      fail(MPI_ERR_NOT_SAME, "the offset or what it counts from is not the same on all ranks");
    }
    together(at, [&] {
      if (at.comm.rank() == 0) {
        f.shared->set(target_of(f, offset, whence, f.shared->get()));
      }
    });
    return MPI_SUCCESS;
  });
}

int impl::File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  return on_file(fh, [&](file_object& f) -> int {
    check_not_sequential(f);
    check_out(offset, "offset");
    *offset = f.shared->get();
    return MPI_SUCCESS;
  });
}

int impl::File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  return on_file(fh, [&](file_object& f) -> int {
    check_offset(f, offset);
    check_out(disp, "disp");
    std::int64_t position = 0;
    if (f.view->empty() || __builtin_mul_overflow(offset, f.seen_as.etype_bytes, &position)) {
      fail(MPI_ERR_ARG, "the view has no etype %lld", static_cast<long long>(offset));
    }
    *disp = f.view->offset_of(position);
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
