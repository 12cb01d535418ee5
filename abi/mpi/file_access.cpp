#include "abi/mpi/file_access.hpp"

#include <cstring>

#include "sinew/base/check.hpp"

namespace sinew::mpi {

file_access access_of(file_object& f, file_way way, const users_buffer& b) {
  if (way == file_way::read && !f.may_read()) {
    fail(MPI_ERR_ACCESS, "\"%s\" was opened for writing only", f.path.c_str());
  }
  if (way == file_way::write && !f.may_write()) {
    fail(MPI_ERR_READ_ONLY, "\"%s\" was opened for reading only", f.path.c_str());
  }
  file_access a{f, way, {data_of(b.base, b.count, b.type), b.type}, 0, 0};
  const std::size_t each = f.seen_as.representation->converts() && b.count != 0
                               ? in_file(*f.seen_as.representation, b.type)->size()
                               : a.memory.data.type->size();
  if (__builtin_mul_overflow(static_cast<std::int64_t>(each), b.count, &a.bytes)) {
    fail(MPI_ERR_COUNT, "the size of the data overflows");
  }
  if (a.bytes == 0) {
    return a;
  }
  if (f.view->empty()) {
    fail(MPI_ERR_IO, "the file's view shows nothing: its filetype has no data");
  }
  if (a.bytes % f.seen_as.etype_bytes != 0) {
    fail(MPI_ERR_TYPE, "%lld bytes are no whole number of etypes of %lld",
         static_cast<long long>(a.bytes), static_cast<long long>(f.seen_as.etype_bytes));
  }
  a.etypes = a.bytes / f.seen_as.etype_bytes;
  SINEW_ENSURE(a.bytes > 0 && a.etypes > 0);
  return a;
}

std::int64_t carry_out(const file_access& a, file_form form, std::int64_t position) {
  file_object& f = a.file;
  const auto move = form == file_form::alone ? move_alone : move_together;
  std::int64_t start = 0;
  std::int64_t end = 0;
  // The individual and the shared pointer wrap if they go on past what a file can have.
  if (position < 0 || __builtin_mul_overflow(position, f.seen_as.etype_bytes, &start) ||
      __builtin_add_overflow(start, a.bytes, &end)) {
    fail(MPI_ERR_ARG, "the offset %lld is beyond what a file can have",
         static_cast<long long>(position));
  }
  const datarep& rep = *f.seen_as.representation;
  if (!rep.converts()) {
    return move(f, a.way, start, a.memory.data);
  }
  if (a.way == file_way::write) {
    const std::vector<std::byte> file = to_file(rep, a.memory, a.bytes);
    (void)move(f, a.way, start, p2p::buffer::of_bytes(file.data(), file.size()));
    return static_cast<std::int64_t>(a.memory.data.bytes());
  }
  std::vector<std::byte> file(static_cast<std::size_t>(a.bytes));
  const std::int64_t n = move(f, a.way, start, p2p::buffer::of_bytes(file.data(), file.size()));
  SINEW_ASSERT(n >= 0 && n <= a.bytes);
  return from_file(rep, file.data(), n, a.memory);
}

void check_offset(const file_object& f, MPI_Offset offset) {
  check_not_sequential(f);
  if (offset < 0) {
    fail(MPI_ERR_ARG, "the offset %lld is negative", static_cast<long long>(offset));
  }
}

std::int64_t take_individual(const file_access& a) {
  check_not_sequential(a.file);
  return a.file.position.fetch_add(a.etypes, std::memory_order_relaxed);
}

int end_with_status(const file_access& a, file_form form, std::int64_t position,
                    MPI_Status* status) {
  set_file_status(status, carry_out(a, form, position));
  return MPI_SUCCESS;
}

int end_with_request(const file_access& a, std::int64_t position, MPI_Request* request) {
  check_out(request, "request");
  auto outcome = std::make_unique<file_outcome>();
  request_object& r = new_request(a.file.comm, request_object::sort::file);
  r.inner = nullptr;
  r.second = nullptr;
  try {
    outcome->bytes = carry_out(a, file_form::alone, position);
  } catch (const failure& f) {
    outcome->code = f.code;
    outcome->sentence = f.sentence;
  } catch (...) {
    free_request(r);
    throw;
  }
  r.file = std::move(outcome);
  SINEW_ASSERT(r.file != nullptr);
  r.owns = true;
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

int begin_split(const file_access& a, std::int64_t position, const char* end) {
  file_object& f = a.file;
  SINEW_EXPECT(f.split.end == nullptr && end != nullptr);
  const std::int64_t bytes = carry_out(a, file_form::collective, position);
  f.split = {end, a.memory.data.base, bytes};
  return MPI_SUCCESS;
}

int end_split(file_object& f, const void* buf, const char* end, MPI_Status* status) {
  if (f.split.end == nullptr) {
    fail(MPI_ERR_IO, "no split access is under way");
  }
  if (std::strcmp(f.split.end, end) != 0) {
    fail(MPI_ERR_IO, "the split access that is under way ends with %s", f.split.end);
  }
  if (f.split.buffer != buf) {
    fail(MPI_ERR_BUFFER, "the buffer is another one than the access began with");
  }
  set_file_status(status, f.split.bytes);
  f.split = {};
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
