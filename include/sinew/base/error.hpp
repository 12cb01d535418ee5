// SPDX-License-Identifier: BSD-3-Clause
// Set-up errors: what went wrong, why it is wrong, what to do.
#pragma once

#include <exception>
#include <string>

namespace sinew {

/// Thrown by set-up (cold) code only; never across a context switch and never on a hot path.
/// C bindings catch it at the edge. The three parts are clauses; what() is the sentence "problem
/// (why); hint."
class error : public std::exception {
 public:
  error(std::string what, std::string why, std::string hint = {});

  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

 private:
  std::string problem_;
  std::string why_;
  std::string hint_;
  std::string text_;
};

}  // namespace sinew
