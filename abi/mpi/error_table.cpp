// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 9.4 (classes) and 9.5 (classes and codes that programs add).
#include "abi/mpi/error_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <mutex>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/errors.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

struct class_entry {
  const char* name;
  const char* text;
};

constexpr std::array<class_entry, MPI_ERR_ABI + 1> classes = {{
    {"MPI_SUCCESS", "no error"},
    {"MPI_ERR_BUFFER", "a buffer address is not valid"},
    {"MPI_ERR_COUNT", "a count is not valid"},
    {"MPI_ERR_TYPE", "a datatype is not valid"},
    {"MPI_ERR_TAG", "a tag is not valid"},
    {"MPI_ERR_COMM", "a communicator is not valid"},
    {"MPI_ERR_RANK", "a rank is not valid"},
    {"MPI_ERR_REQUEST", "a request is not valid"},
    {"MPI_ERR_ROOT", "a root is not valid"},
    {"MPI_ERR_GROUP", "a group is not valid"},
    {"MPI_ERR_OP", "a reduction operation is not valid"},
    {"MPI_ERR_TOPOLOGY", "a process topology is not valid"},
    {"MPI_ERR_DIMS", "a dimension is not valid"},
    {"MPI_ERR_ARG", "an argument is not valid"},
    {"MPI_ERR_UNKNOWN", "unknown error"},
    {"MPI_ERR_TRUNCATE", "a message is longer than the buffer that receives it"},
    {"MPI_ERR_OTHER", "an error that no other class names"},
    {"MPI_ERR_INTERN", "an error inside the library"},
    {"MPI_ERR_PENDING", "the operation is not complete"},
    {"MPI_ERR_IN_STATUS", "the statuses hold the error codes"},
    {"MPI_ERR_ACCESS", "permission denied"},
    {"MPI_ERR_AMODE", "an access mode is not valid"},
    {"MPI_ERR_ASSERT", "an assertion argument is not valid"},
    {"MPI_ERR_BAD_FILE", "a file name is not valid"},
    {"MPI_ERR_BASE", "a base address is not valid"},
    {"MPI_ERR_CONVERSION", "a data conversion function failed"},
    {"MPI_ERR_DISP", "a displacement is not valid"},
    {"MPI_ERR_DUP_DATAREP", "the data representation is defined already"},
    {"MPI_ERR_FILE_EXISTS", "the file exists"},
    {"MPI_ERR_FILE_IN_USE", "the file is in use"},
    {"MPI_ERR_FILE", "a file handle is not valid"},
    {"MPI_ERR_INFO_KEY", "an info key is too long or empty"},
    {"MPI_ERR_INFO_NOKEY", "the info object has no such key"},
    {"MPI_ERR_INFO_VALUE", "an info value is too long or empty"},
    {"MPI_ERR_INFO", "an info object is not valid"},
    {"MPI_ERR_IO", "input or output failed"},
    {"MPI_ERR_KEYVAL", "an attribute key is not valid"},
    {"MPI_ERR_LOCKTYPE", "a lock type is not valid"},
    {"MPI_ERR_NAME", "the service name is not published"},
    {"MPI_ERR_NO_MEM", "out of memory"},
    {"MPI_ERR_NOT_SAME", "an argument differs between ranks that must agree"},
    {"MPI_ERR_NO_SPACE", "not enough space"},
    {"MPI_ERR_NO_SUCH_FILE", "the file does not exist"},
    {"MPI_ERR_PORT", "a port name is not valid"},
    {"MPI_ERR_QUOTA", "the quota is used up"},
    {"MPI_ERR_READ_ONLY", "the file or file system is read-only"},
    {"MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"},
    {"MPI_ERR_RMA_CONFLICT", "accesses to a window are in conflict"},
    {"MPI_ERR_RMA_RANGE", "the target memory is not part of the window"},
    {"MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    {"MPI_ERR_RMA_SYNC", "the window is not synchronised rightly"},
    {"MPI_ERR_SERVICE", "a service name is not valid"},
    {"MPI_ERR_SIZE", "a size is not valid"},
    {"MPI_ERR_SPAWN", "processes cannot be started"},
    {"MPI_ERR_UNSUPPORTED_DATAREP", "the data representation is not supported"},
    {"MPI_ERR_UNSUPPORTED_OPERATION", "the operation is not supported"},
    {"MPI_ERR_WIN", "a window is not valid"},
    {"MPI_ERR_RMA_FLAVOR", "the window is of the wrong flavour"},
    {"MPI_ERR_PROC_ABORTED", "a process has ended early"},
    {"MPI_ERR_VALUE_TOO_LARGE", "a value does not fit the variable"},
    {"MPI_ERR_SESSION", "a session is not valid"},
    {"MPI_ERR_ERRHANDLER", "an error handler is not valid"},
    {"MPI_ERR_ABI", "the ABI does not allow it"},
}};

static_assert(std::all_of(classes.begin(), classes.end(), [](const class_entry& e) {
  return e.name != nullptr && e.text != nullptr;
}));
// Codes are told apart by their ranges.
static_assert(MPI_ERR_ABI < MPI_T_ERR_CANNOT_INIT && MPI_T_ERR_PVAR_NO_ATOMIC < MPI_ERR_LASTCODE);

struct added_entry {
  int error_class = 0;
  int codes = 0;  ///< of a class: how many codes it has
  std::string text;
  bool is_class = false;
  bool removed = false;
};

/// Code MPI_ERR_LASTCODE + 1 + index. The last entry is never a removed one, so that the size says
/// which is the last code in use.
struct added_table {
  std::mutex lock;
  std::vector<added_entry> entries;
  std::vector<std::size_t> holes;  ///< all that are removed, and some that are no longer
};
added_table& added() {
  static auto& it = *new added_table;
  return it;
}

added_entry* find(int code) {
  const auto index = static_cast<std::size_t>(code) - MPI_ERR_LASTCODE - 1;
  if (code <= MPI_ERR_LASTCODE || index >= added().entries.size()) {
    return nullptr;
  }
  added_entry& e = added().entries[index];
  return e.removed ? nullptr : &e;
}

bool predefined_class(int code) { return code >= 0 && code < static_cast<int>(classes.size()); }

/// Of mpi-ext.h.
constexpr class_entry survival_classes[] = {
    {"MPIX_ERR_PROC_FAILED", "a process has died"},
    {"MPIX_ERR_PROC_FAILED_PENDING", "a process that could have been the source has died"},
    {"MPIX_ERR_REVOKED", "the communicator has been revoked"},
};
static_assert(MPIX_ERR_REVOKED - MPIX_ERR_PROC_FAILED + 1 == std::size(survival_classes));

bool survival_class(int code) { return code >= MPIX_ERR_PROC_FAILED && code <= MPIX_ERR_REVOKED; }

bool tool_class(int code) {
  return code >= MPI_T_ERR_CANNOT_INIT && code <= MPI_T_ERR_PVAR_NO_ATOMIC;
}

std::size_t free_entry() {
  auto& [lock, entries, holes] = added();
  while (!holes.empty()) {
    const std::size_t index = holes.back();
    holes.pop_back();
    if (index < entries.size() && entries[index].removed) {
      return index;
    }
  }
  entries.emplace_back();
  return entries.size() - 1;
}

int add(int error_class, bool is_class) {
  const std::size_t index = free_entry();
  const int code = MPI_ERR_LASTCODE + 1 + static_cast<int>(index);
  if (!is_class) {
    if (added_entry* its = find(error_class)) {
      ++its->codes;
    }
  }
  added().entries[index] = {is_class ? code : error_class, 0, {}, is_class, false};
  SINEW_ENSURE(find(code) == &added().entries[index]);
  return code;
}

void remove_entry(added_entry& e) {
  SINEW_EXPECT(!e.removed && e.codes == 0);
  auto& [lock, entries, holes] = added();
  holes.push_back(static_cast<std::size_t>(&e - entries.data()));
  e.removed = true;
  while (!entries.empty() && entries.back().removed) {
    entries.pop_back();
  }
  SINEW_ENSURE(entries.empty() || !entries.back().removed);
  if (entries.empty()) {
    holes.clear();
  }
}

int remove(int code, bool is_class, const char* what) {
  const std::lock_guard held(added().lock);
  added_entry* e = find(code);
  if (e == nullptr || e->is_class != is_class) {
    fail(MPI_ERR_OTHER, "%d is no error %s that a program has added", code, what);
  }
  if (e->codes != 0) {
    fail(MPI_ERR_OTHER, "error class %d still has codes", code);
  }
  if (!e->text.empty()) {
    fail(MPI_ERR_OTHER, "error %s %d still has a text (MPI_Remove_error_string)", what, code);
  }
  if (!is_class) {
    if (added_entry* its = find(e->error_class)) {
      SINEW_ASSERT(its->codes > 0);
      --its->codes;
    }
  }
  remove_entry(*e);
  return MPI_SUCCESS;
}

}  // namespace

int class_of(int code) noexcept {
  if (predefined_class(code) || tool_class(code) || survival_class(code)) {
    return code;
  }
  const std::lock_guard held(added().lock);
  const added_entry* e = find(code);
  return e != nullptr ? e->error_class : MPI_ERR_UNKNOWN;
}

std::string class_name(int error_class) {
  if (predefined_class(error_class)) {
    return classes[static_cast<std::size_t>(error_class)].name;
  }
  if (survival_class(error_class)) {
    return survival_classes[error_class - MPIX_ERR_PROC_FAILED].name;
  }
  return "error class " + std::to_string(error_class);
}

std::string table_text(int code) {
  if (predefined_class(code)) {
    const class_entry& e = classes[static_cast<std::size_t>(code)];
    return std::string(e.name) + ": " + e.text;
  }
  if (survival_class(code)) {
    const class_entry& e = survival_classes[code - MPIX_ERR_PROC_FAILED];
    return std::string(e.name) + ": " + e.text;
  }
  if (tool_class(code)) {
    return "error " + std::to_string(code) + " of the tool interface";
  }
  const std::lock_guard held(added().lock);
  const added_entry* e = find(code);
  if (e == nullptr) {
    fail(MPI_ERR_ARG, "%d is no error code", code);
  }
  return e->text;
}

int last_used_code() noexcept {
  const std::lock_guard held(added().lock);
  return MPI_ERR_LASTCODE + static_cast<int>(added().entries.size());
}

int impl::Error_class(int errorcode, int* errorclass) {
  check_out(errorclass, "errorclass");
  if (!predefined_class(errorcode) && !tool_class(errorcode) && !survival_class(errorcode)) {
    const std::lock_guard held(added().lock);
    if (find(errorcode) == nullptr) {
      fail(MPI_ERR_ARG, "%d is no error code", errorcode);
    }
  }
  *errorclass = class_of(errorcode);
  return MPI_SUCCESS;
}

int impl::Error_string(int errorcode, char* string, int* resultlen) {
  check_out(string, "string");
  check_out(resultlen, "resultlen");
  const std::string text = text_of(errorcode).substr(0, MPI_MAX_ERROR_STRING - 1);
  std::memcpy(string, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int impl::Add_error_class(int* errorclass) {
  check_out(errorclass, "errorclass");
  const std::lock_guard held(added().lock);
  *errorclass = add(0, true);
  return MPI_SUCCESS;
}

int impl::Add_error_code(int errorclass, int* errorcode) {
  check_out(errorcode, "errorcode");
  const std::lock_guard held(added().lock);
  const added_entry* e = find(errorclass);
  if (!predefined_class(errorclass) && (e == nullptr || !e->is_class)) {
    fail(MPI_ERR_ARG, "%d is no error class", errorclass);
  }
  *errorcode = add(errorclass, false);
  return MPI_SUCCESS;
}

int impl::Add_error_string(int errorcode, const char* string) {
  check_out(string, "string");
  const std::lock_guard held(added().lock);
  added_entry* e = find(errorcode);
  if (e == nullptr) {
    fail(MPI_ERR_ARG, "%d is no error code that a program has added", errorcode);
  }
  if (std::strlen(string) >= MPI_MAX_ERROR_STRING) {
    fail(MPI_ERR_ARG, "the text has %zu characters (at most %d)", std::strlen(string),
         MPI_MAX_ERROR_STRING - 1);
  }
  e->text = string;
  return MPI_SUCCESS;
}

int impl::Remove_error_class(int errorclass) { return remove(errorclass, true, "class"); }
int impl::Remove_error_code(int errorcode) { return remove(errorcode, false, "code"); }

int impl::Remove_error_string(int errorcode) {
  const std::lock_guard held(added().lock);
  added_entry* e = find(errorcode);
  if (e == nullptr) {
    fail(MPI_ERR_ARG, "%d is no error code that a program has added", errorcode);
  }
  e->text.clear();
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
