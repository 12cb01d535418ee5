// Names that MPI_Publish_name tells to other jobs: files in a folder that is this user's alone.
#pragma once

#include <optional>
#include <string>

namespace sinew::mpi {

/// One name a file. Any thread, any number of processes. Throws sinew::error where the folder
/// cannot be used. Cold.
class names_folder {
 public:
  /// Nothing where names are the job's own: neither SINEW_MPI_NAMES nor the info's
  /// "ompi_global_scope" asks for more.
  [[nodiscard]] static std::optional<names_folder> wanted(const std::string& global_scope);

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

}  // namespace sinew::mpi
