// How data are represented in a file (MPI-5.0 section 14.5): as in memory, as external32, or as
// functions of the program say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/mpi/type.hpp"
#include "sinew/p2p/engine.hpp"

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

/// What of a program's memory is to be moved.
struct typed_memory {
  p2p::buffer data;
  MPI_Datatype type;
};

/// Its bytes as they lie in the file, one instance behind the other.
[[nodiscard]] std::vector<std::byte> to_file(const datarep& rep, const typed_memory& from,
                                             std::int64_t bytes);
/// The inverse, of the first `bytes` bytes that were read; returns how many bytes of data they are
/// in memory.
[[nodiscard]] std::int64_t from_file(const datarep& rep, const std::byte* file, std::int64_t bytes,
                                     const typed_memory& to);

}  // namespace sinew::mpi
