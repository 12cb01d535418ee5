// SPDX-License-Identifier: BSD-3-Clause
// What a rank does, call by call, for those who listen: SINEW_MPI_CHECK, the profile, and who looks
// at its pulse. While nobody does this costs nothing: is_open() then, and the bindings go straight
// on. Else each function of the binding runs inside a `call`, which the generator describes from
// the data of the standard.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/mpi/world.hpp"

namespace sinew::mpi::watch {

inline constexpr int nobody = MPI_PROC_NULL;

/// What a call reads or writes: `count` of a type, so many times.
struct amount {
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int times = 1;

  /// 0 if an argument is wrong.
  [[nodiscard]] std::size_t bytes() const noexcept;
};
/// How much several blocks of one type are, or of a type each; null: none.
[[nodiscard]] amount sum(const MPI_Count* counts, MPI_Datatype type, int blocks) noexcept;
[[nodiscard]] amount sum(const MPI_Count* counts, const MPI_Datatype* types, int blocks) noexcept;

/// What a call is for.
enum class group : std::uint8_t { message, wait, collective, one_sided, file, other };
inline constexpr std::size_t groups = 6;
inline constexpr std::array<const char*, groups> group_names = {"message",   "wait", "collective",
                                                                "one-sided", "file", "other"};

/// What of the amounts in a call's arguments moves in the call. `as_root`: at the root.
enum class flow : std::uint8_t { none, always, as_root, as_other };

/// Whom a call's `peer` names, as far as messages are meant.
enum class named : std::uint8_t { none, target, source };

/// Who waits for whom in a collective.
enum class meeting : std::uint8_t {
  none,
  all,           ///< everybody for everybody
  root_for_all,  ///< the root
  all_for_root,  ///< everybody for the root
  all_for_lower  ///< everybody for the ranks below
};

/// Which accesses of its window are complete behind it: those to `peer`, or, where it names
/// nobody, all. `locally`: the origin's memory may be used again.
enum class completion : std::uint8_t { nothing, locally, remotely };

/// By the function alone.
struct nature {
  group of = group::other;
  flow sends = flow::always;
  flow receives = flow::always;
  named peer = named::none;
  bool waits = false;  ///< until a message has come that it has asked for
  meeting meets = meeting::none;
  completion completes = completion::nothing;
  bool informs = false;  ///< a call of a window after which a rank may know what others have done
};

/// What a call says of itself; the arguments may be wrong still.
struct arguments {
  caller from;
  const watch::nature& nature;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_File file = MPI_FILE_NULL;
  int peer = nobody;  ///< dest, target, root, or source of what only receives
  int tag = MPI_ANY_TAG;
  amount sends{};
  amount receives{};

  /// What moves in this call, as far as the arguments say; nothing to or from nobody.
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept;
  [[nodiscard]] std::uint64_t bytes_received() const noexcept;
};

enum class handle_kind : std::uint8_t { comm, group, type, op, request, window, file, message };

/// Handles that a call makes, or may end.
struct handles {
  handle_kind kind;
  void** first;
  int count;
  bool may_end;
  void* was;                ///< the first one, before the call
  std::vector<void*> were;  ///< the others, where there are several

  [[nodiscard]] void* before(int i) const noexcept {
    return i == 0 ? was : were[static_cast<std::size_t>(i)];
  }
};

/// Lives while the call runs, on its caller's stack; the program's other threads and fibers may be
/// in calls of their own.
class call {
 public:
  /// Throws if MPI does not run.
  explicit call(const arguments& given);
  ~call();
  call(const call&) = delete;
  call& operator=(const call&) = delete;

  /// Before the call runs. `handle` is an argument of the program, and may be null. A call has at
  /// most two such arguments.
  template <class Handle>
  void makes(Handle* handle) {
    add(kind_of(handle), reinterpret_cast<void**>(handle), 1, false);
  }
  template <class Handle>
  void may_end(Handle* handle, int count = 1) {
    add(kind_of(handle), reinterpret_cast<void**>(handle), count, true);
  }
  /// Once it has run. Gives back `code`; throws what a check has found.
  int end(int code);

  const char* const name;  ///< "MPI_Send", "MPI_Send_c"
  const arguments given;
  const void* const site;    ///< where the program has called: behind that call
  const std::int64_t began;  ///< moment()
  bool succeeded = false;    ///< it has ended well; else what it was to make is not there
  std::array<handles, 2> touched;
  int touched_count = 0;
  std::int64_t counted_since = 0;  ///< for the pulse; 0: nobody looks at it
  bool awaits_message = false;     ///< one of its requests receives still; for the profile

 private:
  static handle_kind kind_of(const MPI_Comm*) noexcept { return handle_kind::comm; }
  static handle_kind kind_of(const MPI_Group*) noexcept { return handle_kind::group; }
  static handle_kind kind_of(const MPI_Datatype*) noexcept { return handle_kind::type; }
  static handle_kind kind_of(const MPI_Op*) noexcept { return handle_kind::op; }
  static handle_kind kind_of(const MPI_Request*) noexcept { return handle_kind::request; }
  static handle_kind kind_of(const MPI_Win*) noexcept { return handle_kind::window; }
  static handle_kind kind_of(const MPI_File*) noexcept { return handle_kind::file; }
  static handle_kind kind_of(const MPI_Message*) noexcept { return handle_kind::message; }
  void add(handle_kind kind, void** first, int count, bool may_end);

  bool ended_ = false;
};

/// Whether anybody listens all the time: settled when MPI is initialised. Any thread.
[[nodiscard]] bool wanted() noexcept;

}  // namespace sinew::mpi::watch
