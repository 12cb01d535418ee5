// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a datum lie: elements, and types made of them (contiguous, vector, indexed,
// struct, resized), with resumable packing. Knows nothing of MPI handles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace sinew::layout {

/// The basic elements that reductions know how to combine.
enum class element : std::uint8_t {
  none,  ///< mixed (a struct of different elements)
  byte,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  f80,
  f128,
  c32,
  c64,
  c80,      ///< complex of f32, f64, long double
  boolean,  ///< C bool / C++ bool
  logical1,
  logical2,
  logical4,
  logical8,
  logical16,  ///< Fortran
  character,  ///< not for arithmetic
  wide_character,
  address,
  offset_,
  count,
  c_char,  ///< C char, long and unsigned long: other lengths than here in external32, or none
  c_long,
  c_ulong,
  i128,
  c16,
  c128,  ///< complex of f16, f128
  pair_f32_i32,
  pair_f64_i32,
  pair_i64_i32,
  pair_i32_i32,
  pair_i16_i32,
  pair_long_i32,
  pair_f32_f32,
  pair_f64_f64,
  pair_f80_i32,
};

class datatype;
/// Types are immutable once built and shared by counting; `datatype_ref` owns one count.
class datatype_ref {
 public:
  datatype_ref() noexcept = default;
  explicit datatype_ref(const datatype* adopted) noexcept : type_(adopted) {}
  datatype_ref(const datatype_ref& other) noexcept;
  datatype_ref(datatype_ref&& other) noexcept : type_(other.type_) { other.type_ = nullptr; }
  datatype_ref& operator=(datatype_ref other) noexcept;
  ~datatype_ref();
  [[nodiscard]] const datatype* get() const noexcept { return type_; }
  const datatype* operator->() const noexcept { return type_; }
  const datatype& operator*() const noexcept { return *type_; }
  explicit operator bool() const noexcept { return type_ != nullptr; }
  [[nodiscard]] const datatype* release() noexcept {
    auto* t = type_;
    type_ = nullptr;
    return t;
  }

 private:
  const datatype* type_ = nullptr;
};

struct node;  // a piece of the compressed type map: src/layout/node.hpp

/// Bytes, in the order of the type map. Sizes in bytes; bounds as in MPI-5.0 chapter 5.
class datatype {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }  ///< bytes of data
  [[nodiscard]] std::ptrdiff_t lower() const noexcept { return lower_; }
  [[nodiscard]] std::ptrdiff_t extent() const noexcept { return extent_; }
  [[nodiscard]] std::ptrdiff_t true_lower() const noexcept { return true_lower_; }
  [[nodiscard]] std::ptrdiff_t true_extent() const noexcept { return true_extent_; }
  /// One run at displacement 0 with extent == size: `count` of them are one run of bytes. Hot.
  [[nodiscard]] bool dense() const noexcept { return dense_; }
  /// The one element this type is made of, or element::none if mixed or empty.
  [[nodiscard]] element base() const noexcept { return base_; }
  /// How many elements one instance holds (leaves of the type map; a pair counts as one).
  [[nodiscard]] std::size_t elements() const noexcept { return elements_; }

  datatype(const datatype&) = delete;
  datatype& operator=(const datatype&) = delete;
  ~datatype();

 private:
  friend class datatype_ref;
  friend struct builder;
  friend struct reader;
  datatype() = default;

  mutable std::atomic<std::int64_t> references_{1};
  std::size_t size_ = 0;
  std::ptrdiff_t lower_ = 0;
  std::ptrdiff_t extent_ = 0;
  std::ptrdiff_t true_lower_ = 0;
  std::ptrdiff_t true_extent_ = 0;
  std::size_t elements_ = 0;
  std::size_t alignment_ = 1;  ///< the strictest of its elements
  bool dense_ = false;
  bool sticky_ = false;  ///< bounds were set by resized(), here or in a part
  element base_ = element::none;
  std::shared_ptr<const node> runs_;    ///< runs of bytes, kinds forgotten; null: no data
  std::shared_ptr<const node> leaves_;  ///< with kinds; null: runs_ of base_ say the same
};

/// One more owner of `t`. Any context.
[[nodiscard]] datatype_ref share(const datatype& t) noexcept;

/// Predefined: lives for ever, never counted to zero. Any context.
[[nodiscard]] const datatype& of(element e) noexcept;
[[nodiscard]] std::size_t size_of(element e) noexcept;    ///< bytes of data, without padding
[[nodiscard]] std::size_t extent_of(element e) noexcept;  ///< from one to the next in an array
[[nodiscard]] const char* name_of(element e) noexcept;

// Constructors (MPI-5.0 section 5.1). Displacements and strides in bytes unless said otherwise.
// A new datatype reaches from its first part to the end of its last, the padding of parts included.
// The extent of a structure, and of nothing else, is rounded up to the strictest alignment of its
// elements (the epsilon of section 5.1.6), unless a part was resized. Memory: a loop costs the same
// whatever its count; irregular blocks cost 16 bytes each. They throw sinew::error on overflow, on
// lists of different lengths and on nesting beyond 64 irregular levels; std::bad_alloc. Cold.
[[nodiscard]] datatype_ref contiguous(std::size_t count, const datatype& old);
[[nodiscard]] datatype_ref vector(std::size_t count, std::size_t block_length,
                                  std::ptrdiff_t stride,
                                  const datatype& old);  ///< hvector: stride in bytes
[[nodiscard]] datatype_ref indexed(std::span<const std::size_t> block_lengths,
                                   std::span<const std::ptrdiff_t> displacements,
                                   const datatype& old);
[[nodiscard]] datatype_ref structure(std::span<const std::size_t> block_lengths,
                                     std::span<const std::ptrdiff_t> displacements,
                                     std::span<const datatype* const> types);
[[nodiscard]] datatype_ref resized(const datatype& old, std::ptrdiff_t lower,
                                   std::ptrdiff_t extent);
[[nodiscard]] datatype_ref duplicate(const datatype& old);

/// Copies packed bytes [offset, offset + out.size()) of `count` instances at `base` into `out`;
/// returns the bytes copied (less only at the end). Stateless, so any piece in any order. Warm.
std::size_t pack(const datatype& t, std::size_t count, const void* base, std::size_t offset,
                 std::span<std::byte> out) noexcept;
/// The inverse.
std::size_t unpack(const datatype& t, std::size_t count, void* base, std::size_t offset,
                   std::span<const std::byte> in) noexcept;
/// Copies instances between two buffers that do not overlap, of types that may differ but hold the
/// same bytes in all; if they do not, as many as the smaller holds. May allocate 64 KiB. Warm.
void copy(const datatype& from_type, std::size_t from_count, const void* from,
          const datatype& to_type, std::size_t to_count, void* to);

/// How many basic elements lie in the first `bytes` packed bytes of as many instances as it takes
/// (MPI_Get_elements: a pair is two). A cut element does not count; its bytes so far go to
/// `*left_over`. Warm.
[[nodiscard]] std::size_t elements_in(const datatype& t, std::size_t bytes,
                                      std::size_t* left_over = nullptr) noexcept;

/// What the first `bytes` packed bytes of `count` instances are, as a word that travels with a
/// message: 0 if nothing can be said (no data, or plain bytes); alike for data of which one kind is
/// all; else a hash of the kinds in order. Of two such words that differ, neither 0, the data do
/// not match (MPI-5.0 section 3.3.1). Cold.
[[nodiscard]] std::uint32_t kinds_in(const datatype& t, std::size_t count,
                                     std::size_t bytes) noexcept;
/// "elements i32", "elements of several kinds".
[[nodiscard]] std::string text_of_kinds(std::uint32_t kinds);

using run_visitor = void (*)(void* context, std::ptrdiff_t offset, std::size_t bytes);
using leaf_visitor = void (*)(void* context, std::ptrdiff_t offset, std::size_t count, element);
void visit_runs(const datatype& t, std::size_t count, run_visitor visit, void* context);
void visit_leaves(const datatype& t, std::size_t count, leaf_visitor visit, void* context);

/// Calls fn(offset, bytes) for each run of bytes of `count` instances, in packing order, adjacent
/// ones merged. Offsets are from the buffer address. Warm.
template <class Fn>
void for_each_run(const datatype& t, std::size_t count, Fn&& fn) {
  visit_runs(
      t, count,
      [](void* f, std::ptrdiff_t offset, std::size_t bytes) {
        (*static_cast<std::remove_reference_t<Fn>*>(f))(offset, bytes);
      },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

/// Calls fn(offset, n, kind) for each run of `n` elements of one kind, adjacent at the extent of
/// that element, in packing order. Warm.
template <class Fn>
void for_each_leaf(const datatype& t, std::size_t count, Fn&& fn) {
  visit_leaves(
      t, count,
      [](void* f, std::ptrdiff_t offset, std::size_t n, element kind) {
        (*static_cast<std::remove_reference_t<Fn>*>(f))(offset, n, kind);
      },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace sinew::layout
