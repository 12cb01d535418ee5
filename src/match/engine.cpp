#include "sinew/match/engine.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "match/engines.hpp"
#include "sinew/base/error.hpp"

namespace sinew::match {
namespace {

constexpr std::array<std::string_view, 6> names = {"hash",     "list",     "bins64",
                                                   "bins1021", "lookup4d", "vector"};
constexpr std::unique_ptr<engine> (*makers[])() = {make_hash,     make_list,     make_bins64,
                                                   make_bins1021, make_lookup4d, make_vector};
static_assert(std::size(makers) == names.size());

/// All that is stored, in order of storing.
struct contents {
  std::vector<receive*> receives;
  std::vector<message*> messages;

  explicit contents(const engine& of) {
    receives.reserve(of.posted());
    messages.reserve(of.unexpected());
    of.each_receive(
        [](void* c, const receive& r) {
          static_cast<contents*>(c)->receives.push_back(const_cast<receive*>(&r));
        },
        this);
    of.each_message(
        [](void* c, const message& m) {
          static_cast<contents*>(c)->messages.push_back(const_cast<message*>(&m));
        },
        this);
  }

  /// Nothing here fits anything else here, or it would have been matched; so all are stored.
  void store_in(engine& to) const {
    for (receive* r : receives) (void)to.post(*r);
    for (message* m : messages) (void)to.arrive(*m);
  }
  /// The earliest with its envelope is the one that is next in this order.
  void remove_from(engine& from) const {
    for (receive* r : receives) (void)from.cancel(*r);
    for (message* m : messages) (void)from.take(m->sent);
  }
};

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

void move_entries(engine& from, engine& to) {
  const contents all(from);
  all.remove_from(from);
  try {
    all.store_in(to);
  } catch (...) {
    contents(to).remove_from(to);
    all.store_in(from);  // which has had room for them
    throw;
  }
}

}  // namespace sinew::match
