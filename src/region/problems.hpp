// SPDX-License-Identifier: BSD-3-Clause
// What this rank has found wrong after the calls that caused it: logged, and the last one kept.
#pragma once

#include <string>
#include <utility>

#include "sinew/base/error.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/log.hpp"

namespace sinew::region {

/// Any thread, if `threaded`. Cold.
class problems {
 public:
  explicit problems(bool threaded) noexcept : threaded_(threaded) {}

  void add(const std::string& text) {
    SINEW_LOG(warn, text);
    const base::guard held(lock_, threaded_);
    last_ = text;
  }
  /// `why` may be another error's sentence.
  void add(std::string what, std::string why) {
    add(error(std::move(what), std::move(why)).what());
  }
  [[nodiscard]] std::string last() const {
    const base::guard held(lock_, threaded_);
    return last_;
  }

 private:
  const bool threaded_;
  mutable base::lock lock_;
  std::string last_;  ///< guarded by lock_
};

}  // namespace sinew::region
