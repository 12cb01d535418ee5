// Files behind their handles (MPI-5.0 chapter 14).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/file_datarep.hpp"
#include "abi/mpi/file_hints.hpp"
#include "abi/mpi/file_shared.hpp"
#include "abi/mpi/file_view.hpp"
#include "abi/mpi/posix_file.hpp"

namespace sinew::mpi {

/// What MPI_File_set_view has set.
struct view_arguments {
  MPI_Datatype etype = MPI_BYTE;  ///< these two: references are held
  MPI_Datatype filetype = MPI_BYTE;
  const datarep* representation = nullptr;
  std::int64_t etype_bytes = 1;  ///< in the file
};

struct file_object : object {
  static constexpr kind tag = kind::file;
  file_object() : object(tag) {}
  ~file_object();

  comm_object* comm = nullptr;  ///< its own, of the file's ranks; has its error handler
  posix_file inner;
  std::string path;
  int amode = 0;
  file_hints hints;

  std::unique_ptr<file_view> view;
  view_arguments seen_as;
  /// The individual pointer, in etypes of the view. Relaxed: threads that use it at a time take
  /// turns, and hand over nothing else.
  std::atomic<std::int64_t> position{0};
  std::unique_ptr<shared_position> shared;

  bool atomic_mode = false;
  std::mutex one_thread;  ///< atomic mode: threads share the system's locks

  /// Between MPI_File_..._begin and _end. The access is over when the first returns.
  struct split_access {
    const char* end = nullptr;  ///< name of the call that is missing; null: none
    const void* buffer = nullptr;
    std::int64_t bytes = 0;
  } split;

  [[nodiscard]] bool may_read() const noexcept { return (amode & MPI_MODE_WRONLY) == 0; }
  [[nodiscard]] bool may_write() const noexcept { return (amode & MPI_MODE_RDONLY) == 0; }
};

/// Throws MPI_ERR_FILE, for the handler of MPI_FILE_NULL.
[[nodiscard]] file_object& file_of(MPI_File handle);

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

/// A view that has been checked, before all ranks have theirs.
struct new_view {
  std::unique_ptr<file_view> view;
  view_arguments seen_as;  ///< references are not held yet
};
[[nodiscard]] new_view view_of(const file_object& f, MPI_Offset displacement, MPI_Datatype etype,
                               MPI_Datatype filetype, const datarep& representation);
/// Makes it the file's; the individual pointer begins anew.
void install(file_object& f, new_view made);
/// Where MPI_SEEK_END points to, in etypes. Throws if the file's size cannot be read.
[[nodiscard]] std::int64_t end_in_etypes(const file_object& f);

/// Throws if a collective of the library has failed.
void check_collective(coll::fault f);
/// Whether all ranks bring the same number; collective.
[[nodiscard]] bool all_same(coll::participant at, std::int64_t mine);
/// The largest of all ranks' numbers; collective.
[[nodiscard]] std::int64_t largest_of(coll::participant at, std::int64_t mine);
/// If the step throws on some ranks, all ranks throw with the error class of the lowest of them;
/// the sentence is given on that rank. Collective.
template <class Step>
void together(coll::participant at, Step step);
/// The part of together() that is not a template.
void throw_together(coll::participant at, const failure* mine);

template <class Step>
void together(coll::participant at, Step step) {
  try {
    step();
  } catch (const failure& f) {
    throw_together(at, &f);
  }
  throw_together(at, nullptr);
}

/// MPI_MODE_SEQUENTIAL allows shared pointers only.
void check_not_sequential(const file_object& f);
/// No split access may be under way.
void check_no_split(const file_object& f);

}  // namespace sinew::mpi
