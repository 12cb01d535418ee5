// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the tool interface share (MPI-5.0 chapter 15). Its functions return codes of
// their own and call no error handler; they work before MPI_Init and after MPI_Finalize.
#pragma once

#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi::tool {

/// Guards sessions, handles and the list of variables; cold, so one lock for all. Nobody makes
/// progress while holding it.
[[nodiscard]] std::recursive_mutex& lock();

/// Between MPI_T_init_thread and the last MPI_T_finalize. Under lock().
[[nodiscard]] bool initialised();

/// The frame of each function: checks that the interface is initialised, holds the lock, and turns
/// what is thrown into a code. Cold.
template <class Call>
int enter(Call call) noexcept try {
  const std::lock_guard held(lock());
  return initialised() ? call() : MPI_T_ERR_NOT_INITIALIZED;
} catch (const std::bad_alloc&) {
  return MPI_T_ERR_MEMORY;
} catch (...) {
  return MPI_T_ERR_INVALID;
}

template <class T>
void give(T* to, T what) {
  if (to != nullptr) {
    *to = what;
  }
}

/// The standard's way of returning a string: length in, length with its end out (section 15.3.3).
void give_text(char* to, int* length, const char* text);

/// Fills at most `room` entries of a caller's array.
int give_indices(const std::vector<int>& all, int room, int* indices);

template <class Entry, std::size_t N>
int index_of(const Entry (&entries)[N], const char* name) {
  SINEW_EXPECT(name != nullptr);
  for (std::size_t i = 0; i < N; ++i) {
    if (std::strcmp(entries[i].name, name) == 0) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

/// The variables and events of one module, for its category; and the modules that have any.
/// Under lock().
[[nodiscard]] std::vector<int> cvars_of(const std::string& module);
[[nodiscard]] std::vector<int> pvars_of(const std::string& module);
[[nodiscard]] std::vector<int> events_of(const std::string& module);
void add_modules_of_cvars(std::vector<std::string>& to);

/// Engine and windows are observed while anybody listens: handles of variables that have been
/// started, registered events. Begins or ends it. Without lock(), since it makes progress.
void settle_observation();
[[nodiscard]] bool variables_listen();  ///< under lock()
[[nodiscard]] bool events_listen();     ///< under lock()
void count_message(const p2p::incident& it);
void tell_message(const p2p::incident& it) noexcept;

}  // namespace sinew::mpi::tool
