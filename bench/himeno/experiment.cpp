// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* grids[] = {"sizes=XS,S", "sizes=XS,S,M", "sizes=XS,S,M"};
constexpr const char* other_grids[] = {"sizes=XS", "sizes=XS,S", "sizes=XS,S,M"};
constexpr const char* spans[] = {"budget_ms=100", "budget_ms=200", "budget_ms=2000"};

// Two images have a processor each on any machine; with others fewer grids are measured.
std::vector<start> starts(const request& asked) {
  std::vector<start> all;
  for (const int images : {2, 1, 4, 8}) {
    const std::vector<std::string> words = {
        images == 2 ? asked.choose(grids) : asked.choose(other_grids), asked.choose(spans)};
    all.insert(all.end(), {{images, words, "coarray.f90"}, {images, words, "mpi.c"}});
    if (images == 1) {
      all.push_back({1, {asked.choose(grids), asked.choose(spans)}, "serial.f90"});
    }
  }
  return all;
}

// Ours also runs MPI's program, which adds a row. OpenCoarrays aborts with one image.
bool takes_part(const subject& who, const start& how) {
  if (how.program == "coarray.f90") {
    return who.name == "sinew" || (who.name == "opencoarrays" && how.ranks > 1);
  }
  if (how.program == "serial.f90") {
    return who.name == "sinew";
  }
  return who.name != "opencoarrays";
}

const experiment self{.name = "himeno",
                      .about = "a stencil with halos by coarrays and by MPI; MFLOPS",
                      .by = coarray_programs(),
                      .starts = starts,
                      .takes_part = takes_part,
                      .compile_with = {"-O3", "-ffast-math", "-march=native"},
                      .module_source = "kernel.f90",
                      .usual_rounds = 25};  // all compute the same: only small differences remain

const listed here(self);

}  // namespace
}  // namespace sinew::tool
