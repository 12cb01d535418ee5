// SPDX-License-Identifier: BSD-3-Clause
// What is used of PMIx: a few functions and the types they take, by its published binary interface
// (the same in versions 2 to 6), so that neither its header nor its library is needed to build.
// tests/boot/pmix_library_test.cpp compares the types with the header where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sinew::boot::pmix {

using status = int;
inline constexpr status success = 0;
inline constexpr status unreachable = -25;
inline constexpr status lost_connection = -61;

/// A process: a job's name and the rank in it.
struct process {
  char space[256] = {};
  std::uint32_t rank = 0;
};
inline constexpr std::uint32_t any_rank = UINT32_MAX - 1;

enum class kind : std::uint16_t {
  boolean = 1,
  string = 3,
  number16 = 13,
  number32 = 14,
  bytes = 27,
  rank = 40
};

/// Only the members that are used; the union is as large as PMIx's, which has room for three words.
struct value {
  struct byte_range {
    char* data;
    std::size_t size;
  };
  kind is = kind::boolean;
  union {
    bool flag;
    char* text;
    std::uint16_t number16;
    std::uint32_t number32;
    byte_range bytes;
    void* room[3] = {};
  };
};

/// One directive. Arrays of more than one are not used: their stride is not promised.
struct directive {
  char key[512] = {};
  std::uint32_t flags = 0;
  value is;
};

enum scope : std::uint8_t { for_all = 3 };

/// The loaded library. Its functions may be called by any thread.
struct library {
  status (*init)(process*, directive*, std::size_t);
  status (*finalize)(const directive*, std::size_t);
  status (*abort)(status, const char*, process*, std::size_t);
  status (*put)(std::uint8_t, const char*, value*);
  status (*commit)();
  status (*fence)(const process*, std::size_t, const directive*, std::size_t);
  status (*get)(const process*, const char*, const directive*, std::size_t, value**);
  const char* (*error_string)(status);
  const char* (*version)();

  /// The file that SINEW_BOOT_PMIX names, or the system's, or that of the launcher's installation.
  /// Throws sinew::error. Stays loaded.
  [[nodiscard]] static const library& load();
};

/// A directive that is true.
[[nodiscard]] directive yes(const char* key) noexcept;

}  // namespace sinew::boot::pmix
