// SPDX-License-Identifier: BSD-3-Clause
// The launcher's side of PMI-1: keys, barriers, and who has initialised and finalized. Knows
// lines, not sockets.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/boot/pmi_wire.hpp"
#include "sinew/boot/spawn.hpp"
#include "sinew/boot/wait_report.hpp"
#include "sinew/run/name_service.hpp"
#include "sinew/run/rank_holder.hpp"

namespace sinew::tool {

class pmi_server {
 public:
  struct callbacks {
    std::function<void(int rank, const std::string& bytes)> send;
    std::function<void(int rank, int code, const std::string& why)> abort;
    /// A rank sent what makes no sense: "why" continues "rank 3". Nothing more is read from it.
    std::function<void(int rank, const std::string& why)> nonsense;
    /// A rank asks for more ranks, by the text of a boot::spawn_request.
    std::function<void(int rank, const std::string& request)> spawn = {};
    /// These are the ranks of other worlds that a rank has to do with now.
    std::function<void(int rank, const boot::connections& with)> connected = {};
    /// A rank has lost its connection to another one; without a reason: it has it after all.
    std::function<void(int rank, int other, const std::string& why)> lost = {};
    /// A rank votes, or leaves a ballot.
    std::function<void(int rank, const cast_vote& vote)> voted = {};
    /// It crashes, and waits until we have looked at it (boot/crash_report.hpp).
    std::function<void(int rank)> crashing = {};
    /// A sentence for people that several ranks may send.
    std::function<void(const std::string& text)> remark = {};
    /// It tells what it waits for.
    std::function<void(int rank, const boot::wait_report& report)> waits = {};
  };

  /// `application_of[rank]` counts the programs of the job; `node_of[rank]` its nodes, of which
  /// there is one if it is empty.
  pmi_server(std::string job, std::vector<int> application_of, callbacks calls,
             std::vector<int> node_of = {}, std::shared_ptr<name_service> names = nullptr);

  /// Only programs that run on Sinew can be these ranks: one of those has spawned them.
  void expect_ours_only() { ours_only_ = true; }
  [[nodiscard]] const std::shared_ptr<name_service>& names() const { return names_; }

  /// Bytes from a rank's socket.
  void receive(int rank, std::string_view bytes);

  [[nodiscard]] bool initialised(int rank) const { return at(rank).initialised; }
  [[nodiscard]] bool finalized(int rank) const { return at(rank).finalized; }
  /// The rank's process has ended; it will enter no barrier any more.
  void leave(int rank);
  /// The rank has died and the others go on, also out of barriers.
  void excuse(int rank);
  /// A rank that has left while others wait for it in a barrier, or -1.
  [[nodiscard]] int missed_in_barrier() const;
  /// A rank that has left without MPI_Init while another one, which has called it, still runs and
  /// so waits for it; -1 if there is none.
  struct missing_start {
    int who = -1;
    int waiting = -1;
  };
  [[nodiscard]] missing_start left_before_start() const;
  /// A rank that has left without MPI_Init; -1 if there is none.
  [[nodiscard]] int left_without_start() const;
  /// Whether a rank has called Sinew's MPI.
  [[nodiscard]] bool has_ours() const;
  /// See session::stay_connected().
  [[nodiscard]] bool stays_connected(int rank) const { return at(rank).connected; }
  /// Runs, but has not called MPI_Init, while others have.
  [[nodiscard]] bool not_started(int rank) const;

 private:
  struct client {
    boot::pmi_line_buffer input;
    bool initialised = false;
    bool finalized = false;
    bool in_barrier = false;
    bool in_long_command = false;  // between mcmd= and endcmd
    bool refused = false;
    bool left = false;
    bool excused = false;
    bool departed = false;  // waits to hear that all have left
    bool plain = false;     // speaks plain PMI-1: another MPI's library
    bool connected = false;
  };

  [[nodiscard]] const client& at(int rank) const {
    return clients_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] client& at(int rank) { return clients_[static_cast<std::size_t>(rank)]; }
  void take_line(int rank, const std::string& line);
  void take(int rank, const boot::pmi_message& message);
  [[nodiscard]] std::string put(const boot::pmi_message& message);
  [[nodiscard]] std::string get(const boot::pmi_message& message) const;
  void barrier(int rank);
  void end_barrier_if_all_in();
  void vote(int rank, const boot::pmi_message& message);
  void note_loss(int rank, const boot::pmi_message& message);
  void note_wait(int rank, const boot::pmi_message& message);
  void note_connections(int rank, const boot::pmi_message& message);
  void tell_all_left();
  void refuse(int rank, const std::string& why);
  [[nodiscard]] bool start(int rank, bool plain);

  std::string job_;
  std::vector<int> application_of_;
  callbacks calls_;
  std::vector<client> clients_;
  std::map<std::string, std::string, std::less<>> values_;
  std::size_t value_bytes_ = 0;
  std::shared_ptr<name_service> names_;
  bool ours_only_ = false;
  std::size_t waiting_ = 0;
};

}  // namespace sinew::tool
