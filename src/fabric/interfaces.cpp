#include "fabric/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sinew/base/check.hpp"

namespace sinew::fabric {
namespace {

namespace fs = std::filesystem;

const fs::path interfaces_folder = "/sys/class/net";

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code none;
  std::vector<fs::path> found;
  for (const auto& each : fs::directory_iterator(folder, none)) {
    found.push_back(each.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_inner_bridge(const std::string& name) {
  std::error_code none;
  if (!fs::exists(interfaces_folder / name / "bridge", none)) {
    return false;
  }
  const auto ports = entries(interfaces_folder / name / "brif");
  return std::none_of(ports.begin(), ports.end(), [&](const fs::path& port) {
    return fs::exists(interfaces_folder / port.filename() / "device", none);
  });
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) {
    names.push_back(name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& each : names) {
    text += (text.empty() ? "" : ",") + each;
  }
  return text;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Ports of adapters, as "mlx5_0:1".
std::vector<std::string> active_adapters() {
  std::vector<std::string> found;
  for (const fs::path& adapter : entries("/sys/class/infiniband")) {
    for (const fs::path& port : entries(adapter / "ports")) {
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

std::vector<interface> interfaces_of_host() {
  std::vector<interface> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return found;
  }
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const bool usable = each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
                        (each->ifa_flags & IFF_UP) != 0;
    const std::string name = each->ifa_name;
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&name](const interface& i) { return i.name == name; });
    if (usable && !known) {
      found.push_back({name, (each->ifa_flags & IFF_LOOPBACK) != 0, is_inner_bridge(name)});
    }
  }
  ::freeifaddrs(list);
  return found;
}

std::vector<std::string> choose_interfaces(const std::vector<interface>& there,
                                           const std::string& wanted) {
  std::vector<std::string> all;
  std::vector<std::string> best;
  for (const interface& each : there) {
    all.push_back(each.name);
    if (!each.loopback && !each.inner_bridge) {
      best.push_back(each.name);
    }
  }
  if (wanted.empty() || wanted == "auto") {
    return best.empty() ? all : best;
  }
  const bool without = wanted.front() == '^';
  const std::vector<std::string> named = split(wanted.substr(without ? 1 : 0));
  std::vector<std::string> chosen;
  for (const std::string& each : without ? (best.empty() ? all : best) : all) {
    if (holds(named, each) != without) {
      chosen.push_back(each);
    }
  }
  for (const std::string& each : named) {
    SINEW_CHECK(
        without || holds(all, each), "SINEW_NET_INTERFACES names " + each,
        "this host has no such interface that is up and has an IPv4 address; it has " + joined(all),
        "name one of these, or ^NAME for all but some");
  }
  SINEW_CHECK(!chosen.empty(), "SINEW_NET_INTERFACES=" + wanted + " leaves no interface",
              "this host has " + joined(all), "leave one that other hosts can reach");
  return chosen;
}

std::string network_devices(const std::string& wanted) {
  const std::vector<interface> there = interfaces_of_host();
  if (there.empty()) {
    return "";
  }
  std::vector<std::string> names = choose_interfaces(there, wanted);
  const std::vector<std::string> adapters = active_adapters();
  names.insert(names.end(), adapters.begin(), adapters.end());
  SINEW_ENSURE(!names.empty());
  return joined(names);
}

}  // namespace sinew::fabric
