// MPI-5.0 sections 14.4.4 and 14.4.5: accesses by the shared pointer.
#include <numeric>
#include <vector>

#include "abi/mpi/file_access.hpp"
#include "abi/mpi/generated/impl.hpp"

namespace sinew::mpi {
namespace {

template <class Finish>
int alone(MPI_File fh, file_way way, const users_buffer& b, Finish finish) {
  return on_file(fh, [&](file_object& f) -> int {
    const file_access a = access_of(f, way, b);
    return finish(a, f.shared->take(a.etypes));
  });
}

/// In the order of the ranks: where this one begins.
std::int64_t take_in_order(const file_access& a) {
  const coll::participant at = participant_of(*a.file.comm);
  const auto ranks = static_cast<std::size_t>(at.comm.size());
  std::vector<std::int64_t> places(ranks);
  std::int64_t mine = a.etypes;
  check_collective(coll::gather(at, p2p::buffer::of_bytes(&mine, sizeof mine),
                                p2p::buffer::of_bytes(places.data(), sizeof mine), 0));
  if (at.comm.rank() == 0) {
    const std::int64_t all = std::accumulate(places.begin(), places.end(), std::int64_t{0});
    std::exclusive_scan(places.begin(), places.end(), places.begin(), a.file.shared->take(all));
  }
  check_collective(coll::scatter(at, p2p::buffer::of_bytes(places.data(), sizeof mine),
                                 p2p::buffer::of_bytes(&mine, sizeof mine), 0));
  return mine;
}

template <class Finish>
int collective(MPI_File fh, file_way way, const users_buffer& b, Finish finish) {
  return on_file(fh, [&](file_object& f) -> int {
    check_no_split(f);
    const file_access a = access_of(f, way, b);
    return finish(a, take_in_order(a));
  });
}

}  // namespace

int impl::File_read_shared(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status* status) {
  return alone(fh, file_way::read, {buf, count, datatype},
               [&](const file_access& a, std::int64_t from) {
                 return end_with_status(a, file_form::alone, from, status);
               });
}

int impl::File_iread_shared(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request* request) {
  return alone(
      fh, file_way::read, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_read_ordered(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status* status) {
  return collective(fh, file_way::read, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return end_with_status(a, file_form::collective, from, status);
                    });
}

int impl::File_read_ordered_begin(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  return collective(fh, file_way::read, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return begin_split(a, from, "MPI_File_read_ordered_end");
                    });
}

int impl::File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  return on_file(
      fh, [&](file_object& f) { return end_split(f, buf, "MPI_File_read_ordered_end", status); });
}

int impl::File_write_shared(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status* status) {
  return alone(fh, file_way::write, {buf, count, datatype},
               [&](const file_access& a, std::int64_t from) {
                 return end_with_status(a, file_form::alone, from, status);
               });
}

int impl::File_iwrite_shared(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request* request) {
  return alone(
      fh, file_way::write, {buf, count, datatype},
      [&](const file_access& a, std::int64_t from) { return end_with_request(a, from, request); });
}

int impl::File_write_ordered(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status* status) {
  return collective(fh, file_way::write, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return end_with_status(a, file_form::collective, from, status);
                    });
}

int impl::File_write_ordered_begin(MPI_File fh, const void* buf, MPI_Count count,
                                   MPI_Datatype datatype) {
  return collective(fh, file_way::write, {buf, count, datatype},
                    [&](const file_access& a, std::int64_t from) {
                      return begin_split(a, from, "MPI_File_write_ordered_end");
                    });
}

int impl::File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return on_file(
      fh, [&](file_object& f) { return end_split(f, buf, "MPI_File_write_ordered_end", status); });
}

}  // namespace sinew::mpi
