// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/pulse.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>

#include "sinew/boot/session.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {

constinit pulse own_pulse;

namespace {

/// Open as long as the process lives: others find the memory by it.
int number = -1;

template <std::size_t N>
void copy(const std::string& text, std::array<char, N>& to) noexcept {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

/// The parent's page is not the child's to change.
void in_child() {
  (void)::mmap(&own_pulse, pulse_bytes, PROT_READ | PROT_WRITE,
               MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::close(number);
  number = -1;
}

/// What the page holds goes into the memory that takes its place.
bool put_in_place_of_page(int memory) noexcept {
  return ::pwrite(memory, &own_pulse, pulse_bytes, 0) == static_cast<ssize_t>(pulse_bytes) &&
         ::mmap(&own_pulse, pulse_bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, memory,
                0) != MAP_FAILED;
}

}  // namespace

void share_pulse(const place& where) noexcept {
  if (number >= 0 || ::sysconf(_SC_PAGESIZE) > static_cast<long>(pulse_bytes)) {
    return;
  }
  try {
    own_pulse.form = pulse_form;
    own_pulse.rank = where.rank.value();
    own_pulse.size = where.size;
    copy(where.job, own_pulse.job);
    copy(where.launcher, own_pulse.launcher);
    descriptor memory = make_shared_memory(pulse_label);
    if (put_in_place_of_page(memory.get()) && ::pthread_atfork(nullptr, nullptr, in_child) == 0) {
      number = memory.release();
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): nobody can look, then
  }
}

bool pulse_is_shared() noexcept { return number >= 0; }

}  // namespace sinew::boot
