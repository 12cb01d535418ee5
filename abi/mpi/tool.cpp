// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 chapter 15: initialisation of the tool interface, and what its parts share.
#include "abi/mpi/tool.hpp"

#include <algorithm>
#include <atomic>

#include "abi/mpi/profile/profile.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::mpi {
namespace {

int initialisations = 0;  // under tool::lock()

/// Somebody listens by this interface, and not only the profile. Relaxed: whoever begins to listen
/// need not hear of what happens at the same time.
std::atomic<bool> tools_listen{false};

void on_message(const p2p::incident& it) noexcept {
  if (profile::wanted()) {
    profile::see(it);
  }
  if (it.met || !tools_listen.load(std::memory_order_relaxed)) {
    return;
  }
  try {
    tool::count_message(it);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the count misses one
  }
  tool::tell_message(it);
}

/// One thread at a time begins or ends the observation. Nobody takes it inside of progress.
std::mutex& settling() {
  static auto& it = *new std::mutex;
  return it;
}

}  // namespace

namespace tool {

std::recursive_mutex& lock() {
  static auto& it = *new std::recursive_mutex;
  return it;
}

bool initialised() { return initialisations > 0; }

void give_text(char* to, int* length, const char* text) {
  SINEW_EXPECT(text != nullptr);
  if (length == nullptr) {
    return;
  }
  const int whole = static_cast<int>(std::strlen(text)) + 1;
  if (to == nullptr || *length <= 0) {
    *length = whole;
    return;
  }
  const int kept = std::min(*length, whole);
  std::memcpy(to, text, static_cast<std::size_t>(kept - 1));
  to[kept - 1] = '\0';
  *length = kept;
}

int give_indices(const std::vector<int>& all, int room, int* indices) {
  if (room < 0 || (indices == nullptr && room != 0)) {
    return MPI_T_ERR_INVALID;
  }
  const auto n = std::min(all.size(), static_cast<std::size_t>(room));
  std::copy_n(all.begin(), n, indices);
  return MPI_SUCCESS;
}

void settle_observation() {
  if (process.now.load(std::memory_order_relaxed) != phase::running) {
    return;
  }
  const std::lock_guard alone(settling());
  static bool observed = false;
  bool listen = false;
  {
    const std::lock_guard held(lock());
    listen = variables_listen() || events_listen();
  }
  tools_listen.store(listen, std::memory_order_relaxed);
  const bool wanted = listen || profile::wanted();
  if (wanted != observed) {
    process.engine->observe(wanted ? on_message : nullptr);
    observed = wanted;
  }
}

}  // namespace tool

int impl::T_init_thread(int required, int* provided) {
  (void)required;
  if (provided == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  const std::lock_guard held(tool::lock());
  try {
    (void)settings::load_environment();  // MPI_Init complains of names that are none
  } catch (...) {                        // and of values that are none
    return MPI_T_ERR_CANNOT_INIT;
  }
  ++initialisations;
  *provided = MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}

int impl::T_finalize() {
  return tool::enter([] {
    --initialisations;
    SINEW_ENSURE(initialisations >= 0);
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
