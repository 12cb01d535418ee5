#include <filesystem>

#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

std::vector<start> starts(const request&) {
  const std::filesystem::path tree = std::filesystem::path(own_folder()).parent_path();
  return {{1, {"run", "-n", "8", (tree / "libexec" / "sinew" / "bench-carry").string()}}};
}

const experiment self{.name = "carry",
                      .about = "plans carried out among 8 ranks, with links limited; MB/s",
                      .by = own_commands(),
                      .starts = starts,
                      .table = wide_table};

const listed here(self);

}  // namespace
}  // namespace sinew::tool
