#include <filesystem>

#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request&) {
  const std::filesystem::path tree = std::filesystem::path(own_folder()).parent_path();
  return {{1, {"run", "-n", "2", (tree / "libexec" / "sinew" / "bench-busy").string()}}};
}

const experiment self{.name = "busy",
                      .about = "what asks a rank that waits, or computes; us",
                      .by = own_commands(),
                      .starts = starts,
                      .table = wide_table};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
