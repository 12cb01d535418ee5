#include "sinew/base/last_words.hpp"

#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "sinew/base/raw_write.hpp"

namespace sinew::base {

last_words& last_words::add(std::string_view text) noexcept {
  const std::size_t count = std::min(text.size(), room_.size() - used_);
  text.copy(room_.data() + used_, count);
  used_ += count;
  return *this;
}

last_words& last_words::add_number(std::uint64_t value, unsigned radix) noexcept {
  std::array<char, 64> digits{};
  std::size_t at = digits.size();
  do {
    digits[--at] = "0123456789abcdef"[value % radix];
    value /= radix;
  } while (value != 0);
  return add({digits.data() + at, digits.size() - at});
}

void last_words::write() const noexcept { raw_write(STDERR_FILENO, text()); }

void write_backtrace() noexcept {
  std::array<void*, 64> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

void prepare_last_words() noexcept {
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  constexpr std::size_t bytes = std::size_t{64} * 1024;
  void* room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    stack_t mine{};
    mine.ss_sp = room;
    mine.ss_size = bytes;
    ::sigaltstack(&mine, nullptr);
  }
}

}  // namespace sinew::base
