// SPDX-License-Identifier: BSD-3-Clause
// Finds and loads plugins.
#include "fabric/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "sinew/base/build_id.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/own_folder.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::fabric {
namespace {

setting<std::string> wanted_plugin(
    "net", "plugin", "", "",
    "the file of the network's back-end, libsinew_ucx.so (empty: the one beside this library or "
    "program, of `sinew run`, or in the program's run path)");

/// Where a plugin may lie, in the order of search. A bare name is looked up along
/// LD_LIBRARY_PATH, in which `sinew run` puts its own installation, and along the run path of the
/// program or library that this code is in, in which the packages for CMake and pkg-config put
/// theirs.
std::vector<std::string> places(const std::string& name) {
  if (!wanted_plugin().empty()) {
    return {wanted_plugin()};
  }
  const std::string file = "libsinew_" + name + ".so";
  const std::string folder = base::own_folder();
  std::vector<std::string> files;
  for (const char* below : {"/", "/../lib/", "/../../lib/"}) {
    files.push_back(folder + below + file);
  }
  files.push_back(file);
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

}  // namespace

const network_plugin& load_plugin(const std::string& name, const std::string& needs) {
  std::string reasons;
  for (const std::string& each : places(name)) {
    if (const network_plugin* const plugin = open_plugin(each, reasons)) {
      return *plugin;
    }
  }
  throw error("cannot load the plugin that connects several nodes", reasons,
              "name it: SINEW_NET_PLUGIN=PREFIX/lib/libsinew_" + name +
                  ".so, of the installation that this program was built with; if that has none, "
                  "install " +
                  needs + " and build Sinew again; or start all ranks on one node");
}

bool plugin_is_there(const std::string& name) {
  std::error_code ignored;
  for (const std::string& each : places(name)) {
    if (std::filesystem::exists(each, ignored)) {
      return true;
    }
  }
  return false;
}

}  // namespace sinew::fabric
