// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/devices.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/folder.hpp"
#include "sinew/base/interfaces.hpp"
#include "sinew/base/parse.hpp"

namespace sinew::fabric {
namespace {

namespace fs = std::filesystem;

/// Ports of adapters, as "mlx5_0:1".
std::vector<std::string> active_adapters() {
  std::vector<std::string> found;
  for (const fs::path& adapter : base::folder_entries("/sys/class/infiniband")) {
    for (const fs::path& port : base::folder_entries(adapter / "ports")) {
      std::ifstream file(port / "state");
      std::string state;
      if (std::getline(file, state) && state.find("ACTIVE") != std::string::npos) {
        found.push_back(adapter.filename().string() + ":" + port.filename().string());
      }
    }
  }
  return found;
}

}  // namespace

network_devices find_devices(const std::string& wanted) {
  std::vector<base::network_interface> there = base::interfaces_of_host();
  std::erase_if(there, [](const base::network_interface& each) { return !each.has_ipv4; });
  if (there.empty()) {
    return {};
  }
  std::vector<std::string> names = base::choose_interfaces(there, wanted);
  const bool carrier =
      std::any_of(there.begin(), there.end(), [&names](const base::network_interface& each) {
        return each.has_carrier && std::find(names.begin(), names.end(), each.name) != names.end();
      });
  const std::vector<std::string> adapters = active_adapters();
  names.insert(names.end(), adapters.begin(), adapters.end());
  SINEW_ENSURE(!names.empty());
  return {base::join(names, ','), carrier || !adapters.empty()};
}

}  // namespace sinew::fabric
