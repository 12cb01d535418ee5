// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/job_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/parse.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/boot/launcher_wire.hpp"
#include "sinew/boot/pmi_wire.hpp"
#include "sinew/profile/profile_command.hpp"
#include "sinew/run/binding.hpp"
#include "sinew/run/elf_file.hpp"
#include "sinew/run/other_mpi.hpp"
#include "sinew/run/own_libraries.hpp"
#include "sinew/run/preload.hpp"
#include "sinew/run/program_check.hpp"
#include "sinew/run/rank_process.hpp"
#include "sinew/run/trace_merge.hpp"

namespace sinew::tool {
namespace {

namespace wire = boot::launcher_wire;

// A launcher inside a rank of another launcher must not pass the outer one's identity on.
bool foreign(std::string_view variable) {
  constexpr std::array<std::string_view, 7> prefixes = {"PMI_",
                                                        "PMIX_",
                                                        "PRTE_",
                                                        "OMPI_COMM_WORLD_",
                                                        "SINEW_BOOT_",
                                                        "MPI_LOCALRANKID=",
                                                        "MPI_LOCALNRANKS="};
  return !variable.starts_with(std::string(wire::parent) + "=") &&  // it is for our ranks
         std::any_of(prefixes.begin(), prefixes.end(),
                     [variable](std::string_view prefix) { return variable.starts_with(prefix); });
}

// A library in front of the program's own, other such libraries kept.
void preload(std::string_view library, std::vector<std::string>& environment) {
  constexpr std::string_view start = "LD_PRELOAD=";
  std::string before;
  for (const std::string& each : environment) {
    if (each.starts_with(start)) {
      before = each.substr(start.size());
    }
  }
  assign(environment, "LD_PRELOAD", preload_value(library, tree_libraries(), before));
}

// Why a program cannot have its threads as fibers, as a complaint; or empty.
std::string fibers_complaint(const std::string& program) {
  constexpr std::string_view head = "--threads-as-fibers: ";
  if (!has_preloaded(thread_library, tree_libraries())) {
    return std::string(head) +
           "this build has no libsinew_threads.so (it needs an x86-64 "
           "processor and glibc 2.34)";
  }
  const std::string why = why_no_fibers(program);
  return why.empty() ? why
                     : std::string(head) + program + " " + why +
                           " (without this option its threads are the system's)";
}

// Which of our libraries are to be put in front of this program. Fibers wait by themselves, so they
// go before what waits in virtual time for threads.
std::vector<std::string_view> preloaded_libraries(const run_options& options,
                                                  const std::string& program) {
  std::vector<std::string_view> all;
  if (options.threads_as_fibers) {
    all.push_back(thread_library);
  }
  if (options.simulate && has_preloaded(clock_library, tree_libraries()) && takes_clock(program)) {
    all.push_back(clock_library);
  }
  return all;
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& each : names) {
    list += (list.empty() ? "" : ",") + each;
  }
  return list;
}

/// Why these programs cannot be ranks of one job, or empty: some linked to Sinew, others not. (A
/// program may also load its library later; the launcher sees that when it runs.)
std::string complaint_of_two_mpis(const std::vector<std::string>& programs) {
  std::string ours;
  std::string other;
  std::string library;
  for (const std::string& program : programs) {
    elf_file file(program);
    for (const std::string& name : file.is_elf() ? file.needed() : std::vector<std::string>()) {
      if (name.starts_with("libmpi_abi.so") || name.starts_with("libcaf_sinew") ||
          has_foreign(tree_libraries(), name)) {
        ours = program;
      } else if (is_mpi_library(name)) {
        other = program;
        library = name;
      }
    }
  }
  return ours.empty() || other.empty()
             ? ""
             : other + " is linked to another MPI (" + library + "), but " + ours +
                   " to Sinew: they cannot be ranks of one job. Build both with mpicc.sinew";
}

/// For the user, if the program itself names the library of an MPI that is not Sinew: what will
/// happen, and what to do. Else empty. (What its libraries name is looked at only when no rank has
/// called Sinew's MPI, at the end: that takes a process.)
std::string remark_on_other_mpi(const application& what, const std::string& program) {
  elf_file file(program);
  for (const std::string& name : file.is_elf() ? file.needed() : std::vector<std::string>()) {
    if (!is_mpi_library(name) || name.starts_with("libmpi_abi.so")) {
      continue;
    }
    const std::string path = other_mpi_of(what, program);
    const bool have_its_abi = has_foreign(tree_libraries(), name);
    if (path.empty() && have_its_abi) {
      if (const std::string why = why_environment_is_ignored(program); !why.empty()) {
        std::string complaint = program;
        complaint += " " + why;
        complaint +=
            ", so that it finds no library where Sinew says. Install Sinew's libraries where the "
            "system's are";
        return complaint;
      }
      if (std::string why = why_two_mpis(program, linker_environment(what)); !why.empty()) {
        return why;
      }
      continue;
    }
    const std::string head =
        program + " is linked to another MPI (" + (path.empty() ? name : path) + "), ";
    if (have_its_abi) {
      return head +
             "which it finds by a path of its own, and runs on that, not on Sinew, which has that "
             "library, too. Take the path away (patchelf --remove-rpath), or unset LD_PRELOAD if "
             "that names it";
    }
    return speaks_pmi1(name)
               ? head +
                     "and runs on that, not on Sinew. Build it with mpicc.sinew, or for the "
                     "standard ABI (mpicc_abi)"
               : head +
                     "which does not know this launcher: each rank will be alone. Build it "
                     "with mpicc.sinew";
  }
  return {};
}

}  // namespace

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return text + "'";
}

std::vector<std::string> linker_environment(const application& what) {
  std::vector<std::string> environment = clean_environment();
  for (const auto& [name, value] : what.environment) {
    assign(environment, name, value);
  }
  offer_libraries(environment, {});
  return environment;
}

job_plan plan_hosts(const run_options& options, host_map hosts) {
  job_plan plan;
  plan.job = "job-" + std::to_string(::getpid()) + "-" + std::to_string(now_ns());
  for (std::size_t i = 0; i < options.applications.size(); ++i) {
    const application& each = options.applications[i];
    plan.ranks.insert(plan.ranks.end(), static_cast<std::size_t>(each.ranks),
                      {static_cast<int>(i), "", &each, {}});
  }
  SINEW_ENSURE(hosts.empty() || hosts.node_of.size() == plan.ranks.size());
  plan.hosts = std::move(hosts);
  return plan;
}

job_plan plan_job(const run_options& options, host_map hosts, int node) {
  job_plan plan = plan_hosts(options, std::move(hosts));
  for (int rank = 0; rank < static_cast<int>(plan.ranks.size()); ++rank) {
    if (plan.hosts.empty() || plan.hosts.node(rank) == node) {
      plan.local.push_back(rank);
    }
  }
  binding_plan binding = plan_binding(options.binding, static_cast<int>(plan.local.size()));
  for (std::size_t local = 0; local < plan.local.size(); ++local) {
    plan.ranks[static_cast<std::size_t>(plan.local[local])].cpus = std::move(binding.cpus[local]);
  }
  const auto remark = [&plan](const std::string& text) {
    if (!text.empty()) {
      plan.remarks.push_back(text);
    }
  };
  remark(binding.remark);
  std::vector<std::string> programs;
  for (const application& each : options.applications) {
    const program_lookup found = find_program(each.arguments.front(), each.directory);
    if (found.exit_code != 0) {
      plan.exit_code = found.exit_code;
      plan.complaint = found.complaint;
      return plan;
    }
    if (options.threads_as_fibers) {
      plan.complaint = fibers_complaint(found.path);
      if (!plan.complaint.empty()) {
        plan.exit_code = 126;
        return plan;
      }
    }
    const std::vector<std::string_view> preloaded = preloaded_libraries(options, found.path);
    programs.push_back(found.path);
    const std::string other = remark_on_other_mpi(each, found.path);
    plan.other_mpi_told = plan.other_mpi_told || !other.empty();
    remark(other);
    for (planned_rank& rank : plan.ranks) {
      if (rank.what == &each) {
        rank.program = found.path;
        rank.preloaded = preloaded;
      }
    }
  }
  if (programs.size() > 1) {
    plan.complaint = complaint_of_two_mpis(programs);
    plan.exit_code = plan.complaint.empty() ? 0 : 2;
  }
  return plan;
}

std::vector<std::string> clean_environment() {
  std::vector<std::string> result;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!foreign(*each)) {
      result.emplace_back(*each);
    }
  }
  return result;
}

std::string other_mpi_of(const application& what, const std::string& program) {
  return linked_other_mpi(program, linker_environment(what));
}

std::vector<std::string> rank_environment(const run_options& options, const job_plan& plan,
                                          int local, const std::vector<std::string>& clean,
                                          int pmi_fd, int memory_fd) {
  SINEW_EXPECT(local >= 0 && static_cast<std::size_t>(local) < plan.local.size());
  const int rank = plan.local[static_cast<std::size_t>(local)];
  const std::string local_number = std::to_string(local);
  const std::string local_size = std::to_string(plan.local.size());
  std::vector<std::string> result = clean;
  const std::string number = std::to_string(rank);
  const std::string size = std::to_string(plan.ranks.size());
  const auto add = [&result](const char* name, const std::string& value) {
    result.push_back(std::string(name) + "=" + value);  // `clean` has none of these
  };
  add(wire::pmi_fd, std::to_string(pmi_fd));
  add(wire::pmi_rank, number);
  add(wire::pmi_size, size);
  // Not ours: programs ask for what other launchers set, and would take themselves for alone.
  add("MPI_LOCALRANKID", local_number);
  add("MPI_LOCALNRANKS", local_size);
  add("OMPI_COMM_WORLD_RANK", number);
  add("OMPI_COMM_WORLD_SIZE", size);
  add("OMPI_COMM_WORLD_LOCAL_RANK", local_number);
  add("OMPI_COMM_WORLD_LOCAL_SIZE", local_size);
  add(wire::application, std::to_string(plan.ranks[static_cast<std::size_t>(rank)].application));
  add(wire::job, plan.job);
  add(wire::shm_fd, std::to_string(memory_fd));
  add(wire::launcher_pid, std::to_string(::getpid()));
  add(wire::local_rank, local_number);
  add(wire::local_size, local_size);
  add(wire::local_cpus, std::to_string(topology::usable_cpus()));
  if (!plan.hosts.empty()) {
    add(wire::nodes, boot::format_process_mapping(plan.hosts.node_of));
    const std::string names = joined(plan.hosts.names);
    if (names.size() <= wire::longest_host_list) {
      add(wire::hosts, names);
    }
    const std::string all = hosts_text(plan.hosts.named);
    if (all.size() <= wire::longest_host_list) {
      add(wire::allocation, all);
    }
    if (!options.agent.empty()) {
      add(wire::agent, options.agent);
    }
  }
  if (options.statistics) {
    assign(result, "SINEW_MATCH_STATS", "1");
  }
  if (!options.hang_timeout.empty()) {
    assign(result, "SINEW_CORE_HANG_TIMEOUT", options.hang_timeout);
  }
  if (!options.trace.empty()) {
    assign(result, "SINEW_BASE_TRACE", trace_parts(options.trace));
  }
  if (!options.profile.empty()) {
    assign(result, "SINEW_MPI_PROFILE", profile_file(options.profile));
  }
  for (const auto& [name, value] : plan.ranks[static_cast<std::size_t>(rank)].what->environment) {
    assign(result, name, value);
  }
  offer_libraries(result, plan.ranks[static_cast<std::size_t>(rank)].program);
  const auto& libraries = plan.ranks[static_cast<std::size_t>(rank)].preloaded;
  std::for_each(libraries.rbegin(), libraries.rend(),
                [&result](std::string_view library) { preload(library, result); });
  return result;
}

std::string describe(const run_options& options, const job_plan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    const planned_rank& each = plan.ranks[rank];
    text += "rank " + std::to_string(rank);
    text += plan.hosts.empty() ? ":" : " on " + plan.hosts.host(static_cast<int>(rank)) + ":";
    if (!each.what->directory.empty()) {
      text += " cd " + shell_quoted(each.what->directory) + " &&";
    }
    for (const auto& [name, value] : each.what->environment) {
      text += " " + name + "=" + shell_quoted(value);
    }
    if (options.statistics) {
      text += " SINEW_MATCH_STATS=1";
    }
    if (!options.hang_timeout.empty()) {
      text += " SINEW_CORE_HANG_TIMEOUT=" + options.hang_timeout;
    }
    if (!options.trace.empty()) {
      text += " SINEW_BASE_TRACE=" + shell_quoted(trace_parts(options.trace));
    }
    if (!options.profile.empty()) {
      text += " SINEW_MPI_PROFILE=" + shell_quoted(profile_file(options.profile));
    }
    if (!each.preloaded.empty()) {
      std::string value;
      std::for_each(each.preloaded.rbegin(), each.preloaded.rend(), [&](std::string_view library) {
        value = preload_value(library, tree_libraries(), value);
      });
      text += " LD_PRELOAD=" + shell_quoted(value);
    }
    if (!each.cpus.empty()) {
      text += " taskset -c " + base::ranges_text(each.cpus);
    }
    text += " " + shell_quoted(each.program.empty() ? each.what->arguments.front() : each.program);
    for (std::size_t i = 1; i < each.what->arguments.size(); ++i) {
      text += " " + shell_quoted(each.what->arguments[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace sinew::tool
