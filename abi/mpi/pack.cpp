// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 5.2 and 5.3: packing, native and external32.
#include <cstring>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"
#include "sinew/layout/external32.hpp"

namespace sinew::mpi {
namespace {

/// A byte range of a packing buffer, checked.
struct window {
  std::byte* at;
  std::size_t bytes;
};

window window_of(const void* buffer, MPI_Count size, const MPI_Count* position) {
  check_out(position, "position");
  check_count(size);
  if (*position < 0 || *position > size) {
    fail(MPI_ERR_ARG, "the position %lld does not lie in a buffer of %lld bytes",
         static_cast<long long>(*position), static_cast<long long>(size));
  }
  if (size > 0) {
    check_out(buffer, "buffer");
  }
  SINEW_ASSERT(*position <= size);
  return {static_cast<std::byte*>(const_cast<void*>(buffer)) + *position,
          static_cast<std::size_t>(size - *position)};
}

void check_fits(std::size_t needed, const window& w, int code) {
  if (needed > w.bytes) {
    fail(code, "%zu bytes do not fit the %zu that are left of the buffer", needed, w.bytes);
  }
}

void check_external(const char* datarep) {
  check_out(datarep, "datarep");
  if (std::strcmp(datarep, "external32") != 0) {
    fail(MPI_ERR_ARG, "the data representation \"%s\" is not \"external32\"", datarep);
  }
}

std::size_t times(MPI_Count count, std::size_t each) {
  check_count(count);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), each, &bytes)) {
    size_overflows();
  }
  return bytes;
}

std::size_t bytes_of(MPI_Count count, MPI_Datatype datatype) {
  return times(count, layout_of(datatype).size());
}

std::size_t external_bytes_of(MPI_Count count, MPI_Datatype datatype) {
  return times(count, external_size_of(layout_of(datatype)));
}

}  // namespace

int impl::Pack(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
               MPI_Count outsize, MPI_Count* position, MPI_Comm comm) {
  (void)comm_of(comm);
  const std::size_t bytes = bytes_of(incount, datatype);
  const window out = window_of(outbuf, outsize, position);
  check_fits(bytes, out, MPI_ERR_TRUNCATE);
  layout::pack(layout_of(datatype), static_cast<std::size_t>(incount), inbuf, 0, {out.at, bytes});
  *position += static_cast<MPI_Count>(bytes);
  SINEW_ENSURE(*position <= outsize);
  return MPI_SUCCESS;
}

int impl::Unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                 MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
  (void)comm_of(comm);
  const std::size_t bytes = bytes_of(outcount, datatype);
  const window in = window_of(inbuf, insize, position);
  check_fits(bytes, in, MPI_ERR_TRUNCATE);
  layout::unpack(layout_of(datatype), static_cast<std::size_t>(outcount), outbuf, 0,
                 {in.at, bytes});
  *position += static_cast<MPI_Count>(bytes);
  SINEW_ENSURE(*position <= insize);
  return MPI_SUCCESS;
}

int impl::Pack_size(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count* size) {
  (void)comm_of(comm);
  check_out(size, "size");
  *size = static_cast<MPI_Count>(bytes_of(incount, datatype));
  return MPI_SUCCESS;
}

int impl::Pack_external(const char datarep[], const void* inbuf, MPI_Count incount,
                        MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
                        MPI_Count* position) {
  check_external(datarep);
  const std::size_t bytes = external_bytes_of(incount, datatype);
  const window out = window_of(outbuf, outsize, position);
  check_fits(bytes, out, MPI_ERR_TRUNCATE);
  const layout::datatype& t = layout_of(datatype);
  const auto count = static_cast<std::size_t>(incount);
  std::vector<std::byte> packed(bytes_of(incount, datatype));
  layout::pack(t, count, inbuf, 0, packed);
  layout::to_external(t, count, packed.data(), out.at);
  *position += static_cast<MPI_Count>(bytes);
  SINEW_ENSURE(*position <= outsize);
  return MPI_SUCCESS;
}

int impl::Unpack_external(const char datarep[], const void* inbuf, MPI_Count insize,
                          MPI_Count* position, void* outbuf, MPI_Count outcount,
                          MPI_Datatype datatype) {
  check_external(datarep);
  const std::size_t bytes = external_bytes_of(outcount, datatype);
  const window in = window_of(inbuf, insize, position);
  check_fits(bytes, in, MPI_ERR_TRUNCATE);
  const layout::datatype& t = layout_of(datatype);
  const auto count = static_cast<std::size_t>(outcount);
  std::vector<std::byte> packed(bytes_of(outcount, datatype));
  layout::from_external(t, count, in.at, packed.data());
  layout::unpack(t, count, outbuf, 0, packed);
  *position += static_cast<MPI_Count>(bytes);
  SINEW_ENSURE(*position <= insize);
  return MPI_SUCCESS;
}

int impl::Pack_external_size(const char datarep[], MPI_Count incount, MPI_Datatype datatype,
                             MPI_Count* size) {
  check_external(datarep);
  check_out(size, "size");
  *size = static_cast<MPI_Count>(external_bytes_of(incount, datatype));
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
