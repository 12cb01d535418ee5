#include "sinew/base/process_object.hpp"

#include <map>
#include <mutex>
#include <string>

#include "sinew/base/check.hpp"

namespace sinew::process_object {
namespace {

struct entry {
  void* object = nullptr;
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

void* join(const char* name, void* (*make)(void* context), void* context) {
  const std::lock_guard held(all().mutex);
  entry& e = all().entries[name];
  if (e.object == nullptr) {
    e.object = make(context);
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
