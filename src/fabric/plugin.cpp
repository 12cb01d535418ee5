// Finds and loads the network's plugin.
#include "fabric/plugin.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fabric/devices.hpp"
#include "fabric/tuning.hpp"
#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/interfaces.hpp"

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

/// Where the plugin may lie, in the order of search. A bare name is looked up along
/// LD_LIBRARY_PATH, in which `sinew run` puts its own installation, and along the run path of the
/// program or library that this code is in, in which the packages for CMake and pkg-config put
/// theirs.
std::vector<std::string> places() {
  if (!wanted_plugin().empty()) {
    return {wanted_plugin()};
  }
  const std::string folder = own_folder();
  std::vector<std::string> files;
  for (const char* below : {"/", "/../lib/", "/../../lib/"}) {
    files.push_back(folder + below + plugin_file);
  }
  files.emplace_back(plugin_file);
  return files;
}

/// Nothing, and why, if it cannot be used.
const network_plugin* open_plugin(const std::string& file, std::string& reasons) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : file);
    return nullptr;
  }
  const auto* const plugin = static_cast<const network_plugin*>(dlsym(library, plugin_symbol));
  if (plugin != nullptr && std::strcmp(plugin->build, build_id) == 0) {
    return plugin;
  }
  reasons += (reasons.empty() ? "" : "; ") + file + ": it is of another build of Sinew";
  dlclose(library);
  return nullptr;
}

const network_plugin& load() {
  // UCX would otherwise put handlers of its own for crashes before ours.
  setenv("UCX_HANDLE_ERRORS", "none", 0);
  // Its lines would otherwise stand in the program's output.
  setenv("UCX_LOG_FILE", "stderr", 0);
  // Over tcp a message of endpoint::longest_to(), and what stands in front, goes in one segment; by
  // default 8 KiB do.
  setenv("UCX_TCP_TX_SEG_SIZE", "72k", 0);
  setenv("UCX_TCP_RX_SEG_SIZE", "128k", 0);
  std::string reasons;
  for (const std::string& each : places()) {
    if (const network_plugin* const plugin = open_plugin(each, reasons)) {
      return *plugin;
    }
  }
  throw error(
      "cannot load the plugin that connects several nodes", reasons,
      "name it: SINEW_NET_PLUGIN=PREFIX/lib/libsinew_ucx.so, of the installation that this "
      "program was built with; if that has none, install UCX (Debian: libucx-dev) and build "
      "Sinew again; or start all ranks on one node");
}

/// A cable that is cut for two seconds does not end a job.
constexpr std::int64_t longest_cut_ns = 5'000'000'000;
constexpr std::int64_t pause_ns = 20'000'000;

/// The interfaces that are wanted, as soon as one of them has a carrier, or it is time to give up.
std::string await_devices(std::int64_t give_up_ns) {
  network_devices found = find_devices(base::wanted_interfaces());
  while (!found.carrier && now_ns() < give_up_ns) {
    sleep_ns(pause_ns);  // Wait: for the cable, until the time limit.
    found = find_devices(base::wanted_interfaces());
  }
  return found.names;
}

}  // namespace

std::shared_ptr<network> open_network(const network_options& options) {
  SINEW_EXPECT(options.ranks >= 1);
  const network_plugin& plugin = load();
  if (const base::port_range ports = base::wanted_ports(); !ports.is_any()) {
    const std::string range = std::to_string(ports.first) + "-" + std::to_string(ports.last);
    setenv("UCX_TCP_PORT_RANGE", range.c_str(), 0);
  }
  network_options chosen = options;
  if (chosen.transports.empty() && std::getenv("UCX_TLS") == nullptr) {
    chosen.transports = wanted_transports();
  }
  if (!chosen.devices.empty() || std::getenv("UCX_NET_DEVICES") != nullptr) {
    return plugin.open(chosen);
  }
  const std::int64_t give_up_ns = now_ns() + longest_cut_ns;
  while (true) {
    chosen.devices = await_devices(give_up_ns);
    try {
      return plugin.open(chosen);
    } catch (const error&) {
      if (now_ns() >= give_up_ns || find_devices(base::wanted_interfaces()).carrier) {
        throw;  // it was not the cable
      }
    }
  }
}

}  // namespace sinew::fabric
