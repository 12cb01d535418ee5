#include "sinew/match/engine.hpp"

#include <string>

#include "match/engines.hpp"
#include "sinew/base/error.hpp"

namespace sinew::match {
namespace {

struct entry {
  std::string_view name;
  std::unique_ptr<engine> (*make)();
};

constexpr entry known[] = {{"hash", make_hash}, {"list", make_list}};

}  // namespace

std::unique_ptr<engine> make_engine(std::string_view name) {
  std::string names;
  for (const entry& e : known) {
    if (e.name == name) return e.make();
    names += names.empty() ? "" : ", ";
    names += e.name;
  }
  throw error("there is no matching engine \"" + std::string(name) + "\"",
              "the name is not one of those built in", "use one of: " + names);
}

}  // namespace sinew::match
