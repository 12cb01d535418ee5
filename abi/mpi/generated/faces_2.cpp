// Made by abi/mpi/generate; do not edit.
#include "abi/mpi/face.hpp"
#include "abi/mpi/generated/impl.hpp"

using namespace sinew::mpi;

#pragma GCC visibility push(default)
extern "C" {

int PMPI_File_iread_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iread_shared");
    return impl::File_iread_shared(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_shared"),
    gnu::visibility("default")]] int MPI_File_iread_shared(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iread_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iread_shared_c");
    return impl::File_iread_shared(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iread_shared_c"),
    gnu::visibility("default")]] int MPI_File_iread_shared_c(MPI_File fh, void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iwrite");
    return impl::File_iwrite(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite"),
    gnu::visibility("default")]] int MPI_File_iwrite(MPI_File fh, const void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_c");
    return impl::File_iwrite(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_c"),
    gnu::visibility("default")]] int MPI_File_iwrite_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_all");
    return impl::File_iwrite_all(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_all"),
    gnu::visibility("default")]] int MPI_File_iwrite_all(MPI_File fh, const void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_all_c");
    return impl::File_iwrite_all(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_all_c"),
    gnu::visibility("default")]] int MPI_File_iwrite_all_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_at");
    return impl::File_iwrite_at(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_at"),
    gnu::visibility("default")]] int MPI_File_iwrite_at(MPI_File fh, MPI_Offset offset,
    const void* buf, int count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_at_c");
    return impl::File_iwrite_at(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_at_c"),
    gnu::visibility("default")]] int MPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset,
    const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
    MPI_Datatype datatype, MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_at_all");
    return impl::File_iwrite_at_all(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_at_all"),
    gnu::visibility("default")]] int MPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset,
    const void* buf, int count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_at_all_c");
    return impl::File_iwrite_at_all(fh, offset, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_at_all_c"),
    gnu::visibility("default")]] int MPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset,
    const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_shared");
    return impl::File_iwrite_shared(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_shared"),
    gnu::visibility("default")]] int MPI_File_iwrite_shared(MPI_File fh, const void* buf,
    int count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_iwrite_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request* request) {
  try {
    enter("MPI_File_iwrite_shared_c");
    return impl::File_iwrite_shared(fh, buf, count, datatype, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_iwrite_shared_c"),
    gnu::visibility("default")]] int MPI_File_iwrite_shared_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Request* request);

int PMPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  try {
    enter("MPI_File_open");
    return impl::File_open(comm, filename, amode, info, fh);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_File_open"),
    gnu::visibility("default")]] int MPI_File_open(MPI_Comm comm, const char* filename, int amode,
    MPI_Info info, MPI_File* fh);

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  try {
    enter("MPI_File_preallocate");
    return impl::File_preallocate(fh, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_preallocate"),
    gnu::visibility("default")]] int MPI_File_preallocate(MPI_File fh, MPI_Offset size);

int PMPI_File_read(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_read");
    return impl::File_read(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read"),
    gnu::visibility("default")]] int MPI_File_read(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_c");
    return impl::File_read(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_c"),
    gnu::visibility("default")]] int MPI_File_read_c(MPI_File fh, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_all");
    return impl::File_read_all(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_all"),
    gnu::visibility("default")]] int MPI_File_read_all(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_all_c");
    return impl::File_read_all(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_all_c"),
    gnu::visibility("default")]] int MPI_File_read_all_c(MPI_File fh, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_all_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  try {
    enter("MPI_File_read_all_begin");
    return impl::File_read_all_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_all_begin"),
    gnu::visibility("default")]] int MPI_File_read_all_begin(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype);

int PMPI_File_read_all_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  try {
    enter("MPI_File_read_all_begin_c");
    return impl::File_read_all_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_all_begin_c"),
    gnu::visibility("default")]] int MPI_File_read_all_begin_c(MPI_File fh, void* buf,
    MPI_Count count, MPI_Datatype datatype);

int PMPI_File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  try {
    enter("MPI_File_read_all_end");
    return impl::File_read_all_end(fh, buf, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_all_end"),
    gnu::visibility("default")]] int MPI_File_read_all_end(MPI_File fh, void* buf,
    MPI_Status* status);

int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_at");
    return impl::File_read_at(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_at"),
    gnu::visibility("default")]] int MPI_File_read_at(MPI_File fh, MPI_Offset offset, void* buf,
    int count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_read_at_c");
    return impl::File_read_at(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_at_c"),
    gnu::visibility("default")]] int MPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_read_at_all");
    return impl::File_read_at_all(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_at_all"),
    gnu::visibility("default")]] int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset,
    void* buf, int count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_read_at_all_c");
    return impl::File_read_at_all(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_at_all_c"),
    gnu::visibility("default")]] int MPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset,
    void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, int count,
    MPI_Datatype datatype) {
  try {
    enter("MPI_File_read_at_all_begin");
    return impl::File_read_at_all_begin(fh, offset, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_at_all_begin"),
    gnu::visibility("default")]] int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset,
    void* buf, int count, MPI_Datatype datatype);

int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
    MPI_Datatype datatype) {
  try {
    enter("MPI_File_read_at_all_begin_c");
    return impl::File_read_at_all_begin(fh, offset, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_at_all_begin_c"),
    gnu::visibility("default")]] int MPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset,
    void* buf, MPI_Count count, MPI_Datatype datatype);

int PMPI_File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  try {
    enter("MPI_File_read_at_all_end");
    return impl::File_read_at_all_end(fh, buf, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_at_all_end"),
    gnu::visibility("default")]] int MPI_File_read_at_all_end(MPI_File fh, void* buf,
    MPI_Status* status);

int PMPI_File_read_ordered(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_ordered");
    return impl::File_read_ordered(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_ordered"),
    gnu::visibility("default")]] int MPI_File_read_ordered(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_ordered_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_ordered_c");
    return impl::File_read_ordered(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_ordered_c"),
    gnu::visibility("default")]] int MPI_File_read_ordered_c(MPI_File fh, void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_ordered_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  try {
    enter("MPI_File_read_ordered_begin");
    return impl::File_read_ordered_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_ordered_begin"),
    gnu::visibility("default")]] int MPI_File_read_ordered_begin(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype);

int PMPI_File_read_ordered_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  try {
    enter("MPI_File_read_ordered_begin_c");
    return impl::File_read_ordered_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_ordered_begin_c"),
    gnu::visibility("default")]] int MPI_File_read_ordered_begin_c(MPI_File fh, void* buf,
    MPI_Count count, MPI_Datatype datatype);

int PMPI_File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  try {
    enter("MPI_File_read_ordered_end");
    return impl::File_read_ordered_end(fh, buf, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_ordered_end"),
    gnu::visibility("default")]] int MPI_File_read_ordered_end(MPI_File fh, void* buf,
    MPI_Status* status);

int PMPI_File_read_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_shared");
    return impl::File_read_shared(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_shared"),
    gnu::visibility("default")]] int MPI_File_read_shared(MPI_File fh, void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_read_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_read_shared_c");
    return impl::File_read_shared(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_read_shared_c"),
    gnu::visibility("default")]] int MPI_File_read_shared_c(MPI_File fh, void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  try {
    enter("MPI_File_seek");
    return impl::File_seek(fh, offset, whence);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_seek"),
    gnu::visibility("default")]] int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence);

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  try {
    enter("MPI_File_seek_shared");
    return impl::File_seek_shared(fh, offset, whence);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_seek_shared"),
    gnu::visibility("default")]] int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset,
    int whence);

int PMPI_File_set_atomicity(MPI_File fh, int flag) {
  try {
    enter("MPI_File_set_atomicity");
    return impl::File_set_atomicity(fh, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_set_atomicity"),
    gnu::visibility("default")]] int MPI_File_set_atomicity(MPI_File fh, int flag);

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  try {
    enter("MPI_File_set_errhandler");
    return impl::File_set_errhandler(file, errhandler);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_set_errhandler"),
    gnu::visibility("default")]] int MPI_File_set_errhandler(MPI_File file,
    MPI_Errhandler errhandler);

int PMPI_File_set_info(MPI_File fh, MPI_Info info) {
  try {
    enter("MPI_File_set_info");
    return impl::File_set_info(fh, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_set_info"),
    gnu::visibility("default")]] int MPI_File_set_info(MPI_File fh, MPI_Info info);

int PMPI_File_set_size(MPI_File fh, MPI_Offset size) {
  try {
    enter("MPI_File_set_size");
    return impl::File_set_size(fh, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_set_size"),
    gnu::visibility("default")]] int MPI_File_set_size(MPI_File fh, MPI_Offset size);

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
    const char* datarep, MPI_Info info) {
  try {
    enter("MPI_File_set_view");
    return impl::File_set_view(fh, disp, etype, filetype, datarep, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_set_view"),
    gnu::visibility("default")]] int MPI_File_set_view(MPI_File fh, MPI_Offset disp,
    MPI_Datatype etype, MPI_Datatype filetype, const char* datarep, MPI_Info info);

int PMPI_File_sync(MPI_File fh) {
  try {
    enter("MPI_File_sync");
    return impl::File_sync(fh);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_sync"),
    gnu::visibility("default")]] int MPI_File_sync(MPI_File fh);

int PMPI_File_toint(MPI_File file) {
  try {
    enter("MPI_File_toint");
    return impl::File_toint(file);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_toint"),
    gnu::visibility("default")]] int MPI_File_toint(MPI_File file);

int PMPI_File_write(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write");
    return impl::File_write(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write"),
    gnu::visibility("default")]] int MPI_File_write(MPI_File fh, const void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write_c");
    return impl::File_write(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_c"),
    gnu::visibility("default")]] int MPI_File_write_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write_all");
    return impl::File_write_all(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_all"),
    gnu::visibility("default")]] int MPI_File_write_all(MPI_File fh, const void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write_all_c");
    return impl::File_write_all(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_all_c"),
    gnu::visibility("default")]] int MPI_File_write_all_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_all_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  try {
    enter("MPI_File_write_all_begin");
    return impl::File_write_all_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_all_begin"),
    gnu::visibility("default")]] int MPI_File_write_all_begin(MPI_File fh, const void* buf,
    int count, MPI_Datatype datatype);

int PMPI_File_write_all_begin_c(MPI_File fh, const void* buf, MPI_Count count,
    MPI_Datatype datatype) {
  try {
    enter("MPI_File_write_all_begin_c");
    return impl::File_write_all_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_all_begin_c"),
    gnu::visibility("default")]] int MPI_File_write_all_begin_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype);

int PMPI_File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  try {
    enter("MPI_File_write_all_end");
    return impl::File_write_all_end(fh, buf, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_all_end"),
    gnu::visibility("default")]] int MPI_File_write_all_end(MPI_File fh, const void* buf,
    MPI_Status* status);

int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_write_at");
    return impl::File_write_at(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_at"),
    gnu::visibility("default")]] int MPI_File_write_at(MPI_File fh, MPI_Offset offset,
    const void* buf, int count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_write_at_c");
    return impl::File_write_at(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_at_c"),
    gnu::visibility("default")]] int MPI_File_write_at_c(MPI_File fh, MPI_Offset offset,
    const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_write_at_all");
    return impl::File_write_at_all(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_at_all"),
    gnu::visibility("default")]] int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset,
    const void* buf, int count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status* status) {
  try {
    enter("MPI_File_write_at_all_c");
    return impl::File_write_at_all(fh, offset, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_at_all_c"),
    gnu::visibility("default")]] int MPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset,
    const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, int count,
    MPI_Datatype datatype) {
  try {
    enter("MPI_File_write_at_all_begin");
    return impl::File_write_at_all_begin(fh, offset, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_at_all_begin"),
    gnu::visibility("default")]] int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset,
    const void* buf, int count, MPI_Datatype datatype);

int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void* buf,
    MPI_Count count, MPI_Datatype datatype) {
  try {
    enter("MPI_File_write_at_all_begin_c");
    return impl::File_write_at_all_begin(fh, offset, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_at_all_begin_c"),
    gnu::visibility("default")]] int MPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset,
    const void* buf, MPI_Count count, MPI_Datatype datatype);

int PMPI_File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  try {
    enter("MPI_File_write_at_all_end");
    return impl::File_write_at_all_end(fh, buf, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_at_all_end"),
    gnu::visibility("default")]] int MPI_File_write_at_all_end(MPI_File fh, const void* buf,
    MPI_Status* status);

int PMPI_File_write_ordered(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write_ordered");
    return impl::File_write_ordered(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_ordered"),
    gnu::visibility("default")]] int MPI_File_write_ordered(MPI_File fh, const void* buf,
    int count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_ordered_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write_ordered_c");
    return impl::File_write_ordered(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_ordered_c"),
    gnu::visibility("default")]] int MPI_File_write_ordered_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_ordered_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  try {
    enter("MPI_File_write_ordered_begin");
    return impl::File_write_ordered_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_ordered_begin"),
    gnu::visibility("default")]] int MPI_File_write_ordered_begin(MPI_File fh, const void* buf,
    int count, MPI_Datatype datatype);

int PMPI_File_write_ordered_begin_c(MPI_File fh, const void* buf, MPI_Count count,
    MPI_Datatype datatype) {
  try {
    enter("MPI_File_write_ordered_begin_c");
    return impl::File_write_ordered_begin(fh, buf, count, datatype);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_ordered_begin_c"),
    gnu::visibility("default")]] int MPI_File_write_ordered_begin_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype);

int PMPI_File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  try {
    enter("MPI_File_write_ordered_end");
    return impl::File_write_ordered_end(fh, buf, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_ordered_end"),
    gnu::visibility("default")]] int MPI_File_write_ordered_end(MPI_File fh, const void* buf,
    MPI_Status* status);

int PMPI_File_write_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write_shared");
    return impl::File_write_shared(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_shared"),
    gnu::visibility("default")]] int MPI_File_write_shared(MPI_File fh, const void* buf, int count,
    MPI_Datatype datatype, MPI_Status* status);

int PMPI_File_write_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status* status) {
  try {
    enter("MPI_File_write_shared_c");
    return impl::File_write_shared(fh, buf, count, datatype, status);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_File_write_shared_c"),
    gnu::visibility("default")]] int MPI_File_write_shared_c(MPI_File fh, const void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Status* status);

int PMPI_Finalize(void) {
  try {
    enter("MPI_Finalize");
    return impl::Finalize();
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Finalize"), gnu::visibility("default")]] int MPI_Finalize(void);

int PMPI_Finalized(int* flag) {
  try {
    note("MPI_Finalized");
    return impl::Finalized(flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Finalized"),
    gnu::visibility("default")]] int MPI_Finalized(int* flag);

int PMPI_Free_mem(void* base) {
  try {
    enter("MPI_Free_mem");
    return impl::Free_mem(base);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Free_mem"), gnu::visibility("default")]] int MPI_Free_mem(void* base);

int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  try {
    enter("MPI_Gather");
    return impl::Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gather"),
    gnu::visibility("default")]] int MPI_Gather(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm);

int PMPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  try {
    enter("MPI_Gather_c");
    return impl::Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gather_c"),
    gnu::visibility("default")]] int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm);

int PMPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  try {
    enter("MPI_Gather_init");
    return impl::Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gather_init"),
    gnu::visibility("default")]] int MPI_Gather_init(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Gather_init_c");
    return impl::Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gather_init_c"),
    gnu::visibility("default")]] int MPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  try {
    enter("MPI_Gatherv");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members_at(comm, root));
    const widened<MPI_Aint> displs_wide(displs, members_at(comm, root));
    return impl::Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gatherv"),
    gnu::visibility("default")]] int MPI_Gatherv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, int root, MPI_Comm comm);

int PMPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
    MPI_Comm comm) {
  try {
    enter("MPI_Gatherv_c");
    return impl::Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gatherv_c"),
    gnu::visibility("default")]] int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, int root, MPI_Comm comm);

int PMPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Gatherv_init");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members_at(comm, root));
    const widened<MPI_Aint> displs_wide(displs, members_at(comm, root));
    return impl::Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gatherv_init"),
    gnu::visibility("default")]] int MPI_Gatherv_init(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  try {
    enter("MPI_Gatherv_init_c");
    return impl::Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Gatherv_init_c"),
    gnu::visibility("default")]] int MPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

int PMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  try {
    enter("MPI_Get");
    return impl::Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get"), gnu::visibility("default")]] int MPI_Get(void* origin_addr,
    int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Win win);

int PMPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win) {
  try {
    enter("MPI_Get_c");
    return impl::Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_c"),
    gnu::visibility("default")]] int MPI_Get_c(void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Win win);

int PMPI_Get_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
    void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  try {
    enter("MPI_Get_accumulate");
    return impl::Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_accumulate"),
    gnu::visibility("default")]] int MPI_Get_accumulate(const void* origin_addr, int origin_count,
    MPI_Datatype origin_datatype, void* result_addr, int result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);

int PMPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  try {
    enter("MPI_Get_accumulate_c");
    return impl::Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_accumulate_c"),
    gnu::visibility("default")]] int MPI_Get_accumulate_c(const void* origin_addr,
    MPI_Count origin_count, MPI_Datatype origin_datatype, void* result_addr,
    MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);

int PMPI_Get_address(const void* location, MPI_Aint* address) {
  try {
    enter("MPI_Get_address");
    return impl::Get_address(location, address);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_address"),
    gnu::visibility("default")]] int MPI_Get_address(const void* location, MPI_Aint* address);

int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  try {
    enter("MPI_Get_count");
    MPI_Count count_wide = 0;
    const int code = impl::Get_count(status, datatype, &count_wide);
    if (code == MPI_SUCCESS) {
      narrow(count_wide, count);
    }
    return code;
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_count"),
    gnu::visibility("default")]] int MPI_Get_count(const MPI_Status* status, MPI_Datatype datatype,
    int* count);

int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  try {
    enter("MPI_Get_count_c");
    return impl::Get_count(status, datatype, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_count_c"),
    gnu::visibility("default")]] int MPI_Get_count_c(const MPI_Status* status,
    MPI_Datatype datatype, MPI_Count* count);

int PMPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  try {
    enter("MPI_Get_elements");
    MPI_Count count_wide = 0;
    const int code = impl::Get_elements(status, datatype, &count_wide);
    if (code == MPI_SUCCESS) {
      narrow(count_wide, count);
    }
    return code;
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_elements"),
    gnu::visibility("default")]] int MPI_Get_elements(const MPI_Status* status,
    MPI_Datatype datatype, int* count);

int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  try {
    enter("MPI_Get_elements_c");
    return impl::Get_elements(status, datatype, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_elements_c"),
    gnu::visibility("default")]] int MPI_Get_elements_c(const MPI_Status* status,
    MPI_Datatype datatype, MPI_Count* count);

int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  try {
    enter("MPI_Get_elements_x");
    return impl::Get_elements_x(status, datatype, count);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_elements_x"),
    gnu::visibility("default")]] int MPI_Get_elements_x(const MPI_Status* status,
    MPI_Datatype datatype, MPI_Count* count);

int PMPI_Get_hw_resource_info(MPI_Info* hw_info) {
  try {
    enter("MPI_Get_hw_resource_info");
    return impl::Get_hw_resource_info(hw_info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_hw_resource_info"),
    gnu::visibility("default")]] int MPI_Get_hw_resource_info(MPI_Info* hw_info);

int PMPI_Get_library_version(char* version, int* resultlen) {
  try {
    note("MPI_Get_library_version");
    return impl::Get_library_version(version, resultlen);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_library_version"),
    gnu::visibility("default")]] int MPI_Get_library_version(char* version, int* resultlen);

int PMPI_Get_processor_name(char* name, int* resultlen) {
  try {
    enter("MPI_Get_processor_name");
    return impl::Get_processor_name(name, resultlen);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_processor_name"),
    gnu::visibility("default")]] int MPI_Get_processor_name(char* name, int* resultlen);

int PMPI_Get_version(int* version, int* subversion) {
  try {
    note("MPI_Get_version");
    return impl::Get_version(version, subversion);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Get_version"),
    gnu::visibility("default")]] int MPI_Get_version(int* version, int* subversion);

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
    int reorder, MPI_Comm* comm_graph) {
  try {
    enter("MPI_Graph_create");
    return impl::Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph);
  } catch (...) {
    return caught(comm_old);
  }
}
[[gnu::weak, gnu::alias("PMPI_Graph_create"),
    gnu::visibility("default")]] int MPI_Graph_create(MPI_Comm comm_old, int nnodes,
    const int index[], const int edges[], int reorder, MPI_Comm* comm_graph);

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]) {
  try {
    enter("MPI_Graph_get");
    return impl::Graph_get(comm, maxindex, maxedges, index, edges);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Graph_get"),
    gnu::visibility("default")]] int MPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges,
    int index[], int edges[]);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int* newrank) {
  try {
    enter("MPI_Graph_map");
    return impl::Graph_map(comm, nnodes, index, edges, newrank);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Graph_map"),
    gnu::visibility("default")]] int MPI_Graph_map(MPI_Comm comm, int nnodes, const int index[],
    const int edges[], int* newrank);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  try {
    enter("MPI_Graph_neighbors");
    return impl::Graph_neighbors(comm, rank, maxneighbors, neighbors);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Graph_neighbors"),
    gnu::visibility("default")]] int MPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors,
    int neighbors[]);

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  try {
    enter("MPI_Graph_neighbors_count");
    return impl::Graph_neighbors_count(comm, rank, nneighbors);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Graph_neighbors_count"),
    gnu::visibility("default")]] int MPI_Graph_neighbors_count(MPI_Comm comm, int rank,
    int* nneighbors);

int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  try {
    enter("MPI_Graphdims_get");
    return impl::Graphdims_get(comm, nnodes, nedges);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Graphdims_get"),
    gnu::visibility("default")]] int MPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges);

int PMPI_Grequest_complete(MPI_Request request) {
  try {
    enter("MPI_Grequest_complete");
    return impl::Grequest_complete(request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Grequest_complete"),
    gnu::visibility("default")]] int MPI_Grequest_complete(MPI_Request request);

int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
    MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  try {
    enter("MPI_Grequest_start");
    return impl::Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Grequest_start"),
    gnu::visibility("default")]] int MPI_Grequest_start(MPI_Grequest_query_function* query_fn,
    MPI_Grequest_free_function* free_fn, MPI_Grequest_cancel_function* cancel_fn,
    void* extra_state, MPI_Request* request);

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  try {
    enter("MPI_Group_compare");
    return impl::Group_compare(group1, group2, result);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_compare"),
    gnu::visibility("default")]] int MPI_Group_compare(MPI_Group group1, MPI_Group group2,
    int* result);

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  try {
    enter("MPI_Group_difference");
    return impl::Group_difference(group1, group2, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_difference"),
    gnu::visibility("default")]] int MPI_Group_difference(MPI_Group group1, MPI_Group group2,
    MPI_Group* newgroup);

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  try {
    enter("MPI_Group_excl");
    return impl::Group_excl(group, n, ranks, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_excl"),
    gnu::visibility("default")]] int MPI_Group_excl(MPI_Group group, int n, const int ranks[],
    MPI_Group* newgroup);

int PMPI_Group_free(MPI_Group* group) {
  try {
    enter("MPI_Group_free");
    return impl::Group_free(group);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_free"),
    gnu::visibility("default")]] int MPI_Group_free(MPI_Group* group);

int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  try {
    enter("MPI_Group_from_session_pset");
    return impl::Group_from_session_pset(session, pset_name, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_from_session_pset"),
    gnu::visibility("default")]] int MPI_Group_from_session_pset(MPI_Session session,
    const char* pset_name, MPI_Group* newgroup);

MPI_Group PMPI_Group_fromint(int group) {
  return impl::Group_fromint(group);
}
[[gnu::weak, gnu::alias("PMPI_Group_fromint"),
    gnu::visibility("default")]] MPI_Group MPI_Group_fromint(int group);

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  try {
    enter("MPI_Group_incl");
    return impl::Group_incl(group, n, ranks, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_incl"),
    gnu::visibility("default")]] int MPI_Group_incl(MPI_Group group, int n, const int ranks[],
    MPI_Group* newgroup);

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  try {
    enter("MPI_Group_intersection");
    return impl::Group_intersection(group1, group2, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_intersection"),
    gnu::visibility("default")]] int MPI_Group_intersection(MPI_Group group1, MPI_Group group2,
    MPI_Group* newgroup);

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  try {
    enter("MPI_Group_range_excl");
    return impl::Group_range_excl(group, n, ranges, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_range_excl"),
    gnu::visibility("default")]] int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3],
    MPI_Group* newgroup);

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  try {
    enter("MPI_Group_range_incl");
    return impl::Group_range_incl(group, n, ranges, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_range_incl"),
    gnu::visibility("default")]] int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3],
    MPI_Group* newgroup);

int PMPI_Group_rank(MPI_Group group, int* rank) {
  try {
    enter("MPI_Group_rank");
    return impl::Group_rank(group, rank);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_rank"),
    gnu::visibility("default")]] int MPI_Group_rank(MPI_Group group, int* rank);

int PMPI_Group_size(MPI_Group group, int* size) {
  try {
    enter("MPI_Group_size");
    return impl::Group_size(group, size);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_size"),
    gnu::visibility("default")]] int MPI_Group_size(MPI_Group group, int* size);

int PMPI_Group_toint(MPI_Group group) {
  try {
    enter("MPI_Group_toint");
    return impl::Group_toint(group);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_toint"),
    gnu::visibility("default")]] int MPI_Group_toint(MPI_Group group);

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
    int ranks2[]) {
  try {
    enter("MPI_Group_translate_ranks");
    return impl::Group_translate_ranks(group1, n, ranks1, group2, ranks2);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_translate_ranks"),
    gnu::visibility("default")]] int MPI_Group_translate_ranks(MPI_Group group1, int n,
    const int ranks1[], MPI_Group group2, int ranks2[]);

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  try {
    enter("MPI_Group_union");
    return impl::Group_union(group1, group2, newgroup);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Group_union"),
    gnu::visibility("default")]] int MPI_Group_union(MPI_Group group1, MPI_Group group2,
    MPI_Group* newgroup);

int PMPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iallgather");
    return impl::Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iallgather"),
    gnu::visibility("default")]] int MPI_Iallgather(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Iallgather_c");
    return impl::Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iallgather_c"),
    gnu::visibility("default")]] int MPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request);

int PMPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Iallgatherv");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> displs_wide(displs, members(comm));
    return impl::Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iallgatherv"),
    gnu::visibility("default")]] int MPI_Iallgatherv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);

int PMPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iallgatherv_c");
    return impl::Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iallgatherv_c"),
    gnu::visibility("default")]] int MPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);

int PMPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iallreduce");
    return impl::Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iallreduce"),
    gnu::visibility("default")]] int MPI_Iallreduce(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iallreduce_c");
    return impl::Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iallreduce_c"),
    gnu::visibility("default")]] int MPI_Iallreduce_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ialltoall");
    return impl::Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ialltoall"),
    gnu::visibility("default")]] int MPI_Ialltoall(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Ialltoall_c");
    return impl::Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ialltoall_c"),
    gnu::visibility("default")]] int MPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request);

int PMPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ialltoallv");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, members(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, members(comm));
    return impl::Ialltoallv(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtype, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ialltoallv"),
    gnu::visibility("default")]] int MPI_Ialltoallv(const void* sendbuf, const int sendcounts[],
    const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);

int PMPI_Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ialltoallv_c");
    return impl::Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ialltoallv_c"),
    gnu::visibility("default")]] int MPI_Ialltoallv_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ialltoallw");
    const widened<MPI_Count> sendcounts_wide(sendcounts, members(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, members(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, members(comm));
    return impl::Ialltoallw(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtypes, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtypes, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ialltoallw"),
    gnu::visibility("default")]] int MPI_Ialltoallw(const void* sendbuf, const int sendcounts[],
    const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request);

int PMPI_Ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ialltoallw_c");
    return impl::Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ialltoallw_c"),
    gnu::visibility("default")]] int MPI_Ialltoallw_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request);

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ibarrier");
    return impl::Ibarrier(comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ibarrier"),
    gnu::visibility("default")]] int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);

int PMPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Ibcast");
    return impl::Ibcast(buffer, count, datatype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ibcast"), gnu::visibility("default")]] int MPI_Ibcast(void* buffer,
    int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request);

int PMPI_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Ibcast_c");
    return impl::Ibcast(buffer, count, datatype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ibcast_c"),
    gnu::visibility("default")]] int MPI_Ibcast_c(void* buffer, MPI_Count count,
    MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request);

int PMPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ibsend");
    return impl::Ibsend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ibsend"),
    gnu::visibility("default")]] int MPI_Ibsend(const void* buf, int count, MPI_Datatype datatype,
    int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ibsend_c");
    return impl::Ibsend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ibsend_c"),
    gnu::visibility("default")]] int MPI_Ibsend_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iexscan");
    return impl::Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iexscan"),
    gnu::visibility("default")]] int MPI_Iexscan(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Iexscan_c");
    return impl::Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iexscan_c"),
    gnu::visibility("default")]] int MPI_Iexscan_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Igather");
    return impl::Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Igather"),
    gnu::visibility("default")]] int MPI_Igather(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request* request);

int PMPI_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Igather_c");
    return impl::Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Igather_c"),
    gnu::visibility("default")]] int MPI_Igather_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request* request);

int PMPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Igatherv");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members_at(comm, root));
    const widened<MPI_Aint> displs_wide(displs, members_at(comm, root));
    return impl::Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Igatherv"),
    gnu::visibility("default")]] int MPI_Igatherv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);

int PMPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Igatherv_c");
    return impl::Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Igatherv_c"),
    gnu::visibility("default")]] int MPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount,
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
    MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
    MPI_Status* status) {
  try {
    enter("MPI_Improbe");
    return impl::Improbe(source, tag, comm, flag, message, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Improbe"), gnu::visibility("default")]] int MPI_Improbe(int source,
    int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status);

int PMPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
    MPI_Request* request) {
  try {
    enter("MPI_Imrecv");
    return impl::Imrecv(buf, count, datatype, message, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Imrecv"), gnu::visibility("default")]] int MPI_Imrecv(void* buf,
    int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request);

int PMPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
    MPI_Request* request) {
  try {
    enter("MPI_Imrecv_c");
    return impl::Imrecv(buf, count, datatype, message, request);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Imrecv_c"), gnu::visibility("default")]] int MPI_Imrecv_c(void* buf,
    MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request);

int PMPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_allgather");
    return impl::Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_allgather"),
    gnu::visibility("default")]] int MPI_Ineighbor_allgather(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_allgather_c");
    return impl::Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_allgather_c"),
    gnu::visibility("default")]] int MPI_Ineighbor_allgather_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);

int PMPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_allgatherv");
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    const widened<MPI_Aint> displs_wide(displs, in_degree(comm));
    return impl::Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts_wide.data(), displs_wide.data(), recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_allgatherv"),
    gnu::visibility("default")]] int MPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);

int PMPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_allgatherv_c");
    return impl::Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_allgatherv_c"),
    gnu::visibility("default")]] int MPI_Ineighbor_allgatherv_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);

int PMPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
    void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_alltoall");
    return impl::Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_alltoall"),
    gnu::visibility("default")]] int MPI_Ineighbor_alltoall(const void* sendbuf, int sendcount,
    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_alltoall_c");
    return impl::Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_alltoall_c"),
    gnu::visibility("default")]] int MPI_Ineighbor_alltoall_c(const void* sendbuf,
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);

int PMPI_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_alltoallv");
    const widened<MPI_Count> sendcounts_wide(sendcounts, out_degree(comm));
    const widened<MPI_Aint> sdispls_wide(sdispls, out_degree(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    const widened<MPI_Aint> rdispls_wide(rdispls, in_degree(comm));
    return impl::Ineighbor_alltoallv(sendbuf, sendcounts_wide.data(), sdispls_wide.data(), sendtype, recvbuf, recvcounts_wide.data(), rdispls_wide.data(), recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_alltoallv"),
    gnu::visibility("default")]] int MPI_Ineighbor_alltoallv(const void* sendbuf,
    const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_alltoallv_c");
    return impl::Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_alltoallv_c"),
    gnu::visibility("default")]] int MPI_Ineighbor_alltoallv_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_alltoallw");
    const widened<MPI_Count> sendcounts_wide(sendcounts, out_degree(comm));
    const widened<MPI_Count> recvcounts_wide(recvcounts, in_degree(comm));
    return impl::Ineighbor_alltoallw(sendbuf, sendcounts_wide.data(), sdispls, sendtypes, recvbuf, recvcounts_wide.data(), rdispls, recvtypes, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_alltoallw"),
    gnu::visibility("default")]] int MPI_Ineighbor_alltoallw(const void* sendbuf,
    const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request);

int PMPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ineighbor_alltoallw_c");
    return impl::Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ineighbor_alltoallw_c"),
    gnu::visibility("default")]] int MPI_Ineighbor_alltoallw_c(const void* sendbuf,
    const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
    void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request);

int PMPI_Info_create(MPI_Info* info) {
  try {
    note("MPI_Info_create");
    return impl::Info_create(info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_create"),
    gnu::visibility("default")]] int MPI_Info_create(MPI_Info* info);

int PMPI_Info_create_env(int argc, char* argv[], MPI_Info* info) {
  try {
    note("MPI_Info_create_env");
    return impl::Info_create_env(argc, argv, info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_create_env"),
    gnu::visibility("default")]] int MPI_Info_create_env(int argc, char* argv[], MPI_Info* info);

int PMPI_Info_delete(MPI_Info info, const char* key) {
  try {
    note("MPI_Info_delete");
    return impl::Info_delete(info, key);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_delete"),
    gnu::visibility("default")]] int MPI_Info_delete(MPI_Info info, const char* key);

int PMPI_Info_dup(MPI_Info info, MPI_Info* newinfo) {
  try {
    note("MPI_Info_dup");
    return impl::Info_dup(info, newinfo);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_dup"),
    gnu::visibility("default")]] int MPI_Info_dup(MPI_Info info, MPI_Info* newinfo);

int PMPI_Info_free(MPI_Info* info) {
  try {
    note("MPI_Info_free");
    return impl::Info_free(info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_free"),
    gnu::visibility("default")]] int MPI_Info_free(MPI_Info* info);

MPI_Info PMPI_Info_fromint(int info) {
  return impl::Info_fromint(info);
}
[[gnu::weak, gnu::alias("PMPI_Info_fromint"),
    gnu::visibility("default")]] MPI_Info MPI_Info_fromint(int info);

int PMPI_Info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  try {
    note("MPI_Info_get");
    return impl::Info_get(info, key, valuelen, value, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_get"),
    gnu::visibility("default")]] int MPI_Info_get(MPI_Info info, const char* key, int valuelen,
    char* value, int* flag);

int PMPI_Info_get_nkeys(MPI_Info info, int* nkeys) {
  try {
    note("MPI_Info_get_nkeys");
    return impl::Info_get_nkeys(info, nkeys);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_get_nkeys"),
    gnu::visibility("default")]] int MPI_Info_get_nkeys(MPI_Info info, int* nkeys);

int PMPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
  try {
    note("MPI_Info_get_nthkey");
    return impl::Info_get_nthkey(info, n, key);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_get_nthkey"),
    gnu::visibility("default")]] int MPI_Info_get_nthkey(MPI_Info info, int n, char* key);

int PMPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  try {
    note("MPI_Info_get_string");
    return impl::Info_get_string(info, key, buflen, value, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_get_string"),
    gnu::visibility("default")]] int MPI_Info_get_string(MPI_Info info, const char* key,
    int* buflen, char* value, int* flag);

int PMPI_Info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  try {
    note("MPI_Info_get_valuelen");
    return impl::Info_get_valuelen(info, key, valuelen, flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_get_valuelen"),
    gnu::visibility("default")]] int MPI_Info_get_valuelen(MPI_Info info, const char* key,
    int* valuelen, int* flag);

int PMPI_Info_set(MPI_Info info, const char* key, const char* value) {
  try {
    note("MPI_Info_set");
    return impl::Info_set(info, key, value);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_set"),
    gnu::visibility("default")]] int MPI_Info_set(MPI_Info info, const char* key,
    const char* value);

int PMPI_Info_toint(MPI_Info info) {
  try {
    enter("MPI_Info_toint");
    return impl::Info_toint(info);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Info_toint"),
    gnu::visibility("default")]] int MPI_Info_toint(MPI_Info info);

int PMPI_Init(int* argc, char*** argv) {
  try {
    note("MPI_Init");
    return impl::Init(argc, argv);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Init"), gnu::visibility("default")]] int MPI_Init(int* argc,
    char*** argv);

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  try {
    note("MPI_Init_thread");
    return impl::Init_thread(argc, argv, required, provided);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Init_thread"),
    gnu::visibility("default")]] int MPI_Init_thread(int* argc, char*** argv, int required,
    int* provided);

int PMPI_Initialized(int* flag) {
  try {
    note("MPI_Initialized");
    return impl::Initialized(flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Initialized"),
    gnu::visibility("default")]] int MPI_Initialized(int* flag);

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
    int remote_leader, int tag, MPI_Comm* newintercomm) {
  try {
    enter("MPI_Intercomm_create");
    return impl::Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
  } catch (...) {
    return caught(local_comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Intercomm_create"),
    gnu::visibility("default")]] int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader,
    MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm* newintercomm);

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
    MPI_Group remote_group, int remote_leader, const char* stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  try {
    enter("MPI_Intercomm_create_from_groups");
    return impl::Intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler, newintercomm);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Intercomm_create_from_groups"),
    gnu::visibility("default")]] int MPI_Intercomm_create_from_groups(MPI_Group local_group,
    int local_leader, MPI_Group remote_group, int remote_leader, const char* stringtag,
    MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newintercomm);

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  try {
    enter("MPI_Intercomm_merge");
    return impl::Intercomm_merge(intercomm, high, newintracomm);
  } catch (...) {
    return caught(intercomm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Intercomm_merge"),
    gnu::visibility("default")]] int MPI_Intercomm_merge(MPI_Comm intercomm, int high,
    MPI_Comm* newintracomm);

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  try {
    enter("MPI_Iprobe");
    return impl::Iprobe(source, tag, comm, flag, status);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Iprobe"), gnu::visibility("default")]] int MPI_Iprobe(int source,
    int tag, MPI_Comm comm, int* flag, MPI_Status* status);

int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request* request) {
  try {
    enter("MPI_Irecv");
    return impl::Irecv(buf, count, datatype, source, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Irecv"), gnu::visibility("default")]] int MPI_Irecv(void* buf,
    int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Irecv_c");
    return impl::Irecv(buf, count, datatype, source, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Irecv_c"), gnu::visibility("default")]] int MPI_Irecv_c(void* buf,
    MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ireduce");
    return impl::Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ireduce"),
    gnu::visibility("default")]] int MPI_Ireduce(const void* sendbuf, void* recvbuf, int count,
    MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request* request);

int PMPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ireduce_c");
    return impl::Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ireduce_c"),
    gnu::visibility("default")]] int MPI_Ireduce_c(const void* sendbuf, void* recvbuf,
    MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ireduce_scatter");
    const widened<MPI_Count> recvcounts_wide(recvcounts, members(comm));
    return impl::Ireduce_scatter(sendbuf, recvbuf, recvcounts_wide.data(), datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ireduce_scatter"),
    gnu::visibility("default")]] int MPI_Ireduce_scatter(const void* sendbuf, void* recvbuf,
    const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ireduce_scatter_c");
    return impl::Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ireduce_scatter_c"),
    gnu::visibility("default")]] int MPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf,
    const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ireduce_scatter_block");
    return impl::Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ireduce_scatter_block"),
    gnu::visibility("default")]] int MPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf,
    int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);

int PMPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Ireduce_scatter_block_c");
    return impl::Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Ireduce_scatter_block_c"),
    gnu::visibility("default")]] int MPI_Ireduce_scatter_block_c(const void* sendbuf,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
    MPI_Request* request);

int PMPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Irsend");
    return impl::Irsend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Irsend"),
    gnu::visibility("default")]] int MPI_Irsend(const void* buf, int count, MPI_Datatype datatype,
    int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request* request) {
  try {
    enter("MPI_Irsend_c");
    return impl::Irsend(buf, count, datatype, dest, tag, comm, request);
  } catch (...) {
    return caught(comm);
  }
}
[[gnu::weak, gnu::alias("PMPI_Irsend_c"),
    gnu::visibility("default")]] int MPI_Irsend_c(const void* buf, MPI_Count count,
    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request);

int PMPI_Is_thread_main(int* flag) {
  try {
    enter("MPI_Is_thread_main");
    return impl::Is_thread_main(flag);
  } catch (...) {
    return caught();
  }
}
[[gnu::weak, gnu::alias("PMPI_Is_thread_main"),
    gnu::visibility("default")]] int MPI_Is_thread_main(int* flag);

}
#pragma GCC visibility pop
