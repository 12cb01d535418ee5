// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/dynamic/names.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/raw_write.hpp"
#include "sinew/boot/descriptor.hpp"

namespace sinew::dynamic {
namespace {

constexpr std::size_t longest_file_name = 200;

/// When process `pid` has started, in the kernel's ticks; empty if there is none.
std::string start_of(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string word;
  for (int i = 3; i <= 22 && words >> word; ++i) {  // proc(5): the state is field 3
  }
  return words ? word : std::string();
}

std::string machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id.empty() ? "unknown" : id;
}

/// A file's text: who has published, a line; the port, a line.
std::string text_of(const std::string& port) {
  const long pid = ::getpid();
  return machine() + " " + std::to_string(pid) + " " + start_of(pid) + "\n" + port + "\n";
}

/// What lives on another node is taken to live.
bool lives(const std::string& publisher) {
  std::istringstream words(publisher);
  std::string where, start;
  long pid = 0;
  words >> where >> pid >> start;
  return where != machine() || start_of(pid) == start;
}

std::string folder_of_user() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime != nullptr && *runtime == '/' ? std::string(runtime) + "/sinew-names"
                                               : "/tmp/sinew-names-" + std::to_string(::geteuid());
}

}  // namespace

std::optional<names_folder> names_folder::wanted(const std::string& setting,
                                                 const std::string& global_scope) {
  if (!setting.empty() && setting != "user") {
    return names_folder(setting);
  }
  if (setting == "user" || global_scope == "true") {
    return names_folder(folder_of_user());
  }
  return std::nullopt;
}

// What others could write would not be names, but ports of theirs.
names_folder::names_folder(std::string path) : path_(std::move(path)) {
  struct stat about{};
  const bool there =
      (::mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST) && ::lstat(path_.c_str(), &about) == 0;
  SINEW_CHECK(there, "the folder for published names, " + path_ + ", cannot be used",
              std::strerror(errno), "set SINEW_MPI_NAMES to a folder of yours");
  SINEW_CHECK(S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() &&
                  (about.st_mode & (S_IWGRP | S_IWOTH)) == 0,
              "the folder for published names, " + path_ + ", cannot be used",
              "it is no folder, or others may write into it",
              "set SINEW_MPI_NAMES to a folder of yours (chmod 700)");
}

std::string names_folder::file_of(const std::string& service) const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (const char c : service) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_') {
      name += c;
    } else {
      name += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  if (name.size() > longest_file_name) {
    const std::size_t all = std::hash<std::string>()(service);
    name = name.substr(0, longest_file_name) + "+" + std::to_string(all);
  }
  SINEW_ENSURE(name.find('/') == name.npos);
  return path_ + "/" + name + ".name";
}

// A file appears whole, by link(), which replaces none.
bool names_folder::publish(const std::string& service, const std::string& port) const {
  const std::string file = file_of(service);
  std::string draft = path_ + "/draft-XXXXXX";
  {
    const boot::descriptor made(::mkostemp(draft.data(), O_CLOEXEC));
    SINEW_CHECK(static_cast<bool>(made), "a name cannot be published in " + path_,
                std::strerror(errno), "set SINEW_MPI_NAMES to a folder of yours");
    base::raw_write(made.get(), text_of(port));
  }
  bool done = ::link(draft.c_str(), file.c_str()) == 0;
  if (!done && errno == EEXIST && !lookup(service)) {
    (void)::unlink(file.c_str());  // of a process that has ended
    done = ::link(draft.c_str(), file.c_str()) == 0;
  }
  (void)::unlink(draft.c_str());
  return done;
}

std::optional<std::string> names_folder::lookup(const std::string& service) const {
  std::ifstream file(file_of(service));
  std::string publisher, port;
  if (!std::getline(file, publisher) || !std::getline(file, port) || !lives(publisher)) {
    return std::nullopt;
  }
  return port;
}

bool names_folder::unpublish(const std::string& service) const {
  return ::unlink(file_of(service).c_str()) == 0;
}

}  // namespace sinew::dynamic
