// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/placement.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "sinew/base/check.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/bench/perftest.hpp"
#include "sinew/bench/stats.hpp"
#include "sinew/options.hpp"

namespace sinew::tool {
namespace {

namespace fs = std::filesystem;

/// The address that a packet to `host` would carry as its sender's. A datagram socket sends nothing
/// when it is connected.
bool address_towards(const std::string& host, sockaddr_storage& own) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), "9", &wanted, &found) != 0) {
    return false;
  }
  const int socket = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t length = sizeof own;
  const bool known = socket >= 0 && ::connect(socket, found->ai_addr, found->ai_addrlen) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) == 0;
  if (socket >= 0) {
    ::close(socket);
  }
  ::freeaddrinfo(found);
  return known;
}

bool same_address(const sockaddr& a, const sockaddr_storage& b) {
  if (a.sa_family != b.ss_family) {
    return false;
  }
  if (a.sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  }
  return a.sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

/// Where only the agent knows the host's name: the interface, if there is one only.
std::string interface_towards(const std::string& host) {
  sockaddr_storage own{};
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return {};
  }
  const bool known = address_towards(host, own);
  std::set<std::string> names;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    const bool fits =
        each->ifa_addr != nullptr &&
        (known ? same_address(*each->ifa_addr, own)
               : each->ifa_addr->sa_family == AF_INET && (each->ifa_flags & IFF_LOOPBACK) == 0);
    if (fits) {
      names.insert(each->ifa_name);
    }
  }
  ::freeifaddrs(all);
  return names.size() == 1 ? *names.begin() : std::string();
}

/// From "tcp/eth0" or "rc_mlx5/mlx5_0:1,tcp/eth0": the devices, and whether all of it is tcp.
void read_transports(const std::string& text, placement& to) {
  std::vector<std::string> devices;
  to.tcp = !text.empty();
  for (const std::string& each : stats::split(text, ',')) {
    const std::size_t slash = each.find('/');
    if (slash == std::string::npos) {
      continue;
    }
    to.tcp = to.tcp && each.substr(0, slash) == "tcp";
    const std::string device = each.substr(slash + 1);
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
      to.devices += (to.devices.empty() ? "" : ",") + device;
    }
  }
  to.tcp = to.tcp && !devices.empty();
}

void add(command& c, std::initializer_list<std::string> more) {
  c.words.insert(c.words.end(), more.begin(), more.end());
}

void add_ours(command& c, const placement& on, const subject& who) {
  add(c, {"run", "--hosts", on.list()});
  if (!on.agent.empty()) {
    add(c, {"--rsh", on.agent});
  }
  if (on.one_machine) {
    add(c, {"--bind-to", "none"});
  }
  if (!who.engine.empty()) {
    c.environment.emplace_back("SINEW_MATCH_ENGINE", who.engine);
  }
}

void add_open_mpi(command& c, const placement& on, const subject& who, bool plain) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"}) {
    c.environment.emplace_back(name, "1");
    c.environment.emplace_back(std::string(name) + "_CONFIRM", "1");
  }
  if (!on.script.empty()) {
    // Since version 5 its launcher is PRRTE, with parameters of its own.
    const bool own_launcher = std::atoi(who.version.c_str()) < 5;
    add(c, {own_launcher ? "--mca" : "--prtemca", own_launcher ? "plm_rsh_agent" : "plm_ssh_agent",
            on.script});
  }
  add(c, {"--host", on.list(), "--map-by", "slot"});
  if (!who.default_transport || plain) {
    add(c,
        {"--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"});
    if (plain) {  // what Open MPI 4 would choose makes no window over hosts
      add(c, {"--mca", "osc", "ucx"});
    }
    for (const auto& [name, value] : ucx_settings(on, true)) {
      add(c, {"-x", name + '=' + value});
    }
  } else {
    add(c, {"--mca", "pml", "ob1"});
    if (on.tcp) {
      add(c, {"--mca", "btl_tcp_if_include", on.devices});
    }
  }
}

void add_mpich(command& c, const placement& on) {
  add(c, {"-launcher", "ssh"});
  if (!on.script.empty()) {
    add(c, {"-launcher-exec", on.script});
  }
  if (!on.interface.empty()) {
    add(c, {"-iface", on.interface});
  }
  add(c, {"-hosts", on.list()});
  c.environment = ucx_settings(on, true);  // it passes its environment on
  if (on.tcp) {
    c.environment.emplace_back("FI_TCP_IFACE", on.devices);  // of libfabric, its usual device
  }
}

}  // namespace

int placement::ranks() const {
  int sum = 0;
  for (const host& each : hosts) {
    sum += each.ranks;
  }
  return sum;
}

placement placement::first(std::size_t count) const {
  SINEW_EXPECT(count >= 1 && count <= hosts.size());
  placement some = *this;
  some.hosts.resize(count);
  for (host& each : some.hosts) {
    each.ranks = 1;
  }
  some.each_its_core = false;
  return some;
}

std::string placement::list() const {
  std::string text;
  for (const host& each : hosts) {
    text += (text.empty() ? "" : ",") + each.name + ':' + std::to_string(each.ranks);
  }
  return text;
}

placement placement_of(const reach_map& map, const std::string& agent, bool pair) {
  SINEW_EXPECT(map.hosts.size() >= 2 && map.complete());
  placement on;
  on.agent = agent;
  on.one_machine = map.share_processors();
  on.each_its_core = true;
  for (std::size_t h = 0; h < map.hosts.size() && (!pair || h < 2); ++h) {
    const int ranks = pair ? 1 : map.hosts[h].slots;
    on.hosts.push_back({map.hosts[h].name, ranks});
    on.each_its_core = on.each_its_core && ranks == map.hosts[h].processors;
  }
  on.interface = interface_towards(on.hosts[0].name);
  read_transports(map.ways[0][1].transports, on);
  SINEW_ASSERT(on.ranks() >= 2);
  return on;
}

std::vector<std::pair<std::string, std::string>> ucx_settings(const placement& on, bool local) {
  std::vector<std::pair<std::string, std::string>> all;
  if (!on.devices.empty()) {
    all.emplace_back("UCX_NET_DEVICES", on.devices);
  }
  if (on.tcp) {
    all.emplace_back("UCX_TLS", local ? "tcp,sm,self" : "tcp,self");
  }
  return all;
}

command launch_over(const placement& on, const subject& who, const std::string& program,
                    const std::vector<std::string>& words, bool plain) {
  SINEW_EXPECT(!on.hosts.empty());
  command c{{who.launcher}, {}, 0};
  const bool open_mpi = who.name.starts_with("openmpi") || who.name == "opencoarrays";
  if (who.name == "sinew") {
    add_ours(c, on, who);
  } else if (open_mpi) {
    add_open_mpi(c, on, who, plain);
  } else {
    add_mpich(c, on);
  }
  if (who.name != "sinew" && (!plain || on.one_machine)) {
    add(c, {open_mpi ? "--bind-to" : "-bind-to",
            on.each_its_core && !on.one_machine ? "core" : "none"});
  }
  c.words.insert(c.words.end(), who.options.begin(), who.options.end());
  add(c, {"-n", std::to_string(on.ranks())});
  if (on.one_machine) {
    add(c, {own_folder() + "/sinew", "bench", "--place-rank"});
  }
  c.words.push_back(program);
  c.words.insert(c.words.end(), words.begin(), words.end());
  c.words.insert(c.words.end(), who.arguments.begin(), who.arguments.end());
  return c;
}

int place_rank_main(int argc, char** argv) {
  if (argc < 1) {
    throw usage_failure("bench --place-rank needs a program");
  }
  const std::vector<int> cpus = topology::usable_cpu_list();
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    const char* rank = std::getenv(name);
    if (rank == nullptr || cpus.empty()) {
      continue;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[static_cast<std::size_t>(std::max(0, std::atoi(rank))) % cpus.size()], &set);
    (void)::sched_setaffinity(0, sizeof set, &set);
    break;
  }
  ::execv(argv[0], argv);
  std::fprintf(stderr, "cannot execute %s: %s\n", argv[0], std::strerror(errno));
  return 127;
}

agent_script::agent_script(const std::string& agent) {
  // Beside the measuring programs, which the hosts see too: some launchers look for it there.
  std::string pattern = programs_folder().value_or("/tmp") + "/agent-XXXXXX";
  SINEW_CHECK(::mkdtemp(pattern.data()) != nullptr,
              "no folder for the agent of the peers' launchers", std::strerror(errno),
              "set XDG_CACHE_HOME to a folder that can be written");
  folder_ = pattern;
  {
    std::ofstream out(path());
    // From here, since launchers call it from folders of their own.
    out << "#!/bin/sh\ncd " << shell_word(fs::current_path().string()) << "\nexec " << agent
        << " \"$@\"\n";
  }
  fs::permissions(path(), fs::perms::owner_all);
}

agent_script::~agent_script() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace sinew::tool
