// What the sessions over PMI-1 lines have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "boot/attendance.hpp"
#include "boot/pmi_channel.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {

class wire_session : public session {
 public:
  [[nodiscard]] const place& where() const final { return place_; }
  void put(const std::string& key, const std::string& value) final;
  [[nodiscard]] std::optional<std::string> get(const std::string& key) final;
  void fence() final { channel_.barrier(); }
  [[nodiscard]] bool publish(const std::string& name, const std::string& value) final;
  [[nodiscard]] std::optional<std::string> lookup(const std::string& name) final;
  [[nodiscard]] bool unpublish(const std::string& name) final;
  [[nodiscard]] std::byte* map_node_memory(std::size_t bytes_per_rank) final;
  [[nodiscard]] std::byte* map_node_heap(std::size_t bytes_per_rank) final;
  [[noreturn]] void abort(int code, std::string_view why) final;
  [[nodiscard]] std::vector<job_rank> absent() const final;
  void depart() noexcept final;
  [[nodiscard]] bool others_have_left() noexcept final;
  void finalize() final;

 protected:
  explicit wire_session(descriptor socket) : channel_(std::move(socket)) {}
  /// The node's descriptor, the same one on all local ranks.
  virtual descriptor node_descriptor() = 0;
  virtual void say_goodbye() = 0;
  /// Fills what place_ says of nodes. `node_of` has an entry for each rank; nodes are counted anew
  /// in the order of their first ranks.
  void settle(std::vector<int> node_of);
  /// Makes this rank, which is one of a job of its own so far, one of those spawned with it.
  void take_place(spawn_places where);

  place place_;
  pmi_channel channel_;
  std::string space_;
  std::size_t value_limit_ = 1024;

 private:
  descriptor node_;
  memory_mapping memory_;
  memory_mapping heap_;
  attendance attendance_;
  bool all_left_ = false;  // the launcher has said so
};

/// Close-on-exec for an inherited descriptor, so that programs this rank starts do not get it.
/// Throws if it is not open.
[[nodiscard]] descriptor adopt(int number, const char* variable_name);

/// Writes out what stdio still holds, if nobody is inside it, and ends without atexit handlers:
/// abort may come from any thread, in any state.
[[noreturn]] void leave(int code) noexcept;

}  // namespace sinew::boot
