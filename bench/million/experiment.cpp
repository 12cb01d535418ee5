#include "sinew/bench/report.hpp"

namespace sinew::tool {
namespace {

// The larger counts each in a process of its own, since memory is told of what was never used.
std::vector<start> starts(const request& asked) {
  static const std::vector<std::string> fibers[] = {
      {"8,512,4096", "65536"},
      {"8,64,512,1024,4096", "16384", "65536"},
      {"8,16,32,64,128,256,512,1024,2048,4096,8192", "16384", "32768", "65536", "131072", "262144",
       "524288", "1048576"},
  };
  static const std::vector<std::string> threads[] = {
      {"512"}, {"64,512", "4096"}, {"16,32,64,128,256,512,1024", "2048", "4096", "8192", "16384"}};
  std::vector<start> all;
  for (const std::string& count : asked.choose(fibers)) {
    all.push_back({2, {"threads=" + count, "bytes=64", "stack=4096"}});
  }
  all.push_back({2, {"threads=8", "bytes=64"}, "pthreads"});
  for (const std::string& count : asked.choose(threads)) {
    all.push_back({2, {"threads=" + count, "bytes=64"}, "pthreads"});
  }
  return all;
}

std::vector<std::string> floor_words(const request&) { return {"line"}; }

// One that waits without giving its processor away needs milliseconds for a message where threads
// are more than processors.
std::vector<subject> columns(std::vector<subject> found) {
  std::erase_if(found, [](const subject& s) { return !s.default_transport; });
  for (subject& s : found) {
    if (s.name == "openmpi") {
      s.name = "openmpi-yield";
      s.options = {"--mca", "mpi_yield_when_idle", "1"};
    }
  }
  return found;
}

// Peers have no fibers, and of threads the fewest.
bool takes_part(const subject& who, const start& how) {
  return who.name == "sinew" || (how.program == "pthreads" && how.words.front() == "threads=8");
}

const experiment self{
    .name = "million",
    .about = "8 to 1,048,576 fibers a side, and threads, that send and receive; us, B each",
    .by = mpi_programs(),
    .starts = starts,
    .floor_words = floor_words,
    .floor_of = line_trip_us,
    .columns = columns,
    .takes_part = takes_part,
    .full_rounds = 5};  // half a minute each with --full

const listed here(self);

}  // namespace
}  // namespace sinew::tool
