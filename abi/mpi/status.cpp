// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 3.2.5, 5.1.11 and 12.3: what a status says, and setting it.
#include "abi/mpi/status.hpp"

#include <climits>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

int set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  check_out(status, "status");
  check_count(count);
  const layout::datatype& t = *type_of(datatype).layout;
  // `count` basic elements: whole types, then the leading elements of one more.
  std::size_t per_type = t.size() == 0 ? 0 : layout::elements_in(t, t.size());
  if (per_type == 0) {
    per_type = 1;
  }
  const auto n = static_cast<std::size_t>(count);
  std::size_t bytes = n / per_type * t.size();
  const std::size_t rest = n % per_type;
  // The fewest bytes that hold them.
  std::size_t part = 0;
  for (std::size_t enough = rest == 0 ? 0 : t.size(); part < enough;) {
    const std::size_t middle = part + (enough - part) / 2;
    if (layout::elements_in(t, middle) < rest) {
      part = middle + 1;
    } else {
      enough = middle;
    }
  }
  SINEW_ASSERT(part <= t.size());
  SINEW_ASSERT(rest == 0 || layout::elements_in(t, part) == rest);
  set_bytes(*status, static_cast<std::int64_t>(bytes + part));
  return MPI_SUCCESS;
}

}  // namespace

int impl::Get_count(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  check_out(status, "status");
  check_out(count, "count");
  const auto size = static_cast<std::int64_t>(type_of(datatype).layout->size());
  const std::int64_t bytes = bytes_in(*status);
  const bool whole = size == 0 ? bytes == 0 : bytes % size == 0;
  if (!whole) {
    *count = MPI_UNDEFINED;
  } else {
    *count = size == 0 ? 0 : bytes / size;
  }
  return MPI_SUCCESS;
}

int impl::Get_elements(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  check_out(status, "status");
  check_out(count, "count");
  const layout::datatype& t = *type_of(datatype).layout;
  const auto bytes = static_cast<std::size_t>(bytes_in(*status));
  if (t.size() == 0) {
    *count = MPI_UNDEFINED;
    if (bytes == 0) {
      *count = 0;
    }
    return MPI_SUCCESS;
  }
  std::size_t left_over = 0;
  const std::size_t n = layout::elements_in(t, bytes, &left_over);
  *count = MPI_UNDEFINED;
  if (left_over == 0) {
    *count = static_cast<MPI_Count>(n);
  }
  return MPI_SUCCESS;
}

int impl::Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return Get_elements(status, datatype, count);
}

int impl::Status_set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements(status, datatype, count);
}
int impl::Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements(status, datatype, count);
}

int impl::Status_set_cancelled(MPI_Status* status, int flag) {
  check_out(status, "status");
  set_cancelled(*status, flag != 0);
  return MPI_SUCCESS;
}

int impl::Status_get_source(const MPI_Status* status, int* source) {
  check_out(status, "status");
  check_out(source, "source");
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}
int impl::Status_get_tag(const MPI_Status* status, int* tag) {
  check_out(status, "status");
  check_out(tag, "tag");
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}
int impl::Status_get_error(const MPI_Status* status, int* err) {
  check_out(status, "status");
  check_out(err, "err");
  *err = status->MPI_ERROR;
  return MPI_SUCCESS;
}
int impl::Status_set_source(MPI_Status* status, int source) {
  check_out(status, "status");
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}
int impl::Status_set_tag(MPI_Status* status, int tag) {
  check_out(status, "status");
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}
int impl::Status_set_error(MPI_Status* status, int err) {
  check_out(status, "status");
  status->MPI_ERROR = err;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
