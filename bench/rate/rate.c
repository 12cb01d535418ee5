// SPDX-License-Identifier: BSD-3-Clause
// Message rate: windows of 64 small messages, millions per second.
#include "../common/window.h"

static void tell(int bytes, double ns_each, double line_ns) {
  char params[64];
  snprintf(params, sizeof params, "bytes=%d,window=%d", bytes, window_length);
  report_sample("window", "rate", "Mmsg/s", params, 1e3 / ns_each, line_ns);
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  line_open(rank);
  for (int i = 0; i < o.size_count && rank < 2; ++i) {
    char* buffer = make_buffer((size_t)o.sizes[i], rank);
    stream_samples(rank, buffer, o.sizes[i], o.budget_ms, tell);
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
