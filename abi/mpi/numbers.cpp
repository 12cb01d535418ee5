// SPDX-License-Identifier: BSD-3-Clause
// Handles as integers (MPI-5.0 section 20.4): what Fortran has of a communicator or a request. The
// conversions are on the path of every nonblocking call from Fortran, so they take no lock.
#include <array>
#include <atomic>
#include <mutex>

#include "abi/mpi/errors.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/handles.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

/// Objects that have a number: n stands for entry n - first_address. An object has the same number
/// as long as its memory is one (handles.hpp), so there are as many as there were objects at a
/// time.
class number_table {
 public:
  int number_of(object& o) {
    // Acquire: with the release in add(), so that the table has the entry of a number that is seen.
    const int known = o.number.load(std::memory_order_acquire);
    return known != 0 ? known : add(o);
  }

  [[nodiscard]] object* find(std::uintptr_t number) const {
    const std::uintptr_t entry = number - first_address;
    if (entry >= chunks * chunk) {
      return nullptr;
    }
    // Acquire: the entries are those that stood there when the chunk was put in. One that has come
    // since is known to the caller by its number, whose store came after it.
    const auto* in = chunks_[entry / chunk].load(std::memory_order_acquire);
    return in == nullptr ? nullptr : (*in)[entry % chunk].load(std::memory_order_acquire);
  }

 private:
  static constexpr std::size_t chunk = 1 << 16;
  static constexpr std::size_t chunks = 1 << 14;
  using entries = std::array<std::atomic<object*>, chunk>;
  static_assert(first_address + chunk * chunks <= INT_MAX);  // a number is an int

  int add(object& o) {
    const std::lock_guard held(lock_);
    if (const int known = o.number.load(std::memory_order_relaxed); known != 0) {
      return known;
    }
    if (count_ == chunks * chunk) {
      fail(MPI_ERR_INTERN, "all %zu integers for handles are in use", count_);
    }
    auto& in = chunks_[count_ / chunk];
    if (in.load(std::memory_order_relaxed) == nullptr) {
      in.store(new entries{}, std::memory_order_release);
    }
    (*in.load(std::memory_order_relaxed))[count_ % chunk].store(&o, std::memory_order_release);
    const int number = static_cast<int>(first_address + count_++);
    o.number.store(number, std::memory_order_release);
    SINEW_ENSURE(find(static_cast<std::uintptr_t>(number)) == &o);
    return number;
  }

  std::mutex lock_;        ///< taken to add
  std::size_t count_ = 0;  ///< under lock_
  std::array<std::atomic<entries*>, chunks> chunks_{};
};

// Never destroyed: MPI may be called while the program exits.
constinit number_table numbers;

int to_int(void* handle) {
  if (value_of(handle) < first_address) {
    return static_cast<int>(value_of(handle));
  }
  return numbers.number_of(*static_cast<object*>(handle));
}

template <class Handle>
Handle from_int(int number, Handle null) {
  const auto n = static_cast<std::uintptr_t>(number);
  if (number >= 0 && n < first_address) {
    return predefined<Handle>(n);
  }
  object* const o = number < 0 ? nullptr : numbers.find(n);
  return o != nullptr ? handle_of<Handle>(o) : null;
}

}  // namespace

#define SINEW_NUMBERS(Name, Handle, null)                          \
  int impl::Name##_toint(Handle handle) { return to_int(handle); } \
  Handle impl::Name##_fromint(int number) { return from_int<Handle>(number, null); }
SINEW_NUMBERS(Comm, MPI_Comm, MPI_COMM_NULL)
SINEW_NUMBERS(Errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL)
SINEW_NUMBERS(File, MPI_File, MPI_FILE_NULL)
SINEW_NUMBERS(Group, MPI_Group, MPI_GROUP_NULL)
SINEW_NUMBERS(Info, MPI_Info, MPI_INFO_NULL)
SINEW_NUMBERS(Message, MPI_Message, MPI_MESSAGE_NULL)
SINEW_NUMBERS(Op, MPI_Op, MPI_OP_NULL)
SINEW_NUMBERS(Request, MPI_Request, MPI_REQUEST_NULL)
SINEW_NUMBERS(Session, MPI_Session, MPI_SESSION_NULL)
SINEW_NUMBERS(Type, MPI_Datatype, MPI_DATATYPE_NULL)
SINEW_NUMBERS(Win, MPI_Win, MPI_WIN_NULL)
#undef SINEW_NUMBERS

}  // namespace sinew::mpi
