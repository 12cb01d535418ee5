// SPDX-License-Identifier: BSD-3-Clause
// Where leaders of groups find each other that have no communicator yet: a port is a pair of
// listening sockets, one for this node and one for others, and its name says how to reach them and
// has a secret, without which nobody is let in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sinew/boot/descriptor.hpp"
#include "sinew/core/outside.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::dynamic {

/// What the two sides of a connection tell each other first.
struct greeting {
  char magic[8] = {'s', 'i', 'n', 'e', 'w', '-', 'p', '2'};
  std::uint64_t secret[2] = {0, 0};  ///< of the port
  std::uint64_t build = 0;           ///< ranks of different builds do not understand each other
  std::uint64_t job = 0;
  std::int32_t rank = -1;  ///< in its job
  std::uint32_t tenant = 0;
  std::int32_t number = 0;   ///< the caller's for this connection
  std::int32_t refused = 0;  ///< of the answer: the caller is not let in
};

/// The words of a port's name.
struct port_name {
  std::uint64_t job = 0;
  int owner = -1;  ///< rank in that job
  int number = 0;
  std::uint64_t secret[2] = {0, 0};
  std::uint64_t machine = 0;  ///< tells nodes apart
  int tcp_port = 0;           ///< 0: this node alone
  std::string addresses;      ///< IPv4, joined by commas

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::optional<port_name> parse(const std::string& text);
  /// Of its socket on its node.
  [[nodiscard]] std::string local_socket() const;
};

/// A connection of two ranks by a socket; any thread, one at a time. Waits make progress.
class socket_talk {
 public:
  /// `deadline_ns` by now_ns(); 0: none.
  socket_talk(p2p::engine& engine, boot::descriptor socket, std::int64_t deadline_ns)
      : engine_(&engine), socket_(std::move(socket)), deadline_ns_(deadline_ns) {}
  [[nodiscard]] bool send(const void* data, std::size_t bytes);
  /// False: the other side has closed it, or the time is over; late() says which.
  [[nodiscard]] bool receive(void* data, std::size_t bytes);
  [[nodiscard]] bool late() const noexcept { return late_; }

  /// Both sides tell how their ranks are reached, unless they are of one job: the other's.
  [[nodiscard]] std::optional<core::resident> exchange_residents(const greeting& own,
                                                                 const greeting& other);

 private:
  p2p::engine* engine_;
  boot::descriptor socket_;
  std::int64_t deadline_ns_;
  bool late_ = false;
};

/// This rank's own greeting.
[[nodiscard]] greeting own_greeting(core::runtime& rt);

/// How long somebody waits.
struct patience {
  std::int64_t deadline_ns = 0;           ///< by now_ns(); 0: none
  bool (*over)(void* context) = nullptr;  ///< asked now and then; must not wait, nor throw
  void* context = nullptr;

  [[nodiscard]] bool ends() const;
};

/// Who has called a port, and has said what is said first.
struct port_caller {
  boot::descriptor socket;
  greeting said;
};

class open_port {
 public:
  /// Throws sinew::error. The runtime outlives it.
  static std::shared_ptr<open_port> open(core::runtime& rt, int number);
  explicit open_port(core::runtime& rt) noexcept : rt_(rt) {}
  [[nodiscard]] const port_name& name() const noexcept { return name_; }
  /// Who waits in it is told by the end of the sockets.
  void close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// Waits for somebody who calls and knows the port's secret; nothing once the port is closed, or
  /// when `until` says so. All who call are heard at once. Those of other users are refused, and
  /// those who say nothing for a second are hung up on.
  [[nodiscard]] std::optional<port_caller> wait_for_caller(const patience& until);

 private:
  struct waiting_caller {
    port_caller caller;
    std::size_t heard = 0;  // bytes of its greeting
    std::int64_t since_ns = 0;
  };

  void accept_callers();
  [[nodiscard]] bool hear(waiting_caller& from) const;
  [[nodiscard]] std::optional<port_caller> next_caller();

  core::runtime& rt_;
  port_name name_;
  std::vector<boot::descriptor> listeners_;
  std::mutex lock_;  // callers_; held for system calls that do not wait
  std::vector<waiting_caller> callers_;
  std::atomic<bool> closed_{false};  ///< release and acquire: then the sockets are not used
};

/// A socket to that port; none if nobody listens there. While its host does not answer, or has too
/// many callers, it is tried until `deadline_ns` (now_ns(); 0: for ever), and then throws failure.
/// Makes progress meanwhile.
[[nodiscard]] boot::descriptor call_port(core::runtime& rt, const port_name& name,
                                         std::int64_t deadline_ns);

}  // namespace sinew::dynamic
