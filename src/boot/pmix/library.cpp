// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmix/library.hpp"

#include <dlfcn.h>

#include <cstring>
#include <vector>

#include "boot/environment.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::boot::pmix {
namespace {

/// All versions from 2 on.
constexpr const char* file_name = "libpmix.so.2";

setting<std::string> wanted_file(
    "boot", "pmix", "", "",
    "the file of the PMIx library, for ranks that mpirun, prterun or srun --mpi=pmix start; where "
    "it is not set the system's libpmix.so.2, or else the launcher's own");

std::vector<std::string> candidates() {
  // The launcher's session may read it before the others of this process are read.
  if (const auto named = variable(wanted_file.name().c_str())) {
    return {*named};
  }
  std::vector<std::string> files = {file_name};
  // Set by Open MPI 5 and PRRTE for what they start.
  for (const char* folder : {"PMIX_PREFIX", "PRTE_PREFIX", "OPAL_PREFIX"}) {
    if (const auto prefix = variable(folder)) {
      files.push_back(*prefix + "/lib/" + file_name);
    }
  }
  return files;
}

void* open_library(std::string& reasons) {
  for (const std::string& file : candidates()) {
    if (void* const opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); opened != nullptr) {
      return opened;
    }
    const char* const reason = ::dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : file);
  }
  return nullptr;
}

template <class Function>
bool find(void* from, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(from, name));
  return into != nullptr;
}

library open() {
  std::string reasons;
  void* const file = open_library(reasons);
  SINEW_CHECK(file != nullptr,
              "the launcher speaks PMIx, and its library cannot be loaded here: " + reasons,
              "a launcher that sets PMIX_RANK tells ranks of each other by it alone",
              "install it (Debian: libpmix2), name its file by SINEW_BOOT_PMIX, or start the job "
              "with `sinew run`");
  library all{};
  const bool whole =
      find(file, "PMIx_Init", all.init) && find(file, "PMIx_Finalize", all.finalize) &&
      find(file, "PMIx_Abort", all.abort) && find(file, "PMIx_Put", all.put) &&
      find(file, "PMIx_Commit", all.commit) && find(file, "PMIx_Fence", all.fence) &&
      find(file, "PMIx_Get", all.get) && find(file, "PMIx_Error_string", all.error_string) &&
      find(file, "PMIx_Get_version", all.version);
  SINEW_CHECK(whole, "the PMIx library cannot be used", "it lacks functions of PMIx 2",
              "name another file by SINEW_BOOT_PMIX, or start the job with `sinew run`");
  return all;
}

}  // namespace

const library& library::load() {
  static const library loaded = open();
  return loaded;
}

directive yes(const char* key) noexcept {
  directive result;
  SINEW_EXPECT(std::strlen(key) < sizeof result.key);
  std::strncpy(result.key, key, sizeof result.key - 1);
  result.is.is = kind::boolean;
  result.is.flag = true;
  return result;
}

}  // namespace sinew::boot::pmix
