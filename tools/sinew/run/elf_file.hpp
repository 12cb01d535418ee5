// SPDX-License-Identifier: BSD-3-Clause
// What a program's file says about how it is to be loaded.
#pragma once

#include <elf.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace sinew::tool {

/// Why the kernel does not execute this file, for people, when it has said so (ENOEXEC): of another
/// processor, or damaged. Empty if it is no program at all but a text, which a shell may read.
[[nodiscard]] std::string why_not_executable(const std::string& path);

/// Why the dynamic linker takes no variable of the environment for this program, and loads nothing
/// in front of it: "has file capabilities". Else empty.
[[nodiscard]] std::string why_environment_is_ignored(const std::string& path);

/// A program or library of 64 bits. Everything in the file is checked before it is used: it
/// may be no ELF file at all.
class elf_file {
 public:
  explicit elf_file(const std::string& path);

  [[nodiscard]] bool is_elf() const { return is_elf_; }
  [[nodiscard]] bool is_of_this_machine() const;
  [[nodiscard]] bool is_x86_64() const { return head_.e_machine == EM_X86_64; }
  /// A program that no dynamic linker loads.
  [[nodiscard]] bool is_static();
  /// The dynamic linker's path; empty for a static program, and for most libraries.
  [[nodiscard]] std::string interpreter();
  /// Libraries that it names itself.
  [[nodiscard]] std::vector<std::string> needed();
  /// Functions and data that it takes from libraries.
  [[nodiscard]] std::vector<std::string> imports();

 private:
  bool read_bytes(Elf64_Off at, void* to, std::size_t bytes);
  [[nodiscard]] const Elf64_Phdr* find(Elf64_Word type) const;
  [[nodiscard]] std::optional<Elf64_Off> offset_of(Elf64_Addr address) const;
  std::string text_at(Elf64_Off at);
  [[nodiscard]] std::vector<Elf64_Dyn> dynamic_entries();
  template <class T>
  [[nodiscard]] std::vector<T> table_at(Elf64_Off at, Elf64_Xword bytes);

  std::ifstream file_;
  Elf64_Ehdr head_{};
  std::vector<Elf64_Phdr> parts_;
  bool is_elf_ = false;
};

}  // namespace sinew::tool
