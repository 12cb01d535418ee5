// SPDX-License-Identifier: BSD-3-Clause
// What a command is doing, while it takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace sinew::tool {

/// A line on standard error, if that is a terminal: "sinew route: planning by opt, 3 s". It appears
/// when a second has passed, and disappears with this object. Grade: cold.
class progress_line {
 public:
  explicit progress_line(std::string what);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();

 private:
  void show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;  ///< under mutex_
  std::thread thread_;    ///< none where there is no terminal
};

}  // namespace sinew::tool
