// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the module share: a job of ranks with events and regions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rma/fixture.hpp"
#include "sinew/base/error.hpp"
#include "sinew/region/reductions.hpp"

namespace sinew::region {

using rma::seed;
using rma::slow_build;
using rma::way_to_run;
using test::require;

struct member {
  test::rma_member& all;
  sinew::event::system& events;
  system& regions;
  int rank;
  int size;

  void meet() const { all.meet(); }
  /// One rank's word for everybody.
  [[nodiscard]] std::uint64_t share(int from, std::uint64_t word) const {
    meet();
    if (rank == from) {
      all.all.word[0].store(word);
    }
    meet();
    return all.all.word[0].load();
  }
  [[nodiscard]] instance share(int from, instance i) const {
    return instance::from_bits(share(from, i.bits()));
  }
  void good(event e, const char* what) const {
    require(events.wait(e) == sinew::event::state::triggered, std::string(what) + " failed");
  }
  void bad(event e, const char* what) const {
    require(events.wait(e) == sinew::event::state::poisoned, std::string(what) + " did not fail");
  }
  /// One to look at: `i` where all ranks share memory, else a copy in memory of this rank.
  [[nodiscard]] instance seen(const schema& what, instance i) const {
    if (regions.memory().maps_all()) {
      return i;
    }
    const made here = regions.create(what, memory::heap(job_rank{rank}));
    good(regions.copy(i, here.what, here.ready), "copy here");
    return here.what;
  }
  [[nodiscard]] event poison() const {
    const user_event e = events.create();
    events.poison(e);
    return e;
  }
};

/// The text of what a call throws; fails if it throws nothing.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  throw std::runtime_error("nothing was thrown");
}
inline void require_in(const std::string& text, const std::string& part) {
  require(text.find(part) != std::string::npos, "'" + text + "' does not say '" + part + "'");
}

class region_test : public rma::rma_test {
 protected:
  static void run(int ranks, const std::function<void(member&)>& body,
                  rma::heap_sizes sizes = {std::size_t{8} << 20, std::size_t{32} << 20}) {
    rma_test::run(
        ranks,
        [&](test::rma_member& m) {
          sinew::event::system events(m.rma.runtime());
          system regions(m.rma, events);
          m.meet();
          member r{m, events, regions, m.rank, m.size};
          body(r);
          m.settle();
        },
        sizes);
  }
};

}  // namespace sinew::region
