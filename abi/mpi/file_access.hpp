// What all calls that read or write have in common: the checks of their arguments, the data's
// representation, how they end.
#pragma once

#include <cstdint>

#include "abi/mpi/file.hpp"
#include "abi/mpi/file_io.hpp"
#include "abi/mpi/message.hpp"

namespace sinew::mpi {

/// The arguments of a call, checked.
struct file_access {
  file_object& file;
  file_way way;
  typed_memory memory;
  std::int64_t bytes;   ///< in the file
  std::int64_t etypes;  ///< likewise
};

/// A call's buffer: read into or written from.
struct users_buffer {
  const void* base;
  MPI_Count count;
  MPI_Datatype type;
};

/// Throws what is wrong with the arguments, or with such an access to this file.
[[nodiscard]] file_access access_of(file_object& f, file_way way, const users_buffer& b);

enum class file_form { alone, collective };
/// Carries it out from `position` on, in etypes; returns bytes in memory. Throws failure.
[[nodiscard]] std::int64_t carry_out(const file_access& a, file_form form, std::int64_t position);

/// Throws unless an explicit offset is allowed and not negative.
void check_offset(const file_object& f, MPI_Offset offset);
/// Takes what an access needs of the individual pointer; returns where it begins.
[[nodiscard]] std::int64_t take_individual(const file_access& a);

inline void set_file_status(MPI_Status* status, std::int64_t bytes) {
  set_empty(status);
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, static_cast<std::size_t>(bytes));
}

/// Carries out a blocking access.
[[nodiscard]] int end_with_status(const file_access& a, file_form form, std::int64_t position,
                                  MPI_Status* status);
/// Carries out a nonblocking one, alone, and makes its request. An error of the system is
/// returned when the request is completed.
[[nodiscard]] int end_with_request(const file_access& a, std::int64_t position,
                                   MPI_Request* request);
/// Carries out a split one; `end` names the call that completes it.
[[nodiscard]] int begin_split(const file_access& a, std::int64_t position, const char* end);
/// The call `end`.
[[nodiscard]] int end_split(file_object& f, const void* buf, const char* end, MPI_Status* status);

}  // namespace sinew::mpi
