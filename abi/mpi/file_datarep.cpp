// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/file_datarep.hpp"

#include <algorithm>
#include <climits>
#include <deque>
#include <mutex>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/file.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

/// All there are. They are never taken away (MPI-5.0 section 14.5.3), so that pointers to them
/// last.
struct registry {
  std::mutex lock;
  std::deque<datarep> known{{.name = "native"},
                            {.name = "internal"},
                            {.name = "external32", .how = datarep::form::external32}};

  [[nodiscard]] const datarep* find(const char* name) const {
    const auto at =
        std::find_if(known.begin(), known.end(), [&](const datarep& d) { return d.name == name; });
    return at == known.end() ? nullptr : &*at;
  }
};

registry& all() {
  static auto& it = *new registry;
  return it;
}

int add(datarep made) {
  return on_no_file([&]() -> int {
    if (made.extent == nullptr) {
      fail(MPI_ERR_ARG, "the function for extents is null");
    }
    if (made.name.empty() || made.name.size() >= MPI_MAX_DATAREP_STRING) {
      fail(MPI_ERR_ARG, "the name has %zu characters (1 to %d are allowed)", made.name.size(),
           MPI_MAX_DATAREP_STRING - 1);
    }
    const std::lock_guard held(all().lock);
    if (all().find(made.name.c_str()) != nullptr) {
      fail(MPI_ERR_DUP_DATAREP, "there is a data representation \"%s\" already", made.name.c_str());
    }
    all().known.push_back(std::move(made));
    return MPI_SUCCESS;
  });
}

/// A datatype made on the way.
class made_type {
 public:
  made_type() = default;
  explicit made_type(MPI_Datatype t) noexcept : handle_(t) {}
  made_type(made_type&& other) noexcept
      : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)) {}
  made_type& operator=(made_type&&) = delete;
  ~made_type() { drop(resolve<type_object>(handle_)); }
  [[nodiscard]] MPI_Datatype get() const noexcept { return handle_; }
  [[nodiscard]] MPI_Datatype* out() noexcept { return &handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

/// The arguments that a type was made with, in their order (type_make.cpp).
class arguments {
 public:
  explicit arguments(const recipe& r) : made_(r) {}
  int integer() {
    SINEW_EXPECT(integers_ < made_.integers.size());
    return made_.integers[integers_++];
  }
  MPI_Count number() {
    SINEW_EXPECT(!made_.large || counts_ < made_.counts.size());
    return made_.large ? made_.counts[counts_++] : integer();
  }
  MPI_Count address() {
    SINEW_EXPECT(made_.large ? counts_ < made_.counts.size() : addresses_ < made_.addresses.size());
    return made_.large ? made_.counts[counts_++] : made_.addresses[addresses_++];
  }
  std::vector<int> integers(MPI_Count n) {
    return list<int>(n, [this] { return integer(); });
  }
  std::vector<MPI_Count> numbers(MPI_Count n) {
    return list<MPI_Count>(n, [this] { return number(); });
  }
  std::vector<MPI_Count> addresses(MPI_Count n) {
    return list<MPI_Count>(n, [this] { return address(); });
  }

 private:
  template <class T, class Next>
  std::vector<T> list(MPI_Count n, Next next) {
    std::vector<T> result(static_cast<std::size_t>(n));
    std::generate(result.begin(), result.end(), next);
    return result;
  }
  const recipe& made_;
  std::size_t integers_ = 0;
  std::size_t addresses_ = 0;
  std::size_t counts_ = 0;
};

std::int64_t length_of(const datarep& rep, MPI_Datatype element) {
  if (rep.how == datarep::form::external32) {
    return static_cast<std::int64_t>(external_size_of(*type_of(element).layout));
  }
  MPI_Aint extent = 0;
  const int code = rep.extent(element, &extent, rep.state);
  if (code != MPI_SUCCESS || extent < 0) {
    fail(MPI_ERR_CONVERSION,
         "the function for extents of the data representation \"%s\" returned %d, extent %lld",
         rep.name.c_str(), code, static_cast<long long>(extent));
  }
  return extent;
}

made_type translated(const datarep& rep, MPI_Datatype type);

made_type translated_struct(const datarep& rep, const recipe& made) {
  arguments a(made);
  const MPI_Count n = a.number();
  const auto lengths = a.numbers(n);
  const auto displacements = a.addresses(n);
  std::vector<made_type> owned;
  std::vector<MPI_Datatype> types;
  for (auto* t : made.types) {
    owned.push_back(translated(rep, t));
    types.push_back(owned.back().get());
  }
  made_type to;
  (void)impl::Type_create_struct(n, lengths.data(), displacements.data(), types.data(), to.out());
  return to;
}

/// Types made of one other and of more than a block or a stride.
made_type translated_list(const recipe& made, MPI_Datatype part) {
  arguments a(made);
  made_type to;
  const bool darray = made.combiner == MPI_COMBINER_DARRAY;
  const int size = darray ? a.integer() : 0;
  const int rank = darray ? a.integer() : 0;
  if (darray || made.combiner == MPI_COMBINER_SUBARRAY) {
    const int ndims = a.integer();
    const auto sizes = a.numbers(ndims);
    if (darray) {
      const auto distributions = a.integers(ndims);
      const auto sizes_of_blocks = a.integers(ndims);
      const auto grid = a.integers(ndims);
      (void)impl::Type_create_darray(size, rank, ndims, sizes.data(), distributions.data(),
                                     sizes_of_blocks.data(), grid.data(), a.integer(), part,
                                     to.out());
    } else {
      const auto subsizes = a.numbers(ndims);
      const auto starts = a.numbers(ndims);
      (void)impl::Type_create_subarray(ndims, sizes.data(), subsizes.data(), starts.data(),
                                       a.integer(), part, to.out());
    }
    return to;
  }
  const MPI_Count n = a.number();
  if (made.combiner == MPI_COMBINER_INDEXED || made.combiner == MPI_COMBINER_HINDEXED) {
    const bool bytes = made.combiner == MPI_COMBINER_HINDEXED;
    const auto lengths = a.numbers(n);
    const auto places = bytes ? a.addresses(n) : a.numbers(n);
    (void)(bytes ? impl::Type_create_hindexed : impl::Type_indexed)(n, lengths.data(),
                                                                    places.data(), part, to.out());
  } else {
    const bool bytes = made.combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const MPI_Count length = a.number();
    const auto places = bytes ? a.addresses(n) : a.numbers(n);
    (void)(bytes ? impl::Type_create_hindexed_block : impl::Type_create_indexed_block)(
        n, length, places.data(), part, to.out());
  }
  return to;
}

/// The same construction over elements of the file's lengths. What a program gave in bytes, it
/// gave in bytes of the file.
made_type translated(const datarep& rep, MPI_Datatype type) {
  const recipe& made = type_of(type).made;
  made_type to;
  if (made.types.empty() || made.combiner == MPI_COMBINER_VALUE_INDEX) {
    (void)impl::Type_contiguous(length_of(rep, type), MPI_BYTE, to.out());
    return to;
  }
  if (made.combiner == MPI_COMBINER_STRUCT) {
    return translated_struct(rep, made);
  }
  made_type part = translated(rep, made.types.front());
  arguments a(made);
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
      return part;
    case MPI_COMBINER_CONTIGUOUS:
      (void)impl::Type_contiguous(a.number(), part.get(), to.out());
      return to;
    case MPI_COMBINER_VECTOR: {
      const MPI_Count n = a.number();
      const MPI_Count block = a.number();
      (void)impl::Type_vector(n, block, a.number(), part.get(), to.out());
      return to;
    }
    case MPI_COMBINER_HVECTOR: {
      const MPI_Count n = a.number();
      const MPI_Count block = a.number();
      (void)impl::Type_create_hvector(n, block, a.address(), part.get(), to.out());
      return to;
    }
    case MPI_COMBINER_RESIZED: {
      const MPI_Count lower = a.address();
      (void)impl::Type_create_resized(part.get(), lower, a.address(), to.out());
      return to;
    }
    default:
      return translated_list(made, part.get());
  }
}

/// Calls a conversion function of the program for `count` instances.
template <class Small, class Large>
void convert(const datarep& rep, Small* small, Large* large, MPI_Datatype type, void* memory,
             std::int64_t count, std::byte* file, std::size_t each) {
  SINEW_EXPECT(small != nullptr || large != nullptr);
  SINEW_EXPECT(count >= 0);
  int code = MPI_SUCCESS;
  if (large != nullptr) {
    code = large(memory, type, count, file, 0, rep.state);
  } else {
    for (std::int64_t done = 0; done < count && code == MPI_SUCCESS;) {
      const auto n = static_cast<int>(std::min<std::int64_t>(count - done, INT_MAX));
      code = small(memory, type, n, file + static_cast<std::size_t>(done) * each, done, rep.state);
      done += n;
    }
  }
  if (code != MPI_SUCCESS) {
    throw io::failure(io::error_kind::conversion,
                      "a conversion function of the data representation \"" + rep.name +
                          "\" returned " + std::to_string(code));
  }
}

}  // namespace

const datarep& datarep_of(const char* name) {
  check_out(name, "datarep");
  const std::lock_guard held(all().lock);
  const datarep* found = all().find(name);
  if (found == nullptr) {
    fail(MPI_ERR_UNSUPPORTED_DATAREP,
         "there is no data representation \"%.128s\": native, internal and external32 are known, "
         "and what MPI_Register_datarep has made known",
         name);
  }
  return *found;
}

layout::datatype_ref in_file(const datarep& rep, MPI_Datatype type) {
  if (!rep.converts()) {
    return layout::share(*type_of(type).layout);
  }
  const made_type made = translated(rep, type);
  return layout::share(*type_of(made.get()).layout);
}

void program_conversion::to_file(const p2p::buffer& from, std::span<std::byte> file) const {
  if (from.count != 0) {
    convert(rep_, rep_.write, rep_.write_large, type_, from.base,
            static_cast<std::int64_t>(from.count), file.data(), each_);
  }
}

std::int64_t program_conversion::from_file(std::span<std::byte> file, const p2p::buffer& to) const {
  if (file.empty()) {
    return 0;
  }
  SINEW_ASSERT(each_ > 0);
  const auto whole = static_cast<std::int64_t>(file.size() / each_);
  convert(rep_, rep_.read, rep_.read_large, type_, to.base, whole, file.data(), each_);
  return whole * static_cast<std::int64_t>(to.type->size());
}

int impl::Register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                           MPI_Datarep_conversion_function* write_conversion_fn,
                           MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return add({.name = datarep != nullptr ? datarep : "",
              .how = datarep::form::program,
              .read = read_conversion_fn,
              .write = write_conversion_fn,
              .extent = dtype_file_extent_fn,
              .state = extra_state});
}

int impl::Register_datarep_c(const char* datarep,
                             MPI_Datarep_conversion_function_c* read_conversion_fn,
                             MPI_Datarep_conversion_function_c* write_conversion_fn,
                             MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return add({.name = datarep != nullptr ? datarep : "",
              .how = datarep::form::program,
              .read_large = read_conversion_fn,
              .write_large = write_conversion_fn,
              .extent = dtype_file_extent_fn,
              .state = extra_state});
}

}  // namespace sinew::mpi
