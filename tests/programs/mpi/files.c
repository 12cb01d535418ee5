// SPDX-License-Identifier: BSD-3-Clause
/* Files: random accesses of all kinds through random views against a model of the file's bytes,
 * shared and ordered pointers, atomic mode. Any rank count. `mpi_files SEED` repeats a run. */
#include "files.h"

#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

static unsigned long long state;

/* The same numbers on all ranks. */
static unsigned below(unsigned n) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % n;
}

/* --- random accesses --- */

#define MOST 64          /* pieces of a filetype */
static unsigned char model[ROOM];

/* Cells of 4 bytes: who owns which of a period, in runs of random lengths. */
static int owner[4096], period;

static void divide(void) {
  period = 0;
  const int runs = size * (1 + (int)below(MOST / 4));
  for (int i = 0; i < runs; i++) {
    int who = (int)below((unsigned)size + 1); /* `size`: nobody, a hole */
    int n = 1 + (int)below(6);
    while (n-- > 0) owner[period++] = who;
  }
  for (int r = 0; r < size; r++) owner[period++] = r; /* everybody has something */
}

/* The cells of one rank as a filetype; what it is made by does not matter. */
static MPI_Datatype cells_of(int who) {
  int lengths[4096], places[4096], n = 0;
  for (int i = 0; i < period; i++) {
    if (owner[i] != who) continue;
    if (n > 0 && places[n - 1] + lengths[n - 1] == i) {
      lengths[n - 1]++;
    } else {
      places[n] = i;
      lengths[n++] = 1;
    }
  }
  MPI_Datatype part, whole;
  MPI_Type_indexed(n, lengths, places, MPI_INT, &part);
  MPI_Type_create_resized(part, 0, (MPI_Aint)period * 4, &whole);
  MPI_Type_commit(&whole);
  MPI_Type_free(&part);
  return whole;
}

/* Byte in the file of a rank's cell number `n`. */
static long place_of(int who, long displacement, long n) {
  long mine = 0;
  for (int i = 0; i < period; i++) mine += owner[i] == who;
  long at = displacement + n / mine * period * 4, left = n % mine;
  for (int i = 0;; i++) {
    if (owner[i] != who) continue;
    if (left-- == 0) return at + i * 4L;
  }
}

enum how { at_, at_all, individual, individual_all, iat, iat_all, iindividual, iindividual_all,
           at_split, individual_split, hows };

static void move(MPI_File fh, int writes, enum how how, MPI_Offset at, int* buf, int count,
                 MPI_Datatype type, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (how != at_ && how != at_all && how != iat && how != iat_all && how != at_split)
    CHECK(MPI_File_seek(fh, at, MPI_SEEK_SET) == MPI_SUCCESS);
  int code = MPI_SUCCESS;
#define BOTH(w, r) code = writes ? (w) : (r)
  switch (how) {
    case at_:
      BOTH(MPI_File_write_at(fh, at, buf, count, type, status),
           MPI_File_read_at(fh, at, buf, count, type, status));
      break;
    case at_all:
      BOTH(MPI_File_write_at_all(fh, at, buf, count, type, status),
           MPI_File_read_at_all_c(fh, at, buf, count, type, status));
      break;
    case individual:
      BOTH(MPI_File_write_c(fh, buf, count, type, status),
           MPI_File_read(fh, buf, count, type, status));
      break;
    case individual_all:
      BOTH(MPI_File_write_all(fh, buf, count, type, status),
           MPI_File_read_all(fh, buf, count, type, status));
      break;
    case iat:
      BOTH(MPI_File_iwrite_at(fh, at, buf, count, type, &request),
           MPI_File_iread_at(fh, at, buf, count, type, &request));
      break;
    case iat_all:
      BOTH(MPI_File_iwrite_at_all(fh, at, buf, count, type, &request),
           MPI_File_iread_at_all(fh, at, buf, count, type, &request));
      break;
    case iindividual:
      BOTH(MPI_File_iwrite(fh, buf, count, type, &request),
           MPI_File_iread_c(fh, buf, count, type, &request));
      break;
    case iindividual_all:
      BOTH(MPI_File_iwrite_all(fh, buf, count, type, &request),
           MPI_File_iread_all(fh, buf, count, type, &request));
      break;
    case at_split:
      BOTH(MPI_File_write_at_all_begin(fh, at, buf, count, type),
           MPI_File_read_at_all_begin(fh, at, buf, count, type));
      CHECK(code == MPI_SUCCESS);
      BOTH(MPI_File_write_at_all_end(fh, buf, status), MPI_File_read_at_all_end(fh, buf, status));
      break;
    default:
      BOTH(MPI_File_write_all_begin(fh, buf, count, type),
           MPI_File_read_all_begin(fh, buf, count, type));
      CHECK(code == MPI_SUCCESS);
      BOTH(MPI_File_write_all_end(fh, buf, status), MPI_File_read_all_end(fh, buf, status));
  }
  CHECK(code == MPI_SUCCESS);
  if (how >= iat && how <= iindividual_all) {
    CHECK(request != MPI_REQUEST_NULL);
    CHECK(MPI_Wait(&request, status) == MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
  }
}

static MPI_Info random_hints(void) {
  static const char* const choices[] = {"automatic", "enable", "disable"};
  char number[20];
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", choices[below(3)]);
  MPI_Info_set(info, "romio_cb_read", choices[below(3)]);
  MPI_Info_set(info, "romio_ds_read", choices[below(3)]);
  MPI_Info_set(info, "romio_ds_write", choices[below(3)]);
  snprintf(number, sizeof number, "%u", 1 + below((unsigned)size));
  MPI_Info_set(info, "cb_nodes", number);
  snprintf(number, sizeof number, "%u", 4096 << below(4));
  MPI_Info_set(info, "cb_buffer_size", number);
  MPI_Info_set(info, "striping_unit", number);
  MPI_Info_set(info, "ind_rd_buffer_size", number);
  MPI_Info_set(info, "ind_wr_buffer_size", number);
  return info;
}

/* One access: all ranks, each its cells from `first` on. Memory with or without holes. */
static void one_access(MPI_File fh, long displacement, long* length) {
  const int writes = (int)below(3) != 0;
  const enum how how = (enum how)below(hows);
  const int holes = (int)below(2);
  int count = 0;
  MPI_Offset first = 0;
  unsigned value = below(1u << 24);
  const long before = *length;
  long good = 0; /* of this rank's bytes, before the file's end */
  for (int r = 0; r < size; r++) {
    const int n = below(5) == 0 ? 0 : (int)below(400);
    const long from = (long)below(300);
    if (r == rank) {
      count = n;
      first = from;
    }
    for (int i = 0; i < n; i++) {
      const long at = place_of(r, displacement, from + i);
      const unsigned v = value + (unsigned)(r * 1000 + i);
      CHECK(at + 4 <= ROOM);
      if (writes) {
        memcpy(model + at, &v, 4);
        if (at + 4 > *length) *length = at + 4;
      } else if (r == rank && at < before) {
        good += at + 4 <= before ? 4 : before - at; /* the file may end in a cell */
      }
    }
  }
  const int step = holes ? 3 : 1;
  int* buf = (int*)malloc(sizeof(int) * (size_t)(count * step + 1));
  for (int i = 0; i < count * step; i++) buf[i] = -1;
  for (int i = 0; writes && i < count; i++)
    buf[i * step] = (int)(value + (unsigned)(rank * 1000 + i));
  MPI_Datatype type = MPI_INT;
  if (holes) MPI_Type_create_resized(MPI_INT, 0, 12, &type);
  if (holes) MPI_Type_commit(&type);
  MPI_Status status;
  MPI_File_sync(fh);
  MPI_Barrier(MPI_COMM_WORLD);
  move(fh, writes, how, first, buf, count, type, &status);
  CHECK(bytes_of(&status) == (writes ? count * 4 : good));
  for (int i = 0; !writes && i < count * step; i++) {
    int wanted = -1;
    const long left = good - i / step * 4L;
    if (i % step == 0 && left > 0)
      memcpy(&wanted, model + place_of(rank, displacement, first + i / step),
             left < 4 ? (size_t)left : 4);
    CHECK(buf[i] == wanted);
  }
  if (how == individual || how == iindividual_all) { /* and their kin */
    MPI_Offset now = -1;
    MPI_File_get_position(fh, &now);
    CHECK(now == first + count);
  }
  if (holes) MPI_Type_free(&type);
  free(buf);
  MPI_File_sync(fh);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(slurp() == *length);
  CHECK(memcmp(there, model, (size_t)*length) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void random_accesses(void) {
  memset(model, 0, sizeof model);
  long length = 0;
  for (int round = 0; round < 12; round++) {
    MPI_Info info = random_hints();
    MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    MPI_Info_free(&info);
    for (int views = 0; views < 2; views++) {
      divide();
      const long displacement = (long)below(50);
      MPI_Datatype cells = cells_of(rank);
      CHECK(MPI_File_set_view(fh, displacement, MPI_INT, cells, "native", MPI_INFO_NULL) ==
            MPI_SUCCESS);
      MPI_Type_free(&cells);
      MPI_File_set_atomicity(fh, below(4) == 0);
      for (int i = 0; i < 6; i++) one_access(fh, displacement, &length);
      for (int i = 0; i < 5; i++) {
        MPI_Offset at = -1;
        const long n = (long)below(200);
        MPI_File_get_byte_offset(fh, n, &at);
        CHECK(at == place_of(rank, displacement, n));
      }
    }
    closed(&fh);
  }
  gone();
}

/* --- pointers --- */

static void shared_pointer(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_File_set_view(fh, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  /* Everybody writes blocks of 3 times the same number; none may be torn or lost. */
  enum { each = 40 };
  MPI_Status status;
  for (int i = 0; i < each; i++) {
    int block[3];
    MPI_Request request;
    block[0] = block[1] = block[2] = rank * each + i;
    if (i % 2 == 0) {
      CHECK(MPI_File_write_shared(fh, block, 3, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      CHECK(MPI_File_iwrite_shared(fh, block, 3, MPI_INT, &request) == MPI_SUCCESS);
      MPI_Wait(&request, &status);
    }
    CHECK(bytes_of(&status) == 12);
  }
  MPI_Offset at = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_position_shared(fh, &at);
  CHECK(at == 3 * each * size);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET) == MPI_SUCCESS);
  int* seen = (int*)calloc((size_t)(each * size), sizeof(int));
  for (int i = 0; i < each; i++) {
    int block[3];
    MPI_Request request;
    if (i % 2 == 0) {
      CHECK(MPI_File_read_shared(fh, block, 3, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      CHECK(MPI_File_iread_shared(fh, block, 3, MPI_INT, &request) == MPI_SUCCESS);
      MPI_Wait(&request, &status);
    }
    CHECK(bytes_of(&status) == 12 && block[0] == block[1] && block[1] == block[2]);
    seen[block[0]]++;
  }
  MPI_Allreduce(MPI_IN_PLACE, seen, each * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < each * size; i++) CHECK(seen[i] == 1);
  free(seen);
  int nothing;
  CHECK(MPI_File_read_shared(fh, &nothing, 1, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(bytes_of(&status) == 0);
  closed(&fh);
  gone();
}

static void in_order(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  const int all = size * (size + 1) / 2;
  int* mine = (int*)malloc(sizeof(int) * (size_t)(size + 1));
  MPI_Status status;
  for (int turn = 0; turn < 4; turn++) { /* rank r writes r + 1 numbers */
    for (int i = 0; i <= rank; i++) mine[i] = turn * 1000 + rank * (rank + 1) / 2 + i;
    if (turn % 2 == 0) {
      CHECK(MPI_File_write_ordered(fh, mine, rank + 1, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      CHECK(MPI_File_write_ordered_begin(fh, mine, rank + 1, MPI_INT) == MPI_SUCCESS);
      CHECK(MPI_File_write_ordered_end(fh, mine, &status) == MPI_SUCCESS);
    }
    CHECK(bytes_of(&status) == 4 * (rank + 1));
  }
  MPI_File_sync(fh);
  MPI_Barrier(MPI_COMM_WORLD);
  int* whole = (int*)malloc(sizeof(int) * (size_t)all);
  for (int turn = 0; turn < 4; turn++) {
    MPI_File_read_at(fh, turn * all, whole, all, MPI_INT, &status);
    CHECK(bytes_of(&status) == 4 * all);
    for (int i = 0; i < all; i++) CHECK(whole[i] == turn * 1000 + i);
  }
  free(whole);
  CHECK(MPI_File_seek_shared(fh, -2 * all, MPI_SEEK_END) == MPI_SUCCESS);
  for (int turn = 2; turn < 4; turn++) {
    memset(mine, 0, sizeof(int) * (size_t)(size + 1));
    if (turn % 2 == 0) {
      CHECK(MPI_File_read_ordered(fh, mine, rank + 1, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      CHECK(MPI_File_read_ordered_begin(fh, mine, rank + 1, MPI_INT) == MPI_SUCCESS);
      CHECK(MPI_File_read_ordered_end(fh, mine, &status) == MPI_SUCCESS);
    }
    CHECK(bytes_of(&status) == 4 * (rank + 1));
    for (int i = 0; i <= rank; i++) CHECK(mine[i] == turn * 1000 + rank * (rank + 1) / 2 + i);
  }
  CHECK(MPI_File_seek_shared(fh, -all, MPI_SEEK_CUR) == MPI_SUCCESS);
  MPI_Offset at = 0;
  MPI_File_get_position_shared(fh, &at);
  CHECK(at == 3 * all);
  MPI_Barrier(MPI_COMM_WORLD); /* all have asked */
  EXPECT_ERROR(MPI_File_seek_shared(fh, -10 * all, MPI_SEEK_CUR), MPI_ERR_ARG, "");
  if (size > 1)
    EXPECT_ERROR(MPI_File_seek_shared(fh, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME, "same");
  free(mine);
  closed(&fh);
  gone();
}

/* The individual pointer: seeks, the end of a view with holes, sequential files, appending. */
static void seeks(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_Datatype two_of_four;
  MPI_Offset at = -1;
  MPI_Status status;
  int numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7}, in[8];
  MPI_Type_vector(1, 2, 4, MPI_INT, &two_of_four);
  MPI_Datatype cells;
  MPI_Type_create_resized(two_of_four, 0, 16, &cells);
  MPI_Type_commit(&cells);
  MPI_Type_free(&two_of_four);
  if (rank == 0) MPI_File_write(fh, numbers, 8, MPI_INT, &status); /* 32 bytes */
  MPI_File_sync(fh);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_view(fh, 4, MPI_INT, cells, "native", MPI_INFO_NULL);
  /* Sees the cells 1, 2, 5, 6 and then 9 and so on. */
  CHECK(MPI_File_seek(fh, 0, MPI_SEEK_END) == MPI_SUCCESS);
  MPI_File_get_position(fh, &at);
  CHECK(at == 4);
  MPI_File_seek(fh, -3, MPI_SEEK_CUR);
  MPI_File_read(fh, in, 8, MPI_INT, &status);
  CHECK(bytes_of(&status) == 12 && in[0] == 2 && in[1] == 5 && in[2] == 6);
  EXPECT_ERROR(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG, "-1");
  EXPECT_ERROR(MPI_File_seek(fh, 0, 7), MPI_ERR_ARG, "7");
  /* A pointer that a read has moved beyond what a file can have. */
  MPI_File_set_view(fh, 4, MPI_BYTE, cells, "native", MPI_INFO_NULL);
  CHECK(MPI_File_seek(fh, INT64_MAX - 1, MPI_SEEK_SET) == MPI_SUCCESS);
  for (int i = 0; i < 2; i++)
    EXPECT_ERROR(MPI_File_read(fh, in, 8, MPI_INT, &status), MPI_ERR_ARG, "beyond");
  MPI_Type_free(&cells);
  closed(&fh);
  MPI_Barrier(MPI_COMM_WORLD);

  fh = opened(MPI_MODE_APPEND | MPI_MODE_WRONLY, MPI_INFO_NULL);
  MPI_File_get_position(fh, &at);
  CHECK(at == 32);
  MPI_File_get_position_shared(fh, &at);
  CHECK(at == 32);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_write_ordered(fh, &rank, 1, MPI_INT, &status);
  EXPECT_ERROR(MPI_File_read(fh, in, 1, MPI_INT, &status), MPI_ERR_ACCESS, "writing");
  closed(&fh);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(slurp() == 32 + 4 * size);
  memcpy(in, there + 32 + 4 * rank, 4);
  CHECK(in[0] == rank);

  fh = opened(MPI_MODE_SEQUENTIAL | MPI_MODE_RDONLY, MPI_INFO_NULL);
  EXPECT_ERROR(MPI_File_read_at(fh, 0, in, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION,
               "SEQUENTIAL");
  EXPECT_ERROR(MPI_File_read(fh, in, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION, "");
  EXPECT_ERROR(MPI_File_seek(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION, "");
  EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_DISP,
               "DISPLACEMENT_CURRENT");
  if (rank == 0) MPI_File_read_shared(fh, in, 4, MPI_BYTE, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                          MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_File_read_ordered(fh, in, 1, MPI_INT, &status);
  int wanted;
  memcpy(&wanted, there + 4 + 4 * rank, 4);
  CHECK(in[0] == wanted);
  closed(&fh);
  gone();
}

/* --- atomic mode: what one rank writes, another sees whole or not at all --- */

static void atomic_mode(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_Datatype sparse, cells;
  int flag = 7;
  MPI_File_get_atomicity(fh, &flag);
  CHECK(flag == 0);
  CHECK(MPI_File_set_atomicity(fh, 1) == MPI_SUCCESS);
  MPI_File_get_atomicity(fh, &flag);
  CHECK(flag == 1);
  enum { n = 200 };
  MPI_Type_vector(n, 1, 9, MPI_INT, &sparse);
  MPI_Type_create_resized(sparse, 0, n * 9 * 4, &cells);
  MPI_Type_commit(&cells);
  MPI_File_set_view(fh, 0, MPI_INT, cells, "native", MPI_INFO_NULL);
  int data[n];
  for (int turn = 0; turn < 30; turn++) {
    if (rank == 0) {
      for (int i = 0; i < n; i++) data[i] = turn + 1;
      MPI_File_write_at(fh, 0, data, n, MPI_INT, MPI_STATUS_IGNORE);
    } else {
      MPI_Status status;
      MPI_File_read_at(fh, 0, data, n, MPI_INT, &status);
      CHECK(bytes_of(&status) == 0 || bytes_of(&status) == n * 4);
      for (int i = 1; bytes_of(&status) != 0 && i < n; i++) CHECK(data[i] == data[0]);
    }
  }
  if (size > 1) EXPECT_ERROR(MPI_File_set_atomicity(fh, rank), MPI_ERR_NOT_SAME, "");
  MPI_Type_free(&sparse);
  MPI_Type_free(&cells);
  closed(&fh);
  gone();
}

/* --- threads: one individual pointer, several users --- */

enum { threads = 4, records = 60 };
static MPI_File common;

static void* write_records(void* which) {
  for (int i = 0; i < records; i++) {
    const int r = *(const int*)which * records + i;
    const int record[3] = {r, r, r};
    MPI_Request request;
    MPI_Status status;
    if (i % 2 == 0) {
      CHECK(MPI_File_write(common, record, 3, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      CHECK(MPI_File_iwrite(common, record, 3, MPI_INT, &request) == MPI_SUCCESS);
      MPI_Wait(&request, &status);
    }
    CHECK(bytes_of(&status) == 12);
  }
  return NULL;
}

static void users_of_one_pointer(int atomic) {
  pthread_t ids[threads];
  int which[threads], seen[threads * records] = {0}, record[3];
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &common) == MPI_SUCCESS);
  MPI_File_set_atomicity(common, atomic);
  MPI_File_set_view(common, (MPI_Offset)rank * 12 * threads * records, MPI_INT, MPI_INT, "native",
                    MPI_INFO_NULL);
  for (int t = 0; t < threads; t++) {
    which[t] = t;
    pthread_create(&ids[t], NULL, write_records, &which[t]);
  }
  for (int t = 0; t < threads; t++) pthread_join(ids[t], NULL);
  for (int i = 0; i < threads * records; i++) {
    MPI_File_read_at(common, 3 * i, record, 3, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(record[0] == record[1] && record[1] == record[2]);
    seen[record[0]]++;
  }
  for (int i = 0; i < threads * records; i++) CHECK(seen[i] == 1);
  closed(&common);
  gone();
}

/* --- nothing is left --- */

static int descriptors(void) {
  int n = 0;
  DIR* d = opendir("/proc/self/fd");
  if (d == NULL) return 0;
  while (readdir(d) != NULL) n++;
  closedir(d);
  return n;
}

static void many(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  closed(&fh);
  const int before = descriptors();
  for (int i = 0; i < 300; i++) {
    fh = opened(MPI_MODE_RDWR, MPI_INFO_NULL);
    closed(&fh);
    MPI_File own = MPI_FILE_NULL;
    CHECK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &own) == MPI_SUCCESS);
    closed(&own);
    EXPECT_ERROR(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDWR, MPI_INFO_NULL,
                               &own),
                 MPI_ERR_NO_SUCH_FILE, "");
  }
  CHECK(descriptors() == before);
  gone();
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
  MPI_Bcast(&state, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("seed %llu, file %s\n", state, path);
  seeks();
  shared_pointer();
  in_order();
  atomic_mode();
  users_of_one_pointer(0);
  users_of_one_pointer(1);
  many();
  random_accesses();
  MPI_Finalize();
  return 0;
}
