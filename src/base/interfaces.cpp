// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/folder.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/system_limits.hpp"

namespace sinew::base {
namespace {

setting<std::string> interfaces_setting(
    "net", "interfaces", "auto", "",
    "network interfaces that carry messages between hosts, and at which ranks, daemons and the "
    "launcher listen: names with commas between, or ^ and those to leave out (auto: all but "
    "loopback and bridges of containers; UCX_NET_DEVICES goes before)");
setting<std::string> ports_setting(
    "net", "ports", "auto", "",
    "ports at which ranks, daemons and the launcher listen for other hosts: FIRST-LAST, for "
    "firewalls (auto: the system chooses; UCX_TCP_PORT_RANGE goes before for messages)");

namespace fs = std::filesystem;

const fs::path interfaces_folder = "/sys/class/net";

bool is_inner_bridge(const std::string& name) {
  std::error_code none;
  if (!fs::exists(interfaces_folder / name / "bridge", none)) {
    return false;
  }
  const auto ports = folder_entries(interfaces_folder / name / "brif");
  return std::none_of(ports.begin(), ports.end(), [&](const fs::path& port) {
    return fs::exists(interfaces_folder / port.filename() / "device", none);
  });
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Empty where it has no meaning for another host.
std::string numeric(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
             !IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr)) {
    bytes = &six.sin6_addr;
  }
  return bytes != nullptr && ::inet_ntop(address.sa_family, bytes, text, sizeof text) != nullptr
             ? text
             : "";
}

}  // namespace

std::vector<network_interface> interfaces_of_host() {
  std::vector<network_interface> all;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    SINEW_CHECK(!is_exhausted(errno), "this host's network interfaces cannot be listed",
                system_reason(errno), system_advice(errno));
    return all;
  }
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 ||
        (each->ifa_addr->sa_family != AF_INET && each->ifa_addr->sa_family != AF_INET6)) {
      continue;
    }
    auto known = std::find_if(all.begin(), all.end(), [each](const network_interface& i) {
      return i.name == each->ifa_name;
    });
    if (known == all.end()) {
      all.push_back({each->ifa_name,
                     (each->ifa_flags & IFF_LOOPBACK) != 0,
                     is_inner_bridge(each->ifa_name),
                     {},
                     false,
                     (each->ifa_flags & IFF_RUNNING) != 0});
      known = all.end() - 1;
    }
    known->has_ipv4 = known->has_ipv4 || each->ifa_addr->sa_family == AF_INET;
    if (std::string text = numeric(*each->ifa_addr); !text.empty()) {
      known->addresses.push_back(std::move(text));
    }
  }
  ::freeifaddrs(list);
  return all;
}

std::vector<std::string> choose_interfaces(const std::vector<network_interface>& there,
                                           const std::string& wanted) {
  std::vector<std::string> all;
  std::vector<std::string> best;
  for (const network_interface& each : there) {
    all.push_back(each.name);
    if (!each.loopback && !each.inner_bridge) {
      best.push_back(each.name);
    }
  }
  if (wanted.empty() || wanted == "auto") {
    return best.empty() ? all : best;
  }
  const bool without = wanted.front() == '^';
  const std::vector<std::string> named = split(wanted.substr(without ? 1 : 0), ',');
  std::vector<std::string> chosen;
  for (const std::string& each : without ? (best.empty() ? all : best) : all) {
    if (holds(named, each) != without) {
      chosen.push_back(each);
    }
  }
  for (const std::string& each : named) {
    SINEW_CHECK(without || holds(all, each), "SINEW_NET_INTERFACES names " + each,
                "this host has no such interface that is up and has an IPv4 address; it has " +
                    join(all, ','),
                "name one of these, or ^NAME for all but some");
  }
  SINEW_CHECK(!chosen.empty(), "SINEW_NET_INTERFACES=" + wanted + " leaves no interface",
              "this host has " + join(all, ','), "leave one that other hosts can reach");
  return chosen;
}

std::vector<std::string> reachable_addresses(const std::vector<network_interface>& there,
                                             const std::string& wanted) {
  const std::vector<std::string> usual = choose_interfaces(there, "auto");
  const bool by_name = !wanted.empty() && wanted != "auto" && wanted.front() != '^';
  const std::vector<std::string> named =
      split(wanted.starts_with('^') ? wanted.substr(1) : wanted, ',');
  std::vector<std::string> addresses;
  for (const network_interface& each : there) {
    const bool is_named = holds(named, each.name);
    if (!each.loopback && each.has_carrier &&
        (by_name ? is_named : holds(usual, each.name) && !is_named)) {
      addresses.insert(addresses.end(), each.addresses.begin(), each.addresses.end());
    }
  }
  return addresses;
}

const std::string& wanted_interfaces() { return interfaces_setting(); }

port_range parse_ports(const std::string& text) {
  if (text.empty() || text == "auto") {
    return {};
  }
  const std::size_t dash = text.find('-');
  const auto first = parse_integer(text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : parse_integer(text.substr(dash + 1));
  SINEW_CHECK(first && last && *first >= 1 && *first <= *last && *last <= UINT16_MAX,
              "SINEW_NET_PORTS cannot be \"" + text + "\"",
              "it takes two port numbers of 1 to 65535, the lesser one first, or auto",
              "write SINEW_NET_PORTS=40000-40999");
  return {static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

port_range wanted_ports() { return parse_ports(ports_setting()); }

}  // namespace sinew::base
