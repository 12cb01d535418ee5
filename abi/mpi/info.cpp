// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 chapter 10: info objects.
#include "abi/mpi/info.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  return text;
}

void fill_environment(info_object& env) {
  std::string text = command_line();
  const std::size_t end = text.find('\0');
  const auto clipped = [](const std::string& s) { return s.substr(0, MPI_MAX_INFO_VAL - 1); };
  env.entries.emplace_back("command", clipped(text.substr(0, end)));
  if (end != std::string::npos) {
    std::string rest = text.substr(end + 1);
    std::replace(rest.begin(), rest.end(), '\0', ' ');
    env.entries.emplace_back("argv", clipped(rest));
  }
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  if (::gethostname(host, sizeof host - 1) == 0) {
    env.entries.emplace_back("host", host);
  }
  char folder[MPI_MAX_INFO_VAL] = {};
  if (::getcwd(folder, sizeof folder) != nullptr) {
    env.entries.emplace_back("wdir", folder);
  }
  if (process.runtime != nullptr) {
    env.entries.emplace_back("maxprocs", std::to_string(process.runtime->size()));
  }
  env.entries.emplace_back("thread_level", "MPI_THREAD_MULTIPLE");
}

info_object& environment() {
  static auto& it = *[] {
    auto* made = new info_object;
    fill_environment(*made);
    return made;
  }();
  return it;
}

std::string key_of(const char* key) {
  check_out(key, "key");
  const std::size_t length = std::strlen(key);
  if (length == 0 || length >= MPI_MAX_INFO_KEY) {
    fail(MPI_ERR_INFO_KEY, "the key has %zu characters (1 to %d are allowed)", length,
         MPI_MAX_INFO_KEY - 1);
  }
  SINEW_ENSURE(length < MPI_MAX_INFO_KEY);
  return key;
}

auto find(info_object& info, const std::string& key) {
  return std::find_if(info.entries.begin(), info.entries.end(),
                      [&](const auto& e) { return e.first == key; });
}

/// Only programs' own objects may be changed.
info_object& changeable(MPI_Info handle) {
  if (handle == MPI_INFO_ENV) {
    fail(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
  }
  return info_of(handle);
}

}  // namespace

info_object& info_of(MPI_Info handle) {
  if (handle == MPI_INFO_ENV) {
    return environment();
  }
  auto* found = resolve<info_object>(handle);
  if (found == nullptr) {
    fail(MPI_ERR_INFO, "the info object is %s",
         handle == MPI_INFO_NULL ? "MPI_INFO_NULL" : "freed or none");
  }
  return *found;
}

std::vector<std::pair<std::string, std::string>> hints_of(MPI_Info handle) {
  return handle == MPI_INFO_NULL ? std::vector<std::pair<std::string, std::string>>()
                                 : info_of(handle).entries;
}

info_object* copy_of(const info_object& from) {
  auto* made = arena<info_object>::make();
  made->entries = from.entries;
  return made;
}

int impl::Info_create(MPI_Info* info) {
  check_out(info, "info");
  *info = handle_of<MPI_Info>(arena<info_object>::make());
  return MPI_SUCCESS;
}

int impl::Info_create_env(int, char*[], MPI_Info* info) {
  check_out(info, "info");
  *info = handle_of<MPI_Info>(copy_of(environment()));
  return MPI_SUCCESS;
}

int impl::Info_dup(MPI_Info info, MPI_Info* newinfo) {
  check_out(newinfo, "newinfo");
  *newinfo = handle_of<MPI_Info>(copy_of(info_of(info)));
  return MPI_SUCCESS;
}

int impl::Info_free(MPI_Info* info) {
  check_out(info, "info");
  drop(&changeable(*info));
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

int impl::Info_set(MPI_Info info, const char* key, const char* value) {
  info_object& i = changeable(info);
  std::string k = key_of(key);
  check_out(value, "value");
  const std::size_t length = std::strlen(value);
  if (length == 0 || length >= MPI_MAX_INFO_VAL) {
    fail(MPI_ERR_INFO_VALUE, "the value has %zu characters (1 to %d are allowed)", length,
         MPI_MAX_INFO_VAL - 1);
  }
  const auto at = find(i, k);
  if (at != i.entries.end()) {
    at->second = value;
  } else {
    i.entries.emplace_back(std::move(k), value);
  }
  return MPI_SUCCESS;
}

int impl::Info_delete(MPI_Info info, const char* key) {
  info_object& i = changeable(info);
  const auto at = find(i, key_of(key));
  if (at == i.entries.end()) {
    fail(MPI_ERR_INFO_NOKEY, "there is no key \"%s\"", key);
  }
  i.entries.erase(at);
  return MPI_SUCCESS;
}

int impl::Info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  info_object& i = info_of(info);
  check_out(flag, "flag");
  const auto at = find(i, key_of(key));
  *flag = at != i.entries.end();
  if (*flag != 0) {
    if (valuelen < 0) {
      fail(MPI_ERR_ARG, "valuelen is %d", valuelen);
    }
    check_out(value, "value");
    const std::string clipped = at->second.substr(0, static_cast<std::size_t>(valuelen));
    std::memcpy(value, clipped.c_str(), clipped.size() + 1);
  }
  return MPI_SUCCESS;
}

int impl::Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  info_object& i = info_of(info);
  check_out(flag, "flag");
  check_out(buflen, "buflen");
  const auto at = find(i, key_of(key));
  *flag = at != i.entries.end();
  if (*flag != 0) {
    if (*buflen > 0) {
      check_out(value, "value");
      const std::string clipped = at->second.substr(0, static_cast<std::size_t>(*buflen - 1));
      std::memcpy(value, clipped.c_str(), clipped.size() + 1);
    }
    *buflen = static_cast<int>(at->second.size() + 1);
  }
  return MPI_SUCCESS;
}

int impl::Info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  info_object& i = info_of(info);
  check_out(flag, "flag");
  const auto at = find(i, key_of(key));
  *flag = at != i.entries.end();
  if (*flag != 0) {
    check_out(valuelen, "valuelen");
    SINEW_ASSERT(at->second.size() < MPI_MAX_INFO_VAL);
    *valuelen = static_cast<int>(at->second.size());
  }
  return MPI_SUCCESS;
}

int impl::Info_get_nkeys(MPI_Info info, int* nkeys) {
  check_out(nkeys, "nkeys");
  *nkeys = static_cast<int>(info_of(info).entries.size());
  return MPI_SUCCESS;
}

int impl::Info_get_nthkey(MPI_Info info, int n, char* key) {
  const info_object& i = info_of(info);
  check_out(key, "key");
  if (n < 0 || static_cast<std::size_t>(n) >= i.entries.size()) {
    fail(MPI_ERR_ARG, "there is no key %d: the object has %zu", n, i.entries.size());
  }
  const std::string& name = i.entries[static_cast<std::size_t>(n)].first;
  SINEW_ASSERT(name.size() < MPI_MAX_INFO_KEY);
  std::memcpy(key, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
