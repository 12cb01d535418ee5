// SPDX-License-Identifier: BSD-3-Clause
// The page in which a rank of this machine tells what it does (sinew/boot/pulse.hpp), whoever has
// started it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "sinew/boot/pulse.hpp"
#include "sinew/boot/wait_report.hpp"

namespace sinew::tool {

/// Mapped as long as this lives. The rank may end meanwhile, and then nothing changes any more.
class rank_page {
 public:
  /// None: the process is no rank of ours, or nobody may look at it. Cold.
  [[nodiscard]] static std::optional<rank_page> of(pid_t process);
  rank_page(rank_page&& other) noexcept;
  rank_page& operator=(rank_page&&) = delete;
  ~rank_page();

  [[nodiscard]] boot::pulse& operator*() const noexcept { return *page_; }
  [[nodiscard]] boot::pulse* operator->() const noexcept { return page_; }
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string launcher() const;
  /// What it has answered to that question; nothing: not yet.
  [[nodiscard]] std::optional<boot::wait_report> answer_to(int question) const;

 private:
  explicit rank_page(boot::pulse* page) noexcept : page_(page) {}
  boot::pulse* page_;
};

}  // namespace sinew::tool
