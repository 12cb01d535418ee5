// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/pulse.hpp"

#include <atomic>
#include <cstring>

#include "sinew/base/clock.hpp"
#include "sinew/boot/pulse.hpp"

namespace sinew::mpi::pulse {
namespace {

using boot::own_pulse;
constexpr auto relaxed = std::memory_order_relaxed;

void note_name(const char* name) noexcept {
  for (auto& part : own_pulse.last_call) {
    std::uint64_t letters = 0;
    const std::size_t length = ::strnlen(name, sizeof letters);
    std::memcpy(&letters, name, length);
    part.store(letters, relaxed);
    name += length;
  }
}

}  // namespace

std::int64_t begin(const watch::call& call) noexcept {
  const std::int64_t now = detail::system_now_ns();
  if (now >= own_pulse.listened_until.load(relaxed)) {
    // Who begins to listen meanwhile clears it a second later again, as always.
    own_pulse.open.store(!watch::wanted(), relaxed);
    return 0;
  }
  note_name(call.name);
  own_pulse.begun_ns.fetch_add(now, relaxed);
  own_pulse.inside.fetch_add(1, relaxed);
  return now;
}

void end(const watch::call& call) noexcept {
  const std::int64_t began = call.counted_since;
  own_pulse.ended_ns.fetch_add(detail::system_now_ns() - began, relaxed);
  own_pulse.inside.fetch_sub(1, relaxed);
  own_pulse.begun_ns.fetch_sub(began, relaxed);
  own_pulse.calls.fetch_add(1, relaxed);
  const bool sends = call.given.nature.peer == watch::named::target;
  own_pulse.messages.fetch_add(sends && call.given.peer != MPI_PROC_NULL ? 1 : 0, relaxed);
  own_pulse.sent.fetch_add(call.given.bytes_sent(), relaxed);
  own_pulse.received.fetch_add(call.given.bytes_received(), relaxed);
}

}  // namespace sinew::mpi::pulse
