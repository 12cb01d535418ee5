// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/dynamic/spawned_job.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <string_view>

#include "sinew/base/check.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/pmi_wire.hpp"
#include "sinew/dynamic/failure.hpp"

namespace sinew::dynamic {
namespace {

namespace wire = boot::launcher_wire;

/// Launchers that have been started and not been waited for.
struct launchers {
  struct launcher {
    pid_t pid;
    std::string hosts;
    bool awaited = true;  // by a spawned_job
  };
  std::mutex lock;
  std::vector<launcher> running;
};
launchers& started() {
  static auto& it = *new launchers;
  return it;
}

/// Whether it has ended; then it is waited for, and `status` says how. Another part of the program
/// may have waited for it: then nothing is known but that it is over.
bool has_ended(pid_t pid, int& status) noexcept {
  pid_t found = 0;
  do {
    found = ::waitpid(pid, &status, WNOHANG);  // Wait: none, by WNOHANG
  } while (found < 0 && errno == EINTR);
  return found != 0;
}

/// Under the lock.
void forget_ended(launchers& all) noexcept {
  std::erase_if(all.running, [](const auto& each) {
    int status = 0;
    return !each.awaited && has_ended(each.pid, status);
  });
}

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

/// The tool that belongs to this library, in a build tree or where it is installed.
std::string own_tool() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&own_tool), &here) != 0 && here.dli_fname != nullptr) {
    char* const absolute = ::realpath(here.dli_fname, nullptr);
    std::string folder = absolute != nullptr ? absolute : here.dli_fname;
    std::free(absolute);
    folder.resize(std::min(folder.size(), folder.rfind('/')));
    for (const char* above : {"/..", "/../..", "/../../.."}) {
      if (std::string tool = folder + above + "/bin/sinew"; is_program(tool)) {
        return tool;
      }
    }
  }
  return "sinew";
}

/// A program that the launcher would not find by PATH.
std::string program_of(const boot::spawn_command& c) {
  const std::string& name = c.arguments.front();
  if (name.find('/') != name.npos) {
    return name;
  }
  for (const std::string& folder : c.path) {
    std::string path = folder;
    path.append("/").append(name);
    if (is_program(path)) {
      return path;
    }
  }
  return name.front() == '-' ? "./" + name : name;
}

bool is_fibers_preload(std::string_view variable) {
  return variable.starts_with("LD_PRELOAD=") && variable.find("libsinew_threads") != variable.npos;
}

bool threads_are_fibers() {
  char** each = environ;
  while (*each != nullptr && !is_fibers_preload(*each)) {
    ++each;
  }
  return *each != nullptr;
}

void add_command(std::vector<std::string>& words, const boot::spawn_command& c) {
  words.insert(words.end(), {"-n", std::to_string(c.counts.front())});
  for (const std::string& each : c.environment) {
    words.insert(words.end(), {"-x", each});
  }
  if (!c.directory.empty()) {
    words.insert(words.end(), {"--wdir", c.directory});
  }
  words.push_back(program_of(c));
  for (std::size_t i = 1; i < c.arguments.size(); ++i) {
    if (c.arguments[i] == ":") {
      throw failure(error_kind::spawn,
                    "\":\" cannot be an argument of a program that is spawned here: `sinew run`, "
                    "which starts it, takes it as the end of the arguments");
    }
    words.push_back(c.arguments[i]);
  }
}

std::vector<std::string> launcher_words(const spawned_job_plan& plan) {
  std::vector<std::string> words = {own_tool(), "run", "--stdin", "none"};
  if (!plan.hosts.empty()) {
    words.insert(words.end(), {"--hosts", plan.hosts});
    if (const char* const agent = std::getenv(wire::agent); agent != nullptr && *agent != '\0') {
      words.insert(words.end(), {"--rsh", agent});
    }
  }
  if (threads_are_fibers()) {
    words.emplace_back("--threads-as-fibers");
  }
  for (std::size_t i = 0; i < plan.commands.size(); ++i) {
    if (i != 0) {
      words.emplace_back(":");
    }
    add_command(words, plan.commands[i]);
  }
  return words;
}

/// This process's, without what is for it alone. The port's name has a secret, and nobody else may
/// read an environment, unlike arguments.
std::vector<std::string> launcher_environment(const std::string& port) {
  const std::string parent = std::string(wire::parent) + "=";
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view one = *each;
    if (!one.starts_with(parent) && !is_fibers_preload(one)) {
      all.emplace_back(one);
    }
  }
  all.push_back(parent + port);
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& each : words) {
    all.push_back(const_cast<char*>(each.c_str()));
  }
  all.push_back(nullptr);
  return all;
}

/// What a child gets of this process: its output, and no signals blocked.
class child_settings {
 public:
  child_settings() {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addclosefrom_np(&files_, 3);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  child_settings(const child_settings&) = delete;
  child_settings& operator=(const child_settings&) = delete;
  ~child_settings() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* files() const noexcept { return &files_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const noexcept { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

/// A host that was named for this job.
struct host_load {
  std::string name;
  int room = 1;  ///< for so many ranks
  int ranks = 0;
  /// 0 while there is room.
  [[nodiscard]] double crowding() const { return ranks < room ? 0 : (ranks + 1.0) / room; }
};

/// "h1:2,h2:1,[fe80::1]:4".
std::vector<host_load> parse_loads(std::string_view text) {
  std::vector<host_load> hosts;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t colon = std::min(one.rfind(':'), one.size());
    const auto room = boot::parse_number(one.substr(std::min(colon + 1, one.size())));
    hosts.push_back({std::string(one.substr(0, colon)), std::max(room.value_or(1), 1)});
  }
  return hosts;
}

bool has_allocation() { return std::getenv(wire::allocation) != nullptr; }
std::vector<host_load> allocation() {
  const char* const named = std::getenv(wire::allocation);
  return parse_loads(named != nullptr ? named : "");
}

/// This job's, and those that this process has spawned and that run.
void count_own_ranks(core::runtime& rt, std::vector<host_load>& hosts) {
  const auto count = [&hosts](const std::string& name, int ranks) {
    const auto found = std::find_if(hosts.begin(), hosts.end(), [&name](const host_load& each) {
      return each.name == name || each.name == "[" + name + "]";
    });
    if (found != hosts.end()) {
      found->ranks += ranks;
    }
  };
  const boot::place& here = rt.session().where();
  for (std::size_t node = 0; node < here.hosts.size(); ++node) {
    const auto on_it = std::count(here.node_of.begin(), here.node_of.end(), static_cast<int>(node));
    count(here.hosts[node], here.nodes == 1 ? here.size : static_cast<int>(on_it));
  }
  launchers& all = started();
  const std::lock_guard held(all.lock);
  forget_ended(all);
  for (const auto& each : all.running) {
    for (const host_load& host : parse_loads(each.hosts)) {
      count(host.name, host.room);
    }
  }
}

}  // namespace

bool launcher_spawns(core::runtime& rt) {
  const boot::place& here = rt.session().where();
  // One that has been told to leave no room refuses, with a sentence of its own.
  return here.spawning.count != 0 ||
         (here.launcher == "sinew" && here.nodes == 1 && !has_allocation());
}

spawned_job spawned_job::start(const spawned_job_plan& plan) {
  SINEW_EXPECT(!plan.commands.empty() && !plan.port.empty());
  std::vector<std::string> words = launcher_words(plan);
  std::vector<std::string> environment = launcher_environment(plan.port);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(environment);
  const child_settings settings;
  launchers& all = started();
  const std::lock_guard held(all.lock);
  forget_ended(all);
  all.running.reserve(all.running.size() + 1);
  pid_t pid = -1;
  const int problem = ::posix_spawnp(&pid, words.front().c_str(), settings.files(),
                                     settings.attributes(), arguments.data(), variables.data());
  if (problem != 0) {
    throw failure(error_kind::spawn, "the launcher of the new ranks, " + words.front() +
                                         ", cannot be started: " + std::strerror(problem));
  }
  all.running.push_back({pid, plan.hosts, true});
  return {pid, plan.commands.front().arguments.front()};
}

spawned_job::~spawned_job() {
  launchers& all = started();
  const std::lock_guard held(all.lock);
  for (auto& each : all.running) {
    each.awaited = each.awaited && each.pid != pid_;
  }
}

bool spawned_job::over() noexcept {
  if (pid_ < 0) {
    return true;
  }
  if (!has_ended(pid_, status_)) {
    return false;
  }
  launchers& all = started();
  const std::lock_guard held(all.lock);
  std::erase_if(all.running, [this](const auto& each) { return each.pid == pid_; });
  pid_ = -1;
  return true;
}

std::string spawned_job::why() const {
  SINEW_EXPECT(pid_ < 0);
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  switch (code) {
    case 0:
      return "the new ranks have ended without having called MPI_Init, which MPI_Comm_spawn waits "
             "for; it can spawn programs of Sinew's MPI alone";
    case 126:
      return "the new ranks cannot be executed (" + program_ +
             "); the error output has the launcher's reason";
    case 127:
      return "a program or directory of the new ranks was not found (" + program_ +
             "); the error output has the launcher's reason";
    default:
      return "the new ranks have ended with code " + std::to_string(code) +
             " before they had connected; the error output has the launcher's reason";
  }
}

std::string hosts_for(core::runtime& rt, int ranks) {
  SINEW_EXPECT(ranks > 0);
  const char* const slurm = std::getenv("SLURM_JOB_NODELIST");
  std::vector<host_load> hosts = allocation();
  if (hosts.empty() || (slurm != nullptr && *slurm != '\0')) {
    return {};  // in an allocation `sinew run` knows how daemons are started
  }
  count_own_ranks(rt, hosts);
  std::vector<int> wanted(hosts.size());
  for (int i = 0; i < ranks; ++i) {
    // The first that has room; else one that is crowded least.
    const auto best =
        std::min_element(hosts.begin(), hosts.end(),
                         [](const auto& a, const auto& b) { return a.crowding() < b.crowding(); });
    ++best->ranks;
    ++wanted[static_cast<std::size_t>(best - hosts.begin())];
  }
  std::string text;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (wanted[i] != 0) {
      text += (text.empty() ? "" : ",") + hosts[i].name + ":" + std::to_string(wanted[i]);
    }
  }
  return text;
}

int universe_size(core::runtime& rt) {
  const boot::place& here = rt.session().where();
  const std::vector<host_load> hosts = allocation();
  const int room = std::accumulate(hosts.begin(), hosts.end(), 0,
                                   [](int sum, const auto& each) { return sum + each.room; });
  return std::max(here.known_size(), here.nodes == 1 && hosts.empty() ? here.local_cpus : room);
}

void await_spawned_jobs(core::runtime& rt) {
  {
    launchers& all = started();
    const std::lock_guard held(all.lock);
    if (all.running.empty()) {
      return;
    }
  }
  const core::awaits_outside other(rt);
  rt.wait_until(
      [](void*) {
        launchers& all = started();
        const std::lock_guard held(all.lock);
        forget_ended(all);
        return all.running.empty();
      },
      nullptr);
}

void end_spawned_jobs() noexcept {
  launchers& all = started();
  const std::lock_guard held(all.lock);
  for (const auto& each : all.running) {
    ::kill(each.pid, SIGTERM);
  }
}

std::string take_port_of_parent() {
  const char* const found = std::getenv(wire::parent);
  std::string port = found != nullptr ? found : "";
  ::unsetenv(wire::parent);
  return port;
}

}  // namespace sinew::dynamic
