// SPDX-License-Identifier: BSD-3-Clause
// Reads the stacks of another process by elfutils' libdw. The one file that knows it.
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinew/ask/stack_plugin.hpp"
#include "sinew/base/build_id.hpp"
#include "sinew/base/source_lines.hpp"

namespace sinew::tool {
namespace {

struct visitor {
  Dwfl* process;
  bool (*take)(void* to, const seen_frame& frame);
  void* to;
  pid_t thread = 0;
  std::exception_ptr thrown{};
};

using demangled = std::unique_ptr<char, void (*)(void*)>;

demangled readable(const char* name) {
  int status = 0;
  return {name != nullptr ? abi::__cxa_demangle(name, nullptr, nullptr, &status) : nullptr,
          std::free};
}

/// Where a function is called that the compiler has put into its caller.
void go_to_caller(Dwarf_Die& inlined, seen_frame& seen) {
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  const bool known =
      dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &file) == 0 &&
      dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line) == 0 &&
      dwarf_diecu(&inlined, &unit, nullptr, nullptr) != nullptr &&
      dwarf_getsrcfiles(&unit, &files, nullptr) == 0;
  seen.file = known ? dwarf_filesrc(files, file, nullptr, nullptr) : nullptr;
  seen.line = known ? static_cast<int>(line) : 0;
}

/// One call of the machine's may be several of the source's. What is behind the inlined ones stays
/// in `seen`.
template <class Tell>
void tell_inlined(Dwfl_Module* module, Dwarf_Addr inside, seen_frame& seen, const Tell& tell) {
  Dwarf_Addr moved = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, inside, &moved);
  Dwarf_Die* found = nullptr;
  const int count = unit != nullptr ? dwarf_getscopes(unit, inside - moved, &found) : 0;
  const std::unique_ptr<Dwarf_Die, void (*)(void*)> scopes(found, std::free);
  const char* const outermost = seen.function;
  for (int i = 0; i < count; ++i) {
    Dwarf_Die& scope = scopes.get()[i];
    if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine) {
      seen.function = dwarf_diename(&scope);
      tell(seen);
      go_to_caller(scope, seen);
    }
  }
  seen.function = outermost;
}

/// What is known of a place in a file. Ranks run the same programs, and to search the data of a
/// compiler takes a hundred times as long as to find the calls.
struct known_place {
  std::vector<seen_frame> frames;
  std::deque<std::string> texts;  ///< that the frames have

  const char* keep(const char* text) {
    return text != nullptr ? texts.emplace_back(text).c_str() : nullptr;
  }
};

known_place look_up(Dwfl_Module* module, const char* file, Dwarf_Addr inside) {
  known_place found;
  seen_frame seen{0, dwfl_module_addrname(module, inside), file, nullptr, 0, false};
  const demangled name = readable(seen.function);
  seen.function = name != nullptr ? name.get() : seen.function;
  const auto tell = [&found](seen_frame each) {
    each.function = found.keep(each.function);
    each.module = found.keep(each.module);
    each.file = found.keep(each.file);
    found.frames.push_back(each);
  };
  if (Dwfl_Line* const line = dwfl_module_getsrc(module, inside)) {
    seen.file = dwfl_lineinfo(line, nullptr, &seen.line, nullptr, nullptr, nullptr);
    tell_inlined(module, inside, seen, tell);
  }
  tell(seen);
  return found;
}

const known_place& place_at(Dwfl* process, Dwarf_Addr inside) {
  static std::map<std::pair<std::string, Dwarf_Addr>, known_place> known;
  static const known_place nowhere{{{}}, {}};
  Dwfl_Module* const module = dwfl_addrmodule(process, inside);
  if (module == nullptr) {
    return nowhere;
  }
  Dwarf_Addr begin = 0;
  // The name is the file's, as the process has mapped it.
  const char* const file =
      dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
  const auto [at, is_new] =
      known.try_emplace({file != nullptr ? file : "", inside - begin}, known_place{});
  if (is_new) {
    at->second = look_up(module, file, inside);
  }
  return at->second;
}

int take_frame(Dwfl_Frame* frame, void* argument) {
  auto& to = *static_cast<visitor*>(argument);
  Dwarf_Addr at = 0;
  bool is_exact = false;
  if (!dwfl_frame_pc(frame, &at, &is_exact)) {
    return DWARF_CB_ABORT;
  }
  try {
    // Of the call, not behind it.
    for (seen_frame seen : place_at(to.process, is_exact ? at : at - 1).frames) {
      seen.thread = to.thread;
      seen.is_exact = is_exact;
      if (!to.take(to.to, seen)) {
        return DWARF_CB_ABORT;
      }
    }
  } catch (...) {  // not through a library in C
    to.thrown = std::current_exception();
  }
  return to.thrown ? DWARF_CB_ABORT : DWARF_CB_OK;
}

int take_thread(Dwfl_Thread* thread, void* argument) {
  auto& to = *static_cast<visitor*>(argument);
  to.thread = dwfl_thread_tid(thread);
  // A stack that ends in what cannot be unwound is told as far as it goes.
  (void)dwfl_thread_getframes(thread, take_frame, argument);
  return to.thrown ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/// Of a module: how far behind its beginning the symbols lie. 0: it has none.
seen_process look_for_python(Dwfl_Module* module) {
  seen_process found{0, 0};
  const int count = dwfl_module_getsymtab(module);
  Dwarf_Addr begin = 0;
  dwfl_module_info(module, nullptr, &begin, nullptr, nullptr, nullptr, nullptr, nullptr);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr at = 0;
    const char* const name =
        dwfl_module_getsym_info(module, i, &symbol, &at, nullptr, nullptr, nullptr);
    if (name != nullptr && at != 0 && std::strcmp(name, "_PyRuntime") == 0) {
      found.python_runtime = at - begin;
    } else if (name != nullptr && at != 0 && std::strcmp(name, "Py_Version") == 0) {
      found.python_version = at - begin;
    }
  }
  return found;
}

int look_into_module(Dwfl_Module* module, void** /*of_module*/, const char* name, Dwarf_Addr begin,
                     void* argument) {
  static std::map<std::string, seen_process> known;
  const char* const slash = name != nullptr ? std::strrchr(name, '/') : nullptr;
  const char* const file = slash != nullptr ? slash + 1 : "";
  if (std::strncmp(file, "python3", 7) != 0 && std::strncmp(file, "libpython3", 10) != 0) {
    return DWARF_CB_OK;
  }
  const auto [at, is_new] = known.try_emplace(name, seen_process{0, 0});
  if (is_new) {
    at->second = look_for_python(module);
  }
  if (at->second.python_runtime != 0) {
    auto& seen = *static_cast<seen_process*>(argument);
    seen = {begin + at->second.python_runtime, begin + at->second.python_version};
  }
  return DWARF_CB_OK;
}

const char* reason_of(int system_error) {
  return system_error > 0 ? "the system does not let us look into the process (ptrace)"
                          : dwfl_errmsg(-1);
}

const char* read(pid_t process, bool (*take)(void* to, const seen_frame& frame), void* to,
                 seen_process& seen) {
  ::unsetenv("DEBUGINFOD_URLS");  // libdw would ask servers for sources, and wait for them
  char* debug_files = nullptr;    // those of the system, beside the files themselves
  const Dwfl_Callbacks how = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr,
                              &debug_files};
  const std::unique_ptr<Dwfl, void (*)(Dwfl*)> opened(dwfl_begin(&how), dwfl_end);
  if (opened == nullptr || dwfl_linux_proc_report(opened.get(), process) != 0 ||
      dwfl_report_end(opened.get(), nullptr, nullptr) != 0) {
    return "the process has ended, or its memory cannot be read";
  }
  if (const int failed = dwfl_linux_proc_attach(opened.get(), process, false); failed != 0) {
    return reason_of(failed);
  }
  (void)dwfl_getmodules(opened.get(), look_into_module, &seen, 0);
  visitor all{opened.get(), take, to};
  (void)dwfl_getthreads(opened.get(), take_thread, &all);
  if (all.thrown) {
    std::rethrow_exception(all.thrown);
  }
  return nullptr;
}

/// Modules that the process has loaded since are found, too: their list is made anew.
void find_source(const void* address, void (*take)(void* to, const base::seen_source& seen),
                 void* to) {
  static const Dwfl_Callbacks how = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                     nullptr, nullptr};
  static Dwfl* const self = dwfl_begin(&how);
  if (self == nullptr) {
    return;
  }
  dwfl_report_begin(self);
  if (dwfl_linux_proc_report(self, ::getpid()) != 0 ||
      dwfl_report_end(self, nullptr, nullptr) != 0) {
    return;
  }
  const known_place& found = place_at(self, reinterpret_cast<Dwarf_Addr>(address));
  if (!found.frames.empty()) {
    const seen_frame& innermost = found.frames.front();
    take(to, {innermost.function, innermost.module, innermost.file, innermost.line});
  }
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] extern const stack_plugin sinew_stack_plugin;
[[gnu::visibility("default")]] extern const base::source_plugin sinew_source_plugin;
}
const stack_plugin sinew_stack_plugin = {build_id, read};
const base::source_plugin sinew_source_plugin = {build_id, find_source};

}  // namespace sinew::tool
