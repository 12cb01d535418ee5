#include "sinew/bench/experiment.hpp"

namespace sinew::tool {
namespace {

constexpr const char* sweeps[] = {"sweep=quick", "sweep=usual", "sweep=full"};

std::vector<start> starts(const request& asked) { return {{1, {asked.choose(sweeps)}}}; }

const experiment self{.name = "reductions",
                      .about = "histograms by reduction instances, in six ways; million a second",
                      .by = library_programs(),
                      .starts = starts};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
