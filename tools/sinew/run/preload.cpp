#include "sinew/run/preload.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "sinew/run/rank_process.hpp"

namespace sinew::tool {
namespace {

constexpr std::string_view library = "libsinew_threads.so";

/// What can be read of a dynamically linked x86-64 program. Everything in the file is checked
/// before it is used: it may be no ELF file at all.
class elf_file {
 public:
  explicit elf_file(const std::string& path) : file_(path, std::ios::binary) {
    if (read(0, head_) && std::memcmp(head_.e_ident, ELFMAG, SELFMAG) == 0 &&
        head_.e_ident[EI_CLASS] == ELFCLASS64 && head_.e_phentsize == sizeof(Elf64_Phdr)) {
      parts_.resize(head_.e_phnum);
      is_elf_ = read_bytes(head_.e_phoff, parts_.data(), parts_.size() * sizeof(Elf64_Phdr));
    }
  }

  [[nodiscard]] bool is_elf() const { return is_elf_; }
  [[nodiscard]] bool is_x86_64() const { return head_.e_machine == EM_X86_64; }

  /// The dynamic linker's path; empty for a static program.
  [[nodiscard]] std::string interpreter() {
    const Elf64_Phdr* part = find(PT_INTERP);
    return part == nullptr ? std::string() : text_at(part->p_offset);
  }

  /// Libraries that it names itself.
  [[nodiscard]] std::vector<std::string> needed() {
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

 private:
  static constexpr std::size_t most_bytes = 1 << 20;

  bool read_bytes(Elf64_Off at, void* to, std::size_t bytes) {
    file_.clear();
    return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(at))) &&
           static_cast<bool>(
               file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
  }
  template <class T>
  bool read(Elf64_Off at, T& to) {
    return read_bytes(at, &to, sizeof to);
  }

  [[nodiscard]] const Elf64_Phdr* find(Elf64_Word type) const {
    for (const Elf64_Phdr& each : parts_) {
      if (each.p_type == type) {
        return &each;
      }
    }
    return nullptr;
  }

  [[nodiscard]] std::optional<Elf64_Off> offset_of(Elf64_Addr address) const {
    for (const Elf64_Phdr& each : parts_) {
      if (each.p_type == PT_LOAD && address >= each.p_vaddr &&
          address - each.p_vaddr < each.p_filesz) {
        return address - each.p_vaddr + each.p_offset;
      }
    }
    return std::nullopt;
  }

  std::string text_at(Elf64_Off at) {
    std::array<char, 256> bytes{};
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(bytes.data(), bytes.size() - 1);  // the file may end before
    return bytes.data();
  }

  std::ifstream file_;
  Elf64_Ehdr head_{};
  std::vector<Elf64_Phdr> parts_;
  bool is_elf_ = false;
};

/// The program behind "#!", or empty.
std::string script_interpreter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!")) {
    return {};
  }
  std::istringstream words(line.substr(2));
  std::string program;
  words >> program;
  if (program.ends_with("/env")) {
    std::string name;
    words >> name;
    return name.empty() ? program : find_program(name).path;
  }
  return program;
}

std::string why_not_elf(const std::string& program) {
  elf_file elf(program);
  if (!elf.is_elf()) {
    return "is no program of this machine (ELF, 64 bits)";
  }
  if (!elf.is_x86_64()) {
    return "is built for another processor than x86-64";
  }
  const std::string linker = elf.interpreter();
  if (linker.empty()) {
    return "is statically linked: nothing can be put in front of its C library";
  }
  if (!linker.ends_with("/ld-linux-x86-64.so.2")) {
    return "uses another C library than glibc (" + linker + ")";
  }
  for (const std::string& name : elf.needed()) {
    for (const std::string_view mark :
         {"libasan.", "libtsan.", "libubsan.", "liblsan.", "libhwasan."}) {
      if (name.starts_with(mark)) {
        return "is built with a sanitizer (" + name + "), which follows kernel threads only";
      }
    }
    for (const std::string_view mark : {"libgomp.", "libomp.", "libiomp5."}) {
      if (name.starts_with(mark)) {
        return "uses OpenMP (" + name + "), whose threads wait without giving the processor away";
      }
    }
  }
  return {};
}

}  // namespace

std::string why_no_fibers(const std::string& program) {
  struct stat about{};
  if (::stat(program.c_str(), &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return "runs with another user's or group's rights, so nothing may be loaded in front of it";
  }
  if (::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0) {
    return "has file capabilities, so nothing may be loaded in front of it";
  }
  const std::string interpreter = script_interpreter(program);
  // One step: the kernel, too, wants a script's interpreter to be a program.
  return interpreter.empty() ? why_not_elf(program) : why_not_elf(interpreter);
}

std::string preload_value(const std::string& folder, const std::string& before) {
  return folder + "/" + std::string(library) + (before.empty() ? "" : ":" + before);
}

bool has_thread_library(const std::string& folder) {
  return !folder.empty() && ::access((folder + "/" + std::string(library)).c_str(), R_OK) == 0;
}

}  // namespace sinew::tool
