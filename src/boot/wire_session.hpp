// SPDX-License-Identifier: BSD-3-Clause
// What the sessions over PMI-1 lines have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "boot/node_session.hpp"
#include "boot/pmi_channel.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/boot/session.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::boot {

class wire_session : public node_session {
 public:
  void put(const std::string& key, const std::string& value) final;
  [[nodiscard]] std::optional<std::string> get(const std::string& key) final;
  void fence() final { channel_.barrier(); }
  [[nodiscard]] bool publish(const std::string& name, const std::string& value) final;
  [[nodiscard]] std::optional<std::string> lookup(const std::string& name) final;
  [[nodiscard]] bool unpublish(const std::string& name) final;
  [[noreturn]] void abort(int code, std::string_view why) final;
  void depart() noexcept final;
  [[nodiscard]] bool others_have_left() noexcept final;
  void tell_remark(const std::string& text) final;
  [[nodiscard]] bool report_loss(job_rank lost, const std::string& why) noexcept final;
  void finalize() final;

 protected:
  explicit wire_session(descriptor socket) : channel_(std::move(socket)) {}
  virtual void say_goodbye() = 0;
  /// Makes this rank, which is one of a job of its own so far, one of those spawned with it.
  void take_place(spawn_places where);

  pmi_channel channel_;
  std::string space_;
  std::size_t value_limit_ = 1024;

 private:
  bool all_left_ = false;  // the launcher has said so
};

/// Close-on-exec for an inherited descriptor, so that programs this rank starts do not get it.
/// Throws if it is not open.
[[nodiscard]] descriptor adopt(int number, const char* variable_name);

}  // namespace sinew::boot
