// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/trace.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "sinew/base/check.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/trace_file.hpp"

namespace sinew::trace {
namespace {

setting<std::string> path_setting("base", "TRACE", "", "",
                                  "each rank records what it does in this file, with its rank "
                                  "appended; `sinew run --trace` sets it and gathers them");
setting<std::int64_t> room_setting("base", "TRACE_RECORDS", 1 << 20, "",
                                   "records of 64 bytes that one rank keeps",
                                   {.least = 1, .most = std::int64_t{1} << 32});

file_head* head = nullptr;  ///< written before `enabled`, and never again
std::atomic<std::uint32_t> threads{0};
const char* (*call_in_use)() = nullptr;       ///< written before other threads run
const char* (*statement_in_use)() = nullptr;  ///< so, too

std::uint32_t this_thread() noexcept {
  // Numbers only; nothing is published through the counter.
  static thread_local const std::uint32_t number =
      threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace

constinit std::atomic<bool> detail::enabled{false};

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a record, in its own order
void detail::record(kind what, char shape, std::string_view name, std::int64_t begin_ns,
                    std::int64_t end_ns, std::uint64_t id, std::uint64_t value) noexcept {
  const std::uint64_t at = head->used.fetch_add(1, std::memory_order_relaxed);
  if (at >= head->room) {
    return;
  }
  auto& r = reinterpret_cast<file_record*>(head + 1)[at];
  r.begin_ns = begin_ns;
  r.end_ns = end_ns;
  r.id = id;
  r.value = value;
  r.what = static_cast<std::uint8_t>(what);
  r.shape = shape;
  (void)name.copy(r.name, sizeof r.name);
  r.thread = this_thread();
}

void name_waits(const char* (*doing)()) noexcept { call_in_use = doing; }
void name_statements(const char* (*doing)()) noexcept { statement_in_use = doing; }

const char* doing() noexcept {
  const char* const statement = statement_in_use != nullptr ? statement_in_use() : nullptr;
  return statement == nullptr && call_in_use != nullptr ? call_in_use() : statement;
}

void wait::name() noexcept {
  if (call_in_use == nullptr) {
    begin_ = 0;
  } else {
    name_ = call_in_use();
  }
}

void start(job_rank rank) {
  if (path_setting().empty() || on()) {
    return;
  }
  const std::string path = path_setting() + "." + to_string(rank);
  const auto room = static_cast<std::uint64_t>(room_setting());
  const std::size_t bytes = sizeof(file_head) + room * sizeof(file_record);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  void* base = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const int why = errno;
  if (file >= 0) {
    ::close(file);
  }
  SINEW_CHECK(base != MAP_FAILED, "the trace " + path + " cannot be written", std::strerror(why),
              "choose another place with --trace or SINEW_BASE_TRACE");
  head = new (base) file_head{};
  head->mark = file_mark;
  head->rank = rank.value();
  head->process = static_cast<std::uint32_t>(::getpid());
  head->room = room;
  detail::enabled.store(true, std::memory_order_relaxed);
}

}  // namespace sinew::trace
