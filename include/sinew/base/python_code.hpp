// SPDX-License-Identifier: BSD-3-Clause
// Where CPython 3.11 to 3.13 keeps what a program of it is doing, as its headers lay it out on
// machines of 64 bits; read by who looks at another process, and by a rank that is called from
// Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace sinew::base {

/// Offsets of members, in bytes.
struct python_layout {
  using address = std::uint64_t;
  unsigned minor;
  address interpreters;  ///< _PyRuntimeState: the first interpreter
  address threads;       ///< PyInterpreterState: its first thread
  address next_thread, native_id;
  address current;  ///< PyThreadState: the innermost frame, or where that is
  bool through_cframe;
  address current_in_cframe;
  address code, instruction, previous, owner;
  address first_line, line_table, instructions;  ///< PyCodeObject
  address ascii_data, wide_data;                 ///< of a str
};
/// Of a frame of the interpreter's own, which is no call of the program.
inline constexpr std::uint8_t python_owned_by_c = 3;
/// Of any object: its type.
inline constexpr std::uint64_t python_type = 8;

/// By Py_Version, as 0x030b07f0; null: of that one nothing is known.
[[nodiscard]] const python_layout* python_layout_of(std::uint64_t version) noexcept;

/// Another process's memory, or this one's where it may be gone. Cold.
class process_memory {
 public:
  using address = std::uint64_t;
  explicit process_memory(int process) noexcept : process_(process) {}

  [[nodiscard]] bool read(address from, void* into, std::size_t bytes) const noexcept;
  /// 0 where nothing can be read.
  template <class T = address>
  [[nodiscard]] T at(address from) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    return read(from, &value, sizeof value) ? value : T{};
  }
  [[nodiscard]] std::string bytes(address from, std::size_t count) const;

 private:
  int process_;
};

struct python_place {
  std::string function;
  std::string file;
  int line = 0;  ///< 0: not known
};
/// Of an instruction in a code object; nothing: that is none. Cold.
[[nodiscard]] std::optional<python_place> python_place_of(const process_memory& in,
                                                          std::uint64_t code,
                                                          std::uint64_t instruction,
                                                          const python_layout& how);

/// In which line that is, of a function that begins in `first`: `table` is co_linetable, and
/// `instruction` counts bytes. 0: in none. (CPython, Objects/locations.md.)
[[nodiscard]] int python_line(const std::string& table, int first, std::uint64_t instruction);

}  // namespace sinew::base
