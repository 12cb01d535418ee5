// Where make_engine() finds the engines; each is one file.
#pragma once

#include <memory>

#include "match/hash_key.hpp"
#include "sinew/match/engine.hpp"

namespace sinew::match {

[[nodiscard]] std::unique_ptr<engine> make_list();
[[nodiscard]] std::unique_ptr<engine> make_hash();
/// With a key that a test knows. It must outlive the engine.
[[nodiscard]] std::unique_ptr<engine> make_hash(const hash_key& secret);
[[nodiscard]] std::unique_ptr<engine> make_bins64();
[[nodiscard]] std::unique_ptr<engine> make_bins1021();
[[nodiscard]] std::unique_ptr<engine> make_lookup4d();
[[nodiscard]] std::unique_ptr<engine> make_vector();
[[nodiscard]] std::unique_ptr<engine> make_exact();

}  // namespace sinew::match
