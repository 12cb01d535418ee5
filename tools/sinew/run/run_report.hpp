// SPDX-License-Identifier: BSD-3-Clause
// How a job has ended, for a CI: as JUnit's XML, which the pages of CIs show, or as Markdown, for
// what GitHub calls a step's summary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinew::tool {

/// Written down while the job runs.
class run_report {
 public:
  struct failure {
    int rank;  ///< -1: the job as a whole
    std::string text;
  };

  /// Throws sinew::error if that file cannot be written. Empty: nothing is kept.
  explicit run_report(std::string file);

  /// What the user was told, whole lines.
  void tell(const std::string& lines);
  void fail(int rank, const std::string& text);
  /// The job has ended; `ranks` by their names.
  void write(const std::string& command, const std::vector<std::string>& ranks, int code) const;

 private:
  [[nodiscard]] std::string junit(const std::string& command, const std::vector<std::string>& ranks,
                                  int code) const;
  [[nodiscard]] std::string markdown(const std::string& command, int code) const;
  [[nodiscard]] double seconds() const;

  const std::string file_;
  const std::int64_t began_ns_;
  std::string told_;
  std::vector<failure> failures_;
};

}  // namespace sinew::tool
