// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/exit_report.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string>

#include "sinew/base/clock.hpp"
#include "sinew/base/last_words.hpp"

namespace sinew::boot {
namespace {

session* watched = nullptr;
double patience = 0;
pid_t owner = 0;  // a fork of a rank is no rank
bool exiting = false;
int exit_status = 0;

void note_status(int status, void*) {
  exiting = true;
  exit_status = status;
}

// on_exit() does not know of libraries, so this one must stay until the process ends.
void stay_loaded() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&note_status), &here) != 0) {
    (void)::dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

bool all_end(session& line) {
  const auto until = now_ns() + static_cast<std::int64_t>(patience * second_ns);
  line.depart();
  while (!line.others_have_left()) {
    if (now_ns() >= until) {
      return false;
    }
    // Wait: for at most the time that the caller allows.
    sleep_ns(1'000'000);
  }
  return true;
}

// A destructor of the library or program, because these come after what atexit() has registered.
[[gnu::destructor]] void at_end() {
  if (watched == nullptr || !exiting || exit_status != 0 || ::getpid() != owner ||
      watched->finalized()) {
    return;
  }
  const place& here = watched->where();
  base::last_words()
      .add("sinew: rank ")
      .add_number(here.rank.index())
      .add(" of ")
      .add_number(static_cast<std::uint64_t>(here.known_size()))
      .add(" ends without MPI_Finalize; every rank should call it before the program ends.\n")
      .write();
  try {
    if (all_end(*watched)) {
      watched->finalize();
      return;
    }
  } catch (const std::exception&) {
    return;  // the launcher has gone
  }
  watched->abort(1, "it ended without MPI_Finalize while other ranks go on");
}

}  // namespace

void install_exit_report(session& line, double patience_s) {
  stay_loaded();
  patience = patience_s;
  owner = ::getpid();
  watched = &line;
  ::on_exit(note_status, nullptr);
}

}  // namespace sinew::boot
