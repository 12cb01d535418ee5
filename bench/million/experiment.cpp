#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

// The larger counts each in a process of its own, since memory is told of what was never used.
std::vector<start> starts(const request& asked) {
  static const std::vector<std::string> counts[] = {
      {"8,512,4096", "65536"},
      {"8,64,512,1024,4096", "16384", "65536"},
      {"8,16,32,64,128,256,512,1024,2048,4096,8192", "16384", "32768", "65536", "131072", "262144",
       "524288", "1048576"},
  };
  std::vector<start> all;
  for (const std::string& fibers : asked.choose(counts)) {
    all.push_back({2, {"fibers=" + fibers, "bytes=64", "stack=4096"}});
  }
  return all;
}

std::vector<std::string> floor_words(const request&) { return {"line"}; }

// Nobody else has fibers.
std::vector<subject> columns(std::vector<subject> found) {
  std::erase_if(found, [](const subject& s) { return s.name != "sinew"; });
  return found;
}

const experiment self{.name = "million",
                      .about = "8 to 1,048,576 fibers a side that send and receive; us, B a fiber",
                      .by = mpi_programs(),
                      .starts = starts,
                      .floor_words = floor_words,
                      .floor_of = line_trip_us,
                      .columns = columns,
                      .full_rounds = 5};  // half a minute each with --full

const listed here(self);

}  // namespace
}  // namespace sinew::tool
