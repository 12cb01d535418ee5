#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* grids[] = {"sizes=XS,S", "sizes=XS,S,M", "sizes=XS,S,M"};
constexpr const char* spans[] = {"budget_ms=200", "budget_ms=200", "budget_ms=2000"};

std::vector<start> starts(const request& asked) {
  const std::vector<std::string> words = {asked.choose(grids), asked.choose(spans)};
  return {{2, words, "coarray.f90"}, {2, words, "mpi.c"}, {1, words, "serial.f90"}};
}

// Ours also runs MPI's program, which adds a row.
bool takes_part(const subject& who, const start& how) {
  if (how.program == "coarray.f90") {
    return who.name == "sinew" || who.name == "opencoarrays";
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
