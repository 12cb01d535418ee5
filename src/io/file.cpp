// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing, sizes, hints, atomic mode (MPI-5.0 sections 14.2 and 14.6); views and
// pointers (14.3 and 14.4).
#include "sinew/io/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/state.hpp"
#include "sinew/base/check.hpp"
#include "sinew/io/agreement.hpp"

namespace sinew::io {
namespace {

std::string quoted(const std::string& path) { return "\"" + path + "\""; }

/// The first rank creates the file, then the others open it: where it is not there for them, hosts
/// share no folder. Throws on all ranks if one cannot.
void open_all(file::state& f) {
  const coll::participant at = f.at;
  const int flags = f.mode.reads && f.mode.writes ? O_RDWR : f.mode.writes ? O_WRONLY : O_RDONLY;
  const int create = f.mode.creates ? O_CREAT : 0;
  const auto open = [&](int more) {
    const int error = f.system.open(f.path, flags | more, f.hints.permissions);
    if (error == ENOENT && create != 0 && at.comm.rank() != 0) {
      throw failure(error_kind::no_such_file,
                    quoted(f.path) +
                        " is not there for this rank, though rank 0 has created it: use a folder "
                        "that all hosts of the job share");
    }
    if (error != 0) {
      fail_by_system(error, "open", f.path);
    }
  };
  const bool first = at.comm.rank() == 0;
  together(at, [&] {
    if (first) {
      open(create | (f.mode.creates && f.mode.exclusive ? O_EXCL : 0));
    }
  });
  if (at.comm.size() != 1) {
    together(at, [&] {
      if (!first) {
        open(0);
      }
    });
  }
}

/// Rank 0's hold for all.
void agree_on_hints(file::state& f) {
  check_collective(
      coll::bcast(f.at, p2p::buffer::of_bytes(&f.hints.shared, sizeof f.hints.shared), 0));
}

/// Rank 0 carries out a change of the file; an error is thrown on all ranks. On all of them the
/// change is complete when this returns.
template <class Change>
void by_first_rank(file::state& f, const char* doing, Change change) {
  if (f.at.comm.size() != 1) {
    check_collective(coll::barrier(f.at));  // complete what ranks have called before
  }
  together(f.at, [&] {
    const int error = f.at.comm.rank() == 0 ? change() : 0;
    if (error != 0) {
      fail_by_system(error, doing, f.path);
    }
  });
}

void check_view(const file_view& v, bool writes) {
  switch (v.wrong()) {
    case file_view::defect::negative:
      throw failure(error_kind::type, "the filetype has a negative displacement");
    case file_view::defect::backwards:
      throw failure(error_kind::type, "the displacements of the filetype do not rise");
    case file_view::defect::overlapping:
      if (writes) {
        throw failure(error_kind::type,
                      "parts of the filetype overlap, and the file may be written");
      }
      return;
    case file_view::defect::none:
      return;
  }
}

}  // namespace

file::file(std::unique_ptr<state> made) : state_(std::move(made)) {}

file::~file() {
  state_->shared.reset();
  (void)state_->system.close();
}

std::unique_ptr<file> file::open(coll::participant at, const std::string& path,
                                 const open_mode& mode, const hint_list& hints) {
  SINEW_EXPECT(mode.reads || mode.writes);
  std::unique_ptr<file> made(new file(std::make_unique<state>(at)));
  state& f = *made->state_;
  f.path = path;
  f.mode = mode;
  f.hints.take(hints);
  agree_on_hints(f);
  open_all(f);
  f.view.emplace(made->checked_view(0, 1, layout::of(layout::element::byte)));
  f.shared = io::shared_position::make(at);
  if (mode.appends) {
    const std::int64_t end = made->end_in_etypes();
    f.position.store(end, std::memory_order_relaxed);
    if (at.comm.rank() == 0) {
      f.shared->set(end);
    }
    check_collective(coll::barrier(at));
  }
  SINEW_ENSURE(f.view.has_value() && f.shared != nullptr);
  return made;
}

std::optional<failure> file::close(bool busy) {
  state& f = *state_;
  std::optional<failure> problem_met;  // if a rank has died, those that live close it all the same
  try {
    together(f.at, [&] {
      check_no_split();
      if (busy) {
        throw failure(error_kind::pending,
                      "a nonblocking access to " + quoted(f.path) + " has not been completed");
      }
    });
  } catch (const failure& e) {
    if (e.kind != error_kind::rank_died) {
      throw;
    }
    problem_met = e;
  }
  // All ranks have agreed to close: no access is under way.
  int error = f.system.close();
  if (f.mode.deleted_on_close && !problem_met) {
    check_collective(coll::barrier(f.at));
    if (f.at.comm.rank() == 0 && ::unlink(f.path.c_str()) != 0 && error == 0) {
      error = errno;
    }
    check_collective(coll::barrier(f.at));
  }
  if (error != 0 && !problem_met) {
    try {
      fail_by_system(error, "close", f.path);
    } catch (const failure& e) {
      problem_met = e;
    }
  }
  return problem_met;
}

const std::string& file::path() const noexcept { return state_->path; }
const open_mode& file::mode() const noexcept { return state_->mode; }
const file_view& file::view() const noexcept { return *state_->view; }
bool file::atomic() const noexcept { return state_->atomic_mode; }

std::int64_t file::size() const {
  const std::int64_t bytes = state_->system.size();
  if (bytes < 0) {
    fail_by_system(errno, "tell the size of", state_->path);
  }
  return bytes;
}

/// Collective.
void file::check_size(std::int64_t bytes) const {
  check_not_sequential();
  check_no_split();
  if (!state_->mode.writes) {
    throw failure(error_kind::read_only, quoted(state_->path) + " was opened for reading only");
  }
  if (!all_same(state_->at, bytes)) {
    throw failure(error_kind::not_same, "the size is not the same on all ranks");
  }
  if (bytes < 0) {
    throw failure(error_kind::argument, "the size " + std::to_string(bytes) + " is negative");
  }
}

void file::resize(std::int64_t bytes) {
  check_size(bytes);
  by_first_rank(*state_, "resize", [&] { return state_->system.resize(bytes); });
}

void file::reserve(std::int64_t bytes) {
  check_size(bytes);
  by_first_rank(*state_, "reserve room for",
                [&] { return bytes == 0 ? 0 : state_->system.reserve(bytes); });
}

void file::flush() {
  check_no_split();
  // On one node: the system flushes what any process has written to the file.
  by_first_rank(*state_, "flush", [&] { return state_->system.flush(); });
}

void file::set_hints(const hint_list& from) {
  state_->hints.take(from);
  agree_on_hints(*state_);
}

hint_list file::hints_in_force() const { return state_->hints.in_force(state_->at.comm.size()); }

void file::set_atomic(bool atomic) {
  check_no_split();
  // Also keeps accesses of the one mode from those of the other.
  if (!all_same(state_->at, atomic ? 1 : 0)) {
    throw failure(error_kind::not_same, "the flag is not the same on all ranks");
  }
  state_->atomic_mode = atomic;
}

file_view file::checked_view(std::int64_t displacement, std::size_t etype_bytes,
                             const layout::datatype& filetype) const {
  if (etype_bytes == 0) {
    throw failure(error_kind::type, "the etype has no data");
  }
  if (filetype.size() % etype_bytes != 0) {
    throw failure(error_kind::type, "the filetype (" + std::to_string(filetype.size()) +
                                        " bytes) is not made of etypes (" +
                                        std::to_string(etype_bytes) + " bytes)");
  }
  file_view made(displacement, static_cast<std::int64_t>(etype_bytes), filetype);
  check_view(made, state_->mode.writes);
  return made;
}

void file::set_view(file_view view, const hint_list& hints) {
  state& f = *state_;
  f.view.emplace(std::move(view));
  f.position.store(0, std::memory_order_relaxed);
  f.hints.take(hints);
  // The ranks have checked their views: all have read the shared pointer, and none has moved it.
  if (f.at.comm.rank() == 0) {
    f.shared->set(0);
  }
  agree_on_hints(f);
}

std::int64_t file::shared_offset() const {
  return state_->view->offset_of(state_->shared->get() * state_->view->etype_bytes());
}

/// The first etype of which no byte is in the file.
std::int64_t file::end_in_etypes() const {
  const file_view& v = *state_->view;
  return (v.bytes_before(size()) + v.etype_bytes() - 1) / v.etype_bytes();
}

/// The position that a seek leads to. `now`: the pointer.
std::int64_t file::target_of(std::int64_t offset, origin from, std::int64_t now) const {
  if (from == origin::none) {
    throw failure(error_kind::argument,
                  "the offset counts from none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END");
  }
  const std::int64_t base = from == origin::begin     ? 0
                            : from == origin::current ? now
                                                      : end_in_etypes();
  std::int64_t to = 0;
  if (__builtin_add_overflow(base, offset, &to) || to < 0) {
    throw failure(error_kind::argument, "the place " + std::to_string(offset) + " etypes from " +
                                            std::to_string(base) +
                                            " is before the view's begin or too far");
  }
  SINEW_ENSURE(to >= 0);
  return to;
}

void file::seek(std::int64_t offset, origin from) {
  check_not_sequential();
  const std::int64_t now = state_->position.load(std::memory_order_relaxed);
  state_->position.store(target_of(offset, from, now), std::memory_order_relaxed);
}

std::int64_t file::position() const {
  check_not_sequential();
  return state_->position.load(std::memory_order_relaxed);
}

void file::seek_shared(std::int64_t offset, origin from) {
  check_not_sequential();
  check_no_split();
  const coll::participant at = state_->at;
  if (!all_same(at, offset) || !all_same(at, static_cast<std::int64_t>(from))) {
    throw failure(error_kind::not_same,
                  "the offset or what it counts from is not the same on all ranks");
  }
  together(at, [&] {
    if (at.comm.rank() == 0) {
      state_->shared->set(target_of(offset, from, state_->shared->get()));
    }
  });
}

std::int64_t file::shared_position() const {
  check_not_sequential();
  return state_->shared->get();
}

std::int64_t file::byte_offset(std::int64_t offset) const {
  check_way(form::alone, begin_at::offset, offset);
  const file_view& v = *state_->view;
  std::int64_t position = 0;
  if ((v.empty() && offset != 0) || __builtin_mul_overflow(offset, v.etype_bytes(), &position)) {
    throw failure(error_kind::argument, "the view has no etype " + std::to_string(offset));
  }
  return v.offset_of(position);
}

void remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    fail_by_system(errno, "delete", path);
  }
}

}  // namespace sinew::io
