// Message rate: windows of 64 small messages, millions per second.
#include "../common/window.h"

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const int rank = start(&argc, &argv, &o, 2);
  for (int i = 0; i < o.size_count && rank < 2; ++i) {
    const int bytes = o.sizes[i];
    char* buffer = make_buffer((size_t)bytes, rank);
    const double each = stream_ns_each(rank, buffer, bytes, o.budget_ms);
    if (rank == 0) {
      char params[64];
      snprintf(params, sizeof params, "bytes=%d,window=%d", bytes, window_length);
      report("window", "rate", "Mmsg/s", params, 1e3 / each);
    }
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
