// SPDX-License-Identifier: BSD-3-Clause
// The rank's end of a PMI-1 conversation: one line out, one line back.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::boot {

/// Any thread: `say` sends its whole line at once, and of the others one at a time has its
/// conversation. Every failure throws sinew::error. Grade: cold.
class pmi_channel {
 public:
  explicit pmi_channel(descriptor socket) noexcept : socket_(std::move(socket)) {}

  /// A line without an answer. `line` has no newline.
  void say(const std::string& line);
  /// A line and its answer, which must be the command `answer`.
  [[nodiscard]] pmi_message ask(const std::string& line, std::string_view answer);
  /// The next line from the launcher, of a conversation of more than two lines: before there are
  /// other threads.
  [[nodiscard]] pmi_message hear();
  /// The same if something has come, without waiting for it.
  [[nodiscard]] std::optional<pmi_message> heard();
  /// The newest of the launcher's questions what ranks wait for that nobody has taken; 0: none, or
  /// another thread has a conversation.
  [[nodiscard]] int take_question() noexcept;

  // The key-value space, the same for every PMI-1 launcher.
  void put(const std::string& space, const std::string& key, const std::string& word);
  [[nodiscard]] std::optional<std::string> get(const std::string& space, const std::string& key);
  void barrier();

  // The name service; names and values are words.
  [[nodiscard]] bool publish(const std::string& name, const std::string& value);
  [[nodiscard]] std::optional<std::string> lookup(const std::string& name);
  [[nodiscard]] bool unpublish(const std::string& name);

 private:
  // Under conversation_, these three.
  void sort();
  [[nodiscard]] std::optional<pmi_message> next();
  void receive(int flags);

  descriptor socket_;
  std::mutex saying_;  ///< the kernel may take a long line in pieces
  std::mutex conversation_;
  pmi_line_buffer input_;         ///< under it, as the next two
  std::list<pmi_message> heard_;  ///< a list, which needs no memory while it is empty
  int question_ = 0;
};

/// Refuses keys that cannot travel as one word of at most 64 bytes.
void check_key(const std::string& key);

}  // namespace sinew::boot
