// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/stacks.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "sinew/ask/python_frames.hpp"
#include "sinew/ask/stack_plugin.hpp"
#include "sinew/base/build_id.hpp"
#include "sinew/run/frames.hpp"
#include "sinew/run/other_mpi.hpp"
#include "sinew/run/own_libraries.hpp"

namespace sinew::tool {
namespace {

/// Null, and why. Loaded when first asked for: a job that nobody asks pays nothing.
const stack_plugin* plugin(std::string& why_not) {
  const std::string file = tree_libraries() + "/libsinew_stacks.so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    why_not = std::string("stacks cannot be read: ") + (reason != nullptr ? reason : file) +
              "; install libdw (Debian: libdw-dev before Sinew is built, libdw1 to run it)";
    return nullptr;
  }
  const auto* const found = static_cast<const stack_plugin*>(::dlsym(library, stack_plugin_symbol));
  if (found == nullptr || std::strcmp(found->build, build_id) != 0) {
    why_not = "stacks cannot be read: " + file + " is of another build of Sinew";
    return nullptr;
  }
  return found;
}

struct collection {
  std::vector<std::pair<pid_t, stack>> threads;
};

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

bool collect(void* to, const seen_frame& seen) {
  auto& all = static_cast<collection*>(to)->threads;
  if (all.empty() || all.back().first != seen.thread) {
    if (all.size() == most_threads) {
      return false;
    }
    all.push_back({seen.thread, {}});
  }
  stack& calls = all.back().second;
  calls.push_back({text_of(seen.function), text_of(seen.module), text_of(seen.file), seen.line,
                   false, seen.is_exact});
  return calls.size() < most_frames;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](std::string_view each) { return text.starts_with(each); });
}

/// As it is written in the source: without a compiler's endings ("deep.0", "f.constprop.0") and a
/// list of arguments.
std::string written_name(const stack_frame& frame) {
  const std::string& function = frame.function;
  if (frame.interpreted) {
    return function;
  }
  const std::string name = function.substr(0, function.find_first_of("(.@", 1));
  return name == "MAIN__" ? "the main program" : name;
}

/// Of a function of MPI that has a short way, and has gone on to this by a jump
/// (abi/mpi/generate/bindings.py).
constexpr std::string_view slow_part = "full_";

/// By the library's name alone, since it may be another host's; or by that of the function, which a
/// program may hold itself.
bool is_of_sinew(const stack_frame& frame) {
  const std::string name = base_name(frame.module);
  return has_own_name(name) || is_mpi_library(name) ||
         starts_with_any(frame.function, {"sinew::", "(anonymous namespace)::sinew"});
}

/// What a program calls, as it is written there. Names of Fortran's MPI are small, and have an end
/// of their own; statements of coarrays have calls of the compiler's.
std::optional<std::string> public_name(const stack_frame& frame) {
  const std::string& function = frame.function;
  std::string_view name = function;
  if (starts_with_any(name, {"MPI_", "MPIX_", "sinew_"})) {
    return function;
  }
  constexpr std::string_view coarrays = "_gfortran_caf_";
  if (name.starts_with(coarrays)) {
    std::string statement(name.substr(coarrays.size()));
    std::replace(statement.begin(), statement.end(), '_', ' ');
    return statement;
  }
  if (starts_with_any(name, {"PMPI_", "PMPIX_"})) {
    return function.substr(1);
  }
  if (name.starts_with(slow_part) && is_of_sinew(frame)) {
    return "MPI_" + function.substr(slow_part.size());
  }
  if (!starts_with_any(name, {"mpi_", "pmpi_", "mpix_"})) {
    return std::nullopt;
  }
  name.remove_prefix(name.front() == 'p' ? 1 : 0);
  for (const std::string_view end : {"_", "_", "_f08ts", "_f08", "_c"}) {
    name.remove_suffix(name.ends_with(end) ? end.size() : 0);
  }
  std::string made(name);
  std::transform(made.begin(), made.begin() + 5, made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return made;
}

std::string where_of(const stack_frame& frame) {
  if (frame.line == 0) {
    return base_name(frame.module);
  }
  std::error_code ignored;
  const auto near = std::filesystem::relative(frame.file, ignored).string();
  const bool below = !ignored && !near.empty() && !near.starts_with("..");
  return (below ? near : base_name(frame.file)) + ":" + std::to_string(frame.line);
}

/// The interpreter's own calls are replaced by those of the program that it runs. What it calls
/// stays.
void put_in(stack& calls, const stack& of_python) {
  const auto begin = std::find_if(calls.begin(), calls.end(), [](const stack_frame& each) {
    return starts_with_any(base_name(each.module), {"python3", "libpython3"});
  });
  calls.erase(begin, calls.end());
  calls.insert(calls.end(), of_python.begin(), of_python.end());
}

}  // namespace

rank_stacks read_stacks(pid_t process) {
  rank_stacks found;
  const stack_plugin* const reader = plugin(found.why_not);
  if (reader == nullptr) {
    return found;
  }
  collection all;
  seen_process seen{0, 0};
  if (const char* const reason = reader->read(process, collect, &all, seen); reason != nullptr) {
    found.why_not = reason;
    return found;
  }
  const auto of_python = python_stacks(process, {seen.python_runtime, seen.python_version});
  for (auto& [thread, calls] : all.threads) {
    if (const auto known = of_python.find(thread);
        known != of_python.end() && !known->second.empty()) {
      put_in(calls, known->second);
    }
  }
  std::stable_partition(all.threads.begin(), all.threads.end(),
                        [process](const auto& each) { return each.first == process; });
  for (auto& [thread, calls] : all.threads) {
    found.threads.push_back(std::move(calls));
  }
  if (found.threads.empty()) {
    found.why_not = "it has no thread that can be looked at";
  }
  return found;
}

std::string rank_stacks::pack() const {
  packer to;
  to.text(why_not)
      .text(numbers ? numbers->line() : "")
      .number(static_cast<std::int64_t>(threads.size()));
  for (const stack& each : threads) {
    to.number(static_cast<std::int64_t>(each.size()));
    for (const stack_frame& frame : each) {
      to.text(frame.function).text(frame.module).text(frame.file).number(frame.line);
      to.number(frame.interpreted ? 1 : 0).number(frame.is_exact ? 1 : 0);
    }
  }
  return to.bytes();
}

rank_stacks rank_stacks::unpack(std::string_view bytes) {
  constexpr std::size_t least_bytes_of_frame = 6 * sizeof(std::int64_t);
  unpacker from(bytes);
  rank_stacks made;
  made.why_not = from.text();
  made.numbers = rank_numbers::of_line(from.text());
  for (std::size_t threads = from.count(sizeof(std::int64_t)); threads > 0; --threads) {
    stack calls;
    for (std::size_t frames = from.count(least_bytes_of_frame); frames > 0; --frames) {
      stack_frame frame;
      frame.function = from.text();
      frame.module = from.text();
      frame.file = from.text();
      frame.line = static_cast<int>(from.number());
      frame.interpreted = from.number() != 0;
      frame.is_exact = from.number() != 0;
      calls.push_back(std::move(frame));
    }
    made.threads.push_back(std::move(calls));
  }
  if (!from.whole() || (made.why_not.empty() && made.threads.empty() && !made.numbers)) {
    made = {"what its host says makes no sense", {}};
  }
  return made;
}

std::string place::text(const std::string& waits_for) const {
  std::string made = call.empty() ? "in no call of MPI" : call + waits_for;
  if (!function.empty()) {
    made += ", in " + function;
  }
  return where.empty()
             ? made
             : made + (function.empty() ? ", in " : " (") + where + (function.empty() ? "" : ")");
}

// Those inside it are how it is made, or the program's own functions that it has called.
std::optional<std::size_t> outermost_call(const stack& calls) {
  for (std::size_t i = calls.size(); i-- > 0;) {
    if (public_name(calls[i])) {
      return i;
    }
  }
  return std::nullopt;
}

bool waits_in_call(const stack& calls) {
  const auto call = outermost_call(calls);
  if (!call || *call + 1 >= calls.size()) {
    return call.has_value();
  }
  const std::string& program = calls[*call + 1].module;
  return std::none_of(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(*call),
                      [&program](const stack_frame& each) {
                        return each.interpreted || (each.module == program && !is_of_sinew(each));
                      });
}

// The system puts a frame between the handler's call and what it has interrupted.
std::optional<std::size_t> interrupted_call(const stack& calls) {
  for (std::size_t i = 1; i + 1 < calls.size(); ++i) {
    if (!calls[i - 1].is_exact && calls[i].is_exact) {
      const auto end = calls.begin() + static_cast<std::ptrdiff_t>(i);
      return std::any_of(calls.begin(), end, is_of_sinew) ? std::optional(i + 1) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::string frame_text(const stack_frame& frame) {
  if (auto name = public_name(frame)) {
    return *name;
  }
  const std::string where = where_of(frame);
  const std::string name = frame.function.empty() ? "?" : written_name(frame);
  return where.empty() || where == name ? name : name + " (" + where + ")";
}

place place_of(const stack& calls) {
  place found;
  std::size_t caller = 0;
  if (const auto call = outermost_call(calls)) {
    found.call = *public_name(calls[*call]);
    caller = *call + 1;
    while (caller < calls.size() && is_of_sinew(calls[caller])) {
      ++caller;  // between a binding and the program
    }
    const auto python =
        std::find_if(calls.begin() + static_cast<std::ptrdiff_t>(caller), calls.end(),
                     [](const stack_frame& each) { return each.interpreted; });
    caller = python == calls.end() ? caller : static_cast<std::size_t>(python - calls.begin());
  } else {  // the innermost call whose source is known, and is not the system's
    const auto known = std::find_if(calls.begin(), calls.end(), [](const stack_frame& each) {
      return each.line != 0 && !starts_with_any(base_name(each.module), {"libc.so", "ld-linux"});
    });
    caller = known == calls.end() ? 0 : static_cast<std::size_t>(known - calls.begin());
  }
  if (caller < calls.size()) {
    found.function = written_name(calls[caller]);
    found.where = where_of(calls[caller]);
  }
  return found;
}

place place_of(const rank_stacks& rank) {
  place main;
  for (const stack& each : rank.threads) {
    const place here = place_of(each);
    if (&each == &rank.threads.front()) {
      main = here;
    }
    if (!here.call.empty()) {
      return here;
    }
  }
  return main;
}

}  // namespace sinew::tool
