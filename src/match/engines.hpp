// SPDX-License-Identifier: BSD-3-Clause
// The engines; each is one file and a line in the table below, by which make_engine() finds it.
#pragma once

#include <memory>
#include <string_view>

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

struct named_engine {
  std::string_view name;  ///< what SINEW_MATCH_ENGINE and the info key call it
  std::unique_ptr<engine> (*make)();
};
inline constexpr named_engine engines[] = {
    {"hash", make_hash},         {"list", make_list},         {"bins64", make_bins64},
    {"bins1021", make_bins1021}, {"lookup4d", make_lookup4d}, {"vector", make_vector},
};

}  // namespace sinew::match
