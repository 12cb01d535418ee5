// SPDX-License-Identifier: BSD-3-Clause
// Names that MPI_Publish_name tells to other jobs: files in a folder that is this user's alone.
#pragma once

#include <optional>
#include <string>

namespace sinew::dynamic {

/// One name a file. Any thread, any number of processes. Throws sinew::error where the folder
/// cannot be used. Cold.
class names_folder {
 public:
  /// `setting`: a folder, or "user" for one of this user's on this node. Nothing where it is empty
  /// and `global_scope` not "true": then names are the job's own.
  [[nodiscard]] static std::optional<names_folder> wanted(const std::string& setting,
                                                          const std::string& global_scope);

  /// False if it is there already, by a process that lives.
  [[nodiscard]] bool publish(const std::string& service, const std::string& port) const;
  [[nodiscard]] std::optional<std::string> lookup(const std::string& service) const;
  /// False if it is not there.
  [[nodiscard]] bool unpublish(const std::string& service) const;

 private:
  explicit names_folder(std::string path);
  [[nodiscard]] std::string file_of(const std::string& service) const;
  std::string path_;
};

}  // namespace sinew::dynamic
