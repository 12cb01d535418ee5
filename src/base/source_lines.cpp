// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/source_lines.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "sinew/base/build_id.hpp"
#include "sinew/base/own_folder.hpp"
#include "sinew/base/python_sites.hpp"

namespace sinew::base {
namespace {

/// Null if it is not there, or of another build. Stays loaded.
const source_plugin* load_plugin() {
  const std::string file = own_folder() + "/libsinew_stacks.so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto* const found =
      library != nullptr ? static_cast<const source_plugin*>(::dlsym(library, source_plugin_symbol))
                         : nullptr;
  return found != nullptr && std::strcmp(found->build, build_id) == 0 ? found : nullptr;
}

void take(void* to, const seen_source& seen) {
  auto& place = *static_cast<source_place*>(to);
  const auto text = [](const char* t) { return t != nullptr ? t : ""; };
  place = {text(seen.function), text(seen.module), text(seen.file), seen.line};
}

source_place look_up(const void* address) {
  if (auto in_python = python_source_of(address)) {
    return *std::move(in_python);
  }
  source_place found;
  static const source_plugin* const plugin = load_plugin();
  if (plugin != nullptr) {
    plugin->find(address, take, &found);
  }
  Dl_info in{};
  if (::dladdr(address, &in) != 0) {
    if (found.function.empty() && in.dli_sname != nullptr) {
      found.function = in.dli_sname;
    }
    if (found.module.empty() && in.dli_fname != nullptr) {
      found.module = in.dli_fname;
    }
  }
  return found;
}

std::string name_of_file(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

source_place source_of(const void* address) {
  static auto& lock =
      *new std::mutex;  // never destroyed: MPI may be called while the program exits
  static auto& known = *new std::map<const void*, source_place>;
  const std::lock_guard held(lock);
  const auto [at, is_new] = known.try_emplace(address);
  if (is_new) {
    at->second = look_up(address);
  }
  return at->second;
}

std::string text_of(const source_place& place, const void* address) {
  const std::string module = name_of_file(place.module);
  if (place.function.empty() && place.line == 0) {
    char text[24];
    std::snprintf(text, sizeof text, "%p", address);
    return std::string(text) + (module.empty() ? "" : " of " + module);
  }
  const std::string where =
      place.line > 0 ? name_of_file(place.file) + ":" + std::to_string(place.line) : module;
  return place.function.empty() ? where : place.function + " (" + where + ")";
}

}  // namespace sinew::base
