#include "sinew/run/elf_file.hpp"

#include <array>
#include <cstring>

namespace sinew::tool {
namespace {

constexpr std::size_t most_bytes = 1 << 20;

}  // namespace

elf_file::elf_file(const std::string& path) : file_(path, std::ios::binary) {
  if (read_bytes(0, &head_, sizeof head_) && std::memcmp(head_.e_ident, ELFMAG, SELFMAG) == 0 &&
      head_.e_ident[EI_CLASS] == ELFCLASS64 && head_.e_phentsize == sizeof(Elf64_Phdr)) {
    parts_.resize(head_.e_phnum);
    is_elf_ = read_bytes(head_.e_phoff, parts_.data(), parts_.size() * sizeof(Elf64_Phdr));
  }
}

std::string elf_file::interpreter() {
  const Elf64_Phdr* part = find(PT_INTERP);
  return part == nullptr ? std::string() : text_at(part->p_offset);
}

std::vector<std::string> elf_file::needed() {
  std::vector<std::string> names;
  const Elf64_Phdr* part = find(PT_DYNAMIC);
  if (part == nullptr || part->p_filesz > most_bytes) {
    return names;
  }
  std::vector<Elf64_Dyn> entries(part->p_filesz / sizeof(Elf64_Dyn));
  if (!read_bytes(part->p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) {
    return names;
  }
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
