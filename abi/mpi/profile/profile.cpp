// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/profile/profile.hpp"

#include <unistd.h>

#include <atomic>
#include <optional>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/profile/recent.hpp"
#include "abi/mpi/profile/report.hpp"
#include "abi/mpi/profile/table.hpp"
#include "abi/mpi/settings.hpp"
#include "abi/mpi/tool.hpp"
#include "abi/mpi/window.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/coll/collectives.hpp"

namespace sinew::mpi::profile {
namespace {

/// Between MPI_Init and MPI_Finalize. Relaxed: threads learn of either by the program's own ways.
std::atomic<bool> counts{false};
run_of_rank own_run;

/// In the job; no_peer: the call names nobody.
int peer_of(const watch::arguments& given) noexcept {
  const comm_object* in = nullptr;
  if (given.win != MPI_WIN_NULL) {
    const window_object* const w = resolve<window_object>(given.win);
    in = w != nullptr ? w->comm : nullptr;
  } else {
    const std::uintptr_t c = value_of(given.comm);
    in = is_initial_comm(c) ? &initial_comm(c) : resolve<comm_object>(given.comm);
  }
  if (in == nullptr || !comm_rank{given.peer}.below(in->comm->size())) {
    return no_peer;
  }
  return in->comm->job_rank(comm_rank{given.peer}).value();
}

recent_messages recent;

/// What a call has had to do with messages while it ran.
class messages_of_call {
 public:
  /// `peer`: whom the call names, in the job.
  messages_of_call(const watch::call& call, const row& r, int peer)
      : call_(call), nature_(*r.nature), row_(r), comm_(comm_in(call.given)), named_(peer) {}

  /// Keeps what it finds; the bytes of the last message that has come to it, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> keep(table& own, std::int64_t ended) const {
    std::optional<std::uint64_t> bytes;
    bool has_waited = false;
    recent.each_since(call_.began, [&](const seen_message& m) {
      const auto sampled = [&](role as) {
        if (m.key != 0) {
          own.keep({m.key, call_.began, ended, &row_, 0, -1, as});
        }
      };
      if (m.as == seen_as::sent && sends(m)) {
        sampled(role::sends);
      } else if (m.as == seen_as::met && takes(m)) {
        sampled(role::meets);
        bytes = bytes.value_or(m.bytes);
      } else if (m.as == awaited() && waits() && takes(m)) {
        sampled(has_waited ? role::meets : role::receives);
        has_waited = true;
        bytes = bytes.value_or(m.bytes);
      }
      return true;
    });
    return bytes;
  }

 private:
  [[nodiscard]] static const core::communicator* comm_in(const watch::arguments& given) noexcept {
    const comm_object* const in = given.comm != MPI_COMM_NULL ? find_comm(given.comm) : nullptr;
    return in != nullptr ? in->comm : nullptr;
  }
  /// A probe does not take the message.
  [[nodiscard]] seen_as awaited() const noexcept {
    return nature_.receives == watch::flow::none && nature_.of == watch::group::message
               ? seen_as::stored
               : seen_as::arrived;
  }
  [[nodiscard]] bool waits() const noexcept {
    return nature_.waits && (nature_.of != watch::group::wait || call_.awaits_message);
  }
  [[nodiscard]] bool is_of_comm(const seen_message& m) const noexcept {
    return comm_ == nullptr || m.comm == comm_;
  }
  [[nodiscard]] bool sends(const seen_message& m) const noexcept {
    return is_of_comm(m) &&
           (nature_.peer != watch::named::target || (m.peer == named_ && m.tag == call_.given.tag));
  }
  [[nodiscard]] bool takes(const seen_message& m) const noexcept {
    return is_of_comm(m) && (nature_.peer != watch::named::source ||
                             ((named_ == no_peer || m.peer == named_) &&
                              (call_.given.tag == MPI_ANY_TAG || m.tag == call_.given.tag)));
  }

  const watch::call& call_;
  const watch::nature& nature_;
  const row& row_;
  const core::communicator* const comm_;
  const int named_;
};

void remember(const p2p::incident& m) noexcept {
  const auto own = static_cast<std::uint64_t>(process.runtime->rank().value());
  const auto other = static_cast<std::uint64_t>(m.peer.value());
  const std::uint64_t key = m.arrived ? mixed(other, own, m.number) : mixed(own, other, m.number);
  recent.add({moment(), m.number == p2p::incident::no_number ? 0 : key, m.comm, m.bytes,
              m.peer.value(), m.tag.value(),
              !m.arrived     ? seen_as::sent
              : m.met        ? seen_as::met
              : m.unexpected ? seen_as::stored
                             : seen_as::arrived});
}

/// A collective, or what is like one.
void keep_meeting(table& own, const watch::call& call, const row& r, std::int64_t ended) {
  comm_object* in = nullptr;
  if (call.given.win != MPI_WIN_NULL) {
    const auto* const w = resolve<window_object>(call.given.win);
    in = w != nullptr ? w->comm : nullptr;
  } else {
    in = find_comm(call.given.comm);
  }
  if (in == nullptr || in->sides != nullptr || in->comm->size() == 1) {
    return;
  }
  own.keep({mixed(in->comm->context().value(), in->meetings++, ~std::uint64_t{0}), call.began,
            ended, &r, in->comm->rank().value(), call.given.peer, role::collects});
}

void count_access(traffic& t, std::uint64_t sent, std::uint64_t received) {
  if (sent != 0) {
    t.put.add(sent);
  }
  if (received != 0) {
    t.got.add(received);
  }
}

void count(const watch::call& call, std::int64_t ended) {
  table& own = own_table();
  row& r = own.of(call);
  r.add(ended - call.began);
  const watch::nature& nature = *r.nature;
  if (nature.of == watch::group::other) {
    return;
  }
  if (nature.peer != watch::named::none && call.given.peer == MPI_PROC_NULL) {
    return;  // nothing moves
  }
  const std::uint64_t sent = call.given.bytes_sent();
  std::uint64_t received = call.given.bytes_received();
  const int peer =
      nature.peer != watch::named::none && call.given.peer >= 0 ? peer_of(call.given) : no_peer;
  r.meet(peer);
  if (nature.of == watch::group::message || nature.waits) {
    const auto bytes = messages_of_call(call, r, peer).keep(own, ended);
    received = nature.receives != watch::flow::none ? bytes.value_or(received) : 0;
  } else if (sent + received != 0) {
    own.count_size(nature.of, sent != 0 ? sent : received);
  }
  r.sent += sent;
  r.received += received;
  if (nature.meets != watch::meeting::none) {
    keep_meeting(own, call, r, ended);
  }
  if (nature.of == watch::group::one_sided && peer != no_peer) {
    count_access(own.with(peer), sent, received);
  }
}

}  // namespace

bool wanted() noexcept {
  static const bool it = !profile_setting().empty();
  return it;
}

void end(const watch::call& call) noexcept {
  const std::int64_t now = moment();
  if (counts.load(std::memory_order_relaxed)) {
    base::must_have_memory("the profile", [&] { count(call, now); });
  }
}

void see(const p2p::incident& message) noexcept {
  if (message.collective || !counts.load(std::memory_order_relaxed)) {
    return;
  }
  remember(message);
  if (message.met) {
    return;
  }
  base::must_have_memory("the profile", [&] {
    table& own = own_table();
    traffic& t = own.with(message.peer.value());
    (message.arrived ? t.arrived : t.sent).add(message.bytes);
    if (!message.arrived) {
      own.count_size(watch::group::message, message.bytes);
    }
  });
}

void start() {
  if (!wanted()) {
    return;
  }
  const std::string file = file_to_write();
  if (is_first()) {
    ::unlink(file.c_str());  // what is there is of another run
  }
  tool::settle_observation();
  own_run.clock.looks[0] = look_at_clock();
  // Nobody sends before all see what arrives, since messages are numbered at both ends. What comes
  // while this rank is still in here is of others that have left.
  counts.store(true, std::memory_order_relaxed);
  (void)coll::barrier(participant_of(*process.comms[1]), "MPI_Init");
  own_run.times.begin = {moment(), now_ns()};
}

void stop() noexcept {
  if (counts.exchange(false)) {
    own_run.times.end = {moment(), now_ns()};
  }
}

void finish() {
  if (wanted()) {
    own_run.clock.looks[1] = look_at_clock();
    write_report(own_run);
  }
}

}  // namespace sinew::mpi::profile
