// MPI-5.0 sections 14.4.3 and 14.4.5: accesses by individual pointers.
#include "abi/mpi/file_access.hpp"
#include "abi/mpi/generated/impl.hpp"

namespace sinew::mpi {
namespace {

template <class Finish>
int alone(MPI_File fh, file_way way, const users_buffer& b, Finish finish) {
  return on_file(fh, [&](file_object& f) -> int {
    const file_access a = access_of(f, way, b);
    return finish(a, take_individual(a));
  });
}

template <class Finish>
int collective(MPI_File fh, file_way way, const users_buffer& b, Finish finish) {
  return on_file(fh, [&](file_object& f) -> int {
    check_no_split(f);
    const file_access a = access_of(f, way, b);
    return finish(a, take_individual(a));
  });
}

}  // namespace

int impl::File_read(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Status* status) {
  return alone(fh, file_way::read, {buf, count, datatype},
               [&](const file_access& a, std::int64_t from) {
                 return end_with_status(a, file_form::alone, from, status);
               });
}

int impl::File_read_all(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status* status) {
  return collective(fh, file_way::read, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return end_with_status(a, file_form::collective, from, status);
                    });
}

int impl::File_iread(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Request* request) {
  return alone(
      fh, file_way::read, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_iread_all(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request* request) {
  return alone(
      fh, file_way::read, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_read_all_begin(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  return collective(fh, file_way::read, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return begin_split(a, from, "MPI_File_read_all_end");
                    });
}

int impl::File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return on_file(
      fh, [&](file_object& f) { return end_split(f, buf, "MPI_File_read_all_end", status); });
}

int impl::File_write(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status* status) {
  return alone(fh, file_way::write, {buf, count, datatype},
               [&](const file_access& a, std::int64_t from) {
                 return end_with_status(a, file_form::alone, from, status);
               });
}

int impl::File_write_all(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status* status) {
  return collective(fh, file_way::write, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return end_with_status(a, file_form::collective, from, status);
                    });
}

int impl::File_iwrite(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request* request) {
  return alone(
      fh, file_way::write, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_iwrite_all(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request* request) {
  return alone(
      fh, file_way::write, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_write_all_begin(MPI_File fh, const void* buf, MPI_Count count,
                               MPI_Datatype datatype) {
  return collective(fh, file_way::write, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return begin_split(a, from, "MPI_File_write_all_end");
                    });
}

int impl::File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return on_file(
      fh, [&](file_object& f) { return end_split(f, buf, "MPI_File_write_all_end", status); });
}

}  // namespace sinew::mpi
