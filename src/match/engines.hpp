// Where make_engine() finds the engines; each is one file.
#pragma once

#include <memory>

#include "sinew/match/engine.hpp"

namespace sinew::match {

[[nodiscard]] std::unique_ptr<engine> make_list();
[[nodiscard]] std::unique_ptr<engine> make_hash();
[[nodiscard]] std::unique_ptr<engine> make_bins64();
[[nodiscard]] std::unique_ptr<engine> make_bins1021();
[[nodiscard]] std::unique_ptr<engine> make_lookup4d();
[[nodiscard]] std::unique_ptr<engine> make_vector();

}  // namespace sinew::match
