// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/installed.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sinew/bench/process.hpp"
#include "sinew/bench/stats.hpp"

namespace sinew::tool {

std::optional<std::string> program_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : stats::split(path != nullptr ? path : "", ':')) {
    const std::string found = folder + '/' + name;
    if (!folder.empty() && access(found.c_str(), X_OK) == 0) {
      return found;
    }
  }
  return std::nullopt;
}

std::vector<std::string> common_sources(const std::string& sources) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(sources) / "common", ignored)) {
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> answer_of(const std::string& program,
                                   const std::vector<std::string>& words) {
  const auto path = program_in_path(program);
  if (!path) {
    return {};
  }
  command asking{{*path}, {{"LC_ALL", "C"}}, 20};
  asking.words.insert(asking.words.end(), words.begin(), words.end());
  const command_result said = run_command(asking);
  std::vector<std::string> found;
  for (const std::string& line : stats::split(said.ok() ? said.output : "", '\n')) {
    for (const std::string& word : stats::split(line, ' ')) {
      if (!word.empty()) {
        found.push_back(word);
      }
    }
  }
  return found;
}

std::string packaged_version(const std::string& file) {
  const auto first_of = [](const std::vector<std::string>& words) {
    return words.empty() ? std::string() : words.front();
  };
  const std::string owner = first_of(answer_of("dpkg-query", {"-S", file}));  // "name[:arch]:"
  const std::string package = owner.substr(0, owner.find_first_of(":,"));
  std::string version;
  if (!package.empty()) {
    version = first_of(answer_of("dpkg-query", {"-W", "-f=${Version}", package}));
  }
  if (version.empty()) {
    version = first_of(answer_of("rpm", {"-qf", "--qf=%{VERSION}-%{RELEASE}", file}));
  }
  return version.empty() ? "unknown" : version;
}

std::optional<installed_package> find_package(const std::string& name) {
  const auto version = answer_of("pkg-config", {"--modversion", name});
  if (version.empty()) {
    return std::nullopt;
  }
  return installed_package{version.front(), answer_of("pkg-config", {"--cflags", "--libs", name})};
}

std::optional<std::string> find_cmake_package(const std::string& name) {
  namespace fs = std::filesystem;
  if (!program_in_path("cmake")) {
    return std::nullopt;
  }
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string prefixes;
  for (const std::string& variable : {std::string("CMAKE_PREFIX_PATH"), name + "_ROOT"}) {
    const char* value = std::getenv(variable.c_str());
    prefixes += value != nullptr ? value + std::string(":") : "";
  }
  for (const std::string& prefix : stats::split(prefixes + "/usr/local:/usr", ':')) {
    for (const char* library : {"lib", "lib64", "share"}) {
      for (const std::string& folder : {name, lower}) {
        const fs::path place = fs::path(prefix) / library / "cmake" / folder;
        std::error_code ignored;
        if (prefix.empty() || !(fs::exists(place / (name + "Config.cmake"), ignored) ||
                                fs::exists(place / (lower + "-config.cmake"), ignored))) {
          continue;
        }
        for (const std::string& file : {name + "ConfigVersion", lower + "-config-version"}) {
          std::ifstream in(place / (file + ".cmake"));
          for (std::string line; std::getline(in, line);) {
            if (const std::size_t at = line.find("(PACKAGE_VERSION \""); at != std::string::npos) {
              const std::size_t begin = at + 18;
              return line.substr(begin, line.find('"', begin) - begin);
            }
          }
        }
        return "unknown";
      }
    }
  }
  return std::nullopt;
}

std::optional<installed_go> find_go() {
  const auto path = program_in_path("go");
  const auto said = answer_of("go", {"version"});  // "go version go1.26 linux/amd64"
  if (!path || said.size() < 3) {
    return std::nullopt;
  }
  return installed_go{*path, said[2]};
}

std::optional<installed_java> find_java() {
  const char* home = std::getenv("JAVA_HOME");
  std::optional<std::string> path = program_in_path("java");
  if (home != nullptr && access((home + std::string("/bin/java")).c_str(), X_OK) == 0) {
    path = home + std::string("/bin/java");
  }
  if (!path) {
    return std::nullopt;
  }
  const command_result said = run_command({{*path, "--version"}, {}, 20});
  const auto words = stats::split(said.ok() ? said.output : "", ' ');  // "openjdk 21.0.4 2024-..."
  if (words.size() < 2 || std::atoi(words[1].c_str()) < 21) {
    return std::nullopt;
  }
  return installed_java{*path, words[1]};
}

}  // namespace sinew::tool
