// SPDX-License-Identifier: BSD-3-Clause
// Strided and indexed transfers to and from heaps: loops over mapped memory.
#include <cstring>

#include "rma/copy.hpp"
#include "rma/far.hpp"
#include "rma/walk.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::rma {
namespace {

enum class toward : std::uint8_t { out, in };

/// Elements of `Bytes` bytes, known when compiled; 0: of `element` bytes.
template <toward Way, std::size_t Bytes>
void copy_element(std::byte* near, std::byte* far, std::size_t element) noexcept {
  std::byte* to = Way == toward::out ? far : near;
  const std::byte* from = Way == toward::out ? near : far;
  if constexpr (Bytes != 0) {
    std::memcpy(to, from, Bytes);
  } else if constexpr (Way == toward::in) {
    copy_bytes(to, from, element);
  } else {
    copy(to, from, element);
  }
}

template <toward Way, std::size_t Bytes>
void copy_row(std::byte* near, std::byte* far, std::size_t element, const axis& given) noexcept {
  const axis a = given;  // in registers: for all the compiler knows, we write over `given`
  if (a.near_index == nullptr && a.far_index == nullptr) {
    for (std::size_t i = 0; i < a.count; ++i) {
      copy_element<Way, Bytes>(near, far, element);
      near += a.near_stride;
      far += a.far_stride;
    }
  } else if (a.near_index == nullptr) {
    for (std::size_t i = 0; i < a.count; ++i) {
      copy_element<Way, Bytes>(near, far + a.far_index[i] * a.far_stride, element);
      near += a.near_stride;
    }
  } else {
    each_element(a, 0, 0, [&](std::ptrdiff_t n, std::ptrdiff_t f) {
      copy_element<Way, Bytes>(near + n, far + f, element);
    });
  }
}

template <toward Way>
void copy_section(std::byte* near, std::byte* far, std::size_t element_bytes,
                  std::span<const axis> given) noexcept {
  const loops section(element_bytes, given);
  auto* row = &copy_row<Way, 0>;
  switch (section.element) {
    case 1:
      row = &copy_row<Way, 1>;
      break;
    case 2:
      row = &copy_row<Way, 2>;
      break;
    case 4:
      row = &copy_row<Way, 4>;
      break;
    case 8:
      row = &copy_row<Way, 8>;
      break;
    case 16:
      row = &copy_row<Way, 16>;
      break;
    default:
      break;
  }
  section.each_row([&](std::ptrdiff_t n, std::ptrdiff_t f, const axis& a) {
    row(near + n, far + f, section.element, a);
  });
}

/// Sections only read `from`.
std::byte* writable(const void* from) noexcept {
  return const_cast<std::byte*>(static_cast<const std::byte*>(from));
}

}  // namespace

void engine::put_section(place to, const void* from, std::size_t element_bytes,
                         std::span<const axis> axes) {
  if (!maps(to.rank)) [[unlikely]] {
    far_->put_section(far_ranks::at(to), writable(from), loops(element_bytes, axes));
    puts_.note(to.rank);
    return;
  }
  copy_section<toward::out>(writable(from), at(to), element_bytes, axes);
}

void engine::get_section(void* to, place from, std::size_t element_bytes,
                         std::span<const axis> axes) {
  if (!maps(from.rank)) [[unlikely]] {
    far_->get_section(static_cast<std::byte*>(to), far_ranks::at(from), loops(element_bytes, axes));
    return;
  }
  copy_section<toward::in>(static_cast<std::byte*>(to), at(from), element_bytes, axes);
}

void engine::put_mapped(std::byte* to, const void* from, std::size_t element_bytes,
                        std::span<const axis> axes) noexcept {
  copy_section<toward::out>(writable(from), to, element_bytes, axes);
}

void engine::get_mapped(void* to, const std::byte* from, std::size_t element_bytes,
                        std::span<const axis> axes) noexcept {
  copy_section<toward::in>(static_cast<std::byte*>(to), writable(from), element_bytes, axes);
}

}  // namespace sinew::rma
