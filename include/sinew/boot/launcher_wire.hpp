// SPDX-License-Identifier: BSD-3-Clause
// What the launcher tells its ranks through the environment, and the commands that our ranks add
// to PMI-1. The launcher (tools/sinew) writes these, connect() reads them.
#pragma once

#include <cstddef>

namespace sinew::boot::launcher_wire {

// The variables that every PMI-1 launcher sets.
inline constexpr const char* pmi_fd = "PMI_FD";      ///< inherited socket of this rank
inline constexpr const char* pmi_port = "PMI_PORT";  ///< host:port instead of PMI_FD
inline constexpr const char* pmi_id = "PMI_ID";      ///< who we are, with PMI_PORT
inline constexpr const char* pmi_rank = "PMI_RANK";
inline constexpr const char* pmi_size = "PMI_SIZE";

// Ours. With all of them a rank starts without asking anybody.
inline constexpr const char* job = "SINEW_BOOT_JOB";        ///< unique on this node
inline constexpr const char* shm_fd = "SINEW_BOOT_SHM_FD";  ///< inherited empty memfd
/// Inherited memfd of `survival`; absent without --survive.
inline constexpr const char* survival_fd = "SINEW_BOOT_SURVIVAL_FD";
inline constexpr const char* launcher_pid = "SINEW_BOOT_LAUNCHER";  ///< who made PMI_FD
inline constexpr const char* local_rank = "SINEW_BOOT_LOCAL_RANK";
inline constexpr const char* local_size = "SINEW_BOOT_LOCAL_SIZE";
inline constexpr const char* local_cpus = "SINEW_BOOT_LOCAL_CPUS";  ///< that the ranks share

/// The port of the rank that has spawned a job of its own (abi/mpi/spawn_job.hpp). From the
/// launcher's environment into that of its ranks, which take it out of theirs.
inline constexpr const char* parent = "SINEW_BOOT_PARENT";

// Set only where the job has hosts.
inline constexpr const char* nodes = "SINEW_BOOT_NODES";  ///< node of each rank, as PMI maps it
inline constexpr const char* hosts = "SINEW_BOOT_HOSTS";  ///< names by node, joined by commas
inline constexpr const char* agent = "SINEW_BOOT_AGENT";  ///< --rsh, if it was given
/// All hosts that were named for the job, those without a rank, too, and how many ranks each takes:
/// NAME:RANKS, joined by commas.
inline constexpr const char* allocation = "SINEW_BOOT_ALLOCATION";
/// Bytes of the longest list of names that is told: one variable may have 128 KiB (Linux).
inline constexpr std::size_t longest_host_list = 100'000;

/// Which program of the start, or of the spawn, this rank runs.
inline constexpr const char* application = "SINEW_BOOT_APPLICATION";
/// Ranks for which the node's memory is laid out, where more of them may be started
/// (boot/spawn.hpp).
inline constexpr const char* places = "SINEW_BOOT_PLACES";
// Set only for ranks that a rank has spawned.
inline constexpr const char* started = "SINEW_BOOT_STARTED";  ///< how many were at the start
inline constexpr const char* spawned = "SINEW_BOOT_SPAWNED";  ///< tenancies of this and its fellows
inline constexpr const char* contact = "SINEW_BOOT_CONTACT";  ///< the spawn_request's

/// Bytes that our launcher takes as one value of a key.
inline constexpr std::size_t value_limit = 4096;

/// When the job's time is up, by now_ns(): who waits then says what for. Absent without --timeout.
inline constexpr const char* report_at = "SINEW_BOOT_REPORT_AT";

// One-way commands that our ranks send; the launcher does not answer them.
inline constexpr const char* hello = "sinew_hello";        ///< from now on exit needs `goodbye`
inline constexpr const char* goodbye = "sinew_goodbye";    ///< finalized: exit is no failure
inline constexpr const char* returned = "sinew_returned";  ///< `goodbye` is taken back
/// In a job on several nodes: this rank ends without finalize. Our launcher answers `all_left` when
/// every rank has ended, finalized or said so too.
inline constexpr const char* depart = "sinew_depart";
inline constexpr const char* all_left = "sinew_all_left";
/// This rank has lost its connection to rank `rank`, and waits for the launcher to end the job;
/// `why` is escaped (pmi_escape); empty: it has the connection after all.
inline constexpr const char* lost = "sinew_lost";
/// With --survive over several hosts: this rank's vote in the ballot `slot`, `key`, `turn` is
/// `flag`; without `flag` it has left that ballot (boot/survival.hpp).
inline constexpr const char* vote = "sinew_vote";
/// The launcher prints `text`, which is escaped (pmi_escape), unless a rank has sent it before.
inline constexpr const char* remark = "sinew_remark";
/// Before `goodbye`: no other rank may have this one's place (session::stay_connected).
inline constexpr const char* connected = "sinew_connected";
/// The ranks that this one has to do with beside those of its start; `ranks` is the text of
/// boot::connections.
inline constexpr const char* connections = "sinew_connections";
/// Starts further ranks. `request` and, in the answer, `answer` are the texts of boot/spawn.hpp,
/// escaped (pmi_escape).
inline constexpr const char* spawn = "sinew_spawn";
inline constexpr const char* spawn_done = "sinew_spawn_done";
/// What this rank waits for (boot/wait_report.hpp): by itself once, when it has waited for a while,
/// then in answer to each `waits_asked`, which may come at any time, as soon as it waits again.
inline constexpr const char* waits = "sinew_waits";
inline constexpr const char* waits_asked = "sinew_waits_asked";
/// Field of PMI-1's `abort` that carries the reason, escaped (pmi_escape).
inline constexpr const char* abort_reason = "sinew_why";

}  // namespace sinew::boot::launcher_wire
