#include "sinew/match/engine.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "match/engines.hpp"
#include "sinew/base/error.hpp"

namespace sinew::match {
namespace {

constexpr std::array<std::string_view, 6> names = {"hash",     "list",     "bins64",
                                                   "bins1021", "lookup4d", "vector"};
constexpr std::unique_ptr<engine> (*makers[])() = {make_hash,     make_list,     make_bins64,
                                                   make_bins1021, make_lookup4d, make_vector};
static_assert(std::size(makers) == names.size());

}  // namespace

std::span<const std::string_view> engine_names() noexcept { return names; }

std::unique_ptr<engine> make_engine(std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return makers[at - names.begin()]();
  std::string known;
  for (const std::string_view n : names) known += (known.empty() ? "" : ", ") + std::string(n);
  throw error("there is no matching engine \"" + std::string(name) + "\"",
              "the name is not one of those built in", "use one of: " + known);
}

}  // namespace sinew::match
