#include "sinew/boot/session.hpp"

#include "sinew/base/error.hpp"

namespace sinew::boot {
namespace {

[[noreturn]] void no_names(const std::string& launcher) {
  throw error("names cannot be published or looked up",
              "the launcher (" + launcher + ") keeps none", "start the job with `sinew run`");
}

}  // namespace

bool session::publish(const std::string&, const std::string&) { no_names(where().launcher); }
std::optional<std::string> session::lookup(const std::string&) { no_names(where().launcher); }
bool session::unpublish(const std::string&) { no_names(where().launcher); }

}  // namespace sinew::boot
