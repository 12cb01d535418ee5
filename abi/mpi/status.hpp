// SPDX-License-Identifier: BSD-3-Clause
// What MPI_Status holds beside its three public fields: the size in bytes, and whether cancelled.
#pragma once

#include <cstdint>
#include <cstring>

#include "c/mpi.h"
#include "sinew/p2p/engine.hpp"

namespace sinew::mpi {

static_assert(sizeof(MPI_Status::MPI_internal) >= sizeof(std::int64_t) + sizeof(int));
static_assert(sizeof(MPI_Status) == 32);  // MPI-5.0 section 20.2

/// Sizes lie in the first two of the internal words, the cancelled flag in the third.
inline void set_bytes(MPI_Status& s, std::int64_t bytes) noexcept {
  std::memcpy(s.MPI_internal, &bytes, sizeof bytes);
}
[[nodiscard]] inline std::int64_t bytes_in(const MPI_Status& s) noexcept {
  std::int64_t bytes = 0;
  std::memcpy(&bytes, s.MPI_internal, sizeof bytes);
  return bytes;
}
inline void set_cancelled(MPI_Status& s, bool cancelled) noexcept {
  s.MPI_internal[2] = cancelled ? 1 : 0;
}
[[nodiscard]] inline bool is_cancelled(const MPI_Status& s) noexcept {
  return s.MPI_internal[2] != 0;
}

/// All of a status but MPI_ERROR, which only the calls that return several statuses set
/// (MPI-5.0 section 3.2.5). `s` may be MPI_STATUS_IGNORE. Hot.
inline void set_status(MPI_Status* s, int source, int tag, std::size_t bytes,
                       bool cancelled = false) noexcept {
  if (s != MPI_STATUS_IGNORE) {
    s->MPI_SOURCE = source;
    s->MPI_TAG = tag;
    set_bytes(*s, static_cast<std::int64_t>(bytes));
    set_cancelled(*s, cancelled);
  }
}

/// What a wait on nothing returns (MPI-5.0 section 3.7.3).
inline void set_empty(MPI_Status* s) noexcept {
  set_status(s, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (s != MPI_STATUS_IGNORE) {
    s->MPI_ERROR = MPI_SUCCESS;
  }
}

inline void set_status(MPI_Status* s, const p2p::result& r) noexcept {
  set_status(s, r.source.value(), r.tag.value(), r.bytes, r.error == p2p::fault::cancelled);
}

/// Of a send: empty, but for whether it was cancelled.
inline void set_sent(MPI_Status* s, const p2p::result& r) noexcept {
  set_empty(s);
  if (s != MPI_STATUS_IGNORE) {
    set_cancelled(*s, r.error == p2p::fault::cancelled);
  }
}

}  // namespace sinew::mpi
