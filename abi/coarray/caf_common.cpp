// SPDX-License-Identifier: BSD-3-Clause
// The calls that are the same for all versions of gfortran: memory, stopping.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "abi/coarray/failure.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/job.hpp"
#include "abi/coarray/registration.hpp"
#include "abi/coarray/statement.hpp"
#include "abi/coarray/team.hpp"
#include "abi/coarray/units.hpp"

using namespace sinew::coarray;

namespace {

[[noreturn]] void end_in_order(int code) {
  const statement here("stop");
  flush_units();
  stop_image();
  say_goodbye();
  std::exit(code);
}

void say(const char* word, const std::string& what) {
  std::fprintf(stderr, "%s%s%s\n", word, what.empty() ? "" : " ", what.c_str());
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_init(int*, char***) {
  ensure_open();
  const statement here("the start of the program");
  // Other images' static coarrays have their first values from here on.
  (void)this_job.now->sync_all();
}

void _gfortran_caf_finalize() {
  if (this_job.open()) {
    stop_image();
    say_goodbye();
  }
}

void _gfortran_caf_register(std::size_t size, registration kind, void** token, descriptor* d,
                            int* stat, char* errmsg, std::size_t length) {
  const outcome out{stat, errmsg, length};
  guarded(out, "allocate", [&] {
    const statement here("allocate");
    enrol(size, kind, token, *d, stat != nullptr);
    out.good();
  });
}

void _gfortran_caf_deregister(void** token, deregistration kind, int* stat, char* errmsg,
                              std::size_t length) {
  const outcome out{stat, errmsg, length};
  guarded(out, "deallocate", [&] {
    const statement here("deallocate");
    finish(out, withdraw(token, kind), "deallocate");
  });
}

[[noreturn]] void _gfortran_caf_stop_numeric(int code, bool quiet) {
  if (!quiet) {
    say("STOP", std::to_string(code));
  }
  end_in_order(code);
}

[[noreturn]] void _gfortran_caf_stop_str(const char* text, std::size_t length, bool quiet) {
  if (!quiet && length != 0) {
    say("STOP", std::string(text, length));
  }
  end_in_order(0);
}

[[noreturn]] void _gfortran_caf_error_stop(int code, bool quiet) {
  if (!quiet) {
    say("ERROR STOP", std::to_string(code));
  }
  end_all(code, "image " + std::to_string(this_job.rank.value() + 1) + " executed ERROR STOP " +
                    std::to_string(code));
}

[[noreturn]] void _gfortran_caf_error_stop_str(const char* text, std::size_t length, bool quiet) {
  const std::string what(text, length);
  if (!quiet) {
    say("ERROR STOP", what);
  }
  end_all(1, "image " + std::to_string(this_job.rank.value() + 1) + " executed ERROR STOP " + what);
}

[[noreturn]] void _gfortran_caf_fail_image() {
  flush_units();
  std::fflush(nullptr);
  depart(image_words::failed);
  // Others may not know yet, and wait for answers; its memory would go, too.
  serve_until_all_leave();
  say_goodbye();
  std::_Exit(0);  // the others go on: another code would make the launcher end them
}

}  // extern "C"
#pragma GCC visibility pop
