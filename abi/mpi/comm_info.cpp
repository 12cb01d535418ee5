// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 7.4.4: hints of communicators. Those that we know are kept, others and values
// that make no sense are ignored; MPI_Comm_get_info returns those in use.
#include <algorithm>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/memory_kinds.hpp"
#include "abi/mpi/routed.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

struct assertion {
  const char* key;
  bool promises::* said;
};

constexpr assertion assertions[] = {
    {"mpi_assert_no_any_tag", &promises::no_any_tag},
    {"mpi_assert_no_any_source", &promises::no_any_source},
    {"mpi_assert_exact_length", &promises::exact_length},
    {"mpi_assert_allow_overtaking", &promises::allow_overtaking},
};
constexpr const char* engine_key = "sinew_match_engine";
constexpr const char* routes_key = "sinew_alltoallv_topology";

bool is_exact(const promises& p) { return p.no_any_source && p.no_any_tag; }

// The engine without wildcards is used while both assertions hold.
void choose_engine(comm_object& c, const std::string& wanted, bool was_exact) {
  const bool exact = is_exact(c.promised);
  const auto known = match::engine_names();
  SINEW_ASSERT(!known.empty());
  if (std::find(known.begin(), known.end(), wanted) != known.end() ||
      (exact && wanted == match::exact_engine)) {
    process.engine->match_by(*c.comm, wanted);
  } else if (was_exact && !exact &&
             process.engine->matching(*c.comm).engine == match::exact_engine) {
    process.engine->match_by(*c.comm, known.front());
  }
}

}  // namespace

void apply_hints(comm_object& c, const info_object& info) {
  const bool was_exact = is_exact(c.promised);
  for (const assertion& a : assertions) {
    const std::string value = info.value(a.key);
    if (value == "true" || value == "false") {
      c.promised.*a.said = value == "true";
    }
  }
  if (const std::string kinds = info.value(asserted_kinds_key); are_memory_kinds(kinds)) {
    c.memory_kinds = kinds;  // every kind is the same to us
  }
  process.engine->promise_exact_length(*c.comm, c.promised.exact_length);
  choose_engine(c, info.value(engine_key), was_exact);
  if (const std::string network = info.value(routes_key); !network.empty() && c.sides == nullptr) {
    c.routes = routed::make(*c.comm, network);
  }
}

// What `info` does not name stays as it is.
int impl::Comm_set_info(MPI_Comm comm, MPI_Info info) {
  apply_hints(comm_of(comm), info_of(info));
  return MPI_SUCCESS;
}

int impl::Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  check_out(info_used, "info_used");
  const comm_object& c = comm_of(comm);
  auto* used = arena<info_object>::make();
  for (const assertion& a : assertions) {
    used->entries.emplace_back(a.key, c.promised.*a.said ? "true" : "false");
  }
  used->entries.emplace_back(memory_kinds_key, memory_kinds);
  if (!c.memory_kinds.empty()) {
    used->entries.emplace_back(asserted_kinds_key, c.memory_kinds);
  }
  used->entries.emplace_back(engine_key, process.engine->matching(*c.comm).engine);
  if (c.routes != nullptr) {
    used->entries.emplace_back(routes_key, c.routes->text());
  }
  *info_used = handle_of<MPI_Info>(used);
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
