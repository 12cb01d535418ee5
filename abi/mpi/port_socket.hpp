// Where leaders of groups find each other that have no communicator yet: a port is a pair of
// listening sockets, one for this node and one for others, and its name says how to reach them and
// has a secret, without which nobody is let in.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sinew/boot/descriptor.hpp"
#include "sinew/core/outside.hpp"

namespace sinew::mpi {

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
  socket_talk(boot::descriptor socket, std::int64_t deadline_ns)
      : socket_(std::move(socket)), deadline_ns_(deadline_ns) {}
  [[nodiscard]] bool send(const void* data, std::size_t bytes);
  /// False: the other side has closed it, or the time is over; late() says which.
  [[nodiscard]] bool receive(void* data, std::size_t bytes);
  [[nodiscard]] bool late() const noexcept { return late_; }

  /// Both sides tell how their ranks are reached, unless they are of one job: the other's.
  [[nodiscard]] std::optional<core::resident> exchange_residents(const greeting& own,
                                                                 const greeting& other);

 private:
  boot::descriptor socket_;
  std::int64_t deadline_ns_;
  bool late_ = false;
};

/// This rank's own greeting.
[[nodiscard]] greeting own_greeting();

/// How long somebody waits.
struct patience {
  std::int64_t deadline_ns = 0;           ///< by now_ns(); 0: none
  bool (*over)(void* context) = nullptr;  ///< asked now and then; must not wait, nor throw
  void* context = nullptr;

  [[nodiscard]] bool ends() const;
};

class open_port {
 public:
  /// Throws sinew::error.
  static std::shared_ptr<open_port> open(int number);
  [[nodiscard]] const port_name& name() const noexcept { return name_; }
  /// Who waits in it is told by the end of the sockets.
  void close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// Waits for somebody who calls; empty once the port is closed, or when `until` says so. Those of
  /// other users are refused.
  [[nodiscard]] boot::descriptor wait_for_caller(const patience& until);

 private:
  [[nodiscard]] int caller() const;
  port_name name_;
  boot::descriptor local_, remote_;
  std::atomic<bool> closed_{false};  ///< release and acquire: then the sockets are not used
};

/// A socket to that port. Throws MPI_ERR_PORT with a sentence.
[[nodiscard]] boot::descriptor call_port(const port_name& name);

}  // namespace sinew::mpi
