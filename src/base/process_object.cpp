// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/process_object.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::process_object {
namespace {

struct entry {
  void* object = nullptr;
  std::string build{};  ///< of the code that made it
  int users = 0;
};

/// Never destroyed: libraries may leave while the process ends.
struct table {
  std::mutex mutex;
  std::map<std::string, entry, std::less<>> entries;
};
table& all() {
  static auto& it = *new table;
  return it;
}

}  // namespace

void* join(const char* name, const char* build, void* (*make)(void* context), void* context) {
  const std::lock_guard held(all().mutex);
  entry& e = all().entries[name];
  if (e.object == nullptr) {
    e.object = make(context);
    e.build = build;
  } else if (e.build != build) {
    throw error("two builds of Sinew in one process cannot share " + std::string(name),
                "its libraries (libmpi_abi, libcaf_sinew) come from build " + e.build +
                    " and from build " + build,
                "let LD_LIBRARY_PATH and the program's run path name one build; "
                "`ldd PROGRAM` shows which are found");
  }
  ++e.users;
  return e.object;
}

void* leave(const char* name) noexcept {
  const std::lock_guard held(all().mutex);
  const auto found = all().entries.find(std::string_view(name));
  SINEW_ASSERT(found != all().entries.end() && found->second.users > 0);
  return --found->second.users == 0 ? found->second.object : nullptr;
}

}  // namespace sinew::process_object
