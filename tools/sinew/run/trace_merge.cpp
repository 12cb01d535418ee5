// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/trace_merge.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "sinew/base/trace_file.hpp"
#include "sinew/boot/descriptor.hpp"
#include "sinew/formats/json.hpp"
#include "sinew/run/trace_page.hpp"

namespace sinew::tool {
namespace {

/// One rank's records, mapped.
class part {
 public:
  part(const std::string& path, std::int64_t ahead_ns) : ahead_ns_(ahead_ns) {
    const boot::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about{};
    if (!file || ::fstat(file.get(), &about) != 0 ||
        static_cast<std::size_t>(about.st_size) < sizeof(trace::file_head)) {
      return;
    }
    bytes_ = static_cast<std::size_t>(about.st_size);
    void* base = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (base == MAP_FAILED) {
      return;
    }
    head_ = static_cast<const trace::file_head*>(base);
    const std::size_t room = (bytes_ - sizeof *head_) / sizeof(trace::file_record);
    if (head_->mark == trace::file_mark) {
      asked_ = head_->used.load(std::memory_order_relaxed);
      count_ = std::min<std::uint64_t>({asked_, head_->room, room});
    }
  }
  ~part() {
    if (head_ != nullptr) {
      ::munmap(const_cast<trace::file_head*>(head_), bytes_);
    }
  }
  part(const part&) = delete;
  part& operator=(const part&) = delete;

  [[nodiscard]] bool there() const noexcept { return count_ != 0; }
  [[nodiscard]] const trace::file_head& head() const noexcept { return *head_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return asked_ - count_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const trace::file_record& operator[](std::uint64_t i) const noexcept {
    return reinterpret_cast<const trace::file_record*>(head_ + 1)[i];
  }
  /// By our clock.
  [[nodiscard]] std::int64_t begin_ns(std::uint64_t i) const noexcept {
    return (*this)[i].begin_ns - ahead_ns_;
  }
  [[nodiscard]] std::int64_t end_ns(std::uint64_t i) const noexcept {
    return (*this)[i].end_ns - ahead_ns_;
  }

 private:
  std::int64_t ahead_ns_ = 0;
  const trace::file_head* head_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t count_ = 0;
};

std::string_view name_of(const trace::file_record& r) {
  return {r.name, ::strnlen(r.name, sizeof r.name)};
}
std::size_t kind_of(const trace::file_record& r) {
  return std::min<std::size_t>(r.what, trace_kinds.size() - 1);
}

/// The viewers' format: an array of objects, one a line.
class writer {
 public:
  explicit writer(const std::string& path) : out_(path, std::ios::trunc) {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  }
  [[nodiscard]] bool close() {
    out_ << "\n]}\n";
    out_.flush();
    return out_.good();
  }

  void name_rank(int rank, std::uint32_t process) {
    next() << R"({"ph":"M","name":"process_name","pid":)" << rank << R"(,"args":{"name":"rank )"
           << rank << " (process " << process << ")\"}}";
  }

  /// `origin_ns` by the rank's own clock.
  void write(int rank, const trace::file_record& r, std::int64_t origin_ns) {
    if (r.shape == 'b') {
      // Two ends that belong together by a number of their own; such spans may overlap.
      const std::uint64_t span = ++spans_;
      begin("b", rank, r, r.begin_ns - origin_ns) << ",\"id\":" << span;
      arguments(r);
      begin("e", rank, r, r.end_ns - origin_ns) << ",\"id\":" << span << '}';
    } else if (r.shape == 'X') {
      begin("X", rank, r, r.begin_ns - origin_ns)
          << ",\"dur\":" << microseconds(r.end_ns - r.begin_ns);
      arguments(r);
    } else {
      begin("i", rank, r, r.begin_ns - origin_ns) << ",\"s\":\"t\"";
      arguments(r);
    }
  }

 private:
  std::ofstream& next() {
    out_ << (first_ ? "\n" : ",\n");
    first_ = false;
    return out_;
  }
  static std::string microseconds(std::int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) / 1e3);
    return text;
  }
  std::ofstream& begin(const char* phase, int rank, const trace::file_record& r,
                       std::int64_t at_ns) {
    return static_cast<std::ofstream&>(
        next() << "{\"ph\":\"" << phase << "\",\"cat\":\"" << trace_kinds[kind_of(r)]
               << "\",\"name\":" << formats::json_quoted(name_of(r)) << ",\"pid\":" << rank
               << ",\"tid\":" << r.thread << ",\"ts\":" << microseconds(at_ns));
  }
  void arguments(const trace::file_record& r) {
    char handle[32];
    std::snprintf(handle, sizeof handle, "%#llx", static_cast<unsigned long long>(r.id));
    out_ << ",\"args\":{\"id\":\"" << handle << "\",\"value\":" << r.value << "}}";
  }

  std::ofstream out_;
  bool first_ = true;
  std::uint64_t spans_ = 0;
};

std::string part_of(const std::string& file, int rank) {
  return trace_parts(file) + "." + std::to_string(rank);
}

std::string page_beside(const std::string& file) {
  const bool json = file.ends_with(".json");
  return (json ? file.substr(0, file.size() - 5) : file) + ".html";
}

}  // namespace

std::string trace_parts(const std::string& file) {
  return std::filesystem::absolute(file).string() + ".part";
}

std::string merge_traces(const std::string& file, int ranks,
                         const std::function<std::int64_t(int rank)>& ahead_ns) {
  std::vector<std::unique_ptr<part>> parts;
  std::int64_t origin_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
  int drawn = 1;  // places for ranks that were never spawned are none
  for (int rank = 0; rank < ranks; ++rank) {
    parts.push_back(std::make_unique<part>(part_of(file, rank), ahead_ns(rank)));
    const part& each = *parts.back();
    for (std::uint64_t i = 0; i < each.count(); ++i) {
      if (each[i].thread != 0) {
        origin_ns = std::min(origin_ns, each.begin_ns(i));
        last_ns = std::max(last_ns, each.end_ns(i));
      }
    }
    drawn = each.there() ? rank + 1 : drawn;
    records += each.count();
    dropped += each.dropped();
  }
  writer out(file);
  const std::string name = std::filesystem::path(file).filename().string();
  trace_page page("Trace of " + std::to_string(drawn) + " ranks: " + name, drawn,
                  last_ns > origin_ns ? last_ns - origin_ns : 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const part& each = *parts[static_cast<std::size_t>(rank)];
    if (each.there()) {
      out.name_rank(rank, each.head().process);
    }
    for (std::uint64_t i = 0; i < each.count(); ++i) {
      if (each[i].thread != 0) {
        out.write(rank, each[i], origin_ns + ahead_ns(rank));
        page.add({rank, kind_of(each[i]), name_of(each[i]), each.begin_ns(i) - origin_ns,
                  each.end_ns(i) - origin_ns});
      }
    }
    ::unlink(part_of(file, rank).c_str());
  }
  if (!out.close()) {
    return "the trace " + file + " could not be written";
  }
  const std::string beside = page_beside(file);
  std::ofstream picture(beside, std::ios::trunc);
  picture << page.text();
  picture.close();
  std::string told = "trace of " + std::to_string(records) + " records: " + file;
  told += picture.good() ? ", as a page: " + beside : "; its page could not be written";
  if (dropped != 0) {
    told += " (" + std::to_string(dropped) + " more found no room: SINEW_BASE_TRACE_RECORDS)";
  }
  return told;
}

}  // namespace sinew::tool
