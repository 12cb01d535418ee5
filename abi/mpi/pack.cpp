// MPI-5.0 sections 5.2 and 5.3: packing, native and external32.
#include <algorithm>
#include <cstring>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/type.hpp"

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
  if (size > 0) check_out(buffer, "buffer");
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

/// external32 stores numbers with the highest byte first, a long double as an IEEE quadruple, a
/// complex as two reals and a pair as its value and its index. One element is thus a number of
/// `width` bytes, repeated, with one of `tail` bytes at its end.
struct external_form {
  std::size_t width;
  std::size_t tail = 0;
  bool long_double = false;
};

external_form form_of(layout::element e) noexcept {
  using layout::element;
  switch (e) {
    case element::c32:
      return {4};
    case element::c64:
      return {8};
    case element::f80:
    case element::c80:
      return {sizeof(long double), 0, true};
    case element::pair_i16_i32:
      return {2, 4};
    case element::pair_f32_i32:
    case element::pair_i32_i32:
      return {4, 4};
    case element::pair_f64_i32:
    case element::pair_i64_i32:
      return {8, 4};
    case element::pair_f80_i32:
      return {sizeof(long double), 4, true};
    default:
      return {layout::size_of(e)};
  }
}

__extension__ typedef __float128 quadruple;
static_assert(sizeof(quadruple) == sizeof(long double), "one can take the other's place");

template <class From, class To>
void convert(std::byte* at) noexcept {
  From from;
  std::memcpy(&from, at, sizeof from);
  const To to = static_cast<To>(from);
  std::memcpy(at, &to, sizeof to);
}

void reverse(std::byte* at, std::size_t width) noexcept { std::reverse(at, at + width); }

/// Turns the packed bytes of `count` instances round, in place: to external32, or from it.
void turn_round(const layout::type& t, std::size_t count, std::byte* packed, bool outgoing) {
  layout::for_each_leaf(t, count, [&](std::ptrdiff_t, std::size_t n, layout::element kind) {
    const external_form form = form_of(kind);
    const std::size_t size = layout::size_of(kind);
    for (const std::byte* end = packed + n * size; packed < end; packed += size) {
      for (std::size_t at = 0; at + form.width + form.tail <= size; at += form.width) {
        if (form.long_double && outgoing) convert<long double, quadruple>(packed + at);
        reverse(packed + at, form.width);
        if (form.long_double && !outgoing) convert<quadruple, long double>(packed + at);
      }
      reverse(packed + size - form.tail, form.tail);
    }
  });
}

std::size_t bytes_of(MPI_Count count, MPI_Datatype datatype) {
  check_count(count);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), layout_of(datatype).size(), &bytes)) {
    fail(MPI_ERR_COUNT, "the size of the data overflows");
  }
  return bytes;
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
  const std::size_t bytes = bytes_of(incount, datatype);
  const window out = window_of(outbuf, outsize, position);
  check_fits(bytes, out, MPI_ERR_TRUNCATE);
  const layout::type& t = layout_of(datatype);
  layout::pack(t, static_cast<std::size_t>(incount), inbuf, 0, {out.at, bytes});
  turn_round(t, static_cast<std::size_t>(incount), out.at, true);
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int impl::Unpack_external(const char datarep[], const void* inbuf, MPI_Count insize,
                          MPI_Count* position, void* outbuf, MPI_Count outcount,
                          MPI_Datatype datatype) {
  check_external(datarep);
  const std::size_t bytes = bytes_of(outcount, datatype);
  const window in = window_of(inbuf, insize, position);
  check_fits(bytes, in, MPI_ERR_TRUNCATE);
  const layout::type& t = layout_of(datatype);
  std::vector<std::byte> turned(in.at, in.at + bytes);
  turn_round(t, static_cast<std::size_t>(outcount), turned.data(), false);
  layout::unpack(t, static_cast<std::size_t>(outcount), outbuf, 0, turned);
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int impl::Pack_external_size(const char datarep[], MPI_Count incount, MPI_Datatype datatype,
                             MPI_Count* size) {
  check_external(datarep);
  check_out(size, "size");
  *size = static_cast<MPI_Count>(bytes_of(incount, datatype));
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
