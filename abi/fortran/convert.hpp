// SPDX-License-Identifier: BSD-3-Clause
// What Fortran passes, as C's MPI wants it, and back. Each object lives as long as one call.
//
// A handle is an INTEGER, which mpi_f08's types have as their only component, and a status has C's
// layout in all interfaces: so one procedure serves mpif.h, module mpi and, where no choice buffer
// is passed, module mpi_f08.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/scratch.hpp"

// What a handle is in Fortran, which addresses are special and how mpi_f08's procedures are called,
// in the ABI that this is compiled for: the standard's, or another library's (abi/foreign).
#ifdef SINEW_FORTRAN_ABI
#include SINEW_FORTRAN_ABI
#else
#include "abi/fortran/standard.hpp"
#endif

// The sources that are generated, and those by hand, are compiled twice: see generate/bodies.py.
#ifdef SINEW_FORTRAN_PROFILING
#define FORTRAN(name) pmpi_##name##_
#define F08_NAME(name) F08_PROFILING(name)
#define MPI(name) PMPI_##name
#else
#define FORTRAN(name) mpi_##name##_
#define F08_NAME(name) mpi_##name##_
#define MPI(name) MPI_##name
#endif
// Names of mpi_f08's procedures: without and with descriptors of choice buffers (MPI-5.0 section
// 19.1.5), and of both those with large counts.
#define F08(name) F08_NAME(name##_f08)
#define F08TS(name) F08_NAME(name##_f08ts)
#define F08_C(name) F08_NAME(name##_c_f08)
#define F08TS_C(name) F08_NAME(name##_c_f08ts)
#define SINEW_TEXT_OF(name) #name
#define SINEW_TEXT(name) SINEW_TEXT_OF(name)
/// Another external name of the procedure FORTRAN(name).
#define SAME_AS(name) [[gnu::alias(SINEW_TEXT(FORTRAN(name)))]]
/// The same without its parameters: `other` is a name of `procedure`, too.
#define ALSO_NAMED(procedure, other) \
  asm(".globl " SINEW_TEXT(other) "\n.set " SINEW_TEXT(other) ", " SINEW_TEXT(procedure));

extern "C" {

/// .TRUE. and .FALSE. of the compiler that made the library (values.f90).
extern const int mpi_fortran_true;
extern const int mpi_fortran_false;

}  // extern "C"

namespace sinew::fortran {

using sinew::scratch;  // for the procedures, which are in no namespace
using callback = void();

// --- handles -------------------------------------------------------------------------------------

/// A handle that C writes; also if the call fails, when it is the null handle.
template <class Handle>
class handle_out {
 public:
  explicit handle_out(int* to) : to_(to), value_(unset<Handle>(to)) {}
  handle_out(const handle_out&) = delete;
  handle_out& operator=(const handle_out&) = delete;
  ~handle_out() { *to_ = to_fortran(value_); }
  Handle* at() { return &value_; }

 private:
  int* to_;
  Handle value_;
};

/// A handle that C reads and may write.
template <class Handle>
class handle_inout {
 public:
  explicit handle_inout(int* at) : at_(at), value_(from_fortran<Handle>(at)), before_(value_) {}
  explicit handle_inout(const int* at) : handle_inout(const_cast<int*>(at)) {}
  handle_inout(const handle_inout&) = delete;
  handle_inout& operator=(const handle_inout&) = delete;
  ~handle_inout() {
    if (value_ != before_) {
      *at_ = to_fortran(value_);
    }
  }
  Handle* at() { return &value_; }

 private:
  int* at_;
  Handle value_;
  Handle before_;
};

template <class Handle>
class handles_in : public scratch<Handle> {
 public:
  handles_in(const int* from, long count) : scratch<Handle>(count) {
    for (std::size_t i = 0; i < this->size(); ++i) {
      (*this)[i] = from_fortran<Handle>(from + i);
    }
  }
};

template <class Handle>
class handles_inout : public scratch<Handle> {
 public:
  handles_inout(int* at, long count) : scratch<Handle>(count), at_(at) {
    for (std::size_t i = 0; i < this->size(); ++i) {
      (*this)[i] = from_fortran<Handle>(at + i);
    }
  }
  handles_inout(const int* at, long count) : handles_inout(const_cast<int*>(at), count) {}
  handles_inout(const handles_inout&) = delete;
  handles_inout& operator=(const handles_inout&) = delete;
  ~handles_inout() {
    for (std::size_t i = 0; i < this->size(); ++i) {
      const int now = to_fortran((*this)[i]);
      if (at_[i] != now) {
        at_[i] = now;
      }
    }
  }

 private:
  int* at_;
};

/// How many ranks a collective with arrays of datatypes sends to, or receives from.
int out_peers(const int* comm, bool of_neighbours);
int in_peers(const int* comm, bool of_neighbours);
/// Of a Cartesian communicator.
int dimensions(const int* comm);

// --- numbers -------------------------------------------------------------------------------------

inline void done(int* ierror, int code) {
  if (ierror != nullptr) {
    *ierror = code;
  }
}

/// A compiler may have several values that are true; gfortran tests the lowest bit.
inline int truth(int logical) { return logical != mpi_fortran_false ? 1 : 0; }
inline int logical(int truth) { return truth != 0 ? mpi_fortran_true : mpi_fortran_false; }

class logical_out {
 public:
  explicit logical_out(int* to) : to_(to), value_(truth(*to)) {}
  logical_out(const logical_out&) = delete;
  logical_out& operator=(const logical_out&) = delete;
  ~logical_out() { *to_ = logical(value_); }
  int* at() { return &value_; }

 private:
  int* to_;
  int value_;
};

class logicals_in : public scratch<int> {
 public:
  logicals_in(const int* from, long count) : scratch(count) {
    for (std::size_t i = 0; i < size(); ++i) {
      (*this)[i] = truth(from[i]);
    }
  }
};

/// Entries that C leaves alone stay as they are.
class logicals_out : public scratch<int> {
 public:
  logicals_out(int* to, long count) : scratch(count), to_(to) {
    for (std::size_t i = 0; i < size(); ++i) {
      (*this)[i] = untouched;
    }
  }
  logicals_out(const logicals_out&) = delete;
  logicals_out& operator=(const logicals_out&) = delete;
  ~logicals_out() {
    for (std::size_t i = 0; i < size(); ++i) {
      if ((*this)[i] != untouched) {
        to_[i] = logical((*this)[i]);
      }
    }
  }

 private:
  static constexpr int untouched = -1;  // C's flags are 0 and 1
  int* to_;
};

/// Fortran counts from 1.
class index_out {
 public:
  explicit index_out(int* to) : to_(to) {}
  index_out(const index_out&) = delete;
  index_out& operator=(const index_out&) = delete;
  ~index_out() { *to_ = value_ == MPI_UNDEFINED ? MPI_UNDEFINED : value_ + 1; }
  int* at() { return &value_; }

 private:
  int* to_;
  int value_ = MPI_UNDEFINED;
};

/// `written`: how many of the at most `most` entries C has written, once it has.
class indices_out {
 public:
  indices_out(int* to, const int* written, int most) : to_(to), written_(written), most_(most) {
    *const_cast<int*>(written) = 0;
  }
  indices_out(const indices_out&) = delete;
  indices_out& operator=(const indices_out&) = delete;
  ~indices_out() {
    for (int i = 0; i < *written_ && i < most_; ++i) {
      ++to_[i];
    }
  }
  int* data() { return to_; }

 private:
  int* to_;
  const int* written_;
  int most_;
};

// --- addresses -----------------------------------------------------------------------------------

inline void* address_of(const void* buffer) {
  if (is_bottom(buffer)) [[unlikely]] {
    return MPI_BOTTOM;
  }
  if (is_in_place(buffer)) [[unlikely]] {
    return MPI_IN_PLACE;
  }
  if (is_automatic(buffer)) [[unlikely]] {
    return MPI_BUFFER_AUTOMATIC;
  }
  return const_cast<void*>(buffer);
}

inline void* address_of(const descriptor* buffer) { return address_of(base_of(*buffer)); }

inline MPI_Status* status_at(MPI_Status* status) {
  return is_status_ignore(status) ? MPI_STATUS_IGNORE : status;
}

template <class Int>
Int* weights_at(Int* weights) {
  if (is_unweighted(weights)) {
    return MPI_UNWEIGHTED;
  }
  return is_weights_empty(weights) ? MPI_WEIGHTS_EMPTY : weights;
}

/// An array (3, n) of ranges of ranks; C does not write them.
inline int (*triples(const int* ranges))[3] {
  return reinterpret_cast<int(*)[3]>(const_cast<int*>(ranges));
}

// --- texts ---------------------------------------------------------------------------------------

/// Which blanks of a text do not count.
enum class blanks { end, both_ends };

class text_in {
 public:
  text_in(const char* from, std::size_t length, blanks trimmed);
  const char* data() { return text_.data(); }

 private:
  scratch<char> text_;
};

/// What C writes, up to `longest` bytes and a zero, is cut to Fortran's length or padded by blanks.
class text_out {
 public:
  text_out(char* to, std::size_t length, std::size_t longest)
      : to_(to), length_(length), text_(static_cast<long>(longest) + 1) {
    text_[0] = '\0';
  }
  text_out(const text_out&) = delete;
  text_out& operator=(const text_out&) = delete;
  ~text_out();
  char* data() { return text_.data(); }

 private:
  char* to_;
  std::size_t length_;
  scratch<char> text_;
};

}  // namespace sinew::fortran
