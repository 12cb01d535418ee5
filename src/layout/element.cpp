// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <utility>

#include "sinew/layout/datatype.hpp"

namespace sinew::layout {
namespace {

struct facts {
  const char* name;
  std::size_t size;
  std::size_t extent;  ///< also a multiple of the alignment
};

constexpr std::array<facts, 45> table{{
    {"none", 0, 0},
    {"byte", 1, 1},
    {"i8", 1, 1},
    {"i16", 2, 2},
    {"i32", 4, 4},
    {"i64", 8, 8},
    {"u8", 1, 1},
    {"u16", 2, 2},
    {"u32", 4, 4},
    {"u64", 8, 8},
    {"f16", 2, 2},
    {"bf16", 2, 2},
    {"f32", 4, 4},
    {"f64", 8, 8},
    {"f80", sizeof(long double), sizeof(long double)},
    {"f128", 16, 16},
    {"c32", 8, 8},
    {"c64", 16, 16},
    {"c80", 2 * sizeof(long double), 2 * sizeof(long double)},
    {"boolean", sizeof(bool), sizeof(bool)},
    {"logical1", 1, 1},
    {"logical2", 2, 2},
    {"logical4", 4, 4},
    {"logical8", 8, 8},
    {"logical16", 16, 16},
    {"character", 1, 1},
    {"wide_character", sizeof(wchar_t), sizeof(wchar_t)},
    {"address", 8, 8},
    {"offset", 8, 8},
    {"count", 8, 8},
    {"c_char", 1, 1},
    {"c_long", sizeof(long), sizeof(long)},
    {"c_ulong", sizeof(long), sizeof(long)},
    {"i128", 16, 16},
    {"c16", 4, 4},
    {"c128", 32, 32},
    {"pair_f32_i32", 8, sizeof(std::pair<float, std::int32_t>)},
    {"pair_f64_i32", 12, sizeof(std::pair<double, std::int32_t>)},
    {"pair_i64_i32", 12, sizeof(std::pair<std::int64_t, std::int32_t>)},
    {"pair_i32_i32", 8, sizeof(std::pair<std::int32_t, std::int32_t>)},
    {"pair_i16_i32", 6, sizeof(std::pair<std::int16_t, std::int32_t>)},
    {"pair_long_i32", sizeof(long) + 4, sizeof(std::pair<long, std::int32_t>)},
    {"pair_f32_f32", 8, 8},
    {"pair_f64_f64", 16, 16},
    {"pair_f80_i32", sizeof(long double) + 4, sizeof(std::pair<long double, std::int32_t>)},
}};

static_assert(table.size() == static_cast<std::size_t>(element::pair_f80_i32) + 1);
static_assert(table.back().extent != 0);

[[nodiscard]] constexpr const facts& facts_of(element e) noexcept {
  return table[static_cast<std::size_t>(e)];
}

}  // namespace

std::size_t size_of(element e) noexcept { return facts_of(e).size; }
std::size_t extent_of(element e) noexcept { return facts_of(e).extent; }
const char* name_of(element e) noexcept { return facts_of(e).name; }

}  // namespace sinew::layout
