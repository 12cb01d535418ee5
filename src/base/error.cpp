// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/error.hpp"

#include <utility>

#include "sinew/base/sentence.hpp"

namespace sinew {

error::error(std::string what, std::string why, std::string hint)
    : problem_(std::move(what)), why_(std::move(why)), hint_(std::move(hint)) {
  text_ = problem_;
  if (!why_.empty()) {
    text_ += " (" + std::string(as_clause(why_)) + ")";  // it may be another error's sentence
  }
  if (!hint_.empty()) {
    text_ += "; " + hint_;
  }
  text_ = as_sentence(text_);
}

}  // namespace sinew
