// SPDX-License-Identifier: BSD-3-Clause
// What is done before UCX is loaded, and in programs that never load it: part of the module, not of
// the plugin.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fabric/plugin.hpp"
#include "fabric/rows.hpp"
#include "fabric/ucx/devices.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/interfaces.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::fabric {
namespace ucx {
namespace {

setting<std::string> transports(
    "net", "transports", "auto", "",
    "UCX's transports between hosts, as UCX_TLS takes them (auto: UCX chooses; UCX_TLS goes "
    "before)");

/// UCX reads them when it is loaded. What the environment says goes before.
void set_variables() {
  // UCX would otherwise put handlers of its own for crashes before ours.
  setenv("UCX_HANDLE_ERRORS", "none", 0);
  // Its lines would otherwise stand in the program's output.
  setenv("UCX_LOG_FILE", "stderr", 0);
  // Over tcp a message of endpoint::longest_to(), and what stands in front, goes in one segment; by
  // default 8 KiB do.
  setenv("UCX_TCP_TX_SEG_SIZE", "72k", 0);
  setenv("UCX_TCP_RX_SEG_SIZE", "128k", 0);
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
}  // namespace ucx

std::shared_ptr<network> open_ucx(const network_options& options) {
  SINEW_EXPECT(options.ranks >= 1);
  ucx::set_variables();
  const network_plugin& plugin = load_plugin("ucx", "UCX (Debian: libucx-dev)");
  if (const base::port_range ports = base::wanted_ports(); !ports.is_any()) {
    const std::string range = std::to_string(ports.first) + "-" + std::to_string(ports.last);
    setenv("UCX_TCP_PORT_RANGE", range.c_str(), 0);
  }
  network_options chosen = options;
  if (chosen.transports.empty() && std::getenv("UCX_TLS") == nullptr &&
      ucx::transports() != "auto") {
    chosen.transports = ucx::transports();
  }
  if (!chosen.devices.empty() || std::getenv("UCX_NET_DEVICES") != nullptr) {
    return plugin.open(chosen);
  }
  const std::int64_t give_up_ns = now_ns() + ucx::longest_cut_ns;
  while (true) {
    chosen.devices = ucx::await_devices(give_up_ns);
    try {
      return plugin.open(chosen);
    } catch (const error&) {
      if (now_ns() >= give_up_ns || find_devices(base::wanted_interfaces()).carrier) {
        throw;  // it was not the cable
      }
    }
  }
}

bool ucx_is_there() { return plugin_is_there("ucx"); }

std::string ucx_state() {
  return ucx_is_there() ? "yes; --hosts says by which transports"
                        : "no: libsinew_ucx.so is not there";
}

}  // namespace sinew::fabric
