// MPI-5.0 sections 14.4.2 and 14.4.5: accesses with explicit offsets. Nonblocking collective ones
// need nothing of other ranks: each rank does its part.
#include "abi/mpi/file_access.hpp"
#include "abi/mpi/generated/impl.hpp"

namespace sinew::mpi {
namespace {

template <class Finish>
int alone(MPI_File fh, file_way way, MPI_Offset offset, const users_buffer& b, Finish finish) {
  return on_file(fh, [&](file_object& f) -> int {
    check_offset(f, offset);
    return finish(access_of(f, way, b), offset);
  });
}

template <class Finish>
int collective(MPI_File fh, file_way way, MPI_Offset offset, const users_buffer& b, Finish finish) {
  return on_file(fh, [&](file_object& f) -> int {
    check_no_split(f);
    check_offset(f, offset);
    return finish(access_of(f, way, b), offset);
  });
}

}  // namespace

int impl::File_read_at(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Status* status) {
  return alone(fh, file_way::read, offset, {buf, count, datatype},
               [&](const file_access& a, std::int64_t from) {
                 return end_with_status(a, file_form::alone, from, status);
               });
}

int impl::File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status* status) {
  return collective(fh, file_way::read, offset, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return end_with_status(a, file_form::collective, from, status);
                    });
}

int impl::File_iread_at(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Request* request) {
  return alone(
      fh, file_way::read, offset, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_iread_at_all(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Request* request) {
  return alone(
      fh, file_way::read, offset, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                                 MPI_Datatype datatype) {
  return collective(fh, file_way::read, offset, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return begin_split(a, from, "MPI_File_read_at_all_end");
                    });
}

int impl::File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return on_file(
      fh, [&](file_object& f) { return end_split(f, buf, "MPI_File_read_at_all_end", status); });
}

int impl::File_write_at(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status* status) {
  return alone(fh, file_way::write, offset, {buf, count, datatype},
               [&](const file_access& a, std::int64_t from) {
                 return end_with_status(a, file_form::alone, from, status);
               });
}

int impl::File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status* status) {
  return collective(fh, file_way::write, offset, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return end_with_status(a, file_form::collective, from, status);
                    });
}

int impl::File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request* request) {
  return alone(
      fh, file_way::write, offset, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request* request) {
  return alone(
      fh, file_way::write, offset, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                                  MPI_Datatype datatype) {
  return collective(fh, file_way::write, offset, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return begin_split(a, from, "MPI_File_write_at_all_end");
                    });
}

int impl::File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return on_file(
      fh, [&](file_object& f) { return end_split(f, buf, "MPI_File_write_at_all_end", status); });
}

}  // namespace sinew::mpi
