// Where make_engine() finds the engines; each is one file.
#pragma once

#include <memory>

#include "sinew/match/engine.hpp"

namespace sinew::match {

[[nodiscard]] std::unique_ptr<engine> make_list();
[[nodiscard]] std::unique_ptr<engine> make_hash();

}  // namespace sinew::match
