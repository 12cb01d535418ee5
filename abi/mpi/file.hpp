// SPDX-License-Identifier: BSD-3-Clause
// Files behind their handles (MPI-5.0 chapter 14), over the module io.
#pragma once

#include <memory>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/file_datarep.hpp"
#include "sinew/io/file.hpp"

namespace sinew::mpi {

/// What MPI_File_set_view has set, as MPI_File_get_view gives it back.
struct view_arguments {
  MPI_Datatype etype = MPI_BYTE;  ///< these two: references are held
  MPI_Datatype filetype = MPI_BYTE;
  const datarep* representation = nullptr;
};

struct file_object : object {
  static constexpr kind tag = kind::file;
  file_object() : object(tag) {}
  ~file_object();

  comm_object* comm = nullptr;  ///< its own, of the file's ranks; has its error handler
  std::unique_ptr<io::file> opened;
  int amode = 0;
  view_arguments seen_as;
};

/// Throws MPI_ERR_FILE, for the handler of MPI_FILE_NULL.
[[nodiscard]] file_object& file_of(MPI_File handle);

/// The error class of what a call on a file has met.
[[nodiscard]] int code_of(io::error_kind met) noexcept;
/// In a catch clause: throws on what is caught, as a failure that the handler of the file decides;
/// `comm`: the file's, null for MPI_FILE_NULL. Cold.
[[noreturn, gnu::cold]] void fail_for_file(comm_object* comm);

/// Runs a call on a file: what goes wrong is for the file's error handler.
template <class Call>
int on_file(MPI_File fh, Call call) {
  file_object& f = file_of(fh);
  try {
    return call(f);
  } catch (...) {
    fail_for_file(f.comm);
  }
}
/// A call that has no file yet.
template <class Call>
int on_no_file(Call call) {
  try {
    return call();
  } catch (...) {
    fail_for_file(nullptr);
  }
}

}  // namespace sinew::mpi
