// SPDX-License-Identifier: BSD-3-Clause
// Files on tmpfs. A 3-D array of doubles divided into blocks, one a rank, written and read by
// collective calls; and records of 512 bytes dealt out to the ranks in turn, written and read by
// individual ones. Words: mib=N (the array), folder=/dev/shm
#include <unistd.h>

#include "../common/line.h"

enum { most_repeats = 11, record = 64 };  // doubles in a record

typedef struct {
  MPI_File file;
  MPI_Datatype type;  // of the view
  double* block;
  int count;  // of doubles, this rank's
  int rank, ranks, mib;
  double budget_ms;
} job;

static void check(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING], sentence[MPI_MAX_ERROR_STRING + 64];
  int length;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  snprintf(sentence, sizeof sentence, "io: %s: %s", what, text);
  stop_all(sentence);
}

static void write_all(const job* j) {
  check(MPI_File_write_at_all(j->file, 0, j->block, j->count, MPI_DOUBLE, MPI_STATUS_IGNORE),
        "writing together");
}
static void read_all(const job* j) {
  check(MPI_File_read_at_all(j->file, 0, j->block, j->count, MPI_DOUBLE, MPI_STATUS_IGNORE),
        "reading together");
}
static void write_own(const job* j) {
  check(MPI_File_write_at(j->file, 0, j->block, j->count, MPI_DOUBLE, MPI_STATUS_IGNORE),
        "writing");
}
static void read_own(const job* j) {
  check(MPI_File_read_at(j->file, 0, j->block, j->count, MPI_DOUBLE, MPI_STATUS_IGNORE),
        "reading");
}

static void fill(const job* j, double value) {
  for (int i = 0; i < j->count; ++i) j->block[i] = value;
}

// From the moment when all begin to the end of the last one, in ns.
static double once(const job* j, void (*access)(const job*)) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  access(j);
  const double own = now_ns() - begin;
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

// The first one makes the pages and is not counted. One at least is; rank 0's clock says when to
// stop.
static void measure(const job* j, const char* name, void (*access)(const job*)) {
  char params[64];
  snprintf(params, sizeof params, "ranks=%d,mib=%d", j->ranks, j->mib);
  once(j, access);
  const double since = now_ns();
  int more = 1;
  for (int i = 0; more; ++i) {
    const double line = j->ranks == 2 ? line_trip(j->rank) : 0;
    const double ns = once(j, access);
    if (j->rank == 0) {
      report_sample(name, "bandwidth", "GB/s", params, j->mib * 1048576.0 / ns, line);
      more = i + 1 < most_repeats && now_ns() - since < j->budget_ms * 1e6;
    }
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

// What comes back is what was written, or the figures mean nothing.
static void both_ways(const job* j, const char* writing, void (*write)(const job*),
                      const char* reading, void (*read)(const job*)) {
  check(MPI_File_set_view(j->file, 0, MPI_DOUBLE, j->type, "native", MPI_INFO_NULL), "the view");
  fill(j, j->rank + 1);
  measure(j, writing, write);
  fill(j, 0);
  measure(j, reading, read);
  for (int i = 0; i < j->count; ++i) {
    if (j->block[i] != j->rank + 1) stop_all("io: what was read is not what was written");
  }
}

// A block of the array, whose sides are powers of two, as nearly equal as can be.
static MPI_Datatype block_type(const job* j) {
  int sides[3] = {1, 1, 1}, dims[3] = {0, 0, 0}, mine[3], at[3], rest = j->rank;
  int d = 0;
  for (long left = (long)j->mib * 131072; left > 1; left /= 2, d = (d + 1) % 3) sides[d] *= 2;
  MPI_Dims_create(j->ranks, 3, dims);
  for (d = 2; d >= 0; --d) {
    if (sides[d] % dims[d] != 0) stop_all("io: the ranks must be a power of two");
    mine[d] = sides[d] / dims[d];
    at[d] = rest % dims[d] * mine[d];
    rest /= dims[d];
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sides, mine, at, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

// Every so many-th record.
static MPI_Datatype record_type(const job* j) {
  MPI_Datatype type;
  const int whole = j->ranks * record, length = record, at = j->rank * record;
  MPI_Type_create_subarray(1, &whole, &length, &at, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

// A file without a name once all have it: nothing is left behind, whatever happens.
static void open_file(job* j, const char* folder) {
  char path[512];
  int number = (int)getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/sinew-bench-io-%d", folder, number);
  check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &j->file),
        path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (j->rank == 0) unlink(path);
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const char* folder = "/dev/shm";
  job j = {.mib = 8, .budget_ms = o.budget_ms};
  read_numbers(argc, argv, "mib", &j.mib, 1);
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "folder=", 7) == 0) folder = argv[i] + 7;
  }
  if (j.mib < 1 || (j.mib & (j.mib - 1)) != 0) {
    fprintf(stderr, "io: mib must be a power of two\n");
    return 2;
  }
  j.rank = start(&argc, &argv, &o, 1);
  MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
  if (j.ranks == 2) line_open(j.rank);
  j.count = (int)((long)j.mib * 131072 / j.ranks);
  j.block = (double*)make_buffer((size_t)j.count * sizeof(double), 0);
  open_file(&j, folder);
  j.type = block_type(&j);
  both_ways(&j, "write-all", write_all, "read-all", read_all);
  MPI_Type_free(&j.type);
  j.type = record_type(&j);
  both_ways(&j, "write-strided", write_own, "read-strided", read_own);
  MPI_Type_free(&j.type);
  MPI_File_close(&j.file);
  MPI_Finalize();
  return 0;
}
