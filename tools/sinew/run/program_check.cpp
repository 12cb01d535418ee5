// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/program_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "sinew/run/dynamic_linker.hpp"
#include "sinew/run/elf_file.hpp"
#include "sinew/run/other_mpi.hpp"
#include "sinew/run/own_libraries.hpp"

namespace sinew::tool {
namespace {

/// An MPI library that a part of the program names.
struct named_mpi {
  std::string part;  ///< the program, or one of its libraries
  std::string library;
};

bool is_of_sinew(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  return name != 0 && is_ours(path.substr(0, name), path.substr(name));
}

/// The program's own first, then those of its libraries, without ours.
std::vector<named_mpi> named_by_parts(const std::string& program, const linkage& links) {
  std::vector<named_mpi> found;
  const auto look = [&found](const std::string& part) {
    elf_file file(part);
    for (const std::string& name : file.is_elf() ? file.needed() : std::vector<std::string>()) {
      if (is_mpi_library(name)) {
        found.push_back({part, name});
      } else if (is_binding_over_mpi(name)) {
        found.push_back({part, "libmpi_abi.so.1"});
      }
    }
  };
  look(program);
  for (const linked_library& each : links.libraries) {
    if (!each.path.empty() && !is_of_sinew(each.path) && !is_mpi_library(each.name)) {
      look(each.path);
    }
  }
  return found;
}

std::string two_mpis(const std::vector<named_mpi>& named) {
  for (const named_mpi& each : named) {
    const named_mpi& first = named.front();
    if (abi_of(each.library) != abi_of(first.library)) {
      return first.part + " was built with " + first.library + ", and " + each.part + " with " +
             each.library + ", which have different types and numbers. Build both with one MPI";
    }
  }
  return {};
}

/// Which of MPI's interfaces the names belong to.
std::string interfaces_of(const std::vector<std::string>& imports) {
  struct interface {
    const char* name;
    bool (*has)(std::string_view symbol);
  };
  // The first that fits takes a symbol.
  static constexpr std::array kinds = {
      interface{"Fortran (mpi_f08)",
                [](std::string_view s) {
                  return s.find("_f08") != std::string_view::npos &&
                         (s.starts_with("mpi_") || s.starts_with("pmpi_") ||
                          s.starts_with("__mpi_") || s.starts_with("ompi_f08"));
                }},
      interface{"Fortran (mpif.h, module mpi)",
                [](std::string_view s) {
                  return (s.starts_with("mpi_") || s.starts_with("pmpi_")) && s.ends_with('_');
                }},
      interface{"C++ (MPI::)", [](std::string_view s) { return s.starts_with("_ZN3MPI"); }},
      interface{
          "C", [](std::string_view s) { return s.starts_with("MPI_") || s.starts_with("PMPI_"); }}};
  std::array<bool, kinds.size()> used{};
  for (const std::string& each : imports) {
    const auto* const kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const interface& k) { return k.has(each); });
    if (kind != kinds.end()) {
      used[static_cast<std::size_t>(kind - kinds.begin())] = true;
    }
  }
  std::string text;
  for (std::size_t i = kinds.size(); i-- > 0;) {
    if (used[i]) {
      text += (text.empty() ? "" : ", ") + std::string(kinds[i].name);
    }
  }
  return text.empty() ? "none of its own" : text;
}

bool contains(const std::string& path, std::string_view text) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return bytes.find(text) != std::string::npos;
}

/// At most a few of them, and how many more.
std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more"
                             : text;
}

void judge_links(const linkage& links, program_facts& facts) {
  for (const linked_library& each : links.libraries) {
    if (each.path.empty() && is_mpi_library(each.name)) {
      facts.faults.push_back("It needs " + each.name + ", which has " +
                             std::string(name_of(abi_of(each.name))) +
                             ", and is not found. Build it with mpicc.sinew");
    } else if (each.path.empty()) {
      facts.faults.push_back("It needs " + each.name +
                             ", which is not found. Install that, or name its folder in "
                             "LD_LIBRARY_PATH");
    } else if (is_mpi_library(each.name) && !is_of_sinew(each.path)) {
      facts.faults.push_back(
          "It finds another MPI, " + each.path +
          (has_foreign(tree_libraries(), each.name)
               ? ", by a path of its own, and runs on that. Take the path away (patchelf "
                 "--remove-rpath), or unset LD_PRELOAD if that names it"
               : ", and runs on that. Build it with mpicc.sinew"));
    }
  }
  for (const std::string& each : links.complaints) {
    facts.faults.push_back("The dynamic linker says: " + each);
  }
}

bool begins_with(std::string_view name, std::span<const std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [name](std::string_view start) { return name.starts_with(start); });
}

/// `names_of_mpi_alone`: the rest is for the program to have, which loads this.
void judge_names(const std::vector<std::string>& undefined, bool names_of_mpi_alone,
                 program_facts& facts) {
  static constexpr std::array<std::string_view, 8> inner = {"opal_", "orte_", "ompi_", "mca_",
                                                            "MPIR_", "MPID",  "MPIU_", "prte_"};
  static constexpr std::array<std::string_view, 6> of_mpi = {"MPI_", "PMPI_", "MPIX_",
                                                             "mpi_", "pmpi_", "_ZN3MPI"};
  std::vector<std::string> insides;
  std::vector<std::string> others;
  for (const std::string& each : undefined) {
    if (begins_with(each, inner)) {
      insides.push_back(each);
    } else if (!names_of_mpi_alone || begins_with(each, of_mpi)) {
      others.push_back(each);
    }
  }
  if (!insides.empty()) {
    facts.faults.push_back("It uses inner parts of another MPI, which Sinew does not have: " +
                           list_of(insides));
  }
  if (!others.empty()) {
    facts.faults.push_back("It uses what no library has, and stops where it does: " +
                           list_of(others));
  }
}

void examine_elf(const std::string& path, const std::vector<std::string>& environment,
                 program_facts& facts) {
  elf_file file(path);
  if (file.is_static()) {
    facts.kind = "a static program";
    if (contains(path, "MPI_Init")) {
      facts.mpi = "one that is part of it";
      facts.faults.emplace_back(
          "It is linked statically, so that its MPI cannot be replaced. Link it with the MPI's "
          "shared library");
    }
    return;
  }
  const bool is_library = file.interpreter().empty();
  facts.kind = is_library ? "a library" : "a program";
  facts.interfaces = interfaces_of(file.imports());
  const linkage links = link(path, environment, asked::symbols);
  if (const std::string why = why_environment_is_ignored(path); !why.empty()) {
    facts.faults.push_back("It " + why +
                           ", so that the dynamic linker does not look where Sinew says. Install "
                           "Sinew's libraries where the system's are, or take that right away");
  }
  const std::vector<named_mpi> named = named_by_parts(path, links);
  if (!named.empty()) {
    const std::string& its = named.front().library;
    facts.mpi = std::string(name_of(abi_of(its))) + " (" + its + ")";
    for (const linked_library& each : links.libraries) {
      facts.found = each.name == its ? each.path : facts.found;
    }
    if (named.front().part != path) {
      facts.remarks.push_back("What calls MPI is its library " + named.front().part);
    }
  } else {
    facts.remarks.emplace_back(
        is_library ? "What calls MPI may be the program that loads it"
                   : "It may load a library that calls MPI later; that cannot be seen from here");
  }
  if (std::string why = two_mpis(named); !why.empty()) {
    facts.faults.push_back(std::move(why));
  }
  judge_links(links, facts);
  judge_names(links.undefined, is_library, facts);
}

}  // namespace

std::string why_two_mpis(const std::string& program, const std::vector<std::string>& environment) {
  return two_mpis(named_by_parts(program, link(program, environment, asked::libraries)));
}

program_facts examine(const std::string& path, const std::vector<std::string>& environment) {
  program_facts facts;
  facts.mpi = "none";
  if (struct stat about{}; ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) ||
                           ::access(path.c_str(), R_OK) != 0) {
    facts.kind = "unknown";
    facts.faults.emplace_back("It is no file that can be read");
    return facts;
  }
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  if (line.starts_with("#!")) {
    facts.kind =
        "a script for " + line.substr(std::min(line.find_first_not_of(' ', 2), line.size()));
    facts.remarks.emplace_back(
        "What a script loads cannot be seen from here; ask for the program or the library that it "
        "loads");
    return facts;
  }
  const elf_file elf(path);
  if (elf.is_elf() && elf.is_of_this_machine()) {
    examine_elf(path, environment, facts);
  } else {
    facts.kind = "no program of this machine";
    const std::string why = why_not_executable(path);  // "it is ..."
    facts.faults.push_back(why.empty() ? "It is neither a program nor a script"
                                       : "I" + why.substr(1));
  }
  return facts;
}

}  // namespace sinew::tool
