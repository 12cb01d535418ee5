#include "sinew/base/error.hpp"

#include <utility>

namespace sinew {

error::error(std::string what, std::string why, std::string hint)
    : problem_(std::move(what)), why_(std::move(why)), hint_(std::move(hint)) {
  text_ = problem_;
  if (!why_.empty()) {
    text_ += " (" + why_ + ")";
  }
  if (!hint_.empty()) {
    text_ += " " + hint_;
  }
}

}  // namespace sinew
