// Versions, clocks, memory, names (MPI-5.0 chapters 9, 10), the ABI's queries (chapter 20), and
// handles as integers.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::mpi {
namespace {

/// Objects that have an integer: number n stands for entry n - first_address.
struct number_table {
  std::mutex lock;
  std::vector<object*> objects;
};
number_table& numbers() {
  static auto& it = *new number_table;
  return it;
}

int to_int(void* handle) {
  if (value_of(handle) < first_address) {
    return static_cast<int>(value_of(handle));
  }
  auto* o = static_cast<object*>(handle);
  const std::lock_guard held(numbers().lock);
  if (o->number == 0) {
    o->number = static_cast<int>(first_address + numbers().objects.size());
    numbers().objects.push_back(o);
  }
  return o->number;
}

template <class Handle>
Handle from_int(int number, std::uintptr_t null) {
  const auto n = static_cast<std::uintptr_t>(number);
  if (number >= 0 && n < first_address) {
    return predefined<Handle>(n);
  }
  const std::lock_guard held(numbers().lock);
  if (number < 0 || n - first_address >= numbers().objects.size()) {
    return predefined<Handle>(null);
  }
  object* o = numbers().objects[n - first_address];
  return o->number == number ? handle_of<Handle>(o) : predefined<Handle>(null);
}

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
  // What MPI_Comm_split_type knows; no rank has more than one node.
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

int impl::Comm_toint(MPI_Comm comm) { return to_int(comm); }
int impl::Errhandler_toint(MPI_Errhandler errhandler) { return to_int(errhandler); }
int impl::File_toint(MPI_File file) { return to_int(file); }
int impl::Group_toint(MPI_Group group) { return to_int(group); }
int impl::Info_toint(MPI_Info info) { return to_int(info); }
int impl::Message_toint(MPI_Message message) { return to_int(message); }
int impl::Op_toint(MPI_Op op) { return to_int(op); }
int impl::Request_toint(MPI_Request request) { return to_int(request); }
int impl::Session_toint(MPI_Session session) { return to_int(session); }
int impl::Type_toint(MPI_Datatype datatype) { return to_int(datatype); }
int impl::Win_toint(MPI_Win win) { return to_int(win); }

MPI_Comm impl::Comm_fromint(int comm) { return from_int<MPI_Comm>(comm, value_of(MPI_COMM_NULL)); }
MPI_Errhandler impl::Errhandler_fromint(int errhandler) {
  return from_int<MPI_Errhandler>(errhandler, value_of(MPI_ERRHANDLER_NULL));
}
MPI_File impl::File_fromint(int file) { return from_int<MPI_File>(file, value_of(MPI_FILE_NULL)); }
MPI_Group impl::Group_fromint(int group) {
  return from_int<MPI_Group>(group, value_of(MPI_GROUP_NULL));
}
MPI_Info impl::Info_fromint(int info) { return from_int<MPI_Info>(info, value_of(MPI_INFO_NULL)); }
MPI_Message impl::Message_fromint(int message) {
  return from_int<MPI_Message>(message, value_of(MPI_MESSAGE_NULL));
}
MPI_Op impl::Op_fromint(int op) { return from_int<MPI_Op>(op, value_of(MPI_OP_NULL)); }
MPI_Request impl::Request_fromint(int request) {
  return from_int<MPI_Request>(request, value_of(MPI_REQUEST_NULL));
}
MPI_Session impl::Session_fromint(int session) {
  return from_int<MPI_Session>(session, value_of(MPI_SESSION_NULL));
}
MPI_Datatype impl::Type_fromint(int datatype) {
  return from_int<MPI_Datatype>(datatype, value_of(MPI_DATATYPE_NULL));
}
MPI_Win impl::Win_fromint(int win) { return from_int<MPI_Win>(win, value_of(MPI_WIN_NULL)); }

}  // namespace sinew::mpi
