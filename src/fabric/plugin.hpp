// What the plugin libsinew_ucx.so and its loader agree on.
#pragma once

#include "sinew/fabric/network.hpp"

namespace sinew::fabric {

inline constexpr const char* plugin_file = "libsinew_ucx.so";
inline constexpr const char* plugin_symbol = "sinew_network_plugin";

/// The plugin's one exported object. `build` is its build_id: classes are laid out alike only in
/// libraries of one build.
struct network_plugin {
  const char* build;
  std::shared_ptr<network> (*open)(const network_options& options);
};

}  // namespace sinew::fabric
