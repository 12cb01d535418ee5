// SPDX-License-Identifier: BSD-3-Clause
/* Files: modes, sizes, what views may be, errors and their handlers, hints, representations of
 * data. Any rank count. */
#include "files.h"

#include <sys/stat.h>

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

/* What is wrong with views. */
static void wrong_views(MPI_File fh) {
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
  MPI_Type_free(&crossing);
  MPI_Type_free(&backwards);
  MPI_Type_free(&odd);
}

/* Who only reads may see a byte twice. The file has the numbers 0 and 1. */
static void seen_twice(void) {
  MPI_File fh = opened(MPI_MODE_RDONLY, MPI_INFO_NULL);
  MPI_Datatype crossing;
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
}

/* A rank that has no part of the file; tools ask for the offset before each access. */
static void nothing_seen(MPI_File fh) {
  MPI_Datatype nothing;
  MPI_Offset at = -1;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  CHECK(MPI_File_set_view(fh, 40, MPI_INT, nothing, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&nothing);
  CHECK(MPI_File_get_byte_offset(fh, 0, &at) == MPI_SUCCESS && at == 40);
  EXPECT_ERROR(MPI_File_get_byte_offset(fh, 1, &at), MPI_ERR_ARG, "no etype 1");
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
  wrong_views(fh);
  MPI_File_get_view(fh, &disp, &etype, &back, name);
  CHECK(disp == 24); /* nothing has changed */
  MPI_Type_free(&etype);
  MPI_Type_free(&back);
  nothing_seen(fh);
  MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  int over[] = {0, 1};
  char three[3] = {0, 0, 0};
  EXPECT_ERROR(MPI_File_write(fh, three, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "etypes");
  if (rank == 0) MPI_File_write(fh, over, 2, MPI_INT, MPI_STATUS_IGNORE);
  closed(&fh);
  MPI_Barrier(MPI_COMM_WORLD);
  seen_twice();
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

static void refused_opens(void) {
  MPI_File fh = MPI_FILE_NULL;
  MPI_Comm w = MPI_COMM_WORLD;
  char long_name[5000];
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
}

static void refused_accesses(void) {
  MPI_File fh = MPI_FILE_NULL;
  MPI_Comm w = MPI_COMM_WORLD;
  int x = 0;
  EXPECT_ERROR(MPI_File_close(&fh), MPI_ERR_FILE, "MPI_FILE_NULL");
  if (sizeof w == sizeof fh) {  /* else it is no handle of any kind */
    MPI_File wrong = MPI_FILE_NULL;
    memcpy(&wrong, &w, sizeof w < sizeof wrong ? sizeof w : sizeof wrong);
    EXPECT_ERROR(MPI_File_read(wrong, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE, "none");
  }
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
  if (rank == 0) chmod(path, 0600);
  closed(&fh);
  gone();
}

/* Handlers: of a file, and the one that new files get. */
static void handlers(void) {
  MPI_File fh = opened(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
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
  EXPECT_ERROR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_ERR_ERRHANDLER, "");
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, handler) == MPI_SUCCESS);
  closed(&fh);
  MPI_File_delete("/nowhere/at/all", MPI_INFO_NULL);
  CHECK(calls == 3 && last_file == MPI_FILE_NULL && last_code == MPI_ERR_NO_SUCH_FILE);
  MPI_Barrier(MPI_COMM_WORLD);
  fh = opened(MPI_MODE_RDWR, MPI_INFO_NULL);
  MPI_File_seek(fh, -1, MPI_SEEK_SET);
  CHECK(calls == 4 && last_file == fh);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  closed(&fh);
  gone();
}

/* A device that is full. */
static void full_device(void) {
  MPI_File fh;
  MPI_Request request;
  int x = 0;
  if (access("/dev/full", W_OK) != 0) return;
  CHECK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &fh) ==
        MPI_SUCCESS);
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
  CHECK(slurp() == 8 * size);
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
  CHECK(slurp() == 32 * size);
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

int main(int argc, char** argv) {
  begin(&argc, &argv);
  refused_opens();
  refused_accesses();
  handlers();
  full_device();
  sizes();
  what_a_view_is();
  hints();
  external32();
  representations_of_programs();
  MPI_Finalize();
  return 0;
}
