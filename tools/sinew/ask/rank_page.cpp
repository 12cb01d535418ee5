// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/rank_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <utility>

#include "sinew/boot/descriptor.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::tool {
namespace {

boot::pulse* map(const std::string& file) {
  const boot::descriptor open(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct stat now{};
  if (!open || ::fstat(open.get(), &now) != 0 ||
      now.st_size != static_cast<off_t>(boot::pulse_bytes)) {
    return nullptr;
  }
  void* const at =
      ::mmap(nullptr, boot::pulse_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, open.get(), 0);
  return at != MAP_FAILED ? static_cast<boot::pulse*>(at) : nullptr;
}

template <std::size_t N>
std::string text_of(const std::array<char, N>& bytes) {
  return {bytes.data(), ::strnlen(bytes.data(), N)};
}

}  // namespace

std::optional<rank_page> rank_page::of(pid_t process) {
  namespace fs = std::filesystem;
  std::error_code failed;
  boot::pulse* found = nullptr;
  // A process that has both coarrays and MPI has two pages, and counts calls in one.
  for (fs::directory_iterator at("/proc/" + std::to_string(process) + "/fd", failed), end;
       !failed && at != end; at.increment(failed)) {
    std::error_code gone;
    const std::string file = fs::read_symlink(at->path(), gone).string();
    if (file.find("sinew-") == std::string::npos ||
        file.find(boot::pulse_label) == std::string::npos) {
      continue;
    }
    boot::pulse* const page = map(at->path().string());
    const bool is_better = page != nullptr && page->form == boot::pulse_form &&
                           (found == nullptr || page->counts_calls.load(std::memory_order_relaxed));
    if (boot::pulse* const other = is_better ? std::exchange(found, page) : page;
        other != nullptr) {
      ::munmap(other, boot::pulse_bytes);
    }
  }
  return found != nullptr ? std::optional(rank_page(found)) : std::nullopt;
}

rank_page::rank_page(rank_page&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

rank_page::~rank_page() {
  if (page_ != nullptr) {
    ::munmap(page_, boot::pulse_bytes);
  }
}

std::string rank_page::job() const { return text_of(page_->job); }
std::string rank_page::launcher() const { return text_of(page_->launcher); }

std::optional<boot::wait_report> rank_page::answer_to(int question) const {
  if (page_->answered.load(std::memory_order_acquire) != question) {
    return std::nullopt;
  }
  const auto line = boot::pmi_message::parse(text_of(page_->answer));
  return line ? boot::parse_wait_report(*line) : std::nullopt;
}

}  // namespace sinew::tool
