// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/io/failure.hpp"

#include <cerrno>
#include <system_error>

#include "sinew/base/check.hpp"

namespace sinew::io {
namespace {

error_kind kind_of(int error) noexcept {
  switch (error) {
    case ENOENT:
      return error_kind::no_such_file;
    case EACCES:
    case EPERM:
      return error_kind::access;
    case EEXIST:
      return error_kind::exists;
    case EROFS:
      return error_kind::read_only;
    case ENOSPC:
    case EFBIG:
      return error_kind::no_space;
    case EDQUOT:
      return error_kind::quota;
    case EBUSY:
    case ETXTBSY:
      return error_kind::in_use;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
      return error_kind::bad_file_name;
    case ENOMEM:
      return error_kind::no_memory;
    default:
      return error_kind::other;
  }
}

}  // namespace

void fail_by_system(int error, const char* doing, const std::string& path) {
  SINEW_EXPECT(error != 0);
  throw failure(kind_of(error), std::string("cannot ") + doing + " \"" + path +
                                    "\": " + std::generic_category().message(error));
}

}  // namespace sinew::io
