// SPDX-License-Identifier: BSD-3-Clause
// Built by others.py with Debian's HDF5 for each MPI: ranks write rows of chunked, compressed and
// plain datasets together and alone, read what another has written, and compare.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

enum { rows = 6, columns = 40 };

static int wrong;

static hid_t transfer(H5FD_mpio_xfer_t how) {
  hid_t list = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(list, how);
  return list;
}

static hid_t rows_of(hid_t set, int rank, int ranks, int stride) {
  hid_t space = H5Dget_space(set);
  hsize_t start[2] = {stride == 1 ? (hsize_t)rank * rows : (hsize_t)rank, 0};
  hsize_t steps[2] = {stride == 1 ? 1 : (hsize_t)ranks, 1};
  hsize_t count[2] = {rows, columns};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, steps, count, NULL);
  return space;
}

// Row and column of the whole; those of a rank lie together (stride 1) or in turn.
static double value_at(int rank, int ranks, int stride, int row, int column) {
  int at = stride == 1 ? rank * rows + row : row * ranks + rank;
  return at * 1000.0 + column;
}

static void write_and_read(hid_t file, const char* name, int stride, H5FD_mpio_xfer_t how,
                           int deflate) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  hsize_t all[2] = {(hsize_t)ranks * rows, columns}, chunk[2] = {4, 16}, mine[2] = {rows, columns};
  hid_t whole = H5Screate_simple(2, all, NULL), memory = H5Screate_simple(2, mine, NULL);
  hid_t made = H5Pcreate(H5P_DATASET_CREATE);
  if (deflate) {
    H5Pset_chunk(made, 2, chunk);
    H5Pset_deflate(made, 4);
  }
  // HDF5 converts what each rank writes alone, and nothing that ranks write together.
  hid_t type = how == H5FD_MPIO_COLLECTIVE ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64BE;
  hid_t set = H5Dcreate2(file, name, type, whole, H5P_DEFAULT, made, H5P_DEFAULT);
  hid_t list = transfer(how);
  static double data[rows][columns];
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      data[i][j] = value_at(rank, ranks, stride, i, j);
    }
  }
  hid_t space = rows_of(set, rank, ranks, stride);
  int failed = H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, list, data) < 0;
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  MPI_Barrier(MPI_COMM_WORLD);
  int other = (rank + 1) % ranks;
  hid_t theirs = rows_of(set, other, ranks, stride);
  failed |= H5Dread(set, H5T_NATIVE_DOUBLE, memory, theirs, list, data) < 0;
  double sum = 0, total = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      failed |= data[i][j] != value_at(other, ranks, stride, i, j);
      sum += data[i][j];
    }
  }
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s: sum %.1f, %s\n", name, total, failed ? "wrong" : "right");
  }
  wrong |= failed;
  hid_t spaces[] = {space, theirs, whole, memory};
  for (int i = 0; i < 4; ++i) {
    H5Sclose(spaces[i]);
  }
  H5Pclose(made);
  H5Pclose(list);
  H5Dclose(set);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate("check.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  write_and_read(file, "blocks, each alone", 1, H5FD_MPIO_INDEPENDENT, 0);
  write_and_read(file, "blocks, together", 1, H5FD_MPIO_COLLECTIVE, 0);
  write_and_read(file, "rows in turn, each alone", 2, H5FD_MPIO_INDEPENDENT, 0);
  write_and_read(file, "rows in turn, together", 2, H5FD_MPIO_COLLECTIVE, 0);
  write_and_read(file, "compressed blocks", 1, H5FD_MPIO_COLLECTIVE, 1);
  write_and_read(file, "compressed rows in turn", 2, H5FD_MPIO_COLLECTIVE, 1);
  H5Fclose(file);
  H5Pclose(access);
  MPI_Finalize();
  return wrong;
}
