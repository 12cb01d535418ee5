// SPDX-License-Identifier: BSD-3-Clause
// Versions, clocks, memory, names (MPI-5.0 chapters 9, 10), the ABI's queries (chapter 20).
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::mpi {
namespace {

// MPI_Abi_get_info returns these, and Fortran's MPI_ADDRESS_KIND and its like rely on them.
static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8);
static_assert(MPI_VERSION == 5 && MPI_SUBVERSION == 0);

void set_info(info_object& info, const char* key, const std::string& value) {
  info.entries.emplace_back(key, value);
}

/// gfortran's kinds, which the predefined Fortran datatypes here stand for.
info_object* fortran_info() {
  auto* info = arena<info_object>::make();
  set_info(*info, "mpi_logical_size", "4");
  set_info(*info, "mpi_integer_size", "4");
  set_info(*info, "mpi_real_size", "4");
  set_info(*info, "mpi_double_precision_size", "8");
  for (const char* yes :
       {"logical1", "logical2", "logical4", "logical8", "logical16", "integer1", "integer2",
        "integer4", "integer8", "integer16", "real2", "real4", "real8", "real16", "complex4",
        "complex8", "complex16", "complex32", "double_complex"}) {
    set_info(*info, (std::string("mpi_") + yes + "_supported").c_str(), "true");
  }
  return info;
}

/// Whether the little-endian integer of `size` bytes at `p` is `value`.
bool holds(const void* p, int size, int value) {
  SINEW_EXPECT(size >= 1 && size <= 16);
  const auto* bytes = static_cast<const unsigned char*>(p);
  for (int i = 0; i < size; ++i) {
    if (bytes[i] != (i == 0 ? value : 0)) {
      return false;
    }
  }
  return true;
}

}  // namespace

int impl::Get_version(int* version, int* subversion) {
  check_out(version, "version");
  check_out(subversion, "subversion");
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int impl::Get_library_version(char* version, int* resultlen) {
  check_out(version, "version");
  check_out(resultlen, "resultlen");
  const std::string text = "Sinew " SINEW_VERSION ", MPI 5.0, standard ABI 1.0";
  SINEW_ASSERT(text.size() < MPI_MAX_LIBRARY_VERSION_STRING);
  std::memcpy(version, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int impl::Get_processor_name(char* name, int* resultlen) {
  check_out(name, "name");
  check_out(resultlen, "resultlen");
  if (::gethostname(name, MPI_MAX_PROCESSOR_NAME - 1) != 0) {
    std::strcpy(name, "localhost");
  }
  name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
  *resultlen = static_cast<int>(std::strlen(name));
  return MPI_SUCCESS;
}

int impl::Get_hw_resource_info(MPI_Info* hw_info) {
  check_out(hw_info, "hw_info");
  auto* made = arena<info_object>::make();
  // The resource type that MPI_Comm_split_type supports.
  set_info(*made, "mpi_shared_memory", "true");
  *hw_info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

double impl::Wtime() { return static_cast<double>(now_ns()) * 1e-9; }
double impl::Wtick() { return 1e-9; }

int impl::Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  if (info != MPI_INFO_NULL) {
    (void)info_of(info);
  }
  check_out(baseptr, "baseptr");
  if (size < 0) {
    fail(MPI_ERR_ARG, "the size %lld is negative", static_cast<long long>(size));
  }
  constexpr std::size_t line = 64;
  const std::size_t bytes = (static_cast<std::size_t>(size) + line - 1) / line * line;
  void* memory = std::aligned_alloc(line, bytes == 0 ? line : bytes);
  if (memory == nullptr) {
    fail(MPI_ERR_NO_MEM, "%lld bytes cannot be had", static_cast<long long>(size));
  }
  SINEW_ENSURE(value_of(memory) % line == 0);
  *static_cast<void**>(baseptr) = memory;
  return MPI_SUCCESS;
}

int impl::Free_mem(void* base) {
  std::free(base);
  return MPI_SUCCESS;
}

int impl::Abi_get_version(int* abi_major, int* abi_minor) {
  check_out(abi_major, "abi_major");
  check_out(abi_minor, "abi_minor");
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int impl::Abi_get_info(MPI_Info* info) {
  check_out(info, "info");
  auto* made = arena<info_object>::make();
  set_info(*made, "mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  set_info(*made, "mpi_count_size", std::to_string(sizeof(MPI_Count)));
  set_info(*made, "mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  *info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int impl::Abi_get_fortran_info(MPI_Info* info) {
  check_out(info, "info");
  *info = handle_of<MPI_Info>(fortran_info());
  return MPI_SUCCESS;
}

// The Fortran kinds are fixed here, so they can only be "set" to what they are.

int impl::Abi_set_fortran_info(MPI_Info info) {
  const info_object& wanted = info_of(info);
  info_object* fixed = fortran_info();
  bool same = true;
  for (const auto& entry : wanted.entries) {
    for (const auto& known : fixed->entries) {
      same = same && (entry.first != known.first || entry.second == known.second);
    }
  }
  drop(fixed);
  if (!same) {
    fail(MPI_ERR_ABI, "the Fortran kinds are those of gfortran and cannot be changed");
  }
  return MPI_SUCCESS;
}

int impl::Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
                                   int* is_set) {
  check_out(logical_true, "logical_true");
  check_out(logical_false, "logical_false");
  check_out(is_set, "is_set");
  if (logical_size < 1 || logical_size > 16) {
    fail(MPI_ERR_ARG, "no LOGICAL has %d bytes", logical_size);
  }
  std::memset(logical_true, 0, static_cast<std::size_t>(logical_size));
  std::memset(logical_false, 0, static_cast<std::size_t>(logical_size));
  *static_cast<unsigned char*>(logical_true) = 1;
  *is_set = 1;
  return MPI_SUCCESS;
}

int impl::Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  check_out(logical_true, "logical_true");
  check_out(logical_false, "logical_false");
  if (logical_size < 1 || logical_size > 16) {
    fail(MPI_ERR_ARG, "no LOGICAL has %d bytes", logical_size);
  }
  if (!holds(logical_true, logical_size, 1) || !holds(logical_false, logical_size, 0)) {
    fail(MPI_ERR_ABI, "the Fortran booleans are 1 and 0 and cannot be changed");
  }
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
