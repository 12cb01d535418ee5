// SPDX-License-Identifier: BSD-3-Clause
// What a program pays that was built with another MPI: the same calls by the names, types and
// numbers of the standard ABI, of MPICH and of Open MPI, in one process and in turns, so that the
// differences are of one state of the machine. `sinew run -n 1 bench-abi [budget_ms=N]`.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "../common/measure.h"

namespace {

using timed = double (*)(int count);

struct abi {
  const char* name;
  void* library;
};

timed function_of(const abi& of, const char* name) {
  void* const found = ::dlsym(of.library, name);
  if (found == nullptr) {
    stop_all(::dlerror());
  }
  return reinterpret_cast<timed>(found);
}

void tell(const char* what, const char* metric, const char* of, double ns) {
  const std::string params = std::string("abi=") + of + ",bytes=8";
  report(what, metric, "ns", params.c_str(), ns);
}

/// A sample is the median of batches, and of their differences from the standard's.
void measure(const char* what, const std::array<abi, 3>& all, double budget_ms) {
  constexpr int batch = 960;
  constexpr int batches = 100;
  std::array<timed, 3> run;
  double batch_ns = 0;
  for (std::size_t a = 0; a < all.size(); ++a) {
    run[a] = function_of(all[a], what);
    run[a](batch);
    batch_ns += run[a](batch) * batch;
  }
  const int samples = std::max(1, static_cast<int>(budget_ms * 1e6 / (batch_ns * batches)));
  for (int s = 0; s < std::min<int>(samples, most_samples); ++s) {
    std::array<std::array<double, batches>, 3> ns;
    std::array<std::array<double, batches>, 3> more;
    for (int b = 0; b < batches; ++b) {
      for (std::size_t turn = 0; turn < all.size(); ++turn) {
        const std::size_t a = (turn + static_cast<std::size_t>(b)) % all.size();
        ns[a][static_cast<std::size_t>(b)] = run[a](batch);
      }
      for (std::size_t a = 1; a < all.size(); ++a) {
        const auto at = static_cast<std::size_t>(b);
        more[a][at] = ns[a][at] - ns[0][at];
      }
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
      tell(what, "message", all[a].name, median(ns[a].data(), batches));
      if (a > 0) {
        tell(what, "added", all[a].name, median(more[a].data(), batches));
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  start(&argc, &argv, &o, 1);
  const std::string folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  std::array<abi, 3> all = {abi{"standard", nullptr}, abi{"mpich", nullptr},
                            abi{"openmpi", nullptr}};
  for (abi& each : all) {
    const std::string path = folder + "/bench-abi-" + each.name + ".so";
    each.library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (each.library == nullptr) {
      stop_all(::dlerror());
    }
  }
  for (const char* const what : {"blocking", "nonblocking", "wait_all"}) {
    measure(what, all, o.budget_ms);
  }
  MPI_Finalize();
}
