// SPDX-License-Identifier: BSD-3-Clause
// How data are represented in a file (MPI-5.0 section 14.5): as in memory, as external32, or as
// functions of the program say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "abi/mpi/type.hpp"
#include "sinew/io/conversion.hpp"

namespace sinew::mpi {

struct datarep {
  enum class form { native, external32, program };
  std::string name;
  form how = form::native;
  // What MPI_Register_datarep was given; the functions with small or with large counts.
  MPI_Datarep_conversion_function* read = nullptr;
  MPI_Datarep_conversion_function* write = nullptr;
  MPI_Datarep_conversion_function_c* read_large = nullptr;
  MPI_Datarep_conversion_function_c* write_large = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* state = nullptr;

  [[nodiscard]] bool converts() const noexcept { return how != form::native; }
};

/// Lives for ever. Throws MPI_ERR_UNSUPPORTED_DATAREP.
[[nodiscard]] const datarep& datarep_of(const char* name);

/// The type's layout in a file: its elements have the sizes of the representation.
[[nodiscard]] layout::datatype_ref in_file(const datarep& rep, MPI_Datatype type);

/// How a program's own functions convert the data of one access; `each`: bytes of an instance of
/// the type in the file.
class program_conversion final : public io::conversion {
 public:
  program_conversion(const datarep& rep, MPI_Datatype type, std::size_t each) noexcept
      : rep_(rep), type_(type), each_(each) {}
  void to_file(const p2p::buffer& from, std::span<std::byte> file) const override;
  [[nodiscard]] std::int64_t from_file(std::span<std::byte> file,
                                       const p2p::buffer& to) const override;

 private:
  const datarep& rep_;
  MPI_Datatype type_;
  std::size_t each_;
};

}  // namespace sinew::mpi
