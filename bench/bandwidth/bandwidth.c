// SPDX-License-Identifier: BSD-3-Clause
// One-way bandwidth: windows of 64 messages, GB/s (1e9 bytes). Rows with offset=16 are sent from 16
// bytes behind a page's beginning: some processors copy much more slowly between such addresses.
#include "../common/window.h"

enum { page = 4096, unlucky = 16 };

static int offset;  // of rank 0's buffer

static void tell(int bytes, double ns_each, double line_ns) {
  char params[64];
  snprintf(params, sizeof params, "bytes=%d,window=%d%s", bytes, window_length,
           offset != 0 ? ",offset=16" : "");
  report_sample("uni", "bandwidth", "GB/s", params, bytes / ns_each, line_ns);
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  line_open(rank);
  for (int i = 0; i < o.size_count && rank < 2; ++i) {
    char* buffer = make_buffer((size_t)o.sizes[i] + unlucky, rank);
    offset = 0;
    stream_samples(rank, buffer, o.sizes[i], o.budget_ms, tell);
    if (o.sizes[i] >= page && o.sizes[i] <= 65536) {
      offset = unlucky;
      stream_samples(rank, rank == 0 ? buffer + offset : buffer, o.sizes[i], o.budget_ms, tell);
    }
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
