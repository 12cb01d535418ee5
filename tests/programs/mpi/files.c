/* Files: random accesses of all kinds through random views against a model of the file's bytes,
 * shared and ordered pointers, modes, errors, hints, representations. Any rank count.
 * `mpi_files SEED` repeats a run. */
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int rank, size;
static unsigned long long state;
static char path[400];

/* The same numbers on all ranks. */
static unsigned below(unsigned n) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % n;
}

static MPI_File opened(int amode, MPI_Info info) {
  MPI_File fh = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &fh) == MPI_SUCCESS);
  CHECK(fh != MPI_FILE_NULL);
  return fh;
}

static void closed(MPI_File* fh) {
  CHECK(MPI_File_close(fh) == MPI_SUCCESS);
  CHECK(*fh == MPI_FILE_NULL);
}

static void gone(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int bytes_of(const MPI_Status* status) {
  int n = -1;
  MPI_Get_count(status, MPI_BYTE, &n);
  return n;
}

/* What the system has in the file; returns its length. */
static long slurp(unsigned char* into, long room) {
  FILE* in = fopen(path, "rb");
  CHECK(in != NULL);
  const long n = (long)fread(into, 1, (size_t)room, in);
  fclose(in);
  return n;
}

/* --- random accesses --- */

#define ROOM (1 << 20)
#define MOST 64          /* pieces of a filetype */
static unsigned char model[ROOM], there[ROOM];

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
  CHECK(slurp(there, ROOM) == *length);
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
  CHECK(slurp(there, ROOM) == 32 + 4 * size);
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

/* --- the file as a whole --- */

static void sizes(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL);
  MPI_Offset n = -1;
  CHECK(MPI_File_set_size(fh, 5000) == MPI_SUCCESS);
  MPI_File_get_size(fh, &n);
  CHECK(n == 5000);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_preallocate(fh, 9000) == MPI_SUCCESS);
  MPI_File_get_size(fh, &n);
  CHECK(n == 9000);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_preallocate(fh, 100) == MPI_SUCCESS);
  MPI_File_get_size(fh, &n);
  CHECK(n == 9000);
  EXPECT_ERROR(MPI_File_set_size(fh, -4), MPI_ERR_ARG, "-4");
  if (size > 1) EXPECT_ERROR(MPI_File_set_size(fh, rank), MPI_ERR_NOT_SAME, "same");
  int amode = 0, same = 0;
  MPI_Group group, world;
  MPI_File_get_amode(fh, &amode);
  CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
  MPI_File_get_group(fh, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &same);
  CHECK(same == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  const int number = MPI_File_toint(fh);
  CHECK(MPI_File_fromint(number) == fh);
  MPI_File old = fh;
  closed(&fh);
  EXPECT_ERROR(MPI_File_get_size(old, &n), MPI_ERR_FILE, "closed");
  CHECK(access(path, F_OK) != 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void what_a_view_is(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_Datatype etype, filetype, pair, back;
  MPI_Offset disp = -1;
  MPI_Aint lb, extent = 0;
  char name[MPI_MAX_DATAREP_STRING];
  MPI_File_get_view(fh, &disp, &etype, &filetype, name);
  CHECK(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(name, "native") == 0);
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  CHECK(MPI_File_set_view(fh, 24, pair, pair, "internal", MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&pair);
  MPI_File_get_view(fh, &disp, &etype, &back, name);
  MPI_Type_get_extent(back, &lb, &extent);
  CHECK(disp == 24 && extent == 16 && strcmp(name, "internal") == 0);
  MPI_Type_free(&etype);
  MPI_Type_free(&back);

  /* What is wrong with views. */
  MPI_Datatype crossing, backwards, odd;
  int two[] = {2, 2}, over[] = {0, 1}, falling[] = {4, 0};
  MPI_Type_indexed(2, two, over, MPI_INT, &crossing);
  MPI_Type_indexed(2, two, falling, MPI_INT, &backwards);
  MPI_Type_contiguous(3, MPI_BYTE, &odd);
  MPI_Type_commit(&crossing);
  MPI_Type_commit(&backwards);
  EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_INT, crossing, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
               "overlap");
  EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_INT, backwards, "native", MPI_INFO_NULL),
               MPI_ERR_TYPE, "rise");
  EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
               "committed");
  MPI_Type_commit(&odd);
  EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
               "etypes");
  EXPECT_ERROR(MPI_File_set_view(fh, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_DISP,
               "-5");
  EXPECT_ERROR(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "roman", MPI_INFO_NULL),
               MPI_ERR_UNSUPPORTED_DATAREP, "roman");
  if (size > 1) { /* what one rank is refused, all are */
    EXPECT_ERROR(MPI_File_set_view(fh, rank == 1 ? -5 : 0, MPI_INT, MPI_INT, "native",
                                   MPI_INFO_NULL),
                 MPI_ERR_DISP, "");
  }
  MPI_File_get_view(fh, &disp, &etype, &back, name);
  CHECK(disp == 24); /* nothing has changed */
  MPI_Type_free(&etype);
  MPI_Type_free(&back);
  MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  char three[3] = {0, 0, 0};
  EXPECT_ERROR(MPI_File_write(fh, three, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "etypes");
  if (rank == 0) MPI_File_write(fh, over, 2, MPI_INT, MPI_STATUS_IGNORE);
  closed(&fh);
  MPI_Barrier(MPI_COMM_WORLD);

  /* Who only reads may see a byte twice. */
  fh = opened(MPI_MODE_RDONLY, MPI_INFO_NULL);
  MPI_Type_free(&crossing);
  int ones[] = {1, 1, 1}, twice[] = {0, 0, 1}, in[3] = {7, 7, 7};
  MPI_Type_indexed(3, ones, twice, MPI_INT, &crossing);
  MPI_Type_commit(&crossing);
  CHECK(MPI_File_set_view(fh, 0, MPI_INT, crossing, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_File_read_all(fh, in, 3, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(in[0] == 0 && in[1] == 0 && in[2] == 1);
  EXPECT_ERROR(MPI_File_write(fh, in, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY,
               "reading");
  EXPECT_ERROR(MPI_File_set_size(fh, 0), MPI_ERR_READ_ONLY, "reading");
  closed(&fh);
  MPI_Type_free(&crossing);
  MPI_Type_free(&backwards);
  MPI_Type_free(&odd);
  gone();
}

/* --- errors --- */

static int calls, last_code;
static MPI_File last_file;
static void noted(MPI_File* fh, int* code, ...) {
  calls++;
  last_file = *fh;
  last_code = *code;
}

static void errors(void) {
  MPI_File fh = MPI_FILE_NULL;
  MPI_Comm w = MPI_COMM_WORLD;
  char long_name[5000];
  int x = 0;
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  EXPECT_ERROR(MPI_File_open(w, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_NO_SUCH_FILE,
               "");
  EXPECT_ERROR(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, path);
  EXPECT_ERROR(MPI_File_open(w, path, 0, MPI_INFO_NULL, &fh), MPI_ERR_AMODE, "exactly one");
  EXPECT_ERROR(MPI_File_open(w, path, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
               MPI_ERR_AMODE, "");
  EXPECT_ERROR(MPI_File_open(w, path, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &fh),
               MPI_ERR_AMODE, "CREATE");
  EXPECT_ERROR(MPI_File_open(w, path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &fh),
               MPI_ERR_AMODE, "SEQUENTIAL");
  EXPECT_ERROR(MPI_File_open(w, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE,
               "");
  EXPECT_ERROR(MPI_File_open(w, long_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE,
               "");
  EXPECT_ERROR(MPI_File_open(MPI_COMM_NULL, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh),
               MPI_ERR_COMM, "MPI_COMM_NULL");
  if (size > 1)
    EXPECT_ERROR(MPI_File_open(w, path, rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_RDWR,
                               MPI_INFO_NULL, &fh),
                 MPI_ERR_NOT_SAME, "");
  EXPECT_ERROR(MPI_File_close(&fh), MPI_ERR_FILE, "MPI_FILE_NULL");
  EXPECT_ERROR(MPI_File_read((MPI_File)w, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE, "none");
  fh = opened(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_File again;
  EXPECT_ERROR(MPI_File_open(w, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR,
                             MPI_INFO_NULL, &again),
               MPI_ERR_FILE_EXISTS, "");
  if (geteuid() != 0) { /* who may do everything is refused nothing */
    if (rank == 0) CHECK(chmod(path, 0) == 0);
    MPI_Barrier(w);
    EXPECT_ERROR(MPI_File_open(w, path, MPI_MODE_RDWR, MPI_INFO_NULL, &again), MPI_ERR_ACCESS, "");
  }
  EXPECT_ERROR(MPI_File_read_at(fh, -1, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG, "-1");
  EXPECT_ERROR(MPI_File_read(fh, &x, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT, "-1");
  EXPECT_ERROR(MPI_File_read(fh, NULL, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "null");
  EXPECT_ERROR(MPI_File_read(fh, &x, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "");
  EXPECT_ERROR(MPI_File_read_all_end(fh, &x, MPI_STATUS_IGNORE), MPI_ERR_IO, "no split");
  CHECK(MPI_File_read_all_begin(fh, &x, 1, MPI_INT) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_File_read_all(fh, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_IO,
               "read_all_end");
  EXPECT_ERROR(MPI_File_write_all_end(fh, &x, MPI_STATUS_IGNORE), MPI_ERR_IO, "read_all_end");
  EXPECT_ERROR(MPI_File_close(&fh), MPI_ERR_IO, "");
  CHECK(MPI_File_read_all_end(fh, &x, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Request request;
  CHECK(MPI_File_iread(fh, &x, 1, MPI_INT, &request) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_File_close(&fh), MPI_ERR_PENDING, "");
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  /* Handlers: of the file, and the one that new files get. */
  MPI_Errhandler handler, now;
  CHECK(MPI_File_get_errhandler(fh, &now) == MPI_SUCCESS && now == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&now);
  MPI_File_create_errhandler(noted, &handler);
  CHECK(MPI_File_set_errhandler(fh, handler) == MPI_SUCCESS);
  MPI_File_seek(fh, -1, MPI_SEEK_SET);
  CHECK(calls == 1 && last_file == fh && last_code == MPI_ERR_ARG);
  CHECK(MPI_File_call_errhandler(fh, MPI_ERR_IO) == MPI_SUCCESS);
  CHECK(calls == 2 && last_code == MPI_ERR_IO);
  MPI_File_get_errhandler(fh, &now);
  CHECK(now == handler);
  MPI_Errhandler_free(&now);
  EXPECT_ERROR(MPI_Comm_set_errhandler(w, handler), MPI_ERR_ERRHANDLER, "");
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, handler) == MPI_SUCCESS);
  closed(&fh);
  MPI_File_delete("/nowhere/at/all", MPI_INFO_NULL);
  CHECK(calls == 3 && last_file == MPI_FILE_NULL && last_code == MPI_ERR_NO_SUCH_FILE);
  if (rank == 0) chmod(path, 0600);
  MPI_Barrier(w);
  fh = opened(MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_File_seek(fh, -1, MPI_SEEK_SET);
  CHECK(calls == 4 && last_file == fh);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  closed(&fh);
  gone();

  /* A device that is full. */
  if (access("/dev/full", W_OK) == 0) {
    CHECK(MPI_File_open(w, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &fh) == MPI_SUCCESS);
    EXPECT_ERROR(MPI_File_write_at(fh, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE,
                 "/dev/full");
    CHECK(MPI_File_iwrite_at(fh, 0, &x, 1, MPI_INT, &request) == MPI_SUCCESS);
    EXPECT_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE, "/dev/full");
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_File_set_info(fh, info);
    MPI_Info_free(&info);
    EXPECT_ERROR(MPI_File_write_at_all(fh, 4 * rank, &x, 1, MPI_INT, MPI_STATUS_IGNORE),
                 MPI_ERR_NO_SPACE, "/dev/full"); /* on all, whoever writes */
    closed(&fh);
  }
}

/* --- hints --- */

static void expect_hint(MPI_File fh, const char* key, const char* wanted) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL];
  int length = sizeof value, found = 0;
  CHECK(MPI_File_get_info(fh, &info) == MPI_SUCCESS);
  MPI_Info_get_string(info, key, &length, value, &found);
  if (wanted == NULL) {
    CHECK(!found);
  } else {
    CHECK(found && strcmp(value, wanted) == 0);
  }
  MPI_Info_free(&info);
}

static void hints(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "striping_unit", "1048576");
  MPI_Info_set(info, "romio_ds_read", "disable");
  MPI_Info_set(info, "ind_rd_buffer_size", "a lot"); /* no number: ignored */
  MPI_Info_set(info, "unknown_to_all", "1");
  MPI_Info_set(info, "file_perm", "600");
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  struct stat about;
  CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0600);
  expect_hint(fh, "cb_nodes", "1");
  expect_hint(fh, "cb_buffer_size", "65536");
  expect_hint(fh, "striping_unit", "1048576");
  expect_hint(fh, "romio_ds_read", "disable");
  expect_hint(fh, "romio_cb_write", "automatic");
  expect_hint(fh, "ind_rd_buffer_size", "4194304");
  expect_hint(fh, "unknown_to_all", NULL);
  MPI_Info_set(info, "romio_cb_write", "enable");
  CHECK(MPI_File_set_info(fh, info) == MPI_SUCCESS);
  expect_hint(fh, "romio_cb_write", "enable");
  MPI_Info_set(info, "collective_buffering", "false");
  CHECK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", info) == MPI_SUCCESS);
  expect_hint(fh, "romio_cb_read", "disable");
  MPI_Info_free(&info);
  closed(&fh);
  gone();
}

/* --- representations --- */

static void external32(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_Datatype mine;
  MPI_Aint extent = 0;
  /* Long numbers have 4 bytes there: the filetype shrinks with them. */
  MPI_Type_vector(2, 1, size, MPI_LONG, &mine);
  MPI_Datatype cells;
  MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){0}, (MPI_Datatype[]){mine}, &cells);
  MPI_Type_commit(&cells);
  CHECK(MPI_File_set_view(fh, 4 * rank, MPI_LONG, cells, "external32", MPI_INFO_NULL) ==
        MPI_SUCCESS);
  MPI_File_get_type_extent(fh, MPI_LONG, &extent);
  CHECK(extent == 4);
  MPI_File_get_type_extent(fh, MPI_DOUBLE, &extent);
  CHECK(extent == 8);
  long out[2] = {-1 - rank, 0x1020304}, in[4] = {0, 0, 5, 5};
  MPI_Status status;
  CHECK(MPI_File_write_all(fh, out, 2, MPI_LONG, &status) == MPI_SUCCESS);
  CHECK(bytes_of(&status) == 2 * (int)sizeof(long));
  MPI_File_sync(fh);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(slurp(there, ROOM) == 8 * size);
  CHECK(there[4 * rank] == 0xff && there[4 * rank + 3] == (unsigned char)(-1 - rank));
  const unsigned char* second = there + 4 * (size + rank);
  CHECK(second[0] == 1 && second[1] == 2 && second[2] == 3 && second[3] == 4);
  CHECK(MPI_File_read_at_all(fh, 0, in, 2, MPI_LONG, &status) == MPI_SUCCESS);
  CHECK(bytes_of(&status) == 2 * (int)sizeof(long) && in[0] == out[0] && in[1] == out[1]);
  MPI_Offset at = 0;
  MPI_File_get_byte_offset(fh, 1, &at);
  CHECK(at == 4 * rank + 4 * size);
  /* The end of the file in the middle of a datum of two numbers. */
  CHECK(MPI_File_set_view(fh, 8 * size - 4, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL) ==
        MPI_SUCCESS);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_LONG, &two);
  MPI_Type_commit(&two);
  in[1] = 77;
  CHECK(MPI_File_read_at(fh, 0, in, 1, two, &status) == MPI_SUCCESS);
  int elements = 0;
  MPI_Get_elements(&status, two, &elements);
  CHECK(elements == 1 && in[0] == 0x1020304 && in[1] == 77);
  MPI_Type_free(&two);
  MPI_Type_free(&mine);
  MPI_Type_free(&cells);
  closed(&fh);
  gone();
}

/* Numbers as eight letters each, all of them MPI_INT. */
static int extent_calls;
static int letters_extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  int bytes = 0;
  extent_calls++;
  CHECK(state == &extent_calls);
  MPI_Type_size(type, &bytes);
  *extent = 2 * bytes;
  return MPI_SUCCESS;
}
static int letters_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                         void* state) {
  const unsigned* from = (const unsigned*)user + position;
  char one[9];
  CHECK(type == MPI_INT && state == &extent_calls);
  for (int i = 0; i < count; i++) {
    snprintf(one, sizeof one, "%08x", from[i]);
    memcpy((char*)file + 8 * i, one, 8);
  }
  return from[0] == 0xdead ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static int letters_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                        void* state) {
  unsigned* to = (unsigned*)user + position;
  char one[9] = {0};
  CHECK(type == MPI_INT && state == &extent_calls);
  for (int i = 0; i < count; i++) {
    memcpy(one, (char*)file + 8 * i, 8);
    to[i] = (unsigned)strtoul(one, NULL, 16);
  }
  return MPI_SUCCESS;
}
static int letters_read_c(void* user, MPI_Datatype type, MPI_Count count, void* file,
                          MPI_Offset position, void* state) {
  return letters_read(user, type, (int)count, file, position, state);
}

static void representations_of_programs(void) {
  CHECK(MPI_Register_datarep("letters", letters_read, letters_write, letters_extent,
                             &extent_calls) == MPI_SUCCESS);
  CHECK(MPI_Register_datarep_c("letters to read", letters_read_c, MPI_CONVERSION_FN_NULL_C,
                               letters_extent, &extent_calls) == MPI_SUCCESS);
  EXPECT_ERROR(MPI_Register_datarep("letters", letters_read, letters_write, letters_extent, NULL),
               MPI_ERR_DUP_DATAREP, "letters");
  EXPECT_ERROR(MPI_Register_datarep("native", letters_read, letters_write, letters_extent, NULL),
               MPI_ERR_DUP_DATAREP, "native");
  EXPECT_ERROR(MPI_Register_datarep("x", letters_read, letters_write, NULL, NULL), MPI_ERR_ARG,
               "extents");
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_Datatype row, cells;
  MPI_Type_vector(4, 1, size, MPI_INT, &row); /* every size-th number */
  MPI_Type_create_resized(row, 0, 8 * size * 4, &cells);
  MPI_Type_commit(&cells);
  CHECK(MPI_File_set_view(fh, 8 * rank, MPI_INT, cells, "letters", MPI_INFO_NULL) == MPI_SUCCESS);
  int out[4], in[5] = {0, 0, 0, 0, 9};
  for (int i = 0; i < 4; i++) out[i] = rank * 16 + i;
  CHECK(MPI_File_write_all(fh, out, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_File_sync(fh);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(slurp(there, ROOM) == 32 * size);
  char one[9];
  snprintf(one, sizeof one, "%08x", rank * 16 + 2);
  CHECK(memcmp(there + 8 * (2 * size + rank), one, 8) == 0);
  MPI_Status status;
  CHECK(MPI_File_read_at(fh, 1, in, 3, MPI_INT, &status) == MPI_SUCCESS);
  CHECK(bytes_of(&status) == 12 && in[0] == out[1] && in[2] == out[3]);
  CHECK(MPI_File_set_view(fh, 8 * rank, MPI_INT, cells, "letters to read", MPI_INFO_NULL) ==
        MPI_SUCCESS);
  CHECK(MPI_File_read_all(fh, in, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(in[0] == out[0] && in[3] == out[3] && in[4] == 9);
  CHECK(MPI_File_set_view(fh, 8 * rank, MPI_INT, cells, "letters", MPI_INFO_NULL) == MPI_SUCCESS);
  out[0] = 0xdead;
  EXPECT_ERROR(MPI_File_write_at(fh, 0, out, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION,
               "letters");
  MPI_Type_free(&row);
  MPI_Type_free(&cells);
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
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
  const char* folder = getenv("TMPDIR");
  if (rank == 0) {
    snprintf(path, sizeof path, "%s/sinew-files-%d", folder != NULL ? folder : "/tmp",
             (int)getpid());
  }
  MPI_Bcast(&state, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("seed %llu, file %s\n", state, path);
  errors();
  sizes();
  seeks();
  what_a_view_is();
  hints();
  shared_pointer();
  in_order();
  external32();
  representations_of_programs();
  atomic_mode();
  many();
  random_accesses();
  MPI_Finalize();
  return 0;
}
