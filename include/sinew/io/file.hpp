// SPDX-License-Identifier: BSD-3-Clause
// A file that several ranks have opened together (MPI-5.0 chapter 14, without its handles): a view
// of it for each rank, an individual pointer each and a shared one, accesses alone and together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sinew/coll/collectives.hpp"
#include "sinew/io/conversion.hpp"
#include "sinew/io/failure.hpp"
#include "sinew/io/hints.hpp"
#include "sinew/io/view.hpp"

namespace sinew::io {

struct open_mode {
  bool reads = false;
  bool writes = false;
  bool creates = false;
  bool exclusive = false;   ///< it must not be there yet
  bool appends = false;     ///< pointers begin at the end
  bool sequential = false;  ///< only the shared pointer may be used
  bool deleted_on_close = false;
};

enum class direction : std::uint8_t { read, write };
/// Whether a rank does its part alone, or all ranks theirs in one collective call.
enum class form : std::uint8_t { alone, collective };
/// Where an access begins: at an offset that the call has, at one of the pointers, or in the order
/// of the ranks at the shared one (collective).
enum class begin_at : std::uint8_t { offset, individual, shared, ordered };
/// What a new position counts from; `none` is refused, on all ranks alike where that is collective.
enum class origin : std::uint8_t { begin, current, end, none };

/// An access, checked.
struct access {
  direction way;
  p2p::buffer memory;
  const conversion* by;  ///< null: the file has the bytes that memory has
  std::int64_t bytes;    ///< these two: in the file
  std::int64_t etypes;
};

/// All calls throw io::failure. Those that are collective say so; the others are for any thread.
/// Offsets and positions are in etypes of the view.
class file {
 public:
  /// Collective over `at`, which outlives the file. The hints are each rank's own, but for those
  /// that ranks plan together by, which are rank 0's. Cold.
  [[nodiscard]] static std::unique_ptr<file> open(coll::participant at, const std::string& path,
                                                  const open_mode& mode, const hint_list& hints);
  /// Not collective: what close() has not closed is given up.
  ~file();
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  /// Collective. Throws on all ranks, and the file stays open, if a split access is under way on
  /// one of them, or if `busy` on one. Else the file is closed, and this says what went wrong.
  [[nodiscard]] std::optional<failure> close(bool busy);

  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] const open_mode& mode() const noexcept;

  /// In bytes.
  [[nodiscard]] std::int64_t size() const;
  void resize(std::int64_t bytes);        ///< collective
  void reserve(std::int64_t bytes);       ///< collective: MPI_File_preallocate
  void flush();                           ///< collective
  void set_hints(const hint_list& from);  ///< collective
  [[nodiscard]] hint_list hints_in_force() const;
  void set_atomic(bool atomic);  ///< collective
  [[nodiscard]] bool atomic() const noexcept;

  /// A view that this file can have; not the file's yet.
  [[nodiscard]] file_view checked_view(std::int64_t displacement, std::size_t etype_bytes,
                                       const layout::datatype& filetype) const;
  /// Collective, after all ranks have checked theirs. Both pointers begin anew.
  void set_view(file_view view, const hint_list& hints);
  [[nodiscard]] const file_view& view() const noexcept;
  /// The byte of the file at which the shared pointer stands.
  [[nodiscard]] std::int64_t shared_offset() const;

  // --- pointers ---
  void seek(std::int64_t offset, origin from);
  [[nodiscard]] std::int64_t position() const;
  void seek_shared(std::int64_t offset, origin from);  ///< collective
  [[nodiscard]] std::int64_t shared_position() const;
  /// Of an etype in the file, in bytes.
  [[nodiscard]] std::int64_t byte_offset(std::int64_t offset) const;

  // --- accesses ---

  /// Throws unless this file may be accessed so, by a call with this form and beginning.
  void check_way(form how, begin_at where, std::int64_t offset) const;
  /// `each`: bytes of one instance of the memory's type in the file.
  [[nodiscard]] access checked_access(direction way, const p2p::buffer& memory, std::size_t each,
                                      const conversion* by) const;
  /// Where it begins; takes what it needs of the pointer. `offset`: of the call, if it has one.
  [[nodiscard]] std::int64_t begin(const access& a, begin_at where, std::int64_t offset);
  /// Carries it out from `position` on; returns bytes of data in memory. Suspends.
  [[nodiscard]] std::int64_t carry_out(const access& a, form how, std::int64_t position);

  /// The same in two calls, of which the first does it (collective); `end` names the second.
  void begin_split(const access& a, std::int64_t position, const char* end);
  /// The bytes in memory.
  [[nodiscard]] std::int64_t end_split(const void* buffer, const char* end);
  void check_no_split() const;

  struct state;

 private:
  explicit file(std::unique_ptr<state> made);
  /// Throws where only the shared pointer may be used.
  void check_not_sequential() const;
  void check_size(std::int64_t bytes) const;
  [[nodiscard]] std::int64_t end_in_etypes() const;
  [[nodiscard]] std::int64_t target_of(std::int64_t offset, origin from, std::int64_t now) const;
  [[nodiscard]] std::int64_t take_in_order(std::int64_t etypes);

  std::unique_ptr<state> state_;
};

/// Deletes a file by its name.
void remove(const std::string& path);

}  // namespace sinew::io
