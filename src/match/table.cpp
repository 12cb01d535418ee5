// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/match/table.hpp"

#include <new>

#include "match/table_core.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/steps.hpp"

namespace sinew::match {
namespace {

table_hash make_hash(std::uint64_t seed) {
  static const std::uint64_t secret = unpredictable_word();
  std::uint64_t state = seed != 0 ? seed : secret;
  const std::uint64_t of_envelope = split_mix(state) | 1;
  return {of_envelope, split_mix(state) | 1};
}

void check_options(const table_options& o) {
  SINEW_CHECK(o.most_lines <= std::size_t{1} << 30 && o.first_lines <= std::size_t{1} << 30,
              "a matching table cannot have so many lines", "2^30 is the most", "ask for fewer");
  SINEW_CHECK(o.most_cells < std::size_t{1} << 26, "a matching table cannot have so many cells",
              "2^26 - 1 is the most", "ask for fewer");
}

}  // namespace

struct table::body {
  explicit body(const table_options& options)
      : core(options, make_hash(options.seed), base::join_membarrier(base::within::process)) {}
  table_core<real_steps> core;
};

inline table::body& table::in() const noexcept {
  return *std::launder(reinterpret_cast<body*>(memory_));
}

table::table(const table_options& options) {
  static_assert(sizeof(body) <= body_bytes && alignof(body) == 64);
  check_options(options);
  ::new (static_cast<void*>(memory_)) body(options);
}
table::~table() { in().~body(); }

table::outcome table::insert(const table_key& key, table_side side, void* value) noexcept {
  return in().core.insert(key, side, value);
}
void* table::take(const table_key& key, table_side side) noexcept {
  return in().core.take(key, side);
}
void* table::peek(const table_key& key, table_side side) noexcept {
  return in().core.peek(key, side);
}
bool table::erase(const table_key& key, table_side side, const void* value) noexcept {
  return in().core.erase(key, side, value);
}
bool table::trim() noexcept { return in().core.trim(); }

void table::each(void (*visit)(void* context, const table_key&, table_side, void* value),
                 void* context) const {
  in().core.each([&](const table_key& key, table_side side, void* value) {
    visit(context, key, side, value);
  });
}
std::size_t table::lines() const noexcept { return in().core.lines(); }
std::size_t table::cells() const noexcept { return in().core.cells(); }

}  // namespace sinew::match
