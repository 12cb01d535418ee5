// Where the bytes of a datum lie: elements, and types made of them (contiguous, vector, indexed,
// struct, resized), with resumable packing. Knows nothing of MPI handles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinew::layout {

/// The basic elements that reductions know how to combine.
enum class element : std::uint8_t {
  none,  ///< mixed (a struct of different elements)
  byte, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f80, f128,
  c32, c64, c80,        ///< complex of f32, f64, long double
  boolean,              ///< C bool / C++ bool
  logical1, logical2, logical4, logical8, logical16,  ///< Fortran
  character,            ///< not for arithmetic
  wide_character, address, offset_, count,
  pair_f32_i32, pair_f64_i32, pair_i64_i32, pair_i32_i32, pair_i16_i32, pair_f80_i32,
};

class type;
/// Types are immutable once built and shared by counting; `type_ref` owns one count.
class type_ref {
 public:
  type_ref() noexcept = default;
  explicit type_ref(const type* adopted) noexcept : type_(adopted) {}
  type_ref(const type_ref& other) noexcept;
  type_ref(type_ref&& other) noexcept : type_(other.type_) { other.type_ = nullptr; }
  type_ref& operator=(type_ref other) noexcept;
  ~type_ref();
  [[nodiscard]] const type* get() const noexcept { return type_; }
  const type* operator->() const noexcept { return type_; }
  const type& operator*() const noexcept { return *type_; }
  explicit operator bool() const noexcept { return type_ != nullptr; }
  [[nodiscard]] const type* release() noexcept { auto* t = type_; type_ = nullptr; return t; }

 private:
  const type* type_ = nullptr;
};

/// Bytes, in memory order of the type map. Sizes in bytes; bounds as in MPI-5.0 chapter 5.
class type {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }        ///< bytes of data
  [[nodiscard]] std::ptrdiff_t lower() const noexcept { return lower_; }
  [[nodiscard]] std::ptrdiff_t extent() const noexcept { return extent_; }
  [[nodiscard]] std::ptrdiff_t true_lower() const noexcept { return true_lower_; }
  [[nodiscard]] std::ptrdiff_t true_extent() const noexcept { return true_extent_; }
  /// One block at displacement 0 with extent == size: `count` of them are one run of bytes. Hot.
  [[nodiscard]] bool dense() const noexcept { return dense_; }
  /// The one element this type is made of, or element::none if mixed.
  [[nodiscard]] element base() const noexcept { return base_; }
  /// How many base elements one instance holds (leaves of the type map; pairs count as one).
  [[nodiscard]] std::size_t elements() const noexcept { return elements_; }

  struct block {
    std::ptrdiff_t offset;  ///< from the buffer address
    std::size_t bytes;
  };
  /// A leaf run of the flattened type map: `count` elements of one kind, adjacent, at `offset`.
  struct leaf {
    std::ptrdiff_t offset;
    std::size_t count;
    element kind;
  };

  type(const type&) = delete;
  type& operator=(const type&) = delete;

 private:
  friend class type_ref;
  friend struct builder;
  type() = default;
  mutable std::atomic<std::int64_t> references_{1};
  std::size_t size_ = 0;
  std::ptrdiff_t lower_ = 0, extent_ = 0, true_lower_ = 0, true_extent_ = 0;
  std::size_t elements_ = 0;
  bool dense_ = false;
  element base_ = element::none;
  std::vector<block> blocks_;  ///< adjacent runs merged; bounded compression: see loops_ in src
  std::vector<leaf> leaves_;
  struct loop { std::size_t count; std::ptrdiff_t stride; };
  loop repeat_{1, 0};  ///< the whole block list repeats `count` times, `stride` bytes apart

 public:
  [[nodiscard]] std::span<const block> blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::span<const leaf> leaves() const noexcept { return leaves_; }
  [[nodiscard]] loop repeat() const noexcept { return repeat_; }
};

/// Predefined: lives for ever, never counted to zero. Any context.
[[nodiscard]] const type& of(element e) noexcept;
[[nodiscard]] std::size_t size_of(element e) noexcept;
[[nodiscard]] const char* name_of(element e) noexcept;

// Constructors (MPI-5.0 section 5.1). Displacements and strides in bytes unless said otherwise.
// They throw sinew::error on overflow and std::bad_alloc. Cold.
[[nodiscard]] type_ref contiguous(std::size_t count, const type& old);
[[nodiscard]] type_ref vector(std::size_t count, std::size_t block_length, std::ptrdiff_t stride,
                              const type& old);  ///< hvector: stride in bytes
[[nodiscard]] type_ref indexed(std::span<const std::size_t> block_lengths,
                               std::span<const std::ptrdiff_t> displacements, const type& old);
[[nodiscard]] type_ref structure(std::span<const std::size_t> block_lengths,
                                 std::span<const std::ptrdiff_t> displacements,
                                 std::span<const type* const> types);
[[nodiscard]] type_ref resized(const type& old, std::ptrdiff_t lower, std::ptrdiff_t extent);
[[nodiscard]] type_ref duplicate(const type& old);

/// Copies packed bytes [offset, offset + out.size()) of `count` instances at `base` into `out`;
/// returns the bytes copied (less only at the end). Stateless, so any piece in any order. Warm.
std::size_t pack(const type& t, std::size_t count, const void* base, std::size_t offset,
                 std::span<std::byte> out) noexcept;
/// The inverse.
std::size_t unpack(const type& t, std::size_t count, void* base, std::size_t offset,
                   std::span<const std::byte> in) noexcept;
/// Copies count instances between two buffers of possibly different types and equal size.
void copy(const type& from_type, std::size_t from_count, const void* from, const type& to_type,
          std::size_t to_count, void* to);

}  // namespace sinew::layout
