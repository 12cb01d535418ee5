// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/log.hpp"

#include <unistd.h>

#include <cstddef>
#include <new>

#include "sinew/base/raw_write.hpp"
#include "sinew/base/sentence.hpp"
#include "sinew/base/settings.hpp"

namespace sinew {
namespace {

setting<std::string> log_setting("base", "LOG", "warn", "",
                                 "which lines go to stderr: this level and the graver ones",
                                 "error|warn|info|debug", setting_use::each_use);

constexpr std::string_view names[] = {"error", "warn", "info", "debug"};

// Never destroyed: threads may still log while the program's statics go. Its place is not
// allocated: reports about exhausted memory name the rank too.
std::string& identity() noexcept {
  alignas(std::string) static std::byte place[sizeof(std::string)];
  static std::string& text = *new (place) std::string;
  return text;
}

log_level shown() noexcept {
  // The four names differ in their first letter, and the table admits no fifth.
  switch (log_setting().empty() ? 'w' : log_setting()[0]) {
    case 'e':
      return log_level::error;
    case 'i':
      return log_level::info;
    case 'd':
      return log_level::debug;
    default:
      return log_level::warn;
  }
}

}  // namespace

bool log_enabled(log_level level) noexcept { return level <= shown(); }

void log_line(log_level level, std::string_view text) {
  if (!log_enabled(level)) {
    return;
  }
  std::string line = "sinew";
  if (!identity().empty()) {
    line += "[" + identity() + "]";
  }
  line += ": ";
  line += names[static_cast<std::size_t>(level)];
  line += ": ";
  line += as_sentence(text);
  if (!line.ends_with('\n')) {
    line += '\n';
  }
  base::raw_write(STDERR_FILENO, line);
}

void set_log_identity(job_rank rank, int size) {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) {
    host[0] = '\0';
  }
  identity() = "rank " + to_string(rank) + " of " + std::to_string(size);
  if (host[0] != '\0') {
    identity() += ", " + std::string(host);
  }
}

const std::string& log_identity() noexcept { return identity(); }

}  // namespace sinew
