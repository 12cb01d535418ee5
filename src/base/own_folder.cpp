// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/own_folder.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace sinew::base {

std::string own_folder() {
  Dl_info here{};
  const void* const inside = reinterpret_cast<const void*>(&own_folder);
  if (::dladdr(inside, &here) == 0 || here.dli_fname == nullptr) {
    return ".";
  }
  // A program may have been started by a relative name, and have changed its folder since.
  char* const absolute = ::realpath(
      std::strchr(here.dli_fname, '/') != nullptr ? here.dli_fname : "/proc/self/exe", nullptr);
  const std::string file = absolute != nullptr ? absolute : here.dli_fname;
  std::free(absolute);
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

}  // namespace sinew::base
