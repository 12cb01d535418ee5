// Finds and loads the network's plugin.
#include "fabric/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "fabric/interfaces.hpp"
#include "fabric/tuning.hpp"
#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fabric {
namespace {

/// The folder of the library or program that this code is in.
std::string own_folder() {
  Dl_info here{};
  const void* const inside = reinterpret_cast<const void*>(&own_folder);
  if (dladdr(inside, &here) == 0 || here.dli_fname == nullptr) {
    return ".";
  }
  // A program may have been started by a relative name, and have changed its folder since.
  char* const absolute = realpath(
      std::strchr(here.dli_fname, '/') != nullptr ? here.dli_fname : "/proc/self/exe", nullptr);
  const std::string file = absolute != nullptr ? absolute : here.dli_fname;
  std::free(absolute);
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

const network_plugin& load() {
  // UCX would otherwise put handlers of its own for crashes before ours.
  setenv("UCX_HANDLE_ERRORS", "none", 0);
  // Over tcp a message of endpoint::longest_to(), and what stands in front, goes in one segment; by
  // default 8 KiB do.
  setenv("UCX_TCP_TX_SEG_SIZE", "72k", 0);
  setenv("UCX_TCP_RX_SEG_SIZE", "128k", 0);
  const std::string folder = own_folder();
  std::string reasons;
  void* library = nullptr;
  for (const char* below : {"/", "/../lib/", "/../../lib/"}) {
    library = dlopen((folder + below + plugin_file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      break;
    }
    const char* const reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : "");
  }
  SINEW_CHECK(library != nullptr, "cannot load the plugin that connects several nodes", reasons,
              "install UCX (Debian: libucx-dev) before Sinew is built, or start all ranks on one "
              "node");
  const auto* const plugin = static_cast<const network_plugin*>(dlsym(library, plugin_symbol));
  SINEW_CHECK(plugin != nullptr && std::strcmp(plugin->build, build_id) == 0,
              std::string("the plugin ") + plugin_file + " does not fit this library",
              "it is of another build", "build and install them together");
  return *plugin;
}

}  // namespace

std::shared_ptr<network> open_network(const network_options& options) {
  SINEW_EXPECT(options.ranks >= 1);
  const network_plugin& plugin = load();
  network_options chosen = options;
  if (chosen.devices.empty() && std::getenv("UCX_NET_DEVICES") == nullptr) {
    chosen.devices = network_devices(wanted_interfaces());
  }
  if (chosen.transports.empty() && std::getenv("UCX_TLS") == nullptr) {
    chosen.transports = wanted_transports();
  }
  return plugin.open(chosen);
}

}  // namespace sinew::fabric
