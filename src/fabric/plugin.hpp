// SPDX-License-Identifier: BSD-3-Clause
// Back-ends that need a library which not every program should need or map: plugins,
// lib/libsinew_<name>.so, and what they and their loader agree on.
#pragma once

#include <string>

#include "sinew/fabric/network.hpp"

namespace sinew::fabric {

inline constexpr const char* plugin_symbol = "sinew_network_plugin";

/// A plugin's one exported object. `build` is its build_id: classes are laid out alike only in
/// libraries of one build.
struct network_plugin {
  const char* build;
  std::shared_ptr<network> (*open)(const network_options& options);
};

/// The plugin of the back-end `name`: SINEW_NET_PLUGIN, or the one that lies beside the library or
/// program that this code is in, in ../lib beside that, in the folder of `sinew run`, or in the
/// program's run path. Throws sinew::error if it is not there or is of another build; `needs` is
/// the library that it is built with, for the hint. Cold.
[[nodiscard]] const network_plugin& load_plugin(const std::string& name, const std::string& needs);

/// It lies beside or near this code. Cold.
[[nodiscard]] bool plugin_is_there(const std::string& name);

}  // namespace sinew::fabric
