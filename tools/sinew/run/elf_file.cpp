// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/elf_file.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace sinew::tool {
namespace {

constexpr std::size_t most_bytes = 64 << 20;

struct machine_name {
  Elf64_Half number;
  const char* name;
};
constexpr std::array machines = {
    machine_name{EM_X86_64, "x86-64"},      machine_name{EM_386, "32-bit x86"},
    machine_name{EM_AARCH64, "64-bit ARM"}, machine_name{EM_ARM, "32-bit ARM"},
    machine_name{EM_PPC64, "64-bit Power"}, machine_name{EM_RISCV, "RISC-V"},
    machine_name{EM_S390, "S/390"}};

std::string name_of(Elf64_Half machine) {
  for (const machine_name& each : machines) {
    if (each.number == machine) {
      return each.name;
    }
  }
  return "processor number " + std::to_string(machine);
}

#if defined(__x86_64__)
constexpr Elf64_Half own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half own_machine = EM_AARCH64;
#else
constexpr Elf64_Half own_machine = EM_NONE;
#endif

}  // namespace

std::string why_not_executable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 128> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view start(bytes.data(), static_cast<std::size_t>(file.gcount()));
  if (!start.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    // As shells decide: a zero byte in the first line is no text.
    const bool text = start.substr(0, start.find('\n')).find('\0') == std::string_view::npos;
    return text ? "" : "it is neither a program of this system nor a script";
  }
  Elf64_Ehdr head{};
  std::memcpy(&head, bytes.data(), sizeof head);  // e_type and e_machine lie alike in both classes
  if (start.size() > offsetof(Elf64_Ehdr, e_machine) + 1 && own_machine != EM_NONE) {
    const bool swapped = head.e_ident[EI_DATA] != ELFDATA2LSB;
    const Elf64_Half machine =
        swapped ? static_cast<Elf64_Half>(head.e_machine << 8 | head.e_machine >> 8)
                : head.e_machine;
    if (machine != own_machine || swapped) {
      return "it is built for " + name_of(machine) + ", and this machine is " +
             name_of(own_machine) + "; build it here";
    }
    if (head.e_type != ET_EXEC && head.e_type != ET_DYN) {
      return "it is an ELF file but no program (an object file is not linked yet)";
    }
  }
  return "it is damaged: its ELF headers make no sense or lie beyond its end; build or copy it "
         "again";
}

std::string why_environment_is_ignored(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return "runs with another user's or group's rights";
  }
  return ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0 ? "has file capabilities"
                                                                         : "";
}

elf_file::elf_file(const std::string& path) : file_(path, std::ios::binary) {
  if (read_bytes(0, &head_, sizeof head_) && std::memcmp(head_.e_ident, ELFMAG, SELFMAG) == 0 &&
      head_.e_ident[EI_CLASS] == ELFCLASS64 && head_.e_phentsize == sizeof(Elf64_Phdr)) {
    parts_.resize(head_.e_phnum);
    is_elf_ = read_bytes(head_.e_phoff, parts_.data(), parts_.size() * sizeof(Elf64_Phdr));
  }
}

bool elf_file::is_of_this_machine() const { return head_.e_machine == own_machine; }

std::string elf_file::interpreter() {
  const Elf64_Phdr* part = find(PT_INTERP);
  return part == nullptr ? std::string() : text_at(part->p_offset);
}

template <class T>
std::vector<T> elf_file::table_at(Elf64_Off at, Elf64_Xword bytes) {
  std::vector<T> table(bytes <= most_bytes ? bytes / sizeof(T) : 0);
  if (!read_bytes(at, table.data(), table.size() * sizeof(T))) {
    table.clear();
  }
  return table;
}

std::vector<Elf64_Dyn> elf_file::dynamic_entries() {
  const Elf64_Phdr* part = find(PT_DYNAMIC);
  return part == nullptr ? std::vector<Elf64_Dyn>()
                         : table_at<Elf64_Dyn>(part->p_offset, part->p_filesz);
}

bool elf_file::is_static() {
  if (find(PT_INTERP) != nullptr) {
    return false;
  }
  const std::vector<Elf64_Dyn> entries = dynamic_entries();
  return head_.e_type == ET_EXEC ||
         std::any_of(entries.begin(), entries.end(), [](const Elf64_Dyn& each) {
           return each.d_tag == DT_FLAGS_1 && (each.d_un.d_val & DF_1_PIE) != 0;
         });
}

std::vector<std::string> elf_file::needed() {
  std::vector<std::string> names;
  const std::vector<Elf64_Dyn> entries = dynamic_entries();
  std::optional<Elf64_Off> strings;
  for (const Elf64_Dyn& each : entries) {
    if (each.d_tag == DT_STRTAB) {
      strings = offset_of(each.d_un.d_ptr);
    }
  }
  for (const Elf64_Dyn& each : entries) {
    if (each.d_tag == DT_NEEDED && strings) {
      names.push_back(text_at(*strings + each.d_un.d_val));
    }
  }
  return names;
}

std::vector<std::string> elf_file::imports() {
  std::vector<std::string> names;
  const auto sections =
      table_at<Elf64_Shdr>(head_.e_shoff, Elf64_Xword{head_.e_shnum} * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& each : sections) {
    if (each.sh_type != SHT_DYNSYM || each.sh_link >= sections.size()) {
      continue;
    }
    const Elf64_Shdr& strings = sections[each.sh_link];
    const std::vector<char> text = table_at<char>(strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol : table_at<Elf64_Sym>(each.sh_offset, each.sh_size)) {
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < text.size()) {
        const auto begin = text.begin() + symbol.st_name;
        names.emplace_back(begin, std::find(begin, text.end(), '\0'));
      }
    }
  }
  return names;
}

bool elf_file::read_bytes(Elf64_Off at, void* to, std::size_t bytes) {
  file_.clear();
  return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(at))) &&
         static_cast<bool>(file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
}

const Elf64_Phdr* elf_file::find(Elf64_Word type) const {
  for (const Elf64_Phdr& each : parts_) {
    if (each.p_type == type) {
      return &each;
    }
  }
  return nullptr;
}

std::optional<Elf64_Off> elf_file::offset_of(Elf64_Addr address) const {
  for (const Elf64_Phdr& each : parts_) {
    if (each.p_type == PT_LOAD && address >= each.p_vaddr &&
        address - each.p_vaddr < each.p_filesz) {
      return address - each.p_vaddr + each.p_offset;
    }
  }
  return std::nullopt;
}

std::string elf_file::text_at(Elf64_Off at) {
  std::array<char, 256> bytes{};
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(at));
  file_.read(bytes.data(), bytes.size() - 1);  // the file may end before
  return bytes.data();
}

}  // namespace sinew::tool
