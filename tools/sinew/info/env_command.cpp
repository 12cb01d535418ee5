// SPDX-License-Identifier: BSD-3-Clause
// sinew env: what lets programs find Sinew's libraries when something else than sinew run starts
// them.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/commands.hpp"
#include "sinew/run/job_plan.hpp"
#include "sinew/run/own_libraries.hpp"

namespace sinew::tool {
namespace {

struct env_request {
  std::vector<mpi_abi> abis;  ///< empty: all
  bool csh = false;
  bool help = false;
};

mpi_abi abi_named(std::string_view name) {
  struct known {
    std::string_view name;
    mpi_abi abi;
  };
  constexpr std::array all = {known{"standard", mpi_abi::standard}, known{"mpich", mpi_abi::mpich},
                              known{"openmpi", mpi_abi::openmpi}};
  for (const known& each : all) {
    if (each.name == name) {
      return each.abi;
    }
  }
  throw usage_failure("--abi takes mpich, openmpi or standard, not \"" + std::string(name) + "\"");
}

std::vector<option> table(env_request& request) {
  return {{{"--abi"},
           "NAME",
           "for programs built with that MPI: mpich (Intel MPI and MVAPICH, too), openmpi, or\n"
           "standard; again for another one (default: all three)",
           [&request](std::string_view v) { request.abis.push_back(abi_named(v)); }},
          {{"--csh"},
           "",
           "for csh and tcsh (default: for sh, bash and zsh)",
           [&request](std::string_view) { request.csh = true; }},
          {{"-h", "--help"}, "", "shows this text", [&request](std::string_view) {
             request.help = true;
           }}};
}

std::string line_for_sh(const variable& v) {
  const std::string behind = v.in_front ? "\"${" + v.name + ":+:$" + v.name + "}\"" : std::string();
  return "export " + v.name + "=" + shell_quoted(v.value) + behind + "\n";
}

// csh reads a variable even where a condition keeps it from that: so it is set first.
std::string line_for_csh(const variable& v) {
  const std::string set = "setenv " + v.name + " " + shell_quoted(v.value);
  return v.in_front ? "if (! $?" + v.name + ") " + set + "\n" + set + "\":$" + v.name + "\"\n"
                    : set + "\n";
}

}  // namespace

command_page env_page() {
  static env_request unused;
  return {
      "env",
      "prints what to set for programs that something else starts",
      "[--abi mpich|openmpi|standard]... [--csh]",
      "eval \"$(sinew env)\" before srun or another launcher, so that programs which were built\n"
      "with MPICH, Intel MPI or Open MPI find Sinew's libraries of those names, as under\n"
      "sinew run.",
      table(unused),
      {}};
}

int env_main(int argc, char** argv) {
  env_request request;
  const std::vector<option> known = table(request);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t taken = parse_options(std::span(words).subspan(at), known);
    if (taken == 0) {
      throw usage_failure("env takes options alone, not \"" + std::string(words[at]) + "\"");
    }
    at += taken;
  }
  if (request.help) {
    std::fputs(help_text(env_page()).c_str(), stdout);
    return 0;
  }
  const char* virtual_environment = std::getenv("VIRTUAL_ENV");
  const std::vector<variable> all = variables_for(
      request.abis.empty() ? std::span<const mpi_abi>(all_abis) : std::span(request.abis),
      abi_of_python("", virtual_environment == nullptr ? "" : virtual_environment));
  SINEW_CHECK(!all.empty(), "there is nothing to set",
              "Sinew's MPI library does not lie beside this program (../lib/libmpi_abi.so.1)",
              "build it (make build), or call the sinew of an installation");
  for (const variable& each : all) {
    std::fputs((request.csh ? line_for_csh(each) : line_for_sh(each)).c_str(), stdout);
  }
  return 0;
}

}  // namespace sinew::tool
